//! Remote machines that join by invitation and dial out to the server, and what runs on them.
//!
//! The server's side is the [`Hub`]: it knows the [`groups`] (client tokens, invitations, devices), has a [`link`] to
//! each device that is online, and a [`job`] for each command, session and reach. The other side is in [`device`]: it
//! [`dial`](device::dial)s, keeps its credential, and runs what it is asked to. Both speak [`frame`]s over [`wire`].
//!
//! Must not know MCP, tmux or the terminals of this machine. The device side knows neither tmux nor /proc, so that it
//! can be built where there is none. Secrets are stored hashed, compared in constant time, and written to no log.
#![forbid(unsafe_code)]

pub mod changes;
pub mod device;
mod error;
pub mod frame;
mod groups;
mod hub;
pub mod job;
mod link;
mod output;
pub mod reach;
pub mod secret;
mod sha256;
pub mod visit;
pub mod wire;

pub use error::Error;
pub use hub::{Client, Hub, Known};
