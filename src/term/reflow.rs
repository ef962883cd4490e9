//! A change of size, done as tmux does it: rows to and from the history, lines wrapped anew by their links.

use super::grid::{Grid, Log};
use super::row::{CLUSTER, Cell, PAD, Row};
use super::screen::{At, Screen, default_tabs};

impl Screen {
    /// Changes the size. The alternate screen is cut or padded; the normal one is re-flowed, when it is shown.
    pub fn resize(&mut self, cols: usize, rows: usize) {
        let (cols, rows) = (cols.max(1), rows.max(1));
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
        if row.marked
            && let Some(last) = self.lines.back_mut()
        {
            last.marked = true;
            log.marks.move_row(row.id, last.id);
        }
    }

    /// Wraps all rows anew to `cols` columns. `at` is the cursor, its row counted from the oldest row held back.
    fn reflow(&mut self, cols: usize, at: At, log: &mut Log) -> At {
        let old = std::mem::take(&mut self.lines);
        let mut cursor = None;
        let mut line = Line::default();
        if self.history && log.cooked.is_linked() {
            line.final_cells = log.cooked.columns % cols;
        }
        for (index, row) in old.into_iter().enumerate() {
            if index == at.row {
                let inside = at.col < row.cells.len();
                cursor = Some(if inside {
                    line.cells.len() + at.col
                } else {
                    usize::MAX
                });
            }
            let more = row.linked;
            line.add(row, log);
            if !more {
                let first = self.lines.len();
                let at = line.wrap(cols, cursor.take(), &mut self.lines, log);
                if let Some(At { row, col }) = at {
                    cursor_at(
                        &mut line.cursor,
                        At {
                            row: first + row,
                            col,
                        },
                    );
                }
                line = Line {
                    cursor: line.cursor,
                    ..Line::default()
                };
            }
        }
        if line.begun {
            let first = self.lines.len();
            if let Some(At { row, col }) = line.wrap(cols, cursor.take(), &mut self.lines, log) {
                cursor_at(
                    &mut line.cursor,
                    At {
                        row: first + row,
                        col,
                    },
                );
            }
            if let Some(last) = self.lines.back_mut() {
                last.linked = true;
            }
        }
        let mut cursor = line.cursor.unwrap_or_default();
        let missing = self.rows.saturating_sub(self.lines.len());
        // tmux would show rows here that are final.
        let pulled = missing.min(usize::try_from(log.rows).unwrap_or(usize::MAX));
        for _ in 0..pulled {
            let mut row = log.blank_row();
            row.hidden = true;
            self.lines.push_front(row);
            cursor.row += 1;
        }
        for _ in pulled..missing {
            let row = log.blank_row();
            self.lines.push_back(row);
        }
        self.held = self.lines.len() - self.rows;
        self.scrolled = self.scrolled.min(self.held);
        self.cols = cols;
        cursor
    }
}

fn cursor_at(slot: &mut Option<At>, at: At) {
    *slot = Some(at);
}

/// The rows of one logical line, joined.
#[derive(Default)]
struct Line {
    begun: bool,
    cells: Vec<Cell>,
    clusters: Vec<String>,
    /// (mark's row, mark's column) of marks, with their offset in `cells`.
    marks: Vec<(super::marks::MarkId, usize)>,
    template: Option<Row>,
    /// Cells of the line that are final, in front of `cells`, modulo the new width.
    final_cells: usize,
    cursor: Option<At>,
}

impl Line {
    fn add(&mut self, row: Row, log: &Log) {
        self.begun = true;
        let start = self.cells.len();
        if row.marked {
            let marks = log.marks.live.iter().filter(|anchor| anchor.row == row.id);
            self.marks
                .extend(marks.map(|anchor| (anchor.id, start + anchor.col)));
        }
        let base = self.clusters.len() as Cell;
        self.cells.extend(row.cells.iter().map(|&cell| {
            if cell & CLUSTER != 0 {
                cell + base
            } else {
                cell
            }
        }));
        self.clusters.extend(row.clusters.iter().cloned());
        match &mut self.template {
            None => self.template = Some(row),
            Some(first) => {
                first.wide |= row.wide;
                first.touched |= row.touched;
                first.notes.extend(row.notes);
            }
        }
    }

    /// Appends the line to `rows`, wrapped to `cols`. Returns where offset `cursor` has gone, its row counted from
    /// the line's first; an offset behind the end is the end.
    fn wrap(
        &mut self,
        cols: usize,
        cursor: Option<usize>,
        rows: &mut std::collections::VecDeque<Row>,
        log: &mut Log,
    ) -> Option<At> {
        let Some(mut template) = self.template.take() else {
            return None;
        };
        // The offsets at which rows begin.
        let mut starts = vec![0];
        let mut room = cols - self.final_cells;
        let mut at = 0;
        while at < self.cells.len() {
            let width = if self.cells.get(at + 1) == Some(&PAD) {
                2
            } else {
                1
            };
            if width > room {
                starts.push(at);
                room = cols;
            }
            room = room.saturating_sub(width);
            at += width;
        }
        let count = starts.len();
        let place = |offset: usize| {
            let row = starts.partition_point(|&start| start <= offset) - 1;
            let skipped = if row == 0 { self.final_cells } else { 0 };
            (row, (offset - starts[row] + skipped).min(cols))
        };
        let notes = std::mem::take(&mut template.notes);
        let (hidden, epoch) = (template.hidden, template.epoch);
        let first = rows.len();
        for (index, &start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(self.cells.len());
            let mut row = log.blank_row();
            if index == 0 && self.final_cells > 0 {
                row.skip = self.final_cells;
                row.cells.resize(self.final_cells, super::row::ERASED);
            }
            row.cells.extend_from_slice(&self.cells[start..end]);
            row.wide = template.wide;
            row.touched = template.touched;
            row.hidden = hidden;
            row.epoch = epoch;
            row.linked = index + 1 < count;
            if row.cells.iter().any(|cell| cell & CLUSTER != 0) {
                row.clusters = self.clusters.clone();
                row.compact();
            }
            rows.push_back(row);
        }
        rows[first].notes = notes;
        for &(id, offset) in &self.marks {
            let (row, col) = place(offset);
            rows[first + row].marked = true;
            log.marks.put(id, rows[first + row].id, col);
        }
        cursor.map(|offset| {
            if offset == usize::MAX {
                let row = count - 1;
                return At {
                    row,
                    col: rows[first + row].cells.len(),
                };
            }
            let (row, col) = place(offset);
            At { row, col }
        })
    }
}
