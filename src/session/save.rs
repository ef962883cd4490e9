//! What commands print, copied to a file of the caller's choice: as `> FILE 2>&1` would have it, while they run and
//! also after the call that asked for it has returned.
//!
//! Each copy has a thread of its own: a slow file system holds up nobody else.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};

use super::regions::{Kind, Region};
use super::{Error, RegionId, Session, Sessions, State};
use crate::sys::random;

/// Bytes of the log that are copied at a time.
const CHUNK: usize = 256 * 1024;

/// A copy whose commands have all ended is waited for so long before the reply says that it is not complete.
const FINISH: Duration = Duration::from_secs(10);

/// The thread looks again after so long even when nothing wakes it: an hour is never, and no overflow.
const NEVER: Duration = Duration::from_secs(3600);

/// A marker of the shells that is longer than this is none: the shells' own are under 2 KiB.
const MARKER_MOST: usize = 8 * 1024;

/// Whose output is wanted.
#[derive(Clone, Copy, Debug)]
pub enum Wanted {
    /// The first command after this region.
    After(RegionId),
    Region(RegionId),
}

impl Wanted {
    fn region(self, state: &State) -> Option<&Region> {
        match self {
            Wanted::Region(id) => state.regions.get(id),
            Wanted::After(last) => state
                .regions
                .all()
                .iter()
                .skip(last as usize)
                .find(|region| region.kind == Kind::Command),
        }
    }
}

/// A file that is ready to take what is printed, under a temporary name: nothing has been replaced yet.
#[derive(Debug)]
pub struct Prepared {
    path: PathBuf,
    temporary: PathBuf,
    file: Option<File>,
}

/// A copy in progress.
#[derive(Debug)]
pub struct Save {
    session: Arc<Session>,
    path: PathBuf,
    /// Which file that was when the copy began: its device and inode.
    file: (u64, u64),
    plan: Arc<Mutex<Plan>>,
    /// Disconnects when the thread has ended.
    over: Receiver<()>,
}

/// How far a copy has come.
#[derive(Clone, Debug)]
pub struct Saved {
    pub path: PathBuf,
    pub bytes: u64,
    /// Everything that was wanted is in the file.
    pub complete: bool,
    /// Another file has the name now, or none.
    pub replaced: bool,
    pub error: Option<String>,
}

#[derive(Debug, Default)]
struct Plan {
    wanted: VecDeque<Wanted>,
    /// Nothing more will be wanted.
    sealed: bool,
    bytes: u64,
    complete: bool,
    error: Option<String>,
}

impl Sessions {
    /// Makes the file under a temporary name beside the one it will have. A relative path counts from where the
    /// session's own program is now, on this machine even when the session is on another.
    pub fn prepare_save(&self, session: &Session, path: &str) -> Result<Prepared, Error> {
        let refused = |text: String| Err(Error::Refused(text));
        if path.is_empty() || path.contains('\0') {
            return refused("save_to is no file's name; nothing was typed".into());
        }
        let given = match path.strip_prefix("~/") {
            Some(rest) => PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(rest),
            None => PathBuf::from(path),
        };
        let folder = self
            .proc
            .cwd(session.program())
            .unwrap_or_else(|| session.meta.cwd.clone());
        let mut path = folder.join(given);
        // As a redirection does: a link is written through.
        if let Ok(real) = path.canonicalize() {
            path = real;
        }
        if std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return refused(format!(
                "save_to {} is there and is no ordinary file; nothing was typed",
                path.display()
            ));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let random =
            random::hex(4).map_err(|error| Error::Io("no random numbers".into(), error))?;
        let temporary = path.with_file_name(format!(".{name}.{random}.tmp"));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary);
        match file {
            Ok(file) => Ok(Prepared {
                path,
                temporary,
                file: Some(file),
            }),
            Err(error) => refused(format!(
                "save_to {} cannot be written: {error}; nothing was typed",
                path.display()
            )),
        }
    }
}

impl Prepared {
    /// Gives the file its name, and begins to fill it.
    pub fn start(mut self, session: &Arc<Session>, wanted: Wanted) -> Result<Save, Error> {
        let failed = |error| Error::Io(format!("cannot write {}", self.path.display()), error);
        let raw = File::open(session.dir.raw()).map_err(failed)?;
        std::fs::rename(&self.temporary, &self.path).map_err(failed)?;
        let meta = std::fs::metadata(&self.path).map_err(failed)?;
        let plan = Arc::new(Mutex::new(Plan {
            wanted: VecDeque::from([wanted]),
            ..Plan::default()
        }));
        let (ends, over) = bounded(0);
        let copy = Copy {
            session: session.clone(),
            plan: plan.clone(),
            raw,
            file: self.file.take(),
            at: None,
            plain: Plain::default(),
        };
        std::thread::Builder::new()
            .name("save".into())
            .spawn(move || {
                copy.run();
                drop(ends);
            })
            .map_err(|error| Error::Io("cannot start a thread".into(), error))?;
        Ok(Save {
            session: session.clone(),
            path: self.path.clone(),
            file: (meta.dev(), meta.ino()),
            plan,
            over,
        })
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // Started, the name has gone, and with it the error.
        if self.file.is_some() {
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

fn lock(plan: &Mutex<Plan>) -> MutexGuard<'_, Plan> {
    plan.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Save {
    /// Appends what another command prints.
    pub fn also(&self, wanted: Wanted) {
        lock(&self.plan).wanted.push_back(wanted);
        self.session.state().watchers.notify();
    }

    /// The last line was no command: nothing of it is waited for.
    pub fn none_came(&self) {
        lock(&self.plan).wanted.pop_back();
    }

    /// Nothing more is wanted. Waits for the end of the copy when all commands have ended; else it goes on by
    /// itself.
    pub fn seal(self) -> Saved {
        let wanted = {
            let mut plan = lock(&self.plan);
            plan.sealed = true;
            plan.wanted.clone()
        };
        let ended = {
            let state = self.session.state();
            state.watchers.notify();
            wanted.iter().all(|wanted| {
                wanted
                    .region(&state)
                    .is_some_and(|region| !region.running())
            })
        };
        if ended {
            // Nothing is ever sent: it is over when it disconnects.
            let _ = self.over.recv_timeout(FINISH);
        }
        let now = std::fs::metadata(&self.path).ok();
        let plan = lock(&self.plan);
        Saved {
            path: self.path.clone(),
            bytes: plan.bytes,
            complete: plan.complete,
            replaced: now.map(|meta| (meta.dev(), meta.ino())) != Some(self.file),
            error: plan.error.clone(),
        }
    }
}

/// The thread's own.
struct Copy {
    session: Arc<Session>,
    plan: Arc<Mutex<Plan>>,
    raw: File,
    file: Option<File>,
    /// Up to where the region in work has been copied.
    at: Option<u64>,
    plain: Plain,
}

/// A part of the log to copy.
struct Part {
    from: u64,
    to: u64,
    /// The region ends there.
    last: bool,
    /// Only whole lines: what stands after the last may be the program's prompt.
    lines: bool,
    /// What stands after the last line is the program's prompt.
    prompt: bool,
}

impl Copy {
    fn run(mut self) {
        let watch = self.session.watch();
        // Never cancelled: it ends with what it copies.
        let (_running, never) = bounded(0);
        loop {
            let (front, sealed) = {
                let plan = lock(&self.plan);
                (plan.wanted.front().copied(), plan.sealed)
            };
            let Some(wanted) = front else {
                if sealed {
                    lock(&self.plan).complete = true;
                    return;
                }
                watch.wait(Instant::now() + NEVER, &never);
                continue;
            };
            let part = self.next_part(wanted);
            let over = self.session.state().ending.is_some();
            let Some(part) = part.filter(|part| part.last || part.to > part.from) else {
                if over {
                    return;
                }
                watch.wait(Instant::now() + NEVER, &never);
                continue;
            };
            if let Err(error) = self.copy(&part) {
                lock(&self.plan).error = Some(error.to_string());
                return;
            }
            if part.last {
                self.at = None;
                lock(&self.plan).wanted.pop_front();
            }
        }
    }

    fn next_part(&mut self, wanted: Wanted) -> Option<Part> {
        let state = self.session.state();
        let region = wanted.region(&state)?;
        if region.kind == Kind::Input && state.regions.echoing() && region.running() {
            return None;
        }
        let from = self.at.unwrap_or(region.start_offset);
        let end = region.end_offset.unwrap_or(state.offset());
        let to = end.min(from + CHUNK as u64);
        self.at = Some(from);
        Some(Part {
            from,
            to,
            last: !region.running() && to == end,
            lines: region.kind == Kind::Input,
            prompt: region.at_prompt,
        })
    }

    fn copy(&mut self, part: &Part) -> io::Result<()> {
        let mut bytes = vec![0; part.to.saturating_sub(part.from) as usize];
        self.raw.read_exact_at(&mut bytes, part.from)?;
        // The marker of the end had come in part, and was read while the region seemed to go on.
        self.plain
            .unread(part.from.saturating_sub(part.to) as usize);
        self.at = Some(part.to);
        let text = self.plain.push(&bytes, part.lines, part.last, part.prompt);
        if let Some(file) = &mut self.file {
            file.write_all(&text)?;
        }
        lock(&self.plan).bytes += text.len() as u64;
        Ok(())
    }
}

/// From a terminal's bytes to what the program wrote: line ends as the program has them, and without our markers.
#[derive(Debug, Default)]
struct Plain {
    /// Bytes that what follows decides about.
    held: Vec<u8>,
    /// Text of an unfinished line that may be a prompt.
    line: Vec<u8>,
}

const MARKER: &[u8] = b"\x1b]133;";

/// What the shells print before the marker of a command's end, for output that ends in the midst of a string.
const TERMINATOR: &[u8] = b"\x1b\\";

impl Plain {
    /// The last bytes that were pushed are no part of it, as far as they are still held.
    fn unread(&mut self, count: usize) {
        self.held.truncate(self.held.len().saturating_sub(count));
    }

    fn push(&mut self, bytes: &[u8], lines: bool, last: bool, prompt: bool) -> Vec<u8> {
        let mut input = std::mem::take(&mut self.held);
        input.extend_from_slice(bytes);
        let mut text = std::mem::take(&mut self.line);
        let mut at = 0;
        while at < input.len() {
            let rest = &input[at..];
            match rest[0] {
                b'\r' if rest.len() == 1 && !last => break,
                b'\r' if rest.get(1) == Some(&b'\n') => at += 1,
                b'\x1b' if rest.starts_with(MARKER) => match marker_end(rest) {
                    Some(end) => at += end,
                    None if rest.len() > MARKER_MOST || last => {
                        text.push(rest[0]);
                        at += 1;
                    }
                    None => break,
                },
                b'\x1b' if rest.starts_with(TERMINATOR) => {
                    let after = &rest[TERMINATOR.len()..];
                    let ends = after.starts_with(MARKER) || last && !lines && after.is_empty();
                    if !ends && !last && MARKER.starts_with(after) {
                        break;
                    }
                    if !ends {
                        text.extend_from_slice(TERMINATOR);
                    }
                    at += TERMINATOR.len();
                }
                b'\x1b' if MARKER.starts_with(rest) && !last => break,
                b'\x1b' if TERMINATOR.starts_with(rest) && !last => break,
                byte => {
                    text.push(byte);
                    at += 1;
                }
            }
        }
        self.held = input.split_off(at);
        if lines && (!last || prompt) {
            let whole = text
                .iter()
                .rposition(|&byte| byte == b'\n')
                .map_or(0, |end| end + 1);
            self.line = text.split_off(whole);
        }
        if last {
            self.line.clear();
        }
        text
    }
}

/// The length of a marker: to BEL, or to ESC and a backslash.
fn marker_end(bytes: &[u8]) -> Option<usize> {
    let end = bytes
        .iter()
        .skip(1)
        .position(|byte| matches!(byte, 0x07 | 0x1b))?
        + 1;
    match bytes[end] {
        0x07 => Some(end + 1),
        _ => (bytes.get(end + 1) == Some(&b'\\')).then_some(end + 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same however the bytes are split.
    fn check(bytes: &[u8], want: &[u8]) {
        for size in 1..=bytes.len().max(1) {
            let mut plain = Plain::default();
            let mut text = Vec::new();
            let count = bytes.chunks(size).count();
            for (at, chunk) in bytes.chunks(size).enumerate() {
                text.extend(plain.push(chunk, false, at + 1 == count, false));
            }
            assert_eq!(
                String::from_utf8_lossy(&text),
                String::from_utf8_lossy(want),
                "in pieces of {size}"
            );
        }
    }

    #[test]
    fn line_ends_are_the_programs() {
        check(b"a\r\nb\r\n", b"a\nb\n");
        check(b"dos\r\r\n", b"dos\r\n");
        check(b"1 %\r2 %\r", b"1 %\r2 %\r");
        check(b"no end", b"no end");
    }

    #[test]
    fn the_terminator_before_an_end_is_the_shells() {
        check(b"out\r\n\x1b\\", b"out\n");
        check(b"a\x1b\\\x1b]133;D;0\x07b", b"ab");
        check(b"\x1bPq\x1b\\b", b"\x1bPq\x1b\\b");
    }

    #[test]
    fn markers_go_and_nothing_else() {
        check(b"a\x1b]133;C;pid=7\x07b\x1b]133;D;0\x1b\\c\r\n", b"abc\n");
        check(
            b"\x1b[31mred\x1b]0;title\x07",
            b"\x1b[31mred\x1b]0;title\x07",
        );
        check(b"cut\x1b]13", b"cut\x1b]13");
    }

    #[test]
    fn a_part_of_the_marker_at_the_end_is_no_output() {
        let end = b"\x1b\\\x1b]133;D;0;p=0;n=5e1f;pid=7\x07";
        for cut in TERMINATOR.len()..end.len() {
            let mut plain = Plain::default();
            let mut text = plain.push(&[b"out\r\n", &end[..cut]].concat(), false, false, false);
            plain.unread(cut - TERMINATOR.len());
            text.extend(plain.push(b"", false, true, false));
            assert_eq!(String::from_utf8_lossy(&text), "out\n", "{cut} bytes of it");
        }
    }

    #[test]
    fn a_prompt_is_no_output() {
        let mut plain = Plain::default();
        assert_eq!(plain.push(b"4\r\n>>", true, false, false), b"4\n");
        assert_eq!(plain.push(b"> ", true, true, true), b"");
        assert_eq!(plain.push(b"again", true, true, false), b"again");
    }
}
