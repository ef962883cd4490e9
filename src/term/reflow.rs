//! A change of size, done as tmux does it: rows to and from the history, and where the cursor is after a re-flow.
//! Must not know how lines are wrapped.

use super::flow::Flow;
use super::grid::{Grid, Log};
use super::row::{ERASED, Row};
use super::screen::{At, Screen, default_tabs};

impl Screen {
    /// Changes the size. The alternate screen is cut or padded; the normal one is re-flowed, when it is shown.
    pub fn resize(&mut self, cols: usize, rows: usize) {
        let (cols, rows) = (cols.max(1), rows.max(1));
        if cols != self.grid.cols {
            self.zones.resized = true;
        }
        if self.covered.is_none() {
            self.resize_grid(cols, rows);
            return;
        }
        let mut line = self.cursor.row;
        if rows != self.grid.rows {
            self.grid.set_rows(rows, &mut line, &mut self.log);
            (self.top, self.bottom) = (0, rows - 1);
        }
        if cols != self.grid.cols {
            self.grid.cols = cols;
            self.tabs = default_tabs(cols);
        }
        self.cursor.row = line.min(rows - 1);
        self.cursor.col = self.cursor.col.min(cols);
    }

    /// Changes the size of the normal screen, which is shown.
    pub fn resize_grid(&mut self, cols: usize, rows: usize) {
        // From here on the row counts from the oldest row held back.
        let mut at = At {
            row: self.grid.held + self.cursor.row,
            col: self.cursor.col,
        };
        if rows != self.grid.rows {
            self.grid.set_rows(rows, &mut at.row, &mut self.log);
            (self.top, self.bottom) = (0, rows - 1);
        }
        if cols != self.grid.cols {
            self.tabs = default_tabs(cols);
            at = self.grid.reflow(cols, at, &mut self.log);
        }
        self.cursor = match at.row.checked_sub(self.grid.held) {
            Some(row) => At {
                row: row.min(rows - 1),
                col: at.col.min(cols),
            },
            None => At::default(),
        };
        self.grid.settle(&mut self.log);
        self.zones.homes.end();
        self.zones.shadows = self.grid.lines.iter().any(|row| row.hidden || row.skip > 0);
        self.watch();
    }
}

impl Grid {
    /// Changes the number of rows. `line` is the cursor's, counted from the oldest row held back.
    fn set_rows(&mut self, rows: usize, line: &mut usize, log: &mut Log) {
        let old = self.rows;
        if rows < old {
            // First the rows below the cursor go, then the top ones, to the history.
            let below = (old - 1)
                .saturating_sub(line.saturating_sub(self.held))
                .min(old - rows);
            for _ in 0..below {
                if let Some(row) = self.lines.pop_back() {
                    self.lose(row, log);
                }
            }
            if below > 0 {
                self.unlink_above(old - below, log);
            }
            let above = old - rows - below;
            if self.history {
                self.scrolled += above;
                self.held += above;
            } else {
                for _ in 0..above {
                    if let Some(row) = self.lines.pop_front() {
                        self.lose(row, log);
                    }
                }
                *line = line.saturating_sub(above);
            }
        } else {
            let pulled = if self.history {
                self.scrolled.min(rows - old)
            } else {
                0
            };
            self.scrolled -= pulled;
            for _ in self.held..pulled {
                // The row is final already: something blank stands for it, and is no part of the log again.
                let mut row = log.blank_row();
                row.hidden = true;
                self.lines.push_front(row);
                self.held += 1;
                *line += 1;
            }
            self.held -= pulled;
            for _ in 0..rows - old - pulled {
                let row = log.blank_row();
                self.lines.push_back(row);
            }
        }
        self.rows = rows;
    }

    /// A row is cut off; its marks go to the last row.
    fn lose(&mut self, row: Row, log: &mut Log) {
        log.cooked.notes.extend(row.notes);
        if let Some(last) = self.lines.back_mut().filter(|_| row.marked) {
            last.marked = true;
            log.marks.move_row(row.id, last.id);
        }
    }

    /// Wraps all rows anew to `cols` columns. `at` is the cursor, its row counted from the oldest row held back.
    fn reflow(&mut self, cols: usize, at: At, log: &mut Log) -> At {
        // Behind the last column is behind the row's end, also where that is a wide character and cut.
        let behind = at.col >= self.cols;
        let col = if behind { usize::MAX } else { at.col };
        let at = self.align(cols, At { col, ..at }, log);
        let place = self.unwrapped(at);
        let finals = usize::try_from(log.rows).unwrap_or(usize::MAX / 2);
        let old = std::mem::take(&mut self.lines);
        (self.lines, self.scrolled) = Flow::new(cols, finals, self.scrolled, log).run(old);
        let missing = self.rows.saturating_sub(self.lines.len());
        // tmux would show rows here that are final.
        let pulled = missing.min(finals);
        for _ in pulled..missing {
            let row = log.blank_row();
            self.lines.push_back(row);
        }
        let mut cursor = self.wrapped(place);
        for _ in 0..pulled {
            let mut row = log.blank_row();
            row.hidden = true;
            self.lines.push_front(row);
            cursor.row += 1;
        }
        self.held = self.lines.len() - self.rows;
        self.scrolled = self.scrolled.min(finals + self.held);
        self.cols = cols;
        cursor
    }

    /// Makes the first row, where it continues a final one, begin in the column that it will have at `cols` columns.
    /// Returns where the cursor is then.
    fn align(&mut self, cols: usize, mut at: At, log: &mut Log) -> At {
        let linked = self.history && log.cooked.is_linked();
        let Some(first) = self.lines.front_mut().filter(|first| !first.hidden) else {
            return at;
        };
        let skip = if linked { log.cooked.columns % cols } else { 0 };
        let old = std::mem::replace(&mut first.skip, skip).min(first.cells.len());
        first.cells.splice(..old, std::iter::repeat_n(ERASED, skip));
        let moved = |col: usize| col.saturating_sub(old).saturating_add(skip);
        if at.row == 0 {
            at.col = moved(at.col);
        }
        let anchors = log.marks.live.iter_mut();
        for anchor in anchors.filter(|anchor| anchor.row == first.id) {
            anchor.col = moved(anchor.col);
        }
        at
    }

    /// A place by its logical line, counted from the first row, and the offset in it; `usize::MAX` behind its row's end.
    fn unwrapped(&self, at: At) -> (usize, usize) {
        let (mut line, mut offset) = (0, 0);
        for row in self.lines.iter().take(at.row) {
            if row.linked {
                offset += row.cells.len();
            } else {
                (line, offset) = (line + 1, 0);
            }
        }
        let cells = self.lines.get(at.row).map_or(0, |row| row.cells.len());
        let inside = at.col < cells;
        (line, if inside { offset + at.col } else { usize::MAX })
    }

    /// Where such a place is after a re-flow. tmux counts lines to find it again, also where some have lost a link and
    /// are two now.
    fn wrapped(&self, (line, mut offset): (usize, usize)) -> At {
        let ends = self.lines.iter().enumerate().filter(|(_, row)| !row.linked);
        let last = self.lines.len() - 1;
        let mut row = match line.checked_sub(1) {
            None => 0,
            Some(before) => ends.map(|(row, _)| row + 1).nth(before).unwrap_or(last),
        };
        row = row.min(last);
        while let Some(here) = self.lines.get(row).filter(|here| here.linked) {
            if offset < here.cells.len() {
                break;
            }
            offset = match offset {
                usize::MAX => offset,
                _ => offset - here.cells.len(),
            };
            row += 1;
        }
        let end = self.lines.get(row).map_or(0, |row| row.cells.len());
        let col = if offset == usize::MAX { end } else { offset };
        At { row, col }
    }
}
