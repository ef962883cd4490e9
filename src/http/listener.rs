//! tiny_http behind the gate: turns what comes on the inner socket into requests for the routes. When its accept loop
//! ends, as it does at the descriptor limit, it is made anew. Must not know what the routes do.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::exchange::{Desk, HEADER};
use super::route::Routes;

/// Between two tries to bind the inner socket.
const PAUSE: Duration = Duration::from_millis(20);

pub struct Listener {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    path: PathBuf,
    desk: Arc<Desk>,
    routes: Arc<Routes>,
    stopped: AtomicBool,
    /// How many servers there have been.
    generation: AtomicU64,
    current: Mutex<Option<Arc<tiny_http::Server>>>,
}

impl Listener {
    pub fn start(path: PathBuf, desk: Arc<Desk>, routes: Arc<Routes>) -> io::Result<Listener> {
        let shared = Arc::new(Shared {
            path,
            desk,
            routes,
            stopped: AtomicBool::new(false),
            generation: AtomicU64::new(0),
            current: Mutex::default(),
        });
        // The first one is made here, so that what keeps it from being made stops the start.
        let first = shared.bind()?;
        let thread = thread::Builder::new().name("http-listen".into()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.run(first)
        })?;
        Ok(Listener {
            shared,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Which server is to be reached now.
    pub fn generation(&self) -> u64 {
        self.shared.generation.load(Ordering::Acquire)
    }

    /// The server of this generation does not answer: another takes its place.
    pub fn renew(&self, generation: u64) {
        let current = self.shared.current();
        if self.generation() == generation {
            if let Some(server) = &*current {
                server.unblock();
            }
        }
    }

    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::Release);
        if let Some(server) = &*self.shared.current() {
            server.unblock();
        }
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            // It ends at once, and what it panicked of is of no more interest.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn bind(&self) -> io::Result<Arc<tiny_http::Server>> {
        // One of a killed server, or of the generation before.
        let _ = std::fs::remove_file(&self.path);
        let server = tiny_http::Server::http_unix(&self.path).map_err(io::Error::other)?;
        // Its folder is for nobody else already.
        std::fs::set_permissions(&self.path, Permissions::from_mode(0o600))?;
        let server = Arc::new(server);
        let mut current = self.current();
        *current = Some(Arc::clone(&server));
        self.generation.fetch_add(1, Ordering::Release);
        Ok(server)
    }

    fn run(&self, first: Arc<tiny_http::Server>) {
        let mut server = first;
        loop {
            while let Ok(request) = server.recv() {
                self.take(request);
            }
            // It removes its socket when it goes, so it goes before the next one comes.
            *self.current() = None;
            drop(server);
            server = loop {
                if self.stopped.load(Ordering::Acquire) {
                    return;
                }
                match self.bind() {
                    Ok(server) => break server,
                    Err(_) => thread::sleep(PAUSE),
                }
            };
        }
    }

    /// A thread for each request: the gate bounds how many there are. Where none can be started the request is
    /// dropped, which answers it with 500.
    fn take(&self, request: tiny_http::Request) {
        let key = request
            .headers()
            .iter()
            .find(|header| header.field.equiv(HEADER));
        let Some(exchange) = key.and_then(|header| self.desk.take(header.value.as_str())) else {
            return;
        };
        let routes = Arc::clone(&self.routes);
        let _ = thread::Builder::new()
            .name("http-answer".into())
            .spawn(move || routes.answer(request, &exchange));
    }

    fn current(&self) -> MutexGuard<'_, Option<Arc<tiny_http::Server>>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
