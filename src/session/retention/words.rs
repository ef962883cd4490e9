//! What is said of logs: what can be asked for them, what becomes of them, and why they went. Must not know who reads
//! it.

use std::fmt;

use super::{Action, Fate, Outcome, Removed, Retention, Why};
use crate::session::{Error, date};

impl Action {
    /// Every action, in the order in which they are shown.
    pub const ALL: [Action; 4] = [
        Action::Keep,
        Action::Default,
        Action::DeleteOnClose,
        Action::Delete,
    ];

    /// What callers name it by.
    pub fn name(self) -> &'static str {
        match self {
            Action::Keep => "keep",
            Action::Default => "default",
            Action::DeleteOnClose => "delete_on_close",
            Action::Delete => "delete",
        }
    }

    /// The action of this name; the error says which there are.
    pub fn named(word: &str) -> Result<Action, Error> {
        let mut all = Action::ALL.into_iter();
        all.find(|action| action.name() == word).ok_or_else(|| {
            let known = Action::ALL.map(Action::name).join(", ");
            Error::Refused(format!("`action` must be one of {known}, not {word:?}"))
        })
    }
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fate::Open { on_close: true } => f.write_str("open; its logs go when it closes"),
            Fate::Open { on_close: false } => f.write_str("open; its logs stay"),
            Fate::Elsewhere => f.write_str("another host's or tmux socket's; its logs stay"),
            Fate::Kept => f.write_str("its logs are kept"),
            Fate::Forever => f.write_str("its logs stay"),
            Fate::Until(ms) => write!(f, "its logs stay until {}", date::utc(*ms)),
            Fate::Due(_) => f.write_str("its logs are about to be deleted"),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Unused { days: 1 } => write!(f, "closed and not used for a day"),
            Why::Unused { days } => write!(f, "closed and not used for {days} days"),
            Why::OnClose => write!(f, "closed, and its logs were to go with it"),
            Why::Asked(who) => write!(f, "{who} asked for it"),
        }
    }
}

impl fmt::Display for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = date::utc(self.deleted);
        write!(f, "its logs were deleted at {when}: {}", self.why)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Marked(stored) => stored.fate.fmt(f),
            Outcome::Removed(_) => f.write_str("its logs are deleted"),
        }
    }
}

impl Retention {
    /// Says that a session is not there, with when and why its logs went where that is remembered.
    pub fn missing(&self, name: &str) -> String {
        let gone = match self.removed(name) {
            Some(removed) => format!("; {removed}"),
            None => String::new(),
        };
        format!("there is no session {name:?}{gone}")
    }
}
