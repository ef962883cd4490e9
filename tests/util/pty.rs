//! A program on a pseudo-terminal: what the person's terminal would be, without one.
//!
//! The only unsafe code of the tests: std has no way to make a terminal the controlling one.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Instant;

/// A child process on a terminal of its own, which ends with this value.
pub struct Pty {
    master: File,
    child: Child,
}

impl Pty {
    /// Starts `argv` as the leader of a session on a new terminal, with exactly the environment `env`.
    pub fn spawn<S: AsRef<OsStr>>(
        argv: &[S],
        env: &[(String, String)],
        dir: &Path,
        (columns, rows): (u16, u16),
    ) -> io::Result<Pty> {
        let (master, slave) = open(columns, rows)?;
        let mut command = Command::new(&argv[0]);
        command
            .args(&argv[1..])
            .env_clear()
            .envs(env.iter().map(|(name, value)| (name, value)))
            .current_dir(dir)
            .stdin(slave.try_clone()?)
            .stdout(slave.try_clone()?)
            .stderr(slave);
        // SAFETY: the closure only makes system calls that are allowed between fork and exec.
        unsafe {
            command.pre_exec(|| {
                // A test runner in the background of a script ignores these, and a shell would take that over.
                for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP, libc::SIGPIPE] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                if libc::setsid() == -1 || libc::ioctl(0, libc::TIOCSCTTY, 0) == -1 {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child = command.spawn()?;
        Ok(Pty {
            master: File::from(master),
            child,
        })
    }

    /// The child's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Types `bytes`.
    pub fn type_bytes(&mut self, bytes: &[u8]) {
        self.master.write_all(bytes).expect("the terminal is open");
    }

    /// Appends what the terminal prints next to `to`. False at its end, or when `deadline` passes first.
    pub fn read(&mut self, to: &mut Vec<u8>, deadline: Instant) -> bool {
        let mut poll = libc::pollfd {
            fd: self.master.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = i32::try_from(left.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: one pollfd, which lives over the call, of a descriptor that is open.
        if unsafe { libc::poll(&mut poll, 1, timeout) } <= 0 {
            return false;
        }
        let mut buffer = [0; 16384];
        // EIO is how Linux says that the last process has closed the terminal.
        match self.master.read(&mut buffer) {
            Ok(count) if count > 0 => {
                to.extend_from_slice(&buffer[..count]);
                true
            }
            _ => false,
        }
    }

    /// Changes the window's size; the foreground group gets SIGWINCH.
    pub fn resize(&self, columns: u16, rows: u16) {
        let size = window(columns, rows);
        // SAFETY: TIOCSWINSZ reads one winsize, which lives over the call.
        let done = unsafe { libc::ioctl(self.master.as_raw_fd(), libc::TIOCSWINSZ, &size) };
        assert_eq!(done, 0, "{}", io::Error::last_os_error());
    }

    /// Waits for the child's end; its last words are read first, since it may block on them.
    pub fn wait(&mut self, to: &mut Vec<u8>, deadline: Instant) -> io::Result<ExitStatus> {
        while self.read(to, deadline) {}
        if Instant::now() >= deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.child.wait()
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // Jobs in the background outlive a shell that is killed: all that is left of its session goes with it.
        let session = self.child.id().to_string();
        for pid in processes() {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let fields = stat.rsplit(')').next().unwrap_or_default();
            if fields.split_whitespace().nth(3) == Some(&session) {
                // SAFETY: a plain system call; the session's leader is not reaped, so its number is nobody else's.
                unsafe { libc::kill(pid, libc::SIGKILL) };
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn processes() -> Vec<libc::pid_t> {
    let names = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    names
        .filter_map(|name| name.file_name().to_str()?.parse().ok())
        .collect()
}

fn window(columns: u16, rows: u16) -> libc::winsize {
    libc::winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

/// Both ends of a new terminal. Close-on-exec from the first moment: tests run beside each other, and an end that
/// leaked into another's child would keep the terminal open.
fn open(columns: u16, rows: u16) -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: takes a number; the descriptor that comes back is new, and owned by nobody else.
    let master = unsafe { owned(libc::posix_openpt(flags))? };
    let fd = master.as_raw_fd();
    let size = window(columns, rows);
    // SAFETY: `fd` is an open terminal; TIOCSWINSZ reads one winsize, which lives over the call.
    if unsafe { libc::unlockpt(fd) == -1 || libc::ioctl(fd, libc::TIOCSWINSZ, &size) == -1 } {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: takes a number (tty_ioctl(2): opens the other end by descriptor); what comes back is new and unowned.
    let slave = unsafe { owned(libc::ioctl(fd, libc::TIOCGPTPEER, flags))? };
    Ok((master, slave))
}

/// # Safety
/// `fd` is -1, or an open descriptor that nobody owns.
unsafe fn owned(fd: libc::c_int) -> io::Result<OwnedFd> {
    if fd == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as the caller promises.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
