//! What the gate and the listener know of a request together, besides what travels between them: that it has been
//! vetted, that it has been taken up, and that its client has left.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::sys::random;

/// The header that says which exchange a request on the inner socket belongs to. The gate passes on no header of
/// this name.
pub const HEADER: &str = "X-Paneglass-Exchange";

/// Something that happens once.
#[derive(Debug)]
struct Once {
    sender: Mutex<Option<Sender<Infallible>>>,
    receiver: Receiver<Infallible>,
}

impl Once {
    fn new() -> Once {
        let (sender, receiver) = bounded(0);
        Once {
            sender: Mutex::new(Some(sender)),
            receiver,
        }
    }

    fn happen(&self) {
        *self.sender.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// One vetted request on its way.
#[derive(Debug)]
pub struct Exchange {
    /// What the client's token opens, where that is not all.
    pub scope: Option<Arc<str>>,
    taken: Once,
    left: Once,
}

impl Exchange {
    /// The client has gone.
    pub fn leave(&self) {
        self.left.happen();
    }

    /// Disconnects when the client has gone.
    pub fn left(&self) -> Receiver<Infallible> {
        self.left.receiver.clone()
    }

    /// Disconnects when the listener has the request.
    pub fn taken(&self) -> Receiver<Infallible> {
        self.taken.receiver.clone()
    }
}

/// The exchanges of one process.
#[derive(Debug)]
pub struct Desk {
    /// What only this process knows: without it nothing on the inner socket is answered.
    secret: String,
    last: AtomicU64,
    open: Mutex<HashMap<String, Arc<Exchange>>>,
}

impl Desk {
    pub fn new() -> io::Result<Desk> {
        Ok(Desk {
            secret: random::hex(32)?,
            last: AtomicU64::new(0),
            open: Mutex::default(),
        })
    }

    /// Enters a vetted request; returns what the header is to say.
    pub fn enter(&self, scope: Option<Arc<str>>) -> (String, Arc<Exchange>) {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let key = format!("{}.{number}", self.secret);
        let exchange = Arc::new(Exchange {
            scope,
            taken: Once::new(),
            left: Once::new(),
        });
        self.open().insert(key.clone(), Arc::clone(&exchange));
        (key, exchange)
    }

    /// Takes a request up; none for a header that the gate did not write, or wrote long ago.
    pub fn take(&self, key: &str) -> Option<Arc<Exchange>> {
        let exchange = self.open().remove(key)?;
        exchange.taken.happen();
        Some(exchange)
    }

    /// Gives up a request that nobody took up. False when somebody has.
    pub fn forget(&self, key: &str) -> bool {
        self.open().remove(key).is_some()
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Arc<Exchange>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
