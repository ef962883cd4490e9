//! Whom the looks in a silence have seen wait, and whether that is to be believed yet.

use std::time::Duration;

use crate::proc::{Pid, Verdict, View};
use crate::session::front::Front;

use super::FIRST_LOOK;

/// Who waits without having printed anything must be seen so twice, so far apart: a program that takes its leave, or
/// has only just been started, looks like it for a moment.
const AGAIN: Duration = Duration::from_millis(100);

/// What only may wait must be seen so for so long: a job that has just ended, or a shell that is about to take its
/// terminal back, looks like it too.
const CONFIRMED: Duration = Duration::from_millis(250);

/// Each look since `from` has seen this process wait, or look like it.
#[derive(Debug, PartialEq, Eq)]
pub struct Waits {
    process: Option<(Pid, u64)>,
    /// How long output had been quiet at the first of these looks. Zero when it asked as soon as it had printed.
    from: Duration,
    /// The kernel's word is not certain.
    unsure: bool,
}

impl Waits {
    /// What a look saw after so much quiet; `earlier` is what the looks before it had.
    pub fn seen(front: &Front, quiet: Duration, earlier: Option<Waits>) -> Option<Waits> {
        let (view, unsure) = match front {
            Front::Unclear { view, .. } => (view, true),
            Front::Waiting { view, .. } | Front::Prompt { view, .. } => (view, unsure(view)),
            _ => return None,
        };
        let process = view.process.as_ref();
        let process = process.map(|process| (process.pid, process.start_time));
        let from = match earlier.filter(|earlier| earlier.process == process) {
            Some(earlier) => earlier.from,
            // The first two looks are as good as one: a question is read right after it is printed.
            None if quiet <= 2 * FIRST_LOOK => Duration::ZERO,
            None => quiet,
        };
        Some(Waits {
            process,
            from,
            unsure,
        })
    }

    /// It has been seen for long enough that quiet for `enough` may be told as waiting.
    pub fn confirmed(&self, quiet: Duration, enough: Duration) -> bool {
        let needs = match self.unsure {
            true => CONFIRMED,
            false => AGAIN.min(enough),
        };
        quiet.saturating_sub(self.from) >= needs
    }

    /// How soon it is worth another look, when that is sooner than others are.
    pub fn next_look(&self, quiet: Duration) -> Option<Duration> {
        match self.unsure {
            true => Some(CONFIRMED),
            false if self.confirmed(quiet, AGAIN) => None,
            false => Some(AGAIN),
        }
    }
}

/// The kernel's word on it is not certain.
pub fn unsure(view: &View) -> bool {
    view.hedged || view.verdict != Verdict::Waiting
}

#[cfg(test)]
mod tests;
