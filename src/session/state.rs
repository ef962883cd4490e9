//! What a session is now: its terminal, its lines, its regions. Fed from the logs only, so that it comes out the
//! same after a restart.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use super::agent::Agent;
use super::checkpoint::Checkpoint;
use super::line::PromptLine;
use super::log::Log;
use super::meta::Ending;
use super::now_ms;
use super::prompts::Prompts;
use super::regions::{Moment, Record, Regions, Typed};
use super::stood::Standing;
use super::watch::Watchers;
use crate::store::records::Records;
use crate::store::text::TextLog;
use crate::store::times::{Time, What};
use crate::store::{self};
use crate::term::{Event, MarkerKind, Output, Terminal};

/// A string (OSC, DCS, ...) that has not ended after so long never will.
pub const STRING_MOST_MS: u64 = 5_000;

/// When session.txt is tried to be made anew, and how long after that again. It costs a pass over the whole log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Broken {
    pub next: Instant,
    pub pause: Duration,
}

const FIRST_MENDING: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct State {
    pub term: Terminal,
    pub regions: Regions,
    pub prompts: Prompts,
    /// None while it lives.
    pub ending: Option<Ending>,
    /// session_close has been called: the pane's going is our doing.
    pub closing: bool,
    /// The tap has written its last word: nothing will be added to the log.
    pub complete: bool,
    /// The process that writes the log.
    pub tap: Option<u32>,
    /// When bytes last arrived here.
    pub last_output: Instant,
    /// The same by the wall clock, as the log tells it.
    pub last_output_ms: u64,
    pub agents: BTreeMap<String, Agent>,
    /// The shell that a typed line has found at the prompt, and whether it can read the file named there.
    pub which: Option<(String, bool)>,
    /// Who types now: agent, tool.
    pub typist: Option<(String, &'static str)>,
    pub watchers: Watchers,
    pub(super) text: TextLog,
    /// What is wrong with the session's files, for whoever reads its output.
    pub trouble: Option<String>,
    /// Nothing that is printed is kept: the log's limit is reached, or the disk is full.
    pub stopped: Option<String>,
    /// session.txt lacks lines.
    pub(super) broken: Option<Broken>,
    pub(super) log: Log,
    pub(super) line: PromptLine,
    pub(super) standing: Standing,
    /// The agents as state.json has them.
    pub(super) saved: String,
    pub(super) records: Option<Records>,
    output: Output,
    /// The log's time at the last record before the string that is open now.
    pub(super) string_since: Option<u64>,
    /// The log's time at the last record.
    pub(super) recorded_ms: u64,
    /// The last line that was written down before it was typed.
    pub(super) typed_last: Option<Typed>,
    /// What the checkpoint on disk stands for.
    pub(super) checkpoint: Checkpoint,
    /// Regions of an earlier server, to be found again while the log is fed: those still ahead, by offset.
    pub(super) known: VecDeque<Record>,
}

impl State {
    pub(super) fn new(
        term: Terminal,
        text: TextLog,
        log: Log,
        prompts: Prompts,
        checkpoint: Checkpoint,
    ) -> State {
        State {
            term,
            regions: Regions::new(super::place::home()),
            prompts,
            ending: None,
            closing: false,
            complete: false,
            tap: None,
            last_output: Instant::now(),
            last_output_ms: now_ms(),
            agents: BTreeMap::new(),
            typist: None,
            which: None,
            watchers: Watchers::default(),
            text,
            trouble: None,
            stopped: None,
            broken: None,
            saved: String::new(),
            log,
            records: None,
            line: PromptLine::default(),
            standing: Standing::default(),
            output: Output::default(),
            string_since: None,
            recorded_ms: 0,
            typed_last: None,
            checkpoint,
            known: VecDeque::new(),
        }
    }

    /// From now on changes of regions are written down.
    pub fn record_to(&mut self, records: Records) {
        self.records = Some(records);
    }

    /// Bytes of raw.log that the state stands for.
    pub fn offset(&self) -> u64 {
        self.term.offset()
    }

    /// True when what stands on the prompt line is nobody else's: nothing, or what this agent left there.
    pub fn owns(&self, agent: &str, typed: &str) -> bool {
        typed.is_empty()
            || self
                .agents
                .get(agent)
                .is_some_and(|agent| agent.unsubmitted == typed || agent.typed_ahead(typed))
    }

    pub(super) fn due_for_mending(&self) -> bool {
        self.broken
            .is_some_and(|broken| broken.next <= Instant::now())
    }

    /// Writes down, before it is typed, whose line comes next at a shell's prompt: the command that it becomes is
    /// theirs even when this server does not live to see it.
    pub fn record_typed(&mut self, who: &str, line: &str) {
        let typed = Typed {
            typed: line.to_string(),
            who: who.to_string(),
            at: self.offset(),
        };
        if let Some(Err(error)) = self.records.as_mut().map(|records| records.append(&typed)) {
            self.trouble.get_or_insert_with(|| error.to_string());
        }
        self.typed_last = Some(typed);
    }

    /// Now, as regions are dated.
    pub fn moment(&self) -> Moment {
        Moment {
            offset: self.offset(),
            ms: now_ms(),
            dated: self.log.dated,
        }
    }

    /// Takes in what has been added to the logs, at most a chunk. True when there was something: call again.
    /// `replay`: the bytes are of an earlier time, so regions are dated by the log.
    pub fn follow(&mut self, replay: bool) -> Result<bool, store::Error> {
        let bytes = self.log.read()?;
        let mut rest = bytes.as_slice();
        if !replay && !bytes.is_empty() {
            self.pause_ends();
        }
        let had_records = self.apply_due(replay);
        while !rest.is_empty() {
            let until = self
                .log
                .next()
                .map_or(u64::MAX, |offset| offset.saturating_sub(self.offset()));
            let (part, after) =
                rest.split_at(rest.len().min(usize::try_from(until).unwrap_or(usize::MAX)));
            self.feed(part, replay);
            rest = after;
            self.apply_due(replay);
        }
        let any = !bytes.is_empty();
        if any {
            self.last_output = Instant::now();
            if !replay {
                self.last_output_ms = now_ms();
            }
        }
        self.log.reuse(bytes);
        self.line_changed();
        self.write_changes(replay);
        if !replay && self.checkpoint.due(self.offset()) {
            self.write_checkpoint();
        }
        if any || had_records {
            self.watchers.notify();
        }
        Ok(any)
    }

    /// Applies the records whose place has come.
    fn apply_due(&mut self, replay: bool) -> bool {
        let mut any = false;
        while let Some(time) = self.log.due(self.offset()) {
            if !any {
                // What was printed before a date was there before what comes after it.
                self.line_changed();
            }
            any = true;
            self.apply(time, replay);
            self.pass_known(false);
        }
        any
    }

    fn apply(&mut self, time: Time, replay: bool) {
        if replay || matches!(time.what, What::Output) {
            self.last_output_ms = time.ms;
        }
        self.term.clock(time.ms);
        self.give_up_string(time.ms, replay);
        self.recorded_ms = time.ms;
        match time.what {
            What::Output => {}
            What::Tap(pid) => {
                if self.tap.is_some() {
                    // An earlier tap has gone: nobody can say what was printed before this one came.
                    self.lose_track(replay);
                    self.add_line(
                        "output may be missing here: the process that writes the log was ended",
                    );
                }
                self.tap = Some(pid);
                self.complete = false;
            }
            What::Size(cols, rows) => {
                if (cols, rows) != self.term.size() && cols > 0 && rows > 0 {
                    self.term.resize(cols, rows, &mut self.output);
                    self.take_output(replay);
                }
            }
            What::Stop(reason) => {
                self.lose_track(replay);
                self.stopped = Some(reason);
            }
            What::Gap(bytes, reason) => {
                self.stopped = None;
                self.lose_track(replay);
                self.add_line(&format!("{bytes} bytes are missing here: {reason}"));
            }
            What::End => self.complete = true,
        }
    }

    /// Gives up a string that has not ended in time, so that a program's mistake does not swallow what others
    /// print. Only records in the log decide, so that a replay gives up at the same byte.
    fn give_up_string(&mut self, ms: u64, replay: bool) {
        if !self.term.in_string() {
            self.string_since = None;
            return;
        }
        // It began after the record before this one.
        let since = *self.string_since.get_or_insert(self.recorded_ms.min(ms));
        if ms.saturating_sub(since) >= STRING_MOST_MS {
            self.string_since = None;
            self.term.abandon_string(&mut self.output);
            self.take_output(replay);
        }
    }

    /// A command's end may be in what is missing: nothing that ran before may take a later one's status.
    fn lose_track(&mut self, replay: bool) {
        let ms = if replay {
            self.last_output_ms
        } else {
            now_ms()
        };
        let at = Moment {
            ms,
            ..self.moment()
        };
        self.regions.gap(&mut self.term, at);
    }

    /// A line of our own in the cooked log.
    fn add_line(&mut self, text: &str) {
        self.term.note(format!("[paneglass: {text}]"));
    }

    /// Feeds log bytes, stopping where the echo of a line given to a program ends.
    pub(super) fn feed_echo(&mut self, bytes: &[u8], replay: bool) {
        let mut rest = bytes;
        // The echo may hold the end of the program, and of the region with it.
        while self.regions.echoing() {
            let Some(end) = next_row(rest) else { break };
            let (echo, answer) = rest.split_at(end);
            self.feed_terminal(echo, replay);
            rest = answer;
            if echo.contains(&b'\n') || self.regions.below_echo(&self.term) {
                let at = self.moment();
                self.regions.echoed(&mut self.term, at);
            }
        }
        self.feed_terminal(rest, replay);
    }

    fn feed_terminal(&mut self, bytes: &[u8], replay: bool) {
        let mut rest = bytes;
        while !rest.is_empty() {
            // The terminal stops after a marker, while the text around it is still on its grid.
            let taken = self.term.step(rest, &mut self.output);
            if let Some(at) = rest[..taken].iter().rposition(|&byte| byte == b'\n') {
                self.regions.newline = self.offset() - (taken - at) as u64;
            }
            rest = &rest[taken.min(rest.len())..];
            self.take_output(replay);
        }
    }

    fn take_output(&mut self, replay: bool) {
        // With one write missing, no later line would have its number: the whole file is made anew when it can be.
        if self.broken.is_none() {
            if let Err(error) = self.text.append(&self.output.text) {
                self.trouble = Some(format!(
                    "lines are missing here until the log can be written out again: {error}"
                ));
                self.broken = Some(Broken {
                    next: Instant::now() + FIRST_MENDING,
                    pause: FIRST_MENDING,
                });
            }
        }
        self.output.text.clear();
        for event in std::mem::take(&mut self.output.events) {
            if let Event::Marker {
                marker,
                mark,
                start,
                ..
            } = event
            {
                let ms = if replay {
                    self.last_output_ms
                } else {
                    now_ms()
                };
                let at = Moment {
                    offset: start,
                    ms,
                    dated: self.log.dated,
                };
                if let MarkerKind::Which { shell, reads } = &marker.kind {
                    self.which = Some((shell.clone(), *reads));
                }
                let drawn = marker.kind == MarkerKind::PromptEnd;
                self.regions.marker(&mut self.term, marker, mark, at);
                if drawn {
                    self.prompt_drawn();
                }
            }
        }
    }

    /// Puts the lines that may still change into session.txt too, for people who read it.
    pub(super) fn write_tail(&mut self) {
        if self.broken.is_none() {
            let live = self.term.live_text();
            if let Err(error) = self.text.set_tail(live.as_bytes()) {
                self.trouble.get_or_insert_with(|| error.to_string());
            }
        }
    }

    /// Writes down which regions changed; a replay does so at its end.
    pub fn write_changes(&mut self, replay: bool) {
        self.regions.settle(&mut self.term);
        if !replay {
            let changed = self.regions.take_changed();
            let changed: Vec<Record> = changed
                .into_iter()
                .filter_map(|id| Some(self.regions.get(id)?.record()))
                .collect();
            self.write_records(&changed);
        }
    }

    pub(super) fn write_records(&mut self, changed: &[Record]) {
        let Some(records) = self.records.as_mut() else {
            return;
        };
        for record in changed {
            if let Err(error) = records.append(record) {
                self.trouble.get_or_insert_with(|| error.to_string());
            }
        }
    }
}

/// One past the first line break, or the first cursor movement down: `ESC [ n B`, and what terminfo calls `nel` and
/// `ind` (`ESC E`, `ESC D`; haskeline ends a line with the former), vertical tab and form feed.
/// With the return to the first column that may follow.
fn next_row(bytes: &[u8]) -> Option<usize> {
    let end = row_end(bytes)?;
    Some(end + usize::from(bytes.get(end) == Some(&b'\r')))
}

fn row_end(bytes: &[u8]) -> Option<usize> {
    let mut digits_of: Option<usize> = None;
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'\n' | 0x0b | 0x0c => return Some(at + 1),
            b'E' | b'D' if at > 0 && bytes[at - 1] == 0x1b => return Some(at + 1),
            b'[' if at > 0 && bytes[at - 1] == 0x1b => digits_of = Some(at),
            b'0'..=b'9' => {}
            b'B' if digits_of.is_some() => return Some(at + 1),
            _ => digits_of = None,
        }
    }
    None
}
