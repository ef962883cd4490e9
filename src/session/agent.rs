//! What a session remembers of each agent, over a restart too.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::keys::Key;
use super::regions::RegionId;
use super::state::State;
use super::stood::Stood;
use super::{Session, StoreError};
use crate::store::layout::SessionDir;
use crate::store::{atomic, marker};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agent {
    /// What its last call left running, to be gone on waiting for.
    pub left: Option<RegionId>,
    /// Lines of `left` that it has been shown, up to this number (0-based, exclusive).
    pub shown: u64,
    /// What the last of them was like when it was shown: it may have gone on since (see [`Snapshot::last_of`]).
    ///
    /// [`Snapshot::last_of`]: super::snapshot::Snapshot::last_of
    pub shown_last: Option<u64>,
    /// Regions up to this id it has been told of.
    pub told: RegionId,
    /// What it typed at a prompt and did not submit: its own, so not to be protected from it.
    pub unsubmitted: String,
    /// What it sent since anything was submitted that no reply has shown on a prompt line yet: keys that were typed
    /// ahead while something worked stand at the next prompt.
    pub ahead: String,
    /// It began the command that the shell now wants the rest of.
    pub unfinished: bool,
    /// The place that its last reply told of; empty: here.
    pub place: String,
    /// The log's length in lines when it last looked without a region (send, read of what is new).
    pub seen: u64,
    /// What the last of these lines was like.
    pub seen_last: Option<u64>,
    /// A file that is being filled for it, and the process that does so: with that it ends.
    pub saving: Option<(String, u32)>,
    /// When it last typed here, milliseconds since the epoch; 0: never.
    pub typed_ms: u64,
    /// The screen's rows as it last saw them. Not kept over a restart: then it is told the whole again.
    #[serde(skip)]
    pub screen: Option<Vec<String>>,
    /// Advice it has been given here: each kind is given once.
    pub advised: BTreeSet<String>,
}

/// state.json.
#[derive(Serialize, Deserialize)]
struct Saved<'a> {
    agents: Cow<'a, BTreeMap<String, Agent>>,
    /// The line that they were told something waits at.
    told: Cow<'a, Option<Stood>>,
}

impl Agent {
    /// The text at a prompt is the end of what this agent has sent: the rest was read by what ran before.
    pub fn typed_ahead(&self, typed: &str) -> bool {
        let typed = typed.trim();
        !typed.is_empty() && self.ahead.trim_end().ends_with(typed)
    }

    /// It has sent this text and then these keys.
    pub fn sends(&mut self, text: &str, keys: &[Key]) {
        let mut push = |text: &str| match text.rsplit_once('\n') {
            Some((_, rest)) => self.ahead = rest.to_string(),
            None => self.ahead.push_str(text),
        };
        push(text);
        for key in keys {
            match key {
                Key::Text(text) => push(text),
                Key::Named(name) if name == "Space" => push(" "),
                // Enter submits; what any other key leaves of the line, a reply shows.
                Key::Named(_) => push("\n"),
            }
        }
    }
}

impl Session {
    /// An agent calls for the first time: nothing of before is news to it. That is written down at once, since what
    /// it types now would be news if this server did not live to tell it.
    pub fn meet(&self, agent: &str) {
        let mut state = self.state();
        if state.agents.contains_key(agent) {
            return;
        }
        let new = Agent {
            told: state.regions.last_id(),
            ..Agent::default()
        };
        state.agents.insert(agent.to_string(), new);
        drop(state);
        self.save();
    }

    /// Somebody has looked at it: the logs of a closed session stay that much longer.
    pub fn used(&self) {
        let mut state = self.state();
        if state.ending.is_some() {
            if let Err(error) = marker::set(&self.dir.last_used()) {
                note(&mut state, &error);
            }
        }
    }

    /// After a call: writes down what the agents have been told and left, when that has changed, and the lines of
    /// now.
    pub fn save(&self) {
        let mut state = self.state();
        state.write_tail();
        let saved = Saved {
            agents: Cow::Borrowed(&state.agents),
            told: Cow::Borrowed(&state.standing.told),
        };
        let Ok(text) = serde_json::to_string(&saved) else {
            return;
        };
        if text == state.saved {
            return;
        }
        match atomic::replace_unsynced(&self.dir.agents(), text.as_bytes()) {
            Ok(()) => state.saved = text,
            Err(error) => note(&mut state, &error),
        }
    }
}

impl State {
    /// What an earlier server wrote down. Missing or torn: nothing was told.
    pub(super) fn load_agents(&mut self, dir: &SessionDir) {
        let text = std::fs::read_to_string(dir.agents()).unwrap_or_default();
        if let Ok(saved) = serde_json::from_str::<Saved<'_>>(&text) {
            self.agents = saved.agents.into_owned();
            self.standing.told = saved.told.into_owned();
            self.saved = text;
        } else if let Ok(agents) = serde_json::from_str(&text) {
            // Before the line was remembered it was the agents alone.
            self.agents = agents;
        }
    }
}

fn note(state: &mut State, error: &StoreError) {
    state.trouble.get_or_insert_with(|| error.to_string());
}
