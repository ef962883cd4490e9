//! inotify(7): one descriptor that tells which watched file changed.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::errno::check;
use super::fd::owned;

/// A watched file, as the kernel numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Watch(i32);

/// The kernel's limit for one event: its header and a name of at most 255 bytes. Files are watched, not folders, so
/// names are absent.
const BUFFER: usize = 16 * 1024;

#[derive(Debug)]
pub struct Inotify(OwnedFd);

impl Inotify {
    /// Fails when the user's inotify instances (fs.inotify.max_user_instances, 128 by default) are used up.
    pub fn new() -> io::Result<Inotify> {
        // SAFETY: takes flags and returns a new descriptor.
        owned(unsafe { libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK) }).map(Inotify)
    }

    /// Watches a file for being written to.
    pub fn watch(&self, path: &Path) -> io::Result<Watch> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: the path is a live NUL-terminated string.
        check(unsafe {
            libc::inotify_add_watch(self.0.as_raw_fd(), path.as_ptr(), libc::IN_MODIFY)
        })
        .map(Watch)
    }

    pub fn unwatch(&self, watch: Watch) {
        // SAFETY: integers only; a watch that is gone already is an error that means the same.
        unsafe { libc::inotify_rm_watch(self.0.as_raw_fd(), watch.0) };
    }

    /// The files that changed since the last call, each once, and true when the queue overflowed (then any may
    /// have).
    pub fn changed(&self) -> io::Result<(Vec<Watch>, bool)> {
        let mut watches = Vec::new();
        let mut overflow = false;
        let mut buffer = [0u8; BUFFER];
        loop {
            // SAFETY: reads at most the buffer's length into it.
            let count =
                unsafe { libc::read(self.0.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
            if count < 0 {
                let error = io::Error::last_os_error();
                return match error.kind() {
                    io::ErrorKind::WouldBlock => Ok((watches, overflow)),
                    io::ErrorKind::Interrupted => continue,
                    _ => Err(error),
                };
            }
            let mut rest = &buffer[..count as usize];
            // struct inotify_event: wd, mask, cookie, len (four 32-bit words), then len bytes of name.
            while let Some((head, tail)) = rest.split_at_checked(16) {
                let word = |at: usize| {
                    u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])
                };
                let watch = Watch(word(0) as i32);
                if word(4) & libc::IN_Q_OVERFLOW != 0 {
                    overflow = true;
                } else if !watches.contains(&watch) {
                    watches.push(watch);
                }
                rest = tail.get(word(12) as usize..).unwrap_or_default();
            }
        }
    }
}

impl AsFd for Inotify {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
