//! Waiting for what a typed line comes to: the one loop behind run and wait.

mod front;
mod silence;
mod waits;

use std::sync::Arc;
use std::time::{Duration, Instant};

use regex::Regex;

use crate::mcp::Progress;
use crate::proc::View;
use crate::reply::header::Status;
use crate::session::regions::{self, Kind, Region};

use crate::session::watch::{Cancel, Woken};
use crate::session::{Error, RegionId, Session, Sessions, State};

use super::rules::Heard;

pub use front::close_input;
use silence::Silence;
use waits::Waits;
pub use waits::unsure;

/// What is waited for.
pub struct Goal<'a> {
    pub target: Target,
    /// True for a line of the output at which the wait is over.
    pub until: Option<&'a dyn Fn(&str) -> bool>,
    /// Only lines after what was heard before count for `until`.
    pub heard: Option<&'a Heard>,
    pub deadline: Instant,
    /// When the line was typed, which counts as output: what waited before it has not waited since.
    pub typed: Option<Instant>,
    /// How long output must have been quiet before something that waits in an unknown way counts as waiting.
    pub settle: Duration,
    /// One more pattern for prompts.
    pub prompt: Option<&'a Regex>,
    /// True when what stands there is a question that the caller will answer: then no more quiet is waited for. A
    /// line given to a program stays open over its questions.
    pub asks: Option<&'a dyn Fn(&State) -> bool>,
    /// Where nothing stands on the cursor's line, only what certainly waits for input ends the wait: the far side of
    /// an ssh may work, and so may other threads of what reads. For a caller who wants to wait for just that.
    pub patient: bool,
    pub cancel: &'a Cancel,
    pub progress: Option<&'a Progress>,
}

#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// The command that a line typed at a shell's prompt becomes: the first after region `after`, and a prompt
    /// after a line break after `offset`.
    Command { after: RegionId, offset: u64 },
    /// A region that runs.
    Region(RegionId),
}

/// What it came to.
pub struct Outcome {
    pub status: Status,
    /// `None`: the line was no command (empty, a comment, a syntax error).
    pub region: Option<RegionId>,
    /// The last look at the job in front, when there was one.
    pub view: Option<View>,
    /// Something waits at a line that may be a prompt: a pattern that would match it.
    pub offer: Option<String>,
}

/// Output must have been quiet for so long before /proc is asked; then at intervals that grow with the quiet.
const FIRST_LOOK: Duration = Duration::from_millis(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// After long silence they grow on, to this share of it and up to this long. The kernel tells nobody that a process
/// begins to read its terminal, so who asks without having printed anything for minutes is answered some seconds
/// later; who prints anything is looked at anew.
const SILENT_SHARE: u32 = 5;
const RAREST_LOOK: Duration = Duration::from_secs(30);

/// A shell prints its prompt right after a command's end; past this it is not waited for any more.
const PROMPT_FOLLOWS: Duration = Duration::from_secs(2);

/// A typed line is echoed at once; one that is not (a password) counts as taken after so long.
const UNANSWERED: Duration = Duration::from_secs(1);

/// A command that was typed is waited for until it has begun, whatever the deadline, so that it has a number to be
/// known by.
const BEGINS: Duration = Duration::from_secs(2);

/// Progress is told about so often.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// `until` is matched against new lines at most so often while output floods.
const MATCH_EVERY: Duration = Duration::from_millis(50);

pub fn wait(
    sessions: &Sessions,
    session: &Arc<Session>,
    goal: &Goal<'_>,
) -> Result<Outcome, Error> {
    let watch = session.watch();
    let mut waiter = Waiter::new(goal);
    loop {
        let quiet = match waiter.look_at_log(session)? {
            Step::Over(outcome) => return Ok(*outcome),
            Step::Quiet(quiet) => quiet,
        };
        let now = Instant::now();
        if quiet >= waiter.next_look {
            if let Some(outcome) = waiter.look_at_front(sessions, session, quiet) {
                return Ok(outcome);
            }
            waiter.next_look = quiet + waiter.pause(quiet);
        }
        let begun = waiter.region().is_some() || now >= waiter.started + BEGINS;
        if now >= goal.deadline && begun {
            return Ok(waiter.outcome(Status::Running));
        }
        waiter.tell(session, now);
        let quiet_look = now + waiter.next_look.saturating_sub(quiet);
        let mut wake = quiet_look;
        if begun {
            wake = wake.min(goal.deadline);
        } else {
            wake = wake.min(waiter.started + BEGINS);
        }
        if goal.progress.is_some() {
            wake = wake.min(waiter.told + TELL_EVERY);
        }
        if let Some(at) = waiter.wake_at.take() {
            wake = wake.min(at);
        }
        if watch.wait(wake, goal.cancel) == Woken::Cancelled {
            return Ok(waiter.outcome(Status::Cancelled));
        }
    }
}

/// How long after a look in such a silence the next one follows, when that saw it work.
fn pause(quiet: Duration) -> Duration {
    let longest = LONGEST_PAUSE.max(quiet / SILENT_SHARE).min(RAREST_LOOK);
    (quiet / 2).clamp(FIRST_LOOK, longest)
}

/// How a region has ended. One that ended with the command around it (the last line that a program took, the `exit`
/// of a nested shell) tells of that command's end.
fn done(state: &State, region: &Region) -> Status {
    if region.exit.is_none() {
        let before = &state.regions.all()[..region.id as usize - 1];
        // Of several that ended together the outermost is the one whose status a shell has told.
        let outer = before.iter().find(|other| {
            other.kind == Kind::Command
                && other.exit.is_some()
                && other.end_offset.is_some()
                && other.end_offset == region.end_offset
        });
        if let Some(outer) = outer {
            let (exit, pipestatus) = (outer.exit, outer.pipestatus.clone());
            return Status::DoneWith {
                command: outer.id,
                label: outer.label.clone(),
                exit,
                pipestatus,
            };
        }
    }
    Status::Done {
        exit: region.exit,
        pipestatus: region.pipestatus.clone(),
    }
}

enum Step {
    Over(Box<Outcome>),
    /// Nothing decided; how long output has been quiet.
    Quiet(Duration),
}

struct Waiter<'a> {
    goal: &'a Goal<'a>,
    target: Target,
    view: Option<(View, Instant)>,
    next_look: Duration,
    started: Instant,
    told: Instant,
    /// Lines of the region that `until` was matched against, and when.
    matched: u64,
    matched_at: Option<Instant>,
    wake_at: Option<Instant>,
    ended_at: Option<Instant>,
    last_quiet: Duration,
    /// What the last look has seen wait.
    waits: Option<Waits>,
    silence: Silence,
}

impl<'a> Waiter<'a> {
    fn new(goal: &'a Goal<'a>) -> Waiter<'a> {
        Waiter {
            goal,
            target: goal.target,
            view: None,
            next_look: FIRST_LOOK,
            started: Instant::now(),
            told: Instant::now(),
            matched: 0,
            matched_at: None,
            wake_at: None,
            ended_at: None,
            last_quiet: Duration::ZERO,
            waits: None,
            silence: Silence::default(),
        }
    }

    fn region(&self) -> Option<RegionId> {
        match self.target {
            Target::Region(id) => Some(id),
            Target::Command { .. } => None,
        }
    }

    /// How long after the last look the next one follows.
    fn pause(&self, quiet: Duration) -> Duration {
        let pause = pause(quiet);
        let sooner = self.waits.as_ref().and_then(|waits| waits.next_look(quiet));
        sooner.map_or(pause, |sooner| sooner.min(pause))
    }

    fn outcome(&mut self, status: Status) -> Outcome {
        Outcome {
            status,
            region: self.region(),
            view: self.view.take().map(|(view, _)| view),
            offer: None,
        }
    }

    fn over(&mut self, status: Status) -> Step {
        Step::Over(Box::new(self.outcome(status)))
    }

    /// What the markers and the lines tell.
    fn look_at_log(&mut self, session: &Arc<Session>) -> Result<Step, Error> {
        let state = session.state();
        if let Target::Command { after, offset } = self.target {
            let begun = state
                .regions
                .all()
                .iter()
                .skip(after as usize)
                .find(|region| region.kind == Kind::Command);
            if let Some(region) = begun {
                self.target = Target::Region(region.id);
            } else if let Some(prompt) = state
                .regions
                .prompt()
                .filter(|prompt| prompt.newline >= offset)
            {
                // A redraw shows the typed line again; only an empty one means that the line is gone.
                if prompt.continuation {
                    return Ok(self.over(Status::Continuation));
                }
                if state.typed().is_some_and(|typed| typed.is_empty()) {
                    let exit = state
                        .regions
                        .idle_status
                        .filter(|(at, _)| *at >= offset)
                        .map(|(_, status)| status);
                    return Ok(self.over(Status::NoCommand { exit }));
                }
            }
        }
        let lost = self
            .region()
            .and_then(|id| state.regions.get(id))
            .is_none_or(|region| region.status != regions::Status::Done);
        if let Some(ending) = state.ending.filter(|_| lost) {
            return Ok(self.over(super::report::closed(&ending)));
        }
        if let Some(reason) = state.stopped.as_ref().filter(|_| lost) {
            let how = format!(
                "nothing that is printed is kept any more ({reason}): how it ends will not be known"
            );
            return Ok(self.over(Status::Closed { how, exit: None }));
        }
        if let Some(region) = self.region().and_then(|id| state.regions.get(id)) {
            // The command is a shell of its own, which has reached its prompt.
            if region.running() && state.regions.prompt().is_some() {
                let at = state.term.cursor_line();
                return Ok(self.over(Status::Prompt { at }));
            }
            if !region.running() {
                let status = match region.at_prompt {
                    true => Status::Prompt {
                        at: state.term.cursor_line(),
                    },
                    false => done(&state, region),
                };
                let ended = *self.ended_at.get_or_insert_with(Instant::now);
                // A shell is ready for the next line only at its prompt.
                let ready = !state.regions.between() || state.ending.is_some();
                if ready || ended.elapsed() >= PROMPT_FOLLOWS {
                    return Ok(self.over(status));
                }
                self.wake_at = Some(ended + PROMPT_FOLLOWS);
            }
        }
        let quiet = self.quiet(&state);
        if quiet < self.last_quiet {
            self.next_look = FIRST_LOOK;
            self.silence = Silence::default();
            self.waits = None;
        }
        self.last_quiet = quiet;
        match self.until_matches(&state)? {
            Some(true) => return Ok(self.over(Status::Until)),
            Some(false) => {}
            // Before anything else is said of these lines they are matched.
            None => return Ok(Step::Quiet(Duration::ZERO)),
        }
        Ok(Step::Quiet(quiet))
    }

    /// How long nothing has come. Where nothing at all has come since the typing, not even an echo, tmux may not
    /// have passed the line on yet: then the quiet counts for less.
    fn quiet(&self, state: &State) -> Duration {
        let quiet = state.last_output.elapsed();
        match self.goal.typed {
            Some(typed) if state.last_output < typed => typed.elapsed().saturating_sub(UNANSWERED),
            _ => quiet,
        }
    }

    /// None: it is too early to match again.
    fn until_matches(&mut self, state: &State) -> Result<Option<bool>, Error> {
        let (Some(until), Some(region)) = (
            self.goal.until,
            self.region().and_then(|id| state.regions.get(id)),
        ) else {
            return Ok(Some(false));
        };
        let due = self
            .matched_at
            .map(|at| at + MATCH_EVERY)
            .filter(|due| *due > Instant::now());
        if due.is_some() {
            self.wake_at = due;
            return Ok(None);
        }
        self.matched_at = Some(Instant::now());
        let snapshot = state.snapshot()?;
        let span = state.span(region, snapshot.lines());
        let (live_from, _) = snapshot.live();
        let heard = self.goal.heard.map(|heard| (heard, heard.position(state)));
        let begin = heard.map_or(span.first, |(_, at)| at.line);
        let mut found = false;
        snapshot.each(span.from(self.matched.max(begin)), |number, line| {
            let line = String::from_utf8_lossy(&line.bytes);
            let fresh = match heard {
                Some((heard, at)) => heard.fresh(at, number, &line),
                None => Some(&*line),
            };
            found = fresh.is_some_and(until);
            !found
        })?;
        // Lines that may still change are matched again.
        self.matched = live_from.max(span.first);
        Ok(Some(found))
    }

    fn tell(&mut self, session: &Session, now: Instant) {
        let Some(progress) = self
            .goal
            .progress
            .filter(|_| now.duration_since(self.told) >= TELL_EVERY)
        else {
            return;
        };
        self.told = now;
        let line = session.state().term.cursor_line();
        progress.send(&crate::reply::words::one_line(&line, 200));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When silence that begins now is looked at, up to `end`.
    fn looks(end: u64) -> Vec<Duration> {
        let mut looks = Vec::new();
        let mut next = FIRST_LOOK;
        while next < Duration::from_secs(end) {
            looks.push(next);
            next += pause(next);
        }
        looks
    }

    #[test]
    fn long_silence_is_looked_at_seldom() {
        // From 10 s on, as a call that waits for a command of minutes does.
        let first = looks(10).len();
        assert_eq!(looks(70).len() - first, 11);
        assert_eq!(looks(300).len() - first, 20);
        assert_eq!(looks(3600).len() - looks(300).len(), 110);
    }

    #[test]
    fn who_asks_soon_is_told_soon() {
        let looks = looks(3600);
        let late = |at: Duration| {
            let next = looks.iter().find(|look| **look >= at);
            next.map_or(Duration::ZERO, |next| *next - at)
        };
        for tenths in 0..30_000 {
            let at = Duration::from_millis(100 * tenths);
            assert!(late(at) <= LONGEST_PAUSE.max(at / SILENT_SHARE), "{at:?}");
            assert!(late(at) <= RAREST_LOOK, "{at:?}");
        }
    }
}
