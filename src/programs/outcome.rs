//! How a program ended, from what its session, its launcher and those who ended it have written down.

use std::path::Path;

use super::output::Files;
use super::{Error, Program};
use crate::session::exit::{signal_name, signal_of};
use crate::session::{Ending, How, StoreError};
use crate::store::atomic;
use crate::store::end::End;

/// Who ended a program that did not end on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Its lifetime was over.
    Lifetime,
    /// stop_program.
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Running,
    /// It ended on its own.
    Completed,
    NotStarted,
    /// Its lifetime ended it.
    Expired,
    Stopped,
    /// Its pane was removed from outside; nobody knows its status.
    Gone,
}

impl Outcome {
    pub const NAMES: [&str; 6] = [
        "running",
        "completed",
        "not_started",
        "expired",
        "stopped",
        "gone",
    ];

    pub fn name(self) -> &'static str {
        Outcome::NAMES[self as usize]
    }
}

/// What is known of a program's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub outcome: Outcome,
    /// None while it runs, and when a signal ended it.
    pub exit_status: Option<i32>,
    /// "SIGTERM". Also what an exit status over 128 stands for.
    pub signal: Option<String>,
    /// Some of its output was not kept.
    pub output_cut: bool,
    /// Its pane went before the end of its output was read.
    pub lost_end: bool,
}

impl By {
    const WORDS: [(&str, By); 2] = [("lifetime", By::Lifetime), ("stop", By::Stop)];

    /// Written before it is signalled, so that a later server knows too.
    fn write(self, path: &Path) -> Result<(), StoreError> {
        let word = By::WORDS.iter().find(|(_, by)| *by == self);
        let word = word.map_or("", |(word, _)| word);
        atomic::replace_unsynced(path, word.as_bytes())
    }

    pub(super) fn read(path: &Path) -> Option<By> {
        let text = std::fs::read_to_string(path).ok()?;
        let found = By::WORDS.iter().find(|(word, _)| *word == text.trim());
        found.map(|(_, by)| *by)
    }
}

impl Program {
    /// Who ended it, if it did not end on its own, or is about to.
    pub(super) fn ended_by(&self) -> Option<By> {
        let known = *super::locked(&self.by);
        known.or_else(|| {
            let by = By::read(&self.session.dir.ended_by())?;
            super::locked(&self.by).get_or_insert(by);
            Some(by)
        })
    }

    /// Writes down who is about to end it. Who was first stays so.
    pub(super) fn mark(&self, by: By) -> Result<(), StoreError> {
        if self.ended_by().is_some() {
            return Ok(());
        }
        super::locked(&self.by).get_or_insert(by);
        by.write(&self.session.dir.ended_by())
    }

    /// `cut`: some of the output is known to be missing.
    pub(super) fn facts(&self, files: &Files, cut: bool) -> Result<Facts, Error> {
        let (ending, stopped) = {
            let state = self.session.state();
            (state.ending, state.stopped.is_some())
        };
        let output_cut = cut || stopped;
        let Some(ending) = ending else {
            return Ok(Facts {
                outcome: Outcome::Running,
                exit_status: None,
                signal: None,
                output_cut,
                lost_end: false,
            });
        };
        let not_started = matches!(
            End::read(&self.session.dir.end())?,
            Some(End::NotStarted(_))
        );
        Ok(Facts {
            outcome: outcome(&ending, not_started, self.ended_by()),
            exit_status: ending.status,
            signal: match (ending.status, ending.signal) {
                (Some(status), _) => signal_of(status),
                (None, Some(number)) => {
                    signal_name(number).or_else(|| Some(format!("signal {number}")))
                }
                (None, None) => None,
            },
            output_cut,
            // At the log's limit the last words are cut off as well.
            lost_end: !output_cut && !files.hold_the_end()?,
        })
    }
}

fn outcome(ending: &Ending, not_started: bool, by: Option<By>) -> Outcome {
    let told = ending.status.is_some() || ending.signal.is_some();
    match (ending.how, by) {
        (How::Exited | How::Closed, _) if not_started => Outcome::NotStarted,
        (How::Exited, Some(By::Lifetime)) => Outcome::Expired,
        (How::Exited, Some(By::Stop)) => Outcome::Stopped,
        (How::Exited, None) => Outcome::Completed,
        // Its pane was closed after its end, or with it.
        (How::Closed, Some(By::Lifetime)) if told => Outcome::Expired,
        (How::Closed, Some(By::Stop)) => Outcome::Stopped,
        (How::Closed, None) if told => Outcome::Completed,
        (How::Closed | How::Gone, _) => Outcome::Gone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_has_its_outcome() {
        let ending = |how, status, signal| Ending {
            how,
            status,
            signal,
            at: 1,
        };
        let exited = ending(How::Exited, Some(0), None);
        assert_eq!(outcome(&exited, false, None), Outcome::Completed);
        assert_eq!(
            outcome(&exited, false, Some(By::Lifetime)),
            Outcome::Expired
        );
        assert_eq!(outcome(&exited, false, Some(By::Stop)), Outcome::Stopped);
        assert_eq!(outcome(&exited, true, Some(By::Stop)), Outcome::NotStarted);
        let gone = ending(How::Gone, None, None);
        assert_eq!(outcome(&gone, false, Some(By::Lifetime)), Outcome::Gone);
        // Released after its end, while somebody still reads.
        let released = ending(How::Closed, None, Some(15));
        assert_eq!(outcome(&released, false, None), Outcome::Completed);
        assert_eq!(outcome(&released, false, Some(By::Stop)), Outcome::Stopped);
        let closed = ending(How::Closed, None, None);
        assert_eq!(outcome(&closed, false, None), Outcome::Gone);
    }

    #[test]
    fn names_are_in_order() {
        assert_eq!(Outcome::Running.name(), "running");
        assert_eq!(Outcome::NotStarted.name(), "not_started");
        assert_eq!(Outcome::Gone.name(), "gone");
    }
}
