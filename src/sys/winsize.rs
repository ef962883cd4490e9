//! A terminal's size.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::errno::check;

/// Columns and rows of the terminal device at `path`. It is opened for this moment only: a descriptor kept open
/// would keep the terminal's master from seeing that its last program has gone.
pub fn of(path: &Path) -> io::Result<(u16, u16)> {
    let tty = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
        .open(path)?;
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    // SAFETY: TIOCGWINSZ writes a winsize, and the pointer is to a live local one.
    check(unsafe { libc::ioctl(tty.as_raw_fd(), libc::TIOCGWINSZ, &mut size) })?;
    Ok((size.ws_col, size.ws_row))
}
