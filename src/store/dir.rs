//! Folders that only their owner may enter.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use super::Error;
use crate::sys::passwd;

/// Makes `path` and its missing parents with mode 0700. A folder that exists is checked: a link, or one that
/// belongs to another user, is refused, and one that others may enter is closed to them.
pub fn private(path: &Path) -> Result<(), Error> {
    let fail = Error::at("create", path);
    match DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .and_then(|()| std::fs::symlink_metadata(path))
    {
        Ok(meta) if !meta.is_dir() => Err(fail(io::Error::other("it is not a folder"))),
        Ok(meta) if meta.uid() != passwd::uid() => {
            Err(fail(io::Error::other("it belongs to another user")))
        }
        Ok(meta) if meta.mode() & 0o077 != 0 => {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).map_err(fail)
        }
        Ok(_) => Ok(()),
        Err(error) => Err(fail(error)),
    }
}
