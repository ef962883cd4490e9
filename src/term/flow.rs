//! Lines wrapped anew to another width, as tmux does it: row by row. A row that is too long is split; the last of its
//! parts, if it is linked and there is room, is filled up from the rows below. What that does to links at the edges
//! (a wide character that does not fit, a link to an empty row) is seen, so it is followed. Must not know the cursor.

use std::collections::VecDeque;

use super::grid::Log;
use super::marks::MarkId;
use super::row::{CLUSTER, Cell, Note, PAD, Row};

/// A re-flow.
pub struct Flow<'a> {
    /// The new width.
    cols: usize,
    /// How many rows are final: tmux counts them, and they stay as they are.
    finals: usize,
    /// How many rows tmux would pull back when the screen grows.
    scrolled: usize,
    /// The new rows.
    rows: VecDeque<Row>,
    line: Line,
    log: &'a mut Log,
}

/// What stands in the line whose rows are being made.
#[derive(Default)]
struct Line {
    /// Its first row.
    first: usize,
    /// How many cells it has before each of its rows, and in all.
    starts: Vec<usize>,
    cells: usize,
    /// The marks, by the number of cells before them.
    marks: Vec<(MarkId, usize)>,
    notes: Vec<Note>,
    /// As its first row was.
    hidden: bool,
    epoch: u32,
}

impl Flow<'_> {
    pub fn new(cols: usize, finals: usize, scrolled: usize, log: &mut Log) -> Flow<'_> {
        Flow {
            cols,
            finals,
            scrolled,
            rows: VecDeque::new(),
            line: Line::default(),
            log,
        }
    }

    /// Wraps rows anew. Returns the new rows, and how many tmux would pull back now.
    pub fn run(mut self, mut old: VecDeque<Row>) -> (VecDeque<Row>, usize) {
        let count = old.len();
        while let Some(row) = old.pop_front() {
            let index = self.finals + count - old.len() - 1;
            self.split(row, index);
            self.fill(&mut old);
        }
        self.end_line();
        (self.rows, self.scrolled)
    }

    /// Makes rows of row `index`.
    fn split(&mut self, mut row: Row, index: usize) {
        let linked = self.rows.back().is_some_and(|row| row.linked);
        if !linked || row.cells.is_empty() {
            self.end_line();
            (self.line.hidden, self.line.epoch) = (row.hidden, row.epoch);
        }
        self.enter(&mut row);
        let before = self.rows.len();
        let mut at = 0;
        loop {
            let end = match at + fitting(&row.cells[at..], self.cols) {
                // A wide character where there is one column stays whole.
                end if end == at => row.cells.len().min(at + 2),
                end => end,
            };
            let mut part = self.log.blank_row();
            part.skip = row.skip.clamp(at, end) - at;
            (part.hidden, part.epoch) = (self.line.hidden, self.line.epoch);
            part.linked = row.linked || end < row.cells.len();
            self.line.starts.push(self.line.cells);
            self.line.cells += end - at;
            append(&mut part, &row, at..end);
            self.rows.push_back(part);
            if end == row.cells.len() {
                break;
            }
            at = end;
        }
        let more = self.rows.len() - before - 1;
        if more > 0 && index <= self.scrolled {
            self.scrolled += more;
        }
    }

    /// Fills the last row up from those below it.
    fn fill(&mut self, below: &mut VecDeque<Row>) {
        let to = self.finals + self.rows.len() - 1;
        let Some(mut last) = self.rows.pop_back() else {
            return;
        };
        let (mut linked, mut taken) = (last.linked, 0);
        while linked && last.cells.len() < self.cols {
            let Some(next) = below.front_mut() else { break };
            let end = fitting(&next.cells, self.cols - last.cells.len());
            if end == 0 && (!next.linked || !next.cells.is_empty()) {
                // A link to an empty row, or to a character that does not fit, lasts unless rows were taken before.
                last.linked = next.linked || taken == 0;
                break;
            }
            self.enter(next);
            self.line.cells += end;
            append(&mut last, next, 0..end);
            if end < next.cells.len() {
                next.cells.drain(..end);
                break;
            }
            linked = next.linked;
            last.linked = linked;
            below.pop_front();
            taken += 1;
        }
        self.rows.push_back(last);
        // tmux compares a count with row numbers.
        if self.scrolled > to + taken {
            self.scrolled -= taken;
        } else if taken > 0 {
            self.scrolled = self.scrolled.min(to);
        }
    }

    /// The cells of a row come next; what is not cells comes along.
    fn enter(&mut self, row: &mut Row) {
        if std::mem::take(&mut row.marked) {
            let anchors = self.log.marks.live.iter();
            let marks = anchors.filter(|anchor| anchor.row == row.id);
            let before = self.line.cells;
            self.line
                .marks
                .extend(marks.map(|anchor| (anchor.id, before + anchor.col)));
        }
        self.line.notes.append(&mut row.notes);
    }

    /// The next row begins a line.
    fn end_line(&mut self) {
        let next = Line {
            first: self.rows.len(),
            ..Line::default()
        };
        let line = std::mem::replace(&mut self.line, next);
        let Some(first) = self.rows.get_mut(line.first) else {
            return;
        };
        first.notes = line.notes;
        for (id, before) in line.marks {
            let index = line.starts.partition_point(|&start| start <= before) - 1;
            let row = &mut self.rows[line.first + index];
            row.marked = true;
            let col = (before - line.starts[index]).min(self.cols);
            self.log.marks.put(id, row.id, col);
        }
    }
}

/// How many of these cells stand in `room` columns, no wide character cut in half.
fn fitting(cells: &[Cell], room: usize) -> usize {
    let end = cells.len().min(room);
    match cells.get(end) {
        Some(&PAD) => end.saturating_sub(1),
        _ => end,
    }
}

/// Appends cells of another row.
fn append(row: &mut Row, from: &Row, cells: std::ops::Range<usize>) {
    row.unicode |= from.unicode;
    row.wide |= from.wide;
    row.cells.extend(from.cells[cells].iter().map(|&cell| {
        if cell & CLUSTER == 0 {
            return cell;
        }
        let text = &from.clusters[(cell & !CLUSTER) as usize];
        row.clusters.push(text.clone());
        CLUSTER | (row.clusters.len() - 1) as Cell
    }));
}
