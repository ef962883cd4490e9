//! The shell integration's files: their texts, embedded in the binary; writing them to a directory; and the command
//! line and environment that start a shell with them.
//!
//! Must not know sessions, tmux, or who asks.

use std::fmt;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The integration's version. Goes up whenever a file under shell/ changes what it prints or exports, since
/// installed copies (`~/.local/share/paneglass/vN`) are told apart by it.
#[allow(
    dead_code,
    reason = "the black-box tests include this file and install nothing"
)]
pub const VERSION: u32 = 4;

/// The environment variable that carries the session's nonce. Without it the integration prints nothing.
pub const NONCE: &str = "__PANEGLASS_NONCE";

/// What is written, by path under the directory.
pub(super) const FILES: &[(&str, &str)] = &[
    (BASH_RC, include_str!("../../shell/bash/rc")),
    (BASH, include_str!("../../shell/bash/integration.bash")),
    (ZSH_ENV, include_str!("../../shell/zsh/zshenv")),
    (ZSH, include_str!("../../shell/zsh/integration.zsh")),
    (FISH, include_str!("../../shell/fish/integration.fish")),
    (FISH_VENDOR, include_str!("../../shell/fish/vendor.fish")),
];
pub(super) const BASH_RC: &str = "bash/rc";
pub(super) const BASH: &str = "bash/integration.bash";
const ZSH_DIR: &str = "zsh";
pub(super) const ZSH_ENV: &str = "zsh/.zshenv";
pub(super) const ZSH: &str = "zsh/integration.zsh";
pub(super) const FISH: &str = "fish/integration.fish";
/// Where a fish looks whose XDG_DATA_DIRS has `fish/share`.
const FISH_VENDOR: &str = "fish/share/fish/vendor_conf.d/paneglass.fish";

/// A shell that the integration knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    /// The shell whose program has this name (`bash`, `/usr/bin/bash`, `-bash`), if the integration knows it.
    pub fn named(program: &str) -> Option<Shell> {
        match program.rsplit('/').next()?.trim_start_matches('-') {
            "bash" => Some(Shell::Bash),
            "zsh" => Some(Shell::Zsh),
            "fish" => Some(Shell::Fish),
            _ => None,
        }
    }
}

/// The script that integrates a running bash which sources it.
pub fn bash() -> &'static str {
    text(BASH)
}

/// The script that integrates a running zsh which sources it.
pub fn zsh() -> &'static str {
    text(ZSH)
}

/// The script that integrates a running fish which sources it.
pub fn fish() -> &'static str {
    text(FISH)
}

fn text(name: &str) -> &'static str {
    FILES
        .iter()
        .find(|(path, _)| *path == name)
        .map_or("", |(_, text)| text)
}

/// What starts an integrated shell: its argument vector, and variables to add to its environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub argv: Vec<String>,
    pub env: Vec<(String, String)>,
}

/// How to start `shell` with the files that [`write`] put under `dir`. `nonce` is the session's: letters, digits,
/// `.`,
/// `_` and `-`; with anything else the shell starts plain. The shell reads what a login shell reads.
///
/// A zsh whose environment has a ZDOTDIR of the user's own must get that as `__PANEGLASS_ZDOTDIR` as well: it is
/// put back before the user's files are read.
pub fn launch(shell: Shell, dir: &Path, nonce: &str) -> Launch {
    let path = |name: &str| dir.join(name).to_string_lossy().into_owned();
    let mut env = vec![(NONCE.into(), nonce.into())];
    let argv = match shell {
        Shell::Bash => vec!["bash".into(), "--rcfile".into(), path(BASH_RC)],
        Shell::Zsh => {
            env.push(("ZDOTDIR".into(), path(ZSH_DIR)));
            vec!["zsh".into(), "-l".into()]
        }
        Shell::Fish => {
            let file = path(FISH).replace('\\', "\\\\").replace('\'', "\\'");
            vec![
                "fish".into(),
                "-l".into(),
                "-C".into(),
                format!("source '{file}'"),
            ]
        }
    };
    Launch { argv, env }
}

/// The written files that a running shell can source to become integrated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    pub bash: PathBuf,
    pub zsh: PathBuf,
    pub fish: PathBuf,
}

/// Writes the files under `dir`, directories 0700 and files 0600. A file that is there with the right text stays
/// untouched; another is replaced in one step, since shells may be reading it.
pub fn write(dir: &Path) -> Result<Paths, Error> {
    // launch() names the files in strings.
    if dir.to_str().is_none() {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "not UTF-8");
        return Err(Error::new(dir, source));
    }
    for (name, text) in FILES {
        let path = dir.join(name);
        let parent = path.parent().unwrap_or(dir);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)
            .map_err(|source| Error::new(parent, source))?;
        replace(&path, text).map_err(|source| Error::new(&path, source))?;
    }
    Ok(Paths {
        bash: dir.join(BASH),
        zsh: dir.join(ZSH),
        fish: dir.join(FISH),
    })
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    if fs::read(path).is_ok_and(|there| there == text.as_bytes()) {
        return fs::set_permissions(path, Permissions::from_mode(0o600));
    }
    // Two servers may start at once: each has its own temporary name, and the last rename wins with the same text.
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}", std::process::id()));
    let temporary = PathBuf::from(temporary);
    // Left over from a killed process that had this id.
    let _ = fs::remove_file(&temporary);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A file or directory of the integration could not be written.
#[derive(Debug)]
pub struct Error {
    path: PathBuf,
    source: io::Error,
}

impl Error {
    fn new(path: &Path, source: io::Error) -> Error {
        Error {
            path: path.into(),
            source,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "cannot write {}: {}", self.path.display(), self.source)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_private_files_and_only_once() {
        let dir = std::env::temp_dir().join(format!("pg-files-{}", std::process::id()));
        let paths = write(&dir).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(fs::read_to_string(&paths.bash).unwrap(), bash());
        assert_eq!(mode(&paths.bash), 0o600);
        assert_eq!(mode(paths.bash.parent().unwrap()), 0o700);

        let written = fs::metadata(&paths.bash).unwrap().modified().unwrap();
        write(&dir).unwrap();
        assert_eq!(
            fs::metadata(&paths.bash).unwrap().modified().unwrap(),
            written
        );

        fs::write(&paths.bash, "stale").unwrap();
        write(&dir).unwrap();
        assert_eq!(fs::read_to_string(&paths.bash).unwrap(), bash());
        let left = fs::read_dir(dir.join("bash")).unwrap().count();
        fs::remove_dir_all(&dir).unwrap();
        assert_eq!(left, 2, "a temporary file stays behind");
    }

    #[test]
    fn an_error_names_the_path() {
        let error = write(Path::new("/proc/none")).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("cannot write /proc/none/bash: "),
            "{error}"
        );
    }

    #[test]
    fn launches_by_name() {
        assert_eq!(Shell::named("/usr/bin/bash"), Some(Shell::Bash));
        assert_eq!(Shell::named("-bash"), Some(Shell::Bash));
        assert_eq!(Shell::named("/opt/my zsh/zsh"), Some(Shell::Zsh));
        assert_eq!(Shell::named("fish"), Some(Shell::Fish));
        assert_eq!(Shell::named("dash"), None);
        let env = |name: &str, value: &str| (name.to_string(), value.to_string());
        let bash = launch(Shell::Bash, Path::new("/x y"), "n1");
        assert_eq!(bash.argv, ["bash", "--rcfile", "/x y/bash/rc"]);
        assert_eq!(bash.env, [env(NONCE, "n1")]);
        let zsh = launch(Shell::Zsh, Path::new("/x y"), "n1");
        assert_eq!(zsh.argv, ["zsh", "-l"]);
        assert_eq!(zsh.env, [env(NONCE, "n1"), env("ZDOTDIR", "/x y/zsh")]);
        let fish = launch(Shell::Fish, Path::new(r"/it's \ here"), "n1");
        assert_eq!(
            fish.argv[3],
            r"source '/it\'s \\ here/fish/integration.fish'"
        );
    }
}
