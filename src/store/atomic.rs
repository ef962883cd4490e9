//! A file is replaced whole or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::Error;

/// Distinguishes temporary files of concurrent replacements within this process.
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// Writes `bytes` to a temporary file (0600) beside `path`, syncs it and renames it over `path`. On failure the old
/// file stands as it was and the temporary one is gone.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    replace_with(path, |file| file.write_all(bytes), true)
}

/// The same without the sync, for what is written at every call and may be of a moment ago after a power cut.
pub fn replace_unsynced(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    replace_with(path, |file| file.write_all(bytes), false)
}

/// Makes `path` a symbolic link to `target`, in one step. One that leads there stays untouched.
pub fn link(path: &Path, target: &Path) -> Result<(), Error> {
    if std::fs::read_link(path).is_ok_and(|there| there == target) {
        return Ok(());
    }
    let temporary = beside(path);
    let made = std::os::unix::fs::symlink(target, &temporary)
        .and_then(|()| std::fs::rename(&temporary, path));
    if made.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    made.map_err(Error::at("make the link", path))
}

/// A name for a temporary file beside `path`, which nothing else here uses.
fn beside(path: &Path) -> PathBuf {
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.{serial}.tmp", std::process::id()));
    path.with_file_name(name)
}

fn replace_with(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
    sync: bool,
) -> Result<(), Error> {
    let temporary = beside(path);
    let write = || -> io::Result<()> {
        // create_new: a link that someone planted under the temporary name is an error, not followed.
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)?;
        fill(&mut file)?;
        if sync {
            file.sync_all()?;
        }
        std::fs::rename(&temporary, path)
    };
    write().map_err(|error| {
        let _ = std::fs::remove_file(&temporary);
        Error {
            verb: "write",
            path: path.to_path_buf(),
            error,
        }
    })
}
