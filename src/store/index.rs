//! lines.idx: where every STRIDE-th line of session.txt begins, so that any line is found without reading those
//! before it. It stays on disk: a log of any length costs no memory.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// One entry per this many lines: three million lines cost 94 KB on disk, and finding a line reads at most this many.
pub const STRIDE: u64 = 256;

/// What the file begins with; the number changes with STRIDE.
const HEADER: &[u8; 16] = b"paneglass idx 1\n";

/// Bytes of an entry: an offset, little-endian. Entry k is line (k + 1) * STRIDE, since line 0 begins at 0.
const ENTRY: u64 = 8;

/// So many entries, evenly spread, are checked against session.txt when an old file is opened.
const SAMPLES: usize = 64;

/// The open file. Entries are only ever appended, so a copy stays true while it grows.
#[derive(Clone, Debug)]
pub struct Index {
    file: Arc<File>,
    /// Entries in the file that count.
    entries: u64,
}

fn place(entry: u64) -> u64 {
    HEADER.len() as u64 + entry * ENTRY
}

impl Index {
    /// An empty one; what stood there goes.
    pub fn create(path: &Path) -> io::Result<Index> {
        let file = open(path, true)?;
        file.write_all_at(HEADER, 0)?;
        Ok(Index {
            file: Arc::new(file),
            entries: 0,
        })
    }

    /// The file of an earlier process that must describe the first `lines` lines of `text`, which are `length`
    /// bytes. `None`: it is missing, short or wrong.
    pub fn open(path: &Path, text: &File, lines: u64, length: u64) -> Option<Index> {
        let file = open(path, false).ok()?;
        let entries = lines / STRIDE;
        let mut bytes = vec![0; usize::try_from(place(entries)).ok()?];
        file.read_exact_at(&mut bytes, 0).ok()?;
        let offsets: Vec<u64> = bytes
            .strip_prefix(HEADER)?
            .chunks_exact(ENTRY as usize)
            .map(number)
            .collect();
        // A line has its newline at least.
        let apart = |pair: &[u64]| {
            pair[1]
                .checked_sub(pair[0])
                .is_some_and(|gap| gap >= STRIDE)
        };
        let bounded = offsets.first().is_none_or(|&first| first >= STRIDE)
            && offsets.last().is_none_or(|&last| last <= length);
        let sampled = offsets.iter().step_by(1 + offsets.len() / SAMPLES);
        let sound = bounded
            && offsets.windows(2).all(apart)
            && sampled
                .chain(offsets.last())
                .all(|&at| begins_line(text, at));
        sound.then(|| Index {
            file: Arc::new(file),
            entries,
        })
    }

    /// Where line `entry * STRIDE` begins; `None` when the file has lost it.
    pub fn line(&self, entry: u64, text: &File) -> Option<u64> {
        let Some(entry) = entry.checked_sub(1) else {
            return Some(0);
        };
        let mut bytes = [0; ENTRY as usize];
        self.file.read_exact_at(&mut bytes, place(entry)).ok()?;
        let offset = number(&bytes);
        begins_line(text, offset).then_some(offset)
    }

    /// Appends where further entries' lines begin, all or none.
    pub fn append(&mut self, offsets: &[u64]) -> io::Result<()> {
        if offsets.is_empty() {
            return Ok(());
        }
        let bytes: Vec<u8> = offsets
            .iter()
            .flat_map(|offset| offset.to_le_bytes())
            .collect();
        self.file.write_all_at(&bytes, place(self.entries))?;
        self.entries += offsets.len() as u64;
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

fn number(bytes: &[u8]) -> u64 {
    let mut number = [0; ENTRY as usize];
    number.copy_from_slice(bytes);
    u64::from_le_bytes(number)
}

fn begins_line(text: &File, offset: u64) -> bool {
    let mut before = [0];
    offset
        .checked_sub(1)
        .is_some_and(|at| text.read_exact_at(&mut before, at).is_ok() && before == *b"\n")
}
