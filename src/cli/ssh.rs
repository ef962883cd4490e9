//! `paneglass ssh`: ssh, with the user's shell integrated on the far side. Becomes ssh; nothing of it stays.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use super::flags::{Flag, Syntax, Takes};
use crate::config;
use crate::place::bootstrap::{self, Bootstrap, Via};
use crate::place::files::NONCE;
use crate::place::ssh::SshLine;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass ssh",
    about: "\
Runs ssh; a shell that it opens marks its prompts, commands and exit statuses
for paneglass, as the session's own shell does.",
    words: "[SSH-OPTIONS] [USER@]HOST [REMOTE-COMMAND]",
    flags: &[Flag::new(
        "print",
        Takes::Nothing,
        "show the ssh command and the script in it; run nothing",
    )],
    notes: "\
The integration travels inside ssh's command: nothing is typed at a prompt, and
nothing stays behind on the host. bash, zsh and fish are integrated; any other
login shell starts plain and says so. With a command, with -N, -n, -f, -T, -W,
-O, -Q, -V, -G or -s, with a RemoteCommand in the configuration, without a
terminal, and outside of a paneglass session, ssh runs as it is.

PANEGLASS_SSH_ENV names variables that are set on the far side as well.",
    examples: &[
        "paneglass ssh build@ci7",
        "paneglass ssh -J gate -p 2222 db1",
        "paneglass ssh --print db1 | less",
    ],
};

/// What a shell answers when a program is not found, or cannot be started.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;

/// The nonce that `--print` shows outside of a session.
const NO_NONCE: &str = "NONCE";

/// Becomes ssh. Exit code 1 when a setting cannot be used, 126 or 127 when ssh cannot be started, else ssh's.
pub fn run(args: lexopt::Parser) -> ExitCode {
    let Asked {
        help,
        print,
        arguments,
        ..
    } = ask(args, &[]);
    if help {
        return super::print(&SYNTAX.help());
    }
    let line = SshLine::parse(&lossy(&arguments));
    let nonce = std::env::var(NONCE).ok().filter(|nonce| !nonce.is_empty());
    let here = print || nonce.is_some() && std::io::stdin().is_terminal();
    if !here || !line.opens_shell() || !leaves_the_shell(&arguments) {
        return become_or_print(print, words(&arguments, None), None);
    }
    let carried = match carried() {
        Ok(carried) => carried,
        Err(error) => return super::finish(SYNTAX.command, Err(error)),
    };
    let nonce = nonce.unwrap_or_else(|| NO_NONCE.into());
    let made = bootstrap::enter(Via::Ssh, &nonce, &carried)
        .and_then(|made| made.line().map(|line| (made, line)));
    match made {
        Ok((made, line)) => become_or_print(print, words(&arguments, Some(line)), Some(&made)),
        Err(error) => {
            eprintln!("paneglass ssh: a plain shell: {error}");
            become_or_print(print, words(&arguments, None), None)
        }
    }
}

/// What the words before the command line of another program say.
pub(super) struct Asked {
    pub help: bool,
    pub print: bool,
    /// An option of this command alone was given.
    pub option: bool,
    /// The other program's own.
    pub arguments: Vec<OsString>,
}

/// Takes our own options off the front; what follows the first word that is none of them is not ours.
pub(super) fn ask(mut args: lexopt::Parser, options: &[&str]) -> Asked {
    let mut asked = Asked {
        help: false,
        print: false,
        option: false,
        arguments: Vec::new(),
    };
    // Raw arguments are refused only in the middle of a word of short options, and none was begun.
    let words: Vec<OsString> = args.raw_args().map(Iterator::collect).unwrap_or_default();
    let mut words = words.into_iter();
    for word in words.by_ref() {
        match word.to_str() {
            Some("-h" | "--help") => asked.help = true,
            Some("--print") => asked.print = true,
            Some(option) if options.contains(&option) => asked.option = true,
            _ => {
                asked.arguments.push(word);
                break;
            }
        }
    }
    asked.arguments.extend(words);
    asked
}

pub(super) fn lossy(words: &[OsString]) -> Vec<String> {
    words
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// The variables that travel along.
pub(super) fn carried() -> Result<Vec<(String, String)>, String> {
    let get = |name: &str| std::env::var(name).ok();
    let names = config::variables(&get(bootstrap::CARRIED).unwrap_or_default());
    let names = names.map_err(|error| error.to_string())?;
    Ok(bootstrap::carried(&names, get))
}

/// ssh's argument vector. With a line for the far side, a terminal is asked for, and no configured command comes in
/// its way.
fn words(arguments: &[OsString], line: Option<String>) -> Vec<OsString> {
    let mut words = vec![OsString::from("ssh")];
    if line.is_some() {
        words.extend(["-o", "RemoteCommand=none", "-t"].map(OsString::from));
    }
    words.extend_from_slice(arguments);
    words.extend(line.map(OsString::from));
    words
}

/// Whether the user's configuration leaves a login shell at a terminal to this host, as ssh itself tells. An ssh that
/// fails on its arguments says so best itself.
fn leaves_the_shell(arguments: &[OsString]) -> bool {
    let told = Command::new("ssh")
        .arg("-G")
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(told) = told.map_err(drop).and_then(|told| {
        if told.status.success() {
            Ok(told.stdout)
        } else {
            Err(())
        }
    }) else {
        return false;
    };
    String::from_utf8_lossy(&told).lines().all(|setting| {
        let (name, value) = setting.split_once(' ').unwrap_or((setting, ""));
        match name {
            "remotecommand" => value == "none",
            "requesttty" => !matches!(value, "no" | "false"),
            "sessiontype" => value == "default",
            "stdinnull" | "forkafterauthentication" => matches!(value, "no" | "false"),
            _ => true,
        }
    })
}

/// Becomes the program, or shows its words, and the script in them.
pub(super) fn become_or_print(
    print: bool,
    words: Vec<OsString>,
    carried: Option<&Bootstrap>,
) -> ExitCode {
    if print {
        let mut text = command_line(&words) + "\n";
        if let Some(carried) = carried {
            text.push_str(&format!(
                "\n# The script in it:\n{}\n",
                carried.script.trim_end()
            ));
        }
        return super::print(&text);
    }
    let Some((program, arguments)) = words.split_first() else {
        return ExitCode::from(NOT_FOUND);
    };
    let error = Command::new(program).args(arguments).exec();
    eprintln!(
        "paneglass: cannot start {}: {error}",
        program.to_string_lossy()
    );
    ExitCode::from(if error.kind() == std::io::ErrorKind::NotFound {
        NOT_FOUND
    } else {
        NOT_EXECUTABLE
    })
}

/// An argument vector as a line for a POSIX shell.
pub(super) fn command_line(words: &[OsString]) -> String {
    let words: Vec<String> = lossy(words).iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// As a POSIX shell would read it back.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"@%+=:,./-_".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
