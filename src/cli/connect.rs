//! `paneglass connect`: a client's way to a server of many clients.

use std::process::ExitCode;

use super::flags::{Flag, Parsed, Syntax, Takes};
use crate::serve::bridge::Bridge;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass connect",
    about: "\
Serves one MCP client on standard input and output, through the server that
`paneglass serve` runs. When that is restarted it reconnects by itself.",
    words: "",
    flags: &[
        Flag::new(
            "actor",
            Takes::Value("NAME"),
            "what this agent is called, over reconnects too\n(default: the client's own name)",
        ),
        Flag::new(
            "socket",
            Takes::Value("PATH"),
            "the server's socket (default: PANEGLASS_SOCKET_PATH, else\npaneglass/server.sock in XDG_RUNTIME_DIR)",
        ),
    ],
    notes: "Exit status: 0, 1 when no server is there for 30 s.",
    examples: &["paneglass connect --actor reviewer"],
};

pub fn run(args: &Parsed) -> ExitCode {
    super::finish(SYNTAX.command, connect(args))
}

fn connect(args: &Parsed) -> Result<(), String> {
    let config = super::config()?;
    let socket = args.value("socket").map(std::path::PathBuf::from);
    let actor = args.value("actor").map(str::to_owned);
    let bridge = Bridge::new(socket.unwrap_or(config.socket_path), actor);
    bridge.run(|line| eprintln!("{}: {line}", SYNTAX.command))
}
