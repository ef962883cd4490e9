//! What commands print, copied to a file of the caller's choice: as `> FILE 2>&1` would have it, while they run and
//! also after the call that asked for it has returned.
//!
//! Each copy has a thread of its own: a slow file system holds up nobody else.

mod plain;

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};

use super::regions::{Kind, Region};
use super::{Error, RegionId, Session, Sessions, State};
use crate::sys::random;
use plain::Plain;

/// Bytes of the log that are copied at a time.
const CHUNK: usize = 256 * 1024;

/// A copy whose commands have all ended is waited for so long before the reply says that it is not complete.
const FINISH: Duration = Duration::from_secs(10);

/// The thread looks again after so long even when nothing wakes it: an hour is never, and no overflow.
const NEVER: Duration = Duration::from_secs(3600);

/// Whose output is wanted.
#[derive(Clone, Copy, Debug)]
pub enum Wanted {
    /// The first command after this region.
    After(RegionId),
    Region(RegionId),
}

impl Wanted {
    fn region(self, state: &State) -> Option<&Region> {
        match self {
            Wanted::Region(id) => state.regions.get(id),
            Wanted::After(last) => state
                .regions
                .all()
                .iter()
                .skip(last as usize)
                .find(|region| region.kind == Kind::Command),
        }
    }
}

/// A file that is ready to take what is printed, under a temporary name: nothing has been replaced yet.
#[derive(Debug)]
pub struct Prepared {
    path: PathBuf,
    temporary: PathBuf,
    file: Option<File>,
}

/// A copy in progress.
#[derive(Debug)]
pub struct Save {
    session: Arc<Session>,
    path: PathBuf,
    /// Which file that was when the copy began: its device and inode.
    file: (u64, u64),
    plan: Arc<Mutex<Plan>>,
    /// Disconnects when the thread has ended.
    over: Receiver<()>,
}

/// How far a copy has come.
#[derive(Clone, Debug)]
pub struct Saved {
    pub path: PathBuf,
    pub bytes: u64,
    /// Everything that was wanted is in the file.
    pub complete: bool,
    /// Another file has the name now, or none.
    pub replaced: bool,
    pub error: Option<String>,
}

#[derive(Debug, Default)]
struct Plan {
    wanted: VecDeque<Wanted>,
    /// Nothing more will be wanted.
    sealed: bool,
    bytes: u64,
    complete: bool,
    error: Option<String>,
}

impl Sessions {
    /// Makes the file under a temporary name beside the one it will have. A relative path counts from where the
    /// session's own program is now, on this machine even when the session is on another.
    pub fn prepare_save(&self, session: &Session, path: &str) -> Result<Prepared, Error> {
        let refused = |text: String| Err(Error::Refused(text));
        if path.is_empty() || path.contains('\0') {
            return refused("save_to is no file's name; nothing was typed".into());
        }
        let given = match path.strip_prefix("~/") {
            Some(rest) => PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(rest),
            None => PathBuf::from(path),
        };
        let folder = self
            .proc
            .cwd(session.program())
            .unwrap_or_else(|| session.meta.cwd.clone());
        let mut path = folder.join(given);
        // As a redirection does: a link is written through.
        if let Ok(real) = path.canonicalize() {
            path = real;
        }
        if std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return refused(format!(
                "save_to {} is there and is no ordinary file; nothing was typed",
                path.display()
            ));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let random =
            random::hex(4).map_err(|error| Error::Io("no random numbers".into(), error))?;
        let temporary = path.with_file_name(format!(".{name}.{random}.tmp"));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary);
        match file {
            Ok(file) => Ok(Prepared {
                path,
                temporary,
                file: Some(file),
            }),
            Err(error) => refused(format!(
                "save_to {} cannot be written: {error}; nothing was typed",
                path.display()
            )),
        }
    }
}

impl Prepared {
    /// Gives the file its name, and begins to fill it for an agent.
    pub fn start(
        mut self,
        session: &Arc<Session>,
        wanted: Wanted,
        agent: &str,
    ) -> Result<Save, Error> {
        let failed = |error| Error::Io(format!("cannot write {}", self.path.display()), error);
        let raw = File::open(session.dir.raw()).map_err(failed)?;
        std::fs::rename(&self.temporary, &self.path).map_err(failed)?;
        let meta = std::fs::metadata(&self.path).map_err(failed)?;
        let plan = Arc::new(Mutex::new(Plan {
            wanted: VecDeque::from([wanted]),
            ..Plan::default()
        }));
        let (ends, over) = bounded(0);
        let copy = Copy {
            session: session.clone(),
            plan: plan.clone(),
            raw,
            file: self.file.take(),
            at: None,
            plain: Plain::default(),
            agent: agent.to_string(),
        };
        // Written down at once: this server may not live to say what became of it.
        copy.filled_by(Some((self.path.display().to_string(), std::process::id())));
        std::thread::Builder::new()
            .name("save".into())
            .spawn(move || {
                copy.run();
                drop(ends);
            })
            .map_err(|error| Error::Io("cannot start a thread".into(), error))?;
        Ok(Save {
            session: session.clone(),
            path: self.path.clone(),
            file: (meta.dev(), meta.ino()),
            plan,
            over,
        })
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // Started, the name has gone, and with it the error.
        if self.file.is_some() {
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

fn lock(plan: &Mutex<Plan>) -> MutexGuard<'_, Plan> {
    plan.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Save {
    /// Appends what another command prints.
    pub fn also(&self, wanted: Wanted) {
        lock(&self.plan).wanted.push_back(wanted);
        self.session.state().watchers.notify();
    }

    /// The last line was no command: nothing of it is waited for.
    pub fn none_came(&self) {
        lock(&self.plan).wanted.pop_back();
    }

    /// Nothing more is wanted. Waits for the end of the copy when all commands have ended; else it goes on by
    /// itself.
    pub fn seal(self) -> Saved {
        let wanted = {
            let mut plan = lock(&self.plan);
            plan.sealed = true;
            plan.wanted.clone()
        };
        let ended = {
            let state = self.session.state();
            state.watchers.notify();
            wanted.iter().all(|wanted| {
                wanted
                    .region(&state)
                    .is_some_and(|region| !region.running())
            })
        };
        if ended {
            // Nothing is ever sent: it is over when it disconnects.
            let _ = self.over.recv_timeout(FINISH);
        }
        let now = std::fs::metadata(&self.path).ok();
        let plan = lock(&self.plan);
        Saved {
            path: self.path.clone(),
            bytes: plan.bytes,
            complete: plan.complete,
            replaced: now.map(|meta| (meta.dev(), meta.ino())) != Some(self.file),
            error: plan.error.clone(),
        }
    }
}

/// The thread's own.
struct Copy {
    session: Arc<Session>,
    plan: Arc<Mutex<Plan>>,
    raw: File,
    file: Option<File>,
    /// Up to where the region in work has been copied.
    at: Option<u64>,
    plain: Plain,
    agent: String,
}

/// A part of the log to copy.
struct Part {
    from: u64,
    to: u64,
    /// The region ends there.
    last: bool,
    /// Only whole lines: what stands after the last may be the program's prompt.
    lines: bool,
    /// What stands after the last line is the program's prompt.
    prompt: bool,
}

impl Copy {
    fn run(mut self) {
        let watch = self.session.watch();
        // Never cancelled: it ends with what it copies.
        let (_running, never) = bounded(0);
        loop {
            let (front, sealed) = {
                let plan = lock(&self.plan);
                (plan.wanted.front().copied(), plan.sealed)
            };
            let Some(wanted) = front else {
                if sealed {
                    self.filled_by(None);
                    lock(&self.plan).complete = true;
                    return;
                }
                watch.wait(Instant::now() + NEVER, &never);
                continue;
            };
            let part = self.next_part(wanted);
            let over = self.session.state().ending.is_some();
            let Some(part) = part.filter(|part| part.last || part.to > part.from) else {
                if over {
                    return;
                }
                watch.wait(Instant::now() + NEVER, &never);
                continue;
            };
            if let Err(error) = self.copy(&part) {
                self.filled_by(None);
                lock(&self.plan).error = Some(error.to_string());
                return;
            }
            if part.last {
                self.at = None;
                lock(&self.plan).wanted.pop_front();
            }
        }
    }

    /// Notes which file is being filled for the agent, and by whom.
    fn filled_by(&self, file: Option<(String, u32)>) {
        let mut state = self.session.state();
        let agent = state.agents.entry(self.agent.clone()).or_default();
        agent.saving = file;
        drop(state);
        self.session.save();
    }

    fn next_part(&mut self, wanted: Wanted) -> Option<Part> {
        let state = self.session.state();
        let region = wanted.region(&state)?;
        if region.kind == Kind::Input && state.regions.echoing() && region.running() {
            return None;
        }
        let from = self.at.unwrap_or(region.start_offset);
        let end = region.end_offset.unwrap_or(state.offset());
        let to = end.min(from + CHUNK as u64);
        self.at = Some(from);
        Some(Part {
            from,
            to,
            last: !region.running() && to == end,
            lines: region.kind == Kind::Input,
            prompt: region.at_prompt,
        })
    }

    fn copy(&mut self, part: &Part) -> io::Result<()> {
        let mut bytes = vec![0; part.to.saturating_sub(part.from) as usize];
        self.raw.read_exact_at(&mut bytes, part.from)?;
        // The marker of the end had come in part, and was read while the region seemed to go on.
        self.plain
            .unread(part.from.saturating_sub(part.to) as usize);
        self.at = Some(part.to);
        let text = self.plain.push(&bytes, part.lines, part.last, part.prompt);
        if let Some(file) = &mut self.file {
            file.write_all(&text)?;
        }
        lock(&self.plan).bytes += text.len() as u64;
        Ok(())
    }
}
