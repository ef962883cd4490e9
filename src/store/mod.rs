//! Files on disk: where they stand, how they are replaced and appended to, how a torn one is read.
//!
//! Must not know what the bytes mean: no terminals, no regions, no tmux.
#![forbid(unsafe_code)]

pub mod append;
pub mod atomic;
pub mod calls;
pub mod dir;
pub mod end;
pub mod index;
pub mod layout;
pub mod lock;
pub mod marker;
pub mod records;
pub mod spawn;
pub mod text;
pub mod times;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file operation that failed, with the file's name.
#[derive(Debug)]
pub struct Error {
    /// What was tried: "write", "read", "create".
    pub verb: &'static str,
    pub path: PathBuf,
    pub error: io::Error,
}

impl Error {
    pub(crate) fn at<'a>(
        verb: &'static str,
        path: &'a Path,
    ) -> impl FnOnce(io::Error) -> Error + use<'a> {
        move |error| Error {
            verb,
            path: path.to_path_buf(),
            error,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cannot {} {}: {}",
            self.verb,
            self.path.display(),
            self.error
        )
    }
}

impl std::error::Error for Error {}

/// A missing file is `None`, any other failure an error.
pub(crate) fn present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::{Path, PathBuf};

    /// A folder of a test's own, gone with it.
    pub(crate) struct Scratch(PathBuf);

    impl Scratch {
        pub(crate) fn new() -> Scratch {
            let name = crate::sys::random::hex(8).unwrap();
            let path = std::env::temp_dir().join(format!("pg-{name}"));
            super::dir::private(&path).unwrap();
            Scratch(path)
        }

        pub(crate) fn path(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}
