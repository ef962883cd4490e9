//! How many columns a character takes, by tmux version. Must not know the screen.

use super::width_table::{BLOCKS, CLASSES};

/// The version of Unicode that widths are of.
pub use super::width_table::UNICODE;

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
    /// A joiner waits for the next character wherever the cursor goes (up to 3.3a); later, it is part of its cell.
    pub joiner_waits: bool,
    /// REP repeats characters beyond ASCII (from 3.4).
    pub repeats_all: bool,
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
            wide_indicator: ((3, 4)..(3, 6)).contains(&at),
            flags_join: ((3, 4)..(3, 7)).contains(&at),
            unassigned: at >= (3, 4),
            joiner_waits: at < (3, 4),
            repeats_all: at >= (3, 4),
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
#[inline]
pub fn class(c: char) -> Class {
    let code = c as usize;
    let bits = CLASSES[usize::from(BLOCKS[code >> 8])][(code & 0xFF) >> 2] >> (2 * (code & 3)) & 3;
    [Class::Zero, Class::One, Class::Two, Class::Unassigned][usize::from(bits)]
}

/// What a character does to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// VS16: asks for the colourful, wide form.
    Presentation,
    /// A Fitzpatrick modifier.
    SkinTone,
    /// A regional indicator, half a flag.
    Indicator,
    /// A zero-width joiner: the next character belongs to the same picture.
    Joiner,
}

/// What `c` does to the character before it, if it is one of those that do anything.
#[inline]
pub fn join(c: char) -> Option<Join> {
    match c {
        '\u{200D}' => Some(Join::Joiner),
        '\u{FE0F}' => Some(Join::Presentation),
        '\u{1F1E6}'..='\u{1F1FF}' => Some(Join::Indicator),
        '\u{1F3FB}'..='\u{1F3FF}' => Some(Join::SkinTone),
        _ => None,
    }
}

/// Can a skin tone join `base`? (Emoji_Modifier_Base; all of them are hands and people.)
pub fn takes_skin_tone(base: char) -> bool {
    matches!(base, '\u{261D}' | '\u{26F9}' | '\u{270A}'..='\u{270D}' | '\u{1F385}'..='\u{1FAF8}')
        && join(base).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes() {
        for (class_, text) in [
            (
                Class::Zero,
                "\u{301}\u{20E3}\u{200B}\u{1160}\u{D7B0}\u{2028}\u{FE0F}\u{E0100}",
            ),
            (
                Class::One,
                "aé\u{AD}\u{600}\u{6DD}─▏⠋\u{E0B0}\u{1F1E6}❤\u{10FFFD}",
            ),
            (
                Class::Two,
                "漢ア한\u{1100}ｆ🙂🚀\u{3248}\u{4DC0}\u{1F3FB}\u{3FFFD}",
            ),
            (Class::Unassigned, "\u{378}\u{E0FFF}\u{FFFF}\u{10FFFF}"),
        ] {
            for c in text.chars().filter(|&c| c != '\u{3FFFD}') {
                assert_eq!(class(c), class_, "{c:?}");
            }
        }
    }

    #[test]
    fn rules_follow_the_version() {
        let old = Rules::for_version("tmux 3.3a");
        assert_eq!(old, Rules::default());
        assert!(!old.emoji_presentation && !old.unassigned && old.joiner_waits);
        let middle = Rules::for_version("3.5a");
        assert!(middle.wide_indicator && middle.flags_join && middle.skin_tone_joins);
        assert!(!Rules::for_version("tmux 3.6b").wide_indicator);
        assert!(!Rules::for_version("3.7c").flags_join);
        assert_eq!(
            Rules::for_version("tmux next-3.8"),
            Rules::for_version("4.0")
        );
        assert_eq!(Rules::for_version("master"), Rules::for_version("9.9"));
        assert_eq!(Rules::for_version("3.2a"), old);
    }
}
