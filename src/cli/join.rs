//! `paneglass join`: makes this machine a device of a server.

use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

use super::flags::{Flag, Syntax, Takes};
use crate::devices::device::address::Address;
use crate::devices::device::{self, Settings};
use crate::devices::secret::Secret;
use crate::serve;
use crate::store::layout::Layout;

/// How the help shows it. The command after --via has options of its own, so the line is read here.
pub const SYNTAX: Syntax = Syntax {
    command: "paneglass join",
    about: "\
Makes this machine a device of a server: its agents, once invited, run commands
here as you. Runs until it is stopped, and comes back by itself when the link
is cut. Needs nothing but this program.",
    words: "URL | --via COMMAND ...",
    flags: &[
        Flag::new(
            "invitation",
            Takes::Value("X"),
            "the invitation, needed the first time; @FILE reads\nit from a file, - from standard input",
        ),
        Flag::new(
            "insecure",
            Takes::Nothing,
            "allow http:// to another machine: you trust the\nnetwork",
        ),
        Flag::new(
            "via",
            Takes::Value("COMMAND ..."),
            "speak over this command's input and output;\ncomes last",
        ),
    ],
    notes: "\
URL is http://HOST[:PORT] (this machine, or with --insecure a trusted network)
or ssh://[USER@]HOST[:PORT] (runs `ssh HOST paneglass link`: encrypted, and the
server need not listen on the network). What this machine shows when it comes
back is kept in joined.json in the state directory, for you alone.
Exit status: 0 when stopped, 1 when refused, revoked or never connected.",
    examples: &[
        "paneglass join ssh://me@server --invitation 0123abcd...",
        "paneglass join ssh://me@server",
        "paneglass join --invitation - --via openssl s_client -quiet -connect HOST:443",
    ],
};

/// A command line, understood.
#[derive(Debug, Default)]
struct Asked {
    url: Option<String>,
    via: Vec<String>,
    insecure: bool,
    /// As it was given: itself, or where it is to be read.
    invitation: Option<String>,
}

pub fn run(parser: lexopt::Parser) -> ExitCode {
    match read(parser) {
        Ok(None) => super::print(&SYNTAX.help()),
        Ok(Some((asked, address))) => super::finish(SYNTAX.command, join(asked, address)),
        Err(error) => super::wrong(SYNTAX.command, error),
    }
}

/// None for the help.
fn read(mut parser: lexopt::Parser) -> Result<Option<(Asked, Address)>, lexopt::Error> {
    use lexopt::Arg;
    let mut asked = Asked::default();
    let text = |word: OsString| word.to_string_lossy().into_owned();
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            Arg::Long("insecure") => asked.insecure = true,
            Arg::Long("invitation") => asked.invitation = Some(text(parser.value()?)),
            Arg::Long("via") => {
                asked.via.push(text(parser.value()?));
                asked.via.extend(parser.raw_args()?.map(text));
            }
            Arg::Value(url) if asked.url.is_none() => asked.url = Some(text(url)),
            other => return Err(other.unexpected()),
        }
    }
    let error = |text: String| lexopt::Error::Custom(text.into());
    let address = match (&asked.url, asked.via.is_empty()) {
        (None, true) => return Err(error("which server? URL or --via COMMAND".into())),
        (Some(_), false) => return Err(error("either URL or --via COMMAND".into())),
        (None, false) => Address::Via(asked.via.clone()),
        (Some(url), true) => {
            Address::parse(url, asked.insecure).map_err(|bad| error(bad.to_string()))?
        }
    };
    Ok(Some((asked, address)))
}

fn join(asked: Asked, address: Address) -> Result<(), String> {
    let config = super::config()?;
    let text = match asked.invitation.as_deref() {
        None => None,
        Some("-") => Some(first_line(std::io::stdin().lock())?),
        Some(text) => match text.strip_prefix('@') {
            Some(file) => {
                let opened = std::fs::File::open(file)
                    .map_err(|error| format!("cannot read {file}: {error}"))?;
                Some(first_line(std::io::BufReader::new(opened))?)
            }
            None => return Err(again(&asked, text)),
        },
    };
    let invitation = text.map(|text| Secret::shown(&text));
    if invitation
        .as_ref()
        .is_some_and(|secret| !secret.is_plausible())
    {
        return Err("the invitation is not one: it has 64 hexadecimal digits".into());
    }
    let settings = Settings {
        address,
        invitation,
        credentials: Layout::new(config.home).joined(),
        binary: serve::binary(),
    };
    device::run(settings, &|line| eprintln!("{}: {line}", SYNTAX.command))
        .map_err(|error| error.to_string())
}

fn first_line(mut input: impl BufRead) -> Result<String, String> {
    let mut line = String::new();
    input
        .read_line(&mut line)
        .map_err(|error| format!("cannot read the invitation: {error}"))?;
    Ok(line)
}

/// Starts this program anew, with the invitation on its standard input: anybody on the machine can read a command line.
/// Returns only when that fails, with the reason.
fn again(asked: &Asked, invitation: &str) -> String {
    let mut command = Command::new(serve::binary());
    command.arg("join").args(&asked.url);
    if asked.insecure {
        command.arg("--insecure");
    }
    command.args(["--invitation", "-"]);
    if !asked.via.is_empty() {
        command.arg("--via").args(&asked.via);
    }
    let given = UnixStream::pair().and_then(|(mut near, far)| {
        // It fits into the socket's buffer.
        writeln!(near, "{invitation}")?;
        Ok(far)
    });
    match given {
        Ok(far) => {
            let error = command.stdin(Stdio::from(OwnedFd::from(far))).exec();
            format!("cannot start anew: {error}")
        }
        Err(error) => format!("cannot start anew: {error}"),
    }
}
