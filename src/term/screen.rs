//! The screen: a cursor on a grid, what printing and each control do to them, exactly as in tmux. Must not know how
//! a sequence is spelled.

use super::grid::{Grid, Log};
use super::row::Note;
use super::width::{self, Class, Join, Rules};
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

    /// A run of printable ASCII.
    #[inline]
    pub fn print_ascii(&mut self, run: &[u8]) {
        if !self.modes.wrap || self.modes.insert || self.charsets.drawing() {
            for &byte in run {
                let c = if self.charsets.drawing() {
                    line_drawing(byte)
                } else {
                    byte.into()
                };
                self.print(c);
                self.last = Some(c);
            }
            return;
        }
        self.last = run.last().map(|&byte| byte.into());
        let mut rest = run;
        while !rest.is_empty() {
            if self.cursor.col >= self.grid.cols {
                self.wrap();
            }
            let room = self.grid.cols - self.cursor.col;
            let (part, after) = rest.split_at(room.min(rest.len()));
            if self.zones.watching {
                self.before_print();
            }
            self.grid
                .row_mut(self.cursor.row)
                .write_ascii(self.cursor.col, part);
            self.cursor.col += part.len();
            rest = after;
        }
    }

    /// One character, whatever the character set.
    #[inline]
    pub fn print(&mut self, c: char) {
        self.last = Some(c).filter(|_| self.rules.repeats_all);
        let width = match width::class(c) {
            Class::Zero => return self.combine(c),
            Class::Unassigned if !self.rules.unassigned => return,
            // C1 controls are never controls here, and never seen.
            Class::One if ('\u{80}'..'\u{A0}').contains(&c) => return,
            Class::Unassigned | Class::One => 1,
            Class::Two => 2,
        };
        if self.joiner {
            self.joiner = false;
            self.add_to_last(&[JOINER, c]);
        } else if c < '\u{1F1E6}' && self.rules.joiner_waits || !self.joins(c) {
            let wide = self.rules.wide_indicator && width::join(c) == Some(Join::Indicator);
            self.put(c, if wide { 2 } else { width });
        }
    }

    /// One character as it is, in a cell of its own.
    #[inline]
    fn put(&mut self, c: char, width: usize) {
        let cols = self.grid.cols;
        let col = self.cursor.col;
        let fits = col + width <= cols;
        if !self.modes.wrap && width > 1 && (width > cols || col != cols && !fits) {
            return;
        }
        if self.modes.insert && col < cols {
            self.insert_cells(width);
        }
        if self.modes.wrap && !fits {
            self.wrap();
        }
        let At { row, col } = self.cursor;
        if col + width > cols {
            return;
        }
        if self.zones.watching {
            self.before_print();
        }
        let alone = !self.modes.wrap && !self.modes.insert;
        if c != ' '
            || !alone
            || self.charsets.drawing()
            || col < allocated(self.grid.row(row).cells.len(), cols)
        {
            self.grid.row_mut(row).write(col, c, width);
        }
        // Without DECAWM the cursor stays on the last column.
        let last = if self.modes.wrap { cols } else { cols - 1 };
        self.cursor.col = (col + width).min(last);
    }

    /// A zero-width character goes into the cell before the cursor.
    fn combine(&mut self, c: char) {
        match width::join(c) {
            Some(Join::Joiner) if self.rules.joiner_waits => self.joiner = true,
            Some(Join::Presentation) if self.rules.emoji_presentation => {
                self.add_to_last(&[c]);
                self.widen_last();
            }
            // Line and paragraph separators: tmux up to 3.3a drops what its C library calls unprintable.
            _ if matches!(c, '\u{2028}' | '\u{2029}') && !self.rules.unassigned => {}
            _ if std::mem::take(&mut self.joiner) => self.add_to_last(&[JOINER, c]),
            _ => self.add_to_last(&[c]),
        }
    }

    /// Adds characters to the cell before the cursor; at column 0 they are dropped.
    fn add_to_last(&mut self, text: &[char]) {
        let At { row, col } = self.cursor;
        for &c in text {
            self.grid.row_mut(row).combine(col, c);
        }
    }

    /// Makes the character before the cursor two columns wide, when there is room.
    fn widen_last(&mut self) {
        let At { row, col } = self.cursor;
        if col > 0 && col < self.grid.cols && self.grid.row(row).lead(col) == Some(col - 1) {
            self.grid.row_mut(row).widen(col - 1);
            self.cursor.col += 1;
        }
    }

    /// Takes a character into the cell before the cursor, if it belongs there.
    fn joins(&mut self, c: char) -> bool {
        let At { row, col } = self.cursor;
        let Some(lead) = self.grid.row(row).lead(col) else {
            return false;
        };
        let before = self.grid.row(row).text(lead, lead + 1);
        let joined = !self.rules.joiner_waits && before.ends_with(JOINER);
        let mut chars = before.chars();
        let Some(first) = chars.next() else {
            return false;
        };
        let pair = match width::join(c) {
            Some(Join::SkinTone) => self.rules.skin_tone_joins && width::takes_skin_tone(first),
            Some(Join::Indicator) => {
                let half = width::join(first) == Some(Join::Indicator) && chars.next().is_none();
                self.rules.flags_join && half
            }
            _ => false,
        };
        if joined || pair {
            self.add_to_last(&[c]);
        }
        if pair {
            self.widen_last();
        }
        joined || pair
    }

    /// The line goes on in the next row.
    fn wrap(&mut self) {
        self.grid.row_mut(self.cursor.row).linked = true;
        self.line_feed();
        self.cursor.col = 0;
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

    fn insert_cells(&mut self, count: usize) {
        let At { row, col } = self.cursor;
        let cols = self.grid.cols;
        if col + 1 >= cols {
            self.grid.erase(row, col, cols, &mut self.log);
        } else if count < cols - col {
            // With all that is left of the row, tmux moves nothing and clears nothing.
            self.grid.row_mut(row).insert(col, count, cols);
        }
    }

    pub fn insert_chars(&mut self, count: usize) {
        let count = count.min(self.grid.cols - self.cursor.col);
        if count > 0 {
            self.insert_cells(count);
        }
    }

    pub fn delete_chars(&mut self, count: usize) {
        let At { row, col } = self.cursor;
        let count = count.min(self.grid.cols - col);
        let cols = self.grid.cols;
        if count > 0 && col + count == cols {
            self.grid.erase(row, col, cols, &mut self.log);
        } else if count > 0 {
            self.grid.row_mut(row).delete(col, count, cols);
        }
    }

    pub fn erase_chars(&mut self, count: usize) {
        let At { row, col } = self.cursor;
        let count = count.min(self.grid.cols - col);
        if count > 0 {
            self.grid.erase(row, col, col + count, &mut self.log);
        }
    }

    /// Where IL and DL end: the region's bottom, or the screen's when the cursor is outside of the region.
    fn lines_end(&self) -> (usize, bool) {
        let inside = (self.top..=self.bottom).contains(&self.cursor.row);
        (
            if inside {
                self.bottom + 1
            } else {
                self.grid.rows
            },
            inside,
        )
    }

    pub fn insert_lines(&mut self, count: usize) {
        let (end, inside) = self.lines_end();
        let count = count.min(end - self.cursor.row);
        self.grid
            .insert_rows(self.cursor.row, count, end, inside, &mut self.log);
    }

    pub fn delete_lines(&mut self, count: usize) {
        let (end, _) = self.lines_end();
        let count = count.min(end - self.cursor.row);
        self.grid
            .delete_rows(self.cursor.row, count, end, &mut self.log);
    }

    fn clear_line(&mut self) {
        // tmux does nothing to a row without cells, not even to the link above.
        if !self.grid.row(self.cursor.row).cells.is_empty() {
            self.grid.clear_rows(self.cursor.row, 1, &mut self.log);
        }
    }

    pub fn erase_line_right(&mut self) {
        let At { row, col } = self.cursor;
        if col == 0 {
            self.clear_line();
        } else if col < self.grid.cols {
            self.grid.row_mut(row).erase(col, usize::MAX);
        }
    }

    pub fn erase_line_left(&mut self) {
        let At { row, col } = self.cursor;
        if col + 1 >= self.grid.cols {
            self.clear_line();
        } else {
            self.grid.erase(row, 0, col + 1, &mut self.log);
        }
    }

    pub fn erase_line(&mut self) {
        self.clear_line();
    }

    pub fn erase_below(&mut self) {
        let At { row, col } = self.cursor;
        if row == 0 && col == 0 && self.grid.history {
            self.clear_to_history();
            return;
        }
        if col < self.grid.cols {
            self.grid.erase(row, col, self.grid.cols, &mut self.log);
        }
        self.grid
            .clear_rows(row + 1, self.grid.rows - row - 1, &mut self.log);
    }

    pub fn erase_above(&mut self) {
        let At { row, col } = self.cursor;
        self.grid.clear_rows(0, row, &mut self.log);
        let end = (col + 1).min(self.grid.cols);
        self.grid.erase(row, 0, end, &mut self.log);
    }

    pub fn erase_screen(&mut self) {
        if self.grid.history {
            self.clear_to_history();
        } else {
            self.grid.clear_rows(0, self.grid.rows, &mut self.log);
        }
    }

    fn clear_to_history(&mut self) {
        self.grid.clear_to_history(&mut self.log);
        if self.zones.watching {
            self.cleared();
        }
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
        // tmux clears the rows that it shows the alternate screen in, which breaks a line that comes from the history.
        self.grid.unlink_above(0, &mut self.log);
        let Grid { cols, rows, .. } = self.grid;
        let alternate = Grid::new(cols, rows, false, &mut self.log);
        let mut grid = std::mem::replace(&mut self.grid, alternate);
        let note = Note {
            program: self.zones.program.clone(),
            started: self.clock,
            open: true,
            ..Note::default()
        };
        grid.row_mut(self.cursor.row).notes.push(note);
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
            let home = self.grid.row(0).id;
            for row in alternate.lines.iter().filter(|row| row.marked) {
                self.log.marks.move_row(row.id, home);
                self.grid.row_mut(0).marked = true;
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

const JOINER: char = '\u{200D}';

/// How many cells tmux has allocated for a row that uses `used`, of `cols`, when it grew cell by cell. A blank printed
/// by itself (not in a run) behind them makes no cell.
fn allocated(used: usize, cols: usize) -> usize {
    match used {
        0 => 0,
        _ if used <= cols / 4 && cols / 4 > 1 => cols / 4,
        _ if used <= cols / 2 && cols / 2 > 1 => cols / 2,
        _ => cols,
    }
}

/// A stop every eight columns.
pub fn default_tabs(cols: usize) -> Vec<bool> {
    (0..cols).map(|col| col > 0 && col % 8 == 0).collect()
}

/// The character that DEC line drawing shows for an ASCII character (VT100 User Guide, table 3-9).
fn line_drawing(byte: u8) -> char {
    const TABLE: [char; 31] = [
        '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─',
        '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
    ];
    let index = byte.checked_sub(0x60).map(usize::from);
    index
        .and_then(|index| TABLE.get(index).copied())
        .unwrap_or(byte.into())
}
