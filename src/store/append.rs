//! Appending a pane's output to raw.log, dated in times.log. It never blocks the pane and never gives up: what
//! cannot be written is counted and told when writing works again.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::Error;
use super::times::{Time, What};

/// Two bytes of output are dated apart when so many milliseconds lie between them.
const DATED_EVERY_MS: u64 = 100;

pub struct Appender {
    raw: File,
    times: File,
    /// Bytes of raw.log: every one of them whole.
    offset: u64,
    /// raw.log grows no further than this many bytes.
    limit: u64,
    dated: Option<u64>,
    size: Option<(u16, u16)>,
    /// Bytes that could not be kept since `offset`, and why.
    lost: u64,
    reason: String,
    /// Records that times.log could not take yet, oldest first.
    unwritten: Vec<Time>,
}

/// Records held back while times.log cannot be written: sizes and gaps only, so this is far more than a full disk
/// lasts.
const UNWRITTEN: usize = 1024;

impl Appender {
    pub fn open(raw: &Path, times: &Path, limit: u64) -> Result<Appender, Error> {
        let open = |path: &Path| {
            OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(path)
                .map_err(Error::at("open", path))
        };
        let file = open(raw)?;
        let offset = file.metadata().map_err(Error::at("read", raw))?.len();
        Ok(Appender {
            raw: file,
            times: open(times)?,
            offset,
            limit,
            dated: None,
            size: None,
            lost: 0,
            reason: String::new(),
            unwritten: Vec::new(),
        })
    }

    /// True when output at `now_ms` should be dated, and the pane's size asked for first.
    pub fn due(&self, now_ms: u64) -> bool {
        // A clock that jumped back dates anew as well.
        self.dated
            .is_none_or(|dated| now_ms.abs_diff(dated) >= DATED_EVERY_MS)
    }

    /// Records the start of a tap.
    pub fn begin(&mut self, now_ms: u64, pid: u32) {
        self.record(Time {
            ms: now_ms,
            offset: self.offset,
            what: What::Tap(pid),
        });
    }

    /// Dates what follows, with the pane's size when it changed.
    pub fn date(&mut self, now_ms: u64, size: Option<(u16, u16)>) {
        self.dated = Some(now_ms);
        if size.is_some() && size != self.size {
            self.size = size;
            if let Some((cols, rows)) = size {
                self.record(Time {
                    ms: now_ms,
                    offset: self.offset,
                    what: What::Size(cols, rows),
                });
            }
        }
        self.record(Time {
            ms: now_ms,
            offset: self.offset,
            what: What::Output,
        });
    }

    /// Appends all of `bytes`, or as much as the limit and the disk take.
    pub fn append(&mut self, now_ms: u64, bytes: &[u8]) {
        let room = usize::try_from(self.limit.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let mut rest = &bytes[..bytes.len().min(room)];
        if self.lost > 0 && !rest.is_empty() {
            // The gap must be told before the bytes that follow it. When times.log cannot take it, neither may
            // raw.log grow.
            let gap = Time {
                ms: now_ms,
                offset: self.offset,
                what: What::Gap(self.lost, self.reason.clone()),
            };
            if self.write_records(&[gap]).is_ok() {
                self.lost = 0;
            } else {
                rest = &[];
            }
        }
        let mut kept = 0;
        while kept < rest.len() {
            match self.raw.write(&rest[kept..]) {
                Ok(0) => break,
                Ok(count) => kept += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.reason = reason(&error);
                    break;
                }
            }
        }
        self.offset += kept as u64;
        if kept < bytes.len() {
            if kept == room {
                self.reason = "limit".into();
            }
            let first = self.lost == 0;
            self.lost += (bytes.len() - kept) as u64;
            if first {
                let what = What::Stop(self.reason.clone());
                self.record(Time {
                    ms: now_ms,
                    offset: self.offset,
                    what,
                });
            }
        }
    }

    /// The pane's output has ended: everything that will ever be in the log is there.
    pub fn end(&mut self, now_ms: u64) {
        if self.lost > 0 {
            let what = What::Gap(self.lost, self.reason.clone());
            self.record(Time {
                ms: now_ms,
                offset: self.offset,
                what,
            });
        }
        self.record(Time {
            ms: now_ms,
            offset: self.offset,
            what: What::End,
        });
    }

    fn record(&mut self, time: Time) {
        if self.write_records(std::slice::from_ref(&time)).is_err()
            && self.unwritten.len() < UNWRITTEN
        {
            // A bare date is not worth keeping for later: the next one says as much.
            if time.what != What::Output {
                self.unwritten.push(time);
            }
        }
    }

    fn write_records(&mut self, records: &[Time]) -> io::Result<()> {
        let text: String = self
            .unwritten
            .iter()
            .chain(records)
            .map(|time| format!("{time}\n"))
            .collect();
        self.times.write_all(text.as_bytes())?;
        self.unwritten.clear();
        Ok(())
    }
}

/// The reason in one word: records are separated by blanks.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull => "disk-full".into(),
        io::ErrorKind::QuotaExceeded => "quota".into(),
        kind => format!("{kind:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::Scratch;
    use crate::store::times::TimeLines;

    #[test]
    fn the_limit_leaves_a_gap_that_is_told() {
        let scratch = Scratch::new();
        let (raw, times) = (scratch.path().join("raw"), scratch.path().join("times"));
        let mut log = Appender::open(&raw, &times, 10).unwrap();
        log.begin(1, 99);
        assert!(log.due(1));
        log.date(1, Some((80, 24)));
        assert!(!log.due(50) && log.due(101));
        log.append(1, b"12345678");
        log.append(2, b"abcdef");
        log.append(3, b"xyz");
        log.end(4);
        assert_eq!(std::fs::read(&raw).unwrap(), b"12345678ab");
        let mut read = Vec::new();
        TimeLines::default().push(&std::fs::read(&times).unwrap(), &mut read);
        let whats: Vec<(u64, What)> = read
            .into_iter()
            .map(|placed| (placed.time.offset, placed.time.what))
            .collect();
        let gap = What::Gap(7, "limit".into());
        assert_eq!(
            whats,
            [
                (0, What::Tap(99)),
                (0, What::Size(80, 24)),
                (0, What::Output),
                (10, What::Stop("limit".into())),
                (10, gap),
                (10, What::End)
            ]
        );
    }

    #[test]
    fn a_full_disk_is_survived() {
        // Every write to /dev/full fails with ENOSPC.
        let scratch = Scratch::new();
        let times = scratch.path().join("times");
        let mut log = Appender::open(Path::new("/dev/full"), &times, 1000).unwrap();
        log.append(1, b"lost");
        log.append(2, b"too");
        log.end(3);
        assert_eq!(
            std::fs::read_to_string(&times).unwrap(),
            "1 0 stop disk-full\n2 0 gap 4 disk-full\n2 0 stop disk-full\n3 0 gap 3 disk-full\n3 0 end\n"
        );
        let mut log =
            Appender::open(&scratch.path().join("raw"), Path::new("/dev/full"), 1000).unwrap();
        log.begin(1, 9);
        log.append(2, b"kept");
        log.end(3);
        assert_eq!(log.unwritten.len(), 2);
        assert_eq!(std::fs::read(scratch.path().join("raw")).unwrap(), b"kept");
    }
}
