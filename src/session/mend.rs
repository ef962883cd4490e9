//! Making a session's lines anew from its log, when a write of them has failed: a disk that was full has room
//! again.

use std::mem::take;
use std::time::{Duration, Instant};

use super::recovery::read_up;
use super::state::Broken;
use super::{Error, Session};

/// A disk that stays full is tried again after at most so long.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

impl Session {
    /// Tries it. On failure the session stays as it was, and is tried again later.
    pub(super) fn mend(&self) {
        if let Err(error) = self.try_mending() {
            let mut state = self.state();
            state.trouble = Some(format!(
                "lines are missing here until the log can be written out again: {error}"
            ));
            if let Some(broken) = &mut state.broken {
                let pause = (broken.pause * 2).min(LONGEST_PAUSE);
                *broken = Broken {
                    next: Instant::now() + pause,
                    pause,
                };
            }
        }
    }

    fn try_mending(&self) -> Result<(), Error> {
        let ending = self.state().ending;
        let mut fresh = read_up(&self.meta, &self.dir, ending)?;
        if fresh.broken.is_some() {
            return Err(Error::Refused(fresh.trouble.unwrap_or_default()));
        }
        let mut state = self.state();
        fresh.agents = take(&mut state.agents);
        fresh.watchers = take(&mut state.watchers);
        fresh.typist = state.typist.take();
        fresh.saved = take(&mut state.saved);
        (fresh.ending, fresh.closing) = (state.ending, state.closing);
        *state = fresh;
        state.watchers.notify();
        Ok(())
    }
}
