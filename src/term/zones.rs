//! What the markers say about where output comes from, a prompt or a command, and the rules of the log that depend
//! on it. Must not know how markers are spelled.

use super::fullscreen::Homes;
use super::markers::MarkerKind;
use super::marks::MarkId;
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Zones {
    pub zone: Zone,
    /// Printing must be looked at: kept apart so that the common case tests one flag.
    pub watching: bool,
    /// Rows that are hidden from the log may be on the screen.
    pub shadows: bool,
    /// The cursor came to column 0 by a carriage return.
    pub carriage_return: bool,
    /// Where the prompt started, as last drawn.
    pub prompt: Option<MarkId>,
    /// The start of the line that the prompt ended in, as last drawn.
    pub prompt_line: Option<MarkId>,
    /// Where the prompt ended.
    pub typed: Option<MarkId>,
    /// The width changed since the prompt was drawn.
    pub resized: bool,
    /// The command's name, from its line.
    pub program: Option<String>,
    pub homes: Homes,
}

impl Screen {
    /// Works out again whether printing must be looked at.
    pub fn watch(&mut self) {
        self.zones.watching = self.zones.zone == Zone::Output || self.zones.shadows;
    }

    /// A marker changes who prints. True when a full-screen program has ended with that.
    pub fn zone(&mut self, kind: &MarkerKind) -> bool {
        let before = self.zones.zone;
        let mut ended = false;
        match kind {
            MarkerKind::PromptStart => {
                ended = self.leave_output();
                self.prompt_starts(before == Zone::Prompt);
                self.zones.zone = Zone::Prompt;
            }
            MarkerKind::PromptEnd => {
                ended = self.leave_output();
                self.prompt_ends();
                self.zones.zone = Zone::Prompt;
            }
            MarkerKind::OutputStart => {
                self.zones.program = self
                    .zones
                    .typed
                    .and_then(|typed| program(&self.text_between(typed, None)));
                self.forget_prompt();
                self.zones.zone = Zone::Output;
                self.zones.homes.begin();
            }
            MarkerKind::Done { .. } | MarkerKind::Hello { .. } => {
                ended = self.leave_output();
                self.zones.zone = Zone::Unknown;
            }
            MarkerKind::Continuation | MarkerKind::OutputEnd | MarkerKind::Which { .. } => {}
        }
        self.zones.carriage_return = false;
        self.zones.shadows =
            self.zones.shadows && self.grid.lines.iter().any(|row| row.hidden || row.skip > 0);
        self.watch();
        ended
    }

    fn leave_output(&mut self) -> bool {
        self.zones.homes.end();
        self.zones.program = None;
        self.log.hide && self.covered.is_none() && {
            self.leave_fullscreen();
            true
        }
    }

    fn prompt_starts(&mut self, again: bool) {
        if self.covered.is_some() {
            return;
        }
        if self.cursor.col == 0 {
            // What the last command left unfinished is no part of the prompt's line.
            self.grid.unlink_above(self.cursor.row, &mut self.log);
        }
        let old = self.zones.prompt.filter(|_| again);
        if let Some(old) = old.filter(|_| self.zones.resized) {
            self.hide_redrawn(old, self.cursor.row);
        }
        self.forget_prompt();
        self.zones.prompt = Some(self.mark());
        self.zones.resized = false;
    }

    fn prompt_ends(&mut self) {
        if self.covered.is_some() {
            return;
        }
        let first = self.line_start(self.cursor.row);
        if let Some(old) = self.zones.prompt_line.filter(|_| self.zones.resized) {
            // A shell that draws only the last line of its prompt anew prints no start.
            self.hide_redrawn(old, first);
            self.zones.resized = false;
        }
        for mark in [self.zones.prompt_line.take(), self.zones.typed.take()]
            .into_iter()
            .flatten()
        {
            self.log.marks.release(mark);
        }
        self.zones.typed = Some(self.mark());
        let row = self.grid.row_mut(first);
        row.marked = true;
        self.zones.prompt_line = Some(self.log.marks.add(row.id, 0));
    }

    fn forget_prompt(&mut self) {
        let zones = &mut self.zones;
        for mark in [
            zones.prompt.take(),
            zones.prompt_line.take(),
            zones.typed.take(),
        ]
        .into_iter()
        .flatten()
        {
            self.log.marks.release(mark);
        }
    }

    /// Something is printed after a carriage return. In the row in which the prompt ended it is the line, drawn again,
    /// and bash takes its prompt to have begun at column 0, also where something stood before it (what was typed
    /// ahead, output without a line break): the line now stands that much further to the left, over it, and so do the
    /// marks.
    fn line_drawn_again(&mut self) {
        let anchor = |mark: Option<MarkId>| mark.and_then(|mark| self.log.marks.anchor(mark));
        let (Some(prompt), Some(typed)) = (anchor(self.zones.prompt), anchor(self.zones.typed))
        else {
            return;
        };
        let row = self.grid.row(self.cursor.row).id;
        if prompt.col > 0 && self.covered.is_none() && [prompt.row, typed.row] == [row, row] {
            self.log.marks.shift(row, prompt.col);
        }
    }

    /// The row that the line through row `y` begins in, on the screen.
    pub fn line_start(&self, y: usize) -> usize {
        (0..y)
            .rev()
            .find(|&above| !self.grid.row(above).linked)
            .map_or(0, |above| above + 1)
    }

    /// After a change of width a shell draws its prompt again, below what re-flowed of the old one: only the last
    /// is kept. Hides the rows from a mark to row `end` (exclusive).
    fn hide_redrawn(&mut self, from: MarkId, end: usize) {
        let Some((mut first, col)) = self.find(from) else {
            return;
        };
        if col > 0 {
            // Something else stands before the prompt.
            first += 1;
        }
        let end = self.grid.held + end;
        for row in self.grid.lines.iter_mut().take(end).skip(first) {
            row.hidden = true;
            self.zones.shadows = true;
        }
        if let Some(above) = first.checked_sub(1).filter(|_| first < end) {
            self.grid.lines[above].linked = false;
        }
    }

    /// Looks at a place that is about to be printed at.
    pub fn before_print(&mut self) {
        if self.covered.is_some() {
            return;
        }
        let y = self.cursor.row;
        if self.zones.shadows && !self.log.hide {
            let row = self.grid.row_mut(y);
            row.hidden = false;
            if self.cursor.col < row.skip {
                row.skip = 0;
            }
        }
        if self.zones.zone != Zone::Output {
            if std::mem::take(&mut self.zones.carriage_return) {
                self.line_drawn_again();
                self.watch();
            }
            return;
        }
        self.painted(y);
        if std::mem::take(&mut self.zones.carriage_return)
            && self.cursor.col == 0
            && !matches!(self.grid.row(y).cell(0), 0 | 0x20)
        {
            // A progress bar wider than the pane: each turn is a line of its own.
            self.grid.unlink_above(y, &mut self.log);
        }
    }
}

/// The name of the program that a command line runs, for people: the first word that is not an assignment or one of
/// the words that run another.
fn program(line: &str) -> Option<String> {
    const RUNNERS: [&str; 8] = [
        "sudo", "doas", "env", "exec", "command", "builtin", "time", "nohup",
    ];
    let assigns = |word: &str| {
        let name = word.split('=').next().unwrap_or_default();
        word.contains('=') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let word = line
        .split_whitespace()
        .find(|word| !assigns(word) && !RUNNERS.contains(word))?;
    let name = word.rsplit('/').next().unwrap_or_default();
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
    // A name that is none (a quote, a bracket) says less than nothing.
    (!name.is_empty() && name.len() <= 64 && name.chars().all(plain)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::program;

    #[test]
    fn the_program_of_a_line() {
        for (line, expected) in [
            ("vim src/main.rs", Some("vim")),
            ("  sudo EDITOR=x /usr/bin/htop -d 5", Some("htop")),
            ("A=1 B=2 less +F log", Some("less")),
            ("(cd x; top)", None),
            ("A=1", None),
            ("", None),
        ] {
            assert_eq!(program(line).as_deref(), expected, "{line}");
        }
    }
}
