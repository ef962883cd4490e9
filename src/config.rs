//! Environment into one Config. No statics.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// Bytes of raw.log per session unless PANEGLASS_LOG_LIMIT says otherwise: a day of a very talkative build.
const LOG_LIMIT: u64 = 4 << 30;

/// Over a weekend, not over a month.
const KEEP_CLOSED_DAYS: u32 = 3;

/// Our name on tmux's side: `tmux -L paneglass`.
const SOCKET: &str = "paneglass";

/// The sets of tools there are; the first two are offered unless something else is said.
const TOOLSETS: [&str; 3] = ["terminal", "programs", "devices"];

/// As long as the terminal tools may wait: a client's patience ends first.
const WAIT_MAX_MS: u64 = 1_500_000;

/// The variables that are read, with what each is for: for help, doctor and the manual.
pub const VARIABLES: &[(&str, &str)] = &[
    (
        "PANEGLASS_HOME",
        "state directory (default ~/.local/state/paneglass; XDG_STATE_HOME counts)",
    ),
    (
        "PANEGLASS_SOCKET",
        "name of the tmux socket (default paneglass)",
    ),
    (
        "PANEGLASS_SOCKET_PATH",
        "where serve listens (default paneglass/server.sock in XDG_RUNTIME_DIR)",
    ),
    (
        "PANEGLASS_TMUX",
        "the tmux to use (default tmux, from the PATH)",
    ),
    (
        "PANEGLASS_ATTACH_PREFIX",
        "words put before the attach command, such as: ssh -t HOST",
    ),
    (
        "PANEGLASS_LOG_LIMIT",
        "bytes of output kept per session (default 4 GiB)",
    ),
    (
        "PANEGLASS_SSH_ENV",
        "names of variables that paneglass ssh and into set on the far side",
    ),
    (
        "PANEGLASS_KEEP_CLOSED_DAYS",
        "days that logs of closed sessions stay unused (default 3; 0: for ever)",
    ),
    (
        "PANEGLASS_SUMMARY",
        "0: clipped output does not begin with the failures in its middle",
    ),
    ("PANEGLASS_READ_ONLY", "1: only tools that read are offered"),
    (
        "PANEGLASS_TOOLSETS",
        "sets of tools, of terminal, programs, devices (default the first two)",
    ),
    (
        "PANEGLASS_WAIT_MAX_MS",
        "the longest that read_program waits, in milliseconds (default 1500000)",
    ),
];

/// What the environment says.
#[derive(Clone, Debug)]
pub struct Config {
    pub home: PathBuf,
    /// The state directory is not the default one.
    pub home_is_named: bool,
    /// Where a server of many clients listens.
    pub socket_path: PathBuf,
    pub tmux_socket: String,
    pub tmux: PathBuf,
    pub attach_prefix: Vec<String>,
    /// Bytes.
    pub log_limit: u64,
    pub read_only: bool,
    /// Of TOOLSETS, each once.
    pub toolsets: Vec<String>,
    /// Milliseconds.
    pub wait_max_ms: u64,
    /// Days; 0: for ever.
    pub keep_closed_days: u32,
    pub summary: bool,
}

/// A variable with a value that is not accepted, or a state directory that nothing names.
#[derive(Debug, PartialEq, Eq)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl Config {
    /// `home` is the user's home as the user database has it, for when HOME is not set.
    pub fn from_env(home: Option<PathBuf>) -> Result<Config, Error> {
        Config::from(
            |name| std::env::var_os(name).filter(|value| !value.is_empty()),
            home,
        )
    }

    fn from(
        get: impl Fn(&str) -> Option<OsString>,
        home: Option<PathBuf>,
    ) -> Result<Config, Error> {
        let text = |name: &str| match get(name).map(OsString::into_string) {
            None => Ok(None),
            Some(Ok(text)) => Ok(Some(text)),
            Some(Err(_)) => Err(Error(format!("{name} is not valid UTF-8"))),
        };
        let home_is_named = get("PANEGLASS_HOME").is_some();
        let state = get("PANEGLASS_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(get("XDG_STATE_HOME")?).join("paneglass")));
        let home = || {
            get("HOME")
                .map(PathBuf::from)
                .or(home)
                .map(|home| home.join(".local/state/paneglass"))
        };
        let Some(home) = state.or_else(home) else {
            return Err(Error("there is no home directory to keep state in; set PANEGLASS_HOME to a directory of yours".into()));
        };
        if !home.is_absolute() {
            return Err(Error(format!(
                "PANEGLASS_HOME must be an absolute path, not {}",
                home.display()
            )));
        }
        let socket_path = match (get("PANEGLASS_SOCKET_PATH"), get("XDG_RUNTIME_DIR")) {
            (Some(path), _) => PathBuf::from(path),
            (None, Some(run)) => PathBuf::from(run).join("paneglass/server.sock"),
            (None, None) => home.join("run/server.sock"),
        };
        if !socket_path.is_absolute() {
            return Err(Error(format!(
                "PANEGLASS_SOCKET_PATH must be an absolute path, not {}",
                socket_path.display()
            )));
        }
        let tmux_socket = text("PANEGLASS_SOCKET")?.unwrap_or_else(|| SOCKET.into());
        if tmux_socket.contains('/') || tmux_socket.starts_with('.') {
            return Err(Error(format!(
                "PANEGLASS_SOCKET is a name, not a path: {tmux_socket:?}"
            )));
        }
        let log_limit = match text("PANEGLASS_LOG_LIMIT")? {
            None => LOG_LIMIT,
            Some(value) => value
                .parse()
                .ok()
                .filter(|&limit| limit > 0)
                .ok_or_else(|| {
                    Error(format!(
                        "PANEGLASS_LOG_LIMIT must be a number of bytes over 0, not {value:?}"
                    ))
                })?,
        };
        let switch = |name: &str, default| match text(name)?.as_deref() {
            None => Ok(default),
            Some("0") => Ok(false),
            Some("1") => Ok(true),
            Some(value) => Err(Error(format!("{name} must be 0 or 1, not {value:?}"))),
        };
        let read_only = switch("PANEGLASS_READ_ONLY", false)?;
        let summary = switch("PANEGLASS_SUMMARY", true)?;
        let keep_closed_days = match text("PANEGLASS_KEEP_CLOSED_DAYS")? {
            None => KEEP_CLOSED_DAYS,
            Some(value) => value.parse().map_err(|_| {
                Error(format!(
                    "PANEGLASS_KEEP_CLOSED_DAYS must be a whole number of days, 0 for ever, not {value:?}"
                ))
            })?,
        };
        variables(&text("PANEGLASS_SSH_ENV")?.unwrap_or_default())?;
        let attach_prefix = text("PANEGLASS_ATTACH_PREFIX")?.unwrap_or_default();
        if attach_prefix.contains(|c: char| c.is_control() && c != '\t') {
            return Err(Error(format!(
                "PANEGLASS_ATTACH_PREFIX must be words on one line, not {attach_prefix:?}"
            )));
        }
        let toolsets = match text("PANEGLASS_TOOLSETS")? {
            None => TOOLSETS[..2].iter().map(|name| name.to_string()).collect(),
            Some(value) => toolsets("PANEGLASS_TOOLSETS", &value)?,
        };
        let wait_max_ms = match text("PANEGLASS_WAIT_MAX_MS")? {
            None => WAIT_MAX_MS,
            Some(value) => value.parse().map_err(|_| {
                Error(format!(
                    "PANEGLASS_WAIT_MAX_MS must be a number of milliseconds, not {value:?}"
                ))
            })?,
        };
        Ok(Config {
            home,
            home_is_named,
            socket_path,
            tmux_socket,
            tmux: get("PANEGLASS_TMUX").map_or_else(|| "tmux".into(), PathBuf::from),
            attach_prefix: attach_prefix.split_whitespace().map(String::from).collect(),
            log_limit,
            read_only,
            toolsets,
            wait_max_ms,
            keep_closed_days,
            summary,
        })
    }
}

/// Names of sets of tools, separated by commas; `from` says where they were given.
pub fn toolsets(from: &str, value: &str) -> Result<Vec<String>, Error> {
    let mut names: Vec<String> = Vec::new();
    for name in value.split(',').map(str::trim) {
        if !TOOLSETS.contains(&name) {
            return Err(Error(format!(
                "{from} must name some of {}, separated by commas, not {value:?}",
                TOOLSETS.join(", ")
            )));
        }
        if !names.iter().any(|known| known == name) {
            names.push(name.to_string());
        }
    }
    Ok(names)
}

/// The names of variables in a value of PANEGLASS_SSH_ENV, separated by commas, colons or blanks.
pub fn variables(value: &str) -> Result<Vec<String>, Error> {
    let is_name = |name: &str| {
        !name.starts_with(|c: char| c.is_ascii_digit())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let names = value.split(|c: char| c == ',' || c == ':' || c.is_whitespace());
    names
        .filter(|name| !name.is_empty())
        .map(|name| match is_name(name) {
            true => Ok(name.to_owned()),
            false => Err(Error(format!(
                "PANEGLASS_SSH_ENV must be names of variables, separated by commas, and {name:?} is none"
            ))),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(pairs: &[(&str, &str)]) -> Result<Config, Error> {
        let get = |name: &str| {
            pairs
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| OsString::from(value))
        };
        Config::from(get, None)
    }

    #[test]
    fn where_state_is_kept() {
        let home = |pairs: &[(&str, &str)]| config(pairs).unwrap().home.display().to_string();
        assert_eq!(home(&[("HOME", "/h")]), "/h/.local/state/paneglass");
        assert_eq!(
            home(&[("HOME", "/h"), ("XDG_STATE_HOME", "/s")]),
            "/s/paneglass"
        );
        assert_eq!(home(&[("HOME", "/h"), ("PANEGLASS_HOME", "/p")]), "/p");
        assert!(
            config(&[])
                .unwrap_err()
                .to_string()
                .contains("set PANEGLASS_HOME")
        );
    }

    #[test]
    fn where_a_server_listens() {
        let path = |pairs: &[(&str, &str)]| {
            let home = [("HOME", "/h")];
            let pairs = [&home, pairs].concat();
            config(&pairs).unwrap().socket_path.display().to_string()
        };
        assert_eq!(path(&[]), "/h/.local/state/paneglass/run/server.sock");
        let run = ("XDG_RUNTIME_DIR", "/r");
        assert_eq!(path(&[run]), "/r/paneglass/server.sock");
        assert_eq!(path(&[run, ("PANEGLASS_SOCKET_PATH", "/s")]), "/s");
    }

    #[test]
    fn toolsets_by_name() {
        let sets = |value| {
            config(&[("HOME", "/h"), ("PANEGLASS_TOOLSETS", value)])
                .unwrap()
                .toolsets
        };
        assert_eq!(
            config(&[("HOME", "/h")]).unwrap().toolsets,
            ["terminal", "programs"]
        );
        assert_eq!(sets("devices, programs,devices"), ["devices", "programs"]);
    }

    #[test]
    fn names_of_variables() {
        assert_eq!(
            variables(" PROJECT,, _N1:UNSET\t").unwrap(),
            ["PROJECT", "_N1", "UNSET"]
        );
        assert!(variables("").unwrap().is_empty());
    }

    #[test]
    fn bad_values_stop_the_start() {
        for (name, value) in [
            ("PANEGLASS_HOME", "relative"),
            ("PANEGLASS_SOCKET", "/tmp/x"),
            ("PANEGLASS_SOCKET_PATH", "x.sock"),
            ("PANEGLASS_LOG_LIMIT", "4G"),
            ("PANEGLASS_LOG_LIMIT", "0"),
            ("PANEGLASS_READ_ONLY", "yes"),
            ("PANEGLASS_TOOLSETS", "terminal,magic"),
            ("PANEGLASS_TOOLSETS", ","),
            ("PANEGLASS_WAIT_MAX_MS", "30s"),
            ("PANEGLASS_SUMMARY", "off"),
            ("PANEGLASS_KEEP_CLOSED_DAYS", "-1"),
            ("PANEGLASS_KEEP_CLOSED_DAYS", "forever"),
            ("PANEGLASS_SSH_ENV", "PROJECT, a-b"),
            ("PANEGLASS_SSH_ENV", "1A"),
            ("PANEGLASS_SSH_ENV", "A=b"),
            ("PANEGLASS_ATTACH_PREFIX", "ssh -t\nhost"),
        ] {
            let error = config(&[("HOME", "/h"), (name, value)])
                .unwrap_err()
                .to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
