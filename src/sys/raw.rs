//! Our own terminal, raw for as long as another one is shown in it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use super::errno::{check, retry};
use super::termios::settings;

/// A terminal in raw mode. Dropped, it is as it was.
pub struct Raw {
    terminal: OwnedFd,
    before: libc::termios,
}

impl Raw {
    /// Fails with ENOTTY on what is no terminal.
    pub fn enter(terminal: &impl AsFd) -> io::Result<Raw> {
        let terminal = terminal.as_fd().try_clone_to_owned()?;
        let before = settings(&terminal)?;
        let mut raw = before;
        // SAFETY: the pointer is to a live termios.
        unsafe { libc::cfmakeraw(&mut raw) };
        set(&terminal, &raw)?;
        Ok(Raw { terminal, before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Fails only when the terminal has gone.
        let _ = set(&self.terminal, &self.before);
    }
}

/// Once what was printed is out.
fn set(terminal: &OwnedFd, settings: &libc::termios) -> io::Result<()> {
    // SAFETY: the pointer is to a live termios, the descriptor is open.
    retry(|| unsafe { libc::tcsetattr(terminal.as_raw_fd(), libc::TCSADRAIN, settings) }).map(drop)
}

/// Columns and rows of an open terminal.
pub fn size(terminal: &impl AsFd) -> io::Result<(u16, u16)> {
    let mut size = libc::winsize {
        ws_row: 0,
        ws_col: 0,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let fd = terminal.as_fd().as_raw_fd();
    // SAFETY: TIOCGWINSZ writes a winsize, and the pointer is to a live local one.
    check(unsafe { libc::ioctl(fd, libc::TIOCGWINSZ, &mut size) })?;
    Ok((size.ws_col, size.ws_row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::pty::{Pty, Size};
    use crate::sys::termios::{mode, open_to_run_on};

    #[test]
    fn it_is_as_it_was_afterwards() {
        let pty = Pty::open(Size { cols: 80, rows: 24 }).unwrap();
        let terminal = open_to_run_on(pty.path()).unwrap();
        let before = mode(&terminal).unwrap();
        let raw = Raw::enter(&terminal).unwrap();
        assert!(!mode(&terminal).unwrap().canonical && !mode(&terminal).unwrap().echo);
        assert_eq!(pty.end_of_input().unwrap(), None);
        drop(raw);
        assert_eq!(mode(&terminal).unwrap(), before);
        assert_eq!(pty.end_of_input().unwrap(), Some(4));
        assert_eq!(size(&terminal).unwrap(), (80, 24));
    }
}
