//! Panes that a person makes with tmux's own keys in a window of ours: each becomes a session, logged from then on.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, PoisonError, Weak};

use crossbeam_channel::Receiver;

use super::registry::LIVE_SESSIONS;
use super::{Error, Meta, Session, Sessions, meta, now_ms};
use crate::proc::Pid;
use crate::store::{atomic, dir};
use crate::sys::{passwd, random};
use crate::tmux::{Info, News};

/// Any number that no person would take for a hook of theirs; each state directory has one of its own.
const SLOTS: u32 = 1_000_000;

/// Takes over panes as they are made, until the follower has ended or the sessions are gone.
pub(super) fn watch(sessions: &Weak<Sessions>, made: &Receiver<()>) {
    while made.recv().is_ok() {
        // One look finds all that were made meanwhile.
        while made.try_recv().is_ok() {}
        let Some(sessions) = sessions.upgrade() else {
            return;
        };
        sessions.look_for_panes();
    }
}

/// Who made an adopted pane.
const PERSON: &str = "a person";

impl Sessions {
    /// Where tmux is to tell of new panes.
    pub(super) fn news(&self) -> News {
        let file = self.layout.panes();
        let mut hash = DefaultHasher::new();
        file.hash(&mut hash);
        News {
            slot: SLOTS + (hash.finish() % u64::from(SLOTS)) as u32,
            file: file.to_string_lossy().into_owned(),
        }
    }

    /// Looks for new panes and takes them over.
    pub fn look_for_panes(&self) {
        if let Ok(panes) = self.tmux.panes() {
            self.take_over_panes(&panes);
        }
    }

    /// Takes over those of `panes` that stand in a window or session of ours and belong to nobody yet.
    pub fn take_over_panes(&self, panes: &[Info]) {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let ours = self.all();
        for info in panes
            .iter()
            .filter(|info| info.tag.is_empty() && !info.dead)
        {
            let beside = panes.iter().find_map(|other| {
                let same = other.session == info.session && !other.tag.is_empty();
                ours.iter().filter(|_| same).find(|session| {
                    session.pane == other.pane
                        && session.meta.nonce == other.tag
                        && session.state().ending.is_none()
                })
            });
            // Taken over since `panes` was asked for.
            let known = |session: &&Arc<Session>| {
                session.pane == info.pane && session.state().ending.is_none()
            };
            if ours.iter().any(|session| known(&session)) {
                continue;
            }
            let Some(window) = beside.map(|session| session.window()) else {
                continue;
            };
            // What cannot be taken over stays what it was: a pane of the person's.
            if self.live_names().len() < LIVE_SESSIONS {
                let _ = self.take_over(info, window);
            }
        }
    }

    fn take_over(&self, info: &Info, window: &str) -> Result<(), Error> {
        let name = self.name_within(window);
        let dir = self.layout.session(&name);
        let nonce =
            random::hex(16).map_err(|error| Error::Io("no random numbers".into(), error))?;
        let made = (|| {
            dir::private(&dir.path)?;
            // An empty seed tells the tap to wait for what it is going to be.
            for path in [dir.raw(), dir.times(), dir.seed()] {
                atomic::replace(&path, b"")?;
            }
            let (info, shown) =
                self.tmux
                    .take_over(&info.pane, &nonce, &self.settings.tap_words(&dir))?;
            atomic::replace(&dir.seed(), &shown)?;
            let meta = Meta {
                format: meta::FORMAT,
                name: name.clone(),
                agent: PERSON.into(),
                created: now_ms(),
                command: self.command_of(info.pid),
                integrated: None,
                nonce,
                cwd: self.proc.cwd(Pid(info.pid)).unwrap_or_else(|| "/".into()),
                cols: info.cols,
                rows: info.rows,
                fixed_size: false,
                prompt_pattern: None,
                delete_logs_on_close: false,
                host: passwd::hostname(),
                tmux_socket: self.settings.tmux_socket.clone(),
                tmux_tmpdir: std::env::var("TMUX_TMPDIR").ok(),
                tmux_version: self.version.to_string(),
                pane: info.pane.0.clone(),
                pid: info.pid,
                tty: info.tty,
                window: Some(window.to_string()),
                adopted: true,
                end: None,
                program: None,
            };
            self.begin(meta, &dir)
        })();
        if made.is_err() {
            let _ = std::fs::remove_dir_all(&dir.path);
        }
        made.map(drop)
    }

    /// A process's command line, as a person would write it.
    fn command_of(&self, pid: i32) -> String {
        let words = self.proc.cmdline(Pid(pid));
        let words: Vec<_> = words
            .iter()
            .map(|word| String::from_utf8_lossy(word))
            .collect();
        words.join(" ")
    }
}
