//! Making a session.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use regex::Regex;

use super::checkpoint::Checkpoint;
use super::log::Log;
use super::prompts::Prompts;
use super::registry::LIVE_SESSIONS;
use super::state::State;
use super::{Error, Meta, Session, Sessions, environment, meta, now_ms};
use crate::place::files::{self, Shell};
use crate::store::records::Records;
use crate::store::spawn::Spawn;
use crate::store::text::TextLog;
use crate::store::{atomic, dir, layout::SessionDir, marker};
use crate::sys::path::find_program;
use crate::sys::{passwd, random};
use crate::term::{Options, Terminal, width};
use crate::tmux::format::shell_line;
use crate::tmux::{self, NewPane, PaneId, Stand};

/// Environment given by a caller, in bytes.
pub const ENV_MOST: usize = 64 * 1024;

/// Rows kept revisable above the screen, in screens: more than an attaching person's larger window pulls back.
const HELD_SCREENS: u16 = 8;

/// What a session is to be.
#[derive(Debug, Default)]
pub struct Request {
    pub name: Option<String>,
    pub command: Option<String>,
    pub cwd: Option<PathBuf>,
    pub env: Vec<(String, String)>,
    pub cols: u16,
    pub rows: u16,
    pub fixed_size: bool,
    /// Checked already.
    pub prompt_pattern: Option<String>,
    pub delete_logs_on_close: bool,
    pub agent: String,
    /// Instead of `command`: this argv, which begins with a program, exactly and without a shell. Nobody looks first
    /// whether the program and the folder are there: the launcher finds out.
    pub program: Option<(Vec<String>, meta::Program)>,
    /// In another session's window; in one of its own when absent.
    pub beside: Option<Beside>,
}

/// Where in another session's window.
#[derive(Debug)]
pub struct Beside {
    pub session: Arc<Session>,
    /// Below it, not to its right.
    pub below: bool,
    /// Rows or columns, or a share as "50%".
    pub size: Option<String>,
}

/// Characters of an exact argv that stand for it where commands are shown: argv may be 100 KB.
const SHOWN: usize = 2_000;

/// A name that was free in tmux when it was asked may be another server's by the time it is used: so often at most.
const NAMINGS: u32 = 8;

/// The program of a session: what to start, and whether its shell prints markers.
struct Program {
    argv: Vec<String>,
    env: Vec<(String, String)>,
    integrated: Option<String>,
    shown: String,
}

impl Sessions {
    /// Makes a session and begins to follow it. On failure nothing is left behind.
    pub fn create(&self, request: &Request) -> Result<Arc<Session>, Error> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if self.live_names().len() >= LIVE_SESSIONS {
            return Err(Error::Refused(format!(
                "{LIVE_SESSIONS} sessions are open, which is the most; close one with `session_close`"
            )));
        }
        let mut others = Vec::new();
        for _ in 0..NAMINGS {
            let name = self.name(request, &others)?;
            let cwd = folder(request)?;
            match self.create_named(request, &name, cwd) {
                Err(Error::Tmux(tmux::Error::NameTaken { .. })) if request.name.is_none() => {
                    others = self.tmux.session_names()?;
                }
                Err(Error::Tmux(tmux::Error::NameTaken { name })) => {
                    return Err(self.name_of_another(&name));
                }
                other => return other,
            }
        }
        Err(Error::Refused(format!(
            "{NAMINGS} names were taken by others in tmux as they were tried; try again"
        )))
    }

    /// Sessions of two state directories may stand in one tmux server, where a name is there once.
    fn name_of_another(&self, name: &str) -> Error {
        Error::Refused(format!(
            "{name:?} is the name of a tmux session on the socket {} that is not of this server: another paneglass server's, or made by hand. \
Choose another name, or give this server a PANEGLASS_SOCKET of its own",
            self.settings.tmux_socket
        ))
    }

    fn create_named(
        &self,
        request: &Request,
        name: &str,
        cwd: PathBuf,
    ) -> Result<Arc<Session>, Error> {
        let nonce =
            random::hex(16).map_err(|error| Error::Io("no random numbers".into(), error))?;
        let program = self.program(request, &nonce, &cwd)?;
        self.archive(name)?;
        let dir = self.layout.session(name);
        let made = self.make(request, name, &dir, cwd, nonce, program);
        if made.is_err() {
            let _ = std::fs::remove_dir_all(&dir.path);
        }
        made
    }

    fn make(
        &self,
        request: &Request,
        name: &str,
        dir: &SessionDir,
        cwd: PathBuf,
        nonce: String,
        program: Program,
    ) -> Result<Arc<Session>, Error> {
        dir::private(&dir.path)?;
        if request.delete_logs_on_close {
            marker::set(&dir.delete_on_close())?;
        }
        // Made here, so that they can be watched before the tap writes the first byte.
        for path in [dir.raw(), dir.times()] {
            atomic::replace(&path, b"")?;
        }
        let env = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        // Whatever the program is, what it starts may mark (`paneglass ssh`, `into`).
        let own = vec![(files::NONCE.to_string(), nonce.clone())];
        let mut env =
            environment::for_program(env, &[own, program.env, request.env.clone()].concat());
        environment::add_folder(&mut env, &self.layout.bin());
        let spawn = Spawn {
            argv: program.argv,
            cwd: cwd.clone(),
            env,
            descriptors: self.descriptors,
            adopt: request.program.is_some(),
        };
        spawn.write(&dir.spawn())?;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let binary = text(&self.settings.binary);
        let stand = match &request.beside {
            None => Stand::Alone {
                name,
                cols: request.cols,
                rows: request.rows,
            },
            Some(beside) => Stand::Beside {
                pane: &beside.session.pane,
                below: beside.below,
                size: beside.size.as_deref(),
            },
        };
        let info = self.tmux.create(&NewPane {
            stand,
            tag: &nonce,
            fixed_size: request.fixed_size,
            news: &self.news(),
            argv: &[binary, "launch".into(), text(&dir.path)],
            tap: &self.settings.tap_words(dir),
        })?;
        let meta = Meta {
            format: meta::FORMAT,
            name: name.to_string(),
            agent: request.agent.clone(),
            created: now_ms(),
            command: program.shown,
            integrated: program.integrated,
            nonce,
            cwd,
            cols: info.cols,
            rows: info.rows,
            fixed_size: request.fixed_size,
            prompt_pattern: request.prompt_pattern.clone(),
            delete_logs_on_close: request.delete_logs_on_close,
            host: passwd::hostname(),
            tmux_socket: self.settings.tmux_socket.clone(),
            tmux_tmpdir: std::env::var("TMUX_TMPDIR").ok(),
            tmux_version: self.version.to_string(),
            pane: info.pane.0.clone(),
            pid: info.pid,
            tty: info.tty,
            window: request
                .beside
                .as_ref()
                .map(|beside| beside.session.window().to_string()),
            adopted: false,
            end: None,
            program: request.program.as_ref().map(|(_, program)| program.clone()),
        };
        let made = self.begin(meta, dir);
        if made.is_err() {
            let _ = self.tmux.kill(&info.pane);
        }
        made
    }

    /// Writes a new session down and follows it.
    pub(super) fn begin(&self, meta: Meta, dir: &SessionDir) -> Result<Arc<Session>, Error> {
        meta.write(&dir.meta())?;
        let mut state = fresh_state(&meta, dir)?;
        state.record_to(Records::open(&dir.regions())?);
        let session = Arc::new(session(meta, dir.clone(), state));
        self.list().insert(session.name.clone(), session.clone());
        self.follow(&session);
        Ok(session)
    }

    /// Moves the logs of an ended session of this name to NAME.1, NAME.2, ...
    fn archive(&self, name: &str) -> Result<(), Error> {
        let old = self.layout.session(name).path;
        // An exited pane that still shows its last screen has the name in tmux too.
        if let Some(session) = self.list().get(name).cloned() {
            self.kill_pane(&session.pane, &session.meta.nonce)?;
            if let Some(follower) = &self.follower {
                follower.forget(&session);
            }
        }
        if let Some(meta) = self.closed().get(name).cloned() {
            self.kill_pane(&PaneId(meta.pane), &meta.nonce)?;
        }
        self.list().remove(name);
        self.closed().remove(name);
        if old.exists() {
            let free = |path: &PathBuf| !path.exists();
            let new = (1u32..)
                .map(|n| self.layout.sessions().join(format!("{name}.{n}")))
                .find(free)
                .unwrap_or_default();
            std::fs::rename(&old, &new).map_err(|error| {
                Error::Io(
                    format!("cannot move {} to {}", old.display(), new.display()),
                    error,
                )
            })?;
        }
        Ok(())
    }

    fn program(&self, request: &Request, nonce: &str, cwd: &Path) -> Result<Program, Error> {
        if let Some((argv, _)) = &request.program {
            let shown = shell_line(argv);
            return Ok(Program {
                argv: argv.clone(),
                env: Vec::new(),
                integrated: None,
                shown: match shown.char_indices().nth(SHOWN) {
                    Some((end, _)) => format!("{}...", &shown[..end]),
                    None => shown,
                },
            });
        }
        let command = request.command.as_deref().map_or("bash", str::trim);
        if command.is_empty() {
            return Err(Error::Refused(
                "command is empty: leave it out for a bash, or name a program".into(),
            ));
        }
        let path = request
            .env
            .iter()
            .find(|(name, _)| name == "PATH")
            .map(|(_, value)| value.clone());
        let path = path
            .or_else(|| std::env::var("PATH").ok())
            .unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let path = format!("{path}:{}", self.own_folder()?.display());
        if let Some(shell) = integrated_shell(command) {
            let launch = files::launch(shell, &self.shell_files()?, nonce);
            let mut env = launch.env;
            // zsh is started with a ZDOTDIR of ours; the user's own must be known to be put back.
            let own = request
                .env
                .iter()
                .find(|(name, _)| name == "ZDOTDIR")
                .map(|(_, value)| value.clone());
            if let Some(own) = own
                .or_else(|| std::env::var("ZDOTDIR").ok())
                .filter(|_| shell == Shell::Zsh)
            {
                env.push(("__PANEGLASS_ZDOTDIR".into(), own));
            }
            let name = launch.argv.first().cloned().unwrap_or_default();
            if find_program(name.as_ref(), path.as_ref(), cwd).is_none() {
                return Err(Error::Refused(format!(
                    "{name} was not found on the PATH; nothing was started"
                )));
            }
            return Ok(Program {
                argv: launch.argv,
                env,
                integrated: Some(name),
                shown: command.to_string(),
            });
        }
        let argv = match plain_words(command) {
            Some(words) => {
                if find_program(words[0].as_ref(), path.as_ref(), cwd).is_none() {
                    return Err(Error::Refused(format!(
                        "{:?} was not found on the PATH, or is not executable; nothing was started",
                        words[0]
                    )));
                }
                words
            }
            None => vec!["/bin/sh".into(), "-c".into(), command.to_string()],
        };
        Ok(Program {
            argv,
            env: Vec::new(),
            integrated: None,
            shown: command.to_string(),
        })
    }

    /// The folder with a link to this program, for the sessions' PATH and for devices that come by ssh: it need not be
    /// on theirs.
    pub fn own_folder(&self) -> Result<PathBuf, Error> {
        let dir = self.layout.bin();
        dir::private(&dir)?;
        atomic::link(&self.layout.own_program(), &self.settings.binary)?;
        Ok(dir)
    }

    /// The folder with the integration's files, written once per server.
    pub fn shell_files(&self) -> Result<PathBuf, Error> {
        static WRITTEN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
        let dir = self.layout.shell();
        let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
        if !written.contains(&dir) || !dir.exists() {
            dir::private(&dir)?;
            files::write(&dir).map_err(|error| Error::Refused(error.to_string()))?;
            written.push(dir.clone());
        }
        Ok(dir)
    }
}

pub(super) fn fresh_state(meta: &Meta, dir: &SessionDir) -> Result<State, Error> {
    Ok(State::new(
        Terminal::new(options(meta)),
        TextLog::create(dir)?,
        Log::new(dir),
        prompts(meta)?,
        Checkpoint::none(meta, dir),
    ))
}

pub(super) fn prompts(meta: &Meta) -> Result<Prompts, Error> {
    let own = match &meta.prompt_pattern {
        Some(pattern) => Some(
            Regex::new(pattern)
                .map_err(|error| Error::Refused(format!("prompt_pattern: {error}")))?,
        ),
        None => None,
    };
    Ok(Prompts::new(own))
}

/// The terminal as a session's log begins.
pub(super) fn options(meta: &Meta) -> Options {
    Options {
        cols: meta.cols,
        rows: meta.rows,
        rules: width::Rules::for_version(&meta.tmux_version),
        nonce: Some(meta.nonce.clone()),
        // A window that a person may enlarge, or widen, pulls history back: so many rows are kept revisable.
        hold_back: meta.rows.saturating_mul(HELD_SCREENS),
    }
}

pub(super) fn session(meta: Meta, dir: SessionDir, state: State) -> Session {
    let pane = PaneId(meta.pane.clone());
    Session {
        name: meta.name.clone(),
        dir,
        pane,
        meta,
        state: std::sync::Mutex::new(state),
        program: std::sync::OnceLock::new(),
    }
}

fn folder(request: &Request) -> Result<PathBuf, Error> {
    let home = || {
        std::env::var_os("HOME")
            .map(PathBuf::from)
            .or_else(|| Some(passwd::me()?.home))
            .filter(|home| home.is_dir())
    };
    let Some(cwd) = &request.cwd else {
        return Ok(std::env::current_dir()
            .ok()
            .or_else(home)
            .unwrap_or_else(|| "/".into()));
    };
    let cwd = match cwd.strip_prefix("~") {
        Ok(rest) => home().unwrap_or_else(|| "/".into()).join(rest),
        Err(_) => cwd.clone(),
    };
    if request.program.is_some() && cwd.is_absolute() {
        return Ok(cwd);
    }
    // tmux silently starts elsewhere when the folder is missing.
    match std::fs::read_dir(&cwd) {
        _ if !cwd.is_absolute() => Err(Error::Refused(format!(
            "cwd {:?} is not absolute: begin with / or ~",
            cwd.display().to_string()
        ))),
        Ok(_) => Ok(cwd),
        Err(error) => Err(Error::Refused(format!(
            "cwd {} cannot be entered: {error}; nothing was started",
            cwd.display()
        ))),
    }
}

/// `bash`, `zsh` or `fish`, as a path or with -i or -l only: those get the integration.
fn integrated_shell(command: &str) -> Option<Shell> {
    let mut words = command.split_whitespace();
    let name = words.next()?.rsplit('/').next()?;
    let shell = Shell::named(name)?;
    words
        .all(|word| matches!(word, "-i" | "-l" | "-il" | "-li" | "--login"))
        .then_some(shell)
}

/// The words of a command that needs no shell to be read.
fn plain_words(command: &str) -> Option<Vec<String>> {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=@,+% ".contains(c);
    let words: Vec<String> = command.split_whitespace().map(String::from).collect();
    (command.chars().all(plain) && !words.first()?.contains('=')).then_some(words)
}

/// Bounds how long the creator waits for a first prompt; past it the session is given as it is.
pub fn first_prompt_deadline() -> Instant {
    Instant::now() + std::time::Duration::from_secs(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bare_shells_are_integrated() {
        assert_eq!(integrated_shell("bash"), Some(Shell::Bash));
        assert_eq!(integrated_shell("/usr/bin/bash -l"), Some(Shell::Bash));
        assert_eq!(integrated_shell("bash --norc"), None);
        assert_eq!(integrated_shell("zsh -f"), None);
        assert_eq!(integrated_shell("fish -N"), None);
        assert_eq!(integrated_shell("bashful"), None);
    }

    #[test]
    fn commands_that_need_a_shell() {
        assert_eq!(
            plain_words("python3 -i x.py"),
            Some(vec!["python3".into(), "-i".into(), "x.py".into()])
        );
        for shell in ["a; b", "A=1 b", "echo $X", "a | b", "a 'b'", "cd x && y"] {
            assert_eq!(plain_words(shell), None, "{shell}");
        }
    }
}
