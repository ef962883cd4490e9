//! A session's checkpoint: the state that its logs make up to some offset, so that the next server reads only what
//! came after. A cache: raw.log, times.log and regions.jsonl are the truth, and a checkpoint that does not fit them,
//! or was made by other rules, is passed over for a replay of the whole log.
//!
//! What can go wrong, and what tells it: a torn file, its checksum; logs that were cut off or replaced, and a
//! session.txt that was touched, their lengths and what stands before the offsets; a program or a tmux of other
//! rules, the first line; a power cut, after which files may hold less than was written to them, the boot's id.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::Meta;
use super::create;
use super::line::PromptLine;
use super::log::Log;
use super::regions::{Regions, Typed};
use super::state::State;
use crate::store::atomic;
use crate::store::layout::SessionDir;
use crate::store::text::TextLog;
use crate::sys::boot;
use crate::term::Terminal;
use crate::term::codec::{Stored, checksum, load_bytes, save_bytes, stored};

/// A checkpoint is written after so much log: reading that again takes some 20 ms.
const EVERY: u64 = 4 << 20;

/// And after so many times its own size, so that a session of many regions or a huge screen does not spend its time
/// on them.
const SPARSE: u64 = 8;

/// At a session's or the server's end less log than this is left to be read again: it takes less than a millisecond.
const WORTH: u64 = 64 << 10;

/// So much of a file before an offset is compared to tell whether it is still the same file.
const COMPARED: u64 = 4096;

/// What the checkpoint on disk stands for, and where it is.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    /// Under which rules it was made: a line of text.
    rules: String,
    /// Bytes of raw.log that it stands for; 0 without one.
    offset: u64,
    /// Bytes of regions.jsonl that it stands for.
    pub(super) recorded: u64,
    /// Its own length in bytes.
    size: u64,
}

impl Checkpoint {
    pub(super) fn none(meta: &Meta, dir: &SessionDir) -> Checkpoint {
        Checkpoint {
            path: dir.checkpoint(),
            rules: format!(
                "paneglass session 1, version {}, tmux {}, boot {}\n",
                env!("CARGO_PKG_VERSION"),
                meta.tmux_version,
                boot::id()
            ),
            offset: 0,
            recorded: 0,
            size: 0,
        }
    }

    /// True when so much log has come that another is worth writing.
    pub(super) fn due(&self, offset: u64) -> bool {
        offset.saturating_sub(self.offset) >= EVERY.max(SPARSE * self.size)
    }

    /// The same where a server or a session ends.
    pub(super) fn due_at_end(&self, offset: u64) -> bool {
        offset.saturating_sub(self.offset) >= WORTH
    }
}

/// A place in a file, told again by what stands before it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    offset: u64,
    sum: u64,
}

stored!(Place { offset, sum });
stored!(PromptLine {
    prompt,
    before,
    typed
});
stored!(Typed { typed, who, at });

impl Place {
    fn at(path: &Path, offset: u64) -> io::Result<Place> {
        let compared = offset.min(COMPARED);
        let mut bytes = vec![0; compared as usize];
        if compared > 0 {
            File::open(path)?.read_exact_at(&mut bytes, offset - compared)?;
        }
        let sum = checksum(&bytes);
        Ok(Place { offset, sum })
    }

    fn fits(self, path: &Path) -> bool {
        Place::at(path, self.offset).is_ok_and(|now| now == self)
    }
}

impl State {
    /// Writes a checkpoint, unless a line was given at this very place: it may yet be taken back, and the next
    /// checkpoint is as good.
    pub(super) fn write_checkpoint(&mut self) {
        let given = self.regions.open_input();
        let just_given = given.is_some_and(|region| region.start_offset == self.offset());
        if self.broken.is_some() || just_given {
            return;
        }
        let Ok(bytes) = self.checkpoint_bytes() else {
            return;
        };
        // One that could not be written is tried again after as much log: the log is the truth.
        self.checkpoint.offset = self.offset();
        if atomic::replace_unsynced(&self.checkpoint.path, &bytes).is_ok() {
            self.checkpoint.size = bytes.len() as u64;
            self.checkpoint.recorded = self.recorded();
        }
    }

    /// Bytes of regions.jsonl that the state stands for.
    fn recorded(&self) -> u64 {
        self.records.as_ref().map_or(0, |records| records.length())
    }

    pub(super) fn checkpoint_bytes(&self) -> io::Result<Vec<u8>> {
        let dir = self.log.dir();
        let text = self.text.view();
        let mut to = self.checkpoint.rules.clone().into_bytes();
        for (path, offset) in [
            (dir.raw(), self.offset()),
            (dir.times(), self.log.dated),
            (dir.regions(), self.recorded()),
            (dir.text(), text.length()),
        ] {
            Place::at(&path, offset)?.save(&mut to);
        }
        text.lines().save(&mut to);
        save_bytes(&self.term.checkpoint(), &mut to);
        self.regions.save(&mut to);
        (self.tap, self.complete).save(&mut to);
        self.stopped.save(&mut to);
        (self.string_since, self.recorded_ms).save(&mut to);
        self.typed_last.save(&mut to);
        self.line.save(&mut to);
        let sum = checksum(&to);
        to.extend_from_slice(&sum.to_le_bytes());
        Ok(to)
    }

    /// The state that a checkpoint holds; `None` when there is none that fits, which is then deleted.
    pub(super) fn from_checkpoint(meta: &Meta, dir: &SessionDir) -> Option<State> {
        if boot::id().is_empty() {
            // Nobody can tell whether the machine has lost what was not synced.
            return None;
        }
        let mut checkpoint = Checkpoint::none(meta, dir);
        let bytes = std::fs::read(&checkpoint.path).ok()?;
        checkpoint.size = bytes.len() as u64;
        let state = load(&bytes, checkpoint, meta, dir);
        if state.is_none() {
            // It must not seem to fit once the files have changed again.
            let _ = std::fs::remove_file(dir.checkpoint());
        }
        state
    }
}

fn load(bytes: &[u8], mut checkpoint: Checkpoint, meta: &Meta, dir: &SessionDir) -> Option<State> {
    let (bytes, sum) = bytes.split_last_chunk::<8>()?;
    (checksum(bytes) == u64::from_le_bytes(*sum)).then_some(())?;
    let from = &mut bytes.strip_prefix(checkpoint.rules.as_bytes())?;
    let places = [dir.raw(), dir.times(), dir.regions(), dir.text()].map(|path| {
        let place = Place::load(from)?;
        place.fits(&path).then_some(place.offset)
    });
    let [Some(raw), Some(dated), Some(recorded), Some(length)] = places else {
        return None;
    };
    let lines = u64::load(from)?;
    let mut term = Terminal::restore(load_bytes(from)?, create::options(meta))?;
    let regions = Regions::load(from)?;
    // Whoever held other marks is gone.
    term.keep_only(&regions.marks());
    (term.offset() == raw && term.final_lines() == lines).then_some(())?;
    (checkpoint.offset, checkpoint.recorded) = (raw, recorded);
    let text = TextLog::open(dir, lines, length)?;
    let log = Log::at(dir, raw, dated);
    let mut state = State::new(term, text, log, create::prompts(meta).ok()?, checkpoint);
    state.regions = regions;
    (state.tap, state.complete) = Stored::load(from)?;
    state.stopped = Stored::load(from)?;
    (state.string_since, state.recorded_ms) = Stored::load(from)?;
    if state.recorded_ms > 0 {
        state.last_output_ms = state.recorded_ms;
    }
    state.typed_last = Stored::load(from)?;
    state.line = Stored::load(from)?;
    from.is_empty().then_some(state)
}

#[cfg(test)]
mod tests;
