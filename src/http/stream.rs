//! A client's connection, of either kind, and what has been read of it ahead. Must not know what is said on it.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::Refusal;
use super::head::{self, HEAD_LIMIT, Head};
use crate::sys::poll::{Interest, poll};

/// What is read at once.
const PIECE: usize = 16 << 10;

/// A client that takes nothing for so long is gone: its answers wait in its own buffers before it blocks us.
const WRITE_TIME: Duration = Duration::from_secs(30);

/// A connection.
#[derive(Debug)]
pub struct Stream {
    socket: Socket,
    /// All that came has been read and was not enough: its thread waits for more.
    wants_more: AtomicBool,
}

#[derive(Debug)]
enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl From<UnixStream> for Stream {
    fn from(stream: UnixStream) -> Stream {
        Stream::of(Socket::Unix(stream))
    }
}

impl From<TcpStream> for Stream {
    fn from(stream: TcpStream) -> Stream {
        Stream::of(Socket::Tcp(stream))
    }
}

impl Stream {
    fn of(socket: Socket) -> Stream {
        let wants_more = AtomicBool::new(false);
        Stream { socket, wants_more }
    }

    /// The socket, when it is a Unix one.
    pub fn unix(&self) -> Option<&UnixStream> {
        match &self.socket {
            Socket::Unix(stream) => Some(stream),
            Socket::Tcp(_) => None,
        }
    }

    /// True on the Unix socket, whose peers are the user's own processes.
    pub fn is_local(&self) -> bool {
        self.unix().is_some()
    }

    /// The address that a client has reached us by.
    pub fn address(&self) -> Option<IpAddr> {
        match &self.socket {
            Socket::Unix(_) => None,
            Socket::Tcp(stream) => Some(stream.local_addr().ok()?.ip()),
        }
    }

    /// Bounds what a write may take, and sends small pieces at once.
    pub fn prepare(&self) -> io::Result<()> {
        match &self.socket {
            Socket::Unix(stream) => stream.set_write_timeout(Some(WRITE_TIME)),
            Socket::Tcp(stream) => {
                stream.set_nodelay(true)?;
                stream.set_write_timeout(Some(WRITE_TIME))
            }
        }
    }

    /// A client on a line transport may be stopped for as long as its user likes.
    pub fn be_patient(&self) -> io::Result<()> {
        match &self.socket {
            Socket::Unix(stream) => stream.set_write_timeout(None),
            Socket::Tcp(stream) => stream.set_write_timeout(None),
        }
    }

    /// Ends the connection for whoever reads or writes it.
    pub fn end(&self, how: Shutdown) {
        // Fails only when it has ended, which is what is wanted.
        let _ = match &self.socket {
            Socket::Unix(stream) => stream.shutdown(how),
            Socket::Tcp(stream) => stream.shutdown(how),
        };
    }

    /// To be told before it is waited for input, and before that is read.
    pub fn set_wants_more(&self, wants: bool) {
        self.wants_more.store(wants, Ordering::SeqCst);
    }

    /// Whether the client owes us something: nothing that it sent waits to be read, or has been read and is being
    /// thought about.
    pub fn owes(&self) -> bool {
        let now = Some(Instant::now());
        let readable =
            poll(&[(self.as_fd(), Interest::Read)], now).is_ok_and(|ready| ready == [true]);
        // In this order: what was read a moment ago is not readable, but then the other has been told before.
        !readable && self.wants_more.load(Ordering::SeqCst)
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Unix(stream) => stream.as_fd(),
            Socket::Tcp(stream) => stream.as_fd(),
        }
    }
}

impl Read for &Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.socket {
            Socket::Unix(stream) => (&*stream).read(buffer),
            Socket::Tcp(stream) => (&*stream).read(buffer),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.socket {
            Socket::Unix(stream) => (&*stream).write(bytes),
            Socket::Tcp(stream) => (&*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A shared connection, as an owned reader or writer.
#[derive(Clone, Debug)]
pub struct Shared(pub Arc<Stream>);

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

impl AsFd for Shared {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A connection's input, with deadlines.
#[derive(Debug)]
pub struct Input {
    pub stream: Arc<Stream>,
    ahead: Vec<u8>,
    ended: bool,
}

impl Input {
    pub fn new(stream: Arc<Stream>) -> Input {
        Input {
            stream,
            ahead: Vec::new(),
            ended: false,
        }
    }

    /// What was read and not taken.
    pub fn ahead(&self) -> &[u8] {
        &self.ahead
    }

    /// The same, taken.
    pub fn take_all(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.ahead)
    }

    /// Takes up to `count` of the bytes read ahead.
    pub fn take(&mut self, count: usize) -> Vec<u8> {
        let rest = self.ahead.split_off(count.min(self.ahead.len()));
        std::mem::replace(&mut self.ahead, rest)
    }

    /// Reads more. False at the end of input.
    ///
    /// # Errors
    /// `TimedOut` at the deadline.
    pub fn fill(&mut self, deadline: Option<Instant>) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let watched = [(self.stream.as_fd(), Interest::Read)];
        self.stream.set_wants_more(true);
        let ready = poll(&watched, deadline);
        self.stream.set_wants_more(false);
        if ready? != [true] {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut piece = [0; PIECE];
        let count = (&*self.stream).read(&mut piece)?;
        self.ahead.extend_from_slice(&piece[..count]);
        self.ended = count == 0;
        Ok(!self.ended)
    }

    /// The first byte of the next message; empty lines before it are passed over. None at the end of input.
    pub fn first(&mut self, deadline: Option<Instant>) -> io::Result<Option<u8>> {
        loop {
            let blank = |byte: &u8| matches!(byte, b'\r' | b'\n');
            let blanks = self.ahead.iter().take_while(|byte| blank(byte)).count();
            self.ahead.drain(..blanks);
            if let Some(&byte) = self.ahead.first() {
                return Ok(Some(byte));
            }
            if !self.fill(deadline)? {
                return Ok(None);
            }
        }
    }

    /// A whole head. None when the client left in the middle of it.
    pub fn head(&mut self, deadline: Instant) -> Result<Option<Head>, Refusal> {
        loop {
            if let Some(end) = head::end(&self.ahead) {
                if end > HEAD_LIMIT {
                    break;
                }
                let bytes = self.take(end);
                return Head::parse(&bytes).map(Some);
            }
            if self.ahead.len() > HEAD_LIMIT {
                break;
            }
            match self.fill(Some(deadline)) {
                Ok(true) => {}
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    return Err(Refusal::new(
                        408,
                        "the head of the request did not come in time",
                    ));
                }
                Ok(false) | Err(_) => return Ok(None),
            }
        }
        Err(Refusal::new(
            431,
            format!("the head of a request has at most {HEAD_LIMIT} bytes"),
        ))
    }

    /// Reads what still comes and drops it, so that the client can read our last answer before the connection is
    /// reset over what nobody read.
    pub fn drain(&mut self, deadline: Instant) {
        self.ahead.clear();
        while self.fill(Some(deadline)).unwrap_or(false) {
            self.ahead.clear();
        }
    }
}
