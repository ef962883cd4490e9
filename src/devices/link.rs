//! The server's end of one device's connection: sends what is asked of the device, takes in what it answers, and finds
//! out when it has gone. Must not know who may ask.

use std::collections::HashMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Error;
use super::frame::{Down, End, Info, Spec, Up};
use super::job::{DISCONNECTED, Job};
use super::wire::{Came, Frames, Outlet};

/// How a silent connection is told from a dead one.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Between two heartbeats.
    pub beat: Duration,
    /// Three heartbeats without an answer.
    pub dead: Duration,
}

impl Default for Timing {
    fn default() -> Timing {
        let beat = Duration::from_secs(10);
        Timing {
            beat,
            dead: beat * 3,
        }
    }
}

/// How long a device may take to say that it did what it was asked to.
const ACKNOWLEDGED: Duration = Duration::from_secs(5);

/// A device that is online.
pub struct Link {
    pub client_id: String,
    /// Whose it is: a group's key.
    pub group: String,
    pub info: Info,
    /// Milliseconds since the epoch.
    pub connected: u64,
    outlet: Outlet,
    /// Ends the connection, whoever waits at it.
    hang_up: Box<dyn Fn() + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Its connection is over.
    closed: bool,
    jobs: HashMap<u64, Arc<Job>>,
    /// Requests that the device has not answered, with who waits for that.
    asked: HashMap<u64, Sender<Option<String>>>,
    last: u64,
    round_trip: Option<Duration>,
}

/// A link before anybody knows of it.
pub struct Opening {
    pub client_id: String,
    pub group: String,
    pub info: Info,
    pub connected: u64,
    pub outlet: Outlet,
    pub hang_up: Box<dyn Fn() + Send + Sync>,
}

impl Link {
    pub fn new(opening: Opening) -> Link {
        Link {
            client_id: opening.client_id,
            group: opening.group,
            info: opening.info,
            connected: opening.connected,
            outlet: opening.outlet,
            hang_up: opening.hang_up,
            state: Mutex::default(),
        }
    }

    /// What the last heartbeat took, there and back.
    pub fn round_trip(&self) -> Option<Duration> {
        self.state().round_trip
    }

    /// Has a job begun on the device.
    pub fn start(&self, job: &Arc<Job>, spec: Spec) -> Result<(), Error> {
        let id = {
            let mut state = self.state();
            if state.closed {
                return Err(self.offline());
            }
            state.last += 1;
            let id = state.last;
            state.jobs.insert(id, Arc::clone(job));
            id
        };
        // When the connection breaks just now, the job ends with it.
        self.tell(&Down::Start { id, spec });
        Ok(())
    }

    /// What the job is called on this link; none when it has ended, or ran on another.
    pub fn number(&self, job: &Arc<Job>) -> Option<u64> {
        let state = self.state();
        let mut jobs = state.jobs.iter();
        jobs.find(|(_, other)| Arc::ptr_eq(other, job))
            .map(|(id, _)| *id)
    }

    /// Sends what needs no answer. A connection that takes nothing is ended.
    pub fn tell(&self, frame: &Down) {
        if self.outlet.send(frame).is_err() {
            (self.hang_up)();
        }
    }

    /// Asks for something, under a number that `frame` is given, and waits until the device says that it has done it.
    pub fn ask(&self, frame: impl FnOnce(u64) -> Down) -> Result<(), Error> {
        let (sender, answer) = channel();
        let number = {
            let mut state = self.state();
            if state.closed {
                return Err(self.offline());
            }
            state.last += 1;
            let number = state.last;
            state.asked.insert(number, sender);
            number
        };
        self.tell(&frame(number));
        let answered = answer.recv_timeout(ACKNOWLEDGED);
        self.state().asked.remove(&number);
        match answered {
            Ok(None) => Ok(()),
            Ok(Some(reason)) => Err(Error::Refused(reason)),
            Err(_) => Err(Error::Unanswered),
        }
    }

    /// Ends the connection; a device that is not to come again is told so.
    pub fn close(&self, refused: Option<&str>) {
        if let Some(reason) = refused {
            // One that does not read is cut off all the same.
            let _ = self.outlet.send(&Down::Refused {
                reason: reason.into(),
            });
        }
        (self.hang_up)();
    }

    /// Serves the connection to its end, of which every job of it hears.
    pub fn run(&self, frames: &mut Frames, timing: Timing, now: impl Fn() -> u64) {
        let mut heard = Instant::now();
        // At once, so that the round-trip time is known soon.
        let mut beat = heard;
        let mut pinged = (0, heard);
        loop {
            let dead = heard + timing.dead;
            if Instant::now() >= beat.min(dead) {
                if Instant::now() >= dead {
                    break;
                }
                pinged = (pinged.0 + 1, Instant::now());
                beat = pinged.1 + timing.beat;
                self.tell(&Down::Ping { number: pinged.0 });
            }
            let frame = match frames.next(beat.min(dead), None) {
                Came::Frame(frame) => frame,
                Came::Nothing | Came::Other => continue,
                Came::End(_) => break,
            };
            heard = Instant::now();
            match frame {
                Up::Pong { number } if number == pinged.0 => {
                    self.state().round_trip = Some(pinged.1.elapsed());
                }
                frame => {
                    if self.take(frame, &now).is_err() {
                        break;
                    }
                }
            }
        }
        (self.hang_up)();
        let (jobs, asked) = {
            let mut state = self.state();
            state.closed = true;
            (
                std::mem::take(&mut state.jobs),
                std::mem::take(&mut state.asked),
            )
        };
        // Who waits for an answer learns that none comes.
        drop(asked);
        for job in jobs.into_values() {
            job.end(End::failed(DISCONNECTED), now());
        }
    }

    /// Takes in what the device says. An error when it does what it must not.
    fn take(&self, frame: Up, now: &impl Fn() -> u64) -> Result<(), ()> {
        match frame {
            Up::Output { id, from, data } => {
                let Some(job) = self.state().jobs.get(&id).cloned() else {
                    return Ok(());
                };
                if let Some(bytes) = job.print(from, &data.0)? {
                    self.tell(&Down::Credit { id, bytes });
                }
            }
            Up::End { id, end } => {
                let job = self.state().jobs.remove(&id);
                if let Some(job) = job {
                    job.end(end, now());
                }
            }
            Up::Ack { number, error } => {
                let asked = self.state().asked.remove(&number);
                if let Some(asked) = asked {
                    // Whoever asked may have given up.
                    let _ = asked.send(error);
                }
            }
            Up::Pong { .. } => {}
            Up::Hello(_) => return Err(()),
        }
        Ok(())
    }

    fn offline(&self) -> Error {
        Error::Offline(self.client_id.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
