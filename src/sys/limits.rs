//! Resource limits of this process, which its children inherit.

use std::io;

use super::errno::check;

/// The limits on open descriptors: (soft, hard).
pub fn descriptors() -> io::Result<(u64, u64)> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer is to a live local.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) })?;
    Ok((limit.rlim_cur, limit.rlim_max))
}

/// Sets the soft limit on open descriptors, at most to the hard one.
pub fn set_descriptors(soft: u64) -> io::Result<()> {
    let (_, hard) = descriptors()?;
    let limit = libc::rlimit {
        rlim_cur: soft.min(hard),
        rlim_max: hard,
    };
    // SAFETY: the pointer is to a live local.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }).map(drop)
}
