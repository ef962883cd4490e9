//! All sessions of this server, by name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, UNIX_EPOCH};

use super::follow::Follower;
use super::housekeeper::{Bell, Housekeeper};
use super::meta::How;
use super::{Error, Meta, Session, adopt, ends, recovery, retention};
use crate::proc::Proc;
use crate::store::calls::{Calls, Record};
use crate::store::layout::{Layout, SessionDir};
use crate::store::lock::{self, Lock, Taken};
use crate::store::{self, dir};
use crate::sys::limits;
use crate::tmux::{self, PaneId, Tmux, Version, version};

/// What the server was told at its start.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The state directory.
    pub home: PathBuf,
    /// This program, as panes call it again (tap, launch).
    pub binary: PathBuf,
    pub tmux: PathBuf,
    pub tmux_socket: String,
    /// Bytes of raw.log per session.
    pub log_limit: u64,
    /// Words put before an attach command.
    pub attach_prefix: Vec<String>,
    /// The socket of a server of many clients.
    pub socket: Option<PathBuf>,
    /// We are a service of systemd, and the sessions must not end with it.
    pub apart: bool,
    /// Logs of closed sessions stay for so many days after their last use; 0: for ever.
    pub keep_closed_days: u32,
    /// Takes a line for the server's own log.
    pub log: fn(&str),
}

/// An empty file for its owner alone, also when there was another.
fn emptied(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options
        .open(path)?
        .set_permissions(Permissions::from_mode(0o600))
}

impl Settings {
    /// The command that reads a pane's output into the logs in `dir`; tmux adds the pane's terminal.
    pub(super) fn tap_words(&self, dir: &SessionDir) -> Vec<String> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        vec![
            text(&self.binary),
            "tap".into(),
            text(&dir.path),
            self.log_limit.to_string(),
        ]
    }
}

/// More live sessions than this are refused: each is a process, a tap and two inotify watches.
pub const LIVE_SESSIONS: usize = 200;

#[derive(Debug)]
pub struct Sessions {
    pub settings: Settings,
    pub layout: Layout,
    pub tmux: Tmux,
    pub version: Version,
    pub proc: Proc,
    /// The soft limit on descriptors that we were started with, and that programs get back.
    pub descriptors: u64,
    list: Mutex<BTreeMap<String, Arc<Session>>>,
    /// Ended sessions of earlier servers whose logs nobody has asked for yet.
    closed: Mutex<BTreeMap<String, Meta>>,
    /// Sessions of an earlier server that could not be picked up, and why.
    unreadable: Mutex<Vec<(String, String)>>,
    /// Held while a session is being made, so that two calls cannot take one name.
    pub(super) making: Mutex<()>,
    pub(super) follower: Option<Follower>,
    ends: Option<JoinHandle<()>>,
    panes: OnceLock<JoinHandle<()>>,
    calls: Mutex<Calls>,
    pub(super) bell: Bell,
    /// What is to be done by the clock.
    pub housekeeper: Housekeeper,
    _lock: Lock,
}

impl Sessions {
    /// Opens the state directory: takes its lock, starts following, picks up the sessions of an earlier server.
    pub fn open(settings: Settings) -> Result<Arc<Sessions>, Error> {
        let layout = Layout::new(settings.home.clone());
        dir::private(&layout.root)
            .and_then(|()| dir::private(&layout.sessions()))
            .map_err(|error| {
                Error::Refused(format!(
                    "{error}; set PANEGLASS_HOME to a directory that can be written"
                ))
            })?;
        let lock = Lock::take(&layout.lock(), settings.socket.as_deref()).map_err(|taken| match taken {
            Taken::By(holder) => Error::Refused(format!(
                "the state directory {} is in use by another paneglass server ({}); let one `paneglass serve` serve all clients, end that one, or give this one a PANEGLASS_HOME and a PANEGLASS_SOCKET of its own",
                layout.root.display(),
                lock::name(holder.as_ref())
            )),
            Taken::Failed(error) => Error::Store(error),
        })?;
        let tmux =
            Tmux::new(settings.tmux.clone(), settings.tmux_socket.clone()).apart(settings.apart);
        let version = Version::parse(&tmux.version_text()?);
        if version < version::OLDEST {
            return Err(Error::Refused(format!(
                "{} is tmux {version}; {} or newer is needed (name another with PANEGLASS_TMUX)",
                settings.tmux.display(),
                version::OLDEST
            )));
        }
        // At its descriptor limit a tmux server spins and hangs every client, and it inherits ours.
        let descriptors = limits::descriptors().map(|(soft, _)| soft).unwrap_or(1024);
        let _ = limits::set_descriptors(u64::MAX);
        let (sender, receiver) = crossbeam_channel::unbounded();
        let io = |error| Error::Io("cannot start a thread".into(), error);
        let proc = Proc::new("/proc");
        // Emptied of what earlier servers were told.
        emptied(&layout.panes()).map_err(|error| {
            Error::Io(format!("cannot write {}", layout.panes().display()), error)
        })?;
        let (made, panes_made) = crossbeam_channel::unbounded();
        let follower = Follower::start(sender, &layout.panes(), made).map_err(io)?;
        let again = (tmux.clone(), settings.clone());
        let repair = move |session: &Session| {
            let (tmux, settings) = &again;
            if let Err(error) = tmux.pipe(&session.pane, &settings.tap_words(&session.dir)) {
                session
                    .state()
                    .trouble
                    .get_or_insert_with(|| format!("the log cannot be written on: {error}"));
            }
        };
        let housekeeper = Housekeeper::start().map_err(io)?;
        let bell = housekeeper.bell();
        let ended = bell.clone();
        let ended = move || ended.ring(retention::CHORE);
        let ends = ends::start(tmux.clone(), proc.clone(), receiver, repair, ended).map_err(io)?;
        let calls = Mutex::new(Calls::new(layout.calls(), layout.old_calls()));
        let sessions = Sessions {
            settings,
            layout,
            tmux,
            version,
            proc,
            descriptors,
            list: Mutex::default(),
            closed: Mutex::default(),
            unreadable: Mutex::default(),
            making: Mutex::default(),
            follower: Some(follower),
            ends: Some(ends),
            panes: OnceLock::new(),
            calls,
            bell,
            housekeeper,
            _lock: lock,
        };
        recovery::pick_up(&sessions)?;
        let sessions = Arc::new(sessions);
        let weak = Arc::downgrade(&sessions);
        let panes = std::thread::Builder::new()
            .name("panes".into())
            .spawn(move || adopt::watch(&weak, &panes_made))
            .map_err(io)?;
        let _ = sessions.panes.set(panes);
        Ok(sessions)
    }

    pub(super) fn list(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Session>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ended sessions of earlier servers whose logs nobody has asked for yet, by name.
    pub(in crate::session) fn closed(&self) -> MutexGuard<'_, BTreeMap<String, Meta>> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, without those that another process, or a person, has deleted.
    pub fn still_closed(&self) -> MutexGuard<'_, BTreeMap<String, Meta>> {
        let mut closed = self.closed();
        closed.retain(|name, _| self.layout.session(name).path.exists());
        closed
    }

    /// When a session of `closed` last printed something, in milliseconds since the epoch; 0 when that is not known.
    pub fn last_output_ms(&self, meta: &Meta) -> u64 {
        let changed = std::fs::metadata(self.layout.session(&meta.name).raw())
            .and_then(|raw| raw.modified())
            .ok();
        let since = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        since.map_or(0, |since| since.as_millis() as u64)
    }

    /// Sessions of an earlier server that could not be picked up, and why.
    pub fn unreadable(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        self.unreadable
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn follow(&self, session: &Arc<Session>) {
        if let Some(follower) = &self.follower {
            follower.follow(session);
        }
    }

    /// Every session of this server and every live one, by name; `still_closed` has the others.
    pub fn all(&self) -> Vec<Arc<Session>> {
        let mut all: Vec<Arc<Session>> = self.list().values().cloned().collect();
        all.retain(|session| !self.deleted(session));
        all
    }

    /// What every session is, with how it ended, also those of earlier servers.
    pub fn metas(&self) -> Vec<Meta> {
        let now = |session: &Arc<Session>| Meta {
            end: session.state().ending,
            ..session.meta.clone()
        };
        // Read first: one that is opened meanwhile is in both then, not in neither.
        let closed: Vec<Meta> = self.still_closed().values().cloned().collect();
        let mut metas: Vec<Meta> = self.all().iter().map(now).collect();
        let known: BTreeSet<String> = metas.iter().map(|meta| meta.name.clone()).collect();
        metas.extend(
            closed
                .into_iter()
                .filter(|meta| !known.contains(&meta.name)),
        );
        metas
    }

    /// Names of sessions that live.
    pub fn live_names(&self) -> Vec<String> {
        self.all()
            .iter()
            .filter(|session| session.state().ending.is_none())
            .map(|session| session.name.clone())
            .collect()
    }

    /// A session by name, live or ended.
    pub fn get(&self, name: &str) -> Result<Arc<Session>, Error> {
        let found = self.list().get(name).cloned();
        if let Some(session) = found.filter(|session| !self.deleted(session)) {
            return Ok(session);
        }
        if let Some(session) = self.open_closed(name)? {
            return Ok(session);
        }
        let live = self.live_names();
        let known = match live.as_slice() {
            [] => "no session is open: `session_create` makes one".to_string(),
            names => format!("open sessions: {}", names.join(", ")),
        };
        let missing = self.retention().missing(name);
        Err(Error::NoSession(format!("{missing}; {known}")))
    }

    /// Reads the log of an ended session that nobody has asked for yet.
    fn open_closed(&self, name: &str) -> Result<Option<Arc<Session>>, Error> {
        // Two calls must not both read it; and a name that is being taken is in neither list.
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = self.list().get(name) {
            return Ok(Some(session.clone()));
        }
        let Some(meta) = self.closed().get(name).cloned() else {
            return Ok(None);
        };
        let dir = self.layout.session(name);
        // Another process, or a person, has deleted it.
        if !dir.path.exists() {
            self.closed().remove(name);
            return Ok(None);
        }
        let session = recovery::open(meta, dir)?;
        self.list().insert(name.to_string(), session.clone());
        self.closed().remove(name);
        Ok(Some(session))
    }

    /// Removes a session's pane, unless its id is another's by now: a tmux that was started anew counts from the
    /// start.
    pub(super) fn kill_pane(&self, pane: &PaneId, tag: &str) -> Result<(), Error> {
        match self.tmux.pane(pane)? {
            Some(info) if info.tag == tag => Ok(self.tmux.kill(pane)?),
            _ => Ok(()),
        }
    }

    /// True when a closed session's folder has gone: another process, or a person, has deleted it.
    fn deleted(&self, session: &Session) -> bool {
        let gone = session.state().ending.is_some() && !session.dir.path.exists();
        if gone {
            self.list().remove(&session.name);
        }
        gone
    }

    /// The same, for what needs a living one.
    pub fn get_live(&self, name: &str) -> Result<Arc<Session>, Error> {
        let session = self.get(name)?;
        let ending = session.state().ending;
        match ending {
            None => Ok(session),
            Some(ending) => {
                let how = match (ending.how, ending.status, ending.signal) {
                    (How::Closed, ..) => "was closed".to_string(),
                    (How::Gone, ..) => {
                        "is gone: its pane was removed from outside, or tmux ended".to_string()
                    }
                    (How::Exited, Some(status), _) => {
                        format!("is over: its program ended with exit status {status}")
                    }
                    (How::Exited, _, Some(signal)) => {
                        format!("is over: its program was ended by signal {signal}")
                    }
                    (How::Exited, ..) => "is over: its program ended".to_string(),
                };
                let live = self.live_names().join(", ");
                let live = if live.is_empty() {
                    "none is open".to_string()
                } else {
                    format!("open sessions: {live}")
                };
                Err(Error::Refused(format!(
                    "session {name:?} {how}; its log can still be read and searched; {live}"
                )))
            }
        }
    }

    /// Ends the session's pane and what runs in it; its logs stay.
    pub fn close(&self, session: &Arc<Session>) -> Result<(), Error> {
        let watch = session.watch();
        let ending = {
            let mut state = session.state();
            state.closing = true;
            state.ending
        };
        self.kill_pane(&session.pane, &session.meta.nonce)?;
        if let Some(ending) = ending {
            // Its program had ended; only the pane that showed its last screen goes.
            session.end(super::Ending {
                how: How::Closed,
                ..ending
            });
        } else {
            let (_never, cancel) = crossbeam_channel::bounded(0);
            let deadline = Instant::now() + Duration::from_secs(10);
            while session.state().ending.is_none()
                && watch.wait(deadline, &cancel) == super::watch::Woken::Changed
            {}
        }
        if let Some(follower) = &self.follower {
            follower.forget(session);
        }
        self.after_close(&session.name)
    }

    /// Ends the session's pane, and its logs go as well.
    pub fn discard(&self, session: &Arc<Session>) -> Result<(), Error> {
        self.close(session)?;
        self.delete(session);
        Ok(())
    }

    fn delete(&self, session: &Session) {
        let _ = store::present(std::fs::remove_dir_all(&session.dir.path));
        self.list().remove(&session.name);
    }

    /// The panes of our tmux server, for what only tmux knows (size, people attached).
    pub fn panes(&self) -> Result<Vec<tmux::Info>, Error> {
        Ok(self.tmux.panes()?)
    }

    /// Writes a call down. A log that cannot be written is no reason to fail a call that has been made.
    pub fn record(&self, record: &Record<'_>) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = calls.append(record);
    }

    pub(super) fn meta_of(&self, name: &str) -> Result<Option<Meta>, store::Error> {
        Meta::read(&self.layout.session(name).meta())
    }
}

/// How long the end of the server waits for a thread that asks tmux about an ended session: a tmux that hangs must
/// not keep it.
const LEAVING: Duration = Duration::from_secs(1);

impl Drop for Sessions {
    fn drop(&mut self) {
        // The follower holds the channel that the ends thread waits on.
        self.follower = None;
        for session in self.all() {
            let mut state = session.state();
            if state.ending.is_none() && state.checkpoint.due_at_end(state.offset()) {
                state.write_checkpoint();
            }
        }
        let Some(ends) = self.ends.take() else { return };
        let deadline = Instant::now() + LEAVING;
        while !ends.is_finished() {
            if Instant::now() >= deadline {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = ends.join();
        // The thread itself may hold the last of us, and then ends by itself.
        if let Some(panes) = self.panes.take() {
            if panes.thread().id() != std::thread::current().id() {
                let _ = panes.join();
            }
        }
    }
}
