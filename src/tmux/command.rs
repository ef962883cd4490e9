//! One tmux invocation: argv in, text out, with a deadline that nothing outlives.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::ready::{self, Ready};
use crate::sys::fd;
use crate::sys::path::find_program;
use crate::sys::pidfd::PidFd;
use crate::sys::poll::{Interest, poll};

/// No tmux call takes longer on a machine that works: a plain call costs 2 ms, and one under heavy load some
/// hundred. Past this the tmux server hangs, and the caller must hear so rather than hang too.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// Variables that the tmux client (and through the first one the server, and so every later pane) starts with.
/// Everything else of our environment would leak from the first starter into all sessions; each session gets its
/// own from the launcher.
const KEPT: [&str; 5] = ["PATH", "HOME", "TMUX_TMPDIR", "USER", "LOGNAME"];

/// What systemd-run needs to reach the user's systemd, and tmux must not see.
const BUS: [&str; 2] = ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];

#[derive(Debug)]
pub enum Error {
    /// The program could not be started at all.
    Start { program: PathBuf, error: io::Error },
    /// No answer before the deadline; the client was killed.
    Hung { verb: String },
    /// There is no tmux server on our socket.
    NoServer,
    /// Another tmux session has this name.
    NameTaken { name: String },
    /// tmux refused, in its own words.
    Refused { verb: String, message: String },
    /// The client ended in the middle: what was asked for may have been done or not.
    Unanswered { verb: String },
    /// Talking to the started client failed.
    Io { verb: String, error: io::Error },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Start { program, error } if error.kind() == io::ErrorKind::NotFound => write!(
                f,
                "tmux is not installed: {} was not found; install tmux 3.2a or newer, or name one with PANEGLASS_TMUX",
                program.display()
            ),
            Error::Start { program, error } => write!(
                f,
                "tmux could not be started: {}: {error}",
                program.display()
            ),
            Error::Hung { verb } => write!(
                f,
                "tmux did not answer {verb} within {} s; its server on our socket hangs",
                DEADLINE.as_secs()
            ),
            Error::NoServer => write!(f, "no tmux server runs on our socket"),
            Error::NameTaken { name } => {
                write!(
                    f,
                    "a tmux session on our socket has the name {name:?} already"
                )
            }
            Error::Refused { verb, message } => write!(f, "tmux {verb}: {message}"),
            Error::Unanswered { verb } => write!(
                f,
                "tmux's client ended before it had answered {verb}, which may have been done or not; look before you try again"
            ),
            Error::Io { verb, error } => write!(f, "tmux {verb}: {error}"),
        }
    }
}

impl std::error::Error for Error {}

/// The tmux to call and the socket it serves. Cheap to clone; clones share the one client that stays.
#[derive(Clone, Debug)]
pub struct Tmux {
    program: PathBuf,
    /// The program's file, once it was found.
    file: Arc<OnceLock<PathBuf>>,
    socket: String,
    env: Vec<(OsString, OsString)>,
    ready: Arc<Ready>,
    /// The server is to run apart from us.
    apart: bool,
}

impl Tmux {
    /// `program` is a path or a name to look up on the PATH; `socket` a socket name for `tmux -L`.
    pub fn new(program: PathBuf, socket: String) -> Tmux {
        let mut env: Vec<(OsString, OsString)> = KEPT
            .iter()
            .filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)))
            .collect();
        // tmux runs job commands with this shell; the user's own may be anything.
        env.push(("SHELL".into(), "/bin/sh".into()));
        Tmux {
            program,
            file: Arc::default(),
            socket,
            env,
            ready: Arc::default(),
            apart: false,
        }
    }

    /// The same; a server that it has to start gets a scope of its own from the user's systemd, since in the cgroup of
    /// our service it would end with that.
    pub fn apart(self, apart: bool) -> Tmux {
        Tmux { apart, ..self }
    }

    /// Starts the server apart from us, where that is asked for and none runs. It stays without a session until
    /// `exit-empty` is set again. Failing that, the server starts as it always does.
    pub(super) fn start_apart(&self) -> Result<bool, Error> {
        if !self.apart || self.server()?.is_some() {
            return Ok(false);
        }
        let mut command = Command::new("systemd-run");
        self.confine(&mut command);
        for name in BUS {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.args(["--user", "--scope", "--quiet", "--collect", "--", "env"]);
        command.args(BUS.iter().map(|name| format!("--unset={name}")));
        command.arg(&self.program);
        command.args(["-u", "-f", "/dev/null", "-L", &self.socket]);
        command.args(["start-server", ";", "set-option", "-g", "exit-empty", "off"]);
        Ok(self
            .finish(command, "start-server", b"")
            .is_ok_and(|(ok, ..)| ok))
    }

    pub fn socket(&self) -> &str {
        &self.socket
    }

    /// The words that attach a person to `session`, ready for a shell line. `-u` because a person's locale may be
    /// C.
    pub fn attach_argv(&self, session: &str) -> Vec<String> {
        let mut argv: Vec<String> = Vec::new();
        if let Some((_, dir)) = self.env.iter().find(|(name, _)| name == "TMUX_TMPDIR") {
            argv.push("env".into());
            argv.push(format!("TMUX_TMPDIR={}", dir.to_string_lossy()));
        }
        let program = self.program.to_string_lossy().into_owned();
        argv.extend([
            program,
            "-u".into(),
            "-L".into(),
            self.socket.clone(),
            "attach".into(),
            "-t".into(),
            format!("={session}"),
        ]);
        argv
    }

    /// Runs one invocation (chained commands stand in it as separate ";" words) and returns what it printed.
    pub fn run<S: AsRef<OsStr>>(&self, words: &[S]) -> Result<String, Error> {
        self.run_with(words, b"")
    }

    /// The same with `input` on its standard input.
    pub fn run_with<S: AsRef<OsStr>>(&self, words: &[S], input: &[u8]) -> Result<String, Error> {
        let verb = words
            .first()
            .map(|word| word.as_ref().to_string_lossy().into_owned())
            .unwrap_or_default();
        let mut command = self.client();
        command.args(words);
        let (ok, out, err) = self.finish(command, &verb, input)?;
        judged(&verb, ok, out, err)
    }

    /// The same by the client that is ready. `None`: tmux was asked nothing, because the words are too many or hold
    /// what a line cannot, or no client is ready.
    pub(super) fn run_fast(&self, commands: &[&[&str]]) -> Option<Result<String, Error>> {
        let verb = commands.first()?.first()?;
        let line = ready::line(commands);
        let taken = line.as_ref().and_then(|_| self.ready.take());
        let answer = taken.zip(line).map(|(child, line)| {
            let (ok, out, err) = converse(child, verb, line.as_bytes())?;
            // Nothing said and no success: somebody ended it.
            if !ok && out.is_empty() && err.is_empty() {
                return Err(Error::Unanswered {
                    verb: verb.to_string(),
                });
            }
            judged(verb, ok, out, err)
        });
        let mut next = self.client();
        next.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        self.ready.refill(next);
        answer
    }

    /// A client of our server, up to the words of tmux's own commands.
    fn client(&self) -> Command {
        let mut command = self.program();
        command.args(["-u", "-f", "/dev/null", "-L", &self.socket]);
        command
    }

    /// tmux by its file's path: std can then start it without a fork, after which every page that any thread writes
    /// to would be copied.
    fn program(&self) -> Command {
        if self.file.get().is_none() {
            let path = self.env.iter().find(|(name, _)| name == "PATH");
            let path = path.map_or_else(OsString::new, |(_, path)| path.clone());
            if let Some(file) = find_program(&self.program, &path, Path::new("/")) {
                let _ = self.file.set(file);
            }
        }
        let file = self.file.get().filter(|file| file.exists());
        let mut command = Command::new(file.unwrap_or(&self.program));
        self.confine(&mut command);
        command
    }

    /// `tmux -V`, which needs no server.
    pub fn version_text(&self) -> Result<String, Error> {
        let mut command = self.program();
        command.arg("-V");
        let (_, out, _) = self.finish(command, "-V", b"")?;
        Ok(String::from_utf8_lossy(&out).trim().to_string())
    }

    fn confine(&self, command: &mut Command) {
        command
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir("/");
    }

    fn finish(
        &self,
        mut command: Command,
        verb: &str,
        input: &[u8],
    ) -> Result<(bool, Vec<u8>, Vec<u8>), Error> {
        command.stdin(if input.is_empty() {
            Stdio::null()
        } else {
            Stdio::piped()
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| Error::Start {
            program: self.program.clone(),
            error,
        })?;
        converse(child, verb, input)
    }
}

/// Says `input` to a started client and returns whether it succeeded, and what it printed.
fn converse(child: Child, verb: &str, input: &[u8]) -> Result<(bool, Vec<u8>, Vec<u8>), Error> {
    let mut client = Client {
        child,
        verb,
        deadline: Instant::now() + DEADLINE,
    };
    let result = client.talk(input);
    if result.is_err() {
        client.end();
    }
    result
}

/// What a client's end means.
fn judged(verb: &str, ok: bool, out: Vec<u8>, err: Vec<u8>) -> Result<String, Error> {
    let out = String::from_utf8_lossy(&out).into_owned();
    if ok {
        return Ok(out);
    }
    let err = String::from_utf8_lossy(&err).trim().to_string();
    // "error connecting to" with "No such file" is the same state as a socket that nobody serves.
    let gone = [
        "no server running on",
        "error connecting to",
        "server exited",
        "lost server",
    ];
    if gone.iter().any(|text| err.contains(text)) {
        return Err(Error::NoServer);
    }
    Err(Error::Refused {
        verb: verb.to_string(),
        message: if err.is_empty() {
            out.trim().to_string()
        } else {
            err
        },
    })
}

/// A started tmux client, ended and reaped whatever happens.
struct Client<'a> {
    child: Child,
    verb: &'a str,
    deadline: Instant,
}

impl Client<'_> {
    fn end(&mut self) {
        // SIGKILL cannot be ignored, so the wait is short.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::Io {
            verb: self.verb.to_string(),
            error,
        }
    }

    fn hung(&self) -> Error {
        Error::Hung {
            verb: self.verb.to_string(),
        }
    }

    /// Writes `input`, collects both outputs and the exit, all before the deadline.
    fn talk(&mut self, input: &[u8]) -> Result<(bool, Vec<u8>, Vec<u8>), Error> {
        let mut stdin = self.child.stdin.take();
        let mut stdout = self.child.stdout.take();
        let mut stderr = self.child.stderr.take();
        if let Some(pipe) = &stdin {
            fd::set_nonblocking(pipe.as_fd(), true).map_err(|error| self.failed(error))?;
        }
        let (mut rest, mut out, mut err) = (input, Vec::new(), Vec::new());
        while stdout.is_some() || stderr.is_some() {
            let mut watched = Vec::new();
            watched.extend(stdin.as_ref().map(|pipe| (pipe.as_fd(), Interest::Write)));
            watched.extend(stdout.as_ref().map(|pipe| (pipe.as_fd(), Interest::Read)));
            watched.extend(stderr.as_ref().map(|pipe| (pipe.as_fd(), Interest::Read)));
            let ready = poll(&watched, Some(self.deadline)).map_err(|error| self.failed(error))?;
            if !ready.contains(&true) {
                return Err(self.hung());
            }
            let mut ready = ready.into_iter();
            if stdin.is_some() && ready.next() == Some(true) {
                write_some(&mut stdin, &mut rest).map_err(|error| self.failed(error))?;
            }
            if stdout.is_some() && ready.next() == Some(true) {
                read_some(&mut stdout, &mut out).map_err(|error| self.failed(error))?;
            }
            if stderr.is_some() && ready.next() == Some(true) {
                read_some(&mut stderr, &mut err).map_err(|error| self.failed(error))?;
            }
        }
        Ok((self.exit()?, out, err))
    }

    /// Both outputs are closed: the client is about to end. Without pidfd (before Linux 5.3) its word is taken for
    /// it.
    fn exit(&mut self) -> Result<bool, Error> {
        if let Ok(None) = self.child.try_wait() {
            if let Ok(pidfd) = PidFd::open(self.child.id() as i32) {
                let watched = [(pidfd.as_fd(), Interest::Read)];
                if !poll(&watched, Some(self.deadline))
                    .map_err(|error| self.failed(error))?
                    .contains(&true)
                {
                    return Err(self.hung());
                }
            }
        }
        self.child
            .wait()
            .map(|status| status.success())
            .map_err(|error| self.failed(error))
    }
}

/// Writes what fits; closes the pipe when all is written or the reader has gone.
fn write_some<W: Write>(pipe: &mut Option<W>, rest: &mut &[u8]) -> io::Result<()> {
    let Some(writer) = pipe else { return Ok(()) };
    match writer.write(rest) {
        Ok(count) => *rest = &rest[count..],
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
            ) => {}
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => *rest = &[],
        Err(error) => return Err(error),
    }
    if rest.is_empty() {
        *pipe = None;
    }
    Ok(())
}

/// Reads what is there; closes the pipe at its end.
fn read_some<R: Read>(pipe: &mut Option<R>, into: &mut Vec<u8>) -> io::Result<()> {
    let Some(reader) = pipe else { return Ok(()) };
    let mut buffer = [0; 16 * 1024];
    match reader.read(&mut buffer) {
        Ok(0) => *pipe = None,
        Ok(count) => into.extend_from_slice(&buffer[..count]),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        Err(error) => return Err(error),
    }
    Ok(())
}
