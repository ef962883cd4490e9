//! What each control, escape and control sequence means to the screen, and what OSC is listened to.

use super::markers::Marker;
use super::params::Params;
use super::perform::{Perform, Span};
use super::screen::Screen;
use super::terminal::Event;

/// An SGR of at most this many bytes has too few parameters to be dropped, and a number that is too large only
/// matters to REP.
const SAFE_SGR: usize = 22;

/// The screen and what listens to it.
#[derive(Debug)]
pub struct Performer {
    pub screen: Screen,
    pub events: Vec<Event>,
    /// The nonce of the markers that count; until one is known, the first marker's.
    pub nonce: Option<String>,
}

impl Perform for Performer {
    #[inline]
    fn print_ascii(&mut self, run: &[u8]) {
        self.screen.print_ascii(run);
        if self.screen.zones.watching {
            self.tell();
        }
    }

    #[inline]
    fn print(&mut self, c: char) {
        self.screen.print(c);
        if self.screen.zones.watching {
            self.tell();
        }
    }

    #[inline]
    fn control(&mut self, byte: u8) {
        let screen = &mut self.screen;
        match byte {
            0x08 => screen.backspace(),
            0x09 => screen.tab(),
            0x0A..=0x0C => screen.line_feed(),
            0x0D => screen.carriage_return(),
            0x0E => screen.charsets.shifted = true,
            0x0F => screen.charsets.shifted = false,
            _ => {}
        }
        screen.last = None;
    }

    fn escape(&mut self, intermediates: &[u8], byte: u8) {
        let screen = &mut self.screen;
        match (intermediates, byte) {
            (b"", b'7') => screen.save_cursor(),
            (b"", b'8') => screen.restore_cursor(),
            (b"#", b'8') => screen.fill(),
            (b"(", b'0') => screen.charsets.g[0] = true,
            (b"(", b'B') => screen.charsets.g[0] = false,
            (b")", b'0') => screen.charsets.g[1] = true,
            (b")", b'B') => screen.charsets.g[1] = false,
            (b"", b'D') => screen.line_feed(),
            (b"", b'E') => {
                screen.carriage_return();
                screen.line_feed();
            }
            (b"", b'H') => screen.set_tab(true),
            (b"", b'M') => screen.reverse_index(),
            (b"", b'c') => screen.reset(),
            (b"", b'=' | b'>' | b'\\') => {}
            // Not known: not even REP forgets its character.
            _ => return,
        }
        screen.last = None;
    }

    #[inline]
    fn csi(&mut self, params: &[u8], intermediates: &[u8], byte: u8, end: u64) {
        // The common case: SGR, which nothing reads.
        let known = byte == b'm' && intermediates.is_empty() && params.len() <= SAFE_SGR
            || Params::parse(params)
                .is_some_and(|params| self.sequence(&params, intermediates, byte, end));
        if known {
            self.screen.last = None;
        }
    }

    fn string(&mut self) {
        self.screen.last = None;
    }

    fn osc(&mut self, string: &[u8], span: Span) {
        if let Some(marker) = Marker::parse(string) {
            self.marker(marker, span);
        }
    }

    fn abandoned(&mut self, offset: u64) {
        self.events.push(Event::Abandoned { offset });
    }
}

impl Performer {
    /// Carries out a control sequence. False when there is no such sequence.
    fn sequence(&mut self, params: &Params, intermediates: &[u8], byte: u8, end: u64) -> bool {
        let screen = &mut self.screen;
        // One that counts, from 1.
        let count = params.get(0, 1, 1);
        match (intermediates, byte) {
            (b"", b'H' | b'f') => {
                if let (Some(row), Some(col)) = (count, params.get(1, 1, 1)) {
                    screen.go_to(Some(row - 1), Some(col - 1), true);
                    if row == 1 && col == 1 {
                        screen.homed(end);
                    }
                }
                return true;
            }
            (b"", b'J') => {
                match params.get(0, 0, 0) {
                    Some(0) => screen.erase_below(),
                    Some(1) => screen.erase_above(),
                    Some(2) => screen.erase_screen(),
                    // Of the history, which the log does not forget.
                    Some(3) => screen.grid.scrolled = 0,
                    _ => {}
                }
                return true;
            }
            (b"", b'K') => {
                match params.get(0, 0, 0) {
                    Some(0) => screen.erase_line_right(),
                    Some(1) => screen.erase_line_left(),
                    Some(2) => screen.erase_line(),
                    _ => {}
                }
                return true;
            }
            (b"", b'g') => {
                match params.get(0, 0, 0) {
                    Some(0) => screen.set_tab(false),
                    Some(3) => screen.tabs.fill(false),
                    _ => {}
                }
                return true;
            }
            (b"", b'r') => {
                let rows = screen.grid.rows;
                if let (Some(top), Some(bottom)) = (count, params.get(1, 1, rows)) {
                    screen.set_region(top - 1, bottom - 1);
                }
                return true;
            }
            (b"", b's') => {
                screen.save_cursor();
                return true;
            }
            (b"", b'u') => {
                screen.restore_cursor();
                return true;
            }
            (b"", b'c' | b'm' | b'n' | b't')
            | (b">", b'c' | b'm' | b'n' | b'q')
            | (b"?", b'S')
            | (b" ", b'q') => return true,
            (b"", b'h' | b'l') => {
                for index in 0..params.len() {
                    if params.get(index, 0, 0) == Some(4) {
                        screen.modes.insert = byte == b'h';
                    }
                }
                return true;
            }
            (b"?", b'h' | b'l') => {
                for index in 0..params.len() {
                    if let Some(mode) = params.get(index, 0, 0) {
                        self.private_mode(mode, byte == b'h', end);
                    }
                }
                return true;
            }
            (b"", _) => {}
            _ => return false,
        }
        let Some(count) = count else { return true };
        match byte {
            b'@' => screen.insert_chars(count),
            b'A' => screen.up(count),
            b'B' => screen.down(count),
            b'C' => screen.right(count),
            b'D' => screen.left(count),
            b'E' => {
                screen.carriage_return();
                screen.down(count);
            }
            b'F' => {
                screen.carriage_return();
                screen.up(count);
            }
            b'G' | b'`' => screen.go_to(None, Some(count - 1), true),
            b'L' => screen.insert_lines(count),
            b'M' => screen.delete_lines(count),
            b'P' => screen.delete_chars(count),
            b'S' => screen.scroll_up(count),
            b'T' => screen.scroll_down(count),
            b'X' => screen.erase_chars(count),
            b'Z' => screen.tab_back(count),
            b'b' => {
                let room = screen.grid.cols - screen.cursor.col;
                if let Some(c) = screen.last {
                    for _ in 0..count.min(room) {
                        screen.print(c);
                    }
                }
            }
            b'd' => screen.go_to(Some(count - 1), None, true),
            _ => return false,
        }
        true
    }

    fn private_mode(&mut self, mode: usize, on: bool, end: u64) {
        let screen = &mut self.screen;
        match mode {
            3 => {
                screen.go_to(Some(0), Some(0), true);
                screen.erase_screen();
            }
            6 => {
                screen.modes.origin = on;
                screen.go_to(Some(0), Some(0), true);
            }
            7 => screen.modes.wrap = on,
            47 | 1047 | 1049 => {
                let with_cursor = mode == 1049;
                let changed = if on {
                    screen.enter_alternate(with_cursor)
                } else {
                    screen.leave_alternate(with_cursor)
                };
                if changed && !screen.log.hide {
                    self.events.push(Event::Fullscreen { on, offset: end });
                }
            }
            2004 => screen.modes.bracketed_paste = on,
            _ => {}
        }
    }

    fn marker(&mut self, marker: Marker, span: Span) {
        match (&self.nonce, &marker.nonce) {
            (Some(ours), Some(theirs)) if ours == theirs => {}
            (None, Some(theirs)) => self.nonce = Some(theirs.clone()),
            _ => return,
        }
        let ended = self.screen.zone(&marker.kind);
        if ended {
            self.events.push(Event::Fullscreen {
                on: false,
                offset: span.start,
            });
        }
        let mark = self.screen.mark();
        self.events.push(Event::Marker {
            marker,
            mark,
            start: span.start,
            offset: span.end,
        });
    }

    /// Tells of a full-screen program that printing has given away.
    fn tell(&mut self) {
        if std::mem::take(&mut self.screen.zones.homes.found) {
            self.events.push(Event::Fullscreen {
                on: true,
                offset: self.screen.zones.homes.offset,
            });
        }
    }
}
