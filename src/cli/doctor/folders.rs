//! What doctor says of folders: the room for logs, and where sockets stand. Must not make or change any.
#![forbid(unsafe_code)]

use std::fs::symlink_metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Fact;
use crate::sys::{passwd, space};

/// Bytes: less does not hold the log of a long build.
const ROOM: u64 = 256 << 20;

/// Bytes of a socket's path (unix(7): 108 with the final NUL).
const SOCKET_PATH: usize = 107;

/// The file system of the state directory, or of where it would be made.
pub fn room(home: &Path) -> Fact {
    const NAME: &str = "room";
    let there = home.ancestors().find(|path| path.exists());
    match space::of(there.unwrap_or(home)) {
        Ok(space) if space.free < ROOM => Fact::less(
            NAME,
            format!("{} MB are free: logs will soon stop", space.free >> 20),
            "make room, or set PANEGLASS_HOME to a folder on another disk",
        ),
        Ok(space) if space.network => Fact::good(
            NAME,
            format!(
                "{} MB are free, on a network: one host at a time serves it",
                space.free >> 20
            ),
        ),
        Ok(space) => Fact::good(NAME, format!("{} MB are free for logs", space.free >> 20)),
        Err(error) => Fact::less(
            NAME,
            format!("not known: {error}"),
            "set PANEGLASS_HOME to a folder that can be read",
        ),
    }
}

/// Where tmux keeps the socket of this name, by its own rules.
pub fn tmux_socket(name: &str) -> Fact {
    const NAME: &str = "tmux-socket";
    let base = std::env::var_os("TMUX_TMPDIR").filter(|dir| !dir.is_empty());
    let base = base.map_or_else(|| "/tmp".into(), PathBuf::from);
    let folder = base.join(format!("tmux-{}", passwd::uid()));
    let path = folder.join(name);
    let shown = path.display();
    const REMEDY: &str = "set TMUX_TMPDIR to a short path of a folder of yours";
    if path.as_os_str().len() > SOCKET_PATH {
        return Fact::bad(
            NAME,
            format!("{shown} is longer than a socket's path may be"),
            REMEDY,
        );
    }
    if !base.is_dir() {
        return Fact::bad(NAME, format!("{} is not there", base.display()), REMEDY);
    }
    match symlink_metadata(&folder) {
        // tmux does not say which of these it was.
        Ok(meta) if !meta.is_dir() || meta.uid() != passwd::uid() || meta.mode() & 0o007 != 0 => {
            Fact::bad(
                NAME,
                format!(
                    "{} is not a folder of yours alone, and tmux refuses it",
                    folder.display()
                ),
                REMEDY,
            )
        }
        _ => Fact::good(NAME, shown.to_string()),
    }
}

/// Where `paneglass serve` listens.
pub fn server_socket(path: &Path) -> Fact {
    const NAME: &str = "socket";
    let shown = path.display();
    if path.as_os_str().len() > SOCKET_PATH {
        return Fact::less(
            NAME,
            format!("{shown} is longer than a socket's path may be: serve cannot listen there"),
            "set PANEGLASS_SOCKET_PATH to a shorter path",
        );
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    match symlink_metadata(folder) {
        Ok(meta) if meta.uid() != passwd::uid() || meta.mode() & 0o077 != 0 => Fact::less(
            NAME,
            format!(
                "others may enter {}: serve refuses to listen there",
                folder.display()
            ),
            "chmod 700 it, or set PANEGLASS_SOCKET_PATH to a path in a folder of yours alone",
        ),
        Ok(_) if path.exists() => Fact::good(NAME, format!("{shown} is there")),
        _ => Fact::good(NAME, format!("{shown} is free for paneglass serve")),
    }
}
