//! What /health and the paths of /api tell and do, as JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::http::{Api, Refusal};
use crate::mcp::{Client, STATELESS};
use crate::session::people::{Person, Presence};
use crate::session::place;
use crate::session::retention::{Action, Outcome, Stored};
use crate::session::screen::Info;
use crate::session::{Ending, Error, How, Meta, Session, Sessions};
use crate::sys::{passwd, random};
use crate::tools::Tools;

/// Bytes of the number that tells one start of a server from the next.
const INSTANCE_BYTES: usize = 8;

/// Who asked over HTTP without a name.
const WHO: &str = "the HTTP API";

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

    /// Refuses where only what reads is offered.
    fn may_change(&self) -> Result<(), Refusal> {
        match self.tools.only_read() {
            true => Err(Refusal::new(
                403,
                "this server only reads: PANEGLASS_READ_ONLY is set",
            )),
            false => Ok(()),
        }
    }

    fn look(&self) -> Result<Look, Error> {
        let sessions = self.tools.sessions()?;
        let panes = sessions.panes()?;
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

    fn sessions(&self) -> Result<Value, Refusal> {
        let look = self.look().map_err(refusal)?;
        let stored = look.sessions.retention().stored().map_err(refusal)?;
        let stored = |name: &str| stored.iter().find(|stored| stored.folder == name);
        let open = look.sessions.all();
        let mut all: BTreeMap<String, Value> = open
            .iter()
            .map(|session| {
                let told = look.describe(session, stored(&session.name));
                (session.name.clone(), told)
            })
            .collect();
        // Of those that nobody has asked for, no log is read.
        for (name, meta) in look.sessions.still_closed().iter() {
            let last = look.sessions.last_output_ms(meta);
            all.insert(name.clone(), look.describe_closed(meta, last, stored(name)));
        }
        Ok(all.into_values().collect())
    }

    fn session(&self, name: &str) -> Result<Value, Refusal> {
        let look = self.look().map_err(refusal)?;
        let session = look.sessions.get(name).map_err(refusal)?;
        let stored = look.sessions.retention().find(name).map_err(refusal)?;
        Ok(look.describe(&session, stored.as_ref()))
    }

    fn set_logs(&self, name: &str, body: Value, actor: Option<&str>) -> Result<Value, Refusal> {
        self.may_change()?;
        let action = action(&body).map_err(|reason| Refusal::new(400, reason))?;
        let who = self.tools.agent_of(&Client {
            actor: actor.map(str::to_owned),
            connection: STATELESS,
            name: Some(WHO.into()),
            ..Client::default()
        });
        let sessions = self.tools.sessions().map_err(refusal)?;
        let outcome = sessions.set_logs(name, action, &who).map_err(refusal)?;
        let mut told = match &outcome {
            Outcome::Marked(stored) => retention(Some(stored)),
            Outcome::Removed(removed) => {
                json!({ "deleted": seconds(removed.deleted), "why": removed.why })
            }
        };
        told["name"] = json!(name);
        told["logs"] = json!(outcome.to_string());
        Ok(told)
    }

    fn sweep(&self, dry_run: bool) -> Result<Value, Refusal> {
        if !dry_run {
            self.may_change()?;
        }
        let sessions = self.tools.sessions().map_err(refusal)?;
        let told: Vec<Value> = match dry_run {
            true => {
                let due = sessions.retention().due().map_err(refusal)?;
                let told = due.iter().map(|(stored, why)| {
                    gone(&stored.folder, stored.created(), None, &why.to_string())
                });
                told.collect()
            }
            false => {
                let removed = sessions.sweep().map_err(refusal)?;
                let told = removed
                    .iter()
                    .map(|one| gone(&one.session, one.created, Some(one.deleted), &one.why));
                told.collect()
            }
        };
        Ok(json!({ "dry_run": dry_run, "sessions": told }))
    }
}

/// What the body of a request over logs asks for.
fn action(body: &Value) -> Result<Action, String> {
    let fields = body
        .as_object()
        .ok_or("the body is not an object with `action`")?;
    if let Some(name) = fields.keys().find(|name| *name != "action") {
        return Err(format!("there is no {name:?}, only `action`"));
    }
    let word = fields.get("action").ok_or("`action` is missing")?;
    let word = word.as_str().ok_or("`action` is not a string")?;
    Action::named(word).map_err(|error| error.to_string())
}

/// What a sweep deleted, or would.
fn gone(name: &str, created_ms: u64, deleted_ms: Option<u64>, why: &str) -> Value {
    json!({
        "name": name,
        "created": seconds(created_ms),
        "deleted": deleted_ms.map(seconds),
        "why": why,
    })
}

/// How long logs stay.
fn retention(stored: Option<&Stored>) -> Value {
    json!({
        "keep": stored.is_some_and(|stored| stored.keep),
        "delete_on_close": stored.is_some_and(|stored| stored.on_close),
        "expires": stored.and_then(Stored::expires).map(seconds),
    })
}

fn refusal(error: Error) -> Refusal {
    let status = match error {
        Error::NoSession(_) => 404,
        Error::Refused(_) => 409,
        Error::Tmux(_) | Error::Store(_) | Error::Io(..) => 503,
    };
    Refusal::new(status, error.to_string())
}

/// Adds the fields of one object to another.
fn extend(object: &mut Value, more: Value) {
    if let (Some(fields), Value::Object(more)) = (object.as_object_mut(), more) {
        fields.extend(more);
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
    fn describe(&self, session: &Session, stored: Option<&Stored>) -> Value {
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
        extend(&mut facts, more);
        extend(&mut facts, retention(stored));
        facts
    }

    fn describe_closed(&self, meta: &Meta, last_output_ms: u64, stored: Option<&Stored>) -> Value {
        let mut facts = self.facts(meta, meta.end, last_output_ms);
        extend(&mut facts, retention(stored));
        facts
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
