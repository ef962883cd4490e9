//! Taking bytes no further than the next marker, so that the caller can read the grid around it.

use super::marks::MarkId;
use super::row::Note;
use super::screen::Screen;
use super::terminal::{Output, Terminal};

/// What stands in every marker, right after the ESC that begins it.
const MARKER: &[u8] = b"]133;";

impl Terminal {
    /// Like [`Terminal::feed`], but stops where a marker may have ended. Returns how many bytes were taken: at
    /// least one, unless there were none.
    pub fn step(&mut self, bytes: &[u8], out: &mut Output) -> usize {
        if self.ends_string() {
            let end = bytes.len().min(1);
            self.feed(&bytes[..end], out);
            return end;
        }
        // Inside a string the marker's head may have been taken already.
        let from = if self.in_string() {
            Some(0)
        } else {
            find(bytes, MARKER).map(|at| at + MARKER.len())
        };
        let end = match from {
            None => bytes.len(),
            // BEL ends an OSC, and so does any ESC, CAN or SUB.
            Some(from) => bytes[from..]
                .iter()
                .position(|byte| matches!(byte, 0x07 | 0x1b | 0x18 | 0x1a))
                .map_or(bytes.len(), |at| from + at + 1),
        };
        self.feed(&bytes[..end], out);
        end
    }
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|&byte| byte == needle[0]) {
        if bytes[from + at..].starts_with(needle) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

impl Screen {
    /// Puts a line into the log above the line that the cursor is on. Nothing of the screen changes.
    pub fn note(&mut self, line: String) {
        let note = Note {
            said: Some(line),
            ..Note::default()
        };
        // The alternate screen has no part in the log: the program's own line is where its place is.
        if let Some(covered) = &mut self.covered {
            covered.grid.row_mut(covered.cursor.row).notes.push(note);
            return;
        }
        let first = self.first_row();
        self.grid.row_mut(first).notes.push(note);
    }

    /// A mark at the start of the line that the cursor is on.
    pub fn mark_line(&mut self) -> MarkId {
        let first = self.first_row();
        let row = self.grid.row_mut(first);
        row.marked = true;
        self.log.marks.add(row.id, 0)
    }

    /// Where the line that the cursor is on begins, as far as it is still on the screen.
    fn first_row(&self) -> usize {
        let mut first = self.cursor.row;
        while first > 0 && self.grid.row(first - 1).linked {
            first -= 1;
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use crate::term::{Event, Options, Output, Terminal, width::Rules};

    #[test]
    fn a_step_ends_at_each_marker() {
        let bytes = b"a]b\x1b]133;A;n=x;pid=1\x07$ \x1b]133;B;n=x;pid=1\x1b\\ls\r\n\x1b]133;C;n=x;pid=1\x07out\r\n";
        for split in 0..bytes.len() {
            let options = Options {
                cols: 20,
                rows: 5,
                rules: Rules::default(),
                nonce: Some("x".into()),
                hold_back: 0,
            };
            let (mut term, mut out, mut seen) =
                (Terminal::new(options), Output::default(), Vec::new());
            for mut part in [&bytes[..split], &bytes[split..]] {
                while !part.is_empty() {
                    let taken = term.step(part, &mut out);
                    part = &part[taken..];
                    assert!(out.events.len() <= 1, "{split} {:?}", out.events);
                    for event in out.events.drain(..) {
                        let Event::Marker { start, mark, .. } = event else {
                            continue;
                        };
                        seen.push((start, term.text_from(mark)));
                    }
                }
            }
            let at = |letter: u8| {
                bytes
                    .windows(6)
                    .position(|part| part == [b"]133;".as_slice(), &[letter]].concat())
                    .unwrap() as u64
                    - 1
            };
            assert_eq!(
                seen,
                [
                    (at(b'A'), String::new()),
                    (at(b'B'), String::new()),
                    (at(b'C'), String::new())
                ]
            );
        }
    }
}
