//! `paneglass logs`: how long sessions' logs stay.

use std::process::ExitCode;

use serde_json::json;

use super::flags::{Flag, Parsed, Syntax, Takes};
use crate::proc::Proc;
use crate::session::date;
use crate::session::retention::{Action, Fate, Outcome, Removed, Retention, Stored, Why};
use crate::store::layout::Layout;
use crate::tmux::Tmux;

const NAME: &str = SYNTAX.command;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass logs",
    about: "\
Keeps or deletes the logs of sessions. Left alone, those of a closed session go
PANEGLASS_KEEP_CLOSED_DAYS (3) days after they were last used.",
    words: "keep|default|delete-on-close|delete|due|sweep [NAME]",
    flags: &[
        Flag::new(
            "dry-run",
            Takes::Nothing,
            "sweep: only print what would be deleted",
        ),
        Flag::new("json", Takes::Nothing, "due: one JSON array"),
    ],
    notes: "\
keep              keep them until told otherwise
default           take keep and delete-on-close back
delete-on-close   delete them when the session closes
delete            delete those of a closed session now
due               list the sessions with what becomes of their logs
sweep             delete what is due",
    examples: &[
        "paneglass logs keep build",
        "paneglass logs due",
        "paneglass logs sweep --dry-run",
    ],
};

pub fn run(args: &Parsed) -> ExitCode {
    let (as_json, dry) = (args.has("json"), args.has("dry-run"));
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    let done = match (words.as_slice(), as_json, dry) {
        (["due"], as_json, false) => due(as_json),
        (["sweep"], false, dry) => sweep(dry),
        ([verb, name], false, false) => match Action::named(&verb.replace('-', "_")) {
            Ok(action) => apply(action, name),
            Err(_) => return super::wrong(NAME, format!("there is no {verb:?} for logs")),
        },
        _ => return super::wrong(NAME, "say what to do, and with which session"),
    };
    match done {
        Ok(text) => super::print(&text),
        Err(error) => super::finish(NAME, Err(error)),
    }
}

/// On the folders alone: a server that holds them sees the markers, and misses what has gone.
fn retention() -> Result<Retention, String> {
    let config = super::config()?;
    Ok(Retention {
        layout: Layout::new(config.home),
        tmux: Tmux::new(config.tmux, config.tmux_socket),
        proc: Proc::new("/proc"),
        days: config.keep_closed_days,
    })
}

fn apply(action: Action, name: &str) -> Result<String, String> {
    let retention = retention()?;
    let found = retention.find(name).map_err(|error| error.to_string())?;
    let is_open = found.is_some_and(|stored| matches!(stored.fate, Fate::Open { .. }));
    if is_open && action == Action::Delete {
        return Err(format!(
            "session {name:?} is open: close it first, or have its logs deleted when it closes (paneglass logs delete-on-close); nothing was deleted"
        ));
    }
    let outcome = retention.apply(name, action, NAME);
    Ok(match outcome.map_err(|error| error.to_string())? {
        Outcome::Removed(_) => format!("{name}: deleted\n"),
        Outcome::Marked(stored) => format!("{name}: {}\n", text(&stored)),
    })
}

fn due(as_json: bool) -> Result<String, String> {
    let stored = retention()?.stored().map_err(|error| error.to_string())?;
    if as_json {
        let entry = |stored: &Stored| {
            json!({
                "name": stored.folder,
                "fate": text(stored),
                "keep": stored.keep,
                "delete_on_close": stored.on_close,
                "expires_ms": stored.expires(),
            })
        };
        let all: serde_json::Value = stored.iter().map(entry).collect();
        return Ok(format!("{all}\n"));
    }
    if stored.is_empty() {
        return Ok("no sessions\n".into());
    }
    let width = stored.iter().map(|stored| stored.folder.len()).max();
    let width = width.unwrap_or(0);
    let line = |stored: &Stored| format!("{:<width$}  {}\n", stored.folder, text(stored));
    Ok(stored.iter().map(line).collect())
}

fn sweep(dry: bool) -> Result<String, String> {
    let retention = retention()?;
    if dry {
        let due = retention.due().map_err(|error| error.to_string())?;
        let line =
            |(stored, why): &(Stored, Why)| format!("would delete {}: {why}\n", stored.folder);
        return Ok(told(&due, line));
    }
    let removed = retention.sweep().map_err(|error| error.to_string())?;
    let line = |removed: &Removed| format!("deleted {}: {}\n", removed.session, removed.why);
    Ok(told(&removed, line))
}

/// A line for each; one line where there is none.
fn told<T>(all: &[T], line: impl Fn(&T) -> String) -> String {
    match all {
        [] => "nothing is due\n".into(),
        all => all.iter().map(line).collect(),
    }
}

fn text(stored: &Stored) -> String {
    match &stored.fate {
        // As when it is closed: what is kept does not go.
        Fate::Open { .. } if stored.keep => "open, kept".into(),
        Fate::Open { on_close: true } => "open, deleted when it closes".into(),
        Fate::Open { on_close: false } => "open".into(),
        Fate::Elsewhere => "of another host or tmux socket".into(),
        Fate::Kept => "closed, kept".into(),
        Fate::Forever => "closed, stays".into(),
        Fate::Until(ms) => format!("closed, until {}", date::utc(*ms)),
        Fate::Due(why) => format!("due: {why}"),
    }
}
