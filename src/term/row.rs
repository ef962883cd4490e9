//! One row of the grid: cells that hold characters, and what is done to them. Must not know the cursor, other rows
//! or what a sequence is.

use std::fmt::Write as _;

/// A cell: a character's number, or one of the values below. Attributes are not kept: nothing reads them.
pub type Cell = u32;

/// Never written, or erased. Looks like a space; a written space is `0x20`.
pub const ERASED: Cell = 0;
/// The right half of a wide character.
pub const PAD: Cell = 0x11_0000;
/// Set in a cell whose text is more than one character: the other bits are an index into `Row::clusters`.
pub const CLUSTER: Cell = 0x8000_0000;

/// Most bytes of text in one cell. Real clusters are far shorter; a million combining marks are no text.
pub const CLUSTER_MAX: usize = 64;

/// A line in the log that no row showed, standing above a row: a full-screen program's, or one of the caller's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// The program's name, when the command line is known.
    pub program: Option<String>,
    /// Milliseconds by the caller's clock.
    pub started: Option<u64>,
    pub ended: Option<u64>,
    /// The program is still running.
    pub open: bool,
    /// The caller's line, in place of a program's.
    pub said: Option<String>,
}

impl Note {
    /// The line, without its line break: `[full-screen program: vim, 12 s]`.
    pub fn line(&self) -> String {
        if let Some(said) = &self.said {
            return said.clone();
        }
        let mut line = String::from("[full-screen program");
        if let Some(program) = &self.program {
            line.push_str(": ");
            line.push_str(program);
        }
        if let (Some(started), Some(ended)) = (self.started, self.ended) {
            // Writing to a String cannot fail.
            let _ = write!(line, ", {} s", ended.saturating_sub(started) / 1000);
        }
        line.push(']');
        line
    }
}

/// A row. Cells beyond the end of `cells` are blank; `cells` never shrinks but by a clear, as tmux's rows do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub cells: Vec<Cell>,
    /// The texts of cells with `CLUSTER` set.
    pub clusters: Vec<String>,
    /// Unique in a terminal: what marks hold on to.
    pub id: u64,
    /// Its line goes on in the next row.
    pub linked: bool,
    /// No part of the log: a full-screen program's, or one that is final already.
    pub hidden: bool,
    /// How many cells at the start are final already.
    pub skip: usize,
    /// A mark stands in this row.
    pub marked: bool,
    /// A cell beyond ASCII was written since the last clear.
    pub unicode: bool,
    /// A wide character was written since the last clear.
    pub wide: bool,
    /// The cursor was homed this many times when it was last printed to (see `zones`).
    pub epoch: u32,
    pub notes: Vec<Note>,
}

impl Row {
    /// Empties the row; its identity, marks and notes stay.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.clusters.clear();
        self.linked = false;
        self.hidden = false;
        self.skip = 0;
        self.unicode = false;
        self.wide = false;
        self.epoch = 0;
    }

    pub fn cell(&self, col: usize) -> Cell {
        self.cells.get(col).copied().unwrap_or(ERASED)
    }

    pub fn is_blank(&self) -> bool {
        self.cells.iter().all(|cell| matches!(*cell, ERASED | 0x20))
    }

    /// Makes at least `len` cells.
    fn grow(&mut self, len: usize) {
        if self.cells.len() < len {
            self.cells.resize(len, ERASED);
        }
    }

    /// Writes printable ASCII from column `col` on.
    #[inline]
    pub fn write_ascii(&mut self, col: usize, run: &[u8]) {
        if self.cells.len() == col {
            self.cells.extend(run.iter().map(|&byte| Cell::from(byte)));
            return;
        }
        let end = col + run.len();
        if self.wide {
            self.split(col, end);
        }
        self.grow(end);
        for (cell, &byte) in self.cells[col..end].iter_mut().zip(run) {
            *cell = byte.into();
        }
    }

    /// Writes one character of `width` 1 or 2 at column `col`.
    #[inline]
    pub fn write(&mut self, col: usize, c: char, width: usize) {
        self.unicode = true;
        if width == 1 && !self.wide {
            if let Some(cell) = self.cells.get_mut(col) {
                *cell = c.into();
                return;
            }
            if self.cells.len() == col {
                self.cells.push(c.into());
                return;
            }
        }
        self.split(col, col + width);
        self.grow(col + width);
        self.cells[col] = c.into();
        if width == 2 {
            self.wide = true;
            self.cells[col + 1] = PAD;
        }
    }

    /// Makes room for a change of the cells from `from` to `to`: the other half of a wide character that is cut
    /// becomes blank.
    fn split(&mut self, from: usize, to: usize) {
        if self.cell(from) == PAD {
            // A PAD always has its character to the left.
            self.cells[from - 1] = ERASED;
        }
        if self.cell(to) == PAD {
            self.cells[to] = ERASED;
        }
    }

    /// Adds to the text of the character that ends at `col` (exclusive). False when there is none.
    pub fn combine(&mut self, col: usize, c: char) -> bool {
        let Some(lead) = self.lead(col) else {
            return false;
        };
        let mut text = String::new();
        self.push_text(self.cell(lead), &mut text);
        if text.len() + c.len_utf8() > CLUSTER_MAX {
            return true;
        }
        self.grow(lead + 1);
        self.unicode = true;
        let cell = self.cells[lead];
        if cell & CLUSTER != 0 {
            self.clusters[(cell & !CLUSTER) as usize].push(c);
            return true;
        }
        text.push(c);
        if self.clusters.len() > 2 * self.cells.len() {
            self.compact();
        }
        self.cells[lead] = CLUSTER | self.clusters.len() as Cell;
        self.clusters.push(text);
        true
    }

    /// The column where the character that ends at `col` (exclusive) begins.
    pub fn lead(&self, col: usize) -> Option<usize> {
        (0..col).rev().find(|&at| self.cell(at) != PAD)
    }

    /// Widens the one-column character at `lead` to two columns.
    pub fn widen(&mut self, lead: usize) {
        self.split(lead + 1, lead + 2);
        self.grow(lead + 2);
        (self.unicode, self.wide) = (true, true);
        self.cells[lead + 1] = PAD;
    }

    /// Drops the texts that no cell holds any more.
    pub fn compact(&mut self) {
        let mut kept = Vec::new();
        for cell in &mut self.cells {
            if *cell & CLUSTER != 0 {
                let text = std::mem::take(&mut self.clusters[(*cell & !CLUSTER) as usize]);
                *cell = CLUSTER | kept.len() as Cell;
                kept.push(text);
            }
        }
        self.clusters = kept;
    }

    /// Erases the cells from `from` to `to` (exclusive).
    pub fn erase(&mut self, from: usize, to: usize) {
        let to = to.min(self.cells.len());
        if from < to {
            self.split(from, to);
            self.cells[from..to].fill(ERASED);
        }
    }

    /// Shifts the cells from `col` on right by `count`; what leaves `width` is lost. Cells are wiped where they
    /// were moved from, which in a wide gap is not all of it: so does tmux.
    pub fn insert(&mut self, col: usize, count: usize, width: usize) {
        self.split(col, col);
        self.grow(width);
        let (from_end, to) = (width - count, col + count);
        if self.cells[from_end] == PAD {
            // Cut in two: one half would leave the row.
            self.cells[from_end - 1] = ERASED;
            self.cells[from_end] = ERASED;
        }
        if to >= from_end && self.cells[to] == PAD {
            // What stays in the gap is cut by what arrives.
            self.cells[to - 1] = ERASED;
        }
        self.cells.copy_within(col..from_end, to);
        self.cells[col..to.min(from_end)].fill(ERASED);
    }

    /// Takes out `count` cells from `col` on, shifting the rest left.
    pub fn delete(&mut self, col: usize, count: usize, width: usize) {
        self.split(col, col + count);
        self.grow(width - count);
        let end = self.cells.len().min(width);
        let rest = end.saturating_sub(col + count);
        self.cells.copy_within(end - rest..end, col);
        self.cells[col + rest..end].fill(ERASED);
    }

    /// Appends the text of a cell of this row.
    pub fn push_text(&self, cell: Cell, text: &mut String) {
        if cell & CLUSTER != 0 {
            text.push_str(&self.clusters[(cell & !CLUSTER) as usize]);
        } else if cell == ERASED {
            text.push(' ');
        } else if let Some(c) = char::from_u32(cell) {
            text.push(c);
        }
    }

    /// The cells from `from` to `to` (exclusive) as text, blanks included.
    pub fn text(&self, from: usize, to: usize) -> String {
        let mut text = String::new();
        for &cell in self
            .cells
            .get(from..to.min(self.cells.len()))
            .unwrap_or_default()
        {
            self.push_text(cell, &mut text);
        }
        text
    }
}
