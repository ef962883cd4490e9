//! A session's life: made, followed, typed into, waited for, read, ended, picked up again.
//!
//! Must not know tools, replies or MCP.
#![forbid(unsafe_code)]

pub mod adopt;
pub mod agent;
mod checkpoint;
pub mod create;
pub mod date;
pub mod ends;
pub mod environment;
pub mod error;
pub mod exit;
pub mod follow;
pub mod front;
pub mod group;
pub mod housekeeper;
pub mod idle;
mod known;
pub mod line;
pub mod log;
pub mod mend;
pub mod meta;
pub mod missing;
pub mod names;
pub mod peek;
pub mod people;
pub mod place;
pub mod prompts;
pub mod recovery;
pub mod regions;
pub mod registry;
pub mod retention;
pub mod save;
pub mod screen;
pub mod signals;
pub mod snapshot;
pub mod state;
pub mod stood;
pub mod typing;
pub mod watch;

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

pub use error::Error;
pub use meta::{Ending, How, Meta};
pub use regions::RegionId;
pub use registry::Sessions;
pub use snapshot::Snapshot;
pub use state::State;

pub use crate::store::Error as StoreError;
pub use crate::store::calls::Record;

/// What a place in the log is, for those above, and the log as a stream of text.
pub use crate::term::{MarkId, Plain, Position, keys};

/// What the launcher prints when the program has ended: all output stands before it.
pub use crate::sys::parent::ASK as LAST_WORDS;

use crate::proc::{Pid, Proc};
use crate::store::layout::SessionDir;
pub use crate::tmux::PaneId;

/// One terminal.
#[derive(Debug)]
pub struct Session {
    pub name: String,
    pub dir: SessionDir,
    /// As it was made; what changes is in `state`.
    pub meta: Meta,
    pub pane: PaneId,
    state: Mutex<State>,
    /// The process id of its program, once the launcher has told it.
    program: OnceLock<Pid>,
}

impl Session {
    /// The name by which tmux knows the window that it stands in, and the session of tmux's.
    pub fn window(&self) -> &str {
        self.meta.window()
    }

    /// The folder that a new terminal beside it begins in: where its shell is, as far as that is known.
    pub fn folder(&self, proc: &Proc) -> PathBuf {
        let told = self.state().regions.folder().map(PathBuf::from);
        told.filter(|folder| folder.is_dir())
            .or_else(|| proc.cwd(self.program()))
            .unwrap_or_else(|| self.meta.cwd.clone())
    }

    /// The session's own program: the pane's process is its launcher.
    pub fn program(&self) -> Pid {
        if let Some(pid) = self.program.get() {
            return *pid;
        }
        let told = std::fs::read_to_string(self.dir.program())
            .ok()
            .and_then(|text| text.trim().parse().ok());
        match told {
            Some(pid) => *self.program.get_or_init(|| Pid(pid)),
            None => Pid(self.meta.pid),
        }
    }

    /// The state, for a short look: no I/O but the log's own happens under this lock, and no wait.
    pub fn state(&self) -> MutexGuard<'_, State> {
        // A panic under the lock was in one event's handling; the state is still the best there is.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Milliseconds since the epoch, for what is written down and shown; waits use a monotonic clock.
pub fn now_ms() -> u64 {
    use std::time::{SystemTime, UNIX_EPOCH};
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as u64)
}
