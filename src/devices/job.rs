//! One thing that runs on a device, as the server knows it: a command, a session, or somebody's reach. Must not know
//! how frames travel.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::Error;
use super::changes::Changes;
use super::frame::{End, Source, WINDOW};
use super::output::{Output, Part};

/// Bytes of a command's output that are kept, of both streams together.
pub const COMMAND_KEPT: usize = 1 << 20;

/// A session's record goes so long after its end.
pub const RECORD_KEPT: Duration = Duration::from_secs(30 * 60);

/// Credit goes back in pieces of at least this, in bytes, and not for every frame.
const CREDIT_PIECE: u64 = WINDOW / 4;

/// What the end of a job is told as when the link is cut before it is known.
pub const DISCONNECTED: &str =
    "the device was disconnected: whether the command succeeded, failed or was ended is not known";

/// A job.
pub struct Job {
    /// As agents call a session; empty for what is none.
    pub id: String,
    /// Whose it is: a group's key.
    pub group: String,
    pub client_id: String,
    pub command: String,
    /// Milliseconds since the epoch.
    pub started: u64,
    state: Mutex<State>,
    pub changes: Changes,
}

struct State {
    printed: Printed,
    end: Option<Ended>,
    /// Somebody has asked to stop it.
    stopping: bool,
    /// What the device may still send, in bytes.
    credit: u64,
    /// What has been taken of its output since it was last told.
    taken: u64,
}

/// How a job ended, and when.
#[derive(Clone, Debug)]
pub struct Ended {
    pub end: End,
    /// Milliseconds since the epoch.
    pub at: u64,
    since: Instant,
}

/// Where output goes.
enum Printed {
    /// Of a command: two streams, whole to a limit.
    Apart { out: Vec<u8>, err: Vec<u8> },
    /// Of a session: to be read by cursor.
    Kept(Output),
    /// Of a reach: on to the one who looks.
    Passed(Vec<u8>),
}

/// What a job is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Command,
    Session,
    Reach,
}

impl Job {
    pub fn new(
        kind: Kind,
        id: String,
        group: &str,
        client_id: &str,
        command: &str,
        now: u64,
    ) -> Job {
        let printed = match kind {
            Kind::Command => Printed::Apart {
                out: Vec::new(),
                err: Vec::new(),
            },
            Kind::Session => Printed::Kept(Output::default()),
            Kind::Reach => Printed::Passed(Vec::new()),
        };
        Job {
            id,
            group: group.into(),
            client_id: client_id.into(),
            command: command.into(),
            started: now,
            state: Mutex::new(State {
                printed,
                end: None,
                stopping: false,
                credit: WINDOW,
                taken: 0,
            }),
            changes: Changes::default(),
        }
    }

    /// Takes output in. The credit to give for it, if any; an error when the device sends more than it may.
    pub fn print(&self, from: Source, data: &[u8]) -> Result<Option<u64>, ()> {
        let mut state = self.state();
        let length = data.len() as u64;
        state.credit = state.credit.checked_sub(length).ok_or(())?;
        if state.end.is_some() {
            return Ok(None);
        }
        let mut taken = length;
        match &mut state.printed {
            Printed::Apart { out, err } => {
                let room = COMMAND_KEPT.saturating_sub(out.len() + err.len());
                let data = &data[..data.len().min(room)];
                match from {
                    Source::Stderr => err.extend_from_slice(data),
                    Source::Stdout | Source::Terminal => out.extend_from_slice(data),
                }
            }
            Printed::Kept(output) => output.push(data),
            // It counts once it has been passed on.
            Printed::Passed(waiting) => {
                waiting.extend_from_slice(data);
                taken = 0;
            }
        }
        let credit = state.give(taken);
        drop(state);
        self.changes.tell();
        Ok(credit)
    }

    /// What waits to be passed on, and the credit to give for it.
    pub fn pass(&self) -> (Vec<u8>, Option<u64>) {
        let mut state = self.state();
        let Printed::Passed(waiting) = &mut state.printed else {
            return (Vec::new(), None);
        };
        let data = std::mem::take(waiting);
        let credit = state.give(data.len() as u64);
        (data, credit)
    }

    /// It has ended; the first end counts.
    pub fn end(&self, end: End, now: u64) {
        let mut state = self.state();
        if state.end.is_none() {
            if let Printed::Kept(output) = &mut state.printed {
                output.finish();
            }
            state.end = Some(Ended {
                end,
                at: now,
                since: Instant::now(),
            });
        }
        drop(state);
        self.changes.tell();
    }

    pub fn ended(&self) -> Option<Ended> {
        self.state().end.clone()
    }

    /// Its record is of no more use to anybody.
    pub fn is_old(&self) -> bool {
        let state = self.state();
        state
            .end
            .as_ref()
            .is_some_and(|ended| ended.since.elapsed() >= RECORD_KEPT)
    }

    /// Notes that it is to stop. False when that was asked before.
    pub fn stop(&self) -> bool {
        !std::mem::replace(&mut self.state().stopping, true)
    }

    pub fn is_stopping(&self) -> bool {
        self.state().stopping
    }

    /// A command's output: stdout and stderr. Its bytes are taken out.
    pub fn streams(&self) -> (Vec<u8>, Vec<u8>) {
        match &mut self.state().printed {
            Printed::Apart { out, err } => (std::mem::take(out), std::mem::take(err)),
            Printed::Kept(_) | Printed::Passed(_) => (Vec::new(), Vec::new()),
        }
    }

    /// Up to `most` bytes of a session's output from the cursor on, and its end when there is no more to come.
    pub fn read(&self, cursor: u64, most: usize) -> Result<(Part, Option<Ended>), Error> {
        let state = self.state();
        let part = match &state.printed {
            Printed::Kept(output) => output.read(cursor, most)?,
            Printed::Apart { .. } | Printed::Passed(_) => {
                return Err(Error::Session(self.id.clone()));
            }
        };
        Ok((part, state.end.clone()))
    }

    /// Offsets of the first byte of output that is kept, and of its end.
    pub fn range(&self) -> (u64, u64) {
        match &self.state().printed {
            Printed::Kept(output) => output.range(),
            Printed::Apart { .. } | Printed::Passed(_) => (0, 0),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts what was taken; tells once it is worth a frame.
    fn give(&mut self, taken: u64) -> Option<u64> {
        self.taken += taken;
        if self.taken < CREDIT_PIECE {
            return None;
        }
        self.credit += self.taken;
        Some(std::mem::take(&mut self.taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(kind: Kind) -> Job {
        Job::new(kind, "s".into(), "g", "abcdef", "true", 0)
    }

    #[test]
    fn credit_bounds_what_waits() {
        let reach = job(Kind::Reach);
        let piece = vec![b'x'; CREDIT_PIECE as usize];
        for _ in 0..4 {
            assert_eq!(reach.print(Source::Terminal, &piece), Ok(None));
        }
        // Nobody has looked: no more may come.
        assert_eq!(reach.print(Source::Terminal, b"x"), Err(()));
        let reach = job(Kind::Reach);
        reach.print(Source::Terminal, &piece).unwrap();
        assert_eq!(reach.pass(), (piece.clone(), Some(CREDIT_PIECE)));
        // A session takes in at once.
        let session = job(Kind::Session);
        for _ in 0..40 {
            assert_eq!(
                session.print(Source::Terminal, &piece),
                Ok(Some(CREDIT_PIECE))
            );
        }
    }

    #[test]
    fn a_commands_streams_are_kept_apart_and_to_a_limit() {
        let command = job(Kind::Command);
        let piece = vec![b'e'; CREDIT_PIECE as usize];
        command.print(Source::Stdout, b"out").unwrap();
        for _ in 0..20 {
            command.print(Source::Stderr, &piece).unwrap();
        }
        let (out, err) = command.streams();
        assert_eq!((out.as_slice(), err.len()), (&b"out"[..], COMMAND_KEPT - 3));
    }

    #[test]
    fn the_first_end_counts() {
        let session = job(Kind::Session);
        session.print(Source::Terminal, b"a\xe2").unwrap();
        session.end(End::failed(DISCONNECTED), 5);
        session.end(End::default(), 6);
        let (part, ended) = session.read(0, 16).unwrap();
        assert_eq!(part.text, "a\u{fffd}");
        let ended = ended.unwrap();
        assert_eq!((ended.end.exit_code, ended.at), (-1, 5));
        // What comes late is not taken in.
        assert_eq!(session.print(Source::Terminal, b"late"), Ok(None));
        assert!(session.stop() && !session.stop() && !session.is_old());
    }
}
