//! tmux's version, which decides widths and a few flags.

use std::fmt;

/// Major, minor and the letter's place (3.3a is (3, 3, 1)). A version that cannot be read counts as the newest:
/// "next-3.8", "master".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

/// The oldest tmux that has what we build on (pane options, `resize-window`, `-e`).
pub const OLDEST: Version = Version {
    major: 3,
    minor: 2,
    patch: 1,
};

impl Version {
    pub const NEWEST: Version = Version {
        major: u32::MAX,
        minor: 0,
        patch: 0,
    };

    /// Reads "tmux 3.3a", "3.4", "tmux next-3.6", "tmux openbsd-7.4".
    pub fn parse(text: &str) -> Version {
        let word = text.split_whitespace().last().unwrap_or_default();
        let digits = word.trim_start_matches(|c: char| !c.is_ascii_digit());
        let number = |text: &str| -> (u32, usize) {
            let end = text
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(text.len());
            (text[..end].parse().unwrap_or(0), end)
        };
        let (major, end) = number(digits);
        let Some(rest) = digits[end..].strip_prefix('.') else {
            return Version::NEWEST;
        };
        if word.starts_with("openbsd") {
            return Version::NEWEST;
        }
        let (minor, end) = number(rest);
        let patch = match rest.as_bytes().get(end) {
            Some(letter @ b'a'..=b'z') => u32::from(letter - b'a') + 1,
            _ => 0,
        };
        Version {
            major,
            minor,
            patch,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Version::NEWEST {
            return f.write_str("newest");
        }
        write!(f, "{}.{}", self.major, self.minor)?;
        match u8::try_from(self.patch) {
            Ok(patch @ 1..=26) => write!(f, "{}", char::from(b'a' + patch - 1)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_in_order() {
        let texts = [
            "tmux 3.2",
            "tmux 3.2a",
            "tmux 3.3a",
            "tmux 3.4",
            "tmux next-3.5",
            "tmux 3.10",
            "tmux master",
            "tmux openbsd-7.4",
        ];
        let versions: Vec<Version> = texts.iter().map(|text| Version::parse(text)).collect();
        assert!(versions.is_sorted(), "{versions:?}");
        assert_eq!(Version::parse("tmux 3.2a"), OLDEST);
        assert_eq!(Version::parse("tmux 3.3a").to_string(), "3.3a");
        assert_eq!(Version::parse(""), Version::NEWEST);
    }
}
