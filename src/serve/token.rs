//! The token that clients show on TCP.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::config::Config;
use crate::store::dir;
use crate::store::layout::Layout;
use crate::sys::{passwd, random};

/// 256 bits that nobody guesses.
const BYTES: usize = 32;

/// The token of a state directory, made at first use.
pub fn token(config: &Config) -> Result<String, String> {
    let layout = Layout::new(config.home.clone());
    dir::private(&layout.root).map_err(|error| {
        format!("{error}; set PANEGLASS_HOME to a directory that can be written")
    })?;
    let path = layout.token();
    let fail = |error: io::Error| format!("cannot use {}: {error}", path.display());
    if let Some(token) = read(&path)? {
        return Ok(token);
    }
    let token = random::hex(BYTES).map_err(fail)?;
    let temporary = path.with_extension(random::hex(4).map_err(fail)?);
    let made = write(&temporary, &token).and_then(|()| std::fs::hard_link(&temporary, &path));
    let _ = std::fs::remove_file(&temporary);
    match made {
        Ok(()) => Ok(token),
        // Another start was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read(&path)?.ok_or_else(|| fail(error))
        }
        Err(error) => Err(fail(error)),
    }
}

fn write(path: &Path, token: &str) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{token}")?;
    file.sync_all()
}

/// None when there is no such file.
fn read(path: &Path) -> Result<Option<String>, String> {
    let shown = path.display();
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {shown}: {error}")),
    };
    let meta = file
        .metadata()
        .map_err(|error| format!("cannot look at {shown}: {error}"))?;
    if meta.uid() != passwd::uid() || meta.mode() & 0o077 != 0 {
        return Err(format!(
            "others may know the token in {shown} (mode {:03o}): delete it, and a new one is made",
            meta.mode() & 0o777
        ));
    }
    let mut text = String::new();
    file.read_to_string(&mut text)
        .map_err(|error| format!("cannot read {shown}: {error}"))?;
    match text.trim() {
        token if token.len() == 2 * BYTES && token.bytes().all(|b| b.is_ascii_hexdigit()) => {
            Ok(Some(token.to_owned()))
        }
        _ => Err(format!(
            "{shown} holds no token: delete it, and a new one is made"
        )),
    }
}
