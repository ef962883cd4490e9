//! What the markers say about where output comes from: a prompt or a command. A few rules of the log depend on it.
//! Must not know how markers are spelled.

use super::grid::Grid;
use super::markers::MarkerKind;
use super::row::Row;
use super::screen::Screen;

/// Who prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zone {
    /// Not known: no marker yet, or between a command's end and the next prompt.
    #[default]
    Unknown,
    /// The shell: from a prompt's start until a command is sent.
    Prompt,
    /// A command.
    Output,
}

/// The state of those rules.
#[derive(Clone, Debug, Default)]
pub struct Zones {
    pub zone: Zone,
    /// Printing must be looked at (kept apart so that the common case tests one flag).
    pub watching: bool,
    /// The cursor came to column 0 by a carriage return.
    pub carriage_return: bool,
    /// The command's name, from its line.
    pub program: Option<String>,
    /// Rows as they were at the first home of a chain that may be a full-screen program's.
    pub before: Option<Vec<Row>>,
}

impl Zones {
    pub fn scrolled(&mut self) {}
    pub fn cleared(&mut self, _grid: &Grid) {}
}

impl Screen {
    pub fn homed(&mut self) {}

    /// A marker changes who prints.
    pub fn zone(&mut self, kind: &MarkerKind) {
        self.zones.zone = match kind {
            MarkerKind::PromptStart | MarkerKind::Continuation | MarkerKind::PromptEnd => {
                Zone::Prompt
            }
            MarkerKind::OutputStart => Zone::Output,
            MarkerKind::Done { .. } | MarkerKind::Hello { .. } => Zone::Unknown,
            MarkerKind::OutputEnd => self.zones.zone,
        };
        if *kind == MarkerKind::PromptStart && self.cursor.col == 0 && self.covered.is_none() {
            self.grid.unlink_above(self.cursor.row, &mut self.log);
        }
        self.zones.watching = self.zones.zone == Zone::Output;
    }

    /// Looks at a place that is about to be printed at.
    pub fn before_print(&mut self) {
        let row = self.cursor.row;
        if self.zones.zone == Zone::Output
            && std::mem::take(&mut self.zones.carriage_return)
            && self.cursor.col == 0
            && self.covered.is_none()
            && !matches!(self.grid.row(row).cell(0), 0 | 0x20)
        {
            // A progress bar wider than the pane: each turn is a line of its own.
            self.grid.unlink_above(row, &mut self.log);
        }
    }
}
