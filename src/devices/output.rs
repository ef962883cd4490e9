//! What a session has printed, as text with byte offsets: the last MiB of it. Bytes become characters here, whole ones
//! only, so that an offset that was told never falls inside one. Pure.

use super::Error;

/// Bytes of text that are kept of a session.
pub const KEPT: usize = 1 << 20;

/// What may stand above that before it is cut: cutting moves all of it.
const SLACK: usize = 128 << 10;

/// The longest character, in bytes: what a decoder may have to wait for.
const CHARACTER: usize = 4;

/// Text that grows at its end and is cut at its start.
#[derive(Debug, Default)]
pub struct Output {
    /// Offset of the first byte that is kept.
    start: u64,
    text: String,
    /// The beginning of a character whose rest is still to come.
    begun: Vec<u8>,
}

/// A part of the output.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    pub text: String,
    /// Where the next part begins.
    pub next: u64,
    /// There is more already.
    pub more: bool,
    /// What stood at the cursor is no longer kept: the part begins at the earliest byte that is.
    pub truncated: bool,
}

impl Output {
    /// Takes bytes in. What is no UTF-8 becomes U+FFFD.
    pub fn push(&mut self, bytes: &[u8]) {
        let joined;
        let mut rest = match self.begun.is_empty() {
            true => bytes,
            false => {
                joined = [std::mem::take(&mut self.begun).as_slice(), bytes].concat();
                &joined
            }
        };
        while !rest.is_empty() {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.text.push_str(text);
                    break;
                }
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    self.text.push_str(&String::from_utf8_lossy(good));
                    let Some(length) = error.error_len() else {
                        self.begun = bad.to_vec();
                        break;
                    };
                    self.text.push(char::REPLACEMENT_CHARACTER);
                    rest = &bad[length..];
                }
            }
        }
        if self.text.len() > KEPT + SLACK {
            let mut cut = self.text.len() - KEPT;
            while !self.text.is_char_boundary(cut) {
                cut += 1;
            }
            self.text.drain(..cut);
            self.start += cut as u64;
        }
    }

    /// Nothing more comes: a character that was only begun is none.
    pub fn finish(&mut self) {
        if !std::mem::take(&mut self.begun).is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
    }

    /// Offsets of the first byte that is kept, and of the end.
    pub fn range(&self) -> (u64, u64) {
        (self.start, self.start + self.text.len() as u64)
    }

    /// Up to `most` bytes from the cursor on; whole characters, so at least one where `most` is at least 4.
    pub fn read(&self, cursor: u64, most: usize) -> Result<Part, Error> {
        let (start, end) = self.range();
        if cursor > end {
            return Err(Error::Beyond(cursor, end));
        }
        let truncated = cursor < start;
        // Both fit: the cursor is within the text.
        let from = cursor.saturating_sub(start) as usize;
        if !self.text.is_char_boundary(from) {
            return Err(Error::Inside(cursor));
        }
        let mut to = self.text.len().min(from + most.max(CHARACTER));
        while !self.text.is_char_boundary(to) {
            to -= 1;
        }
        Ok(Part {
            text: self.text[from..to].to_owned(),
            next: start + to as u64,
            more: to < self.text.len(),
            truncated,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(output: &Output, most: usize) -> (String, bool) {
        let (mut cursor, mut text, mut truncated) = (0, String::new(), false);
        loop {
            let part = output.read(cursor, most).unwrap();
            assert!(part.text.len() <= most.max(4));
            truncated |= part.truncated;
            text.push_str(&part.text);
            cursor = part.next;
            if !part.more {
                return (text, truncated);
            }
        }
    }

    #[test]
    fn characters_stay_whole_however_they_come_and_are_read() {
        let printed = "a\u{e9}\u{20ac}\u{1f600}z".repeat(9);
        for split in 1..12 {
            let mut output = Output::default();
            printed
                .as_bytes()
                .chunks(split)
                .for_each(|piece| output.push(piece));
            for most in 4..9 {
                assert_eq!(all(&output, most), (printed.clone(), false));
            }
        }
    }

    #[test]
    fn cursors_that_were_never_told_are_errors() {
        let mut output = Output::default();
        output.push("\u{e9}".as_bytes());
        assert!(matches!(output.read(1, 4), Err(Error::Inside(1))));
        assert!(matches!(output.read(3, 4), Err(Error::Beyond(3, 2))));
        let end = output.read(2, 4).unwrap();
        assert_eq!((end.text.as_str(), end.next, end.more), ("", 2, false));
    }

    #[test]
    fn what_is_no_utf8_is_replaced_and_told_once() {
        let mut output = Output::default();
        output.push(b"a\xffb\xe2\x82");
        assert_eq!(all(&output, 64).0, "a\u{fffd}b");
        output.push(b"c\xf0\x9f");
        output.finish();
        assert_eq!(all(&output, 64).0, "a\u{fffd}b\u{fffd}c\u{fffd}");
    }

    #[test]
    fn the_oldest_goes_and_reading_resumes_at_the_earliest_kept() {
        let mut output = Output::default();
        for _ in 0..40 {
            output.push("\u{e9}".repeat(32 << 10).as_bytes());
        }
        let (start, end) = output.range();
        assert_eq!(end, 40 * (64 << 10));
        assert!((end - start) as usize >= KEPT && (end - start) as usize <= KEPT + SLACK);
        let part = output.read(0, 65536).unwrap();
        assert!(part.truncated && part.more && part.next == start + 65536);
        assert!(!output.read(start, 4).unwrap().truncated);
    }
}
