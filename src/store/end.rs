//! end: how a pane's program ended, in the words of the launcher, which is its parent. tmux tells it too, but not in
//! every version, and not once the pane is gone.

use std::path::Path;

use super::{Error, atomic, present};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Its exit status.
    Exited(i32),
    /// The number of the signal that ended it.
    Signalled(i32),
    /// It never ran; the exit status that a shell would report for that (126, 127).
    NotStarted(i32),
}

impl End {
    pub fn write(self, path: &Path) -> Result<(), Error> {
        let text = match self {
            End::Exited(status) => format!("exit {status}\n"),
            End::Signalled(number) => format!("signal {number}\n"),
            End::NotStarted(status) => format!("not-started {status}\n"),
        };
        // Whatever a power cut takes, it takes the program's pane as well.
        atomic::replace_unsynced(path, text.as_bytes())
    }

    /// `None` when there is no such file, or it says nothing to us.
    pub fn read(path: &Path) -> Result<Option<End>, Error> {
        let text = present(std::fs::read_to_string(path)).map_err(Error::at("read", path))?;
        Ok(text.as_deref().and_then(End::parse))
    }

    fn parse(text: &str) -> Option<End> {
        let (word, number) = text.trim_end().split_once(' ')?;
        let number = number.parse().ok()?;
        match word {
            "exit" => Some(End::Exited(number)),
            "signal" => Some(End::Signalled(number)),
            "not-started" => Some(End::NotStarted(number)),
            _ => None,
        }
    }

    /// The exit status, and the signal.
    pub fn parts(self) -> (Option<i32>, Option<i32>) {
        match self {
            End::Exited(status) | End::NotStarted(status) => (Some(status), None),
            End::Signalled(number) => (None, Some(number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::Scratch;

    #[test]
    fn ends_read_back() {
        let scratch = Scratch::new();
        let path = scratch.path().join("end");
        assert_eq!(End::read(&path).unwrap(), None);
        for end in [End::Exited(7), End::Signalled(15), End::NotStarted(127)] {
            end.write(&path).unwrap();
            assert_eq!(End::read(&path).unwrap(), Some(end));
        }
        for junk in ["", "exit", "exit x", "left 3"] {
            std::fs::write(&path, junk).unwrap();
            assert_eq!(End::read(&path).unwrap(), None, "{junk}");
        }
    }
}
