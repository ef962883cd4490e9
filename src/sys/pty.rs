//! Pseudo-terminals of our own: open a pair, give it a size, start a program on it.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
#[cfg(test)]
use std::path::Path;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::errno::{check, retry};
use super::stop::with_fresh_signals;

/// Longest name of a terminal device that is asked for; `/dev/pts/` and ten digits need 20.
const NAME_BYTES: usize = 64;

/// A terminal's size in character cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub cols: u16,
    pub rows: u16,
}

/// A pseudo-terminal: our end of it, and the path of the end that programs run on.
///
/// Dropping it hangs up: the kernel sends SIGHUP to the session that runs there.
#[derive(Debug)]
pub struct Pty {
    /// Our end: what is written here is typed, what is read here was printed. Reading fails with EIO while no
    /// program has the other end open.
    pub master: File,
    path: PathBuf,
}

impl Pty {
    /// Opens a new pair of the given size.
    pub fn open(size: Size) -> io::Result<Self> {
        // SAFETY: posix_openpt takes flags only.
        let fd = retry(|| unsafe {
            libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC)
        })?;
        // SAFETY: the descriptor was just returned to us, and nothing else owns it.
        let master = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
        // SAFETY: `master` is an open pty master for both calls.
        check(unsafe { libc::grantpt(fd) })?;
        // SAFETY: as above.
        check(unsafe { libc::unlockpt(fd) })?;
        let pty = Self {
            path: slave_path(&master)?,
            master,
        };
        pty.resize(size)?;
        Ok(pty)
    }

    /// The terminal device that programs run on, such as `/dev/pts/7`.
    #[cfg(test)]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets the size; the foreground process group gets SIGWINCH when it changed.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        let size = libc::winsize {
            ws_row: size.rows,
            ws_col: size.cols,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        // SAFETY: TIOCSWINSZ reads one winsize, which `size` is.
        check(unsafe { libc::ioctl(self.master.as_raw_fd(), libc::TIOCSWINSZ, &size) })?;
        Ok(())
    }

    /// The process group that the terminal's keys signal; none when no program has taken the terminal.
    pub fn foreground(&self) -> Option<i32> {
        // SAFETY: tcgetpgrp takes a number only.
        let group = unsafe { libc::tcgetpgrp(self.master.as_raw_fd()) };
        (group > 0).then_some(group)
    }

    /// The byte that means the end of input (VEOF, termios(3)); none while the terminal is raw or has no such byte.
    pub fn end_of_input(&self) -> io::Result<Option<u8>> {
        let settings = super::termios::settings(&self.master)?;
        let byte = settings.c_cc[libc::VEOF];
        let means_it = settings.c_lflag & libc::ICANON != 0 && byte != libc::_POSIX_VDISABLE;
        Ok(means_it.then_some(byte))
    }

    /// Starts `command` as the leader of a new session whose controlling terminal this is, with all three standard
    /// descriptors on it and no other descriptor of ours, and every signal at its default.
    ///
    /// Takes the command whole: it holds the terminal open, and with it kept the master would never see the end.
    pub fn spawn(&self, mut command: Command) -> io::Result<Child> {
        // Without O_NOCTTY a session leader without a terminal would get this one by opening it.
        let terminal = super::termios::open_to_run_on(&self.path)?;
        command
            .stdin(Stdio::from(terminal.try_clone()?))
            .stdout(Stdio::from(terminal.try_clone()?))
            .stderr(Stdio::from(terminal));
        // SAFETY: between fork and exec only setsid, ioctl and close_range are called, all async-signal-safe, and
        // no memory is allocated.
        unsafe { command.pre_exec(take_terminal) };
        with_fresh_signals(&mut command).spawn()
    }
}

/// Runs in the new process: standard input is the terminal already.
fn take_terminal() -> io::Result<()> {
    // SAFETY: setsid takes no argument.
    check(unsafe { libc::setsid() })?;
    // SAFETY: TIOCSCTTY takes an int by value.
    check(unsafe { libc::ioctl(libc::STDIN_FILENO, libc::TIOCSCTTY, 0) })?;
    // Marked to close at exec rather than closed: the standard library reports a failed exec through one of them.
    // Kernels before 5.11 refuse; ours are opened with O_CLOEXEC there as everywhere.
    // SAFETY: close_range takes numbers only.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    Ok(())
}

fn slave_path(master: &File) -> io::Result<PathBuf> {
    let mut name = [MaybeUninit::<u8>::uninit(); NAME_BYTES];
    // SAFETY: the buffer is writable and its true length is given.
    let error =
        unsafe { libc::ptsname_r(master.as_raw_fd(), name.as_mut_ptr().cast(), NAME_BYTES) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    // SAFETY: ptsname_r succeeded, so the buffer starts with a string that ends in NUL.
    let name = unsafe { std::ffi::CStr::from_ptr(name.as_ptr().cast()) };
    Ok(PathBuf::from(std::ffi::OsString::from_vec(
        name.to_bytes().to_vec(),
    )))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn printed_by(pty: &Pty, script: &str) -> (String, Child) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let child = pty.spawn(command).unwrap();
        let mut text = Vec::new();
        // Ends with EIO when the program has gone and nothing holds the terminal any more.
        let end = (&pty.master).read_to_end(&mut text).unwrap_err();
        assert_eq!(end.raw_os_error(), Some(libc::EIO));
        (String::from_utf8(text).unwrap(), child)
    }

    #[test]
    fn a_program_runs_on_its_own_terminal_in_its_own_session() {
        let pty = Pty::open(Size { cols: 91, rows: 17 }).unwrap();
        let script = "tty; stty size </dev/tty; cut -d' ' -f1,5,6,8 /proc/$$/stat; echo $$";
        let (text, mut child) = printed_by(&pty, script);
        let pid = child.id();
        assert!(child.wait().unwrap().success());
        let path = pty.path().display();
        assert_eq!(
            text,
            format!("{path}\r\n17 91\r\n{pid} {pid} {pid} {pid}\r\n{pid}\r\n")
        );
    }

    #[test]
    fn no_other_descriptor_is_passed_on() {
        let pty = Pty::open(Size { cols: 80, rows: 24 }).unwrap();
        // SAFETY: F_DUPFD takes numbers only; the copy is not marked to close at exec.
        let copy =
            check(unsafe { libc::fcntl(pty.master.as_raw_fd(), libc::F_DUPFD, 200) }).unwrap();
        // SAFETY: the copy is ours and nothing else owns it.
        let copy = unsafe { OwnedFd::from_raw_fd(copy) };
        let (text, mut child) = printed_by(&pty, "cd /proc/$$/fd && echo *");
        child.wait().unwrap();
        let passed: Vec<&str> = text.split_whitespace().collect();
        assert!(passed.starts_with(&["0", "1"]), "{text}");
        assert!(
            !passed.contains(&copy.as_raw_fd().to_string().as_str()),
            "{text}"
        );
    }

    #[test]
    fn signals_that_were_ignored_are_not() {
        let pty = Pty::open(Size { cols: 80, rows: 24 }).unwrap();
        let mut command = Command::new("cat");
        command.arg("/proc/self/status");
        // As whoever was started with nohup, or in the background of a script, was told to.
        let ignore = || {
            for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP] {
                // SAFETY: a constant disposition for a valid signal.
                unsafe { libc::signal(signal, libc::SIG_IGN) };
            }
            Ok(())
        };
        // SAFETY: signal is async-signal-safe.
        unsafe { command.pre_exec(ignore) };
        let mut child = pty.spawn(command).unwrap();
        let mut text = Vec::new();
        let _ = (&pty.master).read_to_end(&mut text);
        child.wait().unwrap();
        let text = String::from_utf8(text).unwrap();
        let ignored = text.lines().find_map(|line| line.strip_prefix("SigIgn:\t"));
        let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
        // Signal 32 is the C library's own.
        assert_eq!(ignored & 0x7fff_ffff, 0, "{text}");
    }

    #[test]
    fn a_program_that_does_not_exist_is_an_error() {
        let pty = Pty::open(Size { cols: 80, rows: 24 }).unwrap();
        let error = pty.spawn(Command::new("/nowhere/at/all")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
