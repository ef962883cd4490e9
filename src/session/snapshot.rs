//! A session's lines as they were at one moment, to be read without holding the session up.

use super::Error;
use super::regions::Region;
use super::state::State;
pub use crate::store::text::Line;
use crate::store::text::TextView;
use crate::term::Position;
use crate::term::codec::checksum;

/// Lines are numbered from 0 here; replies number them from 1.
#[derive(Clone, Debug)]
pub struct Snapshot {
    file: TextView,
    /// Lines that may still change, from number `file.lines()` on.
    live: Vec<Line>,
    /// Bytes of the first of them that were kept of what the file has of it.
    begun: usize,
}

/// A stretch of the log: a region's output. The first line counts from `skip` bytes on, the last one up to `cut`
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub first: u64,
    /// One past the last line.
    pub after: u64,
    skip: usize,
    cut: Option<usize>,
}

impl Span {
    pub fn lines(&self) -> u64 {
        self.after - self.first
    }

    /// The part from line `first` on, which must not lie before this one's first.
    pub fn from(&self, first: u64) -> Span {
        let skip = if first > self.first { 0 } else { self.skip };
        Span {
            first: first.clamp(self.first, self.after),
            skip,
            ..*self
        }
    }
}

impl State {
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        let file = self.text.view();
        let live_text = self.term.live_text();
        let live_text = live_text.strip_suffix('\n').unwrap_or(&live_text);
        let mut live: Vec<Line> = Vec::new();
        // The first live line may go on from rows that are in the file already.
        let mut begun = file.unfinished()?;
        let kept = begun.as_ref().map_or(0, |head| head.bytes.len());
        let empty =
            live_text.is_empty() && begun.is_none() && !self.term.live_text().ends_with('\n');
        if !empty {
            for text in live_text.split('\n') {
                let mut line = Line::whole(text.as_bytes().to_vec());
                if let Some(head) = begun.take() {
                    line.omitted += head.omitted;
                    line.bytes = [head.bytes, line.bytes].concat();
                }
                live.push(line);
            }
        }
        Ok(Snapshot {
            file,
            live,
            begun: kept,
        })
    }

    /// Where a region's output lies.
    pub fn span(&self, region: &Region, lines: u64) -> Span {
        let (start, end) = self.regions.bounds(&self.term, region);
        span(start, end, lines)
    }
}

/// From a start and an end (`None`: where the log ends) to lines.
pub fn span(start: Position, end: Option<Position>, lines: u64) -> Span {
    // Nothing was printed, in the middle of a line.
    let end = end.map(|end| {
        if end <= start {
            Position {
                line: start.line,
                byte: 0,
            }
        } else {
            end
        }
    });
    let start = if end.is_some_and(|end| end.byte == 0 && end.line == start.line) {
        Position { byte: 0, ..start }
    } else {
        start
    };
    let (after, cut) = match end {
        // An end at the start of a line: the line before is the last.
        Some(end) if end.byte == 0 || end.line >= lines => (end.line, None),
        Some(end) => (end.line + 1, Some(end.byte)),
        None => (lines, None),
    };
    let after = after.min(lines).max(start.line.min(lines));
    let first = start.line.min(after);
    Span {
        first,
        after,
        skip: start.byte,
        cut,
    }
}

impl Snapshot {
    /// All lines, the unfinished one included.
    pub fn lines(&self) -> u64 {
        self.file.lines() + self.live.len() as u64
    }

    /// The part of session.txt in blocks of whole lines from line `first` on, each with the number of its first
    /// line.
    pub fn each_block(
        &self,
        first: u64,
        each: impl FnMut(u64, &[u8]) -> bool,
    ) -> Result<(), Error> {
        Ok(self.file.each_block(first, each)?)
    }

    /// Lines that may still change, with the number of the first.
    pub fn live(&self) -> (u64, &[Line]) {
        (self.file.lines(), &self.live)
    }

    /// Calls `each` with the number of every line of `span`, until it says false.
    pub fn each(&self, span: Span, mut each: impl FnMut(u64, Line) -> bool) -> Result<(), Error> {
        let mut on = true;
        let mut pass = |number: u64, line: Line| {
            on = number < span.after && each(number, trim(line, number, &span));
            on
        };
        let complete = self.file.lines();
        if span.first < complete.min(span.after) {
            // The unfinished line at the file's end is a live one here.
            self.file.each_line(span.first, |number, line| {
                number < complete && pass(number, line)
            })?;
        }
        for (at, line) in self.live.iter().enumerate() {
            let number = complete + at as u64;
            if on && number >= span.first && number < span.after {
                on = number < span.after && each(number, trim(line.clone(), number, &span));
            }
        }
        Ok(())
    }

    /// A line that `each` passed for `span`, with what was left out of the midst of it.
    pub fn whole(&self, number: u64, line: Line, span: Span) -> Result<Line, Error> {
        if line.omitted == 0 {
            return Ok(line);
        }
        let mut bytes = self.file.whole(number)?;
        if number == self.file.lines() {
            // It goes on in rows that may still change.
            let live = self.live.first().map_or(&[][..], |line| &line.bytes);
            bytes.extend_from_slice(live.get(self.begun..).unwrap_or_default());
        }
        let whole = Line { bytes, omitted: 0 };
        Ok(trim(whole, number, &span))
    }

    /// Every line of the log.
    pub fn all(&self) -> Span {
        Span {
            first: 0,
            after: self.lines(),
            skip: 0,
            cut: None,
        }
    }

    /// Tells whether the last line of `span` changes. None: it has no line.
    pub fn last_of(&self, span: Span) -> Result<Option<u64>, Error> {
        self.likeness(span, span.after)
    }

    /// From which line on `span` is new to one who has been shown those up to `shown` (exclusive), of which the last
    /// was like `last`. A line that has gone on is new as a whole: its dots, its "done".
    pub fn new_from(&self, span: Span, shown: u64, last: Option<u64>) -> Result<u64, Error> {
        let shown = shown.max(span.first);
        let changed = last.is_some() && self.likeness(span, shown)? != last;
        Ok(shown - u64::from(changed && shown > span.first))
    }

    /// A sum of the line before line `after`.
    fn likeness(&self, span: Span, after: u64) -> Result<Option<u64>, Error> {
        if after <= span.first {
            return Ok(None);
        }
        let line = self.take(span, after - 1, 1)?.pop();
        Ok(line.map(|(_, line)| checksum(&line.bytes) ^ line.omitted))
    }

    /// At most `most` lines of `span` from `first` on.
    pub fn take(&self, span: Span, first: u64, most: usize) -> Result<Vec<(u64, Line)>, Error> {
        let mut lines = Vec::new();
        if most > 0 {
            self.each(span.from(first), |number, line| {
                lines.push((number, line));
                lines.len() < most
            })?;
        }
        Ok(lines)
    }
}

fn trim(mut line: Line, number: u64, span: &Span) -> Line {
    if number + 1 == span.after {
        if let Some(cut) = span
            .cut
            .filter(|&cut| line.omitted == 0 && cut < line.bytes.len())
        {
            line.bytes.truncate(cut);
        }
    }
    if number == span.first && span.skip > 0 && line.omitted == 0 {
        line.bytes.drain(..span.skip.min(line.bytes.len()));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        let at = |line, byte| Position { line, byte };
        let check = |start, end, lines, want: (u64, u64, Option<usize>)| {
            let span = span(start, end, lines);
            assert_eq!((span.first, span.after, span.cut), want);
        };
        check(at(3, 0), Some(at(5, 0)), 9, (3, 5, None));
        check(at(3, 0), Some(at(5, 2)), 9, (3, 6, Some(2)));
        check(at(3, 0), Some(at(3, 0)), 9, (3, 3, None));
        check(at(3, 7), Some(at(3, 7)), 9, (3, 3, None));
        check(at(3, 7), Some(at(3, 9)), 9, (3, 4, Some(9)));
        check(at(3, 0), None, 9, (3, 9, None));
        // A start beyond the log: nothing has been printed yet.
        check(at(9, 0), None, 9, (9, 9, None));
        check(at(12, 0), Some(at(12, 0)), 9, (9, 9, None));
    }
}
