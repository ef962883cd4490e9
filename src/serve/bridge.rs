//! `paneglass connect`: carries one client on standard input and output to a server on a Unix socket, and on to the
//! next server when that one is restarted. Must not know what is said, beyond what a new connection needs.

mod ledger;

use std::fs::File;
use std::io::{self, Read};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, after, bounded, never, select};

use super::stdio::UntilStopped;
use crate::mcp::error::RpcError;
use crate::mcp::message::Response;
use crate::mcp::{LINE_LIMIT, Line, Lines, write_line};
use crate::sys::fd;
use crate::tools::is_harmless;
use ledger::{Ledger, Said};

/// How long a server may be away: a restart takes a second, an upgrade some more. Clients give up a call at 60 s.
const PATIENCE: Duration = Duration::from_secs(30);

/// Between two looks whether it is back.
const LOOK: Duration = Duration::from_millis(20);

/// Lines on their way between two threads.
const QUEUE: usize = 64;

/// Lines of the client that are kept while there is no server; it waits before it sends more.
const KEPT: usize = 1000;

/// From the end of the client's input until the bridge ends, whatever was not answered.
const CLOSING: Duration = Duration::from_secs(2);

/// What a bridge is told.
pub struct Bridge {
    socket: PathBuf,
    /// The name that the user gave the client.
    actor: Option<String>,
}

/// A line of the client.
enum FromClient {
    Whole(Vec<u8>),
    /// Too long to pass on; this answers it.
    Answered(String),
}

/// A connection to a server.
struct Link {
    stream: UnixStream,
    /// Its lines; disconnects at its end.
    lines: Receiver<String>,
}

struct Carrying {
    bridge: Bridge,
    ledger: Ledger,
    output: File,
    /// Lines that came while there was no server.
    kept: Vec<Vec<u8>>,
}

impl Bridge {
    pub fn new(socket: PathBuf, actor: Option<String>) -> Bridge {
        Bridge { socket, actor }
    }

    /// Carries the client of standard input and output, until its input ends. `say` is told what the user of a
    /// client that hangs should know.
    pub fn run(self, say: impl Fn(&str)) -> Result<(), String> {
        let fail = |error: io::Error| format!("cannot start: {error}");
        let output = fd::take_stdout().map_err(fail)?;
        let reader = UntilStopped::stdin().map_err(fail)?;
        let (sender, client) = bounded(QUEUE);
        thread::Builder::new()
            .name("bridge-read".into())
            .spawn(move || read_client(reader, &sender))
            .map_err(fail)?;
        if UnixStream::connect(&self.socket).is_err() {
            let seconds = PATIENCE.as_secs();
            say(&format!(
                "no server at {} yet, waiting up to {seconds} s (`paneglass serve` starts one)",
                self.socket.display()
            ));
        }
        let mut carrying = Carrying {
            ledger: Ledger::new(self.actor.clone(), super::folder()),
            output,
            kept: Vec::new(),
            bridge: self,
        };
        while let Some(link) = carrying.reach(&client)? {
            if carrying.carry(&link, &client)? {
                break;
            }
        }
        Ok(())
    }
}

impl Carrying {
    /// A connection, as soon as there is a server. None when the client ends first.
    fn reach(&mut self, client: &Receiver<FromClient>) -> Result<Option<Link>, String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Ok(link) = Link::open(&self.bridge.socket) {
                return Ok(Some(link));
            }
            if Instant::now() >= deadline {
                for line in self.ledger.give_up() {
                    self.answer(line)?;
                }
                return Err(format!(
                    "no server at {} for {} s; `paneglass serve` starts one",
                    self.bridge.socket.display(),
                    PATIENCE.as_secs()
                ));
            }
            let full = self.kept.len() >= KEPT;
            let lines = if full { never() } else { client.clone() };
            select! {
                recv(lines) -> line => match line {
                    Ok(FromClient::Whole(line)) => {
                        self.ledger.client(&line, false);
                        self.kept.push(line);
                    }
                    Ok(FromClient::Answered(line)) => self.answer(line)?,
                    Err(_) => return Ok(None),
                },
                default(LOOK) => {}
            }
        }
    }

    /// Carries lines both ways. True when the client has ended, false when the server has.
    fn carry(&mut self, link: &Link, client: &Receiver<FromClient>) -> Result<bool, String> {
        let resumed = self.ledger.resume(is_harmless);
        for line in resumed.client {
            self.answer(line)?;
        }
        for line in resumed.server {
            link.send(line);
        }
        for line in std::mem::take(&mut self.kept) {
            link.send_bytes(line);
        }
        self.ledger.all_sent();
        let (mut lines, mut closing) = (client.clone(), never());
        let mut ended = false;
        loop {
            select! {
                recv(lines) -> line => match line {
                    Ok(FromClient::Whole(line)) => {
                        self.ledger.client(&line, true);
                        link.send_bytes(line);
                    }
                    Ok(FromClient::Answered(line)) => self.answer(line)?,
                    Err(_) => {
                        // The server answers what it can, and then ends the connection.
                        let _ = link.stream.shutdown(Shutdown::Write);
                        (ended, lines, closing) = (true, never(), after(CLOSING));
                    }
                },
                recv(link.lines) -> line => match line {
                    Err(_) => return Ok(ended),
                    Ok(line) => match self.ledger.server(&line) {
                        Said::Kept => {}
                        Said::Passed => self.answer(line)?,
                        Said::PassedAndNamed => {
                            self.answer(line)?;
                            link.send(self.ledger.hello());
                        }
                    },
                },
                recv(closing) -> _ => return Ok(true),
            }
        }
    }

    /// A client that reads no more has left; its input ends too, or the next write fails again.
    fn answer(&mut self, line: String) -> Result<(), String> {
        match write_line(&mut self.output, line) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(format!("cannot write to the client: {error}"))
            }
            _ => Ok(()),
        }
    }
}

impl Link {
    fn open(socket: &std::path::Path) -> io::Result<Link> {
        let stream = UnixStream::connect(socket)?;
        let (sender, lines) = bounded(QUEUE);
        let reader = stream.try_clone()?;
        thread::Builder::new()
            .name("bridge-server".into())
            .spawn(move || read_server(reader, &sender))?;
        Ok(Link { stream, lines })
    }

    /// Sends a line. That the server has gone shows at the other end, where it is waited for.
    fn send(&self, line: String) {
        let _ = write_line(&mut &self.stream, line);
    }

    fn send_bytes(&self, line: Vec<u8>) {
        // What is not UTF-8 the server refuses, so it has to get it as it is.
        let mut line = line;
        line.push(b'\n');
        let _ = io::Write::write_all(&mut &self.stream, &line);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Its reader ends.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

fn read_client(reader: impl Read, lines: &Sender<FromClient>) {
    let mut input = Lines::new(reader);
    // An input that cannot be read has ended.
    while let Ok(Some(line)) = input.next() {
        let line = match line {
            Line::Whole(line) => FromClient::Whole(line.to_vec()),
            Line::TooLong(scan) => {
                let error = RpcError::invalid_request(format_args!(
                    "a line has at most {LINE_LIMIT} bytes"
                ));
                let response = Response {
                    id: scan.id(),
                    body: Err(error),
                };
                FromClient::Answered(response.encode())
            }
        };
        if lines.send(line).is_err() {
            return;
        }
    }
}

fn read_server(reader: impl Read, lines: &Sender<String>) {
    let mut input = Lines::new(reader);
    while let Ok(Some(Line::Whole(line))) = input.next() {
        // Ours are valid UTF-8.
        let line = String::from_utf8_lossy(line).into_owned();
        if lines.send(line).is_err() {
            return;
        }
    }
}
