//! HTTP, and MCP over it: on the user's Unix socket, and on TCP with a token. Knows no tools, sessions or files.
//!
//! Nothing from outside reaches tiny_http unvetted. [`gate`] accepts, within limits; a connection that begins with `{`
//! on the Unix socket is newline-delimited JSON-RPC and goes straight to mcp. Any other is HTTP: its [`head`] is read
//! and [`vet`]ted, its [`body`] read, and [`relay`] passes the whole on to tiny_http on a private socket and streams
//! the answer back, watching for the client's departure. Behind that socket [`listener`] hands each request to
//! [`route`], and [`post`] carries out `POST /mcp`. What the two sides know of one request is its [`exchange`].
#![forbid(unsafe_code)]

mod answer;
pub mod base64;
mod body;
mod exchange;
mod gate;
mod head;
mod listener;
mod post;
mod relay;
mod route;
mod sessions;
mod sse;
mod stream;
mod table;
pub mod upgrade;
mod vet;

use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;

use crossbeam_channel::{Sender, bounded};
use serde_json::Value;

use crate::mcp::dispatch::Server;

pub use answer::Refusal;
pub use upgrade::{Upgraded, Upgrades};
pub use vet::{Vetting, same};

use exchange::Desk;
use gate::Gate;
use listener::Listener;
use relay::Relay;
use route::Routes;

/// What the paths besides /mcp tell and do; implemented elsewhere.
pub trait Api: Send + Sync + 'static {
    /// Who serves here. Anybody may know it.
    fn health(&self) -> Value;

    /// Every session, as an array.
    fn sessions(&self) -> Result<Value, Refusal>;

    /// One session.
    fn session(&self, name: &str) -> Result<Value, Refusal>;

    /// Does what the body asks for with a session's logs; `actor` is what the client says it is called.
    fn set_logs(&self, name: &str, body: Value, actor: Option<&str>) -> Result<Value, Refusal>;

    /// Deletes the logs that are due, or tells which they are.
    fn sweep(&self, dry_run: bool) -> Result<Value, Refusal>;
}

/// What is served, and where.
pub struct Setup {
    pub unix: UnixListener,
    pub tcp: Vec<TcpListener>,
    /// What requests on TCP must show; needed where there is a TCP listener.
    pub vetting: Option<Vetting>,
    /// Where the inner socket is to be: in a folder that is the user's own.
    pub inner: PathBuf,
    pub server: Arc<Server>,
    pub api: Arc<dyn Api>,
    /// What connections can go on as besides HTTP.
    pub upgrades: Option<Arc<dyn Upgrades>>,
    /// Our user, whose processes may use the Unix socket.
    pub uid: u32,
    /// How many descriptors this process may have open.
    pub descriptors: u64,
}

/// Serves until it is stopped.
pub struct Serving {
    gate: Gate,
    listener: Arc<Listener>,
    /// Dropped to end what waits.
    stop: Option<Sender<std::convert::Infallible>>,
}

impl Serving {
    pub fn start(setup: Setup) -> io::Result<Serving> {
        let (sender, stop) = bounded(0);
        let desk = Arc::new(Desk::new()?);
        let routes = Routes::new(Arc::clone(&setup.server), setup.api, stop.clone());
        let listener = Arc::new(Listener::start(
            setup.inner.clone(),
            Arc::clone(&desk),
            Arc::new(routes),
        )?);
        let relay = Relay::new(setup.inner, desk, Arc::clone(&listener));
        let gate = Gate::start(gate::Setup {
            unix: setup.unix,
            tcp: setup.tcp,
            vetting: setup.vetting,
            server: setup.server,
            upgrades: setup.upgrades,
            relay,
            uid: setup.uid,
            descriptors: setup.descriptors,
            stop,
        })?;
        Ok(Serving {
            gate,
            listener,
            stop: Some(sender),
        })
    }

    /// Takes no more connections, and ends the waits: what is being served is answered.
    pub fn stop(&mut self) {
        self.gate.stop();
        self.stop = None;
    }

    /// Waits until what was being served is answered, at most until `deadline`.
    pub fn finish(self, deadline: std::time::Instant) {
        self.gate.finish(deadline);
        self.listener.stop();
    }
}
