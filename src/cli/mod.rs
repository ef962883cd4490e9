//! The command line: one table of commands, a file for each. Must not know how a tool works.
#![forbid(unsafe_code)]

mod attach;
mod call;
mod cook;
mod demo;
mod doctor;
mod launch;
mod list;
mod logs;
mod shell;
mod skill;
mod tap;
mod version;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::config::{Config, VARIABLES};
use crate::serve;
use crate::sys::passwd;

/// One command.
struct Command {
    name: &'static str,
    /// For the list of commands; hidden from it when empty: what only tmux starts.
    summary: &'static str,
    run: fn(lexopt::Parser) -> ExitCode,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "demo",
        summary: "show the main job, in a private session",
        run: demo::run,
    },
    Command {
        name: "doctor",
        summary: "check what paneglass needs, and say how to mend it",
        run: doctor::run,
    },
    Command {
        name: "list",
        summary: "list sessions",
        run: list::run,
    },
    Command {
        name: "logs",
        summary: "keep or delete sessions' logs",
        run: logs::run,
    },
    Command {
        name: "attach",
        summary: "attach this terminal to a session",
        run: attach::run,
    },
    Command {
        name: "call",
        summary: "call one tool from a script",
        run: call::run,
    },
    Command {
        name: "cook",
        summary: "turn a terminal recording into plain lines",
        run: cook::run,
    },
    Command {
        name: "shell",
        summary: "print or write the shell integration",
        run: shell::run,
    },
    Command {
        name: "skill",
        summary: "write a skill, or a plugin, that teaches an agent",
        run: skill::run,
    },
    Command {
        name: "version",
        summary: "print the version",
        run: version::run,
    },
    Command {
        name: "launch",
        summary: "",
        run: launch::run,
    },
    Command {
        name: "tap",
        summary: "",
        run: tap::run,
    },
];

/// Wrong usage.
const USAGE: u8 = 2;

/// Runs the command that the arguments name and returns its exit code: 0, 1 failure, 2 wrong usage.
pub fn main() -> ExitCode {
    let mut parser = lexopt::Parser::from_env();
    match parser.next() {
        Ok(None) => stdio(),
        Ok(Some(lexopt::Arg::Value(name))) => run(&name, parser),
        Ok(Some(lexopt::Arg::Short('h') | lexopt::Arg::Long("help"))) => print(&help()),
        Ok(Some(lexopt::Arg::Short('V') | lexopt::Arg::Long("version"))) => version::run(parser),
        Ok(Some(other)) => wrong("paneglass", other.unexpected()),
        Err(error) => wrong("paneglass", error),
    }
}

fn run(name: &OsString, mut parser: lexopt::Parser) -> ExitCode {
    let known = |name: &OsString| COMMANDS.iter().find(|command| *name == *command.name);
    if name == "help" {
        return match parser.value().ok().as_ref().and_then(known) {
            None => print(&help()),
            Some(command) => (command.run)(lexopt::Parser::from_args(["--help"])),
        };
    }
    match known(name) {
        Some(command) => (command.run)(parser),
        None => wrong(
            "paneglass",
            format!("there is no command {:?}", name.to_string_lossy()),
        ),
    }
}

/// Serves one client on standard input and output.
fn stdio() -> ExitCode {
    use std::io::IsTerminal;
    if std::io::stdin().is_terminal() {
        eprintln!(
            "paneglass: serving MCP on standard input and output, for an MCP client to talk to; see paneglass --help"
        );
    }
    let served = config().and_then(|config| serve::stdio::serve(&config));
    finish("paneglass", served)
}

fn help() -> String {
    let mut text = String::from(
        "Real, lasting terminals for AI agents, over MCP.

Usage:
  paneglass                 serve one MCP client on standard input and output
  paneglass COMMAND ...

Commands:
",
    );
    for command in COMMANDS
        .iter()
        .filter(|command| !command.summary.is_empty())
    {
        text.push_str(&format!("  {:<10} {}\n", command.name, command.summary));
    }
    text.push_str("\nOptions:\n  -h, --help       this text; paneglass COMMAND --help for a command's\n  -V, --version    the version\n\nEnvironment:\n");
    for (name, meaning) in VARIABLES {
        text.push_str(&format!("  {name}\n      {meaning}\n"));
    }
    text
}

/// The environment's settings, or the one line that says what is wrong with them.
fn config() -> Result<Config, String> {
    Config::from_env(passwd::me().map(|user| user.home)).map_err(|error| error.to_string())
}

/// One line to stderr that says what to do, and the exit code for it.
fn wrong(command: &str, error: impl std::fmt::Display) -> ExitCode {
    eprintln!("{command}: {error}; see {command} --help");
    ExitCode::from(USAGE)
}

fn finish(command: &str, result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{command}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints to standard output; a reader that has had enough is no error.
fn print(text: &str) -> ExitCode {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            finish("paneglass", Err(format!("cannot write: {error}")))
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Text of a pane, safe for a person's terminal: no control characters but line breaks and tabs.
fn clean(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

/// The words of a command that takes no options but --help: `None` when help was printed.
fn words(command: &str, help: &str, mut parser: lexopt::Parser) -> Result<Vec<String>, ExitCode> {
    let mut words = Vec::new();
    loop {
        match parser.next() {
            Ok(None) => return Ok(words),
            Ok(Some(lexopt::Arg::Short('h') | lexopt::Arg::Long("help"))) => {
                return Err(print(help));
            }
            Ok(Some(lexopt::Arg::Value(word))) => words.push(word.to_string_lossy().into_owned()),
            Ok(Some(other)) => return Err(wrong(command, other.unexpected())),
            Err(error) => return Err(wrong(command, error)),
        }
    }
}
