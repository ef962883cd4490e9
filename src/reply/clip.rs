//! Output cut to what a reply may hold: lines first, then characters. What is left out is always told, with its
//! line numbers.

use super::words;

/// Characters of a reply when the caller names no number of lines, and whatever it names.
pub const CHARS_DEFAULT: usize = 10_000;
pub const CHARS_MOST: usize = 40_000;

/// A longer line is cut in its middle, with its length told.
pub const LINE_CHARS: usize = 2_000;

/// One line of output, numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub number: u64,
    pub text: String,
}

/// A line's text for a reply: `head` and `tail` of its bytes with `omitted` bytes between them that were not even
/// read.
pub fn line(number: u64, bytes: &[u8], omitted: u64) -> Shown {
    let text = String::from_utf8_lossy(bytes);
    let chars = text.chars().count();
    if omitted == 0 && chars <= LINE_CHARS {
        return Shown {
            number,
            text: text.into_owned(),
        };
    }
    let half = LINE_CHARS / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text
        .chars()
        .skip(chars.saturating_sub(half).max(half.min(chars)))
        .collect();
    let length = words::number(bytes.len() as u64 + omitted);
    Shown {
        number,
        text: format!("{head}[... line {number} cut: {length} bytes in all ...]{tail}"),
    }
}

/// Both ends of an output of `total` lines, the first of them numbered `first`.
#[derive(Clone, Debug, Default)]
pub struct Ends {
    pub head: Vec<Shown>,
    pub tail: Vec<Shown>,
}

/// The text of a clipped output, and the range of lines left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clipped {
    pub text: String,
    /// First and last line left out.
    pub omitted: Option<(u64, u64)>,
}

impl Ends {
    /// How many lines to read from each end when `most` may be shown.
    pub fn split(total: u64, most: usize) -> (usize, usize) {
        if total <= most as u64 {
            return (most, 0);
        }
        (most.div_ceil(2), most / 2)
    }

    /// Joins both ends, leaving out lines from the middle until at most `chars` characters remain. `render` makes a
    /// line's text.
    pub fn clip(mut self, chars: usize, render: impl Fn(&Shown) -> String) -> Clipped {
        let length = |lines: &[Shown]| {
            lines
                .iter()
                .map(|line| render(line).chars().count() + 1)
                .sum::<usize>()
        };
        let (mut head, mut tail) = (length(&self.head), length(&self.tail));
        if self.tail.is_empty() && head > chars {
            let half = self.head.len() / 2;
            self.tail = self.head.split_off(self.head.len() - half);
            (head, tail) = (length(&self.head), length(&self.tail));
        }
        while head + tail > chars && self.head.len() + self.tail.len() > 1 {
            if head >= tail {
                head -= self
                    .head
                    .pop()
                    .map_or(0, |line| render(&line).chars().count() + 1);
            } else {
                tail -= render(&self.tail.remove(0)).chars().count() + 1;
            }
        }
        let last_head = self.head.last().map(|line| line.number);
        let first_tail = self.tail.first().map(|line| line.number);
        let omitted = match (last_head, first_tail) {
            (Some(last), Some(first)) if first > last + 1 => Some((last + 1, first - 1)),
            _ => None,
        };
        let mut lines: Vec<String> = self.head.iter().map(&render).collect();
        if let Some((from, to)) = omitted {
            lines.push(format!(
                "[... {} omitted: {from}-{to}; `read` start={from} shows them ...]",
                words::count(to - from + 1, "line")
            ));
        }
        lines.extend(self.tail.iter().map(&render));
        Clipped {
            text: lines.join("\n"),
            omitted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(range: std::ops::RangeInclusive<u64>, text: &str) -> Vec<Shown> {
        range
            .map(|number| Shown {
                number,
                text: format!("{text}{number}"),
            })
            .collect()
    }

    #[test]
    fn the_omitted_range_is_exact() {
        let ends = Ends {
            head: shown(1..=2, ""),
            tail: shown(99..=100, ""),
        };
        let clipped = ends.clip(CHARS_DEFAULT, |line| line.text.clone());
        assert_eq!(clipped.omitted, Some((3, 98)));
        assert_eq!(
            clipped.text,
            "1\n2\n[... 96 lines omitted: 3-98; `read` start=3 shows them ...]\n99\n100"
        );
        let all = Ends {
            head: shown(5..=7, "x"),
            tail: Vec::new(),
        };
        assert_eq!(
            all.clip(CHARS_DEFAULT, |line| line.text.clone()),
            Clipped {
                text: "x5\nx6\nx7".into(),
                omitted: None
            }
        );
    }

    #[test]
    fn characters_are_bounded() {
        let long = "y".repeat(1_000);
        let ends = Ends {
            head: shown(1..=40, &long),
            tail: shown(61..=100, &long),
        };
        let clipped = ends.clip(CHARS_DEFAULT, |line| line.text.clone());
        assert!(
            clipped.text.len() < CHARS_DEFAULT + 200,
            "{}",
            clipped.text.len()
        );
        let (from, to) = clipped.omitted.unwrap();
        assert!(clipped.text.contains(&format!("{from}-{to}")) && from > 1 && to < 100);
        // All of it was read: the middle goes, not the end.
        let clipped = Ends {
            head: shown(1..=50, &long),
            tail: Vec::new(),
        }
        .clip(CHARS_DEFAULT, |line| line.text.clone());
        assert!(clipped.text.ends_with("y50") && clipped.text.starts_with('y'));
    }

    #[test]
    fn long_lines_are_cut_in_the_middle() {
        let text = format!("{}{}", "a".repeat(40_000), "b".repeat(25_000));
        let line = line(3, text.as_bytes(), 3_000_000);
        assert!(line.text.starts_with("aaa") && line.text.ends_with("bbb"));
        assert!(line.text.contains("3,065,000 bytes") && line.text.len() < LINE_CHARS + 100);
        let short = super::line(1, "é漢".as_bytes(), 0);
        assert_eq!(short.text, "é漢");
        let just = super::line(1, "é".repeat(2_001).as_bytes(), 0);
        assert!(just.text.chars().count() < 2_100 && just.text.contains("4,002 bytes"));
    }
}
