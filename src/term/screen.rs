//! The screen: a cursor on a grid, what printing and each control do to them, exactly as in tmux. Must not know how
//! a sequence is spelled.

use super::grid::{Grid, Log};
use super::row::Note;
use super::width::Rules;
use super::zones::Zones;

/// A place on the screen, from 0. The column may be the width: a character printed there wraps first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    pub row: usize,
    pub col: usize,
}

/// Which characters G0, G1 and the shift select: false is ASCII, true is DEC line drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charsets {
    pub g: [bool; 2],
    pub shifted: bool,
}

impl Charsets {
    pub fn drawing(self) -> bool {
        self.g[usize::from(self.shifted)]
    }
}

/// What DECSC saves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SavedCursor {
    pub at: At,
    pub charsets: Charsets,
    pub origin: bool,
}

/// The normal screen while the alternate one is shown.
#[derive(Clone, Debug)]
pub struct Covered {
    pub grid: Grid,
    /// Where the cursor was.
    pub cursor: At,
}

/// The modes that a program sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modes {
    /// DECAWM.
    pub wrap: bool,
    /// IRM.
    pub insert: bool,
    /// DECOM.
    pub origin: bool,
    /// Asked for by `CSI ? 2004 h`.
    pub bracketed_paste: bool,
}

impl Default for Modes {
    fn default() -> Modes {
        Modes {
            wrap: true,
            insert: false,
            origin: false,
            bracketed_paste: false,
        }
    }
}

/// Everything that a terminal shows, and the log behind it.
#[derive(Debug)]
pub struct Screen {
    pub grid: Grid,
    pub covered: Option<Covered>,
    pub log: Log,
    pub cursor: At,
    pub modes: Modes,
    pub charsets: Charsets,
    pub saved: SavedCursor,
    /// Where `CSI ? 1049 h` last left the cursor of the normal screen.
    pub covered_cursor: Option<At>,
    /// The scrolling region, both ends inclusive.
    pub top: usize,
    pub bottom: usize,
    pub tabs: Vec<bool>,
    /// The last character printed, while REP may repeat it.
    pub last: Option<char>,
    /// A zero-width joiner waits for what it joins.
    pub joiner: bool,
    pub zones: Zones,
    pub rules: Rules,
    /// Milliseconds, as the caller last said.
    pub clock: Option<u64>,
}

impl Screen {
    pub fn new(cols: usize, rows: usize, hold_back: usize, rules: Rules) -> Screen {
        let (cols, rows) = (cols.max(1), rows.max(1));
        let mut log = Log {
            hold_back,
            ..Log::default()
        };
        Screen {
            grid: Grid::new(cols, rows, true, &mut log),
            covered: None,
            log,
            cursor: At::default(),
            modes: Modes::default(),
            charsets: Charsets::default(),
            saved: SavedCursor::default(),
            covered_cursor: None,
            top: 0,
            bottom: rows - 1,
            tabs: default_tabs(cols),
            last: None,
            joiner: false,
            zones: Zones::default(),
            rules,
            clock: None,
        }
    }

    pub fn line_feed(&mut self) {
        if self.cursor.row == self.bottom {
            self.scroll_up_once();
        } else if self.cursor.row + 1 < self.grid.rows {
            self.cursor.row += 1;
        }
    }

    fn scroll_up_once(&mut self) {
        if self.zones.watching && self.covered.is_none() {
            self.scrolled();
        }
        self.grid.scroll_up(self.top, self.bottom, &mut self.log);
    }

    pub fn scroll_up(&mut self, count: usize) {
        for _ in 0..count.min(self.bottom - self.top + 1) {
            self.scroll_up_once();
        }
    }

    pub fn scroll_down(&mut self, count: usize) {
        for _ in 0..count.min(self.bottom - self.top + 1) {
            self.grid.scroll_down(self.top, self.bottom, &mut self.log);
        }
    }

    pub fn reverse_index(&mut self) {
        if self.cursor.row == self.top {
            self.scroll_down(1);
        } else {
            self.cursor.row = self.cursor.row.saturating_sub(1);
        }
    }

    pub fn carriage_return(&mut self) {
        self.cursor.col = 0;
        self.zones.carriage_return = true;
        // What is printed next may be the prompt's line, drawn again.
        self.zones.watching |= self.zones.typed.is_some();
    }

    pub fn backspace(&mut self) {
        if self.cursor.col > 0 {
            self.cursor.col -= 1;
        } else if self.cursor.row > 0 && self.grid.linked_above(self.cursor.row, &self.log) {
            self.cursor = At {
                row: self.cursor.row - 1,
                col: self.grid.cols - 1,
            };
        }
    }

    pub fn tab(&mut self) {
        let last = self.grid.cols - 1;
        if self.cursor.col < last {
            let next = (self.cursor.col + 1..last).find(|&col| self.tabs[col]);
            self.cursor.col = next.unwrap_or(last);
        }
    }

    pub fn tab_back(&mut self, count: usize) {
        let mut col = self.cursor.col.min(self.grid.cols - 1);
        for _ in 0..count.min(col) {
            col = (0..col).rev().find(|&col| self.tabs[col]).unwrap_or(0);
        }
        self.cursor.col = col;
    }

    pub fn set_tab(&mut self, on: bool) {
        if let Some(tab) = self.tabs.get_mut(self.cursor.col) {
            *tab = on;
        }
    }

    /// A vertical move steps back from beyond the last column.
    fn unpend(&mut self) {
        self.cursor.col = self.cursor.col.min(self.grid.cols - 1);
    }

    pub fn up(&mut self, count: usize) {
        let top = if self.cursor.row < self.top {
            0
        } else {
            self.top
        };
        self.unpend();
        self.cursor.row -= count.min(self.cursor.row - top);
    }

    pub fn down(&mut self, count: usize) {
        let bottom = if self.cursor.row > self.bottom {
            self.grid.rows - 1
        } else {
            self.bottom
        };
        self.unpend();
        self.cursor.row += count.min(bottom - self.cursor.row);
    }

    pub fn right(&mut self, count: usize) {
        self.cursor.col = self
            .cursor
            .col
            .saturating_add(count)
            .min(self.grid.cols - 1);
    }

    pub fn left(&mut self, count: usize) {
        self.cursor.col = self.cursor.col.saturating_sub(count);
    }

    /// To a column and, unless `None`, a row; the row counts from the region's top in origin mode.
    pub fn go_to(&mut self, row: Option<usize>, col: Option<usize>, relative: bool) {
        if let Some(row) = row {
            let row = match relative && self.modes.origin {
                true if row > self.bottom - self.top => self.bottom,
                true => row + self.top,
                false => row,
            };
            self.cursor.row = row.min(self.grid.rows - 1);
        }
        if let Some(col) = col {
            self.cursor.col = col.min(self.grid.cols - 1);
        }
    }

    pub fn set_region(&mut self, top: usize, bottom: usize) {
        let last = self.grid.rows - 1;
        let (top, bottom) = (top.min(last), bottom.min(last));
        if top < bottom {
            (self.top, self.bottom) = (top, bottom);
            self.cursor = At::default();
        }
    }

    pub fn save_cursor(&mut self) {
        self.saved = SavedCursor {
            at: self.cursor,
            charsets: self.charsets,
            origin: self.modes.origin,
        };
    }

    pub fn restore_cursor(&mut self) {
        self.charsets = self.saved.charsets;
        self.modes.origin = self.saved.origin;
        self.go_to(Some(self.saved.at.row), Some(self.saved.at.col), false);
    }

    /// DECALN.
    pub fn fill(&mut self) {
        let line = vec![b'E'; self.grid.cols];
        for y in 0..self.grid.rows {
            self.grid.row_mut(y).write_ascii(0, &line);
        }
        self.cursor = At::default();
        (self.top, self.bottom) = (0, self.grid.rows - 1);
    }

    /// RIS.
    pub fn reset(&mut self) {
        self.charsets = Charsets::default();
        self.saved = SavedCursor::default();
        self.modes = Modes::default();
        self.tabs = default_tabs(self.grid.cols);
        (self.top, self.bottom) = (0, self.grid.rows - 1);
        self.erase_screen();
        self.cursor = At::default();
    }

    /// Shows the alternate screen. True when it was not shown before.
    pub fn enter_alternate(&mut self, save_cursor: bool) -> bool {
        if self.covered.is_some() {
            return false;
        }
        if save_cursor {
            self.covered_cursor = Some(self.cursor);
        }
        // tmux clears the rows that it shows the alternate screen in, which breaks a line that comes from the
        // history.
        self.grid.unlink_above(0, &mut self.log);
        let Grid { cols, rows, .. } = self.grid;
        let alternate = Grid::new(cols, rows, false, &mut self.log);
        let mut grid = std::mem::replace(&mut self.grid, alternate);
        // A program that had the screen before has its line already.
        if !self.log.hide {
            let note = Note {
                program: self.zones.program.clone(),
                started: self.clock,
                open: true,
                ..Note::default()
            };
            grid.row_mut(self.cursor.row).notes.push(note);
        }
        self.covered = Some(Covered {
            grid,
            cursor: self.cursor,
        });
        true
    }

    /// Shows the normal screen again. True when it was not shown before.
    pub fn leave_alternate(&mut self, restore_cursor: bool) -> bool {
        if let Some(at) = self.covered_cursor.filter(|_| restore_cursor) {
            self.cursor = at;
        }
        let left = self.covered.take();
        let shown = left.is_some();
        if let Some(covered) = left {
            let (cols, rows) = (self.grid.cols, self.grid.rows);
            let alternate = std::mem::replace(&mut self.grid, covered.grid);
            // What was marked on the alternate screen stands where the program was started.
            let home = self.grid.row_mut(covered.cursor.row);
            for row in alternate.lines.iter().filter(|row| row.marked) {
                home.marked = true;
                self.log.marks.move_row(row.id, home.id);
            }
            for row in &mut self.grid.lines {
                for note in row.notes.iter_mut().filter(|note| note.open) {
                    (note.open, note.ended) = (false, self.clock);
                }
            }
            self.resize_grid(cols, rows);
        }
        self.cursor.row = self.cursor.row.min(self.grid.rows - 1);
        self.unpend();
        shown
    }
}

/// A stop every eight columns.
pub fn default_tabs(cols: usize) -> Vec<bool> {
    (0..cols).map(|col| col > 0 && col % 8 == 0).collect()
}
