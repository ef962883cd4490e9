//! All devices of a server: who they are, which are online, and what runs on them. Must not know MCP, nor what text an
//! agent reads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::Error;
use super::changes::Changes;
use super::frame::{Action, Bytes, Down, Info, LINE, PIECE, Spec};
use super::groups::{Group, Groups, Invited};
use super::job::{Job, Kind};
use super::link::{Link, Timing};
use super::secret::Secret;
use crate::sys::random;

/// Sessions that are kept of one token.
pub const SESSIONS: usize = 6;

/// What is to run fits into a frame with all that is round it, in bytes.
const SPEC: usize = LINE - 1024;

/// Bytes of the number that tells the sessions of one start of the server from those of the next.
const INSTANCE_BYTES: usize = 4;

/// What a device is told that is not to come again.
const REVOKED: &str = "its access was revoked";

/// The devices of a server.
pub struct Hub {
    /// In the ids of this server's sessions.
    instance: String,
    pub(super) timing: Timing,
    state: Mutex<State>,
    /// One session begins after another, so that no more are kept than there is room for.
    starting: Mutex<()>,
    /// Devices have come or gone.
    pub changes: Changes,
}

struct State {
    groups: Groups,
    links: BTreeMap<String, Arc<Link>>,
    sessions: Vec<Arc<Job>>,
    last: u64,
    stopped: bool,
}

/// A device that is online, for its group.
#[derive(Clone, Debug)]
pub struct Client {
    pub client_id: String,
    pub info: Info,
    /// Milliseconds since the epoch.
    pub connected: u64,
    pub round_trip: Option<Duration>,
}

/// A device, for the user of the server's machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Known {
    pub client_id: String,
    pub info: Info,
    /// Seconds since the epoch.
    pub joined: u64,
    pub online: bool,
    /// Milliseconds.
    pub round_trip: Option<u64>,
    pub running: usize,
}

impl Hub {
    /// The devices that `path` tells of.
    pub fn open(path: PathBuf) -> Result<Hub, Error> {
        Hub::with(path, Timing::default())
    }

    pub(super) fn with(path: PathBuf, timing: Timing) -> Result<Hub, Error> {
        Ok(Hub {
            instance: random::hex(INSTANCE_BYTES)?,
            timing,
            state: Mutex::new(State {
                groups: Groups::read(path)?,
                links: BTreeMap::new(),
                sessions: Vec::new(),
                last: 0,
                stopped: false,
            }),
            starting: Mutex::default(),
            changes: Changes::default(),
        })
    }

    /// A new group, with an invitation for so many seconds.
    pub fn invite(&self, multi: bool, seconds: u64) -> Result<Invited, Error> {
        self.state().groups.invite(multi, seconds, now())
    }

    /// The key of the group that a token opens.
    pub fn group(&self, token: &str) -> Result<String, Error> {
        let state = self.state();
        let group = state.groups.by_token(&Secret::shown(token));
        group
            .map(|group| group.key().to_owned())
            .ok_or(Error::Token)
    }

    /// The group's devices that are online.
    pub fn clients(&self, group: &str) -> Vec<Client> {
        let state = self.state();
        let links = state.links.values().filter(|link| link.group == group);
        let client = |link: &Arc<Link>| Client {
            client_id: link.client_id.clone(),
            info: link.info.clone(),
            connected: link.connected,
            round_trip: link.round_trip(),
        };
        links.map(client).collect()
    }

    /// Every device that has joined.
    pub fn known(&self) -> Vec<Known> {
        let state = self.state();
        let running = |id: &str| {
            let of_it = state.sessions.iter().filter(|job| job.client_id == id);
            of_it.filter(|job| job.ended().is_none()).count()
        };
        let members = state.groups.all().iter().flat_map(|group| &group.members);
        let known = |member: &super::groups::Member| {
            let link = state.links.get(&member.client_id);
            Known {
                client_id: member.client_id.clone(),
                info: member.info.clone(),
                joined: member.joined,
                online: link.is_some(),
                round_trip: link
                    .and_then(|link| link.round_trip())
                    .map(|time| time.as_millis() as u64),
                running: running(&member.client_id),
            }
        };
        members.map(known).collect()
    }

    /// Has a command run; its end comes with its job.
    pub fn execute(
        &self,
        group: &str,
        client: Option<&str>,
        spec: Spec,
    ) -> Result<Arc<Job>, Error> {
        let link = self.link(group, client)?;
        self.begin(Kind::Command, &link, String::new(), spec)
    }

    /// Has somebody's reach begun, on any device.
    pub(super) fn reach(&self, client: &str, spec: Spec) -> Result<(Arc<Link>, Arc<Job>), Error> {
        let link = {
            let state = self.state();
            let link = state.links.get(client).cloned();
            link.ok_or_else(|| match state.group_of(client) {
                Some(_) => Error::Away(client.into()),
                None => Error::Unknown(client.into()),
            })?
        };
        let job = self.begin(Kind::Reach, &link, String::new(), spec)?;
        Ok((link, job))
    }

    /// Begins a session.
    pub fn start(&self, group: &str, client: Option<&str>, spec: Spec) -> Result<Arc<Job>, Error> {
        let link = self.link(group, client)?;
        let _turn = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        let id = {
            let mut state = self.state();
            state.make_room(group)?;
            state.last += 1;
            format!("{}-{}", self.instance, state.last)
        };
        let job = self.begin(Kind::Session, &link, id, spec)?;
        self.state().sessions.push(Arc::clone(&job));
        Ok(job)
    }

    fn begin(
        &self,
        kind: Kind,
        link: &Arc<Link>,
        id: String,
        spec: Spec,
    ) -> Result<Arc<Job>, Error> {
        let whole = serde_json::to_vec(&spec).map_err(std::io::Error::from)?;
        if whole.len() > SPEC {
            let told = "the command and its environment are too long to be sent to a device";
            return Err(Error::Refused(told.into()));
        }
        let command = spec.command.clone().unwrap_or_default();
        let job = Job::new(kind, id, &link.group, &link.client_id, &command, now_ms());
        let job = Arc::new(job);
        link.start(&job, spec)?;
        Ok(job)
    }

    /// The group's sessions, by their start.
    pub fn sessions(&self, group: &str) -> Vec<Arc<Job>> {
        let mut state = self.state();
        state.sweep();
        let sessions = state.sessions.iter().filter(|job| job.group == group);
        sessions.cloned().collect()
    }

    /// One of the group's sessions.
    pub fn session(&self, group: &str, id: &str) -> Result<Arc<Job>, Error> {
        let sessions = self.sessions(group);
        let found = sessions.into_iter().find(|job| job.id == id);
        found.ok_or_else(|| match id.split_once('-') {
            Some((instance, _))
                if instance.len() == self.instance.len() && instance != self.instance =>
            {
                Error::Earlier(id.into())
            }
            _ => Error::Session(id.into()),
        })
    }

    /// Types into a session. Longer input than a frame holds goes in pieces, each acknowledged.
    pub fn input(&self, job: &Arc<Job>, text: &str) -> Result<(), Error> {
        let (link, id) = self.running(job)?;
        for piece in text.as_bytes().chunks(PIECE) {
            let data = Bytes(piece.to_vec());
            link.ask(|number| Down::Input { id, number, data })?;
        }
        Ok(())
    }

    /// Does something to what runs; returns once the device has said that it did.
    pub fn control(&self, job: &Arc<Job>, action: Action) -> Result<(), Error> {
        let (link, id) = self.running(job)?;
        link.ask(|number| Down::Control { id, number, action })
    }

    /// Asks the device to end what runs, and does not wait.
    pub fn cancel(&self, job: &Arc<Job>) {
        if let Ok((link, id)) = self.running(job) {
            link.tell(&Down::Control {
                id,
                number: 0,
                action: Action::Stop,
            });
        }
    }

    fn running(&self, job: &Arc<Job>) -> Result<(Arc<Link>, u64), Error> {
        let link = self.state().links.get(&job.client_id).cloned();
        let found = link.and_then(|link| link.number(job).map(|id| (link, id)));
        found.ok_or_else(|| Error::Ended(job.id.clone()))
    }

    /// Forgets a group, or one device of it: nothing that it was let in by works any more, and it is disconnected.
    pub fn revoke(&self, group: &str, client: Option<&str>) -> Result<Vec<String>, Error> {
        let (gone, links) = {
            let mut state = self.state();
            let gone = state.groups.revoke(group, client)?;
            if let (Some(client), true) = (client, gone.is_empty()) {
                return Err(Error::Device(client.into()));
            }
            let links: Vec<_> = gone
                .iter()
                .filter_map(|id| state.links.remove(id))
                .collect();
            if client.is_none() {
                state.sessions.retain(|job| job.group != group);
            }
            (gone, links)
        };
        for link in links {
            link.close(Some(REVOKED));
        }
        self.changes.tell();
        Ok(gone)
    }

    /// The same for a device of any group.
    pub fn revoke_device(&self, client: &str) -> Result<(), Error> {
        let group = self.state().group_of(client);
        let group = group.ok_or_else(|| Error::Unknown(client.into()))?;
        self.revoke(&group, Some(client)).map(drop)
    }

    /// The device that is meant: the group's only one where none is named.
    fn link(&self, group: &str, client: Option<&str>) -> Result<Arc<Link>, Error> {
        let state = self.state();
        let known = state.groups.by_key(group).ok_or(Error::Token)?;
        let id = match (client, known.members.as_slice()) {
            (Some(id), members) => {
                let member = members.iter().find(|member| member.client_id == id);
                &member.ok_or_else(|| Error::Device(id.into()))?.client_id
            }
            (None, _) if known.multi => return Err(Error::Unnamed),
            (None, [only]) => &only.client_id,
            (None, _) => return Err(Error::Nobody),
        };
        let link = state.links.get(id).cloned();
        link.ok_or_else(|| Error::Offline(id.clone()))
    }

    /// Lets a device be found; one that was there by the same credential goes.
    pub(super) fn come(&self, link: &Arc<Link>) -> bool {
        let before = {
            let mut state = self.state();
            let members = state.groups.by_key(&link.group).map(|group| &group.members);
            let known = members
                .is_some_and(|members| members.iter().any(|m| m.client_id == link.client_id));
            if state.stopped || !known {
                return false;
            }
            state.links.insert(link.client_id.clone(), Arc::clone(link))
        };
        if let Some(before) = before {
            before.close(None);
        }
        self.changes.tell();
        true
    }

    pub(super) fn go(&self, link: &Arc<Link>) {
        {
            let mut state = self.state();
            let current = state.links.get(&link.client_id);
            if current.is_some_and(|current| Arc::ptr_eq(current, link)) {
                state.links.remove(&link.client_id);
            }
        }
        self.changes.tell();
    }

    /// Lets a device in, by what it shows.
    pub(super) fn join(
        &self,
        key: &super::frame::Key,
        info: &Info,
    ) -> Result<Option<Joined>, Error> {
        use super::frame::Key;
        let mut state = self.state();
        let joined =
            match key {
                Key::Invitation(invitation) => state.groups.join(invitation, info, now())?.map(
                    |(group, client_id, credential)| Joined {
                        group,
                        client_id,
                        credential: Some(credential),
                    },
                ),
                Key::Credential(credential) => {
                    state
                        .groups
                        .come_back(credential, info)?
                        .map(|(group, client_id)| Joined {
                            group,
                            client_id,
                            credential: None,
                        })
                }
            };
        Ok(joined)
    }

    /// Ends every link, and takes no more.
    pub(super) fn end(&self) {
        let links = {
            let mut state = self.state();
            state.stopped = true;
            std::mem::take(&mut state.links)
        };
        for link in links.into_values() {
            link.close(None);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A device that was let in.
pub(super) struct Joined {
    pub group: String,
    pub client_id: String,
    /// What it shows from now on, if that is new.
    pub credential: Option<Secret>,
}

impl State {
    /// The key of the group that a device has joined.
    fn group_of(&self, client: &str) -> Option<String> {
        let has = |group: &&Group| group.members.iter().any(|m| m.client_id == client);
        let group = self.groups.all().iter().find(has);
        group.map(|group| group.key().to_owned())
    }

    /// Forgets what ended long ago.
    fn sweep(&mut self) {
        self.sessions.retain(|job| !job.is_old());
    }

    /// Room for one more session: the one that ended first goes for it.
    fn make_room(&mut self, group: &str) -> Result<(), Error> {
        self.sweep();
        let of_group = |job: &&Arc<Job>| job.group == group;
        while self.sessions.iter().filter(of_group).count() >= SESSIONS {
            let ended = self
                .sessions
                .iter()
                .filter(of_group)
                .filter_map(|job| Some((job.ended()?.at, job.id.clone())));
            let (_, oldest) = ended.min().ok_or(Error::Full(SESSIONS))?;
            self.sessions.retain(|job| job.id != oldest);
        }
        Ok(())
    }
}

/// Seconds since the epoch.
pub fn now() -> u64 {
    now_ms() / 1_000
}

/// Milliseconds since the epoch.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
