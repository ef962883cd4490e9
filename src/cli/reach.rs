//! `paneglass reach`: a shell on a device, in this terminal.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::flags::{Parsed, Syntax};
use crate::devices::frame::{Bytes, End, PIECE};
use crate::devices::reach::{Shown, Typed};
use crate::devices::visit;
use crate::devices::wire::{Came, Outlet};
use crate::serve::remote;
use crate::sys::raw::{self, Raw};
use crate::sys::resize::Resizes;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass reach",
    about: "\
Connects this terminal to a shell on a device of this machine's server, also on
one behind NAT. Ends with that shell, and with its exit status.",
    words: "ID",
    flags: &[],
    notes: "",
    examples: &[
        "paneglass devices",
        "paneglass reach k3x9ab",
        "paneglass call session_create command='paneglass reach k3x9ab'",
    ],
};

/// Longer than anybody looks: there is no deadline.
const EVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// The size where there is no terminal.
const SIZE: (u16, u16) = (80, 24);

/// Ctrl+D, which a terminal takes for the end of input.
const END_OF_INPUT: u8 = 4;

pub fn run(args: &Parsed) -> ExitCode {
    let [id] = args.words.as_slice() else {
        return super::wrong(
            SYNTAX.command,
            "which device? `paneglass devices` lists them",
        );
    };
    match reach(id) {
        Ok(end) => match end.error {
            Some(error) => super::finish(SYNTAX.command, Err(error)),
            None => ExitCode::from(u8::try_from(end.exit_code).unwrap_or(1)),
        },
        Err(error) => super::finish(SYNTAX.command, Err(error)),
    }
}

fn reach(id: &str) -> Result<End, String> {
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
        .send(&Typed::Open { cols, rows, term })
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
