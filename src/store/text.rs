//! session.txt: lines that can no longer change, appended and read back by number through a sparse index.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Error;
use super::index::{Index, STRIDE};
use super::layout::SessionDir;

/// How much is read at a time.
const CHUNK: usize = 256 * 1024;

/// A line longer than this is given as its head and tail of half of it each: a reply never shows more, and a 3 MB
/// line must not become a 3 MB string.
pub const LINE_KEPT: usize = 64 * 1024;

/// A line as it was read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The bytes without the newline; of a line over LINE_KEPT, its head followed by its tail.
    pub bytes: Vec<u8>,
    /// Bytes left out between head and tail.
    pub omitted: u64,
}

impl Line {
    pub fn whole(bytes: Vec<u8>) -> Line {
        let mut line = LineBuilder::default();
        line.push(&bytes);
        line.take()
    }
}

/// The file as it was at one moment. Lines are only ever appended, so it stays true while the log grows.
#[derive(Clone, Debug)]
pub struct TextView {
    file: Arc<File>,
    path: PathBuf,
    index: Index,
    length: u64,
    /// Newlines in the file: the number of complete lines.
    lines: u64,
    /// Where the unfinished line begins.
    unfinished: u64,
}

/// The growing file. Only whole writes count: a failed one is cut off again, so that line numbers stay true.
#[derive(Debug)]
pub struct TextLog {
    view: TextView,
    /// Lines that may still change stand behind those that cannot: for people and their tools; `view` ends before
    /// them.
    tail: bool,
}

impl TextLog {
    /// An empty file; what stood there is a cache that is built anew.
    pub fn create(dir: &SessionDir) -> Result<TextLog, Error> {
        let path = dir.text();
        let file = open(&path, true).map_err(Error::at("create", &path))?;
        let index = Index::create(&dir.index()).map_err(Error::at("create", &dir.index()))?;
        Ok(TextLog::new(file, path, index))
    }

    fn new(file: File, path: PathBuf, index: Index) -> TextLog {
        TextLog {
            view: TextView {
                file: Arc::new(file),
                path,
                index,
                length: 0,
                lines: 0,
                unfinished: 0,
            },
            tail: false,
        }
    }

    /// The file of an earlier process, whose first `length` bytes are `lines` lines; what stands behind them is cut
    /// off. The index is made anew when it does not fit. `None`: the file itself does not fit.
    pub fn open(dir: &SessionDir, lines: u64, length: u64) -> Option<TextLog> {
        let path = dir.text();
        let file = open(&path, false).ok()?;
        if file.metadata().ok()?.len() < length {
            return None;
        }
        file.set_len(length).ok()?;
        let mut log = TextLog::new(file, path, Index::create(Path::new("/dev/null")).ok()?);
        let view = &mut log.view;
        (view.lines, view.length) = (lines, length);
        match Index::open(&dir.index(), &view.file, lines, length) {
            Some(index) => {
                view.index = index;
                view.unfinished = view.offset(lines).ok()??;
            }
            None => {
                let index = Index::create(&dir.index()).ok()?;
                let found;
                (view.index, found, view.unfinished) = scan(index, &view.file, length).ok()?;
                if found != lines {
                    return None;
                }
            }
        }
        Some(log)
    }

    /// What stands in the file now, to be read without holding up whoever appends.
    pub fn view(&self) -> TextView {
        self.view.clone()
    }

    /// Puts `text` behind what is final, in place of what stood there.
    pub fn set_tail(&mut self, text: &[u8]) -> Result<(), Error> {
        let TextView {
            file, path, length, ..
        } = &self.view;
        self.tail = true;
        let written = file
            .write_all_at(text, *length)
            .and_then(|()| file.set_len(*length + text.len() as u64));
        written.map_err(Error::at("write", path))
    }

    /// Appends `bytes` whole or not at all.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        if std::mem::take(&mut self.tail) {
            let TextView {
                file, path, length, ..
            } = &self.view;
            file.set_len(*length).map_err(Error::at("write", path))?;
        }
        let view = &mut self.view;
        let (mut lines, mut unfinished) = (view.lines, view.unfinished);
        let mut entries = Vec::new();
        newlines(bytes, |at| {
            lines += 1;
            unfinished = view.length + at as u64 + 1;
            if lines % STRIDE == 0 {
                entries.push(unfinished);
            }
        });
        let written = view.file.write_all_at(bytes, view.length);
        if let Err(error) = written.and_then(|()| view.index.append(&entries)) {
            // What was written beyond `length` is overwritten by the next append; cutting it off is for other
            // readers.
            let _ = view.file.set_len(view.length);
            return Err(Error::at("write", &view.path)(error));
        }
        (view.lines, view.unfinished) = (lines, unfinished);
        view.length += bytes.len() as u64;
        Ok(())
    }
}

fn open(path: &Path, fresh: bool) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(fresh)
        .truncate(fresh)
        .mode(0o600)
        .open(path)
}

/// Calls `each` with the place of every newline.
fn newlines(bytes: &[u8], mut each: impl FnMut(usize)) {
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        each(at);
    }
}

/// Fills an empty index from the first `length` bytes of `text`. With the number of whole lines, and where the
/// unfinished one begins.
fn scan(mut index: Index, text: &File, length: u64) -> io::Result<(Index, u64, u64)> {
    let (mut offset, mut lines, mut unfinished) = (0, 0, 0);
    let mut buffer = vec![0; CHUNK];
    let mut entries = Vec::new();
    while offset < length {
        let want = CHUNK.min((length - offset) as usize);
        text.read_exact_at(&mut buffer[..want], offset)?;
        entries.clear();
        newlines(&buffer[..want], |at| {
            lines += 1;
            unfinished = offset + at as u64 + 1;
            if lines % STRIDE == 0 {
                entries.push(unfinished);
            }
        });
        index.append(&entries)?;
        offset += want as u64;
    }
    Ok((index, lines, unfinished))
}

impl TextView {
    /// Complete lines; there may be an unfinished one after them.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Bytes in the file that cannot change.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The line that has begun and not ended; `None` when the file ends with a whole one. However long it is, only
    /// what is kept of it is read.
    pub fn unfinished(&self) -> Result<Option<Line>, Error> {
        let fail = Error::at("read", &self.path);
        let (start, end) = (self.unfinished, self.length);
        let half = LINE_KEPT as u64 / 2;
        let omitted = (end - start).saturating_sub(2 * half);
        let head = if omitted > 0 { half } else { end - start };
        let mut bytes = vec![0; (end - start - omitted) as usize];
        let (first, last) = bytes.split_at_mut(head as usize);
        let read = self.file.read_exact_at(first, start);
        let read = read.and_then(|()| self.file.read_exact_at(last, start + head + omitted));
        read.map_err(fail)?;
        Ok((!bytes.is_empty()).then_some(Line { bytes, omitted }))
    }

    /// The bytes of line `number` (0-based), however many; the unfinished one follows the last. Empty beyond it.
    pub fn whole(&self, number: u64) -> Result<Vec<u8>, Error> {
        let fail = |error| Error::at("read", &self.path)(error);
        let begin = match number == self.lines {
            true => Some(self.unfinished),
            false => self.offset(number).map_err(fail)?,
        };
        let Some(begin) = begin else {
            return Ok(Vec::new());
        };
        let end = match number < self.lines {
            // Before its newline.
            true => self.offset(number + 1).map_err(fail)?.map(|next| next - 1),
            false => None,
        };
        let end = end.unwrap_or(self.length);
        let mut bytes = vec![0; end.saturating_sub(begin) as usize];
        self.file.read_exact_at(&mut bytes, begin).map_err(fail)?;
        Ok(bytes)
    }

    /// The offset at which line `number` (0-based) begins; `None` beyond the last.
    fn offset(&self, number: u64) -> io::Result<Option<u64>> {
        if number > self.lines {
            return Ok(None);
        }
        // Where the index has been spoiled meanwhile, the lines are counted from the start.
        let (mut offset, mut left) = match self.index.line(number / STRIDE, &self.file) {
            Some(offset) => (offset, number % STRIDE),
            None => (0, number),
        };
        let mut buffer = vec![0; CHUNK];
        while left > 0 {
            let count = self.file.read_at(&mut buffer, offset)?;
            if count == 0 {
                return Ok(None);
            }
            let mut used = count;
            for (at, _) in buffer[..count]
                .iter()
                .enumerate()
                .filter(|(_, byte)| **byte == b'\n')
            {
                left -= 1;
                if left == 0 {
                    used = at + 1;
                    break;
                }
            }
            offset += used as u64;
        }
        Ok(Some(offset))
    }

    /// Calls `each` with the number of every line from `first` (0-based) on, until it says false. The last line may
    /// be unfinished: it is passed only when it is not empty. Memory stays bounded whatever the lines are.
    pub fn each_line(
        &self,
        first: u64,
        mut each: impl FnMut(u64, Line) -> bool,
    ) -> Result<(), Error> {
        let fail = |error| Error {
            verb: "read",
            path: self.path.clone(),
            error,
        };
        let Some(mut offset) = self.offset(first).map_err(fail)? else {
            return Ok(());
        };
        let mut buffer = vec![0; CHUNK];
        let (mut number, mut line) = (first, LineBuilder::default());
        while offset < self.length {
            let want = CHUNK.min((self.length - offset) as usize);
            let count = self
                .file
                .read_at(&mut buffer[..want], offset)
                .map_err(fail)?;
            if count == 0 {
                break;
            }
            offset += count as u64;
            let mut rest = &buffer[..count];
            while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
                line.push(&rest[..end]);
                rest = &rest[end + 1..];
                if !each(number, line.take()) {
                    return Ok(());
                }
                number += 1;
            }
            line.push(rest);
        }
        if !line.is_empty() {
            each(number, line.take());
        }
        Ok(())
    }

    /// Hands over the file from line `first` on in blocks of whole lines (the last may be unfinished), each with
    /// the number of its first line, until `each` says false. A line longer than a block comes whole in a block of
    /// its own.
    pub fn each_block(
        &self,
        first: u64,
        mut each: impl FnMut(u64, &[u8]) -> bool,
    ) -> Result<(), Error> {
        let fail = |error| Error {
            verb: "read",
            path: self.path.clone(),
            error,
        };
        let Some(mut offset) = self.offset(first).map_err(fail)? else {
            return Ok(());
        };
        let mut block: Vec<u8> = Vec::with_capacity(CHUNK);
        let mut number = first;
        while offset < self.length {
            let kept = block.len();
            let want = CHUNK.min((self.length - offset) as usize);
            block.resize(kept + want, 0);
            let count = self
                .file
                .read_at(&mut block[kept..], offset)
                .map_err(fail)?;
            block.truncate(kept + count);
            if count == 0 {
                break;
            }
            offset += count as u64;
            let whole = match block[kept..].iter().rposition(|&byte| byte == b'\n') {
                _ if offset >= self.length => block.len(),
                Some(at) => kept + at + 1,
                None => continue,
            };
            if !each(number, &block[..whole]) {
                return Ok(());
            }
            number += block[..whole].iter().filter(|&&byte| byte == b'\n').count() as u64;
            block.drain(..whole);
        }
        Ok(())
    }
}

/// Collects one line, keeping only its head and tail when it is long.
#[derive(Default)]
struct LineBuilder {
    bytes: Vec<u8>,
    /// Bytes of the line so far.
    seen: u64,
}

impl LineBuilder {
    fn push(&mut self, bytes: &[u8]) {
        self.seen += bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        // The tail is trimmed in large steps, so that a long line costs linear time.
        if self.bytes.len() > 4 * LINE_KEPT {
            self.trim();
        }
    }

    fn trim(&mut self) {
        let half = LINE_KEPT / 2;
        if self.bytes.len() > LINE_KEPT {
            self.bytes.drain(half..self.bytes.len() - half);
        }
    }

    fn is_empty(&self) -> bool {
        self.seen == 0
    }

    fn take(&mut self) -> Line {
        self.trim();
        let omitted = self.seen - self.bytes.len() as u64;
        self.seen = 0;
        Line {
            bytes: std::mem::take(&mut self.bytes),
            omitted,
        }
    }
}

#[cfg(test)]
mod tests;
