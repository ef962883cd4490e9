//! JSON-RPC and MCP, both eras. Knows no terminals, files or tmux.
//!
//! A line goes through [`codec`] (lines), [`message`] (JSON-RPC), [`era`] (which revision) and [`dispatch`] (what
//! to do) to a worker of [`workers`], which calls the [`Service`]. [`lines`] is the transport for streams; others
//! call [`dispatch`] with what they read. Invariants: whatever comes in, the next message is served; a request gets
//! exactly one answer, and none once it is cancelled; nothing here prints.
#![forbid(unsafe_code)]
mod call;
mod codec;
pub mod dispatch;
pub mod era;
pub mod error;
#[cfg(test)]
mod fake;
mod kind;
pub mod lines;
pub mod message;
mod pending;
mod scan;
pub mod schema;
mod service;
mod workers;

pub use codec::{LINE_LIMIT, Line, Lines, write_line};
pub use kind::{Kind, kind};
pub use lines::serve_lines;
pub use pending::Progress;
pub use service::{Annotations, Call, Client, STATELESS, ServerInfo, Service, Tool, ToolResult};
