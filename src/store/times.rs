//! times.log: when what stood in raw.log was printed, how large the pane was, and what is missing.
//!
//! One line per record: milliseconds since the epoch, an offset in raw.log, and what happened there. A bare pair
//! dates the bytes from that offset on. Written by the tap before the bytes that follow it, so a reader that has
//! the bytes finds their records.

use std::fmt;

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Time {
    /// Milliseconds since the epoch, by the wall clock: it may jump.
    pub ms: u64,
    /// Bytes in raw.log before this moment.
    pub offset: u64,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The bytes from here on were printed at this time or later.
    Output,
    /// A tap began: its process id.
    Tap(u32),
    /// The pane's size from here on, columns and rows.
    Size(u16, u16),
    /// What is printed from here on is not kept, and why. A gap with its size follows when something is kept again.
    Stop(String),
    /// So many bytes were printed here and not kept, and why: "limit" or the system's error in one word.
    Gap(u64, String),
    /// The pane's output ended here: the pane closed, or its tap was replaced.
    End,
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ms, self.offset)?;
        match &self.what {
            What::Output => Ok(()),
            What::Tap(pid) => write!(f, " tap {pid}"),
            What::Size(cols, rows) => write!(f, " size {cols}x{rows}"),
            What::Stop(reason) => write!(f, " stop {reason}"),
            What::Gap(bytes, reason) => write!(f, " gap {bytes} {reason}"),
            What::End => write!(f, " end"),
        }
    }
}

impl Time {
    /// Reads one line without its newline. `None`: torn, or of a newer kind that says nothing to us.
    pub fn parse(line: &str) -> Option<Time> {
        let mut words = line.split(' ');
        let ms = words.next()?.parse().ok()?;
        let offset = words.next()?.parse().ok()?;
        let what = match words.next() {
            None => What::Output,
            Some("tap") => What::Tap(words.next()?.parse().ok()?),
            Some("size") => {
                let (cols, rows) = words.next()?.split_once('x')?;
                What::Size(cols.parse().ok()?, rows.parse().ok()?)
            }
            Some("gap") => What::Gap(
                words.next()?.parse().ok()?,
                words.next().unwrap_or("unknown").to_string(),
            ),
            Some("stop") => What::Stop(words.next().unwrap_or("unknown").to_string()),
            Some("end") => What::End,
            Some(_) => return None,
        };
        Some(Time { ms, offset, what })
    }
}

/// A record, and the offset in times.log just after its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub time: Time,
    pub end: u64,
}

/// Splits a growing file's bytes into whole records; what follows the last newline stays for the next call.
#[derive(Debug, Default)]
pub struct TimeLines {
    /// The offset in the file of `rest`.
    offset: u64,
    rest: Vec<u8>,
}

impl TimeLines {
    /// For a reader that begins at `offset`, the start of a line.
    pub fn at(offset: u64) -> TimeLines {
        TimeLines {
            offset,
            rest: Vec::new(),
        }
    }

    /// Bytes of the file taken so far.
    pub fn read(&self) -> u64 {
        self.offset + self.rest.len() as u64
    }

    pub fn push(&mut self, bytes: &[u8], into: &mut impl Extend<Placed>) {
        self.rest.extend_from_slice(bytes);
        let Some(last) = self.rest.iter().rposition(|&byte| byte == b'\n') else {
            return;
        };
        let mut end = self.offset;
        let lines = self.rest[..=last].split_inclusive(|&byte| byte == b'\n');
        into.extend(lines.filter_map(|line| {
            end += line.len() as u64;
            let text = std::str::from_utf8(&line[..line.len() - 1]).ok()?;
            let time = Time::parse(text)?;
            Some(Placed { time, end })
        }));
        self.offset += last as u64 + 1;
        self.rest.drain(..=last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_read_back() {
        let whats = [
            What::Output,
            What::Tap(7),
            What::Size(120, 40),
            What::Stop("limit".into()),
            What::Gap(9, "limit".into()),
            What::End,
        ];
        let times: Vec<Time> = whats
            .into_iter()
            .map(|what| Time {
                ms: 1_800_000_000_123,
                offset: 42,
                what,
            })
            .collect();
        let text: String = times.iter().map(|time| format!("{time}\n")).collect();
        for split in 0..text.len() {
            let (mut lines, mut read) = (TimeLines::default(), Vec::new());
            lines.push(&text.as_bytes()[..split], &mut read);
            lines.push(&text.as_bytes()[split..], &mut read);
            let mut end = 0;
            for (placed, time) in read.iter().zip(&times) {
                end += format!("{time}\n").len() as u64;
                assert_eq!((&placed.time, placed.end), (time, end));
            }
            assert_eq!(read.len(), times.len());
        }
        let (mut lines, mut read) = (TimeLines::default(), Vec::new());
        lines.push(
            b"junk\n1\n1 2 size 3\n1 2 future x\n\xff\n1 2\n1 ",
            &mut read,
        );
        let time = Time {
            ms: 1,
            offset: 2,
            what: What::Output,
        };
        assert_eq!(read, [Placed { time, end: 37 }]);
    }
}
