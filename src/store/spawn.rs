//! spawn.json: how the launcher is to start a pane's program. It carries the whole environment, which is too large
//! for a tmux message and too private for a command line.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Error, atomic};

#[derive(Debug, Serialize, Deserialize)]
pub struct Spawn {
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    /// Variables for the program; those that tmux sets (TERM, TMUX, TMUX_PANE) are kept beside them. UTF-8 only, as
    /// JSON is.
    pub env: Vec<(String, String)>,
    /// Processes that the program has started and left behind become the launcher's, so that they can be found.
    #[serde(default)]
    pub adopt: bool,
    /// The soft limit on open descriptors that the program gets: ours is raised for tmux.
    pub descriptors: u64,
}

impl Spawn {
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let bytes =
            serde_json::to_vec(self).map_err(|error| Error::at("write", path)(error.into()))?;
        atomic::replace(path, &bytes)
    }

    /// Reads the file and deletes it.
    pub fn take(path: &Path) -> Result<Spawn, Error> {
        let bytes = std::fs::read(path).map_err(Error::at("read", path))?;
        std::fs::remove_file(path).map_err(Error::at("delete", path))?;
        serde_json::from_slice(&bytes).map_err(|error| Error::at("read", path)(error.into()))
    }
}
