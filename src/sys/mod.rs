//! libc: the only unsafe code. One file per kind of call.

pub mod errno;
// Not all of these have a user yet: sessions and devices are built beside them.
#[allow(dead_code)]
pub mod pty;
#[allow(dead_code)]
pub mod signal;
#[allow(dead_code)]
pub mod termios;
