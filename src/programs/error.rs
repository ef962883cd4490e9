//! What can go wrong with a program, said so that the reader knows what to do.

use std::fmt;

use crate::{session, store};

#[derive(Debug)]
pub enum Error {
    Session(session::Error),
    Store(store::Error),
    /// No program has this id; those that one can ask for.
    Unknown {
        id: String,
        known: Vec<String>,
    },
    /// No character begins at this cursor; the output's end, as far as there is one.
    Cursor {
        cursor: u64,
        end: u64,
    },
    /// It is not dead after SIGKILL: by pid and command line.
    Undead {
        id: String,
        left: Vec<String>,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Session(error) => error.fmt(f),
            Error::Store(error) => error.fmt(f),
            Error::Unknown { id, known } => {
                write!(
                    f,
                    "there is no program {id:?}; it was stopped or let go, or never started"
                )?;
                match known.as_slice() {
                    [] => write!(f, "; no program is known: `start_program` starts one"),
                    known => write!(f, "; programs known: {}", known.join(", ")),
                }
            }
            Error::Cursor { cursor, end } if cursor > end => write!(
                f,
                "cursor {cursor} is beyond the output, which ends at {end}; pass back the cursor of the last read"
            ),
            Error::Cursor { cursor, end } => write!(
                f,
                "cursor {cursor} is inside a character; the output ends at {end}; pass back the cursor of the last read"
            ),
            Error::Undead { id, left } => write!(
                f,
                "program {id} does not end, even by SIGKILL: {}; what a process does in the kernel must end first. Its output is kept: stop it again later",
                left.join(", ")
            ),
        }
    }
}

impl std::error::Error for Error {}

impl From<session::Error> for Error {
    fn from(error: session::Error) -> Error {
        Error::Session(error)
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Error {
        Error::Store(error)
    }
}
