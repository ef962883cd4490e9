//! Telling those who wait that something has changed. Must not know what, nor how they wait.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Listener = Arc<dyn Fn() + Send + Sync>;

/// Who is to be told.
#[derive(Default)]
pub struct Changes {
    listeners: Mutex<(u64, Vec<(u64, Listener)>)>,
}

/// An interest in changes; it ends when dropped.
pub struct Interest<'a> {
    changes: &'a Changes,
    id: u64,
}

impl Changes {
    /// From now on no change is missed: listen first, then look. The listener must not wait for anything.
    pub fn listen(&self, listener: impl Fn() + Send + Sync + 'static) -> Interest<'_> {
        let mut listeners = self.lock();
        listeners.0 += 1;
        let id = listeners.0;
        listeners.1.push((id, Arc::new(listener)));
        Interest { changes: self, id }
    }

    pub fn tell(&self) {
        for (_, listener) in &self.lock().1 {
            listener();
        }
    }

    fn lock(&self) -> MutexGuard<'_, (u64, Vec<(u64, Listener)>)> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Interest<'_> {
    fn drop(&mut self) {
        self.changes.lock().1.retain(|(id, _)| *id != self.id);
    }
}
