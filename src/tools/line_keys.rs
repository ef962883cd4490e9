//! The keys that act on a shell's line, beside the line itself.

use crate::session::Session;
use crate::session::keys::Key;
use crate::session::typing::Keys;

use super::Context;

/// A tab would complete; quoted-insert is Ctrl-V in every shell's emacs mode.
pub fn quoted_tabs(line: &str) -> Vec<Key> {
    let mut keys = Vec::new();
    for (at, part) in line.split('\t').enumerate() {
        if at > 0 {
            keys.extend(["C-v", "Tab"].map(|name| Key::Named(name.into())));
        }
        if !part.is_empty() {
            keys.push(Key::Text(part.to_string()));
        }
    }
    keys
}

/// End of line, then kill to its start: the prompt line is empty whatever the cursor was on.
pub fn clear_line(context: &Context<'_>, session: &Session) -> Result<(), crate::session::Error> {
    let keys = ["C-e", "C-u"].map(|name| Key::Named(name.into()));
    let pressed = context.sessions.press(
        session,
        Keys {
            text: "",
            bracketed: false,
            keys: &keys,
        },
    );
    session.state().line_cleared();
    pressed
}

/// The terminal's own key for that, where it reads whole lines.
pub fn kill_line(context: &Context<'_>, session: &Session) -> Result<(), crate::session::Error> {
    let keys = [Key::Named("C-u".into())];
    let keys = Keys {
        text: "",
        bracketed: false,
        keys: &keys,
    };
    context.sessions.press(session, keys)
}

/// Gives up an unfinished command.
pub fn interrupt(context: &Context<'_>, session: &Session) -> Result<(), crate::session::Error> {
    let keys = [Key::Named("C-c".into())];
    let keys = Keys {
        text: "",
        bracketed: false,
        keys: &keys,
    };
    context.sessions.press(session, keys)
}
