//! What the agents are called: each client is one, and each has a name of its own, under which sessions remember
//! what it was told and what it left. Must not know what is remembered.

use std::collections::{BTreeMap, BTreeSet};

use crate::mcp::{Client, STATELESS};

/// What a client is called before it has said a name.
const NAMELESS: &str = "agent";

/// A name is shown to others, so it is kept short.
const NAME_CHARS: usize = 40;

/// The names in use.
#[derive(Debug, Default)]
pub struct Agents {
    by_key: BTreeMap<Key, String>,
    /// Names that users have given. Such an agent is the same whatever it connects by.
    actors: BTreeSet<String>,
}

/// What tells one agent from another where no user has named it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Connection(u64),
    /// Requests without a connection, by what the client calls itself.
    Stateless(String),
}

impl Agents {
    /// The name that its user gave the client; else the client's own, with #2, #3, ... for further connections of
    /// the same name.
    pub fn name(&mut self, client: &Client) -> String {
        if let Some(actor) = client.actor.as_deref().and_then(plain) {
            self.actors.insert(actor.clone());
            return actor;
        }
        let Some(base) = client.name.as_deref().and_then(plain) else {
            // Not told yet: a later call of this connection may know.
            return NAMELESS.into();
        };
        let key = match client.connection {
            STATELESS => Key::Stateless(base.clone()),
            connection => Key::Connection(connection),
        };
        if let Some(name) = self.by_key.get(&key) {
            return name.clone();
        }
        let free = |name: &String| {
            !self.actors.contains(name) && self.by_key.values().all(|other| other != name)
        };
        let numbered = (2u64..).map(|n| format!("{base}#{n}"));
        let earlier = client.earlier.as_deref().and_then(plain);
        let mut wanted = earlier
            .into_iter()
            .filter(|name| is_of(name, &base))
            .chain([base.clone()])
            .chain(numbered);
        let name = wanted.find(free).unwrap_or_else(|| base.clone());
        self.by_key.insert(key, name.clone());
        name
    }

    /// What the calls of a connection were made under.
    pub fn of_connection(&self, connection: u64) -> Option<String> {
        self.by_key.get(&Key::Connection(connection)).cloned()
    }

    /// A connection has ended: its name is free for the client's next one.
    pub fn left(&mut self, connection: u64) {
        self.by_key.remove(&Key::Connection(connection));
    }
}

/// `base` itself or one of its numbered forms: nobody claims another's name by having been called so.
fn is_of(name: &str, base: &str) -> bool {
    name.strip_prefix(base)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}

/// A client names itself as it likes; control characters and the like stay out. None when nothing is left.
fn plain(name: &str) -> Option<String> {
    let name: String = name
        .chars()
        .filter(|c| c.is_alphanumeric() || "-_.#@ ".contains(*c))
        .take(NAME_CHARS)
        .collect();
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(connection: u64, name: &str) -> Client {
        Client {
            connection,
            name: Some(name.into()),
            ..Client::default()
        }
    }

    #[test]
    fn connections_of_one_name_are_told_apart_and_free_it_when_they_end() {
        let mut agents = Agents::default();
        assert_eq!(agents.name(&client(1, "claude-code")), "claude-code");
        assert_eq!(agents.name(&client(2, "claude-code")), "claude-code#2");
        assert_eq!(agents.name(&client(1, "claude-code")), "claude-code");
        assert_eq!(agents.of_connection(2).as_deref(), Some("claude-code#2"));
        agents.left(1);
        assert_eq!(agents.name(&client(3, "claude-code")), "claude-code");
        assert_eq!(agents.of_connection(1), None);
    }

    #[test]
    fn a_connection_that_comes_back_is_called_as_before() {
        let mut agents = Agents::default();
        let back = |connection, earlier: &str| Client {
            earlier: Some(earlier.into()),
            ..client(connection, "a")
        };
        assert_eq!(agents.name(&back(1, "a#2")), "a#2");
        assert_eq!(agents.name(&back(2, "a")), "a");
        assert_eq!(agents.name(&back(3, "a#2")), "a#3");
        assert_eq!(agents.name(&back(4, "somebody")), "a#4");
    }

    #[test]
    fn a_given_name_is_shared_and_kept_from_others() {
        let mut agents = Agents::default();
        let named = |connection| Client {
            actor: Some("rev\u{1b}iewer".into()),
            ..client(connection, "x")
        };
        assert_eq!(agents.name(&named(1)), "reviewer");
        assert_eq!(agents.name(&named(2)), "reviewer");
        assert_eq!(agents.name(&client(3, "reviewer")), "reviewer#2");
    }

    #[test]
    fn requests_without_a_connection_are_one_agent_by_name() {
        let mut agents = Agents::default();
        assert_eq!(agents.name(&client(1, "x")), "x");
        assert_eq!(agents.name(&client(STATELESS, "x")), "x#2");
        assert_eq!(agents.name(&client(STATELESS, "x")), "x#2");
        assert_eq!(agents.name(&Client::default()), "agent");
    }
}
