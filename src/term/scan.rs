//! What a run of bytes begins with: the fast ways through plain text. Keeps no state.

/// The character that `bytes` begins with and its length, when it is whole and well formed: what `Decoder` would
/// come to, without its states.
#[inline]
pub fn whole_char(bytes: &[u8]) -> Option<(char, usize)> {
    let bits = |at: usize| match bytes.get(at) {
        Some(&byte) if byte & 0xC0 == 0x80 => Some(u32::from(byte & 0x3F)),
        _ => None,
    };
    let first = u32::from(*bytes.first()?);
    let (code, len, least) = match first {
        0xC0..=0xDF => ((first & 0x1F) << 6 | bits(1)?, 2, 0x80),
        0xE0..=0xEF => ((first & 0x0F) << 12 | bits(1)? << 6 | bits(2)?, 3, 0x800),
        0xF0..=0xF7 => (
            (first & 0x07) << 18 | bits(1)? << 12 | bits(2)? << 6 | bits(3)?,
            4,
            0x1_0000,
        ),
        _ => return None,
    };
    // Not longer than need be, no surrogate, not over U+10FFFF.
    char::from_u32(code)
        .filter(|_| code >= least)
        .map(|c| (c, len))
}

/// How many bytes of printable ASCII `bytes` begins with. Eight at a time.
pub fn ascii_run(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let mut at = 0;
    for chunk in bytes.chunks_exact(8) {
        // chunks_exact gives eight bytes.
        let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        // The high bit of a byte is set when the byte is < 0x20, is 0x7F, or is >= 0x80. A borrow or carry can only
        // come from a lower byte that is itself marked, so the first mark is exact.
        let below = word.wrapping_sub(ONES * 0x20) & !word;
        let above = word.wrapping_add(ONES) | word;
        let marks = (below | above) & HIGH;
        if marks != 0 {
            return at + marks.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + bytes[at..]
        .iter()
        .take_while(|byte| (0x20..=0x7E).contains(*byte))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_at_every_other_byte() {
        for len in 0..40 {
            for byte in (0..=0x1F).chain(0x7F..=0xFF) {
                let mut bytes: Vec<u8> = (0..len).map(|i| 0x20 + i as u8 * 2).collect();
                bytes.extend_from_slice(&[byte, b'x', 0xFF, 0, b'y', b'z', b'x', b'x', b'x']);
                assert_eq!(ascii_run(&bytes), len, "{byte:#x} after {len}");
            }
            assert_eq!(ascii_run(&vec![b'~'; len]), len);
        }
    }

    #[test]
    fn whole_characters_as_the_standard_library() {
        // Every way that four bytes can begin, near the edges of each range.
        let edges = [
            0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xF0, 0xF4,
            0xF5, 0xFF,
        ];
        for first in 0x80..=0xFF {
            for second in edges {
                for third in edges {
                    for fourth in edges {
                        let bytes = [first, second, third, fourth];
                        let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
                        let expected = text.chars().next().map(|c| (c, c.len_utf8()));
                        assert_eq!(whole_char(&bytes), expected, "{bytes:x?}");
                        for len in 0..4 {
                            let cut = expected.filter(|(_, all)| *all <= len);
                            assert_eq!(whole_char(&bytes[..len]), cut, "{bytes:x?} to {len}");
                        }
                    }
                }
            }
        }
    }
}
