//! An incremental UTF-8 decoder: bytes in, characters out, one U+FFFD per maximal subpart of what is malformed
//! (Unicode, chapter 3.9, "U+FFFD Substitution of Maximal Subparts"). Knows nothing of terminals.

/// What one more byte led to.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// The byte was taken; the character is not complete.
    More,
    /// The byte completed this character.
    Char(char),
    /// The byte can begin nothing: it stands for one U+FFFD by itself.
    Malformed,
    /// The sequence before this byte is cut short: one U+FFFD for it, and the byte is to be looked at again.
    Broken,
}

/// The bytes of a character that has begun and is not complete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoder {
    /// The bits collected so far.
    bits: u32,
    /// How many bytes are missing; 0 between characters.
    missing: u8,
    /// The range that the next byte must be in.
    low: u8,
    high: u8,
}

impl Decoder {
    /// True between characters.
    pub fn is_idle(&self) -> bool {
        self.missing == 0
    }

    /// Drops a character that has begun.
    pub fn reset(&mut self) {
        self.missing = 0;
    }

    /// Takes a byte. Between characters only bytes >= 0x80 may be given.
    pub fn push(&mut self, byte: u8) -> Step {
        if self.missing == 0 {
            let (bits, missing, low, high) = match byte {
                0xC2..=0xDF => (byte & 0x1F, 1, 0x80, 0xBF),
                0xE0 => (0, 2, 0xA0, 0xBF),
                0xED => (0x0D, 2, 0x80, 0x9F),
                0xE1..=0xEF => (byte & 0x0F, 2, 0x80, 0xBF),
                0xF0 => (0, 3, 0x90, 0xBF),
                0xF1..=0xF3 => (byte & 0x07, 3, 0x80, 0xBF),
                0xF4 => (0x04, 3, 0x80, 0x8F),
                _ => return Step::Malformed,
            };
            (self.bits, self.missing, self.low, self.high) = (bits.into(), missing, low, high);
            return Step::More;
        }
        if !(self.low..=self.high).contains(&byte) {
            self.missing = 0;
            return Step::Broken;
        }
        self.bits = self.bits << 6 | u32::from(byte & 0x3F);
        self.missing -= 1;
        (self.low, self.high) = (0x80, 0xBF);
        if self.missing > 0 {
            return Step::More;
        }
        // The ranges above admit no surrogate and nothing over U+10FFFF.
        char::from_u32(self.bits).map_or(Step::Malformed, Step::Char)
    }

    /// The state as four numbers, for a checkpoint.
    pub fn save(&self) -> (u32, u8, u8, u8) {
        (self.bits, self.missing, self.low, self.high)
    }

    /// The decoder that `save` described; `None` when no decoder has such a state.
    pub fn load((bits, missing, low, high): (u32, u8, u8, u8)) -> Option<Decoder> {
        let fits = missing <= 3 && bits < 1 << 15 && low >= 0x80 && high <= 0xBF;
        (missing == 0 || fits).then_some(Decoder {
            bits,
            missing,
            low,
            high,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &str) {
        let mut decoder = Decoder::default();
        let mut text = String::new();
        for &byte in bytes {
            loop {
                if decoder.is_idle() && byte < 0x80 {
                    text.push(byte as char);
                    break;
                }
                match decoder.push(byte) {
                    Step::More => break,
                    Step::Char(c) => text.push(c),
                    Step::Malformed => text.push('\u{FFFD}'),
                    Step::Broken => {
                        text.push('\u{FFFD}');
                        continue;
                    }
                }
                break;
            }
        }
        if !decoder.is_idle() {
            text.push('\u{FFFD}');
        }
        assert_eq!(text, expected);
        assert_eq!(
            text,
            String::from_utf8_lossy(bytes),
            "the standard library agrees"
        );
    }

    #[test]
    fn one_replacement_per_maximal_subpart() {
        check("aé漢🙂\u{10FFFF}".as_bytes(), "aé漢🙂\u{10FFFF}");
        check(b"a\x80b", "a\u{FFFD}b");
        check(b"\xF1\x80\x80\xE1\x80\xC2b", "\u{FFFD}\u{FFFD}\u{FFFD}b");
        check(
            b"\xE0\x80\xED\xA0\x80",
            "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}",
        );
        check(
            b"\xF4\x90\x80\x80\xF5\xFF\xC0",
            "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}",
        );
        check(b"a\xE4\xE4\xBD\xA0b", "a\u{FFFD}你b");
    }
}
