//! Random lives of sessions: a server that picks up from a checkpoint, wherever it was made, knows what one knows
//! that reads the whole log.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use super::super::recovery::read_up;
use super::super::regions::{AtPrompt, End, Record};
use super::super::state::State;
use super::super::{Meta, create, meta};
use super::*;
use crate::store::dir;
use crate::store::records::Records;
use crate::store::tests::Scratch;
use crate::store::times::{Time, What};
use crate::term::tests::mix::{self, Kind, Random};

const CASES: u64 = 60;

/// A session's folder, and a server that follows it.
struct Life {
    dir: SessionDir,
    meta: Meta,
    state: State,
    random: Random,
    ms: u64,
    length: u64,
}

fn meta(cols: u16, rows: u16, fixed_size: bool) -> Meta {
    Meta {
        format: meta::FORMAT,
        name: "t".into(),
        agent: "a".into(),
        created: 1,
        command: "bash".into(),
        integrated: Some("bash".into()),
        nonce: "x".into(),
        cwd: "/".into(),
        cols,
        rows,
        fixed_size,
        prompt_pattern: None,
        delete_logs_on_close: false,
        host: "h".into(),
        tmux_socket: "s".into(),
        tmux_tmpdir: None,
        tmux_version: "3.4".into(),
        pane: "%0".into(),
        pid: 1,
        tty: "/dev/null".into(),
        window: None,
        adopted: false,
        end: None,
        program: None,
    }
}

fn append(path: &Path, bytes: &[u8]) {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.unwrap().write_all(bytes).unwrap();
}

impl Life {
    fn new(path: &Path, seed: u64) -> Life {
        let mut random = Random::new(seed);
        let (cols, rows) = (2 + random.below(30), 1 + random.below(8));
        let meta = meta(cols as u16, rows as u16, random.one_in(2));
        let dir = SessionDir {
            path: path.join("t"),
        };
        dir::private(&dir.path).unwrap();
        let mut state = create::fresh_state(&meta, &dir).unwrap();
        state.record_to(Records::open(&dir.regions()).unwrap());
        let mut life = Life {
            dir,
            meta,
            state,
            random,
            ms: 1_000,
            length: 0,
        };
        // As a tap begins: what comes before the first date has none.
        life.time(What::Output);
        life
    }

    fn time(&mut self, what: What) {
        self.ms += [0, 1, 150, 6_000][self.random.below(4)];
        let time = Time {
            ms: self.ms,
            offset: self.length,
            what,
        };
        append(&self.dir.times(), format!("{time}\n").as_bytes());
    }

    fn print(&mut self, bytes: &[u8]) {
        if self.random.one_in(2) {
            self.time(What::Output);
        }
        append(&self.dir.raw(), bytes);
        self.length += bytes.len() as u64;
    }

    fn follow(&mut self) {
        while self.state.follow(false).unwrap() {}
    }

    /// Something is printed, typed, or happens to the pane.
    fn step(&mut self) {
        let random = &mut self.random;
        match random.below(16) {
            0..=4 => {
                let kinds = [Kind::Sequences, Kind::Characters, Kind::Odd, Kind::Junk];
                let kind = kinds[random.below(4)];
                let bytes = mix::mix(random, kind, 20, 6, 12);
                self.print(&bytes);
            }
            5..=9 => {
                let kinds = [
                    "A;cwd=/tmp",
                    "B",
                    "C",
                    "D;0;p=0",
                    "D;3;p=1,3",
                    "P;k=s",
                    "P;k=e",
                    "P;k=h;sh=bash;v=5",
                    "P;k=h;sh=zsh;v=5",
                    "A",
                ];
                let pid = 7 + random.below(2);
                let marker = format!("\x1b]133;{};n=x;pid={pid}\x07", random.pick(&kinds));
                let text = random
                    .pick(&["", "$ ", "ls -l", "\r\n", "out\r\nput\r\n"])
                    .to_string();
                let whole = if random.one_in(2) {
                    marker + &text
                } else {
                    text + &marker
                };
                self.print(whole.as_bytes());
            }
            10 => {
                let size = What::Size(1 + random.below(40) as u16, 1 + random.below(9) as u16);
                self.time(size);
            }
            11 => {
                let what = match random.below(6) {
                    0 => What::Tap(9),
                    1 => What::Stop("limit".into()),
                    2 => What::Gap(77, "limit".into()),
                    _ => What::Output,
                };
                self.time(what);
            }
            // A line is given to a program, or to the shell; a program's answer is over.
            12 if !self.state.regions.echoing() => {
                self.follow();
                let at = self.state.moment();
                let mark = self.state.term.mark();
                let (term, regions) = (&mut self.state.term, &mut self.state.regions);
                regions.input(term, ">>> x".into(), Some("b".into()), mark, at);
                if self.random.one_in(4) {
                    self.state.regions.never_echoed();
                }
                self.state.write_changes(false);
            }
            13 => {
                self.follow();
                self.state.record_typed("b", "make  it");
                self.state.regions.expected = Some("b".into());
                self.state.regions.expected_line = Some("make  it".into());
            }
            14 => {
                self.follow();
                let open = self.state.regions.open_input().map(|region| region.id);
                if let Some(id) = open.filter(|_| !self.state.regions.echoing()) {
                    let at_prompt = self.random.one_in(2);
                    let at = self.state.moment();
                    let state = &mut self.state;
                    let mark = if at_prompt {
                        state.term.mark_line()
                    } else {
                        state.term.mark()
                    };
                    let end = End {
                        at_prompt,
                        ..End::default()
                    };
                    state.regions.close(&mut state.term, id, mark, at, end);
                    state.write_changes(false);
                }
            }
            // A mark whose owner will be gone.
            _ => drop(self.state.term.mark()),
        }
        if self.random.one_in(2) {
            self.follow();
        }
    }
}

/// Everything that can be seen of a session.
fn seen(state: &State) -> Vec<String> {
    let snapshot = state.snapshot().unwrap();
    let mut seen: Vec<String> = Vec::new();
    snapshot
        .each(snapshot.all(), |number, line| {
            seen.push(format!(
                "{number}: {:?}",
                String::from_utf8_lossy(&line.bytes)
            ));
            true
        })
        .unwrap();
    for region in state.regions.all() {
        let record: Record = region.record();
        let bounds = state.regions.bounds(&state.term, region);
        seen.push(format!("{record:?} {bounds:?}"));
    }
    let (term, regions) = (&state.term, &state.regions);
    seen.push(format!(
        "{:?} {:?} {:?}",
        term.screen(),
        term.cursor(),
        term.size()
    ));
    let at = regions.prompt().map(|prompt| {
        let typed = term.locate(prompt.typed);
        (
            typed,
            prompt.continuation,
            prompt.newline,
            prompt.drawn,
            prompt.redraws,
        )
    });
    // Once a job has printed below a prompt, what had been typed there is known only from when it came.
    let whole = |prompt: AtPrompt| prompt.redraws || regions.newline < prompt.drawn;
    let typed = regions.prompt().is_none_or(whole).then(|| state.typed());
    seen.push(format!(
        "{:?} {:?} {:?} {:?} {} {at:?} {typed:?}",
        regions.open_commands(),
        regions.running_shell(),
        regions.folder(),
        regions.idle_status,
        regions.newline,
    ));
    seen.push(format!(
        "{:?} {} {:?} {} {} {:?} {} {}",
        state.tap,
        state.complete,
        state.stopped,
        state.last_output_ms,
        state.recorded_ms,
        state.string_since,
        state.offset(),
        term.final_lines(),
    ));
    seen
}

fn same(now: &State, whole: &State, seed: u64, when: &str) {
    let (now, whole) = (seen(now), seen(whole));
    for (now, whole) in now.iter().zip(&whole) {
        assert_eq!(now, whole, "seed {seed}, {when}");
    }
    assert_eq!(now.len(), whole.len(), "seed {seed}, {when}");
}

fn copy(from: &SessionDir, to: &Path) -> SessionDir {
    dir::private(to).unwrap();
    for entry in fs::read_dir(&from.path).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    SessionDir {
        path: to.to_path_buf(),
    }
}

#[test]
fn a_pick_up_is_a_replay_of_the_whole() {
    let mut used = 0;
    for seed in 0..CASES {
        let scratch = Scratch::new();
        let mut life = Life::new(scratch.path(), seed);
        let mut kept = None;
        for _ in 0..5 + life.random.below(60) {
            life.step();
            if life.random.one_in(8) {
                life.follow();
                kept = Some(life.state.checkpoint_bytes().unwrap());
            }
        }
        life.follow();
        let whole_dir = copy(&life.dir, &scratch.path().join("w"));
        if let Some(bytes) = &kept {
            fs::write(life.dir.checkpoint(), bytes).unwrap();
        }
        // What is printed while no server runs.
        for dir in [&life.dir, &whole_dir] {
            append(&dir.raw(), b"late\r\n\x1b]133;A;n=x;pid=7\x07$ ");
        }
        let ending = life.random.one_in(3).then_some(meta::Ending {
            how: meta::How::Gone,
            status: None,
            signal: None,
            at: 5,
        });
        drop(life.state);
        used += u32::from(kept.is_some());
        let mut whole = read_up(&life.meta, &whole_dir, ending).unwrap();
        let mut now = read_up(&life.meta, &life.dir, ending).unwrap();
        same(&now, &whole, seed, "picked up");
        if kept.is_some() {
            assert!(
                life.dir.checkpoint().exists(),
                "seed {seed}: it did not fit"
            );
        }
        let mut more = mix::mix(&mut life.random, Kind::Sequences, 20, 6, 30);
        more.extend_from_slice(
            b"\x1b\\\x18\x1b]133;C;n=x;pid=7\x07more\r\n\x1b]133;D;1;n=x;pid=7\x07",
        );
        for (state, dir) in [(&mut now, &life.dir), (&mut whole, &whole_dir)] {
            append(&dir.raw(), &more);
            while state.follow(true).unwrap() {}
        }
        same(&now, &whole, seed, "gone on with");
    }
    assert!(used > CASES as u32 / 2, "{used} checkpoints");
}

#[test]
fn what_does_not_fit_is_passed_over() {
    type Spoil = fn(&SessionDir);
    let spoil: [(&str, Spoil); 12] = [
        ("torn", |dir| cut(&dir.checkpoint(), 1)),
        ("empty", |dir| fs::write(dir.checkpoint(), b"").unwrap()),
        ("a byte", |dir| flip(&dir.checkpoint(), 100)),
        ("other rules", |dir| flip(&dir.checkpoint(), 20)),
        ("raw.log is shorter", |dir| cut(&dir.raw(), 1)),
        ("raw.log is another", |dir| flip(&dir.raw(), 3)),
        ("times.log is shorter", |dir| cut(&dir.times(), 1)),
        ("regions.jsonl is gone", |dir| {
            fs::remove_file(dir.regions()).unwrap()
        }),
        ("session.txt is gone", |dir| {
            fs::remove_file(dir.text()).unwrap()
        }),
        ("session.txt is shorter", |dir| cut(&dir.text(), 1)),
        ("session.txt is another", |dir| flip(&dir.text(), 3)),
        ("nothing", |_| {}),
    ];
    for (name, spoil) in spoil {
        let scratch = Scratch::new();
        let mut life = Life::new(scratch.path(), 1);
        for n in 0..40 {
            life.print(format!("\x1b]133;A;n=x;pid=7\x07$ \x1b]133;B;n=x;pid=7\x07echo {n}\r\n\x1b]133;C;n=x;pid=7\x07{n}\r\n\x1b]133;D;0;n=x;pid=7\x07").as_bytes());
        }
        life.time(What::Output);
        life.follow();
        life.state.write_checkpoint();
        drop(life.state);
        spoil(&life.dir);
        assert_eq!(
            State::from_checkpoint(&life.meta, &life.dir).is_some(),
            name == "nothing",
            "{name}"
        );
        assert_eq!(life.dir.checkpoint().exists(), name == "nothing", "{name}");
        let whole_dir = copy(&life.dir, &scratch.path().join("w"));
        let now = read_up(&life.meta, &life.dir, None).unwrap();
        let _ = fs::remove_file(whole_dir.checkpoint());
        same(
            &now,
            &read_up(&life.meta, &whole_dir, None).unwrap(),
            1,
            name,
        );
    }
}

/// The index is a cache of its own: without it the checkpoint still fits.
#[test]
fn a_lost_index_is_made_anew() {
    let scratch = Scratch::new();
    let mut life = Life::new(scratch.path(), 2);
    for n in 0..3_000 {
        life.print(format!("line {n}\r\n").as_bytes());
    }
    life.follow();
    life.state.write_checkpoint();
    let index = fs::read(life.dir.index()).unwrap();
    assert!(index.len() > 16);
    fs::remove_file(life.dir.index()).unwrap();
    let state = State::from_checkpoint(&life.meta, &life.dir).unwrap();
    assert_eq!(fs::read(life.dir.index()).unwrap(), index);
    fs::remove_file(life.dir.checkpoint()).unwrap();
    let whole = read_up(&life.meta, &life.dir, None).unwrap();
    same(&state, &whole, 2, "without an index");
}

fn cut(path: &Path, bytes: u64) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let length = file.metadata().unwrap().len();
    // session.txt has a live tail, which is no part of it.
    file.set_len(length - bytes.min(length)).unwrap();
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}
