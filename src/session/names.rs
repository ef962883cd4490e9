//! What sessions may be called, and what one is called that was given no name.

use super::create::Request;
use super::{Error, Sessions};

/// Session names are short: they stand in file names, tmux targets and replies.
pub const NAME_MOST: usize = 64;

/// True for letters, digits, `_` and `-`: nothing that tmux or a shell could take for syntax.
pub fn valid_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= NAME_MOST
        && !name.starts_with('-')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The same, or one that was made for a further pane of a window: NAME+1, NAME+2, ...
pub(super) fn known_name(name: &str) -> bool {
    let window = match name.rsplit_once('+') {
        Some((window, n)) if !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()) => window,
        _ => name,
    };
    valid_name(window)
}

impl Sessions {
    /// `others`: names of tmux sessions on our socket, as far as they are known to be in the way.
    pub(super) fn name(&self, request: &Request, others: &[String]) -> Result<String, Error> {
        let Some(name) = &request.name else {
            return Ok(match (&request.program, &request.beside) {
                (Some(_), _) => self.free_name(others, |n| format!("p{n}")),
                (None, Some(beside)) => self.name_within(beside.session.window()),
                (None, None) => self.free_name(others, |n| format!("t{n}")),
            });
        };
        if !valid_name(name) {
            return Err(Error::Refused(format!(
                "{name:?} cannot be a session's name: use 1 to {NAME_MOST} letters, digits, _ and -, not beginning with -"
            )));
        }
        let session = self.list().get(name).cloned();
        if session.is_some_and(|session| session.state().ending.is_none()) {
            return Err(Error::Refused(format!(
                "session {name:?} is open already: use it, or choose another name"
            )));
        }
        let kept = self.metas().into_iter().find(|meta| meta.name == *name);
        if let Some(program) = kept.and_then(|meta| meta.program) {
            return Err(Error::Refused(format!(
                "{name:?} is the name of program {}, which has ended and whose output is kept: `stop_program` releases it; or choose another name",
                program.id
            )));
        }
        if let Some(other) = self.standing_in(name) {
            return Err(Error::Refused(format!(
                "{name:?} is still the name of the window that session {other} stands in: close that, or choose another name"
            )));
        }
        Ok(name.clone())
    }

    /// A name for one more pane of a window.
    pub(super) fn name_within(&self, window: &str) -> String {
        self.free_name(&[], |n| format!("{window}+{n}"))
    }

    fn free_name(&self, others: &[String], nth: impl Fn(u32) -> String) -> String {
        let free = |name: &String| {
            !self.list().contains_key(name)
                && !others.contains(name)
                && !self.layout.session(name).path.exists()
                && self.standing_in(name).is_none()
        };
        // There are at most as many names as sessions, folders and others, so one is free.
        (1..).map(nth).find(free).unwrap_or_default()
    }

    /// Another session in the window of that name, which keeps the name in tmux: one that lives, or that has ended and
    /// still shows its last screen.
    fn standing_in(&self, window: &str) -> Option<String> {
        let all = self.all();
        let found = all.iter().find(|session| {
            session.window() == window
                && session.name != window
                && (session.state().ending.is_none() || matches!(self.pane(session), Ok(Some(_))))
        });
        found.map(|session| session.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["t1", "build-2", "a_B"] {
            assert!(valid_name(good), "{good}");
        }
        for bad in [
            "",
            "a.b",
            "a:b",
            "a b",
            "-x",
            "é",
            "a/b",
            "x\n",
            &"x".repeat(65),
        ] {
            assert!(!valid_name(bad), "{bad:?}");
        }
    }
}
