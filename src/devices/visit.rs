//! What the user of the server's machine asks of its devices: the side that asks. Must not know how a terminal is shown.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use super::device::upgrade;
use super::frame::{DEVICES_PATH, REACH_PATH};
use super::reach::{Ask, Told};
use super::wire::{Came, Frames, Outlet};

/// How long the server may take to answer.
const ANSWER: Duration = Duration::from_secs(30);

/// Opens a way to a device, by the server's socket.
pub fn reach(socket: &Path, client_id: &str) -> io::Result<(Frames, Outlet)> {
    visit(socket, &format!("{REACH_PATH}{client_id}"))
}

/// Asks about devices.
pub fn ask(socket: &Path, ask: &Ask) -> io::Result<Told> {
    let (mut frames, outlet) = visit(socket, DEVICES_PATH)?;
    outlet.send(ask)?;
    match frames.next(Instant::now() + ANSWER, None) {
        Came::Frame(told) => Ok(told),
        _ => Err(io::Error::other("the server does not answer")),
    }
}

fn visit(socket: &Path, path: &str) -> io::Result<(Frames, Outlet)> {
    let mut stream = UnixStream::connect(socket)?;
    let mut output = stream.try_clone()?;
    let deadline = Instant::now() + ANSWER;
    let ahead = upgrade(&mut stream, &mut output, path, "localhost", deadline, None)?;
    Ok((
        Frames::new(Box::new(stream), ahead),
        Outlet::new(Box::new(output)),
    ))
}
