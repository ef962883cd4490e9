//! From an address to a connection that speaks frames: over TCP, or over a command's standard input and output. Must
//! not know what is said.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Error;
use super::address::Address;
use crate::devices::wire::Source;
use crate::http::upgrade;
use crate::sys::poll::{Interest, poll};

/// How long a server may take to accept and to answer.
const ANSWER: Duration = Duration::from_secs(15);

/// The same by a command, which may ask its user for a password first.
const ANSWER_BY_COMMAND: Duration = Duration::from_secs(120);

/// What takes nothing for so long is gone.
const WRITE: Duration = Duration::from_secs(30);

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
}

/// Connects, and asks for `path`.
pub fn dial(address: &Address, path: &str) -> Result<Connection, Error> {
    let failed = |error: io::Error| Error::Connect(format!("cannot connect to {address}: {error}"));
    let (mut connection, host, time) = match address {
        Address::Http { host, port } => {
            let connection = tcp(host.trim_matches(['[', ']']), *port).map_err(failed)?;
            (connection, format!("{host}:{port}"), ANSWER)
        }
        Address::Ssh { host, port } => {
            let mut ssh = Command::new("ssh");
            ssh.args(["-T", "-e", "none", "-o", "ServerAliveInterval=10"]);
            if let Some(port) = port {
                ssh.args(["-p", &port.to_string()]);
            }
            ssh.args([host, "paneglass", "link"]);
            let connection = by_command(ssh).map_err(failed)?;
            (connection, "localhost".into(), ANSWER_BY_COMMAND)
        }
        Address::Via(words) => {
            let (program, args) = words
                .split_first()
                .ok_or_else(|| Error::Address("--via needs a command".into()))?;
            let mut command = Command::new(program);
            command.args(args);
            let connection = by_command(command).map_err(failed)?;
            (connection, "localhost".into(), ANSWER_BY_COMMAND)
        }
    };
    let deadline = Instant::now() + time;
    let Connection { input, output, .. } = &mut connection;
    match upgrade(input, output, path, &host, deadline) {
        Ok(ahead) => connection.ahead = ahead,
        Err(error) => {
            (connection.hang_up)();
            return Err(failed(error));
        }
    }
    Ok(connection)
}

/// Asks a server to go on with frames. What it has said of them already.
pub fn upgrade(
    input: &mut (impl Source + ?Sized),
    output: &mut (impl Write + ?Sized),
    path: &str,
    host: &str,
    deadline: Instant,
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
        if poll(&[(input.as_fd(), Interest::Read)], Some(deadline))? != [true] {
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
                });
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn by_command(mut command: Command) -> io::Result<Connection> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
    // Both are there: they were asked for.
    let (Some(input), Some(output)) = (child.stdout.take(), child.stdin.take()) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let way = Arc::new(Way(Mutex::new(child)));
    Ok(Connection {
        input: Box::new(input),
        output: Box::new(output),
        ahead: Vec::new(),
        hang_up: Arc::new(move || way.end()),
    })
}

/// A command that carries a link. It ends with it.
struct Way(Mutex<Child>);

impl Way {
    fn end(&self) {
        let mut child = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Both fail only when it has ended.
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.end();
    }
}
