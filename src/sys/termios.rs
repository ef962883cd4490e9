//! The line discipline of a terminal that is not ours: looked at, never changed.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::errno::{check, retry};

/// The two local flags that tell how a terminal takes its input (termios(3), `c_lflag`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// ICANON: input is handed over by whole lines.
    pub canonical: bool,
    /// ECHO: what is typed is shown.
    pub echo: bool,
}

impl Mode {
    /// Lines without echo: what a program sets while it asks for a password.
    pub fn hides_a_line(self) -> bool {
        self.canonical && !self.echo
    }
}

/// Opens a terminal only to look at it: it does not become our controlling terminal, and nothing here waits.
pub fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOCTTY | libc::O_NONBLOCK)
        .open(path)
}

/// As [`open`], for reading and writing, as the terminal of a program that is to be started.
pub fn open_to_run_on(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NOCTTY)
        .open(path)
}

/// The mode of an open terminal. Fails with ENOTTY on anything else.
pub fn mode(terminal: &impl AsFd) -> io::Result<Mode> {
    let flags = settings(terminal)?.c_lflag;
    Ok(Mode {
        canonical: flags & libc::ICANON != 0,
        echo: flags & libc::ECHO != 0,
    })
}

/// All settings of an open terminal.
pub(super) fn settings(terminal: &impl AsFd) -> io::Result<libc::termios> {
    let fd = terminal.as_fd().as_raw_fd();
    let mut settings = MaybeUninit::<libc::termios>::uninit();
    // SAFETY: `settings` is a writable termios, and `fd` is open for as long as `terminal` is borrowed.
    retry(|| unsafe { libc::tcgetattr(fd, settings.as_mut_ptr()) })?;
    // SAFETY: tcgetattr succeeded, so it filled the structure.
    Ok(unsafe { settings.assume_init() })
}

/// Bytes that were typed and that no program has read yet (FIONREAD, ioctl_tty(2)). In canonical mode a line
/// counts once it is complete.
pub fn unread(terminal: &impl AsFd) -> io::Result<usize> {
    let mut count: libc::c_int = 0;
    // SAFETY: FIONREAD writes one int, which `count` is.
    check(unsafe { libc::ioctl(terminal.as_fd().as_raw_fd(), libc::FIONREAD, &mut count) })?;
    Ok(usize::try_from(count).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::sys::pty::{Pty, Size};

    #[test]
    fn a_new_terminal_is_cooked_and_its_unread_lines_are_counted() {
        let pty = Pty::open(Size { cols: 80, rows: 24 }).unwrap();
        let terminal = open(pty.path()).unwrap();
        assert_eq!(
            mode(&terminal).unwrap(),
            Mode {
                canonical: true,
                echo: true
            }
        );
        assert_eq!(unread(&terminal).unwrap(), 0);
        (&pty.master).write_all(b"four\n").unwrap();
        // The line crosses to the other side in a kernel work queue.
        let deadline = Instant::now() + Duration::from_secs(10);
        while unread(&terminal).unwrap() != 5 {
            assert!(Instant::now() < deadline, "the line never arrived");
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_file_has_no_mode() {
        let file = File::open("/dev/null").unwrap();
        assert_eq!(mode(&file).unwrap_err().raw_os_error(), Some(libc::ENOTTY));
    }

    #[test]
    fn only_whole_lines_without_echo_are_secrets() {
        let secret = |canonical, echo| Mode { canonical, echo }.hides_a_line();
        assert_eq!(
            [
                secret(true, false),
                secret(true, true),
                secret(false, false),
                secret(false, true)
            ],
            [true, false, false, false]
        );
    }
}
