//! `paneglass link`: carries a device's link between its standard input and output and the server's socket.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::thread;

use super::flags::{Parsed, Syntax};
use crate::serve::remote;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass link",
    about: "\
Carries a device's link to the server of this machine, over standard input and
output: what `paneglass join ssh://HOST` runs on HOST.",
    words: "",
    flags: &[],
    notes: "",
    examples: &["paneglass join --via ssh HOST paneglass link"],
};

/// What is passed on at once, in bytes.
const PIECE: usize = 64 << 10;

pub fn run(_: &Parsed) -> ExitCode {
    super::finish(SYNTAX.command, link())
}

fn link() -> Result<(), String> {
    let config = super::config()?;
    let none = || "no server runs here: start one with `paneglass serve --devices`".to_owned();
    let socket = remote::socket(&config).ok_or_else(none)?;
    let stream = UnixStream::connect(socket).map_err(|_| none())?;
    let fail = |error: io::Error| format!("cannot carry on: {error}");
    let (mut from, mut to) = (
        stream.try_clone().map_err(fail)?,
        stream.try_clone().map_err(fail)?,
    );
    thread::Builder::new()
        .name("link-in".into())
        .spawn(move || {
            // Either way there is nothing more to carry.
            let _ = carry(&mut io::stdin().lock(), &mut to);
            let _ = to.shutdown(Shutdown::Both);
        })
        .map_err(fail)?;
    // Not through the standard library's buffer, which holds back what is no whole line.
    let output = io::stdout().as_fd().try_clone_to_owned().map_err(fail)?;
    carry(&mut from, &mut std::fs::File::from(output)).map_err(fail)
}

/// Passes on whatever comes as soon as it comes. (io::copy hands the descriptors to splice(2); a link over that does not
/// come up: measured.)
fn carry(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => to.write_all(&piece[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
