//! Empty files whose presence or date says something, and which anyone may set with `touch`.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Error, present};

pub fn is_set(path: &Path) -> bool {
    path.exists()
}

/// Makes the file, or dates one that is there now.
pub fn set(path: &Path) -> Result<(), Error> {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path);
    file.and_then(|file| file.set_modified(SystemTime::now()))
        .map_err(Error::at("write", path))
}

/// Removes the file; one that is not there is no error.
pub fn clear(path: &Path) -> Result<(), Error> {
    present(std::fs::remove_file(path))
        .map(drop)
        .map_err(Error::at("remove", path))
}

/// When the file was last written, in milliseconds since the epoch; `None` when it is not there.
pub fn dated(path: &Path) -> Option<u64> {
    let modified = std::fs::metadata(path).ok()?.modified().ok()?;
    Some(modified.duration_since(UNIX_EPOCH).ok()?.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::Scratch;
    use std::time::Duration;

    #[test]
    fn set_dated_and_cleared() {
        let scratch = Scratch::new();
        let path = scratch.path().join("keep");
        assert!(!is_set(&path) && dated(&path).is_none());
        clear(&path).unwrap();
        set(&path).unwrap();
        let old = SystemTime::now() - Duration::from_secs(86_400);
        let file = OpenOptions::new().append(true).open(&path).unwrap();
        file.set_modified(old).unwrap();
        let before = dated(&path).unwrap();
        set(&path).unwrap();
        assert!(dated(&path).unwrap() >= before + 80_000_000);
        clear(&path).unwrap();
        assert!(!is_set(&path));
    }
}
