//! Threads for calls. They grow with need, because a wait may hold one for 25 minutes, and go when nothing has come
//! for a while. Must not know what the jobs do.

use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};

/// Calls in progress at once, over all connections: more means that a client is looping, and each costs a thread.
pub const CALL_LIMIT: usize = 512;

/// A thread without work ends after this long, so that a server at rest has none and never wakes.
const IDLE: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// A set of threads that run jobs. They end when this is dropped or finished.
pub struct Workers {
    shared: Arc<Shared>,
    /// Disconnects when the last thread is gone.
    gone: Receiver<Infallible>,
}

struct Shared {
    limit: usize,
    counts: Mutex<Counts>,
    queue: Receiver<Job>,
}

struct Counts {
    /// Jobs admitted and not ended.
    jobs: usize,
    threads: usize,
    /// Threads started so far, for their names.
    started: u64,
    handles: Vec<JoinHandle<()>>,
    /// None once finished.
    open: Option<Open>,
}

struct Open {
    jobs: Sender<Job>,
    /// Each thread holds a clone.
    alive: Sender<Infallible>,
}

/// Why a job was not taken.
#[derive(Debug)]
pub enum Refused {
    /// So many are in progress.
    Busy(usize),
    /// No thread could be started.
    NoThread(std::io::Error),
    /// The server is ending.
    Stopping,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy(limit) => {
                write!(
                    f,
                    "busy: {limit} calls are in progress, which is the limit; cancel some or wait for them"
                )
            }
            Self::NoThread(error) => {
                write!(f, "busy: cannot start a thread for this call: {error}")
            }
            Self::Stopping => f.write_str("the server is stopping"),
        }
    }
}

impl Workers {
    /// Workers for at most `limit` jobs at once. Starts no thread yet.
    pub fn new(limit: usize) -> Self {
        let (jobs, queue) = unbounded();
        let (alive, gone) = bounded(0);
        let counts = Counts {
            jobs: 0,
            threads: 0,
            started: 0,
            handles: Vec::new(),
            open: Some(Open { jobs, alive }),
        };
        Self {
            shared: Arc::new(Shared {
                limit,
                counts: Mutex::new(counts),
                queue,
            }),
            gone,
        }
    }

    /// Makes room for one job, with a thread that will run it at once.
    pub fn reserve(&self) -> Result<Slot<'_>, Refused> {
        let mut counts = self.shared.lock();
        let Some(Open { jobs, alive }) = &counts.open else {
            return Err(Refused::Stopping);
        };
        let (jobs, alive) = (jobs.clone(), alive.clone());
        if counts.jobs >= self.shared.limit {
            return Err(Refused::Busy(self.shared.limit));
        }
        if counts.threads <= counts.jobs {
            self.start(&mut counts, alive).map_err(Refused::NoThread)?;
        }
        counts.jobs += 1;
        Ok(Slot {
            shared: &self.shared,
            jobs,
            used: false,
        })
    }

    fn start(&self, counts: &mut Counts, alive: Sender<Infallible>) -> std::io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let name = format!("call-{}", counts.started + 1);
        let handle = thread::Builder::new().name(name).spawn(move || {
            shared.work();
            drop(alive);
        })?;
        counts.started += 1;
        counts.threads += 1;
        counts.handles.retain(|handle| !handle.is_finished());
        counts.handles.push(handle);
        Ok(())
    }

    /// Takes no more jobs and waits for the threads to end, at most until `deadline`. True when all have ended;
    /// those that have not are left to the end of the process.
    pub fn finish(&self, deadline: Instant) -> bool {
        self.shared.lock().open = None;
        if self.gone.recv_deadline(deadline) == Err(RecvTimeoutError::Timeout) {
            return false;
        }
        let handles = std::mem::take(&mut self.shared.lock().handles);
        for handle in handles {
            // A worker catches its jobs' panics, and this one is past its last line.
            drop(handle.join());
        }
        true
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.lock().open = None;
    }
}

impl Shared {
    fn work(&self) {
        loop {
            match self.queue.recv_timeout(IDLE) {
                Ok(job) => {
                    // The job answers for itself; whatever escapes it must not cost the thread's place.
                    drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)));
                    self.lock().jobs -= 1;
                }
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    let mut counts = self.lock();
                    // A slot may have been given on the strength of this thread.
                    if counts.threads > counts.jobs {
                        counts.threads -= 1;
                        return;
                    }
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Room for one job; given back when dropped unused.
pub struct Slot<'a> {
    shared: &'a Shared,
    jobs: Sender<Job>,
    used: bool,
}

impl Slot<'_> {
    pub fn run(mut self, job: impl FnOnce() + Send + 'static) {
        // The workers borrowed here hold the queue, so it takes the job.
        self.used = self.jobs.send(Box::new(job)).is_ok();
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if !self.used {
            self.shared.lock().jobs -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn grows_while_jobs_block_and_refuses_past_the_limit() {
        let workers = Workers::new(3);
        let (release, blocked) = bounded::<Infallible>(0);
        let (here, arrivals) = unbounded();
        for _ in 0..3 {
            let (blocked, here) = (blocked.clone(), here.clone());
            workers.reserve().expect("room").run(move || {
                here.send(thread::current().name().map(str::to_owned))
                    .expect("the test listens");
                assert!(blocked.recv().is_err());
            });
        }
        let mut names: Vec<_> = (0..3)
            .map(|_| arrivals.recv_timeout(SOON).expect("all three run"))
            .collect();
        names.sort();
        assert_eq!(
            names,
            ["call-1", "call-2", "call-3"].map(|name| Some(name.to_owned()))
        );
        assert!(matches!(workers.reserve(), Err(Refused::Busy(3))));
        drop(release);
        assert!(workers.finish(Instant::now() + SOON));
    }

    #[test]
    fn an_unused_slot_and_a_panic_give_their_room_back() {
        let workers = Workers::new(1);
        drop(workers.reserve().expect("room"));
        let (ended, done) = bounded::<Infallible>(0);
        workers.reserve().expect("room again").run(move || {
            let _ended = ended;
            panic!("on purpose");
        });
        assert!(done.recv_timeout(SOON).is_err());
        let deadline = Instant::now() + SOON;
        let slot = loop {
            match workers.reserve() {
                Ok(slot) => break slot,
                Err(refused) => assert!(Instant::now() < deadline, "{refused}"),
            }
            thread::yield_now();
        };
        let (here, arrived) = bounded(1);
        slot.run(move || here.send(()).expect("the test listens"));
        assert!(arrived.recv_timeout(SOON).is_ok());
    }

    #[test]
    fn a_job_that_does_not_end_is_left_at_the_deadline() {
        let workers = Workers::new(1);
        let (release, blocked) = bounded::<Infallible>(0);
        workers
            .reserve()
            .expect("room")
            .run(move || assert!(blocked.recv().is_err()));
        assert!(!workers.finish(Instant::now()));
        drop(release);
    }
}
