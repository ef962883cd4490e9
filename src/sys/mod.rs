//! libc: the only unsafe code. One file per kind of call; each gives a safe, owned view of it.
//!
//! Must not know what its callers are for: no tmux, no sessions, no paths of ours.

pub mod boot;
pub mod errno;
pub mod fd;
pub mod flock;
pub mod inotify;
pub mod limits;
pub mod parent;
pub mod passwd;
pub mod path;
pub mod peer;
pub mod pidfd;
pub mod poll;
pub mod pty;
pub mod random;
pub mod raw;
pub mod resize;
#[allow(dead_code)]
pub mod signal;
pub mod space;
pub mod stop;
#[allow(dead_code)]
pub mod termios;
pub mod winsize;
