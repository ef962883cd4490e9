//! A change of size, done as tmux does it: rows to and from the history, lines wrapped anew by their links.

use std::collections::VecDeque;

use super::grid::{Grid, Log};
use super::marks::MarkId;
use super::row::{CLUSTER, Cell, ERASED, PAD, Row};
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
        let old = std::mem::take(&mut self.lines);
        let mut line = Line::default();
        if self.history && log.cooked.is_linked() {
            line.final_cells = log.cooked.columns % cols;
        }
        let finals = usize::try_from(log.rows).unwrap_or(usize::MAX / 2);
        let unwrapped = unwrapped(&old, at);
        let mut widths = Vec::new();
        let mut old = old.into_iter().enumerate().peekable();
        while let Some((index, row)) = old.next() {
            if !row.linked && line.loses(cols, &row) {
                self.rewrap(&mut line, &mut widths, cols, finals + index, log);
            }
            let linked = row.linked;
            widths.push(row.cells.len());
            line.add(row, log);
            let joins = |next: &Row| next.linked || !next.cells.is_empty();
            if linked && old.peek().is_some_and(|(_, next)| joins(next)) {
                continue;
            }
            let joined = widths.len();
            let count = self.rewrap(&mut line, &mut widths, cols, finals + index + 1, log);
            if let Some(last) = self.lines.back_mut() {
                // A link to nothing (an empty row, or no row) lasts unless rows were joined on the way there.
                last.linked = linked && count >= joined;
            }
        }
        // tmux counts lines to find the cursor's again, also where some have lost a link and are two now.
        let mut cursor = self.wrapped(unwrapped);
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
        self.scrolled = self.scrolled.min(finals + self.held);
        self.cols = cols;
        cursor
    }

    /// Appends a line, wrapped to `cols`, and makes room for the next. Its rows took `widths`, and the row behind them
    /// was row `after`. Returns how many rows it has now.
    fn rewrap(
        &mut self,
        line: &mut Line,
        widths: &mut Vec<usize>,
        cols: usize,
        after: usize,
        log: &mut Log,
    ) -> usize {
        let first = self.lines.len();
        std::mem::take(line).wrap(cols, &mut self.lines, log);
        let before = usize::try_from(log.rows).unwrap_or(usize::MAX / 2);
        let begin = after - widths.len();
        self.scrolled = rescroll(self.scrolled, widths, cols, begin, before + first);
        widths.clear();
        self.lines.len() - first
    }

    /// Where such a place is after a re-flow.
    fn wrapped(&self, (line, mut offset): (usize, usize)) -> At {
        let ends = self.lines.iter().enumerate().filter(|(_, row)| !row.linked);
        let mut row = match line.checked_sub(1) {
            None => 0,
            Some(before) => ends.map(|(row, _)| row + 1).nth(before).unwrap_or(0),
        };
        if row == 0 && offset != usize::MAX {
            offset += self.lines.front().map_or(0, |first| first.skip);
        }
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

/// A place by its logical line, counted from the first row, and the offset in it; `usize::MAX` behind its row's end.
fn unwrapped(rows: &VecDeque<Row>, at: At) -> (usize, usize) {
    let (mut line, mut offset) = (0, 0);
    for row in rows.iter().take(at.row) {
        if row.linked {
            offset += row.cells.len() - row.skip.min(row.cells.len());
        } else {
            (line, offset) = (line + 1, 0);
        }
    }
    let inside = rows.get(at.row).is_some_and(|row| at.col < row.cells.len());
    let skip = rows.get(at.row).map_or(0, |row| row.skip);
    (
        line,
        if inside {
            offset + at.col.saturating_sub(skip)
        } else {
            usize::MAX
        },
    )
}

/// How many rows tmux would pull back when the screen grows, after a line has been wrapped anew to `cols` columns:
/// its rows took `widths` columns each, the first is row `old` and will be row `new`. tmux goes row by row,
/// splitting one and filling it from the next, and compares its count with row numbers; the outcome is seen, so it
/// is followed.
fn rescroll(mut scrolled: usize, widths: &[usize], cols: usize, old: usize, new: usize) -> usize {
    let mut rest = widths.to_vec();
    // The row that the next one goes to.
    let mut to = new;
    for index in 0..rest.len() {
        let mut width = std::mem::take(&mut rest[index]);
        if width == 0 && index > 0 {
            continue;
        }
        let linked = index + 1 < rest.len();
        let rows = width.div_ceil(cols).max(1);
        if rows > 1 && old + index <= scrolled {
            scrolled += rows - 1;
        }
        to += rows;
        width -= (rows - 1) * cols;
        let mut consumed = 0;
        while linked && width < cols && index + 1 + consumed < rest.len() {
            let next = &mut rest[index + 1 + consumed];
            let taken = (*next).min(cols - width);
            *next -= taken;
            width += taken;
            if *next > 0 {
                break;
            }
            consumed += 1;
        }
        if consumed > 0 && scrolled > to - 1 + consumed {
            scrolled -= consumed;
        } else if consumed > 0 {
            scrolled = scrolled.min(to - 1);
        }
    }
    scrolled
}

/// The rows of one logical line, joined.
#[derive(Default)]
struct Line {
    cells: Vec<Cell>,
    clusters: Vec<String>,
    /// Where the last row that was added begins in `cells`.
    last: usize,
    /// The marks, with their offsets in `cells`.
    marks: Vec<(MarkId, usize)>,
    /// The first row, for what is not cells.
    template: Option<Row>,
    /// Cells of the line that are final, in front of `cells`, modulo the new width.
    final_cells: usize,
}

impl Line {
    fn add(&mut self, row: Row, log: &Log) {
        let start = self.cells.len();
        self.last = start;
        if row.marked {
            let marks = log.marks.live.iter().filter(|anchor| anchor.row == row.id);
            let offset = |col: usize| start + col.saturating_sub(row.skip);
            self.marks
                .extend(marks.map(|anchor| (anchor.id, offset(anchor.col))));
        }
        let base = self.clusters.len() as Cell;
        // Cells that are final already are counted in `final_cells`.
        let cells = row.cells.get(row.skip..).unwrap_or_default();
        self.cells.extend(cells.iter().map(|&cell| {
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
                first.unicode |= row.unicode;
                first.wide |= row.wide;
                first.notes.extend(row.notes);
            }
        }
    }

    /// The offsets at which rows of `cols` columns begin, and the columns left in the last.
    fn starts(&self, cols: usize) -> (Vec<usize>, usize) {
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
        (starts, room)
    }

    /// True when tmux forgets that the line goes on in its last row: that begins with a wide character, for which
    /// one column is left, after a row that was joined to others. What a person sees is two lines then.
    fn loses(&self, cols: usize, last: &Row) -> bool {
        if last.cell(1) != PAD || self.last == 0 {
            return false;
        }
        let (starts, room) = self.starts(cols);
        room == 1 && starts.last().is_some_and(|&start| start < self.last)
    }

    /// Appends the line to `rows`, wrapped to `cols`.
    fn wrap(mut self, cols: usize, rows: &mut VecDeque<Row>, log: &mut Log) {
        let Some(mut template) = self.template.take() else {
            return;
        };
        let (starts, _) = self.starts(cols);
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
                row.cells.resize(self.final_cells, ERASED);
            }
            row.cells.extend_from_slice(&self.cells[start..end]);
            (row.unicode, row.wide) = (template.unicode, template.wide);
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
    }
}
