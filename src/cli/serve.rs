//! `paneglass serve`: one server for many clients.

use std::process::ExitCode;

use super::flags::{Flag, Parsed, Syntax, Takes};
use crate::serve::shared::{self, Tcp};
use crate::serve::unit;

/// Where `--tcp` listens unless it is told.
const PORT: u16 = 8766;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass serve",
    about: "\
Serves many clients at once: agents through `paneglass connect` or HTTP, and
people. Runs until it is stopped; sessions live on.",
    words: "",
    flags: &[
        Flag::new(
            "socket",
            Takes::Value("PATH"),
            "listen there (default: PANEGLASS_SOCKET_PATH, else\npaneglass/server.sock in XDG_RUNTIME_DIR)",
        ),
        Flag::new(
            "tcp",
            Takes::Number("PORT"),
            "also on TCP, for requests with the token (default 8766)",
        ),
        Flag::new(
            "host",
            Takes::Value("HOST"),
            "with --tcp: a name or address of this machine\n(default: the loopback alone)",
        ),
        Flag::new(
            "devices",
            Takes::Nothing,
            "with the tools for remote machines, which join by\n`paneglass join`",
        ),
        Flag::new(
            "join-url",
            Takes::Value("URL"),
            "what those are told to join (default: the TCP address,\nelse ssh:// and this machine's name)",
        ),
        Flag::new(
            "print-unit",
            Takes::Nothing,
            "print a systemd unit that starts it, and how to enable it",
        ),
    ],
    notes: "\
The socket is open to your own processes alone. HTTP on it: POST /mcp, GET
/health, GET /api/sessions, GET /api/sessions/NAME, POST
/api/sessions/NAME/logs, POST /api/sweep. See paneglass-serve(1).",
    examples: &[
        "paneglass serve",
        "paneglass serve --tcp",
        "curl -H \"Authorization: Bearer $(paneglass token)\" \\",
        "    http://127.0.0.1:8766/api/sessions",
        "paneglass serve --print-unit",
    ],
};

pub fn run(args: &Parsed) -> ExitCode {
    let port = match args.value("tcp").map(str::parse::<u16>) {
        None => PORT,
        Some(Ok(port)) => port,
        Some(Err(_)) => return super::wrong(SYNTAX.command, "a port is a number up to 65535"),
    };
    if args.has("host") && !args.has("tcp") {
        return super::wrong(SYNTAX.command, "--host is for --tcp");
    }
    if args.has("join-url") && !args.has("devices") {
        return super::wrong(SYNTAX.command, "--join-url is for --devices");
    }
    let tcp = args.has("tcp").then(|| Tcp {
        port,
        host: args.value("host").map(str::to_owned),
    });
    super::finish(SYNTAX.command, serve(args, tcp.as_ref()))
}

fn serve(args: &Parsed, tcp: Option<&Tcp>) -> Result<(), String> {
    let mut config = super::config()?;
    if args.has("print-unit") {
        let mut words: Vec<String> = vec!["serve".into()];
        if let Some(tcp) = tcp {
            words.extend(["--tcp".into(), tcp.port.to_string()]);
            let host = tcp.host.iter();
            words.extend(host.flat_map(|host| ["--host".into(), host.clone()]));
        }
        if args.has("devices") {
            words.push("--devices".into());
        }
        if let Some(url) = args.value("join-url") {
            words.extend(["--join-url".into(), url.into()]);
        }
        if let Some(socket) = args.value("socket") {
            words.extend(["--socket".into(), socket.into()]);
        }
        super::print(&unit::text(&words));
        return Ok(());
    }
    if let Some(socket) = args.value("socket") {
        config.socket_path = std::path::absolute(socket)
            .map_err(|error| format!("{socket:?} is no path: {error}"))?;
    }
    let in_toolsets = config.toolsets.iter().any(|name| name == "devices");
    let devices = (args.has("devices") || in_toolsets).then(|| shared::ForDevices {
        url: args.value("join-url").map(str::to_owned),
    });
    shared::serve(&config, tcp, devices.as_ref(), |line| {
        eprintln!("{}: {line}", SYNTAX.command);
    })
}
