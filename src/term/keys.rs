//! Names of keys, as agents and people spell them, and what tmux calls them.

/// A key press, for tmux's send-keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// tmux's own name.
    Named(String),
    /// Characters that are typed as they are.
    Text(String),
}

/// Keys with a name: ours first, other spellings after it, tmux's last.
const NAMED: &[(&[&str], &str)] = &[
    (&["enter", "return", "cr"], "Enter"),
    (&["tab"], "Tab"),
    (&["escape", "esc"], "Escape"),
    (&["backspace", "bspace"], "BSpace"),
    (&["delete", "del", "dc"], "DC"),
    (&["insert", "ins", "ic"], "IC"),
    (&["up"], "Up"),
    (&["down"], "Down"),
    (&["left"], "Left"),
    (&["right"], "Right"),
    (&["home"], "Home"),
    (&["end"], "End"),
    (&["pageup", "pgup", "ppage"], "PPage"),
    (&["pagedown", "pgdn", "npage"], "NPage"),
    (&["space"], "Space"),
    (&["f1"], "F1"),
    (&["f2"], "F2"),
    (&["f3"], "F3"),
    (&["f4"], "F4"),
    (&["f5"], "F5"),
    (&["f6"], "F6"),
    (&["f7"], "F7"),
    (&["f8"], "F8"),
    (&["f9"], "F9"),
    (&["f10"], "F10"),
    (&["f11"], "F11"),
    (&["f12"], "F12"),
];

/// What a message says of the names that are known.
pub const KNOWN: &str = "ctrl+a to ctrl+z, enter, tab, shift+tab, escape, backspace, delete, insert, up, down, left, right, \
home, end, pageup, pagedown, space, f1 to f12, alt+x, ctrl/shift/alt with arrows and named keys, or any single character";

/// Reads one key's name: "ctrl+c", "C-c", "^C", "Ctrl-C", "alt+x", "shift+tab", "up", "q".
pub fn parse(text: &str) -> Option<Key> {
    let mut chars = text.chars();
    if let (Some(only), None) = (chars.next(), chars.next()) {
        return (!only.is_control()).then(|| Key::Text(only.into()));
    }
    if let Some(letter) = text.strip_prefix('^') {
        return with_modifiers(
            Modifiers {
                ctrl: true,
                ..Modifiers::default()
            },
            letter,
        );
    }
    let (mut modifiers, mut rest) = (Modifiers::default(), text);
    while let Some((modifier, after)) = modifier(rest) {
        modifiers = modifiers.and(modifier);
        rest = after;
    }
    with_modifiers(modifiers, rest)
}

#[derive(Clone, Copy, Default)]
struct Modifiers {
    ctrl: bool,
    alt: bool,
    shift: bool,
}

impl Modifiers {
    fn and(self, other: Modifiers) -> Modifiers {
        Modifiers {
            ctrl: self.ctrl | other.ctrl,
            alt: self.alt | other.alt,
            shift: self.shift | other.shift,
        }
    }

    fn only_alt(self) -> Modifiers {
        Modifiers {
            alt: self.alt,
            ..Modifiers::default()
        }
    }

    fn any(self) -> bool {
        self.ctrl || self.alt || self.shift
    }
}

/// Takes one "ctrl+", "C-", "Alt-" off the front, when something follows it.
fn modifier(text: &str) -> Option<(Modifiers, &str)> {
    let at = text.find(['+', '-']).filter(|&at| at > 0)?;
    let (word, after) = (&text[..at], &text[at + 1..]);
    if after.is_empty() {
        return None;
    }
    let none = Modifiers::default();
    let modifier = match word.to_ascii_lowercase().as_str() {
        "ctrl" | "control" | "c" => Modifiers { ctrl: true, ..none },
        "alt" | "meta" | "option" | "m" => Modifiers { alt: true, ..none },
        "shift" | "s" => Modifiers {
            shift: true,
            ..none
        },
        _ => return None,
    };
    Some((modifier, after))
}

fn with_modifiers(modifiers: Modifiers, key: &str) -> Option<Key> {
    let lower = key.to_ascii_lowercase();
    let named = NAMED
        .iter()
        .find(|(names, _)| names.contains(&lower.as_str()))
        .map(|(_, tmux)| *tmux);
    // These are characters, which terminals send with ctrl and shift as without; tmux would send nothing.
    let modifiers = match named {
        Some("BSpace") if modifiers.ctrl => return with_modifiers(modifiers, "h"),
        Some("Enter" | "Escape" | "BSpace") => modifiers.only_alt(),
        Some("Tab") => Modifiers {
            ctrl: false,
            ..modifiers
        },
        Some("Space") => Modifiers {
            shift: false,
            ..modifiers
        },
        _ => modifiers,
    };
    let name = match (named, one_char(key)) {
        (Some("Tab"), _) if modifiers.shift => "BTab".to_string(),
        (Some(name), _) => name.to_string(),
        // Shift is in the character itself; without a modifier a lone character is text.
        (None, Some(_)) if !modifiers.any() => return None,
        (None, Some(c)) if modifiers.ctrl && !modifiers.alt => return control(c).map(Key::Named),
        (None, Some(c)) if modifiers.ctrl => {
            return control(c).map(|name| Key::Named(format!("M-{name}")));
        }
        (None, Some(c)) if modifiers.alt => return Some(Key::Named(format!("M-{c}"))),
        (None, Some(c)) if modifiers.shift => {
            return Some(Key::Text(c.to_ascii_uppercase().into()));
        }
        _ => return None,
    };
    let mut prefix = String::new();
    if modifiers.ctrl {
        prefix.push_str("C-");
    }
    if modifiers.alt {
        prefix.push_str("M-");
    }
    if modifiers.shift && name != "BTab" {
        prefix.push_str("S-");
    }
    Some(Key::Named(prefix + &name))
}

fn one_char(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars
        .next()
        .filter(|c| chars.next().is_none() && !c.is_control())
}

/// Control characters exist for the letters and for `@ [ \ ] ^ _ ?` and space.
fn control(c: char) -> Option<String> {
    match c.to_ascii_lowercase() {
        c @ ('a'..='z' | '@' | '[' | '\\' | ']' | '^' | '_' | '?') => Some(format!("C-{c}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        let named = |text: &str| Some(Key::Named(text.to_string()));
        for text in ["ctrl+c", "C-c", "^C", "Ctrl-C", "control+C", "^c"] {
            assert_eq!(parse(text), named("C-c"), "{text}");
        }
        assert_eq!(parse("enter"), named("Enter"));
        assert_eq!(parse("PageUp"), named("PPage"));
        assert_eq!(parse("shift+tab"), named("BTab"));
        assert_eq!(parse("ctrl+left"), named("C-Left"));
        assert_eq!(parse("ctrl+backspace"), named("C-h"));
        assert_eq!(parse("ctrl+alt+enter"), named("M-Enter"));
        assert_eq!(parse("shift+alt+up"), named("M-S-Up"));
        assert_eq!(parse("alt+x"), named("M-x"));
        assert_eq!(parse("alt+X"), named("M-X"));
        assert_eq!(parse("F12"), named("F12"));
        assert_eq!(parse("ctrl+["), named("C-["));
        assert_eq!(parse("alt+-"), named("M--"));
        for c in ['q', ';', '-', '+', '^', '漢'] {
            assert_eq!(parse(&c.to_string()), Some(Key::Text(c.into())));
        }
    }

    #[test]
    fn unknown_names_are_told_apart() {
        for text in [
            "", "f13", "ctrl+", "foo", "ctrl+é", "hyper+x", "\u{3}", "ab",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
