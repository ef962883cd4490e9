//! `paneglass attach NAME`: watch a session and type along, without knowing tmux's socket.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use super::flags::{Parsed, Syntax};
use crate::session::screen::attach_argv;
use crate::tmux::Tmux;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass attach",
    about: "Attaches this terminal to a session. Detach again with ctrl+b d.",
    words: "NAME",
    flags: &[],
    notes: "",
    examples: &["paneglass attach build"],
};

pub fn run(args: &Parsed) -> ExitCode {
    let [name] = args.words.as_slice() else {
        return super::wrong("paneglass attach", "name one session");
    };
    super::finish("paneglass attach", attach(name))
}

/// Becomes tmux; returns only when that fails.
fn attach(name: &str) -> Result<(), String> {
    let config = super::config()?;
    let peeks = super::list::sessions(&config)?;
    let found = peeks
        .iter()
        .find(|peek| peek.meta.name == name && peek.pane.is_some());
    let Some(found) = found else {
        let open: Vec<&str> = peeks
            .iter()
            .filter(|peek| peek.pane.is_some())
            .map(|peek| peek.meta.name.as_str())
            .collect();
        let open = if open.is_empty() {
            "no session is open".into()
        } else {
            format!("open sessions: {}", open.join(", "))
        };
        return Err(format!("there is no open session {name:?}; {open}"));
    };
    let argv = attach_argv(&Tmux::new(config.tmux, config.tmux_socket), &found.meta);
    // Inside another tmux, tmux refuses to nest unless TMUX is unset; ours is another server, so nesting is meant.
    let error = Command::new(&argv[0])
        .args(&argv[1..])
        .env_remove("TMUX")
        .exec();
    Err(format!("cannot start {}: {error}", argv[0]))
}
