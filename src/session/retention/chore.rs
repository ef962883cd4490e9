//! Retention as a server keeps it: the sweep at its start and every hour, logs that go with their session, and what
//! is forgotten of a session when its logs have gone.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::{Action, Outcome, Removed, Retention};
use crate::session::housekeeper::{Chore, Name};
use crate::session::{Error, Sessions};
use crate::store::marker;

/// Unused logs are looked for so often; a day counts, not a minute.
const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);

/// Logs that go with their session are looked for so often while closed sessions are there: anyone may set a marker.
const ON_CLOSE_EVERY: Duration = Duration::from_secs(60);

/// The chore's name, for whoever rings.
pub const CHORE: Name = "retention";

impl Sessions {
    /// The rules as this server applies them.
    pub fn retention(&self) -> Retention {
        Retention {
            layout: self.layout.clone(),
            tmux: self.tmux.clone(),
            proc: self.proc.clone(),
            days: self.settings.keep_closed_days,
        }
    }

    /// Deletes what is due.
    pub fn sweep(&self) -> Result<Vec<Removed>, Error> {
        self.swept(Retention::sweep)
    }

    /// What somebody asks for with a session's logs.
    pub fn set_logs(&self, folder: &str, action: Action, who: &str) -> Result<Outcome, Error> {
        // A name is not taken again while its old logs go.
        let making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = self.retention().apply(folder, action, who)?;
        if let Outcome::Removed(removed) = &outcome {
            self.forget(removed);
        }
        drop(making);
        self.bell.ring(CHORE);
        Ok(outcome)
    }

    /// A session has just been closed: its logs go at once when they are to go with it.
    pub(in crate::session) fn after_close(&self, folder: &str) -> Result<(), Error> {
        if marker::is_set(&self.layout.session(folder).delete_on_close()) {
            self.swept(Retention::sweep_on_close)?;
        }
        self.bell.ring(CHORE);
        Ok(())
    }

    fn swept(
        &self,
        sweep: impl FnOnce(&Retention) -> Result<Vec<Removed>, Error>,
    ) -> Result<Vec<Removed>, Error> {
        // A name is not taken again while its old logs go.
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let removed = sweep(&self.retention())?;
        removed.iter().for_each(|removed| self.forget(removed));
        Ok(removed)
    }

    fn forget(&self, removed: &Removed) {
        let gone = self.list().remove(&removed.session);
        self.closed().remove(&removed.session);
        if let (Some(session), Some(follower)) = (gone, &self.follower) {
            follower.forget(&session);
        }
        let Removed { session, why, .. } = removed;
        (self.settings.log)(&format!("deleted the logs of session {session}: {why}"));
    }

    /// Whether any session is closed, or may come to be without an event: one whose program has ended shows its
    /// last screen until somebody removes the pane.
    fn any_ended(&self) -> bool {
        let archived = |folders: Vec<String>| folders.iter().any(|folder| folder.contains('.'));
        self.all()
            .iter()
            .any(|session| session.state().ending.is_some())
            || !self.closed().is_empty()
            || self.retention().folders().is_ok_and(archived)
    }

    /// The housekeeper's chore. With no closed session there is nothing to wait for: a session's end rings.
    pub fn keep_house(self: &Arc<Sessions>) {
        let sessions = Arc::downgrade(self);
        let mut next_sweep = Instant::now();
        let chore: Chore = Box::new(move || {
            let sessions = sessions.upgrade()?;
            let now = Instant::now();
            let done = if now >= next_sweep {
                next_sweep = now + SWEEP_EVERY;
                sessions.sweep()
            } else {
                sessions.swept(Retention::sweep_on_close)
            };
            if let Err(error) = done {
                (sessions.settings.log)(&format!("logs that are due were not deleted: {error}"));
            }
            sessions
                .any_ended()
                .then(|| next_sweep.min(Instant::now() + ON_CLOSE_EVERY))
        });
        self.housekeeper.add(CHORE, chore);
    }
}
