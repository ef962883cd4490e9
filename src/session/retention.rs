//! How long the logs of closed sessions stay: what is deleted when, and what a later reader is told of it.
//!
//! Works on the folders alone, so that the command line does without a server. Only the server that made a session
//! may call it closed: a home on NFS is seen from every host, and a server under another TMUX_TMPDIR does not see
//! this one's tmux.

mod chore;
mod words;

pub use chore::CHORE;

use serde::{Deserialize, Serialize};

use super::meta::How;
use super::names::known_name;
use super::{Error, Meta, now_ms};
use crate::proc::{Pid, Proc};
use crate::store::layout::{Layout, SessionDir};
use crate::store::records::{self, Records};
use crate::store::{self, atomic, marker};
use crate::tmux::Tmux;

const DAY: u64 = 24 * 60 * 60 * 1000;

/// A deletion is remembered for so many days.
const REMEMBERED_DAYS: u64 = 30;

/// What is to become of a session's logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Keep,
    Default,
    DeleteOnClose,
    Delete,
}

/// What decides over one session's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Facts {
    /// It was made by a server of this host and tmux socket.
    ours: bool,
    /// It has no pane, nor any process that would hold one.
    closed: bool,
    keep: bool,
    on_close: bool,
    /// When anything in it was last written or read, in milliseconds since the epoch.
    used: u64,
}

/// What becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its pane is there. `on_close`: its logs go with it.
    Open {
        on_close: bool,
    },
    /// Another host's or another tmux socket's: not ours to judge.
    Elsewhere,
    Kept,
    /// Closed, and nothing is deleted for its age.
    Forever,
    /// It goes then, in milliseconds since the epoch, unless somebody uses it before.
    Until(u64),
    Due(Why),
}

/// Why logs are deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    Unused {
        days: u32,
    },
    OnClose,
    /// Somebody asked for it.
    Asked(String),
}

/// When logs have not been used for so many days.
fn unused_at(used: u64, days: u32) -> u64 {
    used.saturating_add(u64::from(days) * DAY)
}

fn fate(facts: Facts, days: u32, now: u64) -> Fate {
    let until = unused_at(facts.used, days);
    match facts {
        Facts {
            ours: false,
            closed: false,
            ..
        } => Fate::Elsewhere,
        Facts {
            closed: false,
            on_close,
            ..
        } => Fate::Open { on_close },
        Facts { keep: true, .. } => Fate::Kept,
        Facts { on_close: true, .. } => Fate::Due(Why::OnClose),
        _ if days == 0 => Fate::Forever,
        _ if now >= until => Fate::Due(Why::Unused { days }),
        _ => Fate::Until(until),
    }
}

/// A session's folder: a session's own, or the logs of an earlier one of its name (`NAME.1`).
#[derive(Clone, Debug)]
pub struct Stored {
    pub folder: String,
    pub fate: Fate,
    /// The markers.
    pub keep: bool,
    pub on_close: bool,
    /// When anything in it was last written or read, in milliseconds since the epoch.
    used: u64,
    meta: Meta,
}

impl Stored {
    /// When it was made, in milliseconds since the epoch.
    pub fn created(&self) -> u64 {
        self.meta.created
    }

    /// When it goes, in milliseconds since the epoch; passed for what goes with the next sweep. None for what stays
    /// as things are.
    pub fn expires(&self) -> Option<u64> {
        match self.fate {
            Fate::Until(ms) => Some(ms),
            Fate::Due(Why::Unused { days }) => Some(unused_at(self.used, days)),
            Fate::Due(_) => Some(self.used),
            Fate::Open { .. } | Fate::Elsewhere | Fate::Kept | Fate::Forever => None,
        }
    }
}

/// A deletion, as removed.jsonl remembers it. Times are milliseconds since the epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    pub session: String,
    pub created: u64,
    pub deleted: u64,
    pub why: String,
}

/// The rules, and where they are applied.
#[derive(Clone, Debug)]
pub struct Retention {
    pub layout: Layout,
    pub tmux: Tmux,
    pub proc: Proc,
    /// Closed sessions stay for so many days after their last use; 0: for ever.
    pub days: u32,
}

impl Retention {
    /// Every session's folder and what becomes of it, by name. Asks tmux once, after the folders: a session that is
    /// made meanwhile is not among them.
    pub fn stored(&self) -> Result<Vec<Stored>, Error> {
        self.look(self.folders()?)
    }

    /// One folder; `None` when there is none of that name.
    pub fn find(&self, folder: &str) -> Result<Option<Stored>, Error> {
        if !is_folder(folder) {
            return Ok(None);
        }
        Ok(self.look(vec![folder.to_string()])?.pop())
    }

    fn folders(&self) -> Result<Vec<String>, Error> {
        let mut folders = self.entries()?;
        folders.retain(|folder| is_folder(folder));
        folders.sort();
        Ok(folders)
    }

    fn entries(&self) -> Result<Vec<String>, Error> {
        let path = self.layout.sessions();
        let entries =
            store::present(std::fs::read_dir(&path)).map_err(store::Error::at("read", &path))?;
        let entries = entries.into_iter().flatten();
        Ok(entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect())
    }

    fn look(&self, folders: Vec<String>) -> Result<Vec<Stored>, Error> {
        let mut metas = Vec::new();
        for folder in folders {
            // What is not a session's, or is only being made, is left alone.
            if let Some(meta) = Meta::read(&self.layout.session(&folder).meta())? {
                metas.push((folder, meta));
            }
        }
        if metas.is_empty() {
            return Ok(Vec::new());
        }
        let panes = self.tmux.panes()?;
        let now = now_ms();
        let stored = metas.into_iter().map(|(folder, meta)| {
            let dir = self.layout.session(&folder);
            let ours = meta.is_of(self.tmux.socket());
            let closed = if ours {
                let pane = panes.iter().any(|info| info.tag == meta.nonce);
                !pane && !self.launcher_lives(&meta, &dir)
            } else {
                meta.end.is_some_and(|end| end.how == How::Closed)
            };
            let facts = Facts {
                ours,
                closed,
                keep: marker::is_set(&dir.keep()),
                on_close: marker::is_set(&dir.delete_on_close()),
                used: used(&dir),
            };
            Stored {
                fate: fate(facts, self.days, now),
                keep: facts.keep,
                on_close: facts.on_close,
                used: facts.used,
                folder,
                meta,
            }
        });
        Ok(stored.collect())
    }

    /// A tmux server whose socket somebody has deleted answers nobody, and its panes live on: so do their
    /// launchers, which have the folder as their argument.
    fn launcher_lives(&self, meta: &Meta, dir: &SessionDir) -> bool {
        let path = dir.path.to_string_lossy();
        self.proc
            .cmdline(Pid(meta.pid))
            .iter()
            .any(|argument| argument == path.as_bytes())
    }

    /// Deletes a folder if it is still as `due` found it; looks once more just before.
    pub fn remove(&self, due: &Stored, why: &Why) -> Result<Option<Removed>, Error> {
        let asked = matches!(why, Why::Asked(_));
        let still = self.find(&due.folder)?.is_some_and(|now| {
            now.meta.nonce == due.meta.nonce
                && match now.fate {
                    Fate::Due(_) => true,
                    Fate::Kept | Fate::Forever | Fate::Until(_) => asked,
                    Fate::Open { .. } | Fate::Elsewhere => false,
                }
        });
        if !still {
            return Ok(None);
        }
        let dir = self.layout.session(&due.folder);
        let aside = self.layout.deleting(&due.folder);
        // Half of a folder must never stand under a session's name.
        match store::present(std::fs::rename(&dir.path, &aside)) {
            Ok(None) => return Ok(None),
            Ok(Some(())) => {}
            Err(error) => return Err(store::Error::at("delete", &dir.path)(error).into()),
        }
        let removed = Removed {
            session: due.folder.clone(),
            created: due.meta.created,
            deleted: now_ms(),
            why: why.to_string(),
        };
        Records::open(&self.layout.removed())?.append(&removed)?;
        clear(&aside)?;
        Ok(Some(removed))
    }

    /// The newest deletion of a session of this name.
    pub fn removed(&self, name: &str) -> Option<Removed> {
        let (all, _): (Vec<Removed>, u64) = records::read(&self.layout.removed(), 0).ok()?;
        all.into_iter()
            .rev()
            .find(|removed| removed.session == name)
    }

    /// Deletes what is due and returns what has gone, each with the rule that it fell under. One folder that cannot
    /// be deleted does not keep the others.
    pub fn sweep(&self) -> Result<Vec<Removed>, Error> {
        self.finish()?;
        self.forget_old()?;
        self.remove_all(self.stored()?)
    }

    /// The same for logs that go with their session, without a look at any other.
    fn sweep_on_close(&self) -> Result<Vec<Removed>, Error> {
        let mut folders = self.folders()?;
        folders.retain(|folder| marker::is_set(&self.layout.session(folder).delete_on_close()));
        self.remove_all(self.look(folders)?)
    }

    /// What a sweep would delete now, each with the rule that it falls under.
    pub fn due(&self) -> Result<Vec<(Stored, Why)>, Error> {
        Ok(due(self.stored()?).collect())
    }

    fn remove_all(&self, stored: Vec<Stored>) -> Result<Vec<Removed>, Error> {
        let mut removed = Vec::new();
        let mut failed = None;
        for (stored, why) in due(stored) {
            match self.remove(&stored, &why) {
                Ok(gone) => removed.extend(gone),
                Err(error) => failed = Some(error),
            }
        }
        match failed.filter(|_| removed.is_empty()) {
            Some(error) => Err(error),
            None => Ok(removed),
        }
    }

    /// Ends the deletions that an earlier server began and did not live to end.
    fn finish(&self) -> Result<(), Error> {
        for name in self.entries()? {
            let Some(folder) = Layout::deleted(&name) else {
                continue;
            };
            let aside = self.layout.deleting(folder);
            let created = Meta::read(
                &SessionDir {
                    path: aside.clone(),
                }
                .meta(),
            )?
            .map_or(0, |meta| meta.created);
            let told = self.removed(folder);
            if told.is_none_or(|told| created > 0 && told.created != created) {
                Records::open(&self.layout.removed())?.append(&Removed {
                    session: folder.to_string(),
                    created,
                    deleted: now_ms(),
                    why: "a server that has ended was deleting them".into(),
                })?;
            }
            clear(&aside)?;
        }
        Ok(())
    }

    fn forget_old(&self) -> Result<(), Error> {
        let path = self.layout.removed();
        let (all, _): (Vec<Removed>, u64) = records::read(&path, 0)?;
        let since = now_ms().saturating_sub(REMEMBERED_DAYS * DAY);
        if all.iter().all(|removed| removed.deleted >= since) {
            return Ok(());
        }
        let lines = all.iter().filter(|removed| removed.deleted >= since);
        let lines = lines.filter_map(|removed| serde_json::to_string(removed).ok());
        let text: String = lines.map(|line| line + "\n").collect();
        Ok(atomic::replace(&path, text.as_bytes())?)
    }

    /// Does what somebody asks for with a session's logs.
    pub fn apply(&self, folder: &str, action: Action, who: &str) -> Result<Outcome, Error> {
        let Some(stored) = self.find(folder)? else {
            return Err(Error::NoSession(self.missing(folder)));
        };
        let dir = self.layout.session(folder);
        let (keep, on_close) = match action {
            Action::Keep => (true, false),
            Action::Default => (false, false),
            Action::DeleteOnClose => (false, true),
            Action::Delete => {
                let why = Why::Asked(who.into());
                return match self.remove(&stored, &why)? {
                    Some(removed) => Ok(Outcome::Removed(removed)),
                    None if stored.fate == Fate::Elsewhere => Err(Error::Refused(format!(
                        "session {folder:?} is one of host {}, on tmux socket {}: only from there can it be told whether it is closed; nothing was deleted",
                        stored.meta.host, stored.meta.tmux_socket
                    ))),
                    None => Err(Error::Refused(format!(
                        "session {folder:?} is open; close it first, or have its logs deleted when it closes (delete_on_close); nothing was deleted"
                    ))),
                };
            }
        };
        for (wanted, path) in [(keep, dir.keep()), (on_close, dir.delete_on_close())] {
            if wanted {
                marker::set(&path)?;
            } else {
                marker::clear(&path)?;
            }
        }
        let now = self.find(folder)?.unwrap_or(stored);
        Ok(Outcome::Marked(Box::new(now)))
    }
}

/// What came of a request.
#[derive(Clone, Debug)]
pub enum Outcome {
    Marked(Box<Stored>),
    Removed(Removed),
}

fn due(stored: Vec<Stored>) -> impl Iterator<Item = (Stored, Why)> {
    stored.into_iter().filter_map(|stored| match &stored.fate {
        Fate::Due(why) => {
            let why = why.clone();
            Some((stored, why))
        }
        _ => None,
    })
}

/// Deletes a folder and all in it; one that another process has deleted meanwhile is no error.
fn clear(path: &std::path::Path) -> Result<(), Error> {
    store::present(std::fs::remove_dir_all(path)).map_err(store::Error::at("delete", path))?;
    Ok(())
}

/// A session's name, or such a name with a number: NAME.1.
fn is_folder(text: &str) -> bool {
    match text.split_once('.') {
        None => known_name(text),
        Some((name, number)) => {
            let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            known_name(name) && digits
        }
    }
}

/// When anything in the folder was last written or read.
fn used(dir: &SessionDir) -> u64 {
    let dates = dir.dated();
    let latest = dates.iter().filter_map(|path| marker::dated(path)).max();
    latest.unwrap_or_else(now_ms)
}

#[cfg(test)]
mod tests;
