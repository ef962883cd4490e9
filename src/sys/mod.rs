//! libc: the only unsafe code. One file per kind of call; each gives a safe, owned view of it.
//!
//! Must not know what its callers are for: no tmux, no sessions, no paths of ours.

pub mod fd;
pub mod flock;
pub mod inotify;
pub mod limits;
pub mod passwd;
pub mod pidfd;
pub mod poll;
pub mod random;
pub mod stop;
pub mod winsize;
