//! session.txt: lines that can no longer change, appended and read back by number through a sparse index.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Error;

/// One index entry per this many lines: three million lines cost 94 KB, and finding a line reads at most this many.
const STRIDE: u64 = 256;

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
    length: u64,
    /// Newlines in the file: the number of complete lines.
    lines: u64,
    /// The offset of line k * STRIDE.
    index: Vec<u64>,
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
    pub fn create(path: &Path) -> Result<TextLog, Error> {
        let open = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path);
        let file = Arc::new(open.map_err(Error::at("create", path))?);
        Ok(TextLog {
            view: TextView {
                file,
                path: path.to_path_buf(),
                length: 0,
                lines: 0,
                index: vec![0],
            },
            tail: false,
        })
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
        if let Err(error) = view.file.write_all_at(bytes, view.length) {
            // What was written beyond `length` is overwritten by the next append; cutting it off is for other
            // readers.
            let _ = view.file.set_len(view.length);
            return Err(Error::at("write", &view.path)(error));
        }
        let mut at = 0;
        while let Some(next) = bytes[at..].iter().position(|&byte| byte == b'\n') {
            at += next + 1;
            view.lines += 1;
            if view.lines % STRIDE == 0 {
                view.index.push(view.length + at as u64);
            }
        }
        view.length += bytes.len() as u64;
        Ok(())
    }
}

impl TextView {
    /// Complete lines; there may be an unfinished one after them.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The offset at which line `number` (0-based) begins; `None` beyond the last.
    fn offset(&self, number: u64) -> io::Result<Option<u64>> {
        if number > self.lines {
            return Ok(None);
        }
        let entry = (number / STRIDE) as usize;
        let (mut offset, mut left) = (self.index[entry], number % STRIDE);
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
mod tests {
    use super::*;
    use crate::store::tests::Scratch;

    fn collect(log: &TextView, first: u64, most: usize) -> Vec<(u64, String)> {
        let mut lines = Vec::new();
        log.each_line(first, |number, line| {
            lines.push((number, String::from_utf8(line.bytes).unwrap()));
            lines.len() < most
        })
        .unwrap();
        lines
    }

    #[test]
    fn any_line_by_number() {
        let scratch = Scratch::new();
        let mut log = TextLog::create(&scratch.path().join("t")).unwrap();
        for n in 0..100_000u32 {
            // In odd pieces: lines are not whole writes.
            let text = format!("{n}\n");
            let (a, b) = text.split_at(n as usize % text.len());
            log.append(a.as_bytes()).unwrap();
            log.append(b.as_bytes()).unwrap();
        }
        log.append(b"unfinished").unwrap();
        let log = log.view();
        assert_eq!(log.lines(), 100_000);
        for n in [0u64, 1, 255, 256, 257, 49_999, 99_999] {
            assert_eq!(collect(&log, n, 1), [(n, n.to_string())]);
        }
        assert_eq!(
            collect(&log, 100_000, 9),
            [(100_000, "unfinished".to_string())]
        );
        assert_eq!(collect(&log, 100_001, 9), []);
        let mut seen = 0;
        log.each_block(300, |first, block| {
            assert!(block.starts_with(first.to_string().as_bytes()));
            seen += block.len();
            true
        })
        .unwrap();
        assert_eq!(
            seen as u64,
            log.length
                - collect(&log, 0, 300)
                    .iter()
                    .map(|(_, line)| line.len() as u64 + 1)
                    .sum::<u64>()
        );
    }

    #[test]
    fn a_tail_is_for_other_readers_only() {
        let scratch = Scratch::new();
        let path = scratch.path().join("t");
        let mut log = TextLog::create(&path).unwrap();
        log.append(b"one\n").unwrap();
        log.set_tail(b"a long live line\n").unwrap();
        log.set_tail(b"live\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\nlive\n");
        assert_eq!(log.view().lines(), 1);
        log.append(b"2\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\n2\n");
        assert_eq!(
            collect(&log.view(), 0, 9),
            [(0, "one".to_string()), (1, "2".to_string())]
        );
    }

    #[test]
    fn a_long_line_keeps_its_ends() {
        let scratch = Scratch::new();
        let mut log = TextLog::create(&scratch.path().join("t")).unwrap();
        let long = [vec![b'a'; 1_500_000], vec![b'b'; 1_500_000]].concat();
        log.append(&long).unwrap();
        log.append(b"\nnext\n").unwrap();
        let mut lines = Vec::new();
        log.view()
            .each_line(0, |_, line| {
                lines.push(line);
                true
            })
            .unwrap();
        assert_eq!(
            (lines[0].bytes.len(), lines[0].omitted),
            (LINE_KEPT, 3_000_000 - LINE_KEPT as u64)
        );
        assert!(lines[0].bytes.starts_with(b"aaa") && lines[0].bytes.ends_with(b"bbb"));
        assert_eq!(lines[1], Line::whole(b"next".to_vec()));
    }
}
