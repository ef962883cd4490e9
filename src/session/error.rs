//! What can go wrong with a session, said so that the reader knows what to do.

use std::fmt;

use crate::{store, tmux};

#[derive(Debug)]
pub enum Error {
    Tmux(tmux::Error),
    Store(store::Error),
    /// Something else failed, with its name.
    Io(String, std::io::Error),
    /// There is no session of the name that was given.
    NoSession(String),
    /// A request that cannot be met; the text says why and what would be accepted.
    Refused(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Tmux(error) => error.fmt(f),
            Error::Store(error) => error.fmt(f),
            Error::Io(what, error) => write!(f, "{what}: {error}"),
            Error::NoSession(text) | Error::Refused(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Error {}

impl From<tmux::Error> for Error {
    fn from(error: tmux::Error) -> Error {
        Error::Tmux(error)
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Error {
        Error::Store(error)
    }
}
