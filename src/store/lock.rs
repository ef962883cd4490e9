//! One server per state directory, and one per socket: a lock file that names its holder and ends with it.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::{Error, present};
use crate::sys::{flock, passwd};

/// A holder writes its name right after it has taken the lock; a reader that comes in between looks again.
const NAMING: Duration = Duration::from_millis(200);

/// One who asks for the holder holds the lock for microseconds, which is not to be taken for a server.
const LOOKS: Duration = Duration::from_millis(50);

/// Longer files are no lock of ours.
const FILE_BYTES: u64 = 64 << 10;

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub host: String,
    pub pid: u32,
    /// Seconds since the epoch.
    pub started: u64,
    /// Where it serves many clients; none when it has one on its standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid {} on {}", self.pid, self.host)?;
        match &self.socket {
            Some(socket) => write!(f, ", serving {}", socket.display()),
            None => Ok(()),
        }
    }
}

/// Held for as long as the value lives. The kernel lets go when the process dies, so what a killed server left is
/// taken over by the next.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        flock::unlock(&self.file);
    }
}

#[derive(Debug)]
pub enum Taken {
    /// Another process holds it; which, where that can be read.
    By(Option<Holder>),
    Failed(Error),
}

/// Whom a refusal names.
pub fn name(holder: Option<&Holder>) -> String {
    holder.map_or_else(|| "which has not said its name".into(), Holder::to_string)
}

impl Lock {
    /// Takes the lock for this process, which serves `socket` if it serves many.
    pub fn take(path: &Path, socket: Option<&Path>) -> Result<Lock, Taken> {
        let open = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path);
        let mut file = open.map_err(|error| Taken::Failed(Error::at("open", path)(error)))?;
        let deadline = Instant::now() + LOOKS;
        loop {
            match flock::try_lock(&file) {
                Ok(true) => break,
                Ok(false) if Instant::now() < deadline => thread::sleep(Duration::from_millis(2)),
                Ok(false) => return Err(Taken::By(named(&mut file))),
                Err(error) => return Err(Taken::Failed(Error::at("lock", path)(error))),
            }
        }
        let holder = Holder {
            host: passwd::hostname(),
            pid: std::process::id(),
            started: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_secs()),
            socket: socket.map(Path::to_path_buf),
        };
        let mut write = || {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            let mut text = serde_json::to_vec(&holder)?;
            text.push(b'\n');
            file.write_all(&text)
        };
        write().map_err(|error| Taken::Failed(Error::at("write", path)(error)))?;
        Ok(Lock { file })
    }

    /// Who holds the lock now, if anybody does. Takes nothing.
    pub fn holder(path: &Path) -> Result<Option<Holder>, Error> {
        let Some(mut file) = present(File::open(path)).map_err(Error::at("open", path))? else {
            return Ok(None);
        };
        match flock::is_locked(&file) {
            Ok(true) => Ok(named(&mut file)),
            Ok(false) => Ok(None),
            Err(error) => Err(Error::at("look at", path)(error)),
        }
    }
}

/// What a held lock's file says.
fn named(file: &mut File) -> Option<Holder> {
    let deadline = Instant::now() + NAMING;
    loop {
        if let Ok(Some(holder)) = read(file) {
            return Some(holder);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn read(file: &mut File) -> io::Result<Option<Holder>> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(FILE_BYTES).read_to_string(&mut text)?;
    Ok(serde_json::from_str(&text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::Scratch;

    #[test]
    fn one_holds_it_and_names_itself() {
        let dir = Scratch::new();
        let path = dir.path().join("lock");
        assert_eq!(Lock::holder(&path).unwrap(), None);
        let lock = Lock::take(&path, Some(Path::new("/s"))).unwrap();
        let Err(Taken::By(Some(holder))) = Lock::take(&path, None) else {
            panic!("it is taken twice");
        };
        assert_eq!(holder.pid, std::process::id());
        assert_eq!(holder.socket.as_deref(), Some(Path::new("/s")));
        assert_eq!(Lock::holder(&path).unwrap(), Some(holder));
        drop(lock);
        // What is written there is nobody's any more.
        assert_eq!(Lock::holder(&path).unwrap(), None);
        Lock::take(&path, None).unwrap();
    }

    #[test]
    fn junk_in_the_file_is_no_holder() {
        let dir = Scratch::new();
        let path = dir.path().join("lock");
        let lock = Lock::take(&path, None).unwrap();
        std::fs::write(&path, b"\xff{").unwrap();
        assert!(matches!(Lock::take(&path, None), Err(Taken::By(None))));
        drop(lock);
        Lock::take(&path, None).unwrap();
    }
}
