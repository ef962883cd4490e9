//! Programs by argv: started without a shell, read by cursor, ended with their whole process group, known by how they
//! ended.
//!
//! A program is a session too: its pane, its log, its end and how a later server finds it again are the session's.
//! Here is only what a session has not. Must not know tools, replies or MCP.
#![forbid(unsafe_code)]

mod ending;
mod error;
mod lifetimes;
mod outcome;
mod output;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use error::Error;
pub use outcome::{By, Facts, Outcome};
pub use output::{CHARS, Page};

use crate::session::create::Request;
use crate::session::meta::{self, Meta};
use crate::session::watch::{Cancel, Woken};
use crate::session::{Session, Sessions, now_ms};
use lifetimes::Lifetimes;
use output::{Files, Output};

/// How long a program may run when nobody says, and at most.
pub const LIFETIME_DEFAULT: Duration = Duration::from_secs(60 * 60);
pub const LIFETIME_MOST: Duration = Duration::from_secs(24 * 60 * 60);

/// Programs that have ended and can still be read. Each is a folder and a pane; the one that ended first goes first.
const KEPT: usize = 64;

/// A read that waits says so this often.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// All programs of a state directory.
#[derive(Debug)]
pub struct Programs {
    known: Arc<Known>,
    lifetimes: Lifetimes,
}

/// The programs by id, for every thread.
#[derive(Debug)]
struct Known {
    sessions: Arc<Sessions>,
    /// The time that the last id was made of, in milliseconds since the epoch.
    last_id: Mutex<u64>,
    /// Those that somebody has asked for: what is kept beside their sessions.
    open: Mutex<BTreeMap<String, Arc<Program>>>,
}

/// One program.
#[derive(Debug)]
pub struct Program {
    pub id: String,
    pub session: Arc<Session>,
    output: Mutex<Output>,
    /// Who ended it, or is about to, as soon as anybody has asked.
    by: Mutex<Option<By>>,
    /// Its end has been counted among those that are kept.
    counted: AtomicBool,
    /// Held while it is being stopped.
    stopping: Mutex<()>,
}

/// What a program is to be.
#[derive(Debug)]
pub struct Start {
    /// Not empty.
    pub argv: Vec<String>,
    pub lifetime: Duration,
    /// Where and how; `program` is filled in here.
    pub session: Request,
}

/// What a read came to.
#[derive(Debug)]
pub struct Read {
    pub page: Page,
    pub facts: Facts,
    /// It has ended, and this was the last of its output.
    pub ended: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic left behind is read again from the files.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Programs {
    /// Takes up the programs of earlier servers: those past their lifetime are ended.
    pub fn open(sessions: Arc<Sessions>) -> Programs {
        let known = Arc::new(Known {
            sessions,
            last_id: Mutex::default(),
            open: Mutex::default(),
        });
        let lifetimes = Lifetimes::new(known.clone());
        for meta in known.metas() {
            if let (Some(program), None) = (&meta.program, meta.end) {
                // A clock that was set back must not prolong it.
                let age = Duration::from_millis(now_ms().saturating_sub(meta.created));
                let lifetime = Duration::from_millis(program.lifetime_ms);
                let dir = known.sessions.layout.session(&meta.name);
                // The server that was about to end it has died over that.
                let left = match By::read(&dir.ended_by()) {
                    Some(_) => Duration::ZERO,
                    None => lifetime.saturating_sub(age),
                };
                lifetimes.end_in(&program.id, left);
            }
        }
        Programs { known, lifetimes }
    }

    /// Starts a program in a pane of its own. One that cannot be started is known by its outcome.
    pub fn start(&self, start: Start) -> Result<Arc<Program>, Error> {
        let lifetime = start.lifetime.min(LIFETIME_MOST);
        let id = self.known.free_id();
        let program = meta::Program {
            id: id.clone(),
            lifetime_ms: lifetime.as_millis() as u64,
        };
        let session = self.known.sessions.create(&Request {
            program: Some((start.argv, program)),
            ..start.session
        })?;
        self.lifetimes.end_in(&id, lifetime);
        Ok(self.known.take_up(&id, session))
    }

    /// Waits until there is text after `cursor`, the program has ended, or `timeout` has passed. `tell` is called now
    /// and then.
    pub fn read(
        &self,
        id: &str,
        cursor: u64,
        lines: usize,
        timeout: Duration,
        cancel: &Cancel,
        tell: impl Fn(),
    ) -> Result<Read, Error> {
        let mut program = self.known.find(id)?;
        if program.is_newly_ended() {
            self.known.evict();
            program = self.known.find(id)?;
        }
        let session = &program.session;
        let files = Files::open(&session.dir)?;
        let watch = session.watch();
        let deadline = Instant::now() + timeout;
        let mut told = Instant::now();
        loop {
            // First: what is written before an end is known is there to be read.
            let ended = session.state().ending.is_some();
            let read = program.look(&files, cursor, lines, ended)?;
            let now = Instant::now();
            if !read.page.text.is_empty() || read.ended || now >= deadline {
                if program.is_newly_ended() {
                    self.known.evict();
                }
                return Ok(read);
            }
            if now >= told + TELL_EVERY {
                told = now;
                tell();
            }
            if watch.wait(deadline.min(told + TELL_EVERY), cancel) == Woken::Cancelled {
                return Ok(read);
            }
        }
    }
}

impl Program {
    /// True once after its end: one more may be one too many to keep.
    fn is_newly_ended(&self) -> bool {
        self.session.state().ending.is_some() && !self.counted.swap(true, Ordering::Relaxed)
    }

    fn look(&self, files: &Files, cursor: u64, lines: usize, ended: bool) -> Result<Read, Error> {
        let mut output = locked(&self.output);
        let page = output.page(files, cursor, lines, ended)?;
        let cut = output.is_cut();
        drop(output);
        Ok(Read {
            facts: self.facts(files, cut)?,
            ended: ended && !page.more,
            page,
        })
    }
}

impl Known {
    /// What there is to know of each program's session.
    fn metas(&self) -> Vec<Meta> {
        let mut metas = self.sessions.metas();
        metas.retain(|meta| meta.program.is_some());
        metas
    }

    fn find(&self, id: &str) -> Result<Arc<Program>, Error> {
        let open = locked(&self.open).get(id).cloned();
        let still = |program: &Arc<Program>| {
            let session = self.sessions.get(&program.session.name);
            session.is_ok_and(|session| Arc::ptr_eq(&session, &program.session))
        };
        if let Some(program) = open.filter(still) {
            return Ok(program);
        }
        let metas = self.metas();
        let is = |meta: &&Meta| {
            meta.program
                .as_ref()
                .is_some_and(|program| program.id == id)
        };
        let Some(meta) = metas.iter().find(is) else {
            locked(&self.open).remove(id);
            let ids = metas.into_iter().filter_map(|meta| Some(meta.program?.id));
            return Err(Error::Unknown {
                id: id.to_string(),
                known: ids.collect(),
            });
        };
        let session = self.sessions.get(&meta.name)?;
        Ok(self.take_up(id, session))
    }

    fn take_up(&self, id: &str, session: Arc<Session>) -> Arc<Program> {
        let new = || {
            Arc::new(Program {
                id: id.to_string(),
                session,
                output: Mutex::default(),
                by: Mutex::default(),
                counted: AtomicBool::new(false),
                stopping: Mutex::default(),
            })
        };
        locked(&self.open)
            .entry(id.to_string())
            .or_insert_with(new)
            .clone()
    }

    /// An id that no program has or has had: the time, or a little later when that is taken.
    fn free_id(&self) -> String {
        let metas = self.metas();
        let taken = |id: &String| {
            let mut programs = metas.iter().filter_map(|meta| meta.program.as_ref());
            programs.any(|program| program.id == *id)
        };
        let mut last = locked(&self.last_id);
        loop {
            *last = now_ms().max(*last + 1);
            let id = format!("p{:x}", *last);
            if !taken(&id) {
                return id;
            }
        }
    }

    /// Forgets a program and its output; its pane goes.
    fn release(&self, id: &str, session: &Arc<Session>) -> Result<(), Error> {
        self.sessions.discard(session)?;
        locked(&self.open).remove(id);
        Ok(())
    }

    /// Releases those that ended first, as far as more than KEPT have ended.
    fn evict(&self) {
        let mut ended = self.metas();
        ended.retain(|meta| meta.end.is_some());
        ended.sort_by_key(|meta| (meta.end.map(|end| end.at), meta.created));
        let over = ended.len().saturating_sub(KEPT);
        for meta in ended.into_iter().take(over) {
            let session = self.sessions.get(&meta.name);
            if let (Some(program), Ok(session)) = (meta.program, session) {
                // What cannot be let go now goes when the next one has ended.
                let _ = self.release(&program.id, &session);
            }
        }
    }
}
