//! Open files: which of them are the terminal, and what else it could be waiting for.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::stat::number;
use super::{Pid, Proc, Tty};

/// Descriptors that are looked at in one process, and targets of one epoll descriptor. A program with more holds
/// sockets anyway, and each costs two microseconds.
const MAX_DESCRIPTORS: usize = 1024;

/// How deep epoll descriptors that watch each other are followed; the kernel allows five.
const EPOLL_DEPTH: u8 = 5;

/// EPOLLIN, EPOLLPRI and EPOLLRDNORM (epoll_ctl(2)); poll(2) has the same bits.
pub(super) const INPUT_EVENTS: u32 = 0x1 | 0x2 | 0x40;

/// The two bits of `flags:` in fdinfo that say how a file was opened, and their value for "to write only"
/// (open(2)).
const ACCESS_MODE: u32 = 0o3;
const WRITE_ONLY: u32 = 0o1;

/// The link of an epoll descriptor.
const EPOLL: &[u8] = b"anon_inode:[eventpoll]";

/// Links of what a thread sleeps in a read of just as in a read of a terminal.
const ALIKE: [&[u8]; 3] = [b"socket:", b"anon_inode:inotify", b"anon_inode:[fanotify"];

/// Devices that nobody waits for.
const ALWAYS_READY: [&[u8]; 5] = [
    b"/dev/null",
    b"/dev/zero",
    b"/dev/full",
    b"/dev/random",
    b"/dev/urandom",
];

/// The terminal that is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Device<'a> {
    pub path: &'a Path,
    pub tty: Tty,
    /// `st_dev` of its file: a container's own /dev/pts has the same names and numbers, but not this.
    pub instance: Option<u64>,
}

/// What a process holds open, as far as waiting goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// The terminal, open for reading.
    pub terminal: bool,
    /// Sockets, inotify or fanotify: a blocking connect, receive or read of them sleeps where a terminal read does.
    pub alike: bool,
    /// Pipes, timers, events, other terminals: what poll could wait for.
    pub others: bool,
    pub epolls: Vec<u32>,
    /// Master sides of pseudo-terminals.
    pub masters: Vec<u32>,
}

impl Held {
    /// Nothing but the terminal could wake a poll.
    pub fn only_terminal(&self) -> bool {
        self.terminal
            && !self.alike
            && !self.others
            && self.epolls.is_empty()
            && self.masters.is_empty()
    }
}

/// The open files of one thread. Threads of a process share them, but for a main thread that has ended: it has none
/// any more, and its process lives on.
#[derive(Clone, Copy)]
pub(super) struct OpenFiles<'a> {
    pub proc: &'a Proc,
    pub thread: Pid,
    /// The controlling terminal of the process, which /dev/tty stands for.
    pub tty: Option<Tty>,
    pub device: &'a Device<'a>,
}

impl OpenFiles<'_> {
    fn is_terminal(&self, fd: u32) -> Option<bool> {
        match self.link(fd) {
            Ok(link) => Some(self.leads_to(fd, &link)),
            Err(error) => hidden(&error),
        }
    }

    fn leads_to(&self, fd: u32, link: &Path) -> bool {
        if link == Path::new("/dev/tty") {
            return self.tty == Some(self.device.tty);
        }
        // Names are those of the process's own mounts: bwrap shows the terminal as /dev/console. The file behind
        // the link decides; stat follows it without opening anything.
        if !link.starts_with("/dev") && link.parent() != Some(Path::new("/")) {
            return false;
        }
        let file = self.proc.allowed(self.thread, &format!("fd/{fd}"));
        match file.and_then(std::fs::metadata) {
            Ok(file) => {
                Tty::from_rdev(file.rdev()) == self.device.tty
                    && self.device.instance.is_none_or(|own| own == file.dev())
            }
            Err(_) => link == self.device.path,
        }
    }

    /// Everything that is open. None when that is not ours to see.
    pub fn held(&self) -> Option<Held> {
        let mut held = Held::default();
        let entries = match self.proc.folder(self.thread, "fd") {
            Ok(entries) => entries,
            Err(error) => return hidden(&error).map(|_| held),
        };
        for (count, entry) in entries.flatten().enumerate() {
            if count >= MAX_DESCRIPTORS {
                held.others = true;
                break;
            }
            let Some(fd) = number::<u32>(entry.file_name().as_encoded_bytes()) else {
                continue;
            };
            let Ok(link) = std::fs::read_link(entry.path()) else {
                continue;
            };
            self.hold(fd, &link, &mut held);
        }
        Some(held)
    }

    fn hold(&self, fd: u32, link: &Path, held: &mut Held) {
        let name = link.as_os_str().as_encoded_bytes();
        if self.leads_to(fd, link) {
            held.terminal |= self.info(fd).map_or(true, |info| !is_write_only(&info));
        } else if ALIKE.iter().any(|kind| name.starts_with(kind)) {
            held.alike = true;
        } else if name == EPOLL {
            held.epolls.push(fd);
        } else if name.ends_with(b"/ptmx") {
            held.masters.push(fd);
        } else {
            // Files have a path; `pipe:[1]`, `anon_inode:[timerfd]` and the like have none.
            held.others |= !name.starts_with(b"/")
                || name.starts_with(b"/dev/") && !ALWAYS_READY.contains(&name);
        }
    }

    /// Descriptors that an epoll descriptor watches for input. None when that is not ours to see.
    pub fn epoll_watched(&self, fd: u32) -> Option<Vec<u32>> {
        let mut watched = Vec::new();
        self.add_epoll_watched(fd, EPOLL_DEPTH, &mut watched)?;
        Some(watched)
    }

    fn add_epoll_watched(&self, fd: u32, depth: u8, watched: &mut Vec<u32>) -> Option<()> {
        let info = match self.info(fd) {
            Ok(info) => info,
            Err(error) => return hidden(&error).map(drop),
        };
        for target in epoll_targets(&info).filter(|target| target.events & INPUT_EVENTS != 0) {
            if watched.len() >= MAX_DESCRIPTORS {
                break;
            }
            watched.push(target.fd);
            let nested = self
                .link(target.fd)
                .is_ok_and(|link| link.as_os_str().as_encoded_bytes() == EPOLL);
            if nested && depth > 1 {
                self.add_epoll_watched(target.fd, depth - 1, watched)?;
            }
        }
        Some(())
    }

    /// Whether one of the descriptors is the terminal. None when that is not ours to see.
    pub fn has_terminal(&self, descriptors: &[u32]) -> Option<bool> {
        for fd in descriptors {
            if self.is_terminal(*fd)? {
                return Some(true);
            }
        }
        Some(false)
    }

    /// N of the `/dev/pts/N` whose master side this descriptor is.
    pub fn slave_index(&self, fd: u32) -> Option<u32> {
        let info = self.info(fd).ok()?;
        field(&info, b"tty-index").and_then(number)
    }

    fn link(&self, fd: u32) -> io::Result<PathBuf> {
        std::fs::read_link(self.proc.allowed(self.thread, &format!("fd/{fd}"))?)
    }

    fn info(&self, fd: u32) -> io::Result<Vec<u8>> {
        self.proc.bytes(self.thread, &format!("fdinfo/{fd}"))
    }
}

/// What a failed look says: None for "not allowed"; a process or descriptor that has gone is not the terminal.
fn hidden(error: &io::Error) -> Option<bool> {
    (error.kind() != io::ErrorKind::PermissionDenied).then_some(false)
}

/// One line of an epoll descriptor's fdinfo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target {
    fd: u32,
    events: u32,
}

/// Lines of the form `tfd:       18 events:       19 data: ...`, the events in hex (proc_pid_fdinfo(5)).
fn epoll_targets(info: &[u8]) -> impl Iterator<Item = Target> {
    info.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        if words.next()? != b"tfd:" {
            return None;
        }
        let fd = number(words.next()?)?;
        if words.next()? != b"events:" {
            return None;
        }
        let events = u32::from_str_radix(std::str::from_utf8(words.next()?).ok()?, 16).ok()?;
        Some(Target { fd, events })
    })
}

/// The value of a line `key:\tvalue`.
fn field<'a>(info: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    info.split(|byte| *byte == b'\n')
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(b":"))
        .map(<[u8]>::trim_ascii)
}

/// `flags:` is octal, as open(2) has them.
fn is_write_only(info: &[u8]) -> bool {
    field(info, b"flags")
        .and_then(|flags| u32::from_str_radix(std::str::from_utf8(flags).ok()?, 8).ok())
        .is_some_and(|flags| flags & ACCESS_MODE == WRITE_ONLY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epoll_lines() {
        let info = b"pos:\t0\nflags:\t02000002\nmnt_id:\t15\n\
            tfd:        5 events:       19 data:  fffffff00000005  pos:0 ino:4 sdev:16\n\
            tfd:       12 events: 8000001d data: c pos:0\ntfd: x events: 1\ntfd: 1 events:\ntfd:\n";
        let targets: Vec<Target> = epoll_targets(info).collect();
        assert_eq!(
            targets,
            [
                Target {
                    fd: 5,
                    events: 0x19
                },
                Target {
                    fd: 12,
                    events: 0x8000_001d
                }
            ]
        );
    }

    #[test]
    fn fields_of_fdinfo() {
        let info = b"pos:\t0\nflags:\t0100001\ntty-index:\t17\n";
        assert_eq!(field(info, b"tty-index"), Some(&b"17"[..]));
        assert_eq!(field(info, b"tty"), None);
        assert!(is_write_only(info));
        for readable in [
            &b"flags:\t0100002\n"[..],
            b"flags:\t0\n",
            b"flags:\n",
            b"flags:\t9\n",
            b"",
        ] {
            assert!(!is_write_only(readable));
        }
    }
}
