//! Presence: who is at a session, person or agent, and when they were last heard of.

use std::sync::Arc;

use super::{Error, Session, Sessions};
use crate::tmux::Info;
pub use crate::tmux::Person;

/// Who is at a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Presence {
    /// People whose terminal shows it.
    pub attached: usize,
    /// How many of them can only watch.
    pub watching: usize,
    /// When one of them who can type was last heard of, epoch seconds.
    pub human_input: Option<u64>,
    /// Agents that have typed here, and when last, epoch seconds.
    pub agents_typed: Vec<(String, u64)>,
    /// Who types at this moment, with which tool.
    pub typing_now: Option<(String, &'static str)>,
}

impl Sessions {
    /// Everyone attached to our tmux server.
    pub fn people(&self) -> Result<Vec<Person>, Error> {
        Ok(self.tmux.people()?)
    }
}

impl Sessions {
    /// The other living sessions of this one's window.
    pub fn beside(&self, session: &Arc<Session>, pane: &Info) -> Result<Vec<Arc<Session>>, Error> {
        let panes = self.tmux.panes()?;
        let beside = |other: &Arc<Session>| {
            !Arc::ptr_eq(other, session)
                && panes.iter().any(|info| {
                    info.window == pane.window
                        && info.pane == other.pane
                        && info.tag == other.meta.nonce
                })
        };
        Ok(self.all().into_iter().filter(beside).collect())
    }
}

impl Session {
    /// `pane`: its own, while it is there.
    pub fn presence(&self, pane: Option<&Info>, people: &[Person]) -> Presence {
        let here: Vec<&Person> = people
            .iter()
            .filter(|person| pane.is_some_and(|info| info.session == person.session))
            .collect();
        let state = self.state();
        let typed = state
            .agents
            .iter()
            .filter(|(_, agent)| agent.typed_ms > 0)
            .map(|(name, agent)| (name.clone(), agent.typed_ms / 1_000));
        Presence {
            attached: here.len(),
            watching: here.iter().filter(|person| person.read_only).count(),
            human_input: here
                .iter()
                .filter(|person| !person.read_only)
                .map(|person| person.active)
                .max(),
            agents_typed: typed.collect(),
            typing_now: state.typist.clone(),
        }
    }
}
