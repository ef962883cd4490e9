//! All sessions of this server, by name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::follow::Follower;
use super::housekeeper::{Bell, Housekeeper};
use super::meta::How;
use super::{Error, Meta, Session, ends, recovery, retention};
use crate::proc::Proc;
use crate::store::layout::{Layout, SessionDir};
use crate::store::lock::{Lock, Taken};
use crate::store::{self, dir};
use crate::sys::limits;
use crate::tmux::{self, Tmux, Version, version};

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
    /// Logs of closed sessions stay for so many days after their last use; 0: for ever.
    pub keep_closed_days: u32,
    /// Takes a line for the server's own log.
    pub log: fn(&str),
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
    /// Sessions of an earlier server that could not be picked up, and why.
    unreadable: Mutex<Vec<(String, String)>>,
    /// Held while a session is being made, so that two calls cannot take one name.
    pub(super) making: Mutex<()>,
    pub(super) follower: Option<Follower>,
    ends: Option<JoinHandle<()>>,
    pub(super) bell: Bell,
    /// What is to be done by the clock.
    pub housekeeper: Housekeeper,
    _lock: Lock,
}

impl Sessions {
    /// Opens the state directory: takes its lock, starts following, picks up the sessions of an earlier server.
    pub fn open(settings: Settings) -> Result<Sessions, Error> {
        let layout = Layout::new(settings.home.clone());
        dir::private(&layout.root)?;
        dir::private(&layout.sessions())?;
        let lock = Lock::take(&layout.lock()).map_err(|taken| match taken {
            Taken::By(holder) => Error::Refused(format!(
                "the state directory {} is in use by another paneglass server ({holder}); end that one, or give this one a PANEGLASS_HOME and a PANEGLASS_SOCKET of its own",
                layout.root.display()
            )),
            Taken::Failed(error) => Error::Store(error),
        })?;
        let tmux = Tmux::new(settings.tmux.clone(), settings.tmux_socket.clone());
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
        let follower = Follower::start(sender).map_err(io)?;
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
        let sessions = Sessions {
            settings,
            layout,
            tmux,
            version,
            proc,
            descriptors,
            list: Mutex::default(),
            unreadable: Mutex::default(),
            making: Mutex::default(),
            follower: Some(follower),
            ends: Some(ends),
            bell,
            housekeeper,
            _lock: lock,
        };
        recovery::pick_up(&sessions)?;
        Ok(sessions)
    }

    pub(super) fn list(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Session>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Every session whose logs are there, live or not, by name.
    pub fn all(&self) -> Vec<Arc<Session>> {
        let mut all: Vec<Arc<Session>> = self.list().values().cloned().collect();
        all.retain(|session| !self.deleted(session));
        all
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
        let live = self.live_names();
        let known = match live.as_slice() {
            [] => "no session is open: `session_create` makes one".to_string(),
            names => format!("open sessions: {}", names.join(", ")),
        };
        let gone = match self.retention().removed(name) {
            Some(removed) => format!("; {removed}"),
            None => String::new(),
        };
        Err(Error::Refused(format!(
            "there is no session {name:?}{gone}; {known}"
        )))
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
        self.tmux.kill(&session.pane)?;
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

    /// The panes of our tmux server, for what only tmux knows (size, people attached).
    pub fn panes(&self) -> Result<Vec<tmux::Info>, Error> {
        Ok(self.tmux.panes()?)
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
        let Some(ends) = self.ends.take() else { return };
        let deadline = Instant::now() + LEAVING;
        while !ends.is_finished() {
            if Instant::now() >= deadline {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = ends.join();
    }
}
