//! What can be wrong with what is asked of a device.

use std::fmt;

use crate::store;

/// Each is one sentence for the reader.
#[derive(Debug)]
pub enum Error {
    /// No group has this token; whether one once had it is not told.
    Token,
    /// The token's group has several devices, and none was named.
    Unnamed,
    /// The group has no such device.
    Device(String),
    /// No group has such a device: for a person at the shell, who knows of no groups.
    Unknown(String),
    /// A device is offline: for a person at the shell.
    Away(String),
    /// Nobody has joined the group yet.
    Nobody,
    /// The group has it, but there is no link to it.
    Offline(String),
    /// The group has no such session.
    Session(String),
    /// The session was one of a server before this one.
    Earlier(String),
    /// The session has ended: nothing can be done in it.
    Ended(String),
    /// All sessions that are kept are running.
    Full(usize),
    /// The device does not do it, and says why.
    Refused(String),
    /// The device did not say in time whether it did it.
    Unanswered,
    /// A cursor behind the output's end: there, and where the end is.
    Beyond(u64, u64),
    /// A cursor inside a character.
    Inside(u64),
    Store(store::Error),
    Io(std::io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Token => f.write_str("the client token is not valid; `create_client` makes one"),
            Error::Unnamed => f.write_str(
                "the token is for several devices: say which one with `client_id` (`list_clients` lists them)",
            ),
            Error::Device(id) => write!(f, "the token has no device {id:?}; `list_clients` lists those online"),
            Error::Unknown(id) => write!(f, "no device {id:?} has joined; `paneglass devices` lists those that have"),
            Error::Away(id) => write!(
                f,
                "device {id} is offline; it comes back by itself when it can (`paneglass devices` shows when it is there)"
            ),
            Error::Nobody => f.write_str(
                "no device has joined with this token: run the command that `create_client` returned on one",
            ),
            Error::Offline(id) => write!(
                f,
                "device {id} is offline; it comes back by itself when it can (`list_clients` with `wait_ms` waits for it)"
            ),
            Error::Session(id) => write!(
                f,
                "the token has no session {id:?}; `session_list` lists them (they go 30 minutes after their end)"
            ),
            Error::Earlier(id) => write!(
                f,
                "session {id:?} was lost when the server was started anew; whether its command succeeded is not known"
            ),
            Error::Ended(id) => write!(f, "session {id:?} has ended; `session_read` tells how"),
            Error::Full(count) => write!(
                f,
                "{count} sessions of this token run, and no more are kept: stop one with `session_control` first"
            ),
            Error::Refused(reason) => f.write_str(reason),
            Error::Unanswered => f.write_str("the device did not say in time whether it did it; look with `session_read`"),
            Error::Beyond(cursor, end) => write!(
                f,
                "`cursor` {cursor} is beyond the output, which ends at {end}; use a `next_cursor` of this session"
            ),
            Error::Inside(cursor) => write!(
                f,
                "`cursor` {cursor} is inside a character; use a `next_cursor` of this session"
            ),
            Error::Store(error) => error.fmt(f),
            Error::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Error {
        Error::Store(error)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Io(error)
    }
}
