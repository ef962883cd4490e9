//! Reading the screen as text: marks, the live text, the line at the cursor.

use super::cooked::Position;
use super::grid::Grid;
use super::marks::{Anchor, MarkId};
use super::row::ERASED;
use super::screen::{At, Screen};

impl Screen {
    /// The grid that the log comes from, and the cursor in it.
    fn logged(&self) -> (&Grid, At) {
        self.covered
            .as_ref()
            .map_or((&self.grid, self.cursor), |covered| {
                (&covered.grid, covered.cursor)
            })
    }

    pub fn mark(&mut self) -> MarkId {
        let row = self.grid.row_mut(self.cursor.row);
        row.marked = true;
        self.log.marks.add(row.id, self.cursor.col)
    }

    pub fn live_text(&self) -> Vec<u8> {
        let (grid, cursor) = self.logged();
        grid.live_text(cursor.row, &self.log)
    }

    pub fn locate(&self, mark: MarkId) -> Option<Position> {
        let Some(anchor) = self.log.marks.anchor(mark) else {
            return self.log.marks.settled(mark);
        };
        let (grid, cursor) = self.logged();
        // A mark on the alternate screen stands where the program was started.
        grid.position(anchor.row, anchor.col, &self.log)
            .or_else(|| grid.position(grid.row(cursor.row).id, 0, &self.log))
    }

    pub fn cursor_position(&self) -> Position {
        let (grid, cursor) = self.logged();
        let position = grid.position(grid.row(cursor.row).id, cursor.col, &self.log);
        position.unwrap_or(Position {
            line: self.log.cooked.lines(),
            byte: 0,
        })
    }

    /// The place of a mark among the lines of the grid.
    pub fn find(&self, mark: MarkId) -> Option<(usize, usize)> {
        let Anchor { row, col, .. } = self.log.marks.anchor(mark)?;
        let index = self.grid.lines.iter().position(|line| line.id == row)?;
        Some((index, col))
    }

    /// The text from one mark to another, or to the end.
    pub fn text_between(&self, from: MarkId, to: Option<MarkId>) -> String {
        let (first, from) = self.find(from).unwrap_or((0, 0));
        let lines = &self.grid.lines;
        let (last, to) = match to {
            Some(to) => self.find(to).unwrap_or((0, 0)),
            None => (lines.len() - 1, usize::MAX),
        };
        let mut text = String::new();
        for (index, row) in lines.iter().enumerate().take(last + 1).skip(first) {
            let start = if index == first { from } else { 0 };
            let mut end = row.cells.len();
            if index == last {
                end = end.min(to);
            }
            // A written space is text; a gap of cells that were never written ends it.
            let gap = row
                .cells
                .iter()
                .skip(start)
                .position(|&cell| cell == ERASED);
            if let Some(gap) = gap {
                end = end.min(start + gap);
            }
            text.push_str(&row.text(start.min(end), end));
            if !row.linked && index < last {
                text.push('\n');
            }
        }
        text.trim_end_matches(['\n', ' ']).to_owned()
    }

    pub fn cursor_line(&self) -> String {
        let At { row, col } = self.cursor;
        let first = self.line_start(row);
        let mut line = String::new();
        for y in first..row {
            line.push_str(&self.grid.row(y).text(0, self.grid.cols));
        }
        let cells = self.grid.row(row).cells.len();
        line.push_str(&self.grid.row(row).text(0, col));
        line.extend(std::iter::repeat_n(' ', col.saturating_sub(cells)));
        line
    }

    pub fn finish(&mut self) {
        if self.covered.is_some() {
            self.leave_alternate(false);
        }
        let cursor = self.cursor;
        self.grid.finish(cursor.row, &mut self.log);
        self.cursor = At::default();
    }
}
