//! `paneglass doctor`: what paneglass needs, each fact with its remedy, and a session really started and ended.

mod folders;

use std::process::{Command, ExitCode};

use serde_json::{Map, Value, json};

use super::flags::{Flag, Parsed, Syntax, Takes};
use crate::config::Config;
use crate::proc::{Pid, Proc};
use crate::serve::direct::Direct;
use crate::store::dir;
use crate::sys::inotify::Inotify;
use crate::sys::{limits, random};
use crate::tmux::{Tmux, Version, version};

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass doctor",
    about: "\
Checks what paneglass needs and says how to mend what is missing. Starts and
ends a session on a private socket.",
    words: "",
    flags: &[Flag::new(
        "json",
        Takes::Nothing,
        "one JSON array of {name, state, fact, remedy}",
    )],
    notes: "Exit status: 0 when sessions work, 1 when they cannot.",
    examples: &[
        "paneglass doctor",
        "PANEGLASS_TMUX=/opt/tmux/bin/tmux paneglass doctor",
    ],
};

/// Of a usual terminal.
const COLUMNS: usize = 80;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    /// It works, with less.
    Less,
    /// The main job cannot be done.
    Bad,
}

struct Fact {
    name: &'static str,
    state: State,
    text: String,
    remedy: &'static str,
}

impl Fact {
    fn good(name: &'static str, text: impl Into<String>) -> Fact {
        Fact {
            name,
            state: State::Good,
            text: text.into(),
            remedy: "",
        }
    }

    fn less(name: &'static str, text: impl Into<String>, remedy: &'static str) -> Fact {
        Fact {
            name,
            state: State::Less,
            text: text.into(),
            remedy,
        }
    }

    fn bad(name: &'static str, text: impl Into<String>, remedy: &'static str) -> Fact {
        Fact {
            name,
            state: State::Bad,
            text: text.into(),
            remedy,
        }
    }
}

pub fn run(args: &Parsed) -> ExitCode {
    let facts = match super::config() {
        Ok(config) => facts(&config),
        Err(error) => vec![Fact::bad(
            "settings",
            error,
            "correct the variable that is named",
        )],
    };
    super::print(&if args.has("json") {
        json_text(&facts)
    } else {
        plain_text(&facts)
    });
    if facts.iter().any(|fact| fact.state == State::Bad) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn facts(config: &Config) -> Vec<Fact> {
    let tmux = Tmux::new(config.tmux.clone(), config.tmux_socket.clone());
    let mut facts = vec![tmux_fact(&tmux)];
    facts.extend(["bash", "zsh", "fish"].map(shell_fact));
    facts.push(state_fact(config));
    facts.push(folders::room(&config.home));
    facts.push(folders::tmux_socket(&config.tmux_socket));
    facts.push(folders::server_socket(&config.socket_path));
    facts.push(locale_fact());
    facts.push(terminfo_fact());
    facts.push(proc_fact());
    facts.push(match Inotify::new() {
        Ok(_) => Fact::good("inotify", "logs are followed by events"),
        Err(error) => Fact::less(
            "inotify",
            format!("no instance: {error}; logs are looked at every 20 ms"),
            "raise fs.inotify.max_user_instances",
        ),
    });
    facts.push(match limits::descriptors() {
        Ok((_, hard)) if hard >= 4096 => Fact::good("descriptors", format!("up to {hard}")),
        Ok((_, hard)) => Fact::less(
            "descriptors",
            format!("at most {hard}: few sessions fit"),
            "raise the hard limit on open files",
        ),
        Err(error) => Fact::less("descriptors", error.to_string(), ""),
    });
    if facts[0].state != State::Bad {
        facts.push(session_fact(config));
    }
    facts
}

fn tmux_fact(tmux: &Tmux) -> Fact {
    const REMEDY: &str =
        "install tmux 3.2a or newer (apt install tmux), or name one with PANEGLASS_TMUX";
    match tmux.version_text() {
        Err(error) => Fact::bad("tmux", error.to_string(), REMEDY),
        Ok(text) if Version::parse(&text) < version::OLDEST => {
            Fact::bad("tmux", format!("{text} is too old"), REMEDY)
        }
        Ok(text) => Fact::good("tmux", format!("{text}, socket name {}", tmux.socket())),
    }
}

fn shell_fact(shell: &'static str) -> Fact {
    match Command::new(shell).arg("--version").output() {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            Fact::good(
                shell,
                text.lines().next().unwrap_or_default().trim().to_string(),
            )
        }
        _ if shell == "bash" => Fact::bad(
            shell,
            "not found",
            "install bash: it is the shell of a session",
        ),
        _ => Fact::good(shell, "not installed (only needed for sessions in it)"),
    }
}

fn state_fact(config: &Config) -> Fact {
    let path = config.home.display();
    match dir::private(&config.home) {
        Ok(()) => match std::fs::write(config.home.join(".doctor"), "") {
            Ok(()) => {
                let _ = std::fs::remove_file(config.home.join(".doctor"));
                Fact::good("state", format!("{path}, mode 0700, writable"))
            }
            Err(error) => Fact::bad(
                "state",
                format!("{path}: {error}"),
                "set PANEGLASS_HOME to a directory that can be written",
            ),
        },
        Err(error) => Fact::bad(
            "state",
            error.to_string(),
            "set PANEGLASS_HOME to a directory of yours that can be written",
        ),
    }
}

fn locale_fact() -> Fact {
    let value = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    match value {
        Some(value) if value.to_lowercase().replace('-', "").contains("utf8") => {
            Fact::good("locale", value)
        }
        Some(value) => Fact::good(
            "locale",
            format!("{value}; sessions get a UTF-8 character type"),
        ),
        None => Fact::good("locale", "none set; sessions get LC_CTYPE=C.UTF-8"),
    }
}

fn terminfo_fact() -> Fact {
    const REMEDY: &str =
        "install ncurses-term (or ncurses-base), so that programs know the terminal tmux-256color";
    match Command::new("infocmp").arg("tmux-256color").output() {
        Ok(output) if output.status.success() => Fact::good("terminfo", "tmux-256color is known"),
        Ok(_) => Fact::less(
            "terminfo",
            "tmux-256color is not known: full-screen programs may refuse to start",
            REMEDY,
        ),
        Err(_) => Fact::good("terminfo", "not checked: there is no infocmp"),
    }
}

fn proc_fact() -> Fact {
    let proc = Proc::new("/proc");
    let me = Pid(std::process::id() as i32);
    if proc.process(me).is_none() {
        return Fact::less(
            "/proc",
            "cannot be read: whether a program waits for input is told by prompts only",
            "mount /proc",
        );
    }
    match proc.yama_scope() {
        Some(scope) if scope > 0 => Fact::less(
            "/proc",
            format!(
                "kernel.yama.ptrace_scope is {scope}: what a program waits for is told by less, and hedged"
            ),
            "sysctl kernel.yama.ptrace_scope=0 gives certain answers",
        ),
        _ if proc.sees_calls(me) => Fact::good(
            "/proc",
            "system calls can be seen: waiting is told for certain",
        ),
        _ => Fact::less(
            "/proc",
            "system calls cannot be seen: waiting is told by less, and hedged",
            "run on a kernel that shows /proc/PID/syscall",
        ),
    }
}

/// A session in a state directory and on a socket of its own, really started, used and ended.
fn session_fact(config: &Config) -> Fact {
    const REMEDY: &str =
        "see what tmux says above; a private TMUX_TMPDIR helps where /tmp cannot be used";
    let name = match random::hex(4) {
        Ok(hex) => format!("paneglass-doctor-{hex}"),
        Err(error) => return Fact::bad("session", error.to_string(), REMEDY),
    };
    let root = std::env::temp_dir().join(&name);
    let config = Config {
        home: root.clone(),
        tmux_socket: name,
        read_only: false,
        toolsets: vec!["terminal".into()],
        ..config.clone()
    };
    let tmux = Tmux::new(config.tmux.clone(), config.tmux_socket.clone());
    let result = try_session(&config);
    let _ = tmux.kill_server();
    let _ = std::fs::remove_dir_all(&root);
    match result {
        Ok(()) => Fact::good(
            "session",
            "opened, ran `exit 3` in a subshell, read status 3, closed",
        ),
        Err(error) => Fact::bad("session", error, REMEDY),
    }
}

fn try_session(config: &Config) -> Result<(), String> {
    let direct = Direct::new(config, "doctor");
    let call = |tool: &str, arguments: Value| {
        let result = direct.call(tool, arguments.as_object().cloned().unwrap_or_default());
        match result.is_error {
            true => Err(result.text),
            false => Ok(result
                .facts
                .as_ref()
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_else(Map::new)),
        }
    };
    call(
        "session_create",
        json!({ "name": "doctor", "cwd": "/", "env": { "HISTFILE": "" } }),
    )?;
    let facts = call("run", json!({ "session": "doctor", "input": "(exit 3)" }))?;
    if facts.get("exit_code") != Some(&json!(3)) {
        return Err(format!(
            "a command's exit status was not read: {}",
            Value::Object(facts)
        ));
    }
    call("session_close", json!({ "session": "doctor" })).map(drop)
}

fn plain_text(facts: &[Fact]) -> String {
    let mut text = String::new();
    for fact in facts {
        let state = match fact.state {
            State::Good => "ok",
            State::Less => "warn",
            State::Bad => "BAD",
        };
        let first = format!("{state:<5} {:<12} ", fact.name);
        text.push_str(&wrapped(&first, &super::clean(&fact.text)));
        if !fact.remedy.is_empty() {
            text.push_str(&wrapped(&format!("{:<18} -> ", ""), fact.remedy));
        }
    }
    text
}

/// Words on lines of COLUMNS; the first begins with this, the others with as many blanks. A word that is longer, such
/// as a path, stays whole.
fn wrapped(first: &str, words: &str) -> String {
    let (mut text, mut column) = (first.to_owned(), first.len());
    for (n, word) in words.split_whitespace().enumerate() {
        let wide = word.chars().count();
        if n > 0 && column + 1 + wide > COLUMNS {
            text.push_str(&format!("\n{:1$}", "", first.len()));
            column = first.len();
        } else if n > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += wide;
    }
    text.push('\n');
    text
}

fn json_text(facts: &[Fact]) -> String {
    let state = |fact: &Fact| match fact.state {
        State::Good => "ok",
        State::Less => "less",
        State::Bad => "BAD",
    };
    let entry = |fact: &Fact| json!({ "name": fact.name, "state": state(fact), "fact": fact.text, "remedy": fact.remedy });
    format!("{}\n", Value::Array(facts.iter().map(entry).collect()))
}
