//! `paneglass version`.

use std::process::ExitCode;

use super::flags::{Flag, Parsed, Syntax, Takes};
use crate::mcp::era;
use crate::term::width;
use crate::tmux::Tmux;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass version",
    about: "Prints the version.",
    words: "",
    flags: &[Flag {
        short: Some('v'),
        ..Flag::new(
            "verbose",
            Takes::Nothing,
            "also the protocol revisions and the tmux that is found",
        )
    }],
    notes: "",
    examples: &["paneglass version --verbose"],
};

pub fn run(args: &Parsed) -> ExitCode {
    let mut text = format!("paneglass {}\n", env!("CARGO_PKG_VERSION"));
    if args.has("verbose") {
        text.push_str(&format!(
            "MCP {}\n",
            era::LEGACY
                .iter()
                .chain(&era::MODERN)
                .copied()
                .collect::<Vec<_>>()
                .join(", ")
        ));
        let tmux = match super::config() {
            Ok(config) => Tmux::new(config.tmux, config.tmux_socket),
            Err(error) => return super::finish(SYNTAX.command, Err(error)),
        };
        let found = tmux.version_text();
        text.push_str(&format!(
            "{}\n",
            found.unwrap_or_else(|error| error.to_string())
        ));
        text.push_str(&format!("Unicode {}\n", width::UNICODE));
    }
    super::print(&text)
}
