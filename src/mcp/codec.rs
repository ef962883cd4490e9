//! Lines in and lines out. Must not know what a line says.

use std::io::{self, BufRead, BufReader, Read, Write};

use super::scan::Scan;

/// The longest line that is read, in bytes without its end; the longest input that a tool takes is far below.
pub const LINE_LIMIT: usize = 16 << 20;

/// A line's buffer over this size is given back after use, so that one large message does not stay in memory.
const KEPT_BUFFER: usize = 1 << 20;

/// One line of a client.
#[derive(Debug)]
pub enum Line<'a> {
    /// Without its end (LF or CRLF), never blank.
    Whole(&'a [u8]),
    /// Over the limit: skipped, and looked at in passing.
    TooLong(Scan),
}

/// Cuts a stream into lines.
#[derive(Debug)]
pub struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
}

impl<R: Read> Lines<R> {
    pub fn new(reader: R) -> Self {
        Self::with_limit(reader, LINE_LIMIT)
    }

    fn with_limit(reader: R, limit: usize) -> Self {
        Self {
            input: BufReader::with_capacity(64 << 10, reader),
            line: Vec::new(),
            limit,
        }
    }

    /// The next line that is not blank, the last one also without a newline. None at the end of input.
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            if self.line.capacity() > KEPT_BUFFER {
                self.line = Vec::new();
            }
            self.line.clear();
            // Two more than the limit, for CRLF.
            let most = self.limit as u64 + 2;
            if self
                .input
                .by_ref()
                .take(most)
                .read_until(b'\n', &mut self.line)?
                == 0
            {
                return Ok(None);
            }
            let ended = self.line.last() == Some(&b'\n');
            let length = self.line.trim_ascii_end().len();
            if length > self.limit || !ended && self.line.len() > self.limit {
                let mut scan = Scan::line(&self.line);
                if !ended {
                    self.skip(&mut scan)?;
                }
                return Ok(Some(Line::TooLong(scan)));
            }
            if length > 0 {
                return Ok(Some(Line::Whole(&self.line[..length])));
            }
        }
    }

    fn skip(&mut self, scan: &mut Scan) -> io::Result<()> {
        loop {
            let bytes = match self.input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let newline = bytes.iter().position(|&byte| byte == b'\n');
            let used = newline.unwrap_or(bytes.len());
            scan.feed(&bytes[..used]);
            let ended = bytes.is_empty() || newline.is_some();
            self.input.consume(used + usize::from(newline.is_some()));
            if ended {
                return Ok(());
            }
        }
    }
}

/// Writes one message with its newline, in one write where the stream takes it so.
pub fn write_line(writer: &mut impl Write, mut message: String) -> io::Result<()> {
    message.push('\n');
    writer.write_all(message.as_bytes())?;
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of `input`: whole lines as text, lines over 12 bytes as their id.
    fn cut(input: &[u8]) -> Vec<String> {
        let mut lines = Lines::with_limit(input, 12);
        let mut cut = Vec::new();
        while let Some(line) = lines.next().expect("a slice can be read") {
            cut.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong(scan) => format!("too long {:?}", scan.id().map(|id| id.to_json())),
            });
        }
        cut
    }

    #[test]
    fn ends_and_blanks() {
        assert_eq!(cut(b""), [""; 0]);
        assert_eq!(cut(b"a\nb\r\n\n\r\n \t \nc"), ["a", "b", "c"]);
    }

    #[test]
    fn the_limit_is_exact() {
        assert_eq!(cut(b"123456789012\nx\n"), ["123456789012", "x"]);
        assert_eq!(cut(b"123456789012\r\nx\n"), ["123456789012", "x"]);
        assert_eq!(cut(b"123456789012"), ["123456789012"]);
        assert_eq!(cut(b"1234567890123\nx\n"), ["too long None", "x"]);
        assert_eq!(cut(b"1234567890123"), ["too long None"]);
        assert_eq!(cut(b"12345678901234567890\r\nx"), ["too long None", "x"]);
    }

    #[test]
    fn a_long_line_keeps_its_id_and_is_skipped_to_its_end() {
        let mut input = b"{\"p\":\"".to_vec();
        input.extend(b"y".repeat(200_000));
        input.extend(b"\",\"id\":5}\nnext\n");
        assert_eq!(cut(&input), ["too long Some(\"5\")", "next"]);
        assert_eq!(
            cut(b"{\"id\":41,\"p\":\"yyyyyyyyyyyyyyyy"),
            ["too long Some(\"41\")"]
        );
    }
}
