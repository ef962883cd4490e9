//! SIGWINCH, as a descriptor to poll: our terminal has another size.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use super::errno::check;
use super::fd::owned;

/// The descriptor that the handler writes to: the one thing that a signal handler can reach. -1 until there is one.
static BELL: AtomicI32 = AtomicI32::new(-1);

/// Readable once the size has changed, until it is cleared.
#[derive(Debug)]
pub struct Resizes(OwnedFd);

extern "C" fn ring(_signal: libc::c_int) {
    let one = 1u64.to_ne_bytes();
    // SAFETY: write is async-signal-safe; it reads eight bytes of a live array, and errno is put back.
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(BELL.load(Ordering::Relaxed), one.as_ptr().cast(), one.len());
        *libc::__errno_location() = errno;
    }
}

impl Resizes {
    /// To be called once.
    pub fn catch() -> io::Result<Resizes> {
        // SAFETY: eventfd takes two integers and returns a new descriptor.
        let bell = owned(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
        // The handler's end stays open for the life of the process: a signal may come at any time.
        BELL.store(bell.try_clone()?.into_raw_fd(), Ordering::Relaxed);
        // SAFETY: an all-zero sigaction is a valid value: no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = ring as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        // SAFETY: the action is live, and its handler does only what is async-signal-safe.
        check(unsafe { libc::sigaction(libc::SIGWINCH, &action, std::ptr::null_mut()) })?;
        Ok(Resizes(bell))
    }

    /// Not readable any more, until the next change.
    pub fn clear(&self) {
        use std::os::fd::AsRawFd;
        let mut count = [0u8; 8];
        // SAFETY: reads at most eight bytes into a live array.
        unsafe { libc::read(self.0.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    }
}

impl AsFd for Resizes {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
