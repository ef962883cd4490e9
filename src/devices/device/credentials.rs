//! What a device shows when it comes back, by the server's address: a file that only its user can read. Must not know
//! how it is shown.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::devices::secret::Secret;
use crate::store::{self, atomic, dir};

/// A device's access to one server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Credential {
    pub client_id: String,
    pub credential: Secret,
}

/// The file.
pub struct Credentials(PathBuf);

impl Credentials {
    pub fn new(path: PathBuf) -> Credentials {
        Credentials(path)
    }

    pub fn get(&self, address: &str) -> Result<Option<Credential>, store::Error> {
        Ok(self.read()?.remove(address))
    }

    pub fn keep(&self, address: &str, credential: Credential) -> Result<(), store::Error> {
        let mut all = self.read()?;
        all.insert(address.into(), credential);
        self.write(&all)
    }

    pub fn forget(&self, address: &str) -> Result<(), store::Error> {
        let mut all = self.read()?;
        match all.remove(address) {
            Some(_) => self.write(&all),
            None => Ok(()),
        }
    }

    fn read(&self) -> Result<BTreeMap<String, Credential>, store::Error> {
        let fail = store::Error::at("read", &self.0);
        match std::fs::read(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(error) => Err(fail(error)),
            Ok(bytes) => serde_json::from_slice(&bytes)
                // What it says of the file's text may hold a secret.
                .map_err(|_| fail(io::Error::other("it is damaged: delete it, and join anew"))),
        }
    }

    fn write(&self, all: &BTreeMap<String, Credential>) -> Result<(), store::Error> {
        if let Some(folder) = self.0.parent() {
            dir::private(folder)?;
        }
        let fail = store::Error::at("write", &self.0);
        let bytes = serde_json::to_vec_pretty(all).map_err(|error| fail(error.into()))?;
        atomic::replace(&self.0, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::store::tests::Scratch;

    #[test]
    fn kept_by_address_for_its_user_alone() {
        let dir = Scratch::new();
        let path = dir.path().join("state/joined.json");
        let credentials = Credentials::new(path.clone());
        assert!(credentials.get("a").unwrap().is_none());
        let credential = |id: &str| Credential {
            client_id: id.into(),
            credential: Secret::shown("s"),
        };
        credentials.keep("a", credential("1")).unwrap();
        credentials.keep("b", credential("2")).unwrap();
        credentials.keep("a", credential("3")).unwrap();
        credentials.forget("b").unwrap();
        assert_eq!(credentials.get("a").unwrap().unwrap().client_id, "3");
        assert!(credentials.get("b").unwrap().is_none());
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::write(&path, b"{\"a\": \"secret\"}").unwrap();
        let error = credentials.get("a").unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}
