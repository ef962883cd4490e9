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
