//! meta.json: what a session is, written once when it is made and when its end is known.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::store::{self, atomic, present};
use crate::sys::passwd;

/// The format of the state directory. A newer one is refused, an older one read.
pub const FORMAT: u32 = 1;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Meta {
    pub format: u32,
    pub name: String,
    /// The client that made it.
    pub agent: String,
    /// Milliseconds since the epoch.
    pub created: u64,
    /// As a person would write it; "bash" for the integrated shell.
    pub command: String,
    /// The shell whose integration was loaded; none for a plain shell or a program.
    pub integrated: Option<String>,
    /// The markers' nonce: tells this session's markers from any other text.
    pub nonce: String,
    pub cwd: PathBuf,
    pub cols: u16,
    pub rows: u16,
    pub fixed_size: bool,
    pub prompt_pattern: Option<String>,
    pub delete_logs_on_close: bool,
    /// Which host, tmux socket and TMUX_TMPDIR: only a server of the same may call the session closed.
    pub host: String,
    pub tmux_socket: String,
    pub tmux_tmpdir: Option<String>,
    /// tmux's version when it was made: decides widths in a replay.
    pub tmux_version: String,
    pub pane: String,
    pub pid: i32,
    pub tty: String,
    /// The session in whose window it stands, by the name that tmux knows; none when in its own.
    #[serde(default)]
    pub window: Option<String>,
    /// A person made the pane with tmux's keys: logged from then on.
    #[serde(default)]
    pub adopted: bool,
    pub end: Option<Ending>,
    /// Made by start_program. None in what older versions wrote.
    pub program: Option<Program>,
}

/// What a session that start_program made is beside a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Never given to another one.
    pub id: String,
    /// Counted from its start.
    pub lifetime_ms: u64,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    pub how: How,
    /// Its program's exit status, or the signal that ended it; neither when tmux never told.
    pub status: Option<i32>,
    pub signal: Option<i32>,
    /// Milliseconds since the epoch.
    pub at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Its own program ended; the pane is kept with its last screen.
    Exited,
    /// session_close.
    Closed,
    /// The pane was removed from outside, or the tmux server went away.
    Gone,
}

impl Meta {
    /// The name by which tmux knows the window that it stands in.
    pub fn window(&self) -> &str {
        self.window.as_deref().unwrap_or(&self.name)
    }

    /// Made by a server of this host and of this tmux socket: only such a one may call it closed.
    pub fn is_of(&self, tmux_socket: &str) -> bool {
        self.host == passwd::hostname()
            && self.tmux_socket == tmux_socket
            && self.tmux_tmpdir == std::env::var("TMUX_TMPDIR").ok()
    }

    pub fn write(&self, path: &Path) -> Result<(), store::Error> {
        let bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| store::Error::at("write", path)(error.into()))?;
        atomic::replace(path, &bytes)
    }

    /// `None` when there is no such file or it is not ours to read (another program's, or torn beyond use).
    pub fn read(path: &Path) -> Result<Option<Meta>, store::Error> {
        let bytes = present(std::fs::read(path)).map_err(store::Error::at("read", path))?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }
}
