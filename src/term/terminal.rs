//! The terminal as the rest of the program sees it: bytes in, final text and events out.

use super::checkpoint;
use super::cooked::Position;
use super::markers::Marker;
use super::marks::MarkId;
use super::parser::Parser;
use super::screen::Screen;
use super::sequences::Performer;
use super::width::Rules;

/// What a terminal is made with.
#[derive(Clone, Debug)]
pub struct Options {
    /// Columns, at least 1.
    pub cols: u16,
    /// Rows, at least 1.
    pub rows: u16,
    /// How wide characters are: by the version of tmux.
    pub rules: Rules,
    /// Only OSC 133 markers with this `n=` count. `None`: the first marker's nonce is taken for the log's own, so
    /// that a recording can be read without knowing it. Markers without a nonce never count.
    pub nonce: Option<String>,
    /// How many rows stay revisable after they have left the screen: as many as the screen may grow by.
    pub hold_back: u16,
}

/// What became of the bytes given. The caller takes it and gives it back empty, or lets it grow.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Text that is final, UTF-8, a `\n` between lines. Appended to.
    pub text: Vec<u8>,
    /// What happened, in order. Appended to.
    pub events: Vec<Event>,
}

/// Something that happened between two bytes. Offsets count raw bytes since the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A marker with our nonce.
    Marker {
        marker: Marker,
        /// Where the cursor stood. The receiver releases it.
        mark: MarkId,
        /// Of the marker's ESC.
        start: u64,
        /// Just after the marker's last byte.
        offset: u64,
    },
    /// A full-screen program began or ended: the alternate screen, or a screen repainted from home; `offset` is
    /// just after the sequence that began it, or before the one that ended it.
    Fullscreen { on: bool, offset: u64 },
    /// A string (OSC, DCS, ...) was too long and given up; text goes on at `offset`.
    Abandoned { offset: u64 },
}

/// Where the cursor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// From 0.
    pub row: u16,
    /// From 0 to the number of columns: there, the next character wraps first.
    pub col: u16,
    /// Its place in the cooked log.
    pub position: Position,
}

/// A terminal and its log.
#[derive(Debug)]
pub struct Terminal {
    parser: Parser,
    performer: Performer,
}

impl Terminal {
    pub fn new(options: Options) -> Terminal {
        let screen = Screen::new(
            options.cols.into(),
            options.rows.into(),
            options.hold_back.into(),
            options.rules,
        );
        Terminal {
            parser: Parser::default(),
            performer: Performer {
                screen,
                events: Vec::new(),
                nonce: options.nonce,
            },
        }
    }

    /// The state as bytes. Stopping here and going on from them changes nothing that follows.
    pub fn checkpoint(&self) -> Vec<u8> {
        checkpoint::save(&self.parser, self.state(), &self.performer.nonce)
    }

    /// The terminal that `checkpoint` described, with its own size; `None` when the bytes are junk, torn, or
    /// another version's. The options other than the size must be those it was made with.
    pub fn restore(bytes: &[u8], options: Options) -> Option<Terminal> {
        let (parser, screen, nonce) =
            checkpoint::load(bytes, options.hold_back.into(), options.rules)?;
        if options.nonce.is_some() && options.nonce != nonce {
            return None;
        }
        Some(Terminal {
            parser,
            performer: Performer {
                screen,
                events: Vec::new(),
                nonce,
            },
        })
    }

    fn state(&self) -> &Screen {
        &self.performer.screen
    }

    /// Runs `work` with the terminal's output going to `out`.
    fn with_output(&mut self, out: &mut Output, work: impl FnOnce(&mut Parser, &mut Performer)) {
        self.performer.screen.log.text = std::mem::take(&mut out.text);
        self.performer.events = std::mem::take(&mut out.events);
        work(&mut self.parser, &mut self.performer);
        out.text = std::mem::take(&mut self.performer.screen.log.text);
        out.events = std::mem::take(&mut self.performer.events);
    }

    /// Takes bytes. Total, and the same for every way to split them.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Output) {
        self.with_output(out, |parser, performer| parser.feed(bytes, performer));
    }

    /// Changes the size as tmux does: rows are re-flowed to a new width by their links.
    pub fn resize(&mut self, cols: u16, rows: u16, out: &mut Output) {
        self.with_output(out, |_, performer| {
            performer.screen.resize(cols.into(), rows.into())
        });
    }

    /// The end of the log: every live row becomes final.
    pub fn finish(&mut self, out: &mut Output) {
        self.with_output(out, |parser, performer| {
            parser.finish(performer);
            performer.screen.finish();
        });
    }

    /// Gives up a string (OSC, DCS, ...) that has not ended in time. To repeat this at the same offset of the same
    /// bytes gives the same text.
    pub fn abandon_string(&mut self, out: &mut Output) {
        self.with_output(out, Parser::abandon_string);
    }

    /// True inside a string, which may be one that never ends.
    pub fn in_string(&self) -> bool {
        self.parser.in_string()
    }

    /// True when the next byte decides where a string has ended: its marker comes with that byte.
    pub(super) fn ends_string(&self) -> bool {
        self.parser.ends_string()
    }

    /// Tells the time in milliseconds, by any clock that only goes forward. It is used for how long a full-screen
    /// program ran.
    pub fn clock(&mut self, ms: u64) {
        self.performer.screen.clock = Some(ms);
    }

    /// Raw bytes taken so far.
    pub fn offset(&self) -> u64 {
        self.parser.offset()
    }

    /// Complete lines written to `Output::text` so far.
    pub fn final_lines(&self) -> u64 {
        self.state().log.cooked.lines()
    }

    /// What is not final: exactly what `finish` would append to `Output::text`.
    pub fn live_text(&self) -> String {
        String::from_utf8_lossy(&self.state().live_text()).into_owned()
    }

    /// Puts a mark at the cursor. It stays with its row through scrolling and re-flow until it is released.
    pub fn mark(&mut self) -> MarkId {
        self.performer.screen.mark()
    }

    /// Puts a line of the caller's own into the log, above the line that the cursor is on.
    pub fn note(&mut self, line: String) {
        self.performer.screen.note(line);
    }

    /// An anchor at the start of the line that the cursor is on.
    pub fn mark_line(&mut self) -> MarkId {
        self.performer.screen.mark_line()
    }

    /// Releases every mark of the caller's but those in `kept`: the owners of others are gone, as after a restart.
    pub fn keep_only(&mut self, kept: &[MarkId]) {
        let Screen { log, zones, .. } = &mut self.performer.screen;
        let own = [zones.prompt, zones.prompt_line, zones.typed];
        log.marks
            .retain(|mark| kept.contains(&mark) || own.contains(&Some(mark)));
    }

    pub fn release(&mut self, mark: MarkId) {
        self.performer.screen.log.marks.release(mark);
    }

    /// Where a mark is in the cooked log; `None` once it is released.
    pub fn locate(&self, mark: MarkId) -> Option<Position> {
        self.state().locate(mark)
    }

    /// Where a mark is, once its row is final.
    pub fn settled(&self, mark: MarkId) -> Option<Position> {
        self.state().log.marks.settled(mark)
    }

    /// The live text from one mark to another: wrapped rows joined, a newline between lines. In a row, what stands
    /// behind cells that were never written (a right prompt) is left out. A mark that is final counts as the start
    /// of the live text.
    pub fn text_between(&self, from: MarkId, to: MarkId) -> String {
        self.state().text_between(from, Some(to))
    }

    /// The live text from a mark to the end.
    pub fn text_from(&self, from: MarkId) -> String {
        self.state().text_between(from, None)
    }

    pub fn cursor(&self) -> Cursor {
        let screen = self.state();
        Cursor {
            // Both come from a u16.
            row: screen.cursor.row as u16,
            col: screen.cursor.col as u16,
            position: screen.cursor_position(),
        }
    }

    /// The line that the cursor is in, up to the cursor, blanks included.
    pub fn cursor_line(&self) -> String {
        self.state().cursor_line()
    }

    /// The alternate screen is shown.
    pub fn alternate(&self) -> bool {
        self.state().covered.is_some()
    }

    /// A full-screen program is running.
    pub fn fullscreen(&self) -> bool {
        self.alternate() || self.state().log.hide
    }

    /// The program asked for bracketed paste.
    pub fn bracketed_paste(&self) -> bool {
        self.state().modes.bracketed_paste
    }

    /// The rows on the screen, without trailing blanks.
    pub fn screen(&self) -> Vec<String> {
        let grid = &self.state().grid;
        (0..grid.rows)
            .map(|y| {
                grid.row(y)
                    .text(0, grid.cols)
                    .trim_end_matches(' ')
                    .to_owned()
            })
            .collect()
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        (self.state().grid.cols as u16, self.state().grid.rows as u16)
    }
}
