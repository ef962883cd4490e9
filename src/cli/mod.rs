//! The command line: one table of commands, a file for each. Must not know how a tool works.
#![forbid(unsafe_code)]

mod attach;
mod call;
mod completions;
mod connect;
mod cook;
mod demo;
mod devices;
mod doctor;
mod flags;
mod guard;
mod install;
mod into;
mod join;
mod launch;
mod link;
mod list;
mod logs;
mod reach;
mod serve;
mod shell;
mod skill;
mod ssh;
mod tap;
mod token;
mod version;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::config::{self, Config, VARIABLES};
use crate::sys::passwd;
use flags::{Asked, Flag, Parsed, Syntax, Takes};

/// One command.
struct Command {
    name: &'static str,
    /// For the list of commands; hidden from it when empty: what only tmux starts.
    summary: &'static str,
    run: Run,
}

/// How a command is started.
enum Run {
    /// With a command line that its syntax has understood.
    Parsed(&'static Syntax, fn(&Parsed) -> ExitCode),
    /// With the command line as it is; the syntax is for help and completions.
    Own(&'static Syntax, fn(lexopt::Parser) -> ExitCode),
    /// The same, by this program alone.
    Hidden(fn(lexopt::Parser) -> ExitCode),
}

const COMMANDS: &[Command] = &[
    Command {
        name: "demo",
        summary: "show the main job, in a private session",
        run: Run::Parsed(&demo::SYNTAX, demo::run),
    },
    Command {
        name: "doctor",
        summary: "check what paneglass needs, and say how to mend it",
        run: Run::Parsed(&doctor::SYNTAX, doctor::run),
    },
    Command {
        name: "serve",
        summary: "serve many clients: agents and people",
        run: Run::Parsed(&serve::SYNTAX, serve::run),
    },
    Command {
        name: "connect",
        summary: "bring one MCP client to a running server",
        run: Run::Parsed(&connect::SYNTAX, connect::run),
    },
    Command {
        name: "token",
        summary: "print the token for clients on TCP",
        run: Run::Parsed(&token::SYNTAX, token::run),
    },
    Command {
        name: "devices",
        summary: "list the machines that have joined, or revoke one",
        run: Run::Parsed(&devices::SYNTAX, devices::run),
    },
    Command {
        name: "join",
        summary: "make this machine a device of a server",
        run: Run::Own(&join::SYNTAX, join::run),
    },
    Command {
        name: "reach",
        summary: "a shell on a device, in this terminal",
        run: Run::Own(&reach::SYNTAX, reach::run),
    },
    Command {
        name: "list",
        summary: "list sessions",
        run: Run::Parsed(&list::SYNTAX, list::run),
    },
    Command {
        name: "logs",
        summary: "keep or delete sessions' logs",
        run: Run::Parsed(&logs::SYNTAX, logs::run),
    },
    Command {
        name: "attach",
        summary: "attach this terminal to a session",
        run: Run::Parsed(&attach::SYNTAX, attach::run),
    },
    Command {
        name: "call",
        summary: "call one tool from a script",
        run: Run::Parsed(&call::SYNTAX, call::run),
    },
    Command {
        name: "cook",
        summary: "turn a terminal recording into plain lines",
        run: Run::Own(&cook::SYNTAX, cook::run),
    },
    Command {
        name: "ssh",
        summary: "ssh, with the shell integrated on the far side",
        run: Run::Own(&ssh::SYNTAX, ssh::run),
    },
    Command {
        name: "into",
        summary: "enter a container or sandbox with the shell integrated",
        run: Run::Own(&into::SYNTAX, into::run),
    },
    Command {
        name: "install",
        summary: "put the shell integration on another host",
        run: Run::Own(&install::SYNTAX, install::run),
    },
    Command {
        name: "shell",
        summary: "print or write the shell integration",
        run: Run::Own(&shell::SYNTAX, shell::run),
    },
    Command {
        name: "completions",
        summary: "print completions for a shell",
        run: Run::Parsed(&completions::SYNTAX, completions::run),
    },
    Command {
        name: "skill",
        summary: "write a skill, or a plugin, that teaches an agent",
        run: Run::Parsed(&skill::SYNTAX, skill::run),
    },
    Command {
        name: "version",
        summary: "print the version",
        run: Run::Parsed(&version::SYNTAX, version::run),
    },
    Command {
        name: "link",
        summary: "carry a device's link over standard input and output",
        run: Run::Parsed(&link::SYNTAX, link::run),
    },
    Command {
        name: "guard",
        summary: "",
        run: Run::Hidden(guard::run),
    },
    Command {
        name: "launch",
        summary: "",
        run: Run::Hidden(launch::run),
    },
    Command {
        name: "tap",
        summary: "",
        run: Run::Hidden(tap::run),
    },
];

/// `paneglass` alone.
const STDIO: Syntax = Syntax {
    command: "paneglass",
    about: "Real, lasting terminals for AI agents, over MCP.",
    words: "",
    flags: &[
        Flag::new(
            "no-bridge",
            Takes::Nothing,
            "fail when a server of many clients has the sessions,\nrather than bring the client to it",
        ),
        Flag::new(
            "toolsets",
            Takes::Value("NAMES"),
            "which tools to serve: terminal, programs, devices",
        ),
        Flag {
            short: Some('V'),
            ..Flag::new("version", Takes::Nothing, "the version")
        },
    ],
    notes: "",
    examples: &[],
};

/// Wrong usage.
const USAGE: u8 = 2;

/// Runs the command that the arguments name and returns its exit code: 0, 1 failure, 2 wrong usage.
pub fn main() -> ExitCode {
    let mut parser = lexopt::Parser::from_env();
    let named = parser.try_raw_args().and_then(|mut args| {
        args.next_if(|arg| !arg.to_string_lossy().starts_with('-') && !arg.is_empty())
    });
    match named {
        Some(name) => run(&name, parser),
        None => match STDIO.parse(parser) {
            Asked::Help => print(&help()),
            Asked::Wrong(error) => wrong(STDIO.command, error),
            Asked::Run(args) if args.has("version") => version::run(&Parsed::default()),
            Asked::Run(args) => match args.value("toolsets").map(toolsets).transpose() {
                Ok(toolsets) => stdio(!args.has("no-bridge"), toolsets),
                Err(error) => wrong(STDIO.command, error),
            },
        },
    }
}

fn run(name: &OsString, mut parser: lexopt::Parser) -> ExitCode {
    let known = |name: &OsString| COMMANDS.iter().find(|command| *name == *command.name);
    if name == "help" {
        return match parser.value() {
            Ok(name) if !["help", "--help", "-h"].iter().any(|help| name == *help) => {
                match known(&name) {
                    Some(command) => command.start(lexopt::Parser::from_args(["--help"])),
                    None => unknown(&name),
                }
            }
            _ => print(&help()),
        };
    }
    match known(name) {
        Some(command) => command.start(parser),
        None => unknown(name),
    }
}

fn unknown(name: &OsString) -> ExitCode {
    wrong(
        "paneglass",
        format!("there is no command {:?}", name.to_string_lossy()),
    )
}

fn toolsets(names: &str) -> Result<Vec<String>, config::Error> {
    config::toolsets("--toolsets", names)
}

impl Command {
    /// What it takes; none for what is not for people.
    fn syntax(&self) -> Option<&'static Syntax> {
        match self.run {
            Run::Parsed(syntax, _) | Run::Own(syntax, _) => Some(syntax),
            Run::Hidden(_) => None,
        }
    }

    fn start(&self, parser: lexopt::Parser) -> ExitCode {
        match self.run {
            Run::Own(_, run) | Run::Hidden(run) => run(parser),
            Run::Parsed(syntax, run) => match syntax.parse(parser) {
                Asked::Run(parsed) => run(&parsed),
                Asked::Help => print(&syntax.help()),
                Asked::Wrong(error) => wrong(syntax.command, error),
            },
        }
    }
}

/// Serves one client on standard input and output; `toolsets` stand in place of the environment's.
fn stdio(bridge: bool, toolsets: Option<Vec<String>>) -> ExitCode {
    use std::io::IsTerminal;
    if std::io::stdin().is_terminal() {
        eprintln!(
            "paneglass: serving MCP on standard input and output, for an MCP client to talk to; see paneglass --help"
        );
    }
    let say = |line: &str| eprintln!("paneglass: {line}");
    let served =
        config().and_then(|config| crate::serve::stdio::serve(config, toolsets, bridge, say));
    finish("paneglass", served)
}

fn help() -> String {
    let mut text = format!(
        "{}\n\nUsage:\n  paneglass                 serve one MCP client on standard input and output\n  paneglass COMMAND ...\n\nCommands:\n",
        STDIO.about
    );
    for command in COMMANDS
        .iter()
        .filter(|command| !command.summary.is_empty())
    {
        text.push_str(&format!("  {:<11} {}\n", command.name, command.summary));
    }
    text.push_str("\nOptions:\n");
    text.push_str(&flags::options(STDIO.flags));
    text.push_str("\npaneglass COMMAND --help tells what a command takes.\n\nEnvironment:\n");
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
