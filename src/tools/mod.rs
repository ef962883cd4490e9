//! The table of tools, and what they share: the sessions, who calls, and how a result is made.
//!
//! Knows what a tool does, not how a message travels.
#![forbid(unsafe_code)]

mod advise;
mod args;
mod guide;
mod outcome;
mod read;
mod regions;
mod report;
mod run;
mod search;
mod send;
mod session_close;
mod session_create;
mod session_list;
mod session_logs;
mod type_line;
mod wait;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::mcp::{Annotations, Call, Progress, ServerInfo, Service, Tool, ToolResult};
use crate::reply::Reply;
use crate::session::registry::Settings;
use crate::session::watch::Cancel;
use crate::session::{Error, Sessions};
use advise::Asked;
use args::Args;

/// What the tools were told at the start.
#[derive(Clone, Debug)]
pub struct Options {
    pub settings: Settings,
    /// Only tools that read.
    pub read_only: bool,
    /// Clipped output begins with the failures in its middle.
    pub summary: bool,
}

/// All tools, and the sessions behind them. The state directory is opened by the first call, not before: clients
/// start servers to probe them.
pub struct Tools {
    options: Options,
    list: Vec<Tool>,
    sessions: Mutex<Option<Arc<Sessions>>>,
    /// One name for each connection: the client's own, made unique.
    agents: Mutex<BTreeMap<u64, String>>,
}

/// One tool: what clients see, and what a call does.
struct Entry {
    name: &'static str,
    tool: fn() -> Tool,
    call: fn(Args, &Context<'_>) -> Result<Reply, Failure>,
}

/// In the order in which a model needs them.
const TABLE: &[Entry] = &[
    Entry {
        name: "session_create",
        tool: session_create::tool,
        call: session_create::call,
    },
    Entry {
        name: "run",
        tool: run::tool,
        call: run::call,
    },
    Entry {
        name: "wait",
        tool: wait::tool,
        call: wait::call,
    },
    Entry {
        name: "send",
        tool: send::tool,
        call: send::call,
    },
    Entry {
        name: "read",
        tool: read::tool,
        call: read::call,
    },
    Entry {
        name: "search",
        tool: search::tool,
        call: search::call,
    },
    Entry {
        name: "regions",
        tool: regions::tool,
        call: regions::call,
    },
    Entry {
        name: "session_list",
        tool: session_list::tool,
        call: session_list::call,
    },
    Entry {
        name: "session_close",
        tool: session_close::tool,
        call: session_close::call,
    },
    Entry {
        name: "session_logs",
        tool: session_logs::tool,
        call: session_logs::call,
    },
    Entry {
        name: "guide",
        tool: guide::tool,
        call: guide::call,
    },
];

/// What a tool is given beside its arguments.
pub struct Context<'a> {
    pub sessions: &'a Arc<Sessions>,
    pub agent: &'a str,
    pub cancel: &'a Cancel,
    pub progress: Option<&'a Progress>,
}

/// A call that did not do what was asked: one sentence for the reader, and what is known all the same.
#[derive(Debug)]
pub struct Failure(Box<Reply>);

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::from(error.to_string())
    }
}

impl From<crate::session::StoreError> for Failure {
    fn from(error: crate::session::StoreError) -> Failure {
        Failure::from(error.to_string())
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Failure {
        let mut reply = Reply::new(text);
        reply.fact("status", "refused");
        Failure(Box::new(reply))
    }
}

impl Tools {
    pub fn new(options: Options) -> Tools {
        let list = TABLE
            .iter()
            .map(|entry| (entry.tool)())
            .filter(|tool| tool.annotations.read_only || !options.read_only)
            .collect();
        Tools {
            options,
            list,
            sessions: Mutex::default(),
            agents: Mutex::default(),
        }
    }

    fn sessions(&self) -> Result<Arc<Sessions>, Error> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = sessions.as_ref() {
            return Ok(open.clone());
        }
        let open = Arc::new(Sessions::open(self.options.settings.clone())?);
        open.keep_house();
        *sessions = Some(open.clone());
        Ok(open)
    }

    /// The client's own name, with #2, #3, ... for further connections of the same name.
    fn agent(&self, call: &Call) -> String {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = agents.get(&call.client.connection) {
            return name.clone();
        }
        let Some(base) = call
            .client
            .name
            .as_deref()
            .map(clean_name)
            .filter(|name| !name.is_empty())
        else {
            // Not told yet: a later call of this connection may know.
            return "agent".into();
        };
        let taken = |name: &String| agents.values().any(|other| other == name);
        let first = Some(base.clone()).filter(|name| !taken(name));
        let name = first
            .or_else(|| {
                (2u32..)
                    .map(|n| format!("{base}#{n}"))
                    .find(|name| !taken(name))
            })
            .unwrap_or(base);
        agents.insert(call.client.connection, name.clone());
        name
    }

    fn carry_out(&self, call: Call) -> Result<Reply, Failure> {
        let entry = TABLE.iter().find(|entry| entry.name == call.name);
        let Some(entry) =
            entry.filter(|entry| self.list.iter().any(|tool| tool.name == entry.name))
        else {
            return Err(Failure::from(format!("there is no tool {:?}", call.name)));
        };
        let agent = self.agent(&call);
        let sessions = self.sessions()?;
        let context = Context {
            sessions: &sessions,
            agent: &agent,
            cancel: &call.cancel,
            progress: call.progress.as_ref(),
        };
        let session = call
            .arguments
            .get("session")
            .and_then(Value::as_str)
            .map(String::from);
        let asked = session
            .as_ref()
            .and_then(|name| sessions.get(name).ok())
            .map(|session| {
                session.meet(&agent);
                Asked::new(entry.name, &call.arguments, &session, &agent)
            });
        let mut args = Args::new(entry.name, call.arguments);
        args.summary = self.options.summary;
        let mut told = (entry.call)(args, &context);
        if let Some(session) = session.and_then(|name| sessions.get(&name).ok()) {
            if let (Ok(reply), Some(asked)) = (&mut told, &asked) {
                advise::add(&context, &session, asked, reply);
            }
            if entry.name != "session_logs" {
                session.used();
            }
            session.save();
        }
        told
    }
}

/// A client names itself as it likes; a name is shown to others, so it is kept short and plain.
fn clean_name(name: &str) -> String {
    name.chars()
        .filter(|c| c.is_alphanumeric() || "-_.#@ ".contains(*c))
        .take(40)
        .collect::<String>()
        .trim()
        .to_string()
}

impl Service for Tools {
    fn info(&self) -> ServerInfo {
        ServerInfo {
            name: "paneglass".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            title: "paneglass: terminals".into(),
            instructions: crate::guide::INSTRUCTIONS.into(),
        }
    }

    fn tools(&self) -> &[Tool] {
        &self.list
    }

    fn call(&self, call: Call) -> ToolResult {
        let (reply, is_error) = match self.carry_out(call) {
            Ok(reply) => (reply, false),
            Err(Failure(reply)) => (*reply, true),
        };
        ToolResult {
            text: reply.text(),
            is_error,
            facts: Some(reply.facts.into()),
            structured: None,
        }
    }
}

/// Annotations of a tool that only reads.
fn reads() -> Annotations {
    Annotations {
        read_only: true,
        idempotent: true,
        ..Annotations::default()
    }
}

#[cfg(test)]
mod tests;
