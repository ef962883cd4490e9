//! pidfd_open(2): a descriptor that becomes readable when a process ends, whoever its parent is.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::fd::owned;

#[derive(Debug)]
pub struct PidFd(OwnedFd);

impl PidFd {
    /// Fails with ESRCH when there is no such process, ENOSYS before Linux 5.3.
    pub fn open(pid: i32) -> io::Result<PidFd> {
        // SAFETY: integers only; returns a new descriptor with close-on-exec set.
        let raw = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        owned(raw as libc::c_int).map(PidFd)
    }
}

impl AsFd for PidFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
