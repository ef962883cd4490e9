//! What /health and /api/sessions tell, as JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::http::Api;
use crate::session::people::{Person, Presence};
use crate::session::place;
use crate::session::screen::Info;
use crate::session::{Ending, How, Meta, Session, Sessions};
use crate::sys::{passwd, random};
use crate::tools::Tools;

/// Bytes of the number that tells one start of a server from the next.
const INSTANCE_BYTES: usize = 8;

pub struct Told {
    tools: Arc<Tools>,
    instance: String,
}

impl Told {
    pub fn new(tools: Arc<Tools>) -> std::io::Result<Told> {
        Ok(Told {
            tools,
            instance: random::hex(INSTANCE_BYTES)?,
        })
    }

    fn look(&self) -> Result<Look, String> {
        let sessions = self.tools.sessions().map_err(|error| error.to_string())?;
        let panes = sessions.panes().map_err(|error| error.to_string())?;
        // A tmux that is just ending has nobody attached.
        let people = sessions.people().unwrap_or_default();
        Ok(Look {
            sessions,
            panes,
            people,
        })
    }
}

impl Api for Told {
    fn health(&self) -> Value {
        json!({
            "service": "paneglass",
            "version": env!("CARGO_PKG_VERSION"),
            "host": passwd::hostname(),
            "user": passwd::me().map_or_else(|| passwd::uid().to_string(), |user| user.name),
            "instance": self.instance,
        })
    }

    fn sessions(&self) -> Result<Value, String> {
        let look = self.look()?;
        let open = look.sessions.all();
        let mut all: BTreeMap<String, Value> = open
            .iter()
            .map(|session| (session.name.clone(), look.describe(session)))
            .collect();
        // Of those that nobody has asked for, no log is read.
        for (name, meta) in look.sessions.closed().iter() {
            let last = look.sessions.last_output_ms(meta);
            all.insert(name.clone(), look.describe_closed(meta, last));
        }
        Ok(all.into_values().collect())
    }

    fn session(&self, name: &str) -> Result<Option<Value>, String> {
        let look = self.look()?;
        let session = look.sessions.get(name).ok();
        Ok(session.map(|session| look.describe(&session)))
    }
}

/// Epoch seconds, as JSON numbers.
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}

/// The sessions, and what only tmux knows.
struct Look {
    sessions: Arc<Sessions>,
    panes: Vec<Info>,
    people: Vec<Person>,
}

impl Look {
    fn describe(&self, session: &Session) -> Value {
        let pane = self
            .panes
            .iter()
            .find(|info| info.pane == session.pane && info.tag == session.meta.nonce);
        let presence = session.presence(pane, &self.people);
        let place = self.sessions.place(session);
        let place = place.map_or_else(place::home, |place| place.to_string());
        let state = session.state();
        let mut facts = self.facts(&session.meta, state.ending, state.last_output_ms);
        let (cols, rows) = state.term.size();
        let mut more = json!({
            "cols": cols,
            "rows": rows,
            "attached": presence.attached,
            "pane": pane.map(|info| json!({
                "pane_id": info.pane.0,
                "window": info.window,
                "parent": session.meta.window,
                "index": info.index,
                "active": info.active,
                "adopted": session.meta.adopted,
                "integrated": session.meta.integrated,
            })),
            "presence": presence_of(&presence),
            "place": place,
        });
        if let Some(folder) = state.regions.folder() {
            more["cwd"] = json!(folder);
        }
        if let (Some(facts), Some(more)) = (facts.as_object_mut(), more.as_object_mut()) {
            facts.append(more);
        }
        facts
    }

    fn describe_closed(&self, meta: &Meta, last_output_ms: u64) -> Value {
        self.facts(meta, meta.end, last_output_ms)
    }

    /// What there is to say of any session, open or not.
    fn facts(&self, meta: &Meta, ending: Option<Ending>, last_output_ms: u64) -> Value {
        let status = match ending.map(|ending| ending.how) {
            None => "open",
            Some(How::Exited) => "exited",
            Some(How::Closed) => "closed",
            Some(How::Gone) => "gone",
        };
        json!({
            "name": meta.name,
            "status": status,
            "exit_status": ending.and_then(|ending| ending.status),
            "signal": ending.and_then(|ending| ending.signal),
            "command": meta.command,
            "cwd": meta.cwd.to_string_lossy(),
            "cols": meta.cols,
            "rows": meta.rows,
            "agent": meta.agent,
            "attached": 0,
            "last_output": seconds(last_output_ms),
            "created": seconds(meta.created),
            "log_dir": self.sessions.layout.session(&meta.name).path,
            "attach_argv": self.sessions.attach_argv(meta),
            "pane": null,
        })
    }
}

fn presence_of(presence: &Presence) -> Value {
    let typed: Map<String, Value> = presence
        .agents_typed
        .iter()
        .map(|(agent, at)| (agent.clone(), json!(at)))
        .collect();
    json!({
        "agents_typed": typed,
        "human_input": presence.human_input,
        "typing_now": presence
            .typing_now
            .as_ref()
            .map(|(agent, tool)| json!({ "agent": agent, "tool": tool })),
    })
}
