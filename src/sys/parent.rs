//! Being the parent of a terminal's program: out of its signals' way, and last to leave the terminal.

use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use super::errno::{check, retry};
use super::poll::{Interest, poll};

/// The child that signals are passed on to: the one thing that a signal handler can reach. 0 while there is none.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// The terminal has gone, or somebody has said so.
static HUNG_UP: AtomicBool = AtomicBool::new(false);

extern "C" fn pass_on(signal: libc::c_int) {
    if signal == libc::SIGHUP {
        HUNG_UP.store(true, Ordering::Relaxed);
    }
    let child = CHILD.load(Ordering::Relaxed);
    if child > 1 {
        // SAFETY: kill is async-signal-safe, and errno is put back.
        unsafe {
            let errno = *libc::__errno_location();
            libc::kill(child, signal);
            *libc::__errno_location() = errno;
        }
    }
}

/// From now on this process ignores what the terminal's keys send (the child gets that itself) and passes a hangup
/// and a request to end on to the child.
pub fn step_back(child: u32) -> io::Result<()> {
    CHILD.store(i32::try_from(child).unwrap_or(0), Ordering::Relaxed);
    for signal in [
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGTSTP,
        libc::SIGTTIN,
        libc::SIGTTOU,
    ] {
        // SAFETY: a constant disposition for a valid signal.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    for signal in [libc::SIGHUP, libc::SIGTERM] {
        // SAFETY: an all-zero sigaction is a valid value: no flags, an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = pass_on as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        // SAFETY: the action is live, and its handler does only what is async-signal-safe.
        check(unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) })?;
    }
    Ok(())
}

/// True once this process has been sent a hangup: its terminal was removed.
pub fn hung_up() -> bool {
    HUNG_UP.load(Ordering::Relaxed)
}

/// From now on processes whose parents end become children of this one, if they descend from it (prctl(2),
/// PR_SET_CHILD_SUBREAPER).
pub fn adopt_orphans() -> io::Result<()> {
    // SAFETY: integers only.
    check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }).map(drop)
}

/// Waits for the end of one child. Others that end meanwhile (adopted ones) are reaped.
pub fn wait(child: u32) -> io::Result<ExitStatus> {
    loop {
        let mut status = 0;
        // SAFETY: the pointer is to a live integer.
        let ended = retry(|| unsafe { libc::waitpid(-1, &mut status, 0) })?;
        if u32::try_from(ended) == Ok(child) {
            return Ok(ExitStatus::from_raw(status));
        }
    }
}

/// Asks for the terminal's status (DSR, ECMA-48 8.3.35) and its answer. A string that the program left open is
/// ended first. In a log these are the last words: everything that the program printed stands before them.
pub const ASK: &[u8] = b"\x1b\\\x1b[5n";
const ANSWER: &[u8] = b"\x1b[0n";

/// Waits until the terminal emulator has taken in everything that was printed: it answers a question only after
/// what came before it. Without that, output that is still in the kernel when the last program ends is lost: the
/// emulator closes its side, and tmux does so as soon as it hears of the end. False when no answer came within
/// `patience`.
pub fn wait_until_shown(patience: Duration) -> io::Result<bool> {
    let deadline = Instant::now() + patience;
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    // The program may have left the terminal to a process group of its own that is gone.
    // SAFETY: integers only; SIGTTOU is ignored, so it does not stop us.
    retry(|| unsafe { libc::tcsetpgrp(0, libc::getpgrp()) })?;
    let mut mode = MaybeUninit::<libc::termios>::uninit();
    // SAFETY: the pointer is to a live, writable termios.
    retry(|| unsafe { libc::tcgetattr(0, mode.as_mut_ptr()) })?;
    // SAFETY: tcgetattr succeeded, so it filled the structure.
    let mut mode = unsafe { mode.assume_init() };
    // SAFETY: the pointers are to a live termios. The answer must neither wait for a line nor be echoed into the
    // log.
    unsafe { libc::cfmakeraw(&mut mode) };
    // SAFETY: as above.
    retry(|| unsafe { libc::tcsetattr(0, libc::TCSANOW, &mode) })?;
    output.write_all(ASK)?;
    output.flush()?;
    let mut seen = Vec::new();
    while poll(&[(input.as_fd(), Interest::Read)], Some(deadline))?.contains(&true) {
        let mut buffer = [0; 1024];
        match input.read(&mut buffer)? {
            0 => return Ok(false),
            // What was typed ahead has no reader any more.
            count => seen.extend_from_slice(&buffer[..count]),
        }
        if seen.windows(ANSWER.len()).any(|part| part == ANSWER) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Ends this process by the signal that ended its child, so that whoever waits for it sees the same end. Returns
/// only when the signal does not end a process.
pub fn end_by(signal: i32) {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: live or null pointers and integers only. The child has written its core; ours would be of no use.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &none);
        libc::signal(signal, libc::SIG_DFL);
        libc::kill(libc::getpid(), signal);
    }
}
