//! Waiting for what a typed line comes to: the one loop behind run and wait.

use std::sync::Arc;
use std::time::{Duration, Instant};

use regex::Regex;

use crate::mcp::Progress;
use crate::proc::View;
use crate::reply::header::Status;
use crate::session::front::{self, Front};
use crate::session::regions::{self, Kind, Region};
use crate::session::watch::{Cancel, Woken};
use crate::session::{Error, RegionId, Session, Sessions, State};

/// What is waited for.
pub struct Goal<'a> {
    pub target: Target,
    pub until: Option<&'a Regex>,
    pub deadline: Instant,
    /// When the line was typed, which counts as output: what waited before it has not waited since.
    pub typed: Option<Instant>,
    /// How long output must have been quiet before something that waits in an unknown way counts as waiting.
    pub settle: Duration,
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
}

/// Output must have been quiet for so long before /proc is asked; then at intervals that grow with the quiet.
const FIRST_LOOK: Duration = Duration::from_millis(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// The kernel says that whole lines are read, or that a password is: quiet for so long, it is a question.
const QUESTION: Duration = Duration::from_millis(200);

/// A full-screen program has drawn its screen when nothing came for so long.
const DRAWN: Duration = Duration::from_millis(300);

/// A shell prints its prompt right after a command's end; past this it is not waited for any more.
const PROMPT_FOLLOWS: Duration = Duration::from_secs(2);

/// A typed line is echoed at once; one that is not (a password) counts as taken after so long.
const UNANSWERED: Duration = Duration::from_secs(1);

/// A command that was typed is waited for until it has begun, whatever the deadline, so that it has a number to be
/// known by.
const BEGINS: Duration = Duration::from_secs(2);

/// A shell that has not taken a line after so long, and reads keys, has kept it.
const KEPT: Duration = Duration::from_secs(1);

/// A connection is made and its shell comes up within so long, in silence.
const ENTERS: Duration = Duration::from_secs(10);

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
            Step::Over(outcome) => return Ok(outcome),
            Step::Quiet(quiet) => quiet,
        };
        let now = Instant::now();
        if quiet >= waiter.next_look {
            if let Some(outcome) = waiter.look_at_front(sessions, session, quiet) {
                return Ok(outcome);
            }
            let pause = (quiet / 2).clamp(FIRST_LOOK, LONGEST_PAUSE);
            waiter.next_look = quiet + pause;
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
    Over(Outcome),
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
        }
    }

    fn region(&self) -> Option<RegionId> {
        match self.target {
            Target::Region(id) => Some(id),
            Target::Command { .. } => None,
        }
    }

    fn outcome(&mut self, status: Status) -> Outcome {
        Outcome {
            status,
            region: self.region(),
            view: self.view.take().map(|(view, _)| view),
        }
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
                    return Ok(Step::Over(self.outcome(Status::Continuation)));
                }
                if state.typed().is_some_and(|typed| typed.is_empty()) {
                    let exit = state
                        .regions
                        .idle_status
                        .filter(|(at, _)| *at >= offset)
                        .map(|(_, status)| status);
                    return Ok(Step::Over(self.outcome(Status::NoCommand { exit })));
                }
            }
        }
        let lost = self
            .region()
            .and_then(|id| state.regions.get(id))
            .is_none_or(|region| region.status != regions::Status::Done);
        if let Some(ending) = state.ending.filter(|_| lost) {
            return Ok(Step::Over(self.outcome(super::report::closed(&ending))));
        }
        if let Some(reason) = state.stopped.as_ref().filter(|_| lost) {
            let how = format!(
                "nothing that is printed is kept any more ({reason}): how it ends will not be known"
            );
            return Ok(Step::Over(self.outcome(Status::Closed { how, exit: None })));
        }
        if let Some(region) = self.region().and_then(|id| state.regions.get(id)) {
            // The command is a shell of its own, which has reached its prompt.
            if region.running() && state.regions.prompt().is_some() {
                let at = state.term.cursor_line();
                return Ok(Step::Over(self.outcome(Status::Prompt { at })));
            }
            if !region.running() {
                let status = done(&state, region);
                let ended = *self.ended_at.get_or_insert_with(Instant::now);
                // A shell is ready for the next line only at its prompt.
                let ready = !state.regions.between() || state.ending.is_some();
                if ready || ended.elapsed() >= PROMPT_FOLLOWS {
                    return Ok(Step::Over(self.outcome(status)));
                }
                self.wake_at = Some(ended + PROMPT_FOLLOWS);
            }
        }
        let quiet = self.quiet(&state);
        if quiet < self.last_quiet {
            self.next_look = FIRST_LOOK;
        }
        self.last_quiet = quiet;
        if self.until_matches(&state)? {
            return Ok(Step::Over(self.outcome(Status::Until)));
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

    fn until_matches(&mut self, state: &State) -> Result<bool, Error> {
        let (Some(until), Some(region)) = (
            self.goal.until,
            self.region().and_then(|id| state.regions.get(id)),
        ) else {
            return Ok(false);
        };
        let due = self
            .matched_at
            .map(|at| at + MATCH_EVERY)
            .filter(|due| *due > Instant::now());
        if due.is_some() {
            self.wake_at = due;
            return Ok(false);
        }
        self.matched_at = Some(Instant::now());
        let snapshot = state.snapshot()?;
        let span = state.span(region, snapshot.lines());
        let (live_from, _) = snapshot.live();
        let mut found = false;
        snapshot.each(span.from(self.matched.max(span.first)), |_, line| {
            found = until.is_match(&String::from_utf8_lossy(&line.bytes));
            !found
        })?;
        // Lines that may still change are matched again.
        self.matched = live_from.max(span.first);
        Ok(found)
    }

    /// What the kernel tells of the job in front, asked only while output is quiet.
    fn look_at_front(
        &mut self,
        sessions: &Sessions,
        session: &Arc<Session>,
        quiet: Duration,
    ) -> Option<Outcome> {
        // Before a command's C has come, the shell itself is in front.
        let Some(region) = self.region() else {
            return self.look_at_editor(sessions, session, quiet);
        };
        if self.ended_at.is_some() {
            return None;
        }
        let front = sessions.front(session);
        let settle = self.goal.settle;
        let status = match &front {
            // A line that is still on its way in, or that somebody has begun.
            Front::Prompt { line, typed, view } if !typed.is_empty() => {
                let at = format!("{line}{typed}");
                let status = || Status::Waiting {
                    at,
                    secret: false,
                    hedged: view.hedged,
                };
                (quiet >= settle && self.idle(view)).then(status)
            }
            Front::Prompt { line, view, .. } => {
                // Without the kernel's certain word a prompt-looking end must have stood for a while.
                let enough = if view.hedged || view.verdict != crate::proc::Verdict::Waiting {
                    QUESTION
                } else {
                    FIRST_LOOK
                };
                (quiet >= enough && self.idle(view)).then(|| Status::Prompt { at: line.clone() })
            }
            Front::Waiting { line, view } => {
                let enough = if view.secret || front::certain(view) {
                    QUESTION.min(settle)
                } else {
                    settle
                };
                let status = || Status::Waiting {
                    at: line.clone(),
                    secret: view.secret,
                    hedged: view.hedged,
                };
                (quiet >= enough && self.idle(view)).then(status)
            }
            Front::Fullscreen { .. } => (quiet >= DRAWN).then_some(Status::Settled),
            Front::Unclear { line, .. } => {
                let status = || Status::Waiting {
                    at: line.clone(),
                    secret: false,
                    hedged: true,
                };
                let enough = if entering(session, region) {
                    settle.max(ENTERS)
                } else {
                    settle
                };
                (quiet >= enough).then(status)
            }
            // A prompt in an integrated shell: its markers come by the log.
            Front::Shell { .. } | Front::Between | Front::Working { .. } | Front::Over(_) => None,
        };
        let view = match front {
            Front::Prompt { view, .. }
            | Front::Waiting { view, .. }
            | Front::Fullscreen { view }
            | Front::Working { view }
            | Front::Unclear { view, .. } => Some(view),
            Front::Shell { .. } | Front::Between | Front::Over(_) => None,
        };
        self.view = view.map(|view| (view, Instant::now()));
        let status = status?;
        close_input(session, region, &status);
        Some(self.outcome(status))
    }

    /// A line that is still in the shell's editor (fish keeps one that is unfinished or wrong) while the shell
    /// reads keys again.
    fn look_at_editor(
        &mut self,
        sessions: &Sessions,
        session: &Arc<Session>,
        quiet: Duration,
    ) -> Option<Outcome> {
        let held =
            matches!(sessions.front(session), Front::Shell { typed, .. } if !typed.is_empty());
        if quiet < KEPT || !held || !sessions.look(session).is_waiting() {
            return None;
        }
        Some(self.outcome(Status::Continuation))
    }

    /// Nothing computes beside what waits: compared with the look before, when there was one.
    fn idle(&self, view: &View) -> bool {
        self.view
            .as_ref()
            .is_none_or(|(earlier, at)| !view.busy_since(earlier, at.elapsed()))
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

/// `paneglass ssh` or `into` has been typed and nothing has been printed since: the far side prepares its shell.
fn entering(session: &Session, id: RegionId) -> bool {
    let state = session.state();
    let Some(region) = state
        .regions
        .get(id)
        .filter(|region| region.kind == Kind::Command)
    else {
        return false;
    };
    let words: Vec<&str> = region.label.split_whitespace().collect();
    let enters = words.windows(2).any(|pair| {
        pair[0].rsplit('/').next() == Some("paneglass") && matches!(pair[1], "ssh" | "into")
    });
    enters && state.term.cursor_line().is_empty()
}

/// A line given to a program is answered: its region ends where the program's prompt begins, or with its question.
pub fn close_input(session: &Session, id: RegionId, status: &Status) {
    let mut state = session.state();
    let at = state.moment();
    let state = &mut *state;
    if !state
        .regions
        .get(id)
        .is_some_and(|region| region.kind == Kind::Input && region.running())
    {
        return;
    }
    let mark = match status {
        Status::Prompt { .. } => state.term.mark_line(),
        _ => state.term.mark(),
    };
    let at_prompt = matches!(status, Status::Prompt { .. });
    let end = regions::End {
        at_prompt,
        ..Default::default()
    };
    state.regions.close(&mut state.term, id, mark, at, end);
    state.write_changes(false);
}
