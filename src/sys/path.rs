//! Looking up a program's file.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// As execvp(3) does it: a name with a slash is a path, from `cwd`; else the first executable file of that name in
/// the folders of `path`, which is written as PATH is.
pub fn find_program(name: &Path, path: &OsStr, cwd: &Path) -> Option<PathBuf> {
    let executable = |file: &PathBuf| {
        std::fs::metadata(file)
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if name.as_os_str().as_encoded_bytes().contains(&b'/') {
        return Some(cwd.join(name)).filter(executable);
    }
    std::env::split_paths(path)
        .map(|dir| cwd.join(dir).join(name))
        .find(executable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_paths() {
        let find = |name: &str, path: &str, cwd: &str| {
            find_program(Path::new(name), OsStr::new(path), Path::new(cwd))
        };
        let sh = Some(PathBuf::from("/bin/sh"));
        assert_eq!(find("sh", "/nowhere:/bin:/usr/bin", "/"), sh);
        assert_eq!(find("sh", "bin", "/"), sh);
        assert_eq!(find("bin/sh", "", "/"), sh);
        assert_eq!(find("/bin/sh", "", "/nowhere"), sh);
        assert_eq!(find("sh", "/nowhere", "/"), None);
        // A folder is none, nor a file that nobody may execute.
        assert_eq!(find("bin", "/usr", "/"), None);
        assert_eq!(find("passwd", "/etc", "/"), None);
    }
}
