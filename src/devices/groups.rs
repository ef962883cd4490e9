//! Who may join and who has: groups of devices, each with its client token, its invitation and its members. Kept in a
//! file, secrets as hashes. Must not know links, nor what runs on a device.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Error;
use super::frame::Info;
use super::secret::{Hash, Secret};
use crate::store::{self, atomic};
use crate::sys::random;

/// Characters of a device's id.
const ID: usize = 6;

/// The characters in it, letters first: 36, so there are over a thousand million ids.
const ID_ALPHABET: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// The letters among them.
const LETTERS: usize = 26;

/// A group that nobody joined is forgotten so long after its invitation has expired, in seconds: until then its token
/// still gets a proper answer.
const FORGOTTEN: u64 = 24 * 3600;

/// All groups, as they stand in the file.
pub struct Groups {
    path: PathBuf,
    list: Vec<Group>,
}

/// Devices under one client token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group {
    token: Hash,
    /// For several devices.
    pub multi: bool,
    invitation: Hash,
    /// Seconds since the epoch.
    pub expires: u64,
    /// The invitation has let in whom it was for.
    used: bool,
    pub members: Vec<Member>,
}

/// A device that has joined.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Member {
    pub client_id: String,
    credential: Hash,
    /// What it last said of itself.
    pub info: Info,
    /// Seconds since the epoch.
    pub joined: u64,
}

/// What a new group's maker is told, and nobody again.
#[derive(Debug)]
pub struct Invited {
    pub token: Secret,
    pub invitation: Secret,
    pub multi: bool,
    /// Seconds since the epoch.
    pub expires: u64,
}

impl Group {
    /// What the group is called inside: nothing can be done with it from outside.
    pub fn key(&self) -> &str {
        self.token.text()
    }
}

impl Groups {
    /// Reads the file; none is no groups.
    pub fn read(path: PathBuf) -> Result<Groups, Error> {
        let list = match std::fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::from),
        };
        let list = list.map_err(store::Error::at("read", &path))?;
        Ok(Groups { path, list })
    }

    pub fn all(&self) -> &[Group] {
        &self.list
    }

    /// Makes a group, with an invitation for so many seconds from `now` on.
    pub fn invite(&mut self, multi: bool, seconds: u64, now: u64) -> Result<Invited, Error> {
        let (token, invitation) = (Secret::new()?, Secret::new()?);
        let expires = now.saturating_add(seconds);
        let joined_or_open = |group: &Group| {
            !group.members.is_empty() || group.expires.saturating_add(FORGOTTEN) > now
        };
        let mut list = self.list.clone();
        list.retain(joined_or_open);
        list.push(Group {
            token: token.hash(),
            multi,
            invitation: invitation.hash(),
            expires,
            used: false,
            members: Vec::new(),
        });
        self.replace(list)?;
        Ok(Invited {
            token,
            invitation,
            multi,
            expires,
        })
    }

    /// The group that a token opens. All are compared, wherever the right one is.
    pub fn by_token(&self, token: &Secret) -> Option<&Group> {
        let hash = token.hash();
        let mut found = None;
        for group in &self.list {
            if hash.is(&group.token) {
                found = Some(group);
            }
        }
        found
    }

    pub fn by_key(&self, key: &str) -> Option<&Group> {
        self.list.iter().find(|group| group.key() == key)
    }

    /// Lets a device in by an invitation: the group's key, its new id and its credential. None, whatever is wrong.
    pub fn join(
        &mut self,
        invitation: &Secret,
        info: &Info,
        now: u64,
    ) -> Result<Option<(String, String, Secret)>, Error> {
        let hash = invitation.hash();
        let mut found = None;
        for (at, group) in self.list.iter().enumerate() {
            if hash.is(&group.invitation) {
                found = Some(at);
            }
        }
        let open = |group: &Group| group.expires > now && (group.multi || !group.used);
        let Some(at) = found.filter(|&at| open(&self.list[at])) else {
            return Ok(None);
        };
        let (client_id, credential) = (self.free_id()?, Secret::new()?);
        let mut list = self.list.clone();
        let group = &mut list[at];
        group.used = true;
        group.members.push(Member {
            client_id: client_id.clone(),
            credential: credential.hash(),
            info: info.clone(),
            joined: now,
        });
        let key = group.key().to_owned();
        self.replace(list)?;
        Ok(Some((key, client_id, credential)))
    }

    /// Lets a device in that has joined before: the group's key and its id.
    pub fn come_back(
        &mut self,
        credential: &Secret,
        info: &Info,
    ) -> Result<Option<(String, String)>, Error> {
        let hash = credential.hash();
        let mut found = None;
        for (at, group) in self.list.iter().enumerate() {
            for (number, member) in group.members.iter().enumerate() {
                if hash.is(&member.credential) {
                    found = Some((at, number));
                }
            }
        }
        let Some((at, number)) = found else {
            return Ok(None);
        };
        let group = &self.list[at];
        let back = (
            group.key().to_owned(),
            group.members[number].client_id.clone(),
        );
        if group.members[number].info != *info {
            let mut list = self.list.clone();
            list[at].members[number].info = info.clone();
            self.replace(list)?;
        }
        Ok(Some(back))
    }

    /// Forgets a group, or one of its devices. The ids that were let in by it.
    pub fn revoke(&mut self, key: &str, client_id: Option<&str>) -> Result<Vec<String>, Error> {
        let mut list = self.list.clone();
        let mut gone = Vec::new();
        for group in list.iter_mut().filter(|group| group.key() == key) {
            group.members.retain(|member| {
                let goes = client_id.is_none_or(|id| id == member.client_id);
                if goes {
                    gone.push(member.client_id.clone());
                }
                !goes
            });
        }
        if client_id.is_none() {
            list.retain(|group| group.key() != key);
        }
        self.replace(list)?;
        Ok(gone)
    }

    fn free_id(&self) -> Result<String, Error> {
        let taken = |id: &String| {
            let mut members = self.list.iter().flat_map(|group| &group.members);
            members.any(|member| member.client_id == *id)
        };
        loop {
            let mut bytes = [0; ID];
            random::fill(&mut bytes)?;
            let pick = |(at, byte): (usize, u8)| {
                // The first is a letter: what is all digits would be taken for a number somewhere.
                let choice = if at == 0 { LETTERS } else { ID_ALPHABET.len() };
                char::from(ID_ALPHABET[usize::from(byte) % choice])
            };
            let id: String = bytes.into_iter().enumerate().map(pick).collect();
            if !taken(&id) {
                return Ok(id);
            }
        }
    }

    /// What cannot be written down does not count.
    fn replace(&mut self, list: Vec<Group>) -> Result<(), Error> {
        let bytes = serde_json::to_vec_pretty(&list).map_err(io::Error::from)?;
        atomic::replace(&self.path, &bytes)?;
        self.list = list;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::Scratch;

    fn groups(dir: &Scratch) -> Groups {
        Groups::read(dir.path().join("devices.json")).unwrap()
    }

    #[test]
    fn an_invitation_is_for_one_device_or_for_several() {
        let dir = Scratch::new();
        let mut groups = groups(&dir);
        let info = Info::default();
        for multi in [false, true] {
            let made = groups.invite(multi, 300, 1000).unwrap();
            let first = groups.join(&made.invitation, &info, 1001).unwrap();
            assert!(first.is_some());
            let second = groups.join(&made.invitation, &info, 1002).unwrap();
            assert_eq!(second.is_some(), multi);
            let late = groups.join(&made.invitation, &info, 1300).unwrap();
            assert!(late.is_none());
            // What has joined stays joined.
            let (key, id, credential) = first.unwrap();
            let back = groups.come_back(&credential, &info).unwrap();
            assert_eq!(back, Some((key, id)));
        }
    }

    #[test]
    fn foreign_secrets_open_nothing_and_no_secret_is_written_down() {
        let dir = Scratch::new();
        let mut groups = groups(&dir);
        let info = Info::default();
        let one = groups.invite(false, 300, 0).unwrap();
        let two = groups.invite(true, 300, 0).unwrap();
        let (key, _, credential) = groups.join(&two.invitation, &info, 1).unwrap().unwrap();
        assert_eq!(groups.by_token(&two.token).unwrap().key(), key);
        assert!(groups.by_token(&one.invitation).is_none());
        assert!(groups.by_token(&credential).is_none());
        assert!(groups.by_token(&Secret::shown(&key)).is_none());
        for wrong in [&one.token, &two.token, &credential, &Secret::shown("")] {
            assert!(groups.join(wrong, &info, 1).unwrap().is_none());
        }
        for wrong in [&one.invitation, &two.invitation, &two.token] {
            assert!(groups.come_back(wrong, &info).unwrap().is_none());
        }
        let text = std::fs::read_to_string(dir.path().join("devices.json")).unwrap();
        for secret in [&one.token, &two.token, &one.invitation, &credential] {
            assert!(!text.contains(secret.text()));
        }
    }

    #[test]
    fn what_is_revoked_is_gone_and_the_rest_is_read_back() {
        let dir = Scratch::new();
        let mut groups = groups(&dir);
        let info = Info::default();
        let made = groups.invite(true, 300, 0).unwrap();
        let mut join = || groups.join(&made.invitation, &info, 1).unwrap().unwrap();
        let (one, two) = (join(), join());
        let key = one.0.clone();
        assert_eq!(groups.revoke(&key, Some(&one.1)).unwrap(), [one.1]);
        assert!(groups.come_back(&one.2, &info).unwrap().is_none());
        let mut again = self::groups(&dir);
        assert!(again.come_back(&two.2, &info).unwrap().is_some());
        assert_eq!(again.revoke(&key, None).unwrap(), [two.1]);
        assert!(again.by_token(&made.token).is_none());
        assert!(again.join(&made.invitation, &info, 2).unwrap().is_none());
        // A group that nobody joined is forgotten in time.
        again.invite(false, 1, 0).unwrap();
        again.invite(false, 1, FORGOTTEN + 1).unwrap();
        assert_eq!(again.all().len(), 1);
    }
}
