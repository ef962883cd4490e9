//! Waiting for a session to change: an event, never a poll.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, bounded, select};

use super::Session;

/// Ends a wait early: disconnects when the call is cancelled or the server stops.
pub type Cancel = Receiver<Infallible>;

/// Who is to be told. One pending notice is enough: the watcher looks at the whole state.
#[derive(Debug, Default)]
pub struct Watchers {
    list: Vec<(u64, Sender<()>)>,
    next: u64,
}

impl Watchers {
    pub fn notify(&self) {
        for (_, sender) in &self.list {
            // Full: a notice is pending already. Disconnected: its watcher is about to remove itself.
            let _ = sender.try_send(());
        }
    }
}

/// Something to wait at that anybody can ring, for what is no session.
pub struct Alarm {
    sender: Sender<()>,
    changes: Receiver<()>,
}

impl Alarm {
    pub fn new() -> Alarm {
        let (sender, changes) = bounded(1);
        Alarm { sender, changes }
    }

    /// What rings it; it never blocks.
    pub fn ringer(&self) -> impl Fn() + Send + Sync + 'static {
        let sender = self.sender.clone();
        move || {
            // Full: it rings already.
            let _ = sender.try_send(());
        }
    }

    /// Waits until it has been rung since the last return, the deadline has come, or the wait is cancelled.
    pub fn wait(&self, deadline: Instant, cancel: &Cancel) -> Woken {
        wait(&self.changes, deadline, cancel)
    }
}

fn wait(changes: &Receiver<()>, deadline: Instant, cancel: &Cancel) -> Woken {
    select! {
        // Nothing is ever sent on it: it becomes ready by disconnecting.
        recv(cancel) -> _ => Woken::Cancelled,
        recv(changes) -> _ => Woken::Changed,
        recv(crossbeam_channel::at(deadline)) -> _ => Woken::Deadline,
    }
}

/// A registered interest in one session's changes; it ends when dropped.
pub struct Watch {
    session: Arc<Session>,
    id: u64,
    changes: Receiver<()>,
}

/// Why a wait returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    Changed,
    Deadline,
    Cancelled,
}

impl Session {
    /// From now on no change is missed: register first, then look.
    pub fn watch(self: &Arc<Session>) -> Watch {
        let (sender, changes) = bounded(1);
        let mut state = self.state();
        let id = state.watchers.next;
        state.watchers.next += 1;
        state.watchers.list.push((id, sender));
        drop(state);
        Watch {
            session: self.clone(),
            id,
            changes,
        }
    }
}

impl Watch {
    /// Waits until the session has changed since the last return, the deadline has come, or the wait is cancelled.
    pub fn wait(&self, deadline: Instant, cancel: &Cancel) -> Woken {
        wait(&self.changes, deadline, cancel)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.session
            .state()
            .watchers
            .list
            .retain(|(id, _)| *id != self.id);
    }
}
