//! What is in front in a session now: a shell's prompt, a program's, a question, or work.

use std::sync::Arc;
use std::time::{Duration, Instant};

use regex::Regex;

use super::meta::Ending;
use super::registry::Sessions;
use super::stood::Grown;
use super::watch::Woken;
use super::{Session, ends};
pub use crate::proc::{Rest, View};
use crate::proc::{Verdict, WaitsBy};

/// How long an ended program's status and last output are waited for; see `ends`.
const ENDING: Duration = Duration::from_secs(12);

/// How long the log may lag behind the kernel's view before that is taken at its word.
const LAG: Duration = Duration::from_secs(1);

/// The same while more of the log keeps coming.
const LAG_MOST: Duration = Duration::from_secs(20);

/// A program that prints without pause while it waits is looked at so often.
const STALE_MOST: u8 = 4;

/// The process that waits for keys one by one, as a shell's editor does.
fn editing(front: &Front) -> Option<u32> {
    match front {
        Front::Prompt { view, .. } | Front::Waiting { view, .. }
            if !view.canonical || view.waits_by == Some(WaitsBy::Poll) =>
        {
            view.process
                .as_ref()
                .and_then(|process| u32::try_from(process.pid.0).ok())
        }
        _ => None,
    }
}

/// What a typed line would reach.
#[derive(Clone, Debug)]
pub enum Front {
    /// A shell with markers, at its prompt. `typed`: what stands on its line, not submitted.
    Shell {
        typed: String,
        continuation: bool,
    },
    /// Such a shell between a command's end and its prompt: it will be at it in a moment.
    Between,
    /// A program, or a shell without markers, at a prompt that is known. `typed`: what stands after it, not
    /// submitted.
    Prompt {
        line: String,
        typed: String,
        view: View,
    },
    /// Something waits for input, at a line that no known prompt matches. `typed` as above.
    Waiting {
        line: String,
        typed: String,
        view: View,
    },
    /// A program has the whole screen.
    Fullscreen {
        view: View,
    },
    /// The job in front works, or is stopped.
    Working {
        view: View,
    },
    /// Nobody can tell: the far side of an ssh, a process that cannot be looked at.
    Unclear {
        line: String,
        typed: String,
        view: View,
    },
    Over(Ending),
}

impl Front {
    /// What stands there and was not submitted; `None` where nothing reads lines.
    pub fn typed(&self) -> Option<&str> {
        match self {
            Front::Shell { typed, .. }
            | Front::Prompt { typed, .. }
            | Front::Waiting { typed, .. }
            | Front::Unclear { typed, .. } => Some(typed),
            _ => None,
        }
    }

    /// The job in front, in words for people.
    pub fn name(&self) -> String {
        let view = match self {
            Front::Shell { .. } | Front::Between => return "the shell".into(),
            Front::Over(_) => return "nothing".into(),
            Front::Prompt { view, .. }
            | Front::Waiting { view, .. }
            | Front::Fullscreen { view }
            | Front::Working { view }
            | Front::Unclear { view, .. } => view,
        };
        name(view)
    }
}

/// What a look at a terminal saw, in words for people. The session's own shell is not called by the options it was
/// started with.
pub fn name(view: &View) -> String {
    let job = view.foreground.as_ref();
    let leader = job.and_then(|job| job.leader.as_ref());
    match view.process.as_ref().or(leader) {
        None => "a program".into(),
        Some(process)
            if job.is_some_and(|job| job.own)
                && leader.is_some_and(|leader| leader.pid == process.pid) =>
        {
            process
                .name
                .split(' ')
                .next()
                .unwrap_or_default()
                .to_string()
        }
        Some(process) => process.name.clone(),
    }
}

/// The first word of a command line, without its folder.
fn program_name(command: &str) -> String {
    let word = command.split_whitespace().next().unwrap_or("the program");
    word.rsplit('/').next().unwrap_or(word).to_string()
}

/// The kernel's word is enough: a process that does nothing but wait for its terminal. Where one thread reads, others
/// may work: a server that also takes commands.
pub fn certain(view: &View) -> bool {
    view.verdict == Verdict::Waiting && view.alone
}

/// Whether it works or waits for input, nobody can tell for certain.
pub fn unclear(view: &View) -> bool {
    match view.verdict {
        Verdict::Waiting => !certain(view),
        Verdict::Remote | Verdict::Unknown => true,
        Verdict::Working | Verdict::Stopped | Verdict::Gone => false,
    }
}

/// It sleeps in a read of the terminal, and nothing hedges that.
pub fn reads(view: &View) -> bool {
    view.verdict == Verdict::Waiting && !view.hedged && view.waits_by == Some(WaitsBy::Read)
}

impl Sessions {
    /// Looks at the log's state first and asks /proc only when no shell's marker has settled it. A session whose
    /// program has just ended is looked at again when its end is known.
    pub fn front(&self, session: &Arc<Session>) -> Front {
        let front = self.front_with(session, None);
        session.state().seen_to_stand(&front);
        front
    }

    /// The same with one more pattern for prompts.
    pub fn front_with(&self, session: &Arc<Session>, prompt: Option<&Regex>) -> Front {
        let watch = session.watch();
        let (_running, never) = crossbeam_channel::bounded(0);
        let front = self.front_at_rest(session, prompt);
        if matches!(&front, Front::Working { view } if view.verdict == Verdict::Gone) {
            let deadline = Instant::now() + ENDING;
            while session.state().ending.is_none() && watch.wait(deadline, &never) == Woken::Changed
            {
            }
            return self.front_at_rest(session, prompt);
        }
        // The shell that runs the command edits a line again: the command has ended, and the log is about to say
        // so. Unless it says nothing: then the command itself has the shell read keys (read -e, read -n 1).
        let shell = session.state().regions.running_shell();
        if shell.is_some() && editing(&front) == shell {
            // After a flood there is much to be said first: as long as it goes on, it lags.
            let most = Instant::now() + LAG_MOST;
            while session.state().regions.running_shell() == shell
                && watch.wait(most.min(Instant::now() + LAG), &never) == Woken::Changed
            {
            }
            // On a machine that is busy it lags longer: then whoever writes it is asked.
            if session.state().regions.running_shell() == shell {
                ends::drain(session, &self.tmux, &self.proc);
            }
            return self.front_at_rest(session, prompt);
        }
        front
    }

    /// What the kernel says was asked after what the log had said: if the log has gone on meanwhile, both are asked
    /// again. A shell that is back at its prompt would be taken for the command that it ran.
    fn front_at_rest(&self, session: &Session, prompt: Option<&Regex>) -> Front {
        let mut tries = STALE_MOST;
        loop {
            let before = session.state().offset();
            let front = self.front_now(session, prompt);
            tries -= 1;
            let settled = matches!(front, Front::Working { .. } | Front::Shell { .. });
            if settled || tries == 0 || session.state().offset() == before {
                return front;
            }
        }
    }

    /// What the kernel says of the job in front.
    pub fn look(&self, session: &Session) -> View {
        let mut view = self
            .proc
            .look(session.program(), std::path::Path::new(&session.meta.tty));
        // The launcher leads the program's process group, and is nobody's concern.
        if let Some(process) = view
            .process
            .as_mut()
            .filter(|process| process.pid.0 == session.meta.pid)
        {
            process.name = program_name(&session.meta.command);
        }
        view
    }

    /// What could come to wait for the session's terminal, if all of it sleeps.
    pub fn rest(&self, session: &Session) -> Option<Rest> {
        self.proc
            .rest(session.program(), std::path::Path::new(&session.meta.tty))
    }

    /// Nothing of it has run since: what a look found then, a look would find now.
    pub fn rests(&self, rest: &Rest) -> bool {
        self.proc.rests(rest)
    }

    fn front_now(&self, session: &Session, prompt: Option<&Regex>) -> Front {
        let (here, fullscreen, prompts) = {
            let mut state = session.state();
            if let Some(ending) = state.ending {
                return Front::Over(ending);
            }
            if let (Some(prompt), Some(typed)) = (state.regions.prompt(), state.typed()) {
                return Front::Shell {
                    typed,
                    continuation: prompt.continuation,
                };
            }
            if state.regions.between() {
                return Front::Between;
            }
            (
                state.here(),
                state.term.fullscreen(),
                state.prompts.with(prompt),
            )
        };
        let view = self.look(session);
        let known = prompts.matches(&here.text).is_some();
        let grown = session.state().grown(&here, &view, known);
        let line = here.text;
        let half = prompts
            .typed_after(&line)
            .map(|(prompt, typed)| (prompt.to_string(), typed.trim().to_string()));
        match view.verdict {
            Verdict::Waiting if !view.is_waiting() => Front::Working { view },
            Verdict::Waiting if fullscreen => Front::Fullscreen { view },
            Verdict::Waiting | Verdict::Remote | Verdict::Unknown
                if half.is_none() && !fullscreen && grown.is_some() =>
            {
                at_grown(grown.unwrap_or_default(), view)
            }
            Verdict::Waiting if known && !view.secret => Front::Prompt {
                line,
                typed: String::new(),
                view,
            },
            Verdict::Waiting if half.is_some() && !view.secret => {
                let (line, typed) = half.unwrap_or_default();
                Front::Prompt { line, typed, view }
            }
            Verdict::Waiting => Front::Waiting {
                line,
                typed: String::new(),
                view,
            },
            Verdict::Remote | Verdict::Unknown if fullscreen => Front::Fullscreen { view },
            Verdict::Remote | Verdict::Unknown if known => Front::Prompt {
                line,
                typed: String::new(),
                view,
            },
            Verdict::Remote | Verdict::Unknown => Front::Unclear {
                line,
                typed: String::new(),
                view,
            },
            Verdict::Working => {
                session.state().job_works();
                Front::Working { view }
            }
            Verdict::Stopped | Verdict::Gone => Front::Working { view },
        }
    }
}

/// A line at which something waits, with text on it that was typed.
fn at_grown(grown: Grown, view: View) -> Front {
    let Grown {
        line,
        typed,
        prompt,
    } = grown;
    match view.verdict {
        _ if prompt => Front::Prompt { line, typed, view },
        Verdict::Waiting => Front::Waiting { line, typed, view },
        _ => Front::Unclear { line, typed, view },
    }
}
