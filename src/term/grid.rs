//! The rows of a screen and what was scrolled off it. Moves, clears and scrolls rows as tmux does, links included;
//! must not know the cursor or what a sequence is.

use std::collections::VecDeque;

use super::cooked::{Cooked, Position};
use super::marks::Marks;
use super::row::Row;

/// Where rows go when they leave the screen, and what is shared by the normal and the alternate screen.
#[derive(Debug, Default)]
pub struct Log {
    pub cooked: Cooked,
    pub marks: Marks,
    /// Final text that the caller has not taken yet.
    pub text: Vec<u8>,
    pub next_row: u64,
    /// How many rows that left the screen stay revisable.
    pub hold_back: usize,
    /// Rows that leave the screen are a full-screen program's.
    pub hide: bool,
    /// How many rows are final.
    pub rows: u64,
}

impl Log {
    /// A name for a row.
    pub fn row_id(&mut self) -> u64 {
        self.next_row += 1;
        self.next_row
    }

    /// A blank row.
    pub fn blank_row(&mut self) -> Row {
        let mut row = Row::default();
        self.renew(&mut row);
        row
    }

    /// Makes a row that is gone into a blank one.
    fn renew(&mut self, row: &mut Row) {
        row.clear();
        row.marked = false;
        row.id = self.row_id();
        self.cooked.notes.append(&mut row.notes);
    }

    /// Writes a row that can no longer change.
    pub fn finalize(&mut self, row: &mut Row) {
        let (lines, bytes) = (self.cooked.lines, self.cooked.bytes);
        if row.marked {
            let cooked = &self.cooked;
            self.marks.settle(row.id, |col| cooked.position(row, col));
        }
        self.cooked.row(row, &mut self.text);
        row.notes.clear();
        self.rows += 1;
        if self.cooked.lines != lines {
            self.marks.end_line(lines, bytes);
        }
    }

    /// The end of the log.
    fn close(&mut self) {
        let (lines, bytes) = (self.cooked.lines, self.cooked.bytes);
        self.cooked.end_line(&mut self.text);
        self.marks.end_line(lines, bytes);
    }
}

/// The rows of one screen.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Rows held back, oldest first, then the rows of the screen.
    pub lines: VecDeque<Row>,
    pub held: usize,
    pub cols: usize,
    pub rows: usize,
    /// Rows that leave the screen go to the log (the normal screen).
    pub history: bool,
    /// How many rows tmux would pull back when the screen grows.
    pub scrolled: usize,
}

impl Grid {
    pub fn new(cols: usize, rows: usize, history: bool, log: &mut Log) -> Grid {
        let lines = (0..rows).map(|_| log.blank_row()).collect();
        Grid {
            lines,
            held: 0,
            cols,
            rows,
            history,
            scrolled: 0,
        }
    }

    /// Row `y` of the screen.
    #[inline]
    pub fn row(&self, y: usize) -> &Row {
        &self.lines[self.held + y]
    }

    #[inline]
    pub fn row_mut(&mut self, y: usize) -> &mut Row {
        &mut self.lines[self.held + y]
    }

    /// Does the row above `y` go on in row `y`?
    pub fn linked_above(&self, y: usize, log: &Log) -> bool {
        match (self.held + y).checked_sub(1) {
            Some(above) => self.lines[above].linked,
            None => self.history && log.cooked.is_linked(),
        }
    }

    pub fn unlink_above(&mut self, y: usize, log: &mut Log) {
        match (self.held + y).checked_sub(1) {
            Some(above) => self.lines[above].linked = false,
            None if self.history => log.cooked.unlink(),
            None => {}
        }
    }

    /// Replaces row `y` by a blank one. Its marks go to row `heir`.
    fn drop_row(&mut self, y: usize, heir: usize, log: &mut Log) {
        let row = self.row_mut(y);
        let (marked, id) = (row.marked, row.id);
        log.renew(row);
        if marked {
            let heir = self.row_mut(heir);
            heir.marked = true;
            log.marks.move_row(id, heir.id);
        }
    }

    /// Moves the top row of the region to the history and the rest of the region up.
    #[inline]
    pub fn scroll_up(&mut self, top: usize, bottom: usize, log: &mut Log) {
        if !self.history {
            self.scroll_away(top, bottom, log);
            return;
        }
        self.scrolled += 1;
        if top == 0 && bottom + 1 == self.rows {
            self.push_history(log);
            return;
        }
        let Some(mut row) = self.lines.remove(self.held + top) else {
            return;
        };
        row.hidden |= log.hide;
        let blank = log.blank_row();
        self.lines.insert(self.held + bottom, blank);
        self.lines.insert(self.held, row);
        self.held += 1;
        self.settle(log);
    }

    /// The whole screen moves up by a row.
    #[inline]
    fn push_history(&mut self, log: &mut Log) {
        self.row_mut(0).hidden |= log.hide;
        if self.held < log.hold_back {
            self.held += 1;
            let blank = log.blank_row();
            self.lines.push_back(blank);
            return;
        }
        // In place: the row that becomes final is the next blank one.
        if let Some(row) = self.lines.front_mut() {
            log.finalize(row);
            log.renew(row);
        }
        self.lines.rotate_left(1);
    }

    /// Rows beyond those held back become final.
    pub fn settle(&mut self, log: &mut Log) {
        while self.held > log.hold_back {
            let Some(mut row) = self.lines.pop_front() else {
                return;
            };
            self.held -= 1;
            log.finalize(&mut row);
        }
    }

    /// All rows held back become final.
    pub fn finalize_held(&mut self, log: &mut Log) {
        for mut row in self.lines.drain(..self.held) {
            log.finalize(&mut row);
        }
        self.held = 0;
    }

    /// Scrolls without a history: the top row is lost.
    fn scroll_away(&mut self, top: usize, bottom: usize, log: &mut Log) {
        if top == bottom {
            return;
        }
        self.unlink_above(top, log);
        self.rotate_up(top, 1, bottom + 1, log);
        if bottom - top == 1 {
            self.row_mut(top).linked = false;
        }
    }

    /// Rows from `y` to `end` (exclusive) move up by `count`; the last `count` become blank.
    fn rotate_up(&mut self, y: usize, count: usize, end: usize, log: &mut Log) {
        let held = self.held;
        for i in y..y + count {
            // The last row of the region when there is none below those deleted: it becomes the first.
            self.drop_row(i, (y + count).min(end - 1), log);
        }
        self.lines.make_contiguous()[held + y..held + end].rotate_left(count);
    }

    fn rotate_down(&mut self, y: usize, count: usize, end: usize, log: &mut Log) {
        let held = self.held;
        for i in end - count..end {
            self.drop_row(i, (end - count).saturating_sub(1).max(y), log);
        }
        self.lines.make_contiguous()[held + y..held + end].rotate_right(count);
    }

    /// Deletes `count` rows at `y` in a region that ends before `end`.
    pub fn delete_rows(&mut self, y: usize, count: usize, end: usize, log: &mut Log) {
        let moved = end - y - count;
        self.unlink_above(y, log);
        self.rotate_up(y, count, end, log);
        self.unlink_above(y + moved, log);
    }

    /// Inserts `count` blank rows at `y` in a region that ends before `end`. `inside`: the region is the scrolling
    /// region; tmux treats rows outside of it a little differently.
    pub fn insert_rows(&mut self, y: usize, count: usize, end: usize, inside: bool, log: &mut Log) {
        let moved = end - y - count;
        if moved == 0 {
            if inside {
                self.clear_rows(y, count, log);
            }
            return;
        }
        // The row just above the place the rows move to loses its link, even when it moves along.
        self.row_mut(y + count - 1).linked = false;
        if count > moved && !inside {
            // Not all of the gap is wiped: only the rows that moved away.
            for i in 0..moved {
                self.drop_row(end - moved + i, y + i, log);
                self.lines
                    .swap(self.held + y + i, self.held + end - moved + i);
            }
        } else {
            self.rotate_down(y, count, end, log);
        }
        self.unlink_above(y, log);
        if inside && count < moved {
            self.row_mut(y + moved - 1).linked = false;
        }
    }

    /// Moves the rows of the region down by one (RI at the top, SD).
    pub fn scroll_down(&mut self, top: usize, bottom: usize, log: &mut Log) {
        if top == bottom {
            return;
        }
        self.row_mut(top).linked = false;
        self.rotate_down(top, 1, bottom + 1, log);
        self.unlink_above(top, log);
    }

    /// Empties whole rows.
    pub fn clear_rows(&mut self, y: usize, count: usize, log: &mut Log) {
        if count == 0 {
            return;
        }
        for y in y..y + count {
            self.row_mut(y).clear();
        }
        self.unlink_above(y, log);
    }

    /// Erases cells of row `y`; all of them is the same as to empty the row.
    pub fn erase(&mut self, y: usize, from: usize, to: usize, log: &mut Log) {
        if from == 0 && to == self.cols {
            self.clear_rows(y, 1, log);
        } else {
            self.row_mut(y).erase(from, to);
        }
    }

    /// Clears the screen, what is on it going to the history.
    pub fn clear_to_history(&mut self, log: &mut Log) {
        let used = (0..self.rows)
            .rev()
            .find(|&y| !self.row(y).cells.is_empty())
            .map_or(0, |y| y + 1);
        for _ in 0..used {
            self.push_history(log);
        }
        self.clear_rows(0, self.rows - used, log);
        if used > 0 {
            self.scrolled = 0;
        }
    }

    /// How many rows are part of the log but not final: all up to the last that has text, or that the cursor, in
    /// row
    /// `cursor` of the screen, has gone past.
    fn live_rows(&self, cursor: usize) -> usize {
        let at = self.held + cursor;
        let past = if self.lines[at].is_blank() {
            at
        } else {
            at + 1
        };
        let text = self
            .lines
            .iter()
            .rposition(|row| !row.is_blank())
            .map_or(0, |i| i + 1);
        past.max(text)
    }

    /// The text that is not final yet.
    pub fn live_text(&self, cursor: usize, log: &Log) -> Vec<u8> {
        let mut cooked = log.cooked.clone();
        let mut text = Vec::new();
        let count = self.live_rows(cursor);
        for row in self.lines.iter().take(count) {
            self.write_live(row, &mut cooked, log, &mut text);
        }
        let notes = self.lines.iter().skip(count).flat_map(|row| &row.notes);
        cooked.notes.extend(notes.cloned());
        cooked.end_line(&mut text);
        text
    }

    fn write_live(&self, row: &Row, cooked: &mut Cooked, log: &Log, text: &mut Vec<u8>) {
        if log.hide {
            cooked.unlink();
            cooked.notes.extend(row.notes.iter().cloned());
        } else {
            cooked.row(row, text);
        }
    }

    /// Where a column of a row is in the log; `None` when the row is not here.
    pub fn position(&self, id: u64, col: usize, log: &Log) -> Option<Position> {
        let mut cooked = log.cooked.clone();
        let mut text = Vec::new();
        let mut rows = self.lines.iter();
        let mut found = None;
        for row in rows.by_ref() {
            if row.id == id {
                found = Some(cooked.position(row, col));
            }
            text.clear();
            self.write_live(row, &mut cooked, log, &mut text);
            if found.is_some() {
                break;
            }
        }
        let mut position = found?;
        // To the end of the line, whose trailing blanks do not count.
        while cooked.lines == position.line && cooked.is_linked() {
            let Some(row) = rows.next() else { break };
            let before = cooked.bytes;
            self.write_live(row, &mut cooked, log, &mut text);
            if cooked.lines != position.line {
                position.byte = position.byte.min(before);
            }
        }
        if cooked.lines == position.line {
            position.byte = position.byte.min(cooked.bytes);
        }
        Some(position)
    }

    /// The end of the log: every row becomes final.
    pub fn finish(&mut self, cursor: usize, log: &mut Log) {
        let count = self.live_rows(cursor);
        for (i, row) in self.lines.iter_mut().enumerate() {
            row.hidden |= log.hide;
            if i < count {
                log.finalize(row);
            } else if row.marked {
                let cooked = &log.cooked;
                log.marks.settle(row.id, |col| cooked.position(row, col));
            }
            log.renew(row);
        }
        log.close();
    }
}
