//! The calls of one connection that are not answered yet: which ids they bear, how they are cancelled, and their
//! progress. Must not know what the calls do, nor which thread runs them.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::message::{Id, encode_notification};

/// The least time between a progress message and the answer of the same call: some clients handle the two out of
/// order when they read both at once, and then complain of progress for a call that is over.
const QUIET_BEFORE_ANSWER: Duration = Duration::from_millis(20);

/// Sends one line to the client that made a call. Must not block: a line may be dropped when the client does not
/// read.
pub type Notify = Arc<dyn Fn(String) + Send + Sync>;

/// The calls in progress on one connection.
#[derive(Debug, Default)]
pub struct Pending {
    calls: Mutex<Calls>,
}

#[derive(Debug, Default)]
struct Calls {
    by_id: HashMap<Id, Running>,
    /// Tells a call from an earlier, cancelled one with the same id.
    last_serial: u64,
    stopped: bool,
}

#[derive(Debug)]
struct Running {
    serial: u64,
    /// Dropped to cancel the call.
    cancel: Option<Sender<Infallible>>,
}

impl Pending {
    /// Enters a call. None while another call of this id is in progress.
    pub fn begin(self: &Arc<Self>, id: &Id) -> Option<Ticket> {
        let (sender, cancelled) = bounded(0);
        let mut calls = self.lock();
        if calls.by_id.contains_key(id) {
            return None;
        }
        calls.last_serial += 1;
        let serial = calls.last_serial;
        let cancel = (!calls.stopped).then_some(sender);
        calls.by_id.insert(id.clone(), Running { serial, cancel });
        Some(Ticket {
            pending: Arc::clone(self),
            id: id.clone(),
            serial,
            cancelled,
        })
    }

    /// Cancels a call on the client's word: its wait ends and nothing more is sent for it. Unknown ids are ignored.
    pub fn cancel(&self, id: &Id) {
        self.lock().by_id.remove(id);
    }

    /// Cancels every call, as [`Pending::cancel`] does one.
    pub fn cancel_all(&self) {
        self.lock().by_id.clear();
    }

    /// Ends the waits of all calls, also of those that begin later. They are still answered.
    pub fn stop(&self) {
        let mut calls = self.lock();
        calls.stopped = true;
        for running in calls.by_id.values_mut() {
            running.cancel = None;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One call's place among the calls in progress.
#[derive(Debug)]
pub struct Ticket {
    pending: Arc<Pending>,
    id: Id,
    serial: u64,
    cancelled: Receiver<Infallible>,
}

impl Ticket {
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// Disconnects when the call is cancelled or the connection stops.
    pub fn cancelled(&self) -> Receiver<Infallible> {
        self.cancelled.clone()
    }

    /// Ends the call. True when the client still wants its answer.
    pub fn finish(&self) -> bool {
        let mut calls = self.pending.lock();
        let wanted = self.is_current(&calls);
        if wanted {
            calls.by_id.remove(&self.id);
        }
        wanted
    }

    /// Runs `action` if the call is still in progress, and keeps it so meanwhile.
    fn while_open(&self, action: impl FnOnce()) {
        let calls = self.pending.lock();
        if self.is_current(&calls) {
            action();
        }
    }

    fn is_current(&self, calls: &Calls) -> bool {
        calls
            .by_id
            .get(&self.id)
            .is_some_and(|running| running.serial == self.serial)
    }
}

/// Tells the client that its call is alive. Messages bear the client's token as it came and strictly increasing
/// numbers; none goes out once the call is answered or cancelled.
#[derive(Clone)]
pub struct Progress {
    shared: Arc<Shared>,
}

struct Shared {
    ticket: Arc<Ticket>,
    /// JSON text.
    token: String,
    notify: Notify,
    sent: Mutex<Sent>,
}

#[derive(Default)]
struct Sent {
    count: u64,
    last: Option<Instant>,
}

impl Progress {
    pub(super) fn new(ticket: Arc<Ticket>, token: String, notify: Notify) -> Self {
        Self {
            shared: Arc::new(Shared {
                ticket,
                token,
                notify,
                sent: Mutex::default(),
            }),
        }
    }

    /// Sends one message, such as the last line of output. Never blocks; dropped when the client does not read.
    pub fn send(&self, message: &str) {
        let Shared {
            ticket,
            token,
            notify,
            ..
        } = &*self.shared;
        let mut sent = self.sent();
        ticket.while_open(|| {
            sent.count += 1;
            sent.last = Some(Instant::now());
            let message = serde_json::Value::from(message);
            let params = format!(
                r#"{{"progressToken":{token},"progress":{},"message":{message}}}"#,
                sent.count
            );
            notify(encode_notification("notifications/progress", &params));
        });
    }

    /// Waits until the answer may follow the last message.
    pub(super) fn settle(&self) {
        let last = self.sent().last;
        if let Some(last) = last {
            thread::sleep(QUIET_BEFORE_ANSWER.saturating_sub(last.elapsed()));
        }
    }

    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.shared
            .sent
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress")
            .field("token", &self.shared.token)
            .finish_non_exhaustive()
    }
}
