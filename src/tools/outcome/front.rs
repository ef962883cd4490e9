//! What the kernel and the last line tell of the job in front, asked only while output is quiet.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::proc::View;
use crate::reply::header::Status;
use crate::session::front::{self, Front};
use crate::session::prompts;
use crate::session::regions::{self, Kind};
use crate::session::{RegionId, Session, Sessions};

use super::waits::{Waits, unsure};
use super::{FIRST_LOOK, Outcome, Waiter};

/// The kernel says that whole lines are read, or that a password is: quiet for so long, it is a question.
const QUESTION: Duration = Duration::from_millis(200);

/// A program that reads keys one by one, in a read that nothing hedges: quiet for so long, it is a question.
const KEY: Duration = Duration::from_secs(1);

/// A full-screen program has drawn its screen when nothing came for so long.
const DRAWN: Duration = Duration::from_millis(300);

/// A shell that has not taken a line after so long, and reads keys, has kept it.
const KEPT: Duration = Duration::from_secs(1);

impl Waiter<'_> {
    /// What the kernel tells of the job in front, asked only while output is quiet.
    pub(super) fn look_at_front(
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
        let asks = self.goal.asks;
        let foreseen = asks.is_some_and(|asks| asks(&session.state()));
        // A question that is foreseen is taken for one after some silence, whatever the kernel says.
        if !foreseen && self.silence.goes_on(sessions, session, quiet) {
            return None;
        }
        let front = sessions.front_with(session, self.goal.prompt);
        self.silence.saw(&front);
        let settle = self.goal.settle;
        self.waits = Waits::seen(&front, quiet, self.waits.take());
        // Quiet for so long, and seen to wait for long enough.
        let stands = |enough: Duration| {
            let waits = self.waits.as_ref();
            quiet >= enough && waits.is_none_or(|waits| waits.confirmed(quiet, enough))
        };
        let waiting = |line: &str, view: &View| Status::Waiting {
            at: line.to_string(),
            secret: view.secret,
            hedged: unsure(view),
        };
        let mut offer = None;
        let status = match &front {
            // A line that is still on its way in, or that somebody has begun.
            Front::Prompt { line, typed, view }
            | Front::Waiting { line, typed, view }
            | Front::Unclear { line, typed, view }
                if !typed.is_empty() =>
            {
                let enough = if foreseen { QUESTION } else { settle };
                (stands(enough) && self.idle(view))
                    .then(|| waiting(&format!("{line}{typed}"), view))
            }
            Front::Prompt { line, view, .. } => {
                // Without the kernel's certain word a prompt-looking end must have stood for a while.
                let enough = if unsure(view) { QUESTION } else { FIRST_LOOK };
                (stands(enough) && self.idle(view)).then(|| Status::Prompt { at: line.clone() })
            }
            Front::Waiting { line, view, .. } => {
                let certain = view.secret || front::certain(view);
                let enough = match (certain, foreseen) {
                    (true, true) => FIRST_LOOK,
                    (true, false) => QUESTION.min(settle),
                    (false, true) => QUESTION,
                    (false, false) if front::reads(view) => KEY.min(settle),
                    (false, false) => settle,
                };
                if !certain {
                    offer = prompts::pattern_for(line);
                }
                let nothing = self.goal.patient && !certain && line.trim().is_empty();
                (!nothing && stands(enough) && self.idle(view)).then(|| waiting(line, view))
            }
            Front::Fullscreen { .. } => (quiet >= DRAWN).then_some(Status::Settled),
            Front::Unclear { line, view, .. } => {
                offer = prompts::pattern_for(line);
                let enough = match foreseen {
                    true => QUESTION,
                    false if entering(session, region) => settle.max(ENTERS),
                    false => settle,
                };
                let nothing = self.goal.patient && line.trim().is_empty();
                (!nothing && stands(enough)).then(|| waiting(line, view))
            }
            // It reads in a way that cannot be seen, or will only read later: the question is there.
            Front::Working { view } if foreseen && quiet >= settle => {
                Some(waiting(&session.state().term.cursor_line(), view))
            }
            // A prompt in an integrated shell: its markers come by the log.
            Front::Shell { .. } | Front::Between | Front::Working { .. } | Front::Over(_) => None,
        };
        if status.is_some() {
            session.state().stands(&front);
        }
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
        if asks.is_none() {
            close_input(session, region, &status);
        }
        let outcome = self.outcome(status);
        Some(Outcome { offer, ..outcome })
    }

    /// A line that is still in the shell's editor (fish keeps one that is unfinished or wrong) while the shell
    /// reads keys again.
    pub(super) fn look_at_editor(
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
    pub(super) fn idle(&self, view: &View) -> bool {
        self.view
            .as_ref()
            .is_none_or(|(earlier, at)| !view.busy_since(earlier, at.elapsed()))
    }
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

/// A connection is made and its shell comes up within so long, in silence.
const ENTERS: Duration = Duration::from_secs(10);

/// `paneglass ssh` or `into` has been typed and nothing has been printed since: the far side prepares its shell.
fn entering(session: &Session, id: RegionId) -> bool {
    let state = session.state();
    let region = state.regions.get(id);
    let Some(region) = region.filter(|region| region.kind == Kind::Command) else {
        return false;
    };
    let words: Vec<&str> = region.label.split_whitespace().collect();
    let enters = words.windows(2).any(|pair| {
        pair[0].rsplit('/').next() == Some("paneglass") && matches!(pair[1], "ssh" | "into")
    });
    enters && state.term.cursor_line().is_empty()
}
