//! Where the next line that is typed into a session would run: by the markers of an integrated shell, else by the
//! processes between the session's program and the one in front. What neither tells is said to be unknown.

use std::fmt;
use std::sync::OnceLock;

use super::regions::{Kind, Regions};
use super::{Session, Sessions};
use crate::place::carrier::{self, Far};
use crate::place::chain::{self, Chain};
use crate::proc::Pid;
use crate::sys::passwd;

/// A place, in words for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Where {
    /// `user@host`, a host whose user ssh's configuration decides, or what carries there: `podman box`.
    name: String,
    /// It was so when it could last be told; a line typed since may have led away.
    doubtful: bool,
}

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.doubtful {
            return write!(f, "an unknown place, last known {}", self.name);
        }
        f.write_str(&self.name)
    }
}

impl Where {
    fn sure(name: impl Into<String>) -> Where {
        Where {
            name: name.into(),
            doubtful: false,
        }
    }

    fn doubtful(name: impl Into<String>) -> Where {
        Where {
            name: name.into(),
            doubtful: true,
        }
    }

    /// What it is remembered under: `None` when it is not certain.
    pub fn certain(&self) -> Option<&str> {
        (!self.doubtful).then_some(&self.name)
    }
}

/// `user@host` of this server's own. Asked for at every call, and a look into the user database each time.
pub fn home() -> String {
    static HOME: OnceLock<String> = OnceLock::new();
    HOME.get_or_init(|| {
        let user = passwd::me().map_or_else(|| passwd::uid().to_string(), |user| user.name);
        format!("{user}@{}", passwd::hostname())
    })
    .clone()
}

impl Sessions {
    /// The server's own user.
    pub fn uid(&self) -> u32 {
        passwd::uid()
    }

    /// Where the next typed line would run; `None`: here, as the server's own user. Asks the kernel only when no
    /// marker has settled it.
    pub fn place(&self, session: &Session) -> Option<Where> {
        let (shell, waits) = {
            let state = session.state();
            if state.ending.is_some() {
                return None;
            }
            let shell = state.regions.innermost();
            (
                shell,
                state.regions.prompt().is_some() || state.regions.between(),
            )
        };
        let marked = shell.as_ref().and_then(|shell| shell.place.clone());
        let home = home();
        let at_home = marked.as_deref() == Some(home.as_str());
        let own = session.program();
        let pid = shell.as_ref().map(|shell| shell.pid);
        if waits && at_home && pid == u32::try_from(own.0).ok() {
            return None;
        }
        if let Some(marked) = marked.clone().filter(|_| waits && !at_home) {
            return Some(Where::sure(marked));
        }
        let view = self.look(session);
        let front = view.process.map(|process| process.pid);
        // From the launcher on: the program itself may be in a sandbox.
        let launcher = Pid(session.meta.pid);
        let chain = front.and_then(|front| chain::chain(&self.proc, front, launcher));
        let user_here = |user: String| format!("{user}@{}", passwd::hostname());
        match chain {
            Some(Chain::Here { user }) => user.map(|user| Where::sure(user_here(user))),
            Some(Chain::Sandbox { by, user }) => Some(Where::sure(match user {
                Some(user) => format!("{by} as {user}"),
                None => by,
            })),
            // The shell at its prompt has said that it is here; a loopback ssh leads here too.
            Some(Chain::Beyond { .. }) | None if waits && at_home => None,
            Some(Chain::Beyond { far, seen }) => {
                // A shell that can be seen from here has started what leads away; another is where that leads.
                let near = pid.is_some_and(|pid| seen.iter().any(|seen| seen.0 as u32 == pid));
                self.beyond(session, far, marked.filter(|_| !at_home && !near))
            }
            None => unseen(&session.state().regions, marked.filter(|_| !at_home)),
        }
    }

    /// Where it is beyond a program whose far end cannot be seen. `marked`: an integrated shell there runs something.
    fn beyond(&self, session: &Session, far: Far, marked: Option<String>) -> Option<Where> {
        let state = session.state();
        let regions = &state.regions;
        if marked.is_some() {
            return unseen(regions, marked);
        }
        let (name, several) = match far {
            Far::Login {
                user: Some(user),
                host,
            } => (format!("{user}@{host}"), false),
            Far::Login { user: None, host } => (host, false),
            Far::Inside(name) => (name, false),
            Far::Sandbox(name) => (name.to_string(), false),
            Far::Several(name) => (name, true),
        };
        Some(Where {
            name,
            doubtful: several
                || wandered(regions)
                || prompt_differs(regions, &state.term.cursor_line()),
        })
    }
}

/// Nothing can be seen of the processes: what runs now is told by its line only.
fn unseen(regions: &Regions, marked: Option<String>) -> Option<Where> {
    let label = regions.running().map(|region| region.label.as_str());
    if label.is_some_and(carrier::may_leave) || wandered(regions) {
        return Some(Where::doubtful(marked.unwrap_or_else(home)));
    }
    marked.map(Where::sure)
}

/// A line that may lead away was given to what runs now, a plain shell beyond an ssh or the like.
fn wandered(regions: &Regions) -> bool {
    given(regions).any(carrier::may_leave)
}

/// The labels of the lines given to what runs now: each with the prompt that it was given at.
fn given(regions: &Regions) -> impl Iterator<Item = &str> {
    let since = regions.running().map_or(0, |region| region.id);
    regions
        .all()
        .iter()
        .skip(since as usize)
        .filter(|region| region.kind == Kind::Input)
        .map(|region| region.label.as_str())
}

/// Prompts often name user and host: another one than at first is another place.
fn prompt_differs(regions: &Regions, now: &str) -> bool {
    let first = given(regions).find_map(named);
    matches!((first, named(now)), (Some(first), Some(now)) if first != now)
}

/// `user@host` at the start of a prompt.
fn named(prompt: &str) -> Option<&str> {
    let word = prompt
        .trim_start_matches(['[', '('])
        .split(|c: char| !(c.is_alphanumeric() || "@._-".contains(c)))
        .next()?;
    word.split_once('@')
        .filter(|(user, host)| !user.is_empty() && !host.is_empty())?;
    Some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_that_name_a_place() {
        assert_eq!(named("ann@db1:~$ ls"), Some("ann@db1"));
        assert_eq!(named("[root@db1 ~]# "), Some("root@db1"));
        for other in ["$ ", "vm:~> ", "", "@x$ ", "a b@c"] {
            assert_eq!(named(other), None, "{other}");
        }
    }

    #[test]
    fn unknown_is_said_as_unknown() {
        assert_eq!(Where::sure("a@b").to_string(), "a@b");
        let doubtful = Where::doubtful("a@b");
        assert_eq!(doubtful.to_string(), "an unknown place, last known a@b");
        assert_eq!(doubtful.certain(), None);
    }
}
