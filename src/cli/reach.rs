//! `paneglass reach`: a shell on a device, in this terminal.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::flags::Syntax;
use crate::devices::frame::{Bytes, End, PIECE};
use crate::devices::reach::{Shown, Typed};
use crate::devices::visit;
use crate::devices::wire::{Came, Outlet};
use crate::serve::remote;
use crate::sys::raw::{self, Raw};
use crate::sys::resize::Resizes;

/// How the help shows it. The command has options of its own, so the line is read here.
pub const SYNTAX: Syntax = Syntax {
    command: "paneglass reach",
    about: "\
Connects this terminal to a shell on a device of this machine's server, also on
one behind NAT, or to a command there. Ends with it, and with its exit status.",
    words: "ID [COMMAND ...]",
    flags: &[],
    notes: "The command's words are taken as they are, without a shell.",
    examples: &[
        "paneglass devices",
        "paneglass reach k3x9ab",
        "paneglass into paneglass reach k3x9ab",
    ],
};

/// Longer than anybody looks: there is no deadline.
const EVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// The size where there is no terminal.
const SIZE: (u16, u16) = (80, 24);

/// Ctrl+D, which a terminal takes for the end of input.
const END_OF_INPUT: u8 = 4;

pub fn run(parser: lexopt::Parser) -> ExitCode {
    let (id, argv) = match read(parser) {
        Ok(Some(asked)) => asked,
        Ok(None) => return super::print(&SYNTAX.help()),
        Err(error) => return super::wrong(SYNTAX.command, error),
    };
    match reach(&id, argv) {
        Ok(end) => match end.error {
            Some(error) => super::finish(SYNTAX.command, Err(error)),
            None => ExitCode::from(u8::try_from(end.exit_code).unwrap_or(1)),
        },
        Err(error) => super::finish(SYNTAX.command, Err(error)),
    }
}

/// The device and the command's words; none for the help.
fn read(mut parser: lexopt::Parser) -> Result<Option<(String, Vec<String>)>, lexopt::Error> {
    use lexopt::Arg;
    let text = |word: std::ffi::OsString| word.to_string_lossy().into_owned();
    let id = match parser.next()? {
        Some(Arg::Short('h') | Arg::Long("help")) => return Ok(None),
        Some(Arg::Value(id)) => text(id),
        Some(other) => return Err(other.unexpected()),
        None => {
            let told = "which device? `paneglass devices` lists them";
            return Err(lexopt::Error::Custom(told.into()));
        }
    };
    let argv = parser.raw_args()?.map(text).collect();
    Ok(Some((id, argv)))
}

fn reach(id: &str, argv: Vec<String>) -> Result<End, String> {
    let config = super::config()?;
    if !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(format!(
            "{id:?} is no device's id; `paneglass devices` lists them"
        ));
    }
    let none = || "no server runs here: start one with `paneglass serve --devices`".to_owned();
    let socket = remote::socket(&config).ok_or_else(none)?;
    let (mut frames, outlet) = visit::reach(&socket, id).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => none(),
        _ => error.to_string(),
    })?;
    let fail = |error: io::Error| format!("cannot go on: {error}");
    let outlet = Arc::new(outlet);
    let (cols, rows) = size();
    let term = std::env::var("TERM").unwrap_or_else(|_| "dumb".into());
    outlet
        .send(&Typed::Open {
            cols,
            rows,
            term,
            argv,
        })
        .map_err(fail)?;
    let resizes = Resizes::catch().map_err(fail)?;
    // Without a terminal there is nothing to set.
    let raw = Raw::enter(&io::stdin()).ok();
    let keys = Arc::clone(&outlet);
    thread::Builder::new()
        .name("keys".into())
        .spawn(move || pass_keys(&keys))
        .map_err(fail)?;
    let mut output = io::stdout().lock();
    let end = loop {
        match frames.next(Instant::now() + EVER, Some(resizes.as_fd())) {
            Came::Frame(Shown::Output { data }) => {
                let shown = output.write_all(&data.0).and_then(|()| output.flush());
                if shown.is_err() {
                    break End::failed("this terminal has gone");
                }
            }
            Came::Frame(Shown::End { end }) => break end,
            Came::Other => {
                resizes.clear();
                let (cols, rows) = size();
                // When it cannot be sent, the end comes next.
                let _ = outlet.send(&Typed::Size { cols, rows });
            }
            Came::Nothing => {}
            Came::End(_) => break End::failed("the server is gone, and the shell with it"),
        }
    };
    drop(raw);
    Ok(end)
}

fn size() -> (u16, u16) {
    let size = raw::size(&io::stdin()).or_else(|_| raw::size(&io::stdout()));
    size.ok()
        .filter(|(cols, rows)| *cols > 0 && *rows > 0)
        .unwrap_or(SIZE)
}

fn pass_keys(outlet: &Outlet) {
    let mut input = io::stdin().lock();
    let mut piece = [0; PIECE];
    loop {
        let (data, over) = match input.read(&mut piece) {
            Ok(0) => (vec![END_OF_INPUT], true),
            Ok(count) => (piece[..count].to_vec(), false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let sent = outlet.send(&Typed::Keys { data: Bytes(data) });
        if sent.is_err() || over {
            return;
        }
    }
}
