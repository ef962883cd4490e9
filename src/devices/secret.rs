//! Secrets: client tokens, invitations and device credentials. What is kept of one is its hash, and two are compared
//! in a time that does not tell where they differ. Must not know what a secret opens.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

use super::sha256;
use crate::http::same;
use crate::sys::random;

/// 256 bits that nobody guesses; so no salt and no slow hash are needed.
const BYTES: usize = 32;

/// A secret in the clear. It is shown only where somebody asks for its text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    pub fn new() -> io::Result<Secret> {
        random::hex(BYTES).map(Secret)
    }

    /// One that somebody shows: right or wrong.
    pub fn shown(text: &str) -> Secret {
        Secret(text.trim().to_owned())
    }

    /// Whether it has the form of one.
    pub fn is_plausible(&self) -> bool {
        self.0.len() == 2 * BYTES && self.0.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    pub fn hash(&self) -> Hash {
        let digest = sha256::digest(self.0.as_bytes());
        Hash(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// What is kept of a secret: its SHA-256 in hexadecimal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hash(String);

impl Hash {
    /// In constant time.
    pub fn is(&self, other: &Hash) -> bool {
        same(self.0.as_bytes(), other.0.as_bytes())
    }

    pub fn text(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_tells_nothing() {
        let secret = Secret::new().unwrap();
        assert!(secret.is_plausible() && !Secret::shown("x").is_plausible());
        assert_ne!(secret, Secret::new().unwrap());
        assert!(secret.hash().is(&Secret::shown(secret.text()).hash()));
        assert!(!secret.hash().is(&Secret::shown("x").hash()));
        assert!(!format!("{secret:?}").contains(&secret.text()[..8]));
        assert!(!secret.hash().text().contains(secret.text()));
    }
}
