//! `paneglass devices`: the devices of this machine's server, for its user.

use std::process::ExitCode;

use super::flags::{Flag, Parsed, Syntax, Takes};
use crate::devices::reach::{Ask, Told};
use crate::devices::{Known, visit};
use crate::serve::remote;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass devices",
    about: "\
Lists the machines that have joined this machine's server, or takes one's access
away: it is disconnected, and what it was let in by works no more.",
    words: "[list | revoke ID ...]",
    flags: &[Flag::new("json", Takes::Nothing, "list: one JSON array")],
    notes: "",
    examples: &["paneglass devices", "paneglass devices revoke k3x9ab"],
};

pub fn run(args: &Parsed) -> ExitCode {
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [] | ["list"] => list(args.has("json")),
        ["revoke", ids @ ..] if !ids.is_empty() => revoke(ids),
        _ => return super::wrong(SYNTAX.command, "it takes nothing, list, or revoke ID ..."),
    };
    match done {
        Ok(text) => super::print(&text),
        Err(error) => super::finish(SYNTAX.command, Err(error)),
    }
}

fn ask(question: &Ask) -> Result<Told, String> {
    let config = super::config()?;
    let none = || "no server runs here: start one with `paneglass serve --devices`".to_owned();
    let socket = remote::socket(&config).ok_or_else(none)?;
    let told = visit::ask(&socket, question).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused => none(),
        _ => error.to_string(),
    })?;
    match told {
        Told::Failed { error } => Err(error),
        told => Ok(told),
    }
}

fn list(json: bool) -> Result<String, String> {
    let Told::Devices { devices } = ask(&Ask::List)? else {
        return Err("the server answers something else".into());
    };
    if json {
        let text = serde_json::to_string_pretty(&devices).map_err(|error| error.to_string())?;
        return Ok(text + "\n");
    }
    if devices.is_empty() {
        return Ok("no devices\n".into());
    }
    let row = |device: &Known| {
        let state = match (device.online, device.round_trip) {
            (false, _) => "offline".to_owned(),
            (true, None) => "online".to_owned(),
            (true, Some(ms)) => format!("online, {ms} ms"),
        };
        format!(
            "{:<8}{:<20}{:<16}{} running  {}\n",
            device.client_id,
            super::clean(&device.info.hostname),
            state,
            device.running,
            super::clean(&device.info.platform),
        )
    };
    Ok(devices.iter().map(row).collect())
}

fn revoke(ids: &[&str]) -> Result<String, String> {
    let mut text = String::new();
    for id in ids {
        ask(&Ask::Revoke {
            client_id: (*id).into(),
        })?;
        text.push_str(&format!("revoked {id}\n"));
    }
    Ok(text)
}
