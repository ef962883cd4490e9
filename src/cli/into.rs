//! `paneglass into COMMAND...`: a command that opens a terminal somewhere else, with the shell integrated there.

use std::ffi::OsString;
use std::process::ExitCode;

use super::ssh;
use crate::place::bootstrap::{self, Via};
use crate::place::files::NONCE;

const HELP: &str = "\
Runs a command that opens a terminal in a container, a sandbox or as another
user, and starts the user's login shell of that place, integrated: its prompts,
commands and exit statuses are marked for paneglass.

Usage:
  paneglass into [--print] COMMAND [ARGUMENT]...

The command is given the program to run as its last arguments, so leave the
shell out: \"into podman exec -it box\", not \"into podman exec -it box bash\".
That place needs sh. A shell without integration starts plain and says so. When
the command fails, its exit status is the answer; as a session's own command it
ends the session, so that nothing meant for the other place runs here.

Options:
      --print   show the command and the script in it; run nothing
  -h, --help    this text

Environment:
  PANEGLASS_SSH_ENV   names of variables that are set on the far side as well

Examples:
  paneglass into podman exec -it box
  paneglass into kubectl exec -it pod --
  paneglass into bwrap --ro-bind / / --dev /dev --proc /proc --unshare-pid --
";

/// Becomes the command. Exit code 2 on wrong usage, 126 or 127 when it cannot be started, else its own.
pub fn run(args: lexopt::Parser) -> ExitCode {
    let asked = ssh::ask(args, &[]);
    if asked.help {
        return super::print(HELP);
    }
    if asked.arguments.is_empty() {
        return super::wrong(
            "paneglass into",
            "name the command that opens the other place",
        );
    }
    // Without a nonce the shell there starts all the same, and marks nothing.
    let nonce = std::env::var(NONCE).unwrap_or_default();
    match bootstrap::enter(Via::Into, &nonce, &ssh::carried()) {
        Ok(made) => {
            let mut words = asked.arguments;
            words.extend(made.words().iter().map(OsString::from));
            ssh::become_or_print(asked.print, words, Some(&made))
        }
        Err(error) => super::finish("paneglass into", Err(error.to_string())),
    }
}
