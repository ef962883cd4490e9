//! Where a session is, and how the shell integration gets there.
#![forbid(unsafe_code)]

pub mod bootstrap;
pub mod carrier;
pub mod chain;
pub mod files;
pub mod pack;
pub mod short;
pub mod source;
pub mod ssh;
