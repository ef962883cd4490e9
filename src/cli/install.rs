//! `paneglass install [user@]host`: the integration's files on another host, for shells that `paneglass ssh` cannot
//! reach. Becomes one ssh.

use std::ffi::OsString;
use std::process::ExitCode;

use super::ssh;
use crate::place::bootstrap;
use crate::place::ssh::SshLine;

const HELP: &str = "\
Puts the shell integration into a user's home on another host, over one ssh, for
the tool shell_integrate: for a shell that is open already, for sudo -i and su
there, and for a second hop. Once per host and user.

Usage:
  paneglass install [--print] [--remove] [ssh options] [user@]host

The files go to ~/.local/share/paneglass there; those of other versions are
removed. The host needs sh and awk.

Options:
      --remove  take the files away again
      --print   show the ssh command and the script that it carries; run nothing
  -h, --help    this text

Examples:
  paneglass install build@ci7
  paneglass install -J gate root@db1
  paneglass install --remove build@ci7
";

/// Becomes ssh. Exit code 2 on wrong usage, 126 or 127 when ssh cannot be started, else ssh's: that of the script, or
/// 255.
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
    let made = if asked.option {
        bootstrap::remove()
    } else {
        bootstrap::install()
    };
    match made.and_then(|made| made.line().map(|line| (made, line))) {
        Ok((made, line)) => {
            let mut words = ["ssh", "-o", "RemoteCommand=none", "-T"]
                .map(OsString::from)
                .to_vec();
            words.extend(asked.arguments);
            words.push(line.into());
            ssh::become_or_print(asked.print, words, Some(&made))
        }
        Err(error) => super::finish("paneglass install", Err(error.to_string())),
    }
}
