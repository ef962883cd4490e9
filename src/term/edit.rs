//! Inserting, deleting and erasing: of cells at the cursor, of rows, of the screen.

use super::screen::{At, Screen};

impl Screen {
    pub fn insert_cells(&mut self, count: usize) {
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
}
