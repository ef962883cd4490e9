//! `paneglass into COMMAND...`: a command that opens a terminal somewhere else, with the shell integrated there.

use std::ffi::OsString;
use std::process::ExitCode;

use super::flags::{Flag, Syntax, Takes};
use super::ssh;
use crate::place::bootstrap::{self, Via};
use crate::place::files::NONCE;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass into",
    about: "\
Runs a command that opens a terminal in a container, a sandbox or as another
user, and starts the user's login shell of that place, integrated: its prompts,
commands and exit statuses are marked for paneglass.",
    words: "COMMAND [ARGUMENT]...",
    flags: &[Flag::new(
        "print",
        Takes::Nothing,
        "show the command and the script in it; run nothing",
    )],
    notes: "\
The command is given the program to run as its last arguments, so leave the
shell out: \"into podman exec -it box\", not \"into podman exec -it box bash\".
That place needs sh. A shell without integration starts plain and says so. When
the command fails, its exit status is the answer; as a session's own command it
ends the session, so that nothing meant for the other place runs here.

PANEGLASS_SSH_ENV names variables that are set on the far side as well.",
    examples: &[
        "paneglass into podman exec -it box",
        "paneglass into kubectl exec -it pod --",
        "paneglass into bwrap --ro-bind / / --dev /dev --proc /proc --unshare-pid --",
    ],
};

/// Becomes the command. Exit code 1 when a setting cannot be used, 2 on wrong usage, 126 or 127 when it cannot be started, else its own.
pub fn run(args: lexopt::Parser) -> ExitCode {
    let asked = ssh::ask(args, &[]);
    if asked.help {
        return super::print(&SYNTAX.help());
    }
    if asked.arguments.is_empty() {
        return super::wrong(
            "paneglass into",
            "name the command that opens the other place",
        );
    }
    // Without a nonce the shell there starts all the same, and marks nothing.
    let nonce = std::env::var(NONCE).unwrap_or_default();
    let carried = match ssh::carried() {
        Ok(carried) => carried,
        Err(error) => return super::finish(SYNTAX.command, Err(error)),
    };
    match bootstrap::enter(Via::Into, &nonce, &carried) {
        Ok(made) => {
            let mut words = asked.arguments;
            words.extend(made.words().iter().map(OsString::from));
            ssh::become_or_print(asked.print, words, Some(&made))
        }
        Err(error) => super::finish("paneglass into", Err(error.to_string())),
    }
}
