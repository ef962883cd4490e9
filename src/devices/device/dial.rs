//! From an address to a connection that speaks frames: over TCP, or over a command's standard input and output. Must
//! not know what is said.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::BorrowedFd;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Error;
use super::address::Address;
use super::way::Way;
use crate::devices::wire::Source;
use crate::http::upgrade;
use crate::sys::poll::{Interest, poll};

/// How long a server may take to accept and to answer.
const ANSWER: Duration = Duration::from_secs(15);

/// The same by a command, which may ask its user for a password first.
const ANSWER_BY_COMMAND: Duration = Duration::from_secs(120);

/// What takes nothing for so long is gone.
const WRITE: Duration = Duration::from_secs(30);

/// What ssh runs on the server's machine: its program, whatever the user's login shell is. A shell that is no login
/// shell often has no PATH with it, so the link to it in the state directory comes first; `$0` is `paneglass`.
const FAR_SIDE: &str = "exec sh -c 'PATH=\"${PANEGLASS_HOME:-${XDG_STATE_HOME:-$HOME/.local/state}/paneglass}/bin:$PATH\"; \
command -v \"$0\" >/dev/null || { echo \"$0 is not installed, or not on the PATH of this user\" >&2; exit 127; }; \
exec \"$0\" \"$@\"'";

/// ssh's exit status when what went wrong is not the command's.
const SSH_FAILED: i32 = 255;

/// The longest head of an answer that is read, in bytes.
const HEAD: usize = 16 << 10;

/// A connection that speaks frames from now on.
pub struct Connection {
    pub input: Box<dyn Source>,
    pub output: Box<dyn Write + Send>,
    /// What was read of it already.
    pub ahead: Vec<u8>,
    /// Ends it, whoever waits at it.
    pub hang_up: Arc<dyn Fn() + Send + Sync>,
    pub carrier: Carrier,
}

/// The command that carries a connection, if one does.
pub struct Carrier(Option<Arc<Way>>);

impl Carrier {
    /// The link is up: what came before is no reason for its end.
    pub fn is_up(&self) {
        if let Some(way) = &self.0 {
            way.forget_words();
        }
    }

    /// Why it is at its end, where the command that carries it says so; ends that.
    pub fn why(&self, address: &Address) -> Option<String> {
        let (line, status) = self.0.as_ref()?.last_words()?;
        Some(match (address, status) {
            (Address::Ssh { host, port }, Some(SSH_FAILED)) => {
                let port = port.map(|port| format!("-p {port} ")).unwrap_or_default();
                let line = line.trim_end_matches('.');
                format!("ssh says: {line}; `ssh {port}{host}` has to work first")
            }
            _ => format!("the other side says: {line}"),
        })
    }
}

/// Connects, and asks for `path`. Gives up when there is something to read at `stop`.
pub fn dial(address: &Address, path: &str, stop: BorrowedFd<'_>) -> Result<Connection, Error> {
    let failed = |error: io::Error| Error::Connect(format!("cannot connect to {address}: {error}"));
    let (mut connection, host, time) = match address {
        Address::Http { host, port } => {
            let connection = tcp(host.trim_matches(['[', ']']), *port).map_err(failed)?;
            (connection, format!("{host}:{port}"), ANSWER)
        }
        Address::Ssh { host, port } => {
            let mut ssh = Command::new("ssh");
            // What the user has configured for a person's sessions is not for this one.
            ssh.args(["-T", "-e", "none", "-o", "ServerAliveInterval=10"]);
            ssh.args(["-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes"]);
            if let Some(port) = port {
                ssh.args(["-p", &port.to_string()]);
            }
            ssh.args([host, FAR_SIDE, "paneglass", "link"]);
            let connection = by_command(ssh, true).map_err(failed)?;
            (connection, "localhost".into(), ANSWER_BY_COMMAND)
        }
        Address::Via(words) => {
            let (program, args) = words
                .split_first()
                .ok_or_else(|| Error::Address("--via needs a command".into()))?;
            let mut command = Command::new(program);
            command.args(args);
            let connection = by_command(command, false).map_err(failed)?;
            (connection, "localhost".into(), ANSWER_BY_COMMAND)
        }
    };
    let deadline = Instant::now() + time;
    let Connection { input, output, .. } = &mut connection;
    match upgrade(input, output, path, &host, deadline, Some(stop)) {
        Ok(ahead) => connection.ahead = ahead,
        Err(error) => {
            let ended = [io::ErrorKind::UnexpectedEof, io::ErrorKind::BrokenPipe];
            let why = match ended.contains(&error.kind()) {
                true => connection.carrier.why(address).map(io::Error::other),
                false => None,
            };
            (connection.hang_up)();
            return Err(failed(why.unwrap_or(error)));
        }
    }
    Ok(connection)
}

/// Asks a server to go on with frames. What it has said of them already. Gives up when there is something to read at
/// `stop`.
pub fn upgrade(
    input: &mut (impl Source + ?Sized),
    output: &mut (impl Write + ?Sized),
    path: &str,
    host: &str,
    deadline: Instant,
    stop: Option<BorrowedFd<'_>>,
) -> io::Result<Vec<u8>> {
    output.write_all(upgrade::request(path, host).as_bytes())?;
    output.flush()?;
    let mut head = Vec::new();
    loop {
        if let Some(at) = head.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = head.split_off(at + 4);
            let text = String::from_utf8_lossy(&head);
            let first = text.lines().next().unwrap_or_default();
            return match first.split(' ').nth(1) {
                Some("101") => Ok(rest),
                Some("404") => Err(io::Error::other(
                    "the server has no devices: start it with `paneglass serve --devices`",
                )),
                _ => Err(io::Error::other(format!("the server answers {first:?}"))),
            };
        }
        if head.len() > HEAD {
            return Err(io::Error::other("what answers is no server of paneglass"));
        }
        let watched = [Some(input.as_fd()), stop];
        let watched: Vec<_> = watched
            .into_iter()
            .flatten()
            .map(|fd| (fd, Interest::Read))
            .collect();
        let ready = poll(&watched, Some(deadline))?;
        if ready.get(1) == Some(&true) {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "it is stopped"));
        }
        if !ready[0] {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut piece = [0; 4096];
        match input.read(&mut piece)? {
            0 => {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "it ended before a server answered",
                ));
            }
            count => head.extend_from_slice(&piece[..count]),
        }
    }
}

fn tcp(host: &str, port: u16) -> io::Result<Connection> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, ANSWER) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_write_timeout(Some(WRITE))?;
                let (input, end) = (stream.try_clone()?, stream.try_clone()?);
                return Ok(Connection {
                    input: Box::new(input),
                    output: Box::new(stream),
                    ahead: Vec::new(),
                    // Fails only when it has ended, which is what is wanted.
                    hang_up: Arc::new(move || drop(end.shutdown(Shutdown::Both))),
                    carrier: Carrier(None),
                });
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn by_command(command: Command, listen: bool) -> io::Result<Connection> {
    let (way, input, output) = Way::open(command, listen)?;
    let end = Arc::clone(&way);
    Ok(Connection {
        input: Box::new(input),
        output: Box::new(output),
        ahead: Vec::new(),
        hang_up: Arc::new(move || {
            end.end();
        }),
        carrier: Carrier(Some(way)),
    })
}
