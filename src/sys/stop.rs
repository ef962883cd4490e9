//! The signals that ask a process to end, as a descriptor to poll.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};

use super::errno::check;
use super::fd::owned;

/// The descriptor that the handler writes to: the one thing that a signal handler can reach. -1 until there is one.
static BELL: AtomicI32 = AtomicI32::new(-1);

/// SIGINT, SIGTERM and SIGHUP, caught from now on and readable here. They are caught and not blocked, since
/// children would inherit a block, and with them the tmux server and every session's programs: ctrl+c would end
/// nothing there.
#[derive(Debug)]
pub struct StopSignals(OwnedFd);

extern "C" fn ring(_signal: libc::c_int) {
    let one = 1u64.to_ne_bytes();
    // SAFETY: write is async-signal-safe; it reads eight bytes of a live array, and errno is put back.
    unsafe {
        let errno = *libc::__errno_location();
        libc::write(BELL.load(Ordering::Relaxed), one.as_ptr().cast(), one.len());
        *libc::__errno_location() = errno;
    }
}

impl StopSignals {
    /// To be called once.
    pub fn catch() -> io::Result<StopSignals> {
        // SAFETY: eventfd takes two integers and returns a new descriptor.
        let bell = owned(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
        // The handler's end stays open for the life of the process: a signal may come at any time.
        BELL.store(bell.try_clone()?.into_raw_fd(), Ordering::Relaxed);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: an all-zero sigaction is a valid value: no flags, an empty mask.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            action.sa_sigaction = ring as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            // SAFETY: the action is live, and its handler does only what is async-signal-safe.
            check(unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) })?;
        }
        Ok(StopSignals(bell))
    }
}

impl AsFd for StopSignals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Has the program started with every signal at its default.
pub fn with_fresh_signals(command: &mut Command) -> &mut Command {
    let reset = || {
        reset_signals();
        Ok(())
    };
    // SAFETY: sigaction and pthread_sigmask are async-signal-safe, and no memory is allocated.
    unsafe { command.pre_exec(reset) }
}

/// Every signal back to its default and none blocked, as a login would start a program: whoever started the server
/// may have ignored or blocked some, and that is inherited.
pub fn reset_signals() {
    // SAFETY: an all-zero sigset_t is a valid value that sigemptyset overwrites; sigaction is given live values,
    // and numbers that cannot be changed (SIGKILL, SIGSTOP, the C library's own) are refused without harm.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = libc::SIG_DFL;
        for signal in 1..=libc::SIGRTMAX() {
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
    }
}
