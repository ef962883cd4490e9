//! The gate: accepts on the Unix socket and on TCP, one thread for each connection, within limits; reads what a
//! client wants and lets it through when it is in order. Must not know what is asked for.

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Cursor, Read, Write};
use std::net::{Shutdown, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::Refusal;
use super::answer::Answer;
use super::body::{Body, Budget};
use super::head::{Head, Length};
use super::relay::{Relay, Relayed};
use super::stream::{Input, Shared as SharedStream, Stream};
use super::table::{CONNECTIONS, Doing, IDLE, Place, Table};
use super::upgrade::{self, SWITCHING, Upgraded, Upgrades};
use super::vet::{self, Vetting};
use crate::mcp::dispatch::Server;
use crate::mcp::lines;
use crate::sys::fd::Bell;
use crate::sys::peer;
use crate::sys::poll::{Interest, poll};

/// What a request's head may take to come, and a new connection to say its first byte.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// After a refusal, how long what the client still sends is read, so that it gets to read the answer.
const LINGER: Duration = Duration::from_secs(2);

/// The same where there is no room to linger: what has come already, and a moment more.
const LINGER_BUSY: Duration = Duration::from_millis(200);

/// Descriptors that one connection may cost: its own, two of the inner socket, two of a tmux call.
const DESCRIPTORS_EACH: u64 = 5;

/// Between two tries when no descriptor is free for a connection that has come.
const PAUSE: Duration = Duration::from_millis(20);

/// All that a client may use whose token opens only a part of what is served.
const MCP_PATH: &str = "/mcp";

/// The user who may do everything.
const ROOT: u32 = 0;

pub struct Setup {
    pub unix: UnixListener,
    pub tcp: Vec<TcpListener>,
    pub vetting: Option<Vetting>,
    pub server: Arc<Server>,
    pub upgrades: Option<Arc<dyn Upgrades>>,
    pub relay: Relay,
    pub uid: u32,
    pub descriptors: u64,
    pub stop: Receiver<Infallible>,
}

pub struct Gate {
    shared: Arc<Shared>,
    bell: Arc<Bell>,
    threads: Vec<JoinHandle<()>>,
    /// Disconnects when no connection is left.
    gone: Receiver<Infallible>,
}

struct Shared {
    table: Table,
    budget: Budget,
    vetting: Option<Vetting>,
    server: Arc<Server>,
    upgrades: Option<Arc<dyn Upgrades>>,
    relay: Relay,
    uid: u32,
    stop: Receiver<Infallible>,
    stopped: AtomicBool,
}

/// Where clients come in.
enum Door {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Door {
    fn accept(&self) -> io::Result<Stream> {
        match self {
            Door::Unix(listener) => listener.accept().map(|(stream, _)| stream.into()),
            Door::Tcp(listener) => listener.accept().map(|(stream, _)| stream.into()),
        }
    }
}

impl AsFd for Door {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Door::Unix(listener) => listener.as_fd(),
            Door::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl Gate {
    pub fn start(setup: Setup) -> io::Result<Gate> {
        let room = usize::try_from(setup.descriptors / DESCRIPTORS_EACH).unwrap_or(CONNECTIONS);
        let connections = room.clamp(1, CONNECTIONS);
        let shared = Arc::new(Shared {
            table: Table::new(connections, IDLE.min(connections / 2)),
            budget: Budget::default(),
            vetting: setup.vetting,
            server: setup.server,
            upgrades: setup.upgrades,
            relay: setup.relay,
            uid: setup.uid,
            stop: setup.stop,
            stopped: AtomicBool::new(false),
        });
        setup.unix.set_nonblocking(true)?;
        let mut doors = vec![("gate-unix", Door::Unix(setup.unix))];
        for listener in setup.tcp {
            listener.set_nonblocking(true)?;
            doors.push(("gate-tcp", Door::Tcp(listener)));
        }
        let bell = Arc::new(Bell::new()?);
        let (alive, gone) = bounded(0);
        let mut threads = Vec::new();
        for (name, door) in doors {
            let accepting = Accepting {
                shared: Arc::clone(&shared),
                door,
                bell: Arc::clone(&bell),
                spare: spare(),
                alive: alive.clone(),
            };
            threads.push(
                thread::Builder::new()
                    .name(name.into())
                    .spawn(move || accepting.run())?,
            );
        }
        Ok(Gate {
            shared,
            bell,
            threads,
            gone,
        })
    }

    /// Accepts no more and ends the connections that are not being served.
    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::Release);
        self.bell.ring();
        self.shared.table.stop();
        if let Some(upgrades) = &self.shared.upgrades {
            upgrades.stop();
        }
    }

    /// Waits for those that are, at most until `deadline`.
    pub fn finish(self, deadline: Instant) {
        for thread in self.threads {
            // It ends at the bell, and what it panicked of is of no more interest.
            let _ = thread.join();
        }
        let _ = self.gone.recv_deadline(deadline);
    }
}

/// A descriptor to give up when none is free: with it a connection that has come can at least be closed.
fn spare() -> Option<File> {
    File::open("/dev/null").ok()
}

/// The thread that accepts at one door.
struct Accepting {
    shared: Arc<Shared>,
    door: Door,
    bell: Arc<Bell>,
    spare: Option<File>,
    alive: Sender<Infallible>,
}

impl Accepting {
    fn run(mut self) {
        loop {
            let watched = [
                (self.bell.as_fd(), Interest::Read),
                (self.door.as_fd(), Interest::Read),
            ];
            match poll(&watched, None) {
                Ok(ready) if ready[0] => return,
                Ok(_) => self.accept(),
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }

    fn accept(&mut self) {
        match self.door.accept() {
            Ok(stream) => self.admit(stream),
            // The client has left already, or another error of its connection.
            Err(error) if is_of_the_client(&error) => {}
            // There is no descriptor left (or memory): one that does nothing makes room, else this client has to
            // come again.
            Err(_) => {
                if !self.shared.table.make_room() {
                    self.spare = None;
                    drop(self.door.accept());
                    self.spare = spare();
                }
                thread::sleep(PAUSE);
            }
        }
    }

    fn admit(&self, stream: Stream) {
        if let Some(stream) = stream.unix() {
            if !peer::uid(stream).is_ok_and(|uid| uid == self.shared.uid || uid == ROOT) {
                return;
            }
        }
        let shared = Arc::clone(&self.shared);
        let alive = self.alive.clone();
        let stream = Arc::new(stream);
        let client = Arc::clone(&stream);
        let started = thread::Builder::new().name("client".into()).spawn(move || {
            shared.admitted(client);
            drop(alive);
        });
        if started.is_err() {
            busy(&stream);
        }
    }
}

fn is_of_the_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionReset | Interrupted | WouldBlock
    )
}

/// Tells a client that there is no room, if it listens.
fn busy(mut stream: &Stream) {
    let refusal = Refusal::new(503, "busy: too many connections");
    let _ = stream.write_all(&Answer::from(refusal).message(false));
}

/// What comes after a request.
enum Next {
    Another,
    /// The client is told nothing more, but may still read what it was told.
    Linger,
    End,
}

impl Shared {
    fn admitted(&self, stream: Arc<Stream>) {
        if stream.prepare().is_err() {
            return;
        }
        match self.table.enter(&stream) {
            Some(place) => self.serve(stream, place),
            None => {
                busy(&stream);
                stream.end(Shutdown::Write);
                Input::new(stream).drain(Instant::now() + LINGER_BUSY);
            }
        }
    }

    fn serve(&self, stream: Arc<Stream>, mut place: Place<'_>) {
        let mut input = Input::new(Arc::clone(&stream));
        // None once the connection has been answered: a quiet one is kept for as long as there is room.
        let mut deadline = Some(Instant::now() + HEAD_TIME);
        let mut next = Next::End;
        while let Ok(Some(first)) = input.first(deadline) {
            if first == b'{' && deadline.is_some() && stream.is_local() {
                if place.set(Doing::Busy) {
                    self.lines(input);
                }
                return;
            }
            if !place.set(Doing::Asking) {
                return;
            }
            next = match self.request(&mut input, &mut place) {
                Ok(next) => next,
                Err(refusal) => {
                    let answer = Answer::from(refusal).message(false);
                    match (&*stream).write_all(&answer) {
                        Ok(()) => Next::Linger,
                        Err(_) => Next::End,
                    }
                }
            };
            if !matches!(next, Next::Another) || !place.set(Doing::Idle) {
                break;
            }
            deadline = None;
        }
        if matches!(next, Next::Linger) {
            stream.end(Shutdown::Write);
            // Until it has read that, it is as good as idle: another may have its place.
            if place.set(Doing::Idle) {
                input.drain(Instant::now() + LINGER);
            }
        }
        stream.end(Shutdown::Both);
    }

    /// The connection speaks MCP, one message a line.
    fn lines(&self, mut input: Input) {
        let stream = Arc::clone(&input.stream);
        if stream.be_patient().is_err() {
            return;
        }
        let reader = Cursor::new(input.take_all()).chain(SharedStream(Arc::clone(&stream)));
        let writer = SharedStream(Arc::clone(&stream));
        // How it ended is the client's business.
        let _ = lines::serve(&self.server, reader, writer, &self.stop);
        // The reader's thread may still be in it.
        stream.end(Shutdown::Both);
    }

    /// One request of HTTP.
    fn request(&self, input: &mut Input, place: &mut Place<'_>) -> Result<Next, Refusal> {
        let Some(head) = input.head(Instant::now() + HEAD_TIME)? else {
            return Ok(Next::End);
        };
        let path = head.path();
        let upgrades = self.upgrades.as_deref();
        let mut scope = upgrades.and_then(|upgrades| upgrades.scope(&vet::bearer(&head)));
        let upgrade = upgrades.filter(|known| upgrade::is_asked_for(&head) && known.knows(path));
        let open = upgrade.is_some_and(|upgrade| upgrade.is_open(path));
        if let (false, false, Some(vetting)) = (open, input.stream.is_local(), &self.vetting) {
            scope = vetting.check(&head, input.stream.address(), scope)?;
        }
        if scope.is_some() && !open && path != MCP_PATH {
            return Err(Refusal::new(403, "this token is for /mcp alone"));
        }
        if let Some(upgrade) = upgrade {
            return Ok(self.upgrade(upgrade, path, input, place));
        }
        let length = head.length()?;
        self.go_on(&head, &length, input)?;
        let Some(body) = Body::read(input, &length, &self.budget)? else {
            return Ok(Next::End);
        };
        if !place.set(Doing::Busy) {
            return Ok(Next::End);
        }
        let keep_alive = head.keeps_alive() && !self.stopped.load(Ordering::Acquire);
        match self
            .relay
            .carry(&head, &body.bytes, input, keep_alive, scope)
        {
            Relayed::Whole if keep_alive => Ok(Next::Another),
            Relayed::Whole => Ok(Next::Linger),
            Relayed::Broken => Ok(Next::End),
            Relayed::Refused(refusal) => Err(refusal),
        }
    }

    /// The connection goes on as something else, to its end.
    fn upgrade(
        &self,
        upgrades: &dyn Upgrades,
        path: &str,
        input: &mut Input,
        place: &mut Place<'_>,
    ) -> Next {
        let stream = Arc::clone(&input.stream);
        if (&*stream).write_all(SWITCHING.as_bytes()).is_ok() {
            let connection = Upgraded::new(stream, input.take_all());
            if let Some(serve) = upgrades.admit(path, connection) {
                if place.set(Doing::Busy) {
                    serve();
                }
            }
        }
        Next::End
    }

    /// Tells a client that asks first to send its body (RFC 9110, section 10.1.1).
    fn go_on(&self, head: &Head, length: &Length, input: &Input) -> Result<(), Refusal> {
        match head.get("expect") {
            Some(said) if said.eq_ignore_ascii_case("100-continue") => {
                let fits = !matches!(length, Length::Bytes(count) if *count > super::body::BODY_LIMIT as u64);
                if fits && head.minor == 1 && input.ahead().is_empty() {
                    // That it has left shows when its body is read.
                    let _ = (&*input.stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
                }
                Ok(())
            }
            Some(_) => Err(Refusal::new(417, "only 100-continue can be expected")),
            None => Ok(()),
        }
    }
}
