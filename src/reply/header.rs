//! The first line of a reply about a region: `[t1 #12 · exit 0 · 1.8 s · lines 340-352]`.

use super::words;
use crate::session::exit::signal_of;

/// How a call left things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// A command has ended, with its status when that is known.
    Done {
        exit: Option<i32>,
        pipestatus: Vec<i32>,
    },
    /// The line was no command (empty, a comment); with a status when the shell refused it (a syntax error).
    NoCommand { exit: Option<i32> },
    /// A line given to a program was its last: the program's command has ended too.
    DoneWith {
        command: u32,
        /// The program, as it was started.
        label: String,
        exit: Option<i32>,
        pipestatus: Vec<i32>,
    },
    /// It runs on.
    Running,
    /// `until` has matched; it runs on.
    Until,
    /// It waits for input at this line.
    Waiting {
        at: String,
        secret: bool,
        hedged: bool,
    },
    /// A program is at its prompt.
    Prompt { at: String },
    /// A shell wants the rest of an unfinished command.
    Continuation,
    /// Foreseen questions were answered; it waits at this line, which no rule answers.
    Unanswered { at: String, secret: bool },
    /// A rule that was to stop there has matched; it runs on.
    Stopped,
    /// A shell with markers is at its prompt.
    Shell,
    /// A full-screen program has drawn its screen, or output has paused.
    Settled,
    /// Nothing runs.
    Idle,
    /// The session is over.
    Closed { how: String, exit: Option<i32> },
    /// The call was cancelled; what runs goes on.
    Cancelled,
}

impl Status {
    /// The name in the facts.
    pub fn name(&self) -> &'static str {
        match self {
            Status::Done { .. } | Status::NoCommand { .. } | Status::DoneWith { .. } => "done",
            Status::Running | Status::Cancelled => "running",
            Status::Until => "until",
            Status::Waiting { .. } | Status::Continuation => "waiting",
            Status::Prompt { .. } | Status::Shell => "prompt",
            Status::Unanswered { .. } => "unanswered",
            Status::Stopped => "stopped",
            Status::Settled | Status::Idle => "settled",
            Status::Closed { .. } => "closed",
        }
    }
}

/// What the header says.
#[derive(Clone, Debug)]
pub struct Header<'a> {
    pub session: &'a str,
    pub region: Option<u32>,
    pub status: &'a Status,
    pub duration_ms: Option<u64>,
    /// The output's first and last line, numbered from 1.
    pub lines: Option<(u64, u64)>,
    /// Where it ran, when that is not here.
    pub place: Option<&'a str>,
}

impl std::fmt::Display for Header<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}", self.session)?;
        if let Some(region) = self.region {
            write!(f, " #{region}")?;
        }
        let running = matches!(
            self.status,
            Status::Running | Status::Until | Status::Stopped | Status::Cancelled
        );
        match self.status {
            Status::Running => write!(f, " · running")?,
            Status::Until => write!(f, " · until matched, running")?,
            Status::Stopped => write!(f, " · stopped by a rule, running")?,
            Status::Cancelled => write!(f, " · cancelled, running")?,
            other => write!(f, " · {}", state(other))?,
        }
        match self.duration_ms {
            Some(ms) if running => write!(f, " {}", words::duration(ms))?,
            Some(ms) => write!(f, " · {}", words::duration(ms))?,
            None => {}
        }
        match self.lines {
            Some((first, last)) if first == last => write!(f, " · line {first}")?,
            Some((first, last)) => write!(f, " · lines {first}-{last}")?,
            None if self.region.is_some() => write!(f, " · no output")?,
            None => {}
        }
        if let Some(place) = self.place {
            write!(f, " · on {place}")?;
        }
        f.write_str("]")
    }
}

/// A line that a program stands at is quoted up to this many characters.
pub const AT_MOST: usize = 80;

/// A command that ended is named by at most so many characters.
const LABEL_MOST: usize = 40;

fn state(status: &Status) -> String {
    match status {
        Status::Done { exit, pipestatus } => exit_text(*exit, pipestatus),
        Status::NoCommand { exit: None } => "no command".into(),
        Status::NoCommand { exit: Some(exit) } => {
            format!("no command, {}", exit_text(Some(*exit), &[]))
        }
        Status::DoneWith {
            command,
            label,
            exit,
            pipestatus,
        } => format!(
            "{} (the end of #{command}: {})",
            exit_text(*exit, pipestatus),
            words::one_line(label, LABEL_MOST)
        ),
        Status::Waiting { at, secret, hedged } => {
            let at = words::one_line(at, AT_MOST);
            let verb = if *hedged { "may be waiting" } else { "waiting" };
            match (at.is_empty(), secret) {
                (true, true) => format!("{verb} for a secret (no echo)"),
                (false, true) => format!("{verb} for a secret at \"{at}\""),
                (true, false) => format!("{verb} for input"),
                (false, false) => format!("{verb} at \"{at}\""),
            }
        }
        Status::Unanswered { at, .. } if at.trim().is_empty() => {
            "unanswered, waiting for input".into()
        }
        Status::Unanswered { at, secret } => {
            let kind = if *secret {
                "secret question"
            } else {
                "question"
            };
            format!("unanswered {kind} \"{}\"", words::one_line(at, AT_MOST))
        }
        Status::Shell => "at the shell's prompt".into(),
        Status::Prompt { at } => format!("prompt \"{}\"", words::one_line(at, AT_MOST)),
        Status::Continuation => {
            "waiting at a continuation prompt: the command is unfinished".into()
        }
        Status::Settled => "settled".into(),
        Status::Idle => "nothing runs".into(),
        Status::Closed { how, .. } => how.clone(),
        Status::Running | Status::Until | Status::Stopped | Status::Cancelled => "running".into(),
    }
}

/// "exit 0", "exit 1 (pipe 0 1)", "exit 143 (SIGTERM)", "ended, status unknown".
pub fn exit_text(exit: Option<i32>, pipestatus: &[i32]) -> String {
    let Some(exit) = exit else {
        return "ended, status unknown".into();
    };
    if pipestatus.len() > 1 {
        let stages: Vec<String> = pipestatus
            .iter()
            .map(|&status| match signal_of(status) {
                Some(name) => format!("{status}={name}"),
                None => status.to_string(),
            })
            .collect();
        return format!("exit {exit} (pipe {})", stages.join(" "));
    }
    match signal_of(exit) {
        Some(name) => format!("exit {exit} ({name})"),
        None => format!("exit {exit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(status: Status, lines: Option<(u64, u64)>, want: &str) {
        let header = Header {
            session: "t1",
            region: Some(12),
            status: &status,
            duration_ms: Some(1_850),
            lines,
            place: None,
        };
        assert_eq!(header.to_string(), want);
    }

    #[test]
    fn headers() {
        let done = |exit, pipe: &[i32]| Status::Done {
            exit,
            pipestatus: pipe.to_vec(),
        };
        check(
            done(Some(0), &[]),
            Some((340, 352)),
            "[t1 #12 · exit 0 · 1.8 s · lines 340-352]",
        );
        check(
            done(Some(1), &[0, 1]),
            None,
            "[t1 #12 · exit 1 (pipe 0 1) · 1.8 s · no output]",
        );
        check(
            done(Some(0), &[141, 0]),
            Some((7, 7)),
            "[t1 #12 · exit 0 (pipe 141=SIGPIPE 0) · 1.8 s · line 7]",
        );
        check(
            done(Some(143), &[]),
            None,
            "[t1 #12 · exit 143 (SIGTERM) · 1.8 s · no output]",
        );
        check(
            done(None, &[]),
            None,
            "[t1 #12 · ended, status unknown · 1.8 s · no output]",
        );
        let with = Status::DoneWith {
            command: 9,
            label: "python3 -q".into(),
            exit: Some(3),
            pipestatus: Vec::new(),
        };
        check(
            with,
            None,
            "[t1 #12 · exit 3 (the end of #9: python3 -q) · 1.8 s · no output]",
        );
        check(
            Status::Running,
            Some((1, 9)),
            "[t1 #12 · running 1.8 s · lines 1-9]",
        );
        let waiting = Status::Waiting {
            at: "Password: ".into(),
            secret: true,
            hedged: false,
        };
        check(
            waiting,
            None,
            "[t1 #12 · waiting for a secret at \"Password:\" · 1.8 s · no output]",
        );
    }
}
