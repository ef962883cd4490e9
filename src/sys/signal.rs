//! Signals: their names and numbers (signal(7)), and sending them. Decides nothing about whom to signal.

use std::io;

use super::errno::check;

/// The signals that are sent by name.
pub const HUP: i32 = libc::SIGHUP;
pub const INT: i32 = libc::SIGINT;
pub const KILL: i32 = libc::SIGKILL;
pub const TERM: i32 = libc::SIGTERM;
pub const CONT: i32 = libc::SIGCONT;

/// Signal numbers of x86_64 and aarch64, where they agree. 32 and 33 belong to the C library.
const NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
    "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// First and last real-time signal as glibc counts them, which is how shells name them.
const REAL_TIME: std::ops::RangeInclusive<i32> = 34..=64;

/// Other names that shells and people use.
const ALIASES: [(&str, i32); 4] = [
    ("IOT", libc::SIGABRT),
    ("CLD", libc::SIGCHLD),
    ("POLL", libc::SIGIO),
    ("UNUSED", libc::SIGSYS),
];

/// The name with its prefix, such as `SIGTERM` for 15 or `SIGRTMIN+2` for 36. None for numbers that are no signal.
pub fn name(number: i32) -> Option<String> {
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    if let Some(name) = NAMES.get(index) {
        return Some(format!("SIG{name}"));
    }
    if !REAL_TIME.contains(&number) {
        return None;
    }
    let (above, below) = (number - REAL_TIME.start(), REAL_TIME.end() - number);
    Some(match (above, below) {
        (0, _) => "SIGRTMIN".to_owned(),
        (_, 0) => "SIGRTMAX".to_owned(),
        _ if above <= below => format!("SIGRTMIN+{above}"),
        _ => format!("SIGRTMAX-{below}"),
    })
}

/// The number of `TERM`, `SIGTERM` or `15`, in any case. None for what is no signal's name or number.
pub fn number(name: &str) -> Option<i32> {
    let name = name.trim().to_ascii_uppercase();
    let bare = name.strip_prefix("SIG").unwrap_or(&name);
    if let Some(index) = NAMES.iter().position(|known| *known == bare) {
        return i32::try_from(index + 1).ok();
    }
    if let Some((_, number)) = ALIASES.iter().find(|(alias, _)| *alias == bare) {
        return Some(*number);
    }
    let number = if let Some(offset) = bare.strip_prefix("RTMIN") {
        REAL_TIME.start().checked_add(signed(offset)?)?
    } else if let Some(offset) = bare.strip_prefix("RTMAX") {
        REAL_TIME.end().checked_add(signed(offset)?)?
    } else {
        let number = name.parse().ok()?;
        return self::name(number).is_some().then_some(number);
    };
    REAL_TIME.contains(&number).then_some(number)
}

/// The signal that an exit status names, as shells report a death: 128 plus its number.
pub fn from_status(status: i32) -> Option<i32> {
    let number = status.checked_sub(128)?;
    name(number).is_some().then_some(number)
}

/// Sends to one process. Fails with ESRCH when there is none, EPERM when it is another user's.
///
/// Numbers below 2 are refused (EINVAL): to kill(2) they mean a group, everybody, or init.
pub fn kill(pid: i32, signal: i32) -> io::Result<()> {
    send(pid, pid, signal)
}

/// Sends to every process of a group; succeeds when at least one could be signalled. Errors as [`kill`].
pub fn kill_group(pgrp: i32, signal: i32) -> io::Result<()> {
    send(pgrp, pgrp.saturating_neg(), signal)
}

fn send(id: i32, target: i32, signal: i32) -> io::Result<()> {
    if id < 2 {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: kill takes numbers only.
    check(unsafe { libc::kill(target, signal) })?;
    Ok(())
}

/// "", "+2" and "-2", and nothing else.
fn signed(text: &str) -> Option<i32> {
    match text.as_bytes() {
        [] => Some(0),
        [b'+' | b'-', b'0'..=b'9', ..] => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
