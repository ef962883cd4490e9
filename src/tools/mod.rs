//! The table of tools, and what they share: the sessions, who calls, and how a result is made.
//!
//! Knows what a tool does, not how a message travels.
#![forbid(unsafe_code)]

mod advise;
mod agents;
mod appeared;
mod args;
mod capture_pane;
mod create_client;
pub mod device;
mod execute_command;
mod expect;
mod guide;
mod human;
mod left_over;
mod line_keys;
mod list_clients;
mod outcome;
mod paste;
mod place;
mod program;
mod read;
mod read_program;
mod regions;
mod report;
mod revoke_client;
mod rules;
mod run;
mod saving;
mod screen;
mod search;
mod send;
mod session_close;
mod session_control;
mod session_create;
mod session_list;
mod session_logs;
mod session_read;
mod session_resize;
mod session_split;
mod session_start;
mod shell_integrate;
mod start_program;
mod stop_program;
mod type_line;
mod wait;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::mcp::{Annotations, Call, Client, Progress, ServerInfo, Service, Tool, ToolResult};
use crate::programs::Programs;
use crate::reply::Reply;
use crate::session::registry::Settings;
use crate::session::watch::Cancel;
use crate::session::{Error, Record, Sessions, now_ms};
use advise::Asked;
use agents::Agents;
use args::Args;
use device::Devices;

/// What the tools were told at the start.
#[derive(Clone, Debug)]
pub struct Options {
    pub settings: Settings,
    /// Only tools that read.
    pub read_only: bool,
    /// Names of the sets of tools that are offered: those of SETS.
    pub toolsets: Vec<String>,
    /// The longest wait of read_program.
    pub wait_most: Duration,
    /// Clipped output begins with the failures in its middle.
    pub summary: bool,
}

/// All tools, and the sessions behind them. The state directory is opened by the first call, not before: clients
/// start servers to probe them.
pub struct Tools {
    options: Options,
    list: Vec<Tool>,
    /// What those may use whose token is for devices alone.
    scoped: Vec<Tool>,
    devices: Option<Devices>,
    /// Before the sessions: it is taken apart first.
    programs: OnceLock<Programs>,
    sessions: Mutex<Option<Arc<Sessions>>>,
    agents: Mutex<Agents>,
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
        name: "expect",
        tool: expect::tool,
        call: expect::call,
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
        name: "session_split",
        tool: session_split::tool,
        call: session_split::call,
    },
    Entry {
        name: "session_resize",
        tool: session_resize::tool,
        call: session_resize::call,
    },
    Entry {
        name: "session_list",
        tool: session_list::tool,
        call: session_list::call,
    },
    Entry {
        name: "shell_integrate",
        tool: shell_integrate::tool,
        call: shell_integrate::call,
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

/// The programs toolset.
const PROGRAMS: &[Entry] = &[
    Entry {
        name: "start_program",
        tool: start_program::tool,
        call: start_program::call,
    },
    Entry {
        name: "read_program",
        tool: read_program::tool,
        call: read_program::call,
    },
    Entry {
        name: "stop_program",
        tool: stop_program::tool,
        call: stop_program::call,
    },
    Entry {
        name: "capture_pane",
        tool: capture_pane::tool,
        call: capture_pane::call,
    },
];

/// The sets of tools by name, in the order in which they are listed.
const SETS: &[(&str, &[Entry])] = &[
    ("terminal", TABLE),
    ("programs", PROGRAMS),
    ("devices", device::TOOLS),
];

/// What a tool is given beside its arguments.
pub struct Context<'a> {
    pub sessions: &'a Arc<Sessions>,
    pub programs: &'a Programs,
    /// The longest wait of read_program.
    pub wait_most: Duration,
    pub agent: &'a str,
    /// The folder that it works in, where it is not this process's.
    pub folder: Option<&'a str>,
    pub cancel: &'a Cancel,
    pub progress: Option<&'a Progress>,
    pub devices: Option<&'a Devices>,
    /// Whose devices alone the caller may use: a group's key.
    pub scope: Option<&'a str>,
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
        let list = SETS
            .iter()
            // Those for devices come with the devices.
            .filter(|(name, _)| *name != "devices")
            .filter(|(name, _)| options.toolsets.iter().any(|wanted| wanted == name))
            .flat_map(|(_, entries)| entries.iter().map(|entry| (entry.tool)()))
            .filter(|tool| tool.annotations.read_only || !options.read_only)
            .collect();
        Tools {
            options,
            list,
            scoped: Vec::new(),
            devices: None,
            programs: OnceLock::new(),
            sessions: Mutex::default(),
            agents: Mutex::default(),
        }
    }

    /// The same, with the tools for devices.
    pub fn with_devices(mut self, devices: Devices) -> Tools {
        let read_only = self.options.read_only;
        let offered = |tool: &Tool| tool.annotations.read_only || !read_only;
        let entries = device::TOOLS.iter().map(|entry| (entry.tool)());
        self.scoped = entries
            .clone()
            .filter(|tool| offered(tool) && tool.name != device::NOT_SCOPED)
            .chain([session_list::of_devices()])
            .map(|tool| Tool {
                input_schema: device::without_token(tool.input_schema),
                ..tool
            })
            .collect();
        match self
            .list
            .iter_mut()
            .find(|tool| tool.name == "session_list")
        {
            Some(tool) => *tool = session_list::of_both(),
            None => self.list.push(session_list::of_devices()),
        }
        self.list.extend(entries.filter(offered));
        self.devices = Some(devices);
        self
    }

    /// Whether only tools that read are offered.
    pub fn only_read(&self) -> bool {
        self.options.read_only
    }

    /// What a client's calls are made under.
    pub fn agent_of(&self, client: &Client) -> String {
        self.agents().name(client)
    }

    /// The sessions; the first to ask opens the state directory.
    pub fn sessions(&self) -> Result<Arc<Sessions>, Error> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = sessions.as_ref() {
            return Ok(open.clone());
        }
        let open = Sessions::open(self.options.settings.clone())?;
        open.keep_house();
        *sessions = Some(open.clone());
        // Whether anybody asks for one or not: programs past their lifetime must end.
        self.programs(&open);
        Ok(open)
    }

    fn programs(&self, sessions: &Arc<Sessions>) -> &Programs {
        self.programs
            .get_or_init(|| Programs::open(sessions.clone()))
    }

    fn opened(&self) -> Option<Arc<Sessions>> {
        self.sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn agents(&self) -> MutexGuard<'_, Agents> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn carry_out(&self, call: Call) -> Result<Reply, Failure> {
        let mut entries = SETS.iter().flat_map(|(_, entries)| entries.iter());
        let scope = call.client.scope.as_deref();
        let offered = |entry: &&Entry| self.tools(scope).iter().any(|tool| tool.name == entry.name);
        let entry = entries.find(|entry| entry.name == call.name);
        let Some(entry) = entry.filter(offered) else {
            return Err(Failure::from(format!("there is no tool {:?}", call.name)));
        };
        let agent = self.agents().name(&call.client);
        let sessions = self.sessions()?;
        let context = Context {
            sessions: &sessions,
            programs: self.programs(&sessions),
            wait_most: self.options.wait_most,
            agent: &agent,
            folder: call.client.folder.as_deref(),
            cancel: &call.cancel,
            progress: call.progress.as_ref(),
            devices: self.devices.as_ref(),
            scope,
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
            if let Ok(reply) = told.as_mut() {
                place::tell(&context, &session, entry.name, reply);
            }
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

impl Service for Tools {
    fn info(&self) -> ServerInfo {
        ServerInfo {
            name: "paneglass".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            title: "paneglass: terminals".into(),
            instructions: crate::guide::INSTRUCTIONS.into(),
        }
    }

    fn tools(&self, scope: Option<&str>) -> &[Tool] {
        match scope {
            None => &self.list,
            Some(_) => &self.scoped,
        }
    }

    fn call(&self, call: Call) -> ToolResult {
        let log = Log::of(&call, self.agents().name(&call.client));
        let (reply, is_error) = match self.carry_out(call) {
            Ok(reply) => (reply, false),
            Err(Failure(reply)) => (*reply, true),
        };
        if let Some(sessions) = self.opened() {
            log.write(&sessions, &reply, is_error);
        }
        ToolResult {
            text: reply.text(),
            is_error,
            facts: (!reply.facts.is_empty()).then(|| reply.facts.into()),
            structured: reply.record.map(Value::Object),
        }
    }

    fn agent(&self, connection: u64) -> Option<String> {
        self.agents().of_connection(connection)
    }

    fn left(&self, connection: u64) {
        self.agents().left(connection);
    }
}

/// A call's line of calls.log, begun when the call begins.
struct Log {
    agent: String,
    tool: String,
    session: Option<String>,
    begun: Instant,
}

impl Log {
    fn of(call: &Call, agent: String) -> Log {
        let named = |field: &str| call.arguments.get(field).and_then(Value::as_str);
        Log {
            agent,
            tool: call.name.clone(),
            session: named("session").or(named("name")).map(String::from),
            begun: Instant::now(),
        }
    }

    fn write(&self, sessions: &Sessions, reply: &Reply, is_error: bool) {
        let told = |name: &str| reply.facts.get(name).and_then(Value::as_str);
        sessions.record(&Record {
            time: now_ms() as f64 / 1000.0,
            agent: &self.agent,
            tool: &self.tool,
            session: told("session").or(self.session.as_deref()),
            duration_ms: self.begun.elapsed().as_millis() as u64,
            ok: !is_error,
            error: is_error.then(|| told("status").unwrap_or("error")),
        });
    }
}

/// Whether a tool can be called twice where once was meant: it only reads, or it waits for what runs anyway.
pub fn is_harmless(name: &str) -> bool {
    let mut entries = SETS.iter().flat_map(|(_, entries)| entries.iter());
    let entry = entries.find(|entry| entry.name == name);
    entry.is_some_and(|entry| name == "wait" || (entry.tool)().annotations.read_only)
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
