//! The cooked log: rows that have become final, as lines. Knows rows, and must not know the screen they came from.

use super::row::{CLUSTER, Cell, ERASED, Note, PAD, Row};

/// A place in the cooked log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 0.
    pub line: u64,
    /// The offset in that line's text, in bytes.
    pub byte: usize,
}

/// What has been written so far, as far as the next row depends on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cooked {
    /// Line breaks written.
    pub(super) lines: u64,
    /// A row of the current line has been written, but not its line break.
    pub(super) open: bool,
    /// The last row written goes on in the next.
    pub(super) linked: bool,
    /// Bytes of the current line that are written.
    pub(super) bytes: usize,
    /// Blanks at the end of the current line that are not written: they may be its last.
    pub(super) blanks: usize,
    /// Columns of the current line that its written rows took.
    pub(super) columns: usize,
    /// Lines that wait for the current line's end.
    pub(super) notes: Vec<Note>,
}

impl Cooked {
    /// Complete lines written.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// True when the last final row goes on in the next row.
    pub fn is_linked(&self) -> bool {
        self.open && self.linked
    }

    /// Breaks the line after the last final row.
    pub fn unlink(&mut self) {
        self.linked = false;
    }

    /// Ends the current line, if one has begun.
    pub fn end_line(&mut self, text: &mut Vec<u8>) {
        if self.open {
            text.push(b'\n');
            self.lines += 1;
            (self.open, self.linked) = (false, false);
            (self.bytes, self.blanks, self.columns) = (0, 0, 0);
        }
        for note in std::mem::take(&mut self.notes) {
            self.write_note(&note, text);
        }
    }

    fn write_note(&mut self, note: &Note, text: &mut Vec<u8>) {
        text.extend_from_slice(note.line().as_bytes());
        text.push(b'\n');
        self.lines += 1;
    }

    /// What must come before the row: the end of the line before, and lines that stand above the row.
    fn before(&mut self, row: &Row, text: &mut Vec<u8>) {
        if !self.linked && (self.open || !self.notes.is_empty()) {
            self.end_line(text);
        }
        for note in &row.notes {
            if self.open {
                self.notes.push(note.clone());
            } else {
                self.write_note(note, text);
            }
        }
    }

    /// Writes a row that has become final.
    pub fn row(&mut self, row: &Row, text: &mut Vec<u8>) {
        if row.hidden {
            self.linked = false;
            self.notes.extend(row.notes.iter().cloned());
            return;
        }
        self.before(row, text);
        let cells = row.cells.get(row.skip..).unwrap_or_default();
        let blank = |cell: &u32| matches!(*cell, ERASED | 0x20);
        let used = cells.len() - cells.iter().rev().take_while(|cell| blank(cell)).count();
        if used > 0 {
            text.resize(text.len() + self.blanks, b' ');
            let start = text.len();
            write_cells(row, &cells[..used], text);
            self.bytes += self.blanks + text.len() - start;
            self.blanks = 0;
        }
        // Columns and bytes are the same thing for blanks; a PAD is never a trailing cell by itself.
        self.blanks += cells.len() - used;
        self.columns += cells.len();
        self.open = true;
        self.linked = row.linked;
    }

    /// Where column `col` of `row` would be in the log, were the row written now.
    pub fn position(&self, row: &Row, col: usize) -> Position {
        let mut to = self.clone();
        let mut sink = Vec::new();
        if row.hidden {
            to.linked = false;
            to.end_line(&mut sink);
            return Position {
                line: to.lines,
                byte: 0,
            };
        }
        to.before(row, &mut sink);
        let start = row.skip.min(row.cells.len());
        let end = col.clamp(start, row.cells.len().max(start));
        sink.clear();
        write_cells(row, &row.cells[start..end], &mut sink);
        let byte = to.bytes + to.blanks + sink.len() + col.saturating_sub(end);
        Position {
            line: to.lines,
            byte,
        }
    }
}

fn write_cells(row: &Row, cells: &[Cell], text: &mut Vec<u8>) {
    if !row.unicode {
        // ERASED is 0 and every printable character is at least a space.
        text.extend(cells.iter().map(|&cell| cell.max(0x20) as u8));
        return;
    }
    for &cell in cells {
        match cell {
            PAD => {}
            0..=0x7F => text.push(cell.max(0x20) as u8),
            _ if cell & CLUSTER != 0 => {
                text.extend_from_slice(row.clusters[(cell & !CLUSTER) as usize].as_bytes());
            }
            _ => {
                if let Some(c) = char::from_u32(cell) {
                    text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
        }
    }
}
