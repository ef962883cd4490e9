//! The sessions of legacy clients on HTTP: a connection of mcp for each, by the id that the client bears. Must not
//! know what is said in them.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::mcp::dispatch::Connection;
use crate::sys::random;

/// Sessions at once. Many clients never end theirs, so the one that was not used for longest goes for another; it is
/// told so by a 404, and begins anew.
const SESSIONS: usize = 1024;

/// Bytes of an id: 128 bits that nobody guesses.
const ID_BYTES: usize = 16;

#[derive(Debug, Default)]
pub struct Sessions(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    uses: u64,
    by_id: HashMap<String, (u64, Arc<Connection>)>,
}

impl Sessions {
    /// Begins a session; returns its id.
    pub fn begin(&self, connection: Arc<Connection>) -> io::Result<String> {
        let id = random::hex(ID_BYTES)?;
        let mut open = self.open();
        if open.by_id.len() >= SESSIONS {
            // One in which a call is in progress is held by it.
            let unused = open
                .by_id
                .iter()
                .filter(|(_, (_, connection))| Arc::strong_count(connection) == 1);
            let oldest = unused.min_by_key(|(_, (used, _))| *used);
            let oldest = oldest.map(|(id, _)| id.clone()).ok_or_else(|| {
                io::Error::other("busy: calls are in progress in as many sessions as there can be")
            })?;
            open.by_id.remove(&oldest);
        }
        open.uses += 1;
        let used = open.uses;
        open.by_id.insert(id.clone(), (used, connection));
        Ok(id)
    }

    pub fn get(&self, id: &str) -> Option<Arc<Connection>> {
        let mut open = self.open();
        open.uses += 1;
        let now = open.uses;
        let (used, connection) = open.by_id.get_mut(id)?;
        *used = now;
        Some(Arc::clone(connection))
    }

    /// Ends a session on the client's word, and the waits in it. False when there is none of this id.
    pub fn end(&self, id: &str) -> bool {
        let ended = self.open().by_id.remove(id);
        ended.is_some_and(|(_, connection)| {
            connection.stop();
            true
        })
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
