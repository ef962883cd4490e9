//! flock(2): an advisory lock that ends with its holder.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Takes an exclusive lock on the open file without waiting. False: another holds it. It is released when every
/// duplicate of the descriptor is closed, so also when the process dies.
pub fn try_lock(file: &File) -> io::Result<bool> {
    // SAFETY: integers only, on an open descriptor.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::WouldBlock {
        Ok(false)
    } else {
        Err(error)
    }
}

/// Lets go of the lock, also for a process that was forked a moment ago and has yet to close its copy of the
/// descriptor.
pub fn unlock(file: &File) {
    // SAFETY: integers only, on an open descriptor.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
}

/// Whether another open file holds the exclusive lock. Takes a shared one for a moment, so a [`try_lock`] of that
/// moment fails: it is worth a second try.
pub fn is_locked(file: &File) -> io::Result<bool> {
    // SAFETY: integers only, on an open descriptor.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_SH | libc::LOCK_NB) } == 0 {
        unlock(file);
        return Ok(false);
    }
    let error = io::Error::last_os_error();
    if error.kind() == io::ErrorKind::WouldBlock {
        Ok(true)
    } else {
        Err(error)
    }
}
