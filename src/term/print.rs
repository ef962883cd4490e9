//! Printing: where a character goes on the screen, and which cell it joins. Must not know how bytes became
//! characters.

use super::row::CLUSTER;
use super::screen::{At, Screen};
use super::width::{self, Class, Join};

const JOINER: char = '\u{200D}';

impl Screen {
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
        } else if self.rules.joiner_waits || !self.joins(c) {
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
        if fits && self.modes.wrap && !self.modes.insert && !self.zones.watching {
            self.grid.row_mut(self.cursor.row).write(col, c, width);
            self.cursor.col = col + width;
            return;
        }
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
        // Without DECAWM the cursor stays on the last column, but for a character as wide as the screen.
        let last = if self.modes.wrap || width == cols {
            cols
        } else {
            cols - 1
        };
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

    /// Takes a character into the cell before the cursor, if it belongs there. (From tmux 3.4: by what the cell
    /// holds.)
    fn joins(&mut self, c: char) -> bool {
        let At { row, col } = self.cursor;
        let Some(lead) = self.grid.row(row).lead(col) else {
            return false;
        };
        if self.grid.row(row).cell(lead) & CLUSTER == 0 && width::join(c).is_none() {
            return false;
        }
        let before = self.grid.row(row).text(lead, lead + 1);
        let joined = before.ends_with(JOINER);
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
}

/// How many cells tmux has allocated for a row that uses `used`, of `cols`, when it grew cell by cell. A blank
/// printed by itself (not in a run) behind them makes no cell.
fn allocated(used: usize, cols: usize) -> usize {
    match used {
        0 => 0,
        _ if used <= cols / 4 && cols / 4 > 1 => cols / 4,
        _ if used <= cols / 2 && cols / 2 > 1 => cols / 2,
        _ => cols,
    }
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
