//! The Unix socket of a shared server: where it is, who may enter its folder, and that only one server has it.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use crate::store::dir;
use crate::store::lock::{self, Lock, Taken};
use crate::sys::passwd;

/// The longest path of a socket, in bytes (unix(7): 108 with the final NUL).
const PATH_BYTES: usize = 107;

/// What the inner socket's path has more.
const INNER: &str = ".inner";

/// A socket that is bound. It goes with this, and then another server may have its path.
#[derive(Debug)]
pub struct Socket {
    pub path: PathBuf,
    /// Its inode, which tells it from one that somebody else has put in its place.
    inode: u64,
    _lock: Lock,
}

impl Socket {
    /// Binds `path`. Its folder is made where it is missing; it must be the user's own and closed to others.
    pub fn bind(path: &Path) -> Result<(Socket, UnixListener), String> {
        let shown = path.display();
        let fail = |error: io::Error| format!("cannot listen on {shown}: {error}");
        if path.as_os_str().len() + INNER.len() > PATH_BYTES {
            return Err(format!(
                "the socket's path {shown} is too long: {} bytes at most; name a shorter one with --socket",
                PATH_BYTES - INNER.len()
            ));
        }
        let folder = path
            .parent()
            .ok_or_else(|| format!("{shown} is no path of a socket"))?;
        check_folder(folder)?;
        let mut lock = path.as_os_str().to_owned();
        lock.push(".lock");
        let lock = Lock::take(Path::new(&lock), Some(path)).map_err(|taken| match taken {
            Taken::By(holder) => format!(
                "another paneglass server listens on {shown} ({})",
                lock::name(holder.as_ref())
            ),
            Taken::Failed(error) => error.to_string(),
        })?;
        match std::fs::symlink_metadata(path) {
            Ok(meta) if meta.uid() != passwd::uid() => {
                return Err(format!("{shown} belongs to another user"));
            }
            // What a killed server left: its lock was free.
            Ok(_) => std::fs::remove_file(path).map_err(fail)?,
            Err(_) => {}
        }
        let listener = UnixListener::bind(path).map_err(fail)?;
        // Until then the folder keeps others out, and the gate asks who connects anyway.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(fail)?;
        let inode = std::fs::symlink_metadata(path).map_err(fail)?.ino();
        let socket = Socket {
            path: path.into(),
            inode,
            _lock: lock,
        };
        Ok((socket, listener))
    }

    /// Where the inner socket goes.
    pub fn inner(&self) -> PathBuf {
        let mut path = self.path.as_os_str().to_owned();
        path.push(INNER);
        path.into()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if std::fs::symlink_metadata(&self.path).is_ok_and(|meta| meta.ino() == self.inode) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A folder that is there is left as it is, since it may be for other things too.
fn check_folder(folder: &Path) -> Result<(), String> {
    let shown = folder.display();
    match std::fs::symlink_metadata(folder) {
        Err(_) => dir::private(folder).map_err(|error| error.to_string()),
        Ok(meta) if !meta.is_dir() => Err(format!("{shown} is not a folder")),
        Ok(meta) if meta.uid() != passwd::uid() => Err(format!(
            "the socket's folder {shown} belongs to another user; name a socket in a folder of your own with --socket"
        )),
        Ok(meta) if meta.mode() & 0o077 != 0 => Err(format!(
            "others may enter the socket's folder {shown} (mode {:03o}): chmod 700 it, or name a socket in another with --socket",
            meta.mode() & 0o777
        )),
        Ok(_) => Ok(()),
    }
}
