//! The answer: does the foreground job wait for its terminal? Only data, and the comparison of two answers.

use std::time::Duration;

use super::{Pid, TICKS_PER_SECOND, people};

/// What the foreground job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Some thread of it sleeps until the terminal has input.
    Waiting,
    /// Nothing in it watches the terminal.
    Working,
    /// It passes keys on to somewhere that cannot be seen from here: ssh, a container, a nested tmux.
    Remote,
    /// All of it is stopped (^Z, SIGSTOP, a debugger).
    Stopped,
    /// What matters could not be read.
    Unknown,
    /// The process the terminal was made for has ended.
    Gone,
}

/// How a program waits for its terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsBy {
    /// In a read: it does nothing else, this thread at least.
    Read,
    /// In poll, select or epoll, perhaps for other things and the time too.
    Poll,
}

/// A process in words for people. The text is the program's own: control characters are gone from it, but it is not
/// to be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub pid: Pid,
    /// As in [`super::Process`]: tells it from a later process of the same pid.
    pub start_time: u64,
    /// Short: `make`, `python3 app.py`.
    pub name: String,
    /// The command line, quoted where a shell would need it, clipped.
    pub command: String,
}

impl Named {
    /// Whether it hands typed keys to a place that cannot be seen from here: ssh, docker, a nested tmux.
    pub fn is_remote(&self) -> bool {
        people::is_remote(&[self.name.clone().into_bytes()], "")
    }
}

/// The foreground process group of a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreground {
    pub pgrp: Pid,
    /// The group's leader, or its oldest process when the leader has ended. None when none can be seen.
    pub leader: Option<Named>,
    /// The group is that of the process which the terminal was made for: a shell at its prompt, a shell without job
    /// control, or a program that was started in place of a shell.
    pub own: bool,
}

/// One look at a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    pub verdict: Verdict,
    /// The verdict is the likelier of two: the system calls could not be seen.
    pub hedged: bool,
    /// How it waits, when it does.
    pub waits_by: Option<WaitsBy>,
    /// Its only thread waits for the terminal and for nothing else: no other descriptor, no time.
    pub alone: bool,
    /// The terminal's foreground job. None when it cannot be told.
    pub foreground: Option<Foreground>,
    /// The process that waits, else the foreground job's leader. Behind `script`, `sudo` and the like, the one on
    /// the inner terminal.
    pub process: Option<Named>,
    /// How many terminals lie between: 1 for `script -c cat`.
    pub relays: u8,
    /// It waits for a line that is not shown: a password.
    pub secret: bool,
    /// ICANON of the terminal itself: it takes whole lines, each of at most 4,095 bytes. True when it could not be
    /// read.
    pub canonical: bool,
    /// ECHO of the terminal itself. True when it could not be read.
    pub echo: bool,
    /// Bytes typed and not yet read.
    pub unread: usize,
    /// A thread of `process` was on a processor.
    pub running: bool,
    /// What `process` has used of the processors so far, in ticks of 1/100 s.
    pub cpu_ticks: u64,
}

/// A program that draws a clock while it waits uses a percent or two of a processor; one that computes uses whole
/// ones. Between them, one part in eight.
const BUSY_SHARE: u64 = 8;

impl View {
    /// It waits, and has been given nothing yet. With unread bytes the job only has not been scheduled since: look
    /// again.
    pub fn is_waiting(&self) -> bool {
        self.verdict == Verdict::Waiting && self.unread == 0
    }

    /// The same process computed from `earlier` to now, `elapsed` apart: beside a thread that watches the terminal,
    /// another works. False when the two views show different processes.
    pub fn busy_since(&self, earlier: &Self, elapsed: Duration) -> bool {
        let (Some(now), Some(before)) = (&self.process, &earlier.process) else {
            return false;
        };
        if (now.pid, now.start_time) != (before.pid, before.start_time) {
            return false;
        }
        let ticks = self.cpu_ticks.saturating_sub(earlier.cpu_ticks);
        let all = u64::try_from(elapsed.as_millis())
            .unwrap_or(u64::MAX)
            .saturating_mul(TICKS_PER_SECOND)
            / 1000;
        // One tick may be rounding.
        self.running && earlier.running || ticks > 1 && ticks.saturating_mul(BUSY_SHARE) > all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(pid: i32, running: bool, cpu_ticks: u64) -> View {
        View {
            verdict: Verdict::Waiting,
            hedged: false,
            waits_by: Some(WaitsBy::Poll),
            alone: false,
            foreground: None,
            process: Some(Named {
                pid: Pid(pid),
                start_time: 7,
                name: "top".into(),
                command: "top".into(),
            }),
            relays: 0,
            secret: false,
            canonical: false,
            echo: false,
            unread: 0,
            running,
            cpu_ticks,
        }
    }

    #[test]
    fn twice_running_or_much_time_used_is_busy() {
        let second = Duration::from_secs(1);
        let busy = |a: &View, b: &View| b.busy_since(a, second);
        assert!(busy(&view(5, true, 10), &view(5, true, 10)));
        assert!(!busy(&view(5, true, 10), &view(5, false, 10)));
        assert!(busy(&view(5, false, 10), &view(5, false, 60)));
        assert!(!busy(&view(5, false, 10), &view(5, false, 13)));
        assert!(!busy(&view(5, false, 10), &view(5, false, 11)));
    }

    #[test]
    fn one_tick_in_a_short_time_may_be_rounding() {
        let short = Duration::from_millis(5);
        assert!(!view(5, false, 11).busy_since(&view(5, false, 10), short));
        assert!(view(5, false, 12).busy_since(&view(5, false, 10), short));
    }

    #[test]
    fn another_process_says_nothing() {
        assert!(!view(6, true, 90).busy_since(&view(5, true, 10), Duration::from_millis(10)));
        let mut later = view(5, true, 90);
        if let Some(process) = &mut later.process {
            process.start_time = 8;
        }
        assert!(!later.busy_since(&view(5, true, 10), Duration::from_millis(10)));
    }

    #[test]
    fn unread_input_is_not_waiting_yet() {
        let mut view = view(5, false, 0);
        assert!(view.is_waiting());
        view.unread = 1;
        assert!(!view.is_waiting());
    }
}
