//! Connections that begin as HTTP and go on as something else (RFC 9110, section 7.8). Must not know as what.

use std::net::Shutdown;
use std::sync::Arc;

use super::head::Head;
use super::stream::{Shared, Stream};

/// The protocol that a client names in its Upgrade header.
pub const PROTOCOL: &str = "paneglass";

/// What the gate answers before the other protocol begins.
pub const SWITCHING: &str =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: paneglass\r\n\r\n";

/// What goes on with such connections, and whose tokens open a part of what is served; implemented elsewhere.
pub trait Upgrades: Send + Sync + 'static {
    /// Whose bearer token this is, if it is one that opens only a part.
    fn scope(&self, bearer: &str) -> Option<Arc<str>>;

    /// Whether something goes on at this path.
    fn knows(&self, path: &str) -> bool;

    /// Whether a path needs no token, since what is said there proves who is there.
    fn is_open(&self, path: &str) -> bool;

    /// Hears what the client wants, within a deadline. None: it was refused; else what serves it to its end.
    fn admit(&self, path: &str, connection: Upgraded) -> Option<Box<dyn FnOnce() + Send + '_>>;

    /// Ends all that goes on.
    fn stop(&self);
}

/// A connection whose HTTP is over.
pub struct Upgraded {
    stream: Arc<Stream>,
    /// What was read of it already.
    pub ahead: Vec<u8>,
}

impl Upgraded {
    pub(super) fn new(stream: Arc<Stream>, ahead: Vec<u8>) -> Upgraded {
        Upgraded { stream, ahead }
    }

    /// To read from, or to write to.
    pub fn half(&self) -> Shared {
        Shared(Arc::clone(&self.stream))
    }

    /// Lets the other side take nothing for as long as its user likes.
    pub fn be_patient(&self) -> std::io::Result<()> {
        self.stream.be_patient()
    }

    /// What ends it for whoever reads or writes it.
    pub fn ender(&self) -> impl Fn() + Send + Sync + 'static {
        let stream = Arc::clone(&self.stream);
        move || stream.end(Shutdown::Both)
    }
}

/// Whether a request asks to go on as something else.
pub fn is_asked_for(head: &Head) -> bool {
    let says = |name: &str, word: &str| {
        let said = head.get(name).unwrap_or_default();
        said.split(',')
            .any(|part| part.trim().eq_ignore_ascii_case(word))
    };
    head.method == "GET" && says("connection", "upgrade") && says("upgrade", PROTOCOL)
}

/// What a client sends to begin.
pub fn request(path: &str, host: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: {PROTOCOL}\r\n\r\n"
    )
}
