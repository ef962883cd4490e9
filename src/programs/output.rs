//! A program's output as text by cursor: the bytes of raw.log as plain text, of which any stretch can be read again.
//!
//! A pure function of raw.log and times.log: a cursor means the same text to every server. Nothing is kept but
//! places to begin from, so that reading on costs what is new, and going back at most a stride.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::Error;
use crate::session::state::STRING_MOST_MS;
use crate::session::{LAST_WORDS, Plain, StoreError};
use crate::store::layout::SessionDir;
use crate::store::times::{Placed, Time, TimeLines, What};

/// Characters of one read: two copies of them (as text and as JSON) stay within what clients take.
pub const CHARS: usize = 24_000;

/// A place to begin from is kept every so many bytes of raw.log: 4 GiB have 65,536 of some hundred bytes.
const STRIDE: u64 = 64 * 1024;

/// How much is read at a time: a small read should not cost a large one.
const CHUNK: u64 = 16 * 1024;

/// The launcher's last words are looked for in so many bytes at the end: what it left running may print after them.
const TAIL: u64 = 64 * 1024;

/// A session's logs, held open: stop_program deletes them while a read may still be at it.
#[derive(Debug)]
pub struct Files {
    raw: File,
    raw_path: PathBuf,
    times: File,
    times_path: PathBuf,
}

impl Files {
    pub fn open(dir: &SessionDir) -> Result<Files, StoreError> {
        let (raw_path, times_path) = (dir.raw(), dir.times());
        Ok(Files {
            raw: File::open(&raw_path).map_err(|error| failed(&raw_path, error))?,
            times: File::open(&times_path).map_err(|error| failed(&times_path, error))?,
            raw_path,
            times_path,
        })
    }

    fn raw(&self, bytes: &mut [u8], offset: u64) -> Result<usize, StoreError> {
        let count = self.raw.read_at(bytes, offset);
        count.map_err(|error| failed(&self.raw_path, error))
    }

    fn times(&self, bytes: &mut [u8], offset: u64) -> Result<usize, StoreError> {
        let count = self.times.read_at(bytes, offset);
        count.map_err(|error| failed(&self.times_path, error))
    }

    /// The log holds what the launcher prints after the program's end, and so everything that the program printed.
    pub fn hold_the_end(&self) -> Result<bool, StoreError> {
        let metadata = self.raw.metadata();
        let length = metadata
            .map_err(|error| failed(&self.raw_path, error))?
            .len();
        let start = length.saturating_sub(TAIL);
        let mut bytes = vec![0; (length - start) as usize];
        let count = self.raw(&mut bytes, start)?;
        let mut parts = bytes[..count].windows(LAST_WORDS.len());
        Ok(parts.any(|part| part == LAST_WORDS))
    }
}

fn failed(path: &std::path::Path, error: io::Error) -> StoreError {
    StoreError {
        verb: "read",
        path: path.to_path_buf(),
        error,
    }
}

/// A stretch of text.
#[derive(Debug, PartialEq, Eq)]
pub struct Page {
    pub text: String,
    /// Where the next one begins.
    pub cursor: u64,
    /// There is more already.
    pub more: bool,
}

/// A place in the output.
#[derive(Clone, Debug, Default)]
struct Mark {
    /// The text's state there.
    plain: Plain,
    /// Bytes of text before it.
    text: u64,
}

/// Where an output can be read from. Grows with what has been read.
#[derive(Debug, Default)]
pub struct Output {
    /// The furthest place that has been read up to.
    front: Mark,
    /// Places before it, in order.
    marks: Vec<Mark>,
    /// Offsets in raw.log at which a string that did not end was given up.
    abandoned: Vec<u64>,
    times: Times,
    /// Something is missing before the front: it was not kept, or the process that writes the log was ended.
    cut: bool,
}

/// times.log, read as far as it is needed.
#[derive(Debug, Default)]
struct Times {
    /// Bytes read so far.
    read: u64,
    lines: TimeLines,
    /// Records that wait for their bytes.
    pending: VecDeque<Placed>,
    taps: u32,
    /// The time of the last record, and that of the one before the string that is open now.
    last_ms: u64,
    string_since: Option<u64>,
}

/// Text from some place on, collected from `from` on: what comes before is dropped as it is passed.
struct Window {
    from: u64,
    /// Where `text` begins.
    at: u64,
    text: String,
}

impl Output {
    /// Something of what was printed is missing in what has been read so far.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Reads on to the end of what is there.
    fn read_up(&mut self, files: &Files) -> Result<(), StoreError> {
        let mut window = Window {
            from: u64::MAX,
            at: self.front.text,
            text: String::new(),
        };
        while self.advance(files, &mut window)? {}
        Ok(())
    }

    /// What stands at `cursor`: at most CHARS characters or `lines` lines, to the last line break that fits. `ended`:
    /// nothing will be added to the logs.
    pub fn page(
        &mut self,
        files: &Files,
        cursor: u64,
        lines: usize,
        ended: bool,
    ) -> Result<Page, Error> {
        let mut window = Window {
            from: cursor,
            at: self.front.text,
            text: String::new(),
        };
        if cursor < self.front.text {
            let after = self.marks.partition_point(|mark| mark.text <= cursor);
            // The first mark stands at the beginning, before all text.
            let mark = self.marks[..after].last().cloned().unwrap_or_default();
            window.at = mark.text;
            self.again(files, mark, &mut window)?;
        }
        while !window.is_full() && self.advance(files, &mut window)? {}
        if !window.is_full() && ended {
            self.front.plain.end(&mut window.text);
        }
        let Some(text) = window.wanted() else {
            return Err(self.wrong_cursor(files, cursor, ended)?);
        };
        let cut = cut(text, lines);
        Ok(Page {
            text: text[..cut].to_string(),
            cursor: cursor + cut as u64,
            more: cut < text.len(),
        })
    }

    /// Reads on to the end, which the error tells.
    fn wrong_cursor(&mut self, files: &Files, cursor: u64, ended: bool) -> Result<Error, Error> {
        self.read_up(files)?;
        let mut rest = String::new();
        if ended {
            self.front.plain.end(&mut rest);
        }
        Ok(Error::Cursor {
            cursor,
            end: self.front.text + rest.len() as u64,
        })
    }

    /// Reads from `mark` on up to the front, or until the window is full.
    fn again(&self, files: &Files, mark: Mark, window: &mut Window) -> Result<(), Error> {
        let mut plain = mark.plain;
        let end = self.front.plain.offset();
        let mut buffer = [0; CHUNK as usize];
        while plain.offset() < end && !window.is_full() {
            let offset = plain.offset();
            if self.abandoned.binary_search(&offset).is_ok() {
                plain.abandon_string();
            }
            let later = self.abandoned.partition_point(|at| *at <= offset);
            let stop = self.abandoned.get(later).copied();
            let want = CHUNK.min(stop.unwrap_or(end).min(end) - plain.offset()) as usize;
            let count = files.raw(&mut buffer[..want], plain.offset())?;
            if count == 0 {
                // Cut short under our hands.
                break;
            }
            plain.feed(&buffer[..count], &mut window.text);
            window.pass();
        }
        Ok(())
    }

    /// Moves the front by at most a chunk. False at the end of what is there.
    fn advance(&mut self, files: &Files, window: &mut Window) -> Result<bool, StoreError> {
        let start = self.front.plain.offset();
        if start % STRIDE == 0
            && self
                .marks
                .last()
                .is_none_or(|mark| mark.plain.offset() < start)
        {
            self.marks.push(self.front.clone());
        }
        let mut buffer = [0; CHUNK as usize];
        let want = CHUNK.min(STRIDE - start % STRIDE) as usize;
        let count = files.raw(&mut buffer[..want], start)?;
        // After the bytes: a record is written before the bytes that follow it.
        self.times.read(files, start + count as u64)?;
        let before = window.text.len();
        let mut rest = &buffer[..count];
        self.pass_records();
        while !rest.is_empty() {
            let offset = self.front.plain.offset();
            let next = self
                .times
                .pending
                .front()
                .map_or(u64::MAX, |placed| placed.time.offset);
            let until = rest
                .len()
                .min(usize::try_from(next - offset).unwrap_or(usize::MAX));
            let (part, after) = rest.split_at(until);
            self.front.plain.feed(part, &mut window.text);
            rest = after;
            self.pass_records();
        }
        self.front.text += (window.text.len() - before) as u64;
        window.pass();
        Ok(count > 0)
    }

    /// Takes the records whose place has come. As a session's own lines are made, a string that has been open for too
    /// long is given up.
    fn pass_records(&mut self) {
        let offset = self.front.plain.offset();
        while let Some(time) = self.times.due(offset) {
            let times = &mut self.times;
            if self.front.plain.in_string() {
                let since = *times.string_since.get_or_insert(times.last_ms.min(time.ms));
                if time.ms.saturating_sub(since) >= STRING_MOST_MS {
                    times.string_since = None;
                    self.front.plain.abandon_string();
                    self.abandoned.push(offset);
                }
            } else {
                times.string_since = None;
            }
            times.last_ms = time.ms;
            match time.what {
                What::Stop(_) | What::Gap(..) => self.cut = true,
                What::Tap(_) => {
                    times.taps += 1;
                    // The one before was ended, and nobody can say what was printed before this one came.
                    self.cut |= times.taps > 1;
                }
                What::Output | What::Size(..) | What::End => {}
            }
        }
    }
}

impl Times {
    /// The next record, when its place is not beyond `offset`.
    fn due(&mut self, offset: u64) -> Option<Time> {
        if self.pending.front()?.time.offset > offset {
            return None;
        }
        self.pending.pop_front().map(|placed| placed.time)
    }

    /// Reads on until a record lies beyond `offset`: a log of many hours is not held in memory.
    fn read(&mut self, files: &Files, offset: u64) -> Result<(), StoreError> {
        let mut bytes = [0; 4096];
        while self
            .pending
            .back()
            .is_none_or(|placed| placed.time.offset <= offset)
        {
            let count = files.times(&mut bytes, self.read)?;
            if count == 0 {
                break;
            }
            self.read += count as u64;
            self.lines.push(&bytes[..count], &mut self.pending);
        }
        Ok(())
    }
}

impl Window {
    /// Drops what lies before `from`.
    fn pass(&mut self) {
        let end = self.at + self.text.len() as u64;
        if end <= self.from {
            self.at = end;
            self.text.clear();
        }
    }

    /// The text from `from` on. None when that is beyond the end or within a character.
    fn wanted(&self) -> Option<&str> {
        self.text
            .get(usize::try_from(self.from.checked_sub(self.at)?).ok()?..)
    }

    /// There is more than one page of it, or it begins within a character.
    fn is_full(&self) -> bool {
        // A character has at least one byte.
        self.text.len() > CHARS
            && self
                .wanted()
                .is_none_or(|text| text.chars().nth(CHARS).is_some())
    }
}

/// Where a page of `text` ends: after CHARS characters or `lines` lines, and then after a line break if there is one.
fn cut(text: &str, lines: usize) -> usize {
    let room = text.char_indices().nth(CHARS);
    let end = match room {
        None => text.len(),
        Some((end, _)) => text[..end].rfind('\n').map_or(end, |at| at + 1),
    };
    let breaks = text[..end].match_indices('\n');
    breaks.map(|(at, _)| at + 1).nth(lines - 1).unwrap_or(end)
}

#[cfg(test)]
mod tests;
