//! `paneglass list`: the sessions as a table.

use std::process::ExitCode;

use serde_json::json;

use super::flags::{Flag, Parsed, Syntax, Takes};
use crate::config::Config;
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

pub fn run(args: &Parsed) -> ExitCode {
    match super::config().and_then(|config| sessions(&config)) {
        Ok(peeks) if args.has("json") => super::print(&format!("{}\n", as_array(&peeks))),
        Ok(peeks) => super::print(&table(&peeks)),
        Err(error) => super::finish("paneglass list", Err(error)),
    }
}

pub fn sessions(config: &Config) -> Result<Vec<Peek>, String> {
    let tmux = Tmux::new(config.tmux.clone(), config.tmux_socket.clone());
    peek(&Layout::new(config.home.clone()), &tmux).map_err(|error| error.to_string())
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

fn as_array(peeks: &[Peek]) -> serde_json::Value {
    let entry = |peek: &Peek| {
        json!({
            "name": peek.meta.name,
            "state": state(peek),
            "command": peek.meta.command,
            "agent": peek.meta.agent,
            "attached": peek.people,
            "created_ms": peek.meta.created,
        })
    };
    peeks.iter().map(entry).collect()
}

fn table(peeks: &[Peek]) -> String {
    if peeks.is_empty() {
        return "no sessions\n".into();
    }
    let head = ["NAME", "STATE", "PEOPLE", "OPENED BY", "COMMAND"].map(String::from);
    let rows = peeks.iter().map(|peek| {
        let agent = super::clean(&peek.meta.agent);
        let command: String = super::clean(&peek.meta.command)
            .replace('\n', " ")
            .chars()
            .take(40)
            .collect();
        [
            peek.meta.name.clone(),
            state(peek),
            peek.people.to_string(),
            agent,
            command,
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
