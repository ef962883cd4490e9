//! What the tools of the devices toolset share: whose devices are meant, what a record says of an end, and waiting for a
//! device. Must not know how a device is reached.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::devices::frame::{End, Spec};
use crate::devices::{Error, Hub, changes::Changes};
use crate::mcp::schema::{self, Property};
use crate::session::watch::{Alarm, Woken};

use super::args::{Args, BadArgument};
use super::{
    Context, Entry, Failure, create_client, execute_command, list_clients, revoke_client,
    session_control, session_read, session_start,
};

/// The devices of a server, and how machines get to it.
pub struct Devices {
    pub hub: Arc<Hub>,
    pub ways: Ways,
}

/// What a machine that is to join is told to use.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    /// A server's address and what else belongs on the command line; the first one is the one to use.
    pub near: Option<String>,
    /// By ssh: nothing need listen on the network.
    pub far: String,
}

/// The tools for remote devices. session_list is one of them too.
pub(super) const TOOLS: &[Entry] = &[
    Entry {
        name: "create_client",
        tool: create_client::tool,
        call: create_client::call,
    },
    Entry {
        name: "list_clients",
        tool: list_clients::tool,
        call: list_clients::call,
    },
    Entry {
        name: "execute_command",
        tool: execute_command::tool,
        call: execute_command::call,
    },
    Entry {
        name: "session_start",
        tool: session_start::tool,
        call: session_start::call,
    },
    Entry {
        name: "session_read",
        tool: session_read::tool,
        call: session_read::call,
    },
    Entry {
        name: "session_control",
        tool: session_control::tool,
        call: session_control::call,
    },
    Entry {
        name: "revoke_client",
        tool: revoke_client::tool,
        call: revoke_client::call,
    },
];

/// Makes new groups, so it is for those who may do everything.
pub(super) const NOT_SCOPED: &str = "create_client";

/// A command may take so long, in milliseconds: a day.
const TIMEOUT_MOST: u64 = 86_400_000;

/// The longest command, in bytes; and the longest environment. What is longer belongs in a file.
const COMMAND_MOST: usize = 64 << 10;

/// The columns and rows of a session's terminal.
pub const TERMINAL: (u16, u16) = (120, 40);

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::from(error.to_string())
    }
}

/// The hub, and the group that the call is about.
pub fn group<'a>(
    args: &mut Args,
    context: &Context<'a>,
) -> Result<(&'a Arc<Hub>, String), Failure> {
    let devices = context.devices.ok_or_else(|| {
        Failure::from(
            "devices are for a server that `paneglass serve --devices` has started".to_string(),
        )
    })?;
    let group = match context.scope {
        Some(scope) => scope.to_owned(),
        None => devices.hub.group(&args.required("client_token")?)?,
    };
    Ok((&devices.hub, group))
}

/// The token, which clients do not have to say whose own it is: see [`without_token`].
pub fn token() -> Property {
    schema::string("client_token", "The token that create_client returned.").required()
}

pub fn client() -> Property {
    schema::string(
        "client_id",
        "Which device (list_clients); needed when the token is for several.",
    )
}

pub fn session() -> Property {
    schema::string("session_id", "The session, as session_start returned it.").required()
}

/// A schema for those who show the token with every request.
pub fn without_token(mut schema: Value) -> Value {
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.remove("client_token");
    }
    if let Some(required) = schema["required"].as_array_mut() {
        required.retain(|name| name != "client_token");
    }
    schema
}

/// What execute_command and session_start take, but for `timeout_ms`.
pub fn command_properties() -> [Property; 5] {
    [
        token(),
        client(),
        schema::string("command", "For the device's shell, as after `sh -c`.").required(),
        schema::string("cwd", "Folder on the device (default: where it joined)."),
        schema::string_map("env", "More environment variables."),
    ]
}

pub fn timeout(text: &str, default: u64) -> Property {
    schema::integer("timeout_ms", text)
        .min(0)
        .max(TIMEOUT_MOST)
        .default(default)
}

/// What is to run where; the group has been taken out already.
pub fn spec(args: &mut Args, default_timeout: u64) -> Result<(Option<String>, Spec), BadArgument> {
    let client = args.string("client_id")?;
    let command = args.required("command")?;
    if command.is_empty() || command.len() > COMMAND_MOST || command.contains('\0') {
        return Err(format!(
            "`command` must have 1 to {COMMAND_MOST} bytes and no NUL, not {}",
            command.len()
        ));
    }
    let env: Vec<(String, String)> = args.pairs("env")?;
    let size: usize = env
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    if size > COMMAND_MOST || env.iter().any(|(_, value)| value.contains('\0')) {
        return Err(format!(
            "`env` must have at most {COMMAND_MOST} bytes in all and no NUL"
        ));
    }
    let spec = Spec {
        command: Some(command),
        cwd: args.string("cwd")?,
        env: env.into_iter().collect(),
        timeout_ms: args
            .number("timeout_ms", 0, TIMEOUT_MOST)?
            .unwrap_or(default_timeout),
        argv: Vec::new(),
        terminal: None,
        keep: None,
    };
    Ok((client, spec))
}

/// The properties of a record that tells of an end.
pub fn end_properties() -> [Property; 4] {
    [
        schema::integer(
            "exit_code",
            "-1: it failed, was interrupted, or the device was disconnected.",
        ),
        schema::boolean("timed_out", "`timeout_ms` ended it."),
        schema::boolean("canceled", "It was stopped on request."),
        schema::string("error", "Why there is no exit code."),
    ]
}

/// Adds how something ended to a record.
pub fn tell_end(record: &mut Map<String, Value>, end: &End) {
    record.insert("exit_code".into(), end.exit_code.into());
    record.insert("timed_out".into(), end.timed_out.into());
    record.insert("canceled".into(), end.canceled.into());
    if let Some(error) = &end.error {
        record.insert("error".into(), error.clone().into());
    }
}

/// How something ended, for a header line.
pub fn end_text(end: &End) -> String {
    match &end.error {
        _ if end.timed_out => "timed out".into(),
        _ if end.canceled => "stopped".into(),
        Some(error) => error.clone(),
        None => format!("exit {}", end.exit_code),
    }
}

/// Waits until `done` says so, each time that something has changed; at most until the deadline.
pub fn wait(
    changes: &Changes,
    deadline: Instant,
    context: &Context<'_>,
    mut done: impl FnMut() -> bool,
) -> Woken {
    let alarm = Alarm::new();
    let _interest = changes.listen(alarm.ringer());
    loop {
        if done() {
            return Woken::Changed;
        }
        match alarm.wait(deadline, context.cancel) {
            Woken::Changed => {}
            ended => return ended,
        }
    }
}

/// An object as a map, to be added to.
pub fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => Map::from_iter([("value".to_owned(), json!(other))]),
    }
}
