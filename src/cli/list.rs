//! `paneglass list`: the sessions as a table.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::flags::{Flag, Parsed, Syntax, Takes};
use crate::config::Config;
use crate::serve::remote;
use crate::session::How;
use crate::session::peek::{Peek, peek};
use crate::store::layout::Layout;
use crate::tmux::Tmux;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass list",
    about: "Lists sessions: open ones, and closed ones whose logs are still there.",
    words: "",
    flags: &[Flag::new("json", Takes::Nothing, "one JSON array")],
    notes: "",
    examples: &["paneglass list", "paneglass list --json"],
};

/// One session, as it is shown.
struct Row {
    name: String,
    state: String,
    command: String,
    agent: String,
    /// People at it.
    attached: u64,
    /// Milliseconds since the epoch.
    created: u64,
}

pub fn run(args: &Parsed) -> ExitCode {
    match super::config().and_then(|config| rows(&config)) {
        Ok(rows) if args.has("json") => super::print(&format!("{}\n", as_array(&rows))),
        Ok(rows) => super::print(&table(&rows)),
        Err(error) => super::finish(SYNTAX.command, Err(error)),
    }
}

/// As the server that runs has them; without one, as their folders and tmux tell.
fn rows(config: &Config) -> Result<Vec<Row>, String> {
    match remote::get(config, "/api/sessions") {
        Some(told) => told.map(|told| {
            let all = told.as_array().into_iter().flatten();
            all.map(Row::told).collect()
        }),
        None => sessions(config).map(|peeks| peeks.iter().map(Row::seen).collect()),
    }
}

pub fn sessions(config: &Config) -> Result<Vec<Peek>, String> {
    let tmux = Tmux::new(config.tmux.clone(), config.tmux_socket.clone());
    peek(&Layout::new(config.home.clone()), &tmux).map_err(|error| error.to_string())
}

impl Row {
    fn told(session: &Value) -> Row {
        let text = |name: &str| session[name].as_str().unwrap_or_default().to_owned();
        let state = match (text("status"), session["exit_status"].as_i64()) {
            (status, Some(exit)) if status == "exited" || status == "gone" => {
                format!("exited {exit}")
            }
            (status, None) if status == "exited" => match session["signal"].as_i64() {
                Some(signal) => format!("signal {signal}"),
                None => status,
            },
            (status, _) => status,
        };
        Row {
            name: text("name"),
            state,
            command: text("command"),
            agent: text("agent"),
            attached: session["attached"].as_u64().unwrap_or(0),
            created: (session["created"].as_f64().unwrap_or(0.0) * 1000.0).round() as u64,
        }
    }

    fn seen(peek: &Peek) -> Row {
        Row {
            name: peek.meta.name.clone(),
            state: state(peek),
            command: peek.meta.command.clone(),
            agent: peek.meta.agent.clone(),
            attached: peek.people as u64,
            created: peek.meta.created,
        }
    }
}

fn state(peek: &Peek) -> String {
    match (&peek.pane, peek.meta.end) {
        (Some(info), _) if info.dead => match (info.dead_status, info.dead_signal) {
            (Some(status), _) => format!("exited {status}"),
            (_, Some(signal)) => format!("signal {signal}"),
            _ => "exited".into(),
        },
        (Some(_), _) => "open".into(),
        (None, Some(end)) if end.how == How::Closed => "closed".into(),
        (None, Some(end)) => end
            .status
            .map_or("gone".into(), |status| format!("exited {status}")),
        (None, None) => "gone".into(),
    }
}

fn as_array(rows: &[Row]) -> Value {
    let entry = |row: &Row| {
        json!({
            "name": row.name,
            "state": row.state,
            "command": row.command,
            "agent": row.agent,
            "attached": row.attached,
            "created_ms": row.created,
        })
    };
    rows.iter().map(entry).collect()
}

fn table(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "no sessions\n".into();
    }
    let head = ["NAME", "STATE", "PEOPLE", "OPENED BY", "COMMAND"].map(String::from);
    let rows = rows.iter().map(|row| {
        let command = super::clean(&row.command).replace('\n', " ");
        [
            super::clean(&row.name),
            row.state.clone(),
            row.attached.to_string(),
            super::clean(&row.agent),
            command.chars().take(40).collect(),
        ]
    });
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2), width(3)];
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(widths) {
            text.push_str(&format!("{cell:<width$}  "));
        }
        text.push_str(&row[4]);
        text.push('\n');
    }
    text
}
