//! One server per state directory: a lock file that names its holder and ends with it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::Error;
use crate::sys::{flock, passwd};

/// Held for as long as the value lives. The kernel lets go when the process dies, so a stale lock cannot be.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

#[derive(Debug)]
pub enum Taken {
    /// Another process holds it; the text names host and pid.
    By(String),
    Failed(Error),
}

impl Lock {
    pub fn take(path: &Path) -> Result<Lock, Taken> {
        let open = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path);
        let mut file = open.map_err(|error| Taken::Failed(Error::at("open", path)(error)))?;
        match flock::try_lock(&file) {
            Ok(true) => {}
            Ok(false) => {
                let mut holder = String::new();
                let _ = file.read_to_string(&mut holder);
                return Err(Taken::By(holder.trim().to_string()));
            }
            Err(error) => return Err(Taken::Failed(Error::at("lock", path)(error))),
        }
        let holder = format!("pid {} on {}\n", std::process::id(), passwd::hostname());
        let mut write = || {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(holder.as_bytes())
        };
        write().map_err(|error| Taken::Failed(Error::at("write", path)(error)))?;
        Ok(Lock { _file: file })
    }
}
