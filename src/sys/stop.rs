//! The signals that ask a process to end, as a descriptor to poll.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::errno::check;
use super::fd::owned;

/// SIGINT, SIGTERM and SIGHUP, blocked in this thread and those it starts later, and readable here instead. Children are not
/// affected: std resets the signal mask of each one it starts.
#[derive(Debug)]
pub struct StopSignals(OwnedFd);

impl StopSignals {
    /// Call it before any thread starts.
    pub fn block() -> io::Result<StopSignals> {
        // SAFETY: an all-zero sigset_t is a valid value that sigemptyset overwrites.
        let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: the pointers are to a live local set; the signal numbers are constants.
        unsafe {
            libc::sigemptyset(&mut set);
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::sigaddset(&mut set, signal);
            }
            check(libc::pthread_sigmask(
                libc::SIG_BLOCK,
                &set,
                std::ptr::null_mut(),
            ))?;
        }
        // SAFETY: -1 asks for a new descriptor; the set is live.
        owned(unsafe { libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) })
            .map(StopSignals)
    }
}

impl AsFd for StopSignals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
