//! Why a device is not joined, or no longer.

use std::fmt;
use std::io;

use crate::store;

/// Each is one sentence that says what to do.
#[derive(Debug)]
pub enum Error {
    /// An address that is none, and what one looks like.
    Address(String),
    /// It never joined this server: its address.
    Stranger(String),
    /// The server does not let it in, and says why.
    Refused(String),
    /// The server cannot be reached.
    Connect(String),
    Start(io::Error),
    Store(store::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Address(text) | Error::Connect(text) => f.write_str(text),
            Error::Stranger(server) => write!(
                f,
                "this device has not joined {server}: it needs an --invitation (the create_client tool makes one)"
            ),
            Error::Refused(reason) => write!(f, "the server refuses this device: {reason}"),
            Error::Start(error) => write!(f, "cannot start: {error}"),
            Error::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Error {
        Error::Store(error)
    }
}
