//! Text made small for a command line, in characters that no shell treats specially within single quotes.
//! shell/bootstrap/unpack.awk reads it, so that the far side needs awk and nothing else.
//!
//! Each character is seven decisions, its bits. How likely each is tell four counts, of what followed the last 0 to 3
//! characters before; an arithmetic coder writes the decisions as digits of base 91. The unpacker counts along. All
//! numbers are whole and below 2^53, so that every awk comes to the same ones.
//!
//! Must not know what the text is.

use std::collections::HashMap;

/// What makes the text again: an awk program that reads the packed characters and prints the first `g` sections. On
/// one line, since csh knows no quoted line breaks.
pub fn unpacker() -> String {
    include_str!("../../shell/bootstrap/unpack.awk")
        .trim_end()
        .replace('\n', ";")
}

/// Printable ASCII without the quotes, `!` (csh) and the backslash (fish), which some shell takes for its own inside
/// single quotes.
const DIGITS: u64 = 91;

/// 91^6: the value of the first of seven digits, which a range is narrowed within.
const FIRST: u64 = 567_869_252_041;

/// Longer contexts are rarer and surer.
const WEIGHTS: [u64; 4] = [1, 3, 20, 150];

/// The last characters before the first: anything, the same for both sides.
const BEFORE: [u8; 3] = *b"...";

/// Bits of a character.
const BITS: u32 = 7;

/// Ends a section.
const MARK: u8 = 1;

/// Packs sections of text, so that the first ones can be had without the rest. `None` when one holds something else
/// than printable ASCII and line breaks.
pub fn pack(sections: &[&str]) -> Option<String> {
    let mut coder = Coder::default();
    for section in sections {
        for byte in section.bytes() {
            if !matches!(byte, b' '..=b'~' | b'\n') {
                return None;
            }
            coder.character(byte);
        }
        coder.character(MARK);
    }
    Some(coder.finish())
}

struct Coder {
    /// How often a decision was 0 and 1, by the context.
    counts: HashMap<u64, [u64; 2]>,
    last: [u8; 3],
    low: u64,
    high: u64,
    digits: Vec<u64>,
}

impl Default for Coder {
    fn default() -> Coder {
        Coder {
            counts: HashMap::new(),
            last: BEFORE,
            low: 0,
            high: FIRST * DIGITS - 1,
            digits: Vec::new(),
        }
    }
}

impl Coder {
    fn character(&mut self, byte: u8) {
        let mut begun = 1;
        for at in (0..BITS).rev() {
            let bit = usize::from(byte >> at & 1);
            self.decision(begun, bit);
            begun = begun * 2 + bit as u64;
        }
        if byte != MARK {
            self.last = [self.last[1], self.last[2], byte];
        }
    }

    /// `begun`: the bits of this character so far, after a leading 1.
    fn decision(&mut self, begun: u64, bit: usize) {
        let [a, b, c] = self.last;
        let contexts: [u64; WEIGHTS.len()] = std::array::from_fn(|order| {
            let seen = u64::from(u32::from_be_bytes([0, a, b, c])) & ((1 << (8 * order)) - 1);
            (order as u64) << 40 | begun << 32 | seen
        });
        let mut sums = [2, 2];
        for (context, weight) in contexts.iter().zip(WEIGHTS) {
            let counts = self.counts.entry(*context).or_default();
            sums[0] += counts[0] * weight;
            sums[1] += counts[1] * weight;
            counts[bit] += 1;
            // What was seen long ago says less once it is contradicted.
            let other = &mut counts[1 - bit];
            if *other > 2 {
                *other = *other / 2 + 1;
            }
        }
        let share = 65_536 * sums[1] / (sums[0] + sums[1]);
        let middle = self.low + (self.high - self.low) / 65_536 * share;
        if bit == 1 {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        while self.low / FIRST == self.high / FIRST {
            self.digits.push(self.low / FIRST);
            self.low = self.low % FIRST * DIGITS;
            self.high = self.high % FIRST * DIGITS + DIGITS - 1;
        }
    }

    fn finish(mut self) -> String {
        let mut rest = self.high;
        for _ in 0..7 {
            self.digits.push(rest / FIRST);
            rest = rest % FIRST * DIGITS;
        }
        let alphabet: Vec<char> = (b' '..=b'~')
            .map(char::from)
            .filter(|c| !r#"!"'\"#.contains(*c))
            .collect();
        self.digits
            .iter()
            .filter_map(|digit| alphabet.get(*digit as usize))
            .collect()
    }
}

#[cfg(test)]
mod tests;
