//! A command that says nothing and does nothing: looked at again only once some part of it has run.

use std::sync::Arc;
use std::time::Duration;

use crate::proc::Verdict;
use crate::session::front::{Front, Rest};
use crate::session::{Session, Sessions};

use super::LONGEST_PAUSE;

/// What the looks in one silence have seen.
#[derive(Debug, Default)]
pub struct Silence {
    /// As it was just before the last look.
    rest: Option<Rest>,
    /// It was the same before the look before that: then nobody is missing in it (see [`Rest`]).
    twice: bool,
    /// The last look saw it work, without a doubt.
    works: bool,
}

impl Silence {
    /// Nothing has changed since a look saw it work. To be asked before each look; what that sees goes to `saw`.
    pub fn goes_on(
        &mut self,
        sessions: &Sessions,
        session: &Arc<Session>,
        quiet: Duration,
    ) -> bool {
        // In a short silence there are few looks, and none should be slower for what a long one saves.
        if quiet < LONGEST_PAUSE {
            return false;
        }
        let known = self.rest.as_ref().filter(|_| self.twice && self.works);
        if known.is_some_and(|rest| sessions.rests(rest)) {
            return true;
        }
        let rest = sessions.rest(session);
        self.twice = rest.is_some() && rest == self.rest;
        self.rest = rest;
        false
    }

    pub fn saw(&mut self, front: &Front) {
        self.works = match front {
            // A relay's far end may be no child of what is on the terminal.
            Front::Working { view } => {
                view.verdict == Verdict::Working && !view.hedged && view.relays == 0
            }
            _ => false,
        };
    }
}
