//! From the gate to tiny_http and back: a vetted request goes to the inner socket, its answer comes back as it is
//! written, and meanwhile the client is watched. Must not know what is asked or answered.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Refusal;
use super::exchange::{self, Desk, Exchange};
use super::head::{self, HEAD_LIMIT, Head};
use super::listener::Listener;
use super::stream::{Input, Stream};
use crate::sys::poll::{Interest, poll};

/// tiny_http takes up a request in well under a millisecond. When it does not, it has lost the thread that accepts,
/// and a new one is made.
const TAKEN_UP: Duration = Duration::from_secs(1);

/// How long a request is tried before its client is told to come again.
const TRIED: Duration = Duration::from_secs(10);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(5);

/// What certainly fits into the inner socket's buffer, so that it can be sent before anybody reads.
const FIRST_PIECE: usize = 32 << 10;

/// Writing to our own process takes no longer, unless something is broken.
const INNER_TIME: Duration = Duration::from_secs(10);

/// A client that has closed its side may still read, which it cannot tell us. Most have left; what comes within this
/// time is sent to the others.
const HALF_CLOSED: Duration = Duration::from_millis(500);

/// What is read of an answer at once.
const PIECE: usize = 64 << 10;

/// The headers of a request that mean something behind the gate.
const PASSED_ON: [&str; 7] = [
    "accept",
    "content-type",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "x-terminal-actor",
];

/// The headers of an answer that speak of the inner connection.
const INNER_ONLY: [&str; 3] = ["connection", "server", "transfer-encoding"];

/// How a relayed request ended.
#[derive(Debug)]
pub enum Relayed {
    /// The answer was sent whole; the connection can be used again if it was to be.
    Whole,
    /// The client has left, or its answer broke off: the connection is of no more use.
    Broken,
    /// Nothing was sent; this is to be said.
    Refused(Refusal),
}

/// The way to the listener.
pub struct Relay {
    path: PathBuf,
    desk: Arc<Desk>,
    listener: Arc<Listener>,
    /// tiny_http starves connections that come in a burst, so they come one at a time.
    turn: Mutex<()>,
}

/// How an answer's end is told to the client.
enum Framing {
    /// So many bytes are still to come.
    Length(u64),
    Chunks,
    /// Until the connection ends.
    Close,
}

impl Relay {
    pub fn new(path: PathBuf, desk: Arc<Desk>, listener: Arc<Listener>) -> Relay {
        Relay {
            path,
            desk,
            listener,
            turn: Mutex::default(),
        }
    }

    /// Has a request answered, of one who may use only what `scope` says, if it says anything.
    pub fn carry(
        &self,
        head: &Head,
        body: &[u8],
        input: &mut Input,
        keep_alive: bool,
        scope: Option<Arc<str>>,
    ) -> Relayed {
        let (inner, exchange) = match self.hand_over(head, body, scope) {
            Ok(taken) => taken,
            Err(refusal) => return Relayed::Refused(refusal),
        };
        let mut back = Back {
            client: Arc::clone(&input.stream),
            head: Vec::new(),
            framing: None,
            keep_alive,
            minor: head.minor,
            without_body: head.method == "HEAD",
        };
        let whole = back.run(&inner, input).unwrap_or(false);
        // Whatever works on it still may stop, for nobody waits any more.
        exchange.leave();
        match whole {
            true => Relayed::Whole,
            false => Relayed::Broken,
        }
    }

    /// Sends the request until the listener has it.
    fn hand_over(
        &self,
        head: &Head,
        body: &[u8],
        scope: Option<Arc<str>>,
    ) -> Result<(UnixStream, Arc<Exchange>), Refusal> {
        let deadline = Instant::now() + TRIED;
        loop {
            let generation = self.listener.generation();
            let (key, exchange) = self.desk.enter(scope.clone());
            let message = self.message(head, body, &key);
            let (first, rest) = message.split_at(message.len().min(FIRST_PIECE));
            let tried = {
                let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
                self.send(first, &exchange)
            };
            // What is given up here is never taken up later, so nothing is done twice.
            if self.desk.forget(&key) {
                if Instant::now() >= deadline {
                    return Err(Refusal::new(503, "busy: try again in a moment"));
                }
                self.listener.renew(generation);
                thread::sleep(PAUSE);
                continue;
            }
            let passed_on = tried.and_then(|mut inner| inner.write_all(rest).map(|()| inner));
            return passed_on
                .map(|inner| (inner, exchange))
                .map_err(|_| Refusal::new(503, "the request could not be passed on"));
        }
    }

    fn send(&self, piece: &[u8], exchange: &Exchange) -> io::Result<UnixStream> {
        let mut inner = UnixStream::connect(&self.path)?;
        inner.set_write_timeout(Some(INNER_TIME))?;
        inner.write_all(piece)?;
        // Whether it was is asked of the desk.
        let _ = exchange.taken().recv_timeout(TAKEN_UP);
        Ok(inner)
    }

    /// The request as tiny_http gets it: made anew of what was understood.
    fn message(&self, head: &Head, body: &[u8], key: &str) -> Vec<u8> {
        let mut text = format!(
            "{} {} HTTP/1.1\r\nHost: inner\r\nConnection: close\r\n{}: {key}\r\nContent-Length: {}\r\n",
            head.method,
            head.target,
            exchange::HEADER,
            body.len()
        );
        for name in PASSED_ON {
            if let Some(value) = head.get(name) {
                text.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        text.push_str("\r\n");
        let mut message = text.into_bytes();
        message.extend_from_slice(body);
        message
    }
}

/// An answer on its way to the client.
struct Back {
    client: Arc<Stream>,
    /// What has come of the answer's head.
    head: Vec<u8>,
    /// None before the head has been sent on.
    framing: Option<Framing>,
    keep_alive: bool,
    minor: u8,
    without_body: bool,
}

impl Back {
    /// True when the answer was sent whole.
    fn run(&mut self, mut inner: &UnixStream, input: &mut Input) -> io::Result<bool> {
        let mut piece = vec![0; PIECE];
        let mut half_closed = None;
        loop {
            let client = Arc::clone(&self.client);
            let mut watched = vec![(inner.as_fd(), Interest::Read)];
            // Requests sent ahead wait in the socket once enough of them wait here.
            if half_closed.is_none() && input.ahead().len() < HEAD_LIMIT {
                watched.push((client.as_fd(), Interest::Read));
            }
            let ready = poll(&watched, half_closed)?;
            if ready[0] {
                let count = inner.read(&mut piece)?;
                if count == 0 {
                    return self.end();
                }
                if self.forward(&piece[..count])? {
                    return Ok(half_closed.is_none());
                }
            } else if !ready.contains(&true) {
                return Ok(false);
            }
            if ready.get(1) == Some(&true) && !input.fill(Some(Instant::now()))? {
                half_closed = Some(Instant::now() + HALF_CLOSED);
            }
        }
    }

    /// Sends a piece of the answer on. True when that was the last of it.
    fn forward(&mut self, piece: &[u8]) -> io::Result<bool> {
        if self.framing.is_some() {
            return self.payload(piece);
        }
        self.head.extend_from_slice(piece);
        let Some(end) = head::end(&self.head) else {
            return Ok(false);
        };
        let rest = self.head.split_off(end);
        let framing = self.send_head()?;
        let empty = matches!(framing, Framing::Length(0));
        self.framing = Some(framing);
        if empty || rest.is_empty() {
            return Ok(empty);
        }
        self.payload(&rest)
    }

    fn send_head(&mut self) -> io::Result<Framing> {
        let broken = |_| io::Error::other("the inner answer is malformed");
        let (first, fields) = head::split(&self.head).map_err(broken)?;
        let length = fields
            .get("content-length")
            .and_then(|text| text.parse().ok());
        let framing = match length {
            _ if self.without_body => Framing::Length(0),
            Some(length) => Framing::Length(length),
            // What has no body has no length either (RFC 9110, section 8.6).
            None if first.contains(" 204 ") => Framing::Length(0),
            None if self.minor == 1 => Framing::Chunks,
            None => Framing::Close,
        };
        let mut text = format!("{first}\r\n");
        for (name, value) in fields.iter().filter(|(name, _)| !INNER_ONLY.contains(name)) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if matches!(framing, Framing::Chunks) {
            text.push_str("transfer-encoding: chunked\r\n");
        }
        let alive = if self.keep_alive {
            "keep-alive"
        } else {
            "close"
        };
        text.push_str(&format!("connection: {alive}\r\n\r\n"));
        (&*self.client).write_all(text.as_bytes())?;
        Ok(framing)
    }

    fn payload(&mut self, bytes: &[u8]) -> io::Result<bool> {
        let mut client = &*self.client;
        match &mut self.framing {
            Some(Framing::Length(left)) => {
                client.write_all(bytes)?;
                *left = left.saturating_sub(bytes.len() as u64);
                Ok(*left == 0)
            }
            Some(Framing::Chunks) => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend_from_slice(bytes);
                chunk.extend_from_slice(b"\r\n");
                client.write_all(&chunk)?;
                Ok(false)
            }
            Some(Framing::Close) | None => {
                client.write_all(bytes)?;
                Ok(false)
            }
        }
    }

    /// The inner connection has ended. True when the client can know the answer's end.
    fn end(&mut self) -> io::Result<bool> {
        match self.framing {
            Some(Framing::Chunks) => {
                (&*self.client).write_all(b"0\r\n\r\n")?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }
}
