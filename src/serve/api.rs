//! What /health and /api/sessions tell, as JSON.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::http::Api;
use crate::session::{How, Session, Sessions};
use crate::sys::{passwd, random};
use crate::tmux::{Info, Person};
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

    /// The sessions, and the panes that tmux knows.
    fn look(&self) -> Result<(Arc<Sessions>, Vec<Info>), String> {
        let sessions = self.tools.sessions().map_err(|error| error.to_string())?;
        let panes = sessions.panes().map_err(|error| error.to_string())?;
        Ok((sessions, panes))
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
        let (sessions, panes) = self.look()?;
        let people = sessions.people().unwrap_or_default();
        let all = sessions.all();
        Ok(all
            .iter()
            .map(|session| describe(&sessions, session, &panes, &people))
            .collect())
    }

    fn session(&self, name: &str) -> Result<Option<Value>, String> {
        let (sessions, panes) = self.look()?;
        let session = sessions.get(name).ok();
        let people = sessions.people().unwrap_or_default();
        Ok(session.map(|session| describe(&sessions, &session, &panes, &people)))
    }
}

/// Epoch seconds, as JSON numbers.
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1000.0
}

fn describe(sessions: &Sessions, session: &Session, panes: &[Info], people: &[Person]) -> Value {
    let pane = panes
        .iter()
        .find(|info| info.pane == session.pane && info.tag == session.meta.nonce);
    let state = session.state();
    let (cols, rows) = state.term.size();
    let ending = state.ending;
    let status = match ending.map(|ending| ending.how) {
        None => "open",
        Some(How::Exited) => "exited",
        Some(How::Closed) => "closed",
        Some(How::Gone) => "gone",
    };
    let meta = &session.meta;
    let cwd = state
        .regions
        .folder()
        .map_or_else(|| meta.cwd.to_string_lossy().into_owned(), str::to_owned);
    json!({
        "name": session.name,
        "status": status,
        "exit_status": ending.and_then(|ending| ending.status),
        "signal": ending.and_then(|ending| ending.signal),
        "command": meta.command,
        "cwd": cwd,
        "cols": cols,
        "rows": rows,
        "agent": meta.agent,
        "attached": session.presence(pane, people).attached,
        "last_output": seconds(state.last_output_ms),
        "created": seconds(meta.created),
        "log_dir": session.dir.path,
        "attach_argv": sessions.tmux.attach_argv(&session.name),
        "pane": pane.map(|info| json!({
            "pane_id": info.pane.0,
            "window": info.window,
            "integrated": meta.integrated,
        })),
    })
}
