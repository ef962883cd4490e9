//! Jobs run for real, without a link: what they print and how they end, by the frames that they send.

use std::sync::mpsc::{Receiver, channel};

use super::*;
use crate::devices::frame::WINDOW;

/// Generous: only a failing test waits so long.
const DEADLINE: Duration = Duration::from_secs(60);

struct Started {
    handle: Arc<Handle>,
    frames: Receiver<Up>,
    thread: thread::JoinHandle<()>,
    printed: String,
}

/// What would be told of groups is dropped with this guard: `true` ends at once.
fn start(spec: Spec) -> Started {
    let handle = Arc::new(Handle::new(spec.terminal.is_some()).unwrap());
    let (up, frames) = channel();
    let job = Job {
        id: 1,
        spec,
        handle: Arc::clone(&handle),
        up,
        guard: Arc::new(Guard::start(Path::new("/bin/true")).unwrap()),
    };
    Started {
        handle,
        frames,
        thread: thread::spawn(move || job.run()),
        printed: String::new(),
    }
}

fn command(text: &str) -> Spec {
    Spec {
        command: Some(text.into()),
        ..Spec::default()
    }
}

fn terminal(text: &str) -> Spec {
    Spec {
        terminal: Some((80, 24)),
        ..command(text)
    }
}

impl Started {
    fn hear(&mut self) -> Up {
        let frame = self.frames.recv_timeout(DEADLINE).unwrap();
        if let Up::Output { data, .. } = &frame {
            self.handle.credit(data.0.len() as u64);
            self.printed.push_str(&String::from_utf8_lossy(&data.0));
        }
        frame
    }

    fn until(&mut self, text: &str) {
        while !self.printed.contains(text) {
            let frame = self.hear();
            assert!(!matches!(frame, Up::End { .. }), "{frame:?}");
        }
    }

    fn act(&mut self, number: u64, action: Action) -> Option<String> {
        assert!(self.handle.act(number, action));
        loop {
            match self.hear() {
                Up::Ack {
                    number: other,
                    error,
                } if other == number => return error,
                Up::End { .. } => panic!("it ended"),
                _ => {}
            }
        }
    }

    fn end(mut self) -> (End, String) {
        loop {
            if let Up::End { end, .. } = self.hear() {
                self.thread.join().unwrap();
                return (end, self.printed);
            }
        }
    }
}

#[test]
fn a_command_prints_on_two_streams_and_ends() {
    let mut job = start(command("echo out; echo err >&2; exit 7"));
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let end = loop {
        match job.hear() {
            Up::Output { from, data, .. } => match from {
                Source::Stdout => out.extend(data.0),
                Source::Stderr => err.extend(data.0),
                Source::Terminal => panic!("it has none"),
            },
            Up::End { end, .. } => break end,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        (out.as_slice(), err.as_slice()),
        (&b"out\n"[..], &b"err\n"[..])
    );
    assert_eq!((end.exit_code, end.error), (7, None));
}

#[test]
fn folders_and_variables() {
    let spec = Spec {
        cwd: Some("/usr".into()),
        env: [("WORD".to_owned(), "a b".to_owned())].into(),
        ..command("pwd; echo \"$WORD\"")
    };
    assert_eq!(start(spec).end().1, "/usr\na b\n");
    for (cwd, env, told) in [("/no/such", "A", "no folder"), ("/", "A=B", "no name")] {
        let spec = Spec {
            cwd: Some(cwd.into()),
            env: [(env.to_owned(), String::new())].into(),
            ..command("true")
        };
        let end = start(spec).end().0;
        assert_eq!(end.exit_code, -1);
        assert!(end.error.unwrap().contains(told));
    }
}

#[test]
fn output_beyond_what_is_wanted_is_dropped_and_told() {
    let spec = Spec {
        keep: Some(1000),
        ..command("head -c 3000000 /dev/zero | tr '\\0' x; exit 0")
    };
    let (end, printed) = start(spec).end();
    assert_eq!(
        (printed.len(), end.truncated, end.exit_code),
        (1000, true, 0)
    );
}

#[test]
fn without_credit_a_flood_waits() {
    let job = start(command("head -c 2000000 /dev/zero | tr '\\0' x"));
    let mut count = 0;
    while count < WINDOW {
        match job.frames.recv_timeout(DEADLINE).unwrap() {
            Up::Output { data, .. } => count += data.0.len() as u64,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(count, WINDOW);
    assert!(job.frames.try_recv().is_err());
    job.handle.credit(2_000_000);
    assert_eq!(job.end().1.len() as u64, 2_000_000 - WINDOW);
}

#[test]
fn a_timeout_ends_the_whole_group() {
    let spec = Spec {
        timeout_ms: 300,
        ..command("sleep 987 & echo $!; trap '' TERM HUP; sleep 987; sleep 987")
    };
    let (end, printed) = start(spec).end();
    assert!(end.timed_out && !end.canceled && end.exit_code == -1);
    let child: i32 = printed.trim().parse().unwrap();
    let deadline = Instant::now() + DEADLINE;
    while signal::kill(child, 0).is_ok() && !is_zombie(child) {
        assert!(Instant::now() < deadline, "{child} lives on");
        thread::yield_now();
    }
}

/// Ended, but not reaped by whoever inherited it.
fn is_zombie(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.contains(") Z ")
}

#[test]
fn keys_interrupts_and_the_end_of_input() {
    let mut job = start(terminal(
        "trap 'echo caught; exit 130' INT; echo ready; cat; stty raw; echo raw; cat",
    ));
    job.until("ready");
    job.handle.type_in("h\u{e9}\n".as_bytes()).unwrap();
    job.until("h\u{e9}\r\nh\u{e9}\r\n");
    assert_eq!(job.act(1, Action::Eof), None);
    job.until("raw");
    let refused = job.act(2, Action::Eof).unwrap();
    assert!(refused.contains("raw mode"), "{refused}");
    // By cat, and not by the shell that is yet to become it, which would lose the interrupt.
    job.handle.type_in(b"here").unwrap();
    job.until("herehere");
    assert_eq!(job.act(3, Action::Interrupt), None);
    let (end, printed) = job.end();
    assert!(printed.contains("caught"), "{printed}");
    assert_eq!(end.exit_code, 130);
}

#[test]
fn stopping_ends_what_ignores_it() {
    let mut job = start(terminal(
        "trap '' TERM HUP INT; echo ready; while :; do sleep 1; done",
    ));
    job.until("ready");
    assert_eq!(job.act(1, Action::Stop), None);
    let handle = Arc::clone(&job.handle);
    let end = job.end().0;
    assert!(end.canceled && !end.timed_out && end.exit_code == -1);
    assert!(!handle.act(2, Action::Stop));
    assert!(handle.type_in(b"x").is_err());
}

#[test]
fn what_it_leaves_running_holds_nobody_up() {
    let begun = Instant::now();
    let (end, printed) = start(command("sleep 30 & echo $!")).end();
    assert_eq!(end.exit_code, 0);
    assert!(begun.elapsed() < Duration::from_secs(29));
    signal::kill(printed.trim().parse().unwrap(), signal::KILL).unwrap();
}
