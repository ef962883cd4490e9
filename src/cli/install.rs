//! `paneglass install [user@]host`: the integration's files on another host, for shells that `paneglass ssh` cannot
//! reach. Runs one ssh.

use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, ExitCode, Stdio};

use super::ssh;
use crate::place::bootstrap;
use crate::place::ssh::SshLine;

const HELP: &str = "\
Puts the shell integration into a user's home on another host, over one ssh,
for the tool shell_integrate: for a shell that is open already, for sudo -i and
su there, and for a second hop. Once per host and user.

Usage:
  paneglass install [--print] [--remove] [ssh options] [user@]host

The files go to ~/.local/share/paneglass there; those of other versions are
removed. The host needs sh.

Options:
      --remove  take the files away again
      --print   show the ssh command and the script for it; run nothing
  -h, --help    this text

Examples:
  paneglass install build@ci7
  paneglass install -J gate root@db1
  paneglass install --remove build@ci7
";

/// Exit code 2 on wrong usage, else ssh's: that of the script, or 255; 1 when ssh cannot be started.
pub fn run(args: lexopt::Parser) -> ExitCode {
    let asked = ssh::ask(args, &["--remove"]);
    if asked.help {
        return super::print(HELP);
    }
    let line = SshLine::parse(&ssh::lossy(&asked.arguments));
    if line.host.is_none() {
        return super::wrong("paneglass install", "name the host");
    }
    if line.command {
        return super::wrong(
            "paneglass install",
            "it takes a host, and no command after it",
        );
    }
    let script = if asked.option {
        bootstrap::remove()
    } else {
        bootstrap::install()
    };
    let mut words = ["ssh", "-o", "RemoteCommand=none", "-T"]
        .map(OsString::from)
        .to_vec();
    words.extend(asked.arguments);
    words.push("exec sh".into());
    if asked.print {
        return super::print(&format!(
            "{}\n\n# What it is given to read:\n{script}",
            ssh::command_line(&words)
        ));
    }
    let done = give(&words, &script);
    match done {
        Ok(code) => code,
        Err(error) => super::finish("paneglass install", Err(error)),
    }
}

/// Runs ssh with the script as its input. Passwords it asks for at the terminal.
fn give(words: &[OsString], script: &str) -> Result<ExitCode, String> {
    let cannot = |error: std::io::Error| format!("cannot start ssh: {error}");
    let mut child = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    if let Some(mut input) = child.stdin.take() {
        // One that has ended early says why itself.
        let _ = input.write_all(script.as_bytes());
    }
    let status = child.wait().map_err(cannot)?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
