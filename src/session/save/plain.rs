//! From a terminal's bytes to what a program wrote. Must not know where they come from or go.

/// A marker of the shells that is longer than this is none: the shells' own are under 2 KiB.
const MARKER_MOST: usize = 8 * 1024;

/// From a terminal's bytes to what the program wrote: line ends as the program has them, and without our markers.
#[derive(Debug, Default)]
pub struct Plain {
    /// Bytes that what follows decides about.
    held: Vec<u8>,
    /// Text of an unfinished line that may be a prompt.
    line: Vec<u8>,
}

const MARKER: &[u8] = b"\x1b]133;";

/// What the shells print before the marker of a command's end, for output that ends in the midst of a string.
const TERMINATOR: &[u8] = b"\x1b\\";

impl Plain {
    /// The last bytes that were pushed are no part of it, as far as they are still held.
    pub fn unread(&mut self, count: usize) {
        self.held.truncate(self.held.len().saturating_sub(count));
    }

    /// What bytes of a region come to. `lines`: only whole lines; `last`: the region ends with them; `prompt`: what
    /// stands after the last line is the program's prompt.
    pub fn push(&mut self, bytes: &[u8], lines: bool, last: bool, prompt: bool) -> Vec<u8> {
        let mut input = std::mem::take(&mut self.held);
        input.extend_from_slice(bytes);
        let mut text = std::mem::take(&mut self.line);
        let mut at = 0;
        while at < input.len() {
            let rest = &input[at..];
            match rest[0] {
                b'\r' if rest.len() == 1 && !last => break,
                b'\r' if rest.get(1) == Some(&b'\n') => at += 1,
                b'\x1b' if rest.starts_with(MARKER) => match marker_end(rest) {
                    Some(end) => at += end,
                    None if rest.len() > MARKER_MOST || last => {
                        text.push(rest[0]);
                        at += 1;
                    }
                    None => break,
                },
                b'\x1b' if rest.starts_with(TERMINATOR) => {
                    let after = &rest[TERMINATOR.len()..];
                    let ends = after.starts_with(MARKER) || last && !lines && after.is_empty();
                    if !ends && !last && MARKER.starts_with(after) {
                        break;
                    }
                    if !ends {
                        text.extend_from_slice(TERMINATOR);
                    }
                    at += TERMINATOR.len();
                }
                b'\x1b' if MARKER.starts_with(rest) && !last => break,
                b'\x1b' if TERMINATOR.starts_with(rest) && !last => break,
                byte => {
                    text.push(byte);
                    at += 1;
                }
            }
        }
        self.held = input.split_off(at);
        if lines && (!last || prompt) {
            let whole = text
                .iter()
                .rposition(|&byte| byte == b'\n')
                .map_or(0, |end| end + 1);
            self.line = text.split_off(whole);
        }
        if last {
            self.line.clear();
        }
        text
    }
}

/// The length of a marker: to BEL, or to ESC and a backslash.
fn marker_end(bytes: &[u8]) -> Option<usize> {
    let end = bytes
        .iter()
        .skip(1)
        .position(|byte| matches!(byte, 0x07 | 0x1b))?
        + 1;
    match bytes[end] {
        0x07 => Some(end + 1),
        _ => (bytes.get(end + 1) == Some(&b'\\')).then_some(end + 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same however the bytes are split.
    fn check(bytes: &[u8], want: &[u8]) {
        for size in 1..=bytes.len().max(1) {
            let mut plain = Plain::default();
            let mut text = Vec::new();
            let count = bytes.chunks(size).count();
            for (at, chunk) in bytes.chunks(size).enumerate() {
                text.extend(plain.push(chunk, false, at + 1 == count, false));
            }
            assert_eq!(
                String::from_utf8_lossy(&text),
                String::from_utf8_lossy(want),
                "in pieces of {size}"
            );
        }
    }

    #[test]
    fn line_ends_are_the_programs() {
        check(b"a\r\nb\r\n", b"a\nb\n");
        check(b"dos\r\r\n", b"dos\r\n");
        check(b"1 %\r2 %\r", b"1 %\r2 %\r");
        check(b"no end", b"no end");
    }

    #[test]
    fn the_terminator_before_an_end_is_the_shells() {
        check(b"out\r\n\x1b\\", b"out\n");
        check(b"a\x1b\\\x1b]133;D;0\x07b", b"ab");
        check(b"\x1bPq\x1b\\b", b"\x1bPq\x1b\\b");
    }

    #[test]
    fn markers_go_and_nothing_else() {
        check(b"a\x1b]133;C;pid=7\x07b\x1b]133;D;0\x1b\\c\r\n", b"abc\n");
        check(
            b"\x1b[31mred\x1b]0;title\x07",
            b"\x1b[31mred\x1b]0;title\x07",
        );
        check(b"cut\x1b]13", b"cut\x1b]13");
    }

    #[test]
    fn a_part_of_the_marker_at_the_end_is_no_output() {
        let end = b"\x1b\\\x1b]133;D;0;p=0;n=5e1f;pid=7\x07";
        for cut in TERMINATOR.len()..end.len() {
            let mut plain = Plain::default();
            let mut text = plain.push(&[b"out\r\n", &end[..cut]].concat(), false, false, false);
            plain.unread(cut - TERMINATOR.len());
            text.extend(plain.push(b"", false, true, false));
            assert_eq!(String::from_utf8_lossy(&text), "out\n", "{cut} bytes of it");
        }
    }

    #[test]
    fn a_prompt_is_no_output() {
        let mut plain = Plain::default();
        assert_eq!(plain.push(b"4\r\n>>", true, false, false), b"4\n");
        assert_eq!(plain.push(b"> ", true, true, true), b"");
        assert_eq!(plain.push(b"again", true, true, false), b"again");
    }
}
