//! Bytes to plain text in the order in which they were printed: escape sequences are left out, and nothing is moved
//! or overwritten. For who reads an output as a stream; what a screen would show is [`super::Terminal`]'s.

use super::parser::Parser;
use super::perform::{Perform, Span};

/// The state between two bytes. Total, and the same for every way to split the input.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    parser: Parser,
    line: Line,
}

/// The line that is being printed.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    /// Something stands in it.
    begun: bool,
    /// A CR came after that: what is printed next begins a new line, unless it is the LF of the same break.
    returned: bool,
}

impl Plain {
    /// Takes bytes and appends their text. A CR LF is one line break, also with several CRs; a CR on its own begins a
    /// new line, so that each state of a progress line is a line. Invalid UTF-8 is replaced (U+FFFD per maximal
    /// subpart); control characters other than tabs and line breaks are left out.
    pub fn feed(&mut self, bytes: &[u8], out: &mut String) {
        let line = &mut self.line;
        self.parser.feed(bytes, &mut Writer { line, out });
    }

    /// Raw bytes taken so far.
    pub fn offset(&self) -> u64 {
        self.parser.offset()
    }

    /// True inside a string (OSC, DCS, ...), which may be one that never ends.
    pub fn in_string(&self) -> bool {
        self.parser.in_string()
    }

    /// Gives up the string that the input is in, if any. To repeat this at the same offset of the same bytes gives
    /// the same text.
    pub fn abandon_string(&mut self) {
        let (line, out) = (&mut self.line, &mut String::new());
        self.parser.abandon_string(&mut Writer { line, out });
    }

    /// Appends what the end of the input adds here: a character that was cut is replaced.
    pub fn end(&self, out: &mut String) {
        let Plain {
            mut parser,
            mut line,
        } = self.clone();
        let line = &mut line;
        parser.finish(&mut Writer { line, out });
    }
}

struct Writer<'a> {
    line: &'a mut Line,
    out: &'a mut String,
}

impl Writer<'_> {
    fn begin(&mut self) {
        if std::mem::take(&mut self.line.returned) {
            self.out.push('\n');
        }
        self.line.begun = true;
    }
}

impl Perform for Writer<'_> {
    fn print_ascii(&mut self, run: &[u8]) {
        self.begin();
        self.out.push_str(&String::from_utf8_lossy(run));
    }

    fn print(&mut self, c: char) {
        // C1 controls, spelled in UTF-8.
        if !c.is_control() {
            self.begin();
            self.out.push(c);
        }
    }

    fn control(&mut self, byte: u8) {
        match byte {
            b'\t' => {
                self.begin();
                self.out.push('\t');
            }
            b'\n' | 0x0B | 0x0C => {
                *self.line = Line::default();
                self.out.push('\n');
            }
            b'\r' => self.line.returned = self.line.begun,
            _ => {}
        }
    }

    fn escape(&mut self, _intermediates: &[u8], _byte: u8) {}

    fn csi(&mut self, _params: &[u8], _intermediates: &[u8], _byte: u8, _end: u64) {}

    fn string(&mut self) {}

    fn osc(&mut self, _string: &[u8], _span: Span) {}

    fn abandoned(&mut self, _offset: u64) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However the input is split, and wherever the state is copied.
    fn check(bytes: &[u8], want: &str) {
        for at in 0..=bytes.len() {
            let (mut plain, mut out) = (Plain::default(), String::new());
            plain.feed(&bytes[..at], &mut out);
            let mut copy = plain.clone();
            copy.feed(&bytes[at..], &mut out);
            copy.end(&mut out);
            assert_eq!(out, want, "split at {at}");
            assert_eq!(copy.offset(), bytes.len() as u64);
        }
    }

    #[test]
    fn breaks() {
        check(b"a\r\nb\n\nc\r\r\nd", "a\nb\n\nc\nd");
        check(b"10%\r20%\r30%\r\n", "10%\n20%\n30%\n");
        check(b"1\r\x1b[K2\r\x1b[2K\r3\r", "1\n2\n3");
        check(b"\r\n\rx\n\ry\x0bz", "\nx\ny\nz");
        check(b"a\tb\r\tc", "a\tb\n\tc");
    }

    #[test]
    fn sequences_and_controls_are_left_out() {
        check(b"\x1b[1;31mred\x1b[0m\x07\x08\x00 \x7fx", "red x");
        check(
            b"\x1b]0;title\x07a\x1b]8;;u\x1b\\b\x1bP1$r0m\x1b\\c\x1b(0q",
            "abcq",
        );
        check("\u{9b}1m\u{85}é漢🙂".as_bytes(), "1mé漢🙂");
    }

    #[test]
    fn invalid_utf8_is_replaced() {
        check(
            b"a\xffb\xe4\xbd\nc\xe4\xbd",
            "a\u{fffd}b\u{fffd}\nc\u{fffd}",
        );
    }

    #[test]
    fn a_string_without_an_end_can_be_given_up() {
        let (mut plain, mut out) = (Plain::default(), String::new());
        plain.feed(b"a\r\x1b]0;never", &mut out);
        assert!(plain.in_string());
        plain.abandon_string();
        plain.feed(b"b", &mut out);
        assert_eq!(out, "a\nb");
    }
}
