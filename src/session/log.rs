//! Reading raw.log and times.log as they grow.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::Session;
use crate::store::layout::SessionDir;
use crate::store::times::{Placed, Time, TimeLines};
use crate::store::{Error, present};

/// The most that is read, and fed to the terminal under one lock, at a time: 256 KiB are parsed in about a
/// millisecond.
const CHUNK: usize = 256 * 1024;

/// How much is tried at first. Most reads bring a line or two, and the buffer is made blank for each.
const FIRST: usize = 4 * 1024;

/// Both logs, read from where the last read ended. The tap may not have made them yet.
#[derive(Debug)]
pub struct Log {
    dir: SessionDir,
    raw: Option<File>,
    times: Option<File>,
    lines: TimeLines,
    buffer: Vec<u8>,
    /// How much the next read asks for: more while there is more.
    most: usize,
    /// Records that wait for their bytes, oldest first.
    pending: VecDeque<Placed>,
    /// Bytes of raw.log read so far.
    pub offset: u64,
    /// Bytes of times.log whose records have been taken.
    pub dated: u64,
}

impl Log {
    pub fn new(dir: &SessionDir) -> Log {
        Log::at(dir, 0, 0)
    }

    /// From offset `offset` of raw.log and `dated` of times.log on.
    pub fn at(dir: &SessionDir, offset: u64, dated: u64) -> Log {
        Log {
            dir: dir.clone(),
            raw: None,
            times: None,
            lines: TimeLines::at(dated),
            buffer: Vec::new(),
            most: FIRST,
            pending: VecDeque::new(),
            offset,
            dated,
        }
    }

    /// The files' folder.
    pub fn dir(&self) -> &SessionDir {
        &self.dir
    }

    /// The next bytes, at most a chunk, and the records up to their end. Empty: nothing more now.
    pub fn read(&mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = std::mem::take(&mut self.buffer);
        bytes.resize(self.most, 0);
        let count = read(&mut self.raw, &self.dir.raw(), self.offset, &mut bytes)?;
        self.most = if count == self.most { CHUNK } else { FIRST };
        bytes.truncate(count);
        self.offset += count as u64;
        // After the bytes: a record is written before the bytes that follow it. Those of later bytes can wait, so
        // that a log of many days is not held in memory.
        let mut dates = [0; 4096];
        let ahead = |pending: &VecDeque<Placed>, offset| {
            pending
                .back()
                .is_some_and(|placed| placed.time.offset > offset)
        };
        while !ahead(&self.pending, self.offset) {
            let from = self.lines.read();
            let count = read(&mut self.times, &self.dir.times(), from, &mut dates)?;
            if count == 0 {
                break;
            }
            self.lines.push(&dates[..count], &mut self.pending);
        }
        Ok(bytes)
    }

    /// The place of the next record that waits.
    pub fn next(&self) -> Option<u64> {
        self.pending.front().map(|placed| placed.time.offset)
    }

    /// Takes the next record, when its place is not beyond `offset`.
    pub fn due(&mut self, offset: u64) -> Option<Time> {
        if self.next()? > offset {
            return None;
        }
        let placed = self.pending.pop_front()?;
        self.dated = placed.end;
        Some(placed.time)
    }

    /// Gives a read's buffer back for the next.
    pub fn reuse(&mut self, bytes: Vec<u8>) {
        self.buffer = bytes;
    }
}

/// A stretch of raw.log.
#[derive(Debug)]
pub struct RawBytes {
    pub bytes: Vec<u8>,
    /// The offset of the first.
    pub start: u64,
    /// Bytes in the log.
    pub length: u64,
}

impl Session {
    /// At most `most` bytes from offset `start` on; without it the last ones. None when `start` lies beyond the
    /// end.
    pub fn raw_bytes(&self, start: Option<u64>, most: usize) -> Result<RawBytes, Error> {
        let path = self.dir.raw();
        let fail = |error| Error {
            verb: "read",
            path: path.clone(),
            error,
        };
        let file = File::open(&path).map_err(fail)?;
        let length = file.metadata().map_err(fail)?.len();
        let start = start.unwrap_or_else(|| length.saturating_sub(most as u64));
        let mut bytes = vec![0; length.saturating_sub(start).min(most as u64) as usize];
        file.read_exact_at(&mut bytes, start).map_err(fail)?;
        Ok(RawBytes {
            bytes,
            start,
            length,
        })
    }
}

/// The next bytes of a file that may not be there yet; `from` is where they are, should it be opened now.
fn read(
    file: &mut Option<File>,
    path: &Path,
    from: u64,
    buffer: &mut [u8],
) -> Result<usize, Error> {
    if file.is_none() {
        *file = present(File::open(path)).map_err(Error::at("read", path))?;
        if let Some(file) = file {
            let moved = file.seek(SeekFrom::Start(from));
            moved.map_err(Error::at("read", path))?;
        }
    }
    match file {
        Some(file) => file.read(buffer).map_err(Error::at("read", path)),
        None => Ok(0),
    }
}
