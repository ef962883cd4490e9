//! The open files of one process: which of them are the terminal, and what else it could be waiting for.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::stat::number;
use super::{Pid, Proc, Process, Tty};

/// Descriptors that are looked at in one process. A program with more holds sockets anyway, and each costs two
/// microseconds.
const MAX_DESCRIPTORS: usize = 1024;

/// How deep epoll descriptors that watch each other are followed; the kernel allows five.
const EPOLL_DEPTH: u8 = 5;

/// EPOLLIN, EPOLLPRI and EPOLLRDNORM (epoll_ctl(2)); poll(2) has the same bits.
pub(super) const INPUT_EVENTS: u32 = 0x1 | 0x2 | 0x40;

/// The two bits of `flags:` in fdinfo that say how a file was opened, and their value for "to write only" (open(2)).
const ACCESS_MODE: u32 = 0o3;
const WRITE_ONLY: u32 = 0o1;

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
    /// Sockets or inotify: a blocking connect, receive or read of them sleeps where a terminal read does.
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

impl Proc {
    /// Whether the descriptor is the terminal. None when that is not ours to see.
    pub(super) fn is_terminal(
        &self,
        process: &Process,
        fd: u32,
        device: &Device<'_>,
    ) -> Option<bool> {
        match self.link(process.pid, &format!("fd/{fd}")) {
            Ok(link) => Some(self.leads_to(process, fd, &link, device)),
            Err(error) => hidden(&error),
        }
    }

    fn leads_to(&self, process: &Process, fd: u32, link: &Path, device: &Device<'_>) -> bool {
        if link == Path::new("/dev/tty") {
            return process.tty == Some(device.tty);
        }
        // Names are those of the process's own mounts: bwrap shows the terminal as /dev/console. The file behind the
        // link decides; stat follows it without opening anything.
        if !link.starts_with("/dev") && link.parent() != Some(Path::new("/")) {
            return false;
        }
        let file = self.allowed(process.pid, &format!("fd/{fd}"));
        match file.and_then(std::fs::metadata) {
            Ok(file) => {
                Tty::from_rdev(file.rdev()) == device.tty
                    && device.instance.is_none_or(|own| own == file.dev())
            }
            Err(_) => link == device.path,
        }
    }

    /// Everything it holds. None when that is not ours to see.
    pub(super) fn held(&self, process: &Process, device: &Device<'_>) -> Option<Held> {
        let mut held = Held::default();
        let entries = match self.folder(process.pid, "fd") {
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
            self.hold(process, fd, &link, device, &mut held);
        }
        Some(held)
    }

    fn hold(&self, process: &Process, fd: u32, link: &Path, device: &Device<'_>, held: &mut Held) {
        let name = link.as_os_str().as_encoded_bytes();
        if self.leads_to(process, fd, link, device) {
            held.terminal |= self
                .fdinfo(process.pid, fd)
                .is_none_or(|info| !is_write_only(&info));
        } else if name.starts_with(b"socket:") || name.starts_with(b"anon_inode:inotify") {
            held.alike = true;
        } else if name == b"anon_inode:[eventpoll]" {
            held.epolls.push(fd);
        } else if name.ends_with(b"/ptmx") {
            held.masters.push(fd);
        } else if name.starts_with(b"/dev/") {
            held.others |= !matches!(
                name,
                b"/dev/null" | b"/dev/zero" | b"/dev/full" | b"/dev/random" | b"/dev/urandom"
            );
        } else if !name.starts_with(b"/") {
            // `pipe:[1]`, `anon_inode:[timerfd]` and the like: files have a path.
            held.others = true;
        }
    }

    /// Whether an epoll descriptor watches the terminal for input. None when that is not ours to see.
    pub(super) fn epoll_watches(
        &self,
        process: &Process,
        fd: u32,
        device: &Device<'_>,
    ) -> Option<bool> {
        self.epoll_watches_within(process, fd, device, EPOLL_DEPTH)
    }

    fn epoll_watches_within(
        &self,
        process: &Process,
        fd: u32,
        device: &Device<'_>,
        depth: u8,
    ) -> Option<bool> {
        let info = match self.bytes(process.pid, &format!("fdinfo/{fd}")) {
            Ok(info) => info,
            Err(error) => return hidden(&error),
        };
        for target in epoll_targets(&info).filter(|target| target.events & INPUT_EVENTS != 0) {
            if self.is_terminal(process, target.fd, device)? {
                return Some(true);
            }
            let link = self.link(process.pid, &format!("fd/{}", target.fd));
            let nested = link.is_ok_and(|link| link == Path::new("anon_inode:[eventpoll]"));
            if nested
                && depth > 1
                && self.epoll_watches_within(process, target.fd, device, depth - 1)?
            {
                return Some(true);
            }
        }
        Some(false)
    }

    /// N of the `/dev/pts/N` whose master side this descriptor is.
    pub(super) fn master_of(&self, pid: Pid, fd: u32) -> Option<u32> {
        let info = self.fdinfo(pid, fd)?;
        field(&info, b"tty-index").and_then(number)
    }

    fn fdinfo(&self, pid: Pid, fd: u32) -> Option<Vec<u8>> {
        self.bytes(pid, &format!("fdinfo/{fd}")).ok()
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
