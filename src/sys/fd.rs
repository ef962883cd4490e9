//! Descriptors: duplication, non-blocking mode, and an event counter to wake a poller.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::errno::check;

/// Wraps a descriptor that a system call has just returned.
pub(super) fn owned(result: libc::c_int) -> io::Result<OwnedFd> {
    let raw = check(result)?;
    // SAFETY: the call succeeded and returned a new descriptor that nothing else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// Takes descriptor 1 for the protocol and points descriptor 1 at stderr, so that a stray print anywhere in the
/// process cannot spoil the stream. Returns the private duplicate.
pub fn take_stdout() -> io::Result<File> {
    let private = io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: dup2 on two open standard descriptors; it changes no memory.
    check(unsafe { libc::dup2(2, 1) })?;
    Ok(File::from(private))
}

/// Sets or clears O_NONBLOCK on the open file description.
pub fn set_nonblocking(fd: BorrowedFd<'_>, on: bool) -> io::Result<()> {
    // SAFETY: fcntl with integer arguments on a borrowed, open descriptor.
    let flags = check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) })?;
    let flags = if on {
        flags | libc::O_NONBLOCK
    } else {
        flags & !libc::O_NONBLOCK
    };
    // SAFETY: as above.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags) }).map(drop)
}

/// An eventfd: `ring` makes it readable until `clear`. One side rings, the other polls.
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    pub fn new() -> io::Result<Bell> {
        // SAFETY: eventfd takes two integers and returns a new descriptor.
        owned(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) }).map(Bell)
    }

    /// Makes the bell readable. A counter that is already full is readable too, so that error is no error.
    pub fn ring(&self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: writes eight bytes from a live array.
        unsafe { libc::write(self.0.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Makes the bell silent again.
    pub fn clear(&self) {
        let mut count = [0u8; 8];
        // SAFETY: reads at most eight bytes into a live array.
        unsafe { libc::read(self.0.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
