//! tmux through std::process: one file per kind of call.
//!
//! Knows panes, windows and the tmux server by their ids. Must not know sessions, logs or replies.
#![forbid(unsafe_code)]

pub mod command;
pub mod format;
pub mod pane;
pub mod people;
mod ready;
pub mod server;
pub mod typing;
pub mod version;

pub use command::{Error, Tmux};
pub use pane::{Info, NewPane, PaneId, Stand};
pub use people::Person;
pub use server::News;
pub use version::Version;
