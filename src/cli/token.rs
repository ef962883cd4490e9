//! `paneglass token`: what clients show on TCP.

use std::process::ExitCode;

use super::flags::{Parsed, Syntax};
use crate::serve::token;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass token",
    about: "\
Prints the bearer token for `paneglass serve --tcp`; made at first use. Who has
it can do what you can do.",
    words: "",
    flags: &[],
    notes: "",
    examples: &[
        "curl -H \"Authorization: Bearer $(paneglass token)\" \\",
        "    http://127.0.0.1:8766/api/sessions",
    ],
};

pub fn run(_args: &Parsed) -> ExitCode {
    match super::config().and_then(|config| token::token(&config)) {
        Ok(token) => super::print(&format!("{token}\n")),
        Err(error) => super::finish(SYNTAX.command, Err(error)),
    }
}
