//! MCP over a pair of byte streams, one message per line: stdio, and the plain side of the Unix socket. Three kinds
//! of threads: one reads and dispatches, one writes, and the server's workers run the calls. Must not know what a
//! message says, nor what the streams are.

use std::convert::Infallible;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, select};

use super::codec::{LINE_LIMIT, Line, Lines, write_line};
use super::dispatch::{Connection, Outcome, Server, Step};
use super::error::{Error, RpcError};
use super::message::{Response, encode_batch};
use super::pending::Notify;
use super::service::Service;

/// Lines ready to be written. When a client does not read, calls and then the reader wait here.
const READY_LINES: usize = 64;

/// After the end of input, what a call may take to end by itself, so that requests piped in at once get full
/// answers.
const GRACE: Duration = Duration::from_millis(500);

/// From the end of the connection until it is left as it is; the whole exit has 2 s.
const CLOSING: Duration = Duration::from_millis(1800);

const READER: &str = "mcp-read";
const WRITER: &str = "mcp-write";

/// Why a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The input ended.
    Input,
    /// `stop` disconnected.
    Stop,
    /// Nobody reads the output any more.
    ClientGone,
}

/// Serves one client until its input ends, it stops reading, or `stop` disconnects; then ends the calls' waits,
/// writes the answers that are ready and returns within 2 s. The reader should meet its end when `stop`
/// disconnects: otherwise its thread stays in `read` when this returns. So does a writer that the client does not
/// let go on.
pub fn serve_lines(
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
    service: Arc<dyn Service>,
    stop: &Receiver<Infallible>,
) -> Result<End, Error> {
    let server = Arc::new(Server::new(service));
    let (end, deadline) = serve(&server, reader, writer, stop);
    server.finish(deadline);
    end
}

/// As [`serve_lines`], on a server with other connections. Also returns when the caller should be done.
pub fn serve(
    server: &Arc<Server>,
    reader: impl Read + Send + 'static,
    writer: impl Write + Send + 'static,
    stop: &Receiver<Infallible>,
) -> (Result<End, Error>, Instant) {
    let connection = Arc::new(server.connect(None));
    let (sender, ready) = bounded(READY_LINES);
    let outbox = Arc::new(Outbox(sender));
    let input = Input {
        server: Arc::clone(server),
        connection: Arc::clone(&connection),
        outbox: Arc::downgrade(&outbox),
    };
    let threads = spawn(WRITER, move || write(writer, &ready))
        .and_then(|written| Ok((spawn(READER, move || input.read(reader))?, written)));
    let (read, written) = match threads {
        Ok(threads) => threads,
        Err(error) => return (Err(error), Instant::now()),
    };
    let (end, writing) = select! {
        recv(stop) -> _ => (Ok(End::Stop), true),
        recv(read) -> result => (input_end(result.ok()), true),
        recv(written) -> result => (output_end(result.ok()), false),
    };
    let deadline = Instant::now() + CLOSING;
    // The writer ends when the calls and the reader, which hold the rest of the outbox, are done with it.
    drop(outbox);
    let mut flushed = None;
    if writing && matches!(end, Ok(End::Input)) {
        flushed = written.recv_timeout(GRACE).ok();
    }
    connection.stop();
    if writing && flushed.is_none() {
        match written.recv_deadline(deadline) {
            Ok(result) => flushed = Some(result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return (Err(Error::Panic(WRITER)), deadline),
        }
    }
    let end = match flushed {
        Some(Err(error)) if !is_gone(&error) => end.and(Err(Error::Write(error))),
        _ => end,
    };
    (end, deadline)
}

/// Starts a thread and returns what tells of its end.
fn spawn<T: Send + 'static>(
    name: &'static str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<Receiver<T>, Error> {
    let (done, end) = bounded(1);
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            // Nobody listens once the connection is given up.
            drop(done.send(work()));
        })
        .map_err(|error| Error::Thread(name, error))?;
    Ok(end)
}

fn input_end(result: Option<io::Result<()>>) -> Result<End, Error> {
    match result {
        Some(Ok(())) => Ok(End::Input),
        Some(Err(error)) if is_gone(&error) => Ok(End::ClientGone),
        Some(Err(error)) => Err(Error::Read(error)),
        None => Err(Error::Panic(READER)),
    }
}

/// The writer only ends by itself when it cannot write: others hold the outbox open.
fn output_end(result: Option<io::Result<()>>) -> Result<End, Error> {
    match result {
        Some(Err(error)) if !is_gone(&error) => Err(Error::Write(error)),
        Some(_) => Ok(End::ClientGone),
        None => Err(Error::Panic(WRITER)),
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
    )
}

fn write(mut writer: impl Write, ready: &Receiver<String>) -> io::Result<()> {
    ready
        .iter()
        .try_for_each(|message| write_line(&mut writer, message))
}

/// The way to the writer. The calls in progress hold it; the reader does so only while it handles a line, because
/// it may stay in `read` after the end.
struct Outbox(Sender<String>);

impl Outbox {
    /// False when the writer is gone.
    fn send(&self, message: String) -> bool {
        self.0.send(message).is_ok()
    }
}

/// What the reading thread works with.
struct Input {
    server: Arc<Server>,
    connection: Arc<Connection>,
    outbox: Weak<Outbox>,
}

impl Input {
    fn read(&self, reader: impl Read) -> io::Result<()> {
        let mut lines = Lines::new(reader);
        while let Some(line) = lines.next()? {
            let Some(outbox) = self.outbox.upgrade() else {
                break;
            };
            let outcome = match line {
                Line::Whole(text) => self.server.receive(&self.connection, text, None),
                Line::TooLong(scan) => {
                    let error = RpcError::invalid_request(format_args!(
                        "a line has at most {LINE_LIMIT} bytes"
                    ));
                    Outcome::One(Step::Answer(Response {
                        id: scan.id(),
                        body: Err(error),
                    }))
                }
            };
            if !self.carry_out(outcome, &outbox) {
                break;
            }
        }
        Ok(())
    }

    /// False when the writer is gone.
    fn carry_out(&self, outcome: Outcome, outbox: &Arc<Outbox>) -> bool {
        match outcome {
            Outcome::Nothing => true,
            Outcome::One(Step::Answer(response)) => outbox.send(response.encode()),
            Outcome::One(Step::Call(call)) => {
                let answers = Arc::clone(outbox);
                self.server.start(call, notify(outbox), move |response| {
                    if let Some(response) = response {
                        answers.send(response.encode());
                    }
                });
                true
            }
            Outcome::Batch(steps) => {
                let answers = Arc::new(Answers {
                    outbox: Arc::clone(outbox),
                    ready: Mutex::default(),
                });
                for step in steps {
                    match step {
                        Step::Answer(response) => answers.add(response),
                        Step::Call(call) => {
                            let answers = Arc::clone(&answers);
                            self.server.start(call, notify(outbox), move |response| {
                                if let Some(response) = response {
                                    answers.add(response);
                                }
                            });
                        }
                    }
                }
                true
            }
        }
    }
}

/// Progress goes out while there is room for it, and does not keep the connection open.
fn notify(outbox: &Arc<Outbox>) -> Notify {
    let outbox = Arc::downgrade(outbox);
    Arc::new(move |message| {
        if let Some(outbox) = outbox.upgrade() {
            drop(outbox.0.try_send(message));
        }
    })
}

/// The answers to a batch, which go out together when the last holder lets go.
struct Answers {
    outbox: Arc<Outbox>,
    ready: Mutex<Vec<Response>>,
}

impl Answers {
    fn add(&self, response: Response) {
        self.ready
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(response);
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        let ready = self.ready.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !ready.is_empty() {
            self.outbox.send(encode_batch(ready));
        }
    }
}

#[cfg(test)]
mod tests;
