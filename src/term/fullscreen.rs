//! Programs that paint a whole screen without the alternate one, by going home and printing over what they printed:
//! to the log they are one line, not a row for each time that they painted it.

use super::row::{Note, Row};
use super::screen::Screen;
use super::zones::Zone;

/// So many homes, each followed by printing over what was printed since the home before, make a full-screen
/// program. (One is `clear; make`.)
const REPAINTS: u8 = 2;

/// The homes of one command's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Homes {
    /// Counts homes; rows remember it.
    pub epoch: u32,
    /// The last home has not been followed by printing over.
    pub waiting: bool,
    /// The last home is the first of its chain, which needs nothing to print over.
    pub first: bool,
    pub repaints: u8,
    /// The screen as it was at the first home.
    pub before: Option<Vec<Row>>,
    /// Raw offset just after the last home.
    pub offset: u64,
    /// A full-screen program was found out and not yet told.
    pub found: bool,
}

impl Homes {
    /// A command's output begins.
    pub fn begin(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.end();
    }

    /// The chain of homes is broken.
    pub fn end(&mut self) {
        self.waiting = false;
        self.repaints = 0;
        self.before = None;
    }
}

impl Screen {
    /// The cursor was sent to the first column of the first row.
    pub fn homed(&mut self, offset: u64) {
        if self.zones.zone != Zone::Output || self.covered.is_some() || self.log.hide {
            return;
        }
        let homes = &mut self.zones.homes;
        homes.first = homes.before.is_none() || homes.waiting && !homes.first;
        if homes.first {
            homes.repaints = 0;
            homes.before = Some(
                self.grid
                    .lines
                    .iter()
                    .skip(self.grid.held)
                    .cloned()
                    .collect(),
            );
        }
        homes.waiting = true;
        homes.epoch = homes.epoch.wrapping_add(1);
        homes.offset = offset;
    }

    /// Row `y` is about to be printed to, by a command on the normal screen.
    pub fn painted(&mut self, y: usize) {
        let homes = &mut self.zones.homes;
        let row = self.grid.row_mut(y);
        if homes.waiting && row.epoch == homes.epoch.wrapping_sub(1) {
            homes.waiting = false;
            homes.repaints += 1;
        }
        row.epoch = homes.epoch;
        if homes.repaints == REPAINTS {
            self.enter_fullscreen();
        }
    }

    /// A row of the normal screen went to the history: what is on the screen is no longer what was printed since
    /// the first home.
    pub fn scrolled(&mut self) {
        self.zones.homes.end();
    }

    /// The normal screen was cleared, its rows pushed to the history.
    pub fn cleared(&mut self) {
        let homes = &mut self.zones.homes;
        if homes.waiting {
            // A chain may begin with a clear.
            (homes.repaints, homes.first, homes.before) = (0, true, Some(Vec::new()));
        } else {
            homes.end();
        }
    }

    /// What was on the screen before the first home is final; what was painted since is not part of the log.
    fn enter_fullscreen(&mut self) {
        let before = self.zones.homes.before.take().unwrap_or_default();
        self.zones.homes.end();
        self.zones.homes.found = true;
        self.grid.finalize_held(&mut self.log);
        let text = before
            .iter()
            .rposition(|row| !row.is_blank())
            .map_or(0, |last| last + 1);
        for (y, mut row) in before.into_iter().enumerate() {
            row.hidden |= y >= text;
            self.log.finalize(&mut row);
        }
        let note = Note {
            program: self.zones.program.clone(),
            started: self.clock,
            open: true,
            ..Note::default()
        };
        self.log.cooked.notes.push(note);
        self.log.hide = true;
    }

    /// The full-screen program has ended; what it painted stays on the screen until something else is printed
    /// there.
    pub fn leave_fullscreen(&mut self) {
        self.log.hide = false;
        for note in self.log.cooked.notes.iter_mut().filter(|note| note.open) {
            (note.open, note.ended) = (false, self.clock);
        }
        for row in self.grid.lines.iter_mut() {
            row.hidden = true;
        }
        for y in self.cursor.row..self.grid.rows {
            let row = self.grid.row_mut(y);
            row.hidden = !row.is_blank();
        }
        self.zones.shadows = true;
    }
}
