//! How many columns a character takes, by tmux version. Must not know the screen.

/// What differs between versions of tmux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// A character with VS16 (U+FE0F) becomes two columns wide (from 3.4).
    pub emoji_presentation: bool,
    /// A skin tone joins the character before it (from 3.4).
    pub skin_tone_joins: bool,
    /// A regional indicator is two columns wide by itself (3.4 to 3.5a).
    pub wide_indicator: bool,
    /// Two regional indicators join into one flag (3.4 to 3.6).
    pub flags_join: bool,
    /// An unassigned code point takes a column (from 3.4); before, it is dropped.
    pub unassigned: bool,
}

impl Rules {
    /// The rules of the tmux that `version` names: what `tmux -V` prints, with or without its first word. One that
    /// cannot be read is taken as the newest.
    pub fn for_version(version: &str) -> Rules {
        let version = version
            .trim()
            .trim_start_matches("tmux ")
            .trim_start_matches("next-");
        let (major, rest) = version.split_once('.').unwrap_or((version, ""));
        let minor = rest
            .split(|c: char| !c.is_ascii_digit())
            .next()
            .unwrap_or("");
        let at = match (major.parse::<u32>(), minor.parse::<u32>()) {
            (Ok(major), Ok(minor)) => (major, minor),
            _ => (u32::MAX, 0),
        };
        Rules {
            emoji_presentation: at >= (3, 4),
            skin_tone_joins: at >= (3, 4),
            wide_indicator: at >= (3, 4) && at < (3, 6),
            flags_join: at >= (3, 4) && at < (3, 7),
            unassigned: at >= (3, 4),
        }
    }
}

impl Default for Rules {
    /// tmux 3.3a's.
    fn default() -> Rules {
        Rules::for_version("3.3a")
    }
}

/// The class of a character, before versions differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Zero,
    One,
    Two,
    Unassigned,
}

/// The class of a character.
pub fn class(c: char) -> Class {
    match c as u32 {
        0x300..=0x36F | 0x1160..=0x11FF | 0x200B..=0x200F | 0xFE00..=0xFE0F => Class::Zero,
        0x1100..=0x115F
        | 0x2E80..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFF01..=0xFF60
        | 0x1F300..=0x1F64F
        | 0x1F680..=0x1F6FF
        | 0x1F900..=0x1F9FF
        | 0x20000..=0x3FFFD => Class::Two,
        _ => Class::One,
    }
}
