//! What a session remembers of one agent.

use serde::{Deserialize, Serialize};

use super::regions::RegionId;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agent {
    /// What its last call left running, to be gone on waiting for.
    pub left: Option<RegionId>,
    /// Lines of `left` that it has been shown, up to this number (0-based, exclusive).
    pub shown: u64,
    /// Regions up to this id it has been told of.
    pub told: RegionId,
    /// What it typed at a prompt and did not submit: its own, so not to be protected from it.
    pub unsubmitted: String,
    /// It began the command that the shell now wants the rest of.
    pub unfinished: bool,
    /// The log's length in lines when it last looked without a region (send, read of what is new).
    pub seen: u64,
}
