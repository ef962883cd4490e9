//! One command on this device: started, watched, typed into and ended. Its output is read only as far as there is
//! credit for it, so that whatever floods waits in its own writes. Must not know how frames travel.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use super::guard::Guard;
use super::handle::Handle;
use crate::devices::frame::{Action, Bytes, End, PIECE, Source, Spec, Up};
use crate::sys::fd::set_nonblocking;
use crate::sys::poll::{Interest, poll};
use crate::sys::pty::{Pty, Size};
use crate::sys::stop::with_fresh_signals;
use crate::sys::{passwd, signal};

/// A job that is to end is asked to first, and killed after this.
const GRACE: Duration = Duration::from_secs(1);

/// What a program has printed at its end may still be on its way through the terminal; what it left running may hold
/// its output open for ever.
const DRAIN: Duration = Duration::from_millis(200);

/// The same where output waits for credit, each time that some comes: but not longer than this altogether.
const LINGER: Duration = Duration::from_secs(30);

/// Between two tries to type where the program does not read.
const RETRY: Duration = Duration::from_millis(20);

/// What a terminal is called where nobody says.
const TERMINAL: &str = "xterm-256color";

/// A job to run.
pub struct Job {
    pub id: u64,
    pub spec: Spec,
    pub handle: Arc<Handle>,
    pub up: Sender<Up>,
    pub guard: Arc<Guard>,
}

/// Why a job is to end before its program does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    TimedOut,
    Canceled,
    /// Its link has gone.
    Left,
}

/// A job whose program has been started.
struct Running {
    job: Job,
    /// The program's process group.
    group: i32,
    pty: Option<Pty>,
    /// What it prints, until each ends.
    outputs: Vec<(Source, File)>,
    credit: u64,
    /// Bytes of output that are still wanted.
    wanted: u64,
    truncated: bool,
    typed: VecDeque<u8>,
    /// Not before this.
    type_at: Option<Instant>,
    timeout: Option<Instant>,
    /// Why it is to end, and when it is killed.
    ending: Option<(Why, Instant)>,
    killed: bool,
    exit: Option<io::Result<ExitStatus>>,
    /// When what it has left is waited for no longer: usually, and in any case.
    drained: Option<(Instant, Instant)>,
}

impl Job {
    /// Runs it to its end, which is reported.
    pub fn run(self) {
        let (id, up, handle) = (self.id, self.up.clone(), Arc::clone(&self.handle));
        let end = match self.start() {
            Ok(running) => running.run(),
            Err(reason) => End::failed(reason),
        };
        // What was asked and not taken up is answered, so that nobody waits for it.
        let mut inbox = handle.inbox();
        inbox.over = true;
        for (number, _) in inbox.actions.drain(..) {
            let error = Some("it has ended".into());
            let _ = up.send(Up::Ack { number, error });
        }
        drop(inbox);
        // The link has gone: so has everybody who would want to know.
        let _ = up.send(Up::End { id, end });
    }

    fn start(self) -> Result<Running, String> {
        let mut command = self.command()?;
        let fail = |error: io::Error| format!("it cannot be started: {error}");
        let (mut child, pty, outputs) = match self.spec.terminal {
            Some((cols, rows)) => {
                let pty = Pty::open(Size { cols, rows }).map_err(fail)?;
                set_nonblocking(pty.master.as_fd(), true).map_err(fail)?;
                let child = pty.spawn(command).map_err(fail)?;
                let output = pty.master.try_clone().map_err(fail)?;
                (child, Some(pty), vec![(Source::Terminal, output)])
            }
            None => {
                let pipes = command
                    .stdin(Stdio::null())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .process_group(0);
                let mut child = with_fresh_signals(pipes).spawn().map_err(fail)?;
                let out = child.stdout.take().map(OwnedFd::from);
                let err = child.stderr.take().map(OwnedFd::from);
                let outputs = [(Source::Stdout, out), (Source::Stderr, err)];
                let outputs = outputs
                    .into_iter()
                    .filter_map(|(source, fd)| Some((source, File::from(fd?))));
                (child, None, outputs.collect())
            }
        };
        // It leads a group of its own either way.
        let group = child.id() as i32;
        self.guard.add(child.id());
        let handle = Arc::clone(&self.handle);
        let waiting = thread::Builder::new()
            .name("job-wait".into())
            .spawn(move || handle.exited(child.wait()));
        if let Err(error) = waiting {
            // Fails when it has gone by itself.
            let _ = signal::kill_group(group, signal::KILL);
            return Err(fail(error));
        }
        let timeout = match self.spec.timeout_ms {
            0 => None,
            ms => Instant::now().checked_add(Duration::from_millis(ms)),
        };
        Ok(Running {
            group,
            pty,
            outputs,
            credit: 0,
            wanted: self.spec.keep.unwrap_or(u64::MAX),
            truncated: false,
            typed: VecDeque::new(),
            type_at: None,
            timeout,
            ending: None,
            killed: false,
            exit: None,
            drained: None,
            job: self,
        })
    }

    /// The program and its arguments.
    fn program(&self) -> Command {
        if let [program, args @ ..] = self.spec.argv.as_slice() {
            let mut command = Command::new(program);
            command.args(args);
            return command;
        }
        let shell = shell();
        let mut command = Command::new(&shell);
        match &self.spec.command {
            Some(text) => {
                command.arg("-c").arg(text);
            }
            // How a shell knows that it is one of a login.
            None => {
                let name = shell.file_name().unwrap_or_default().to_string_lossy();
                command.arg0(format!("-{name}"));
            }
        }
        command
    }

    fn command(&self) -> Result<Command, String> {
        let mut command = self.program();
        if let Some(cwd) = &self.spec.cwd {
            if !Path::new(cwd).is_dir() {
                return Err(format!("there is no folder {cwd:?} on the device"));
            }
            command.current_dir(cwd);
        }
        if self.spec.terminal.is_some() {
            command.env("TERM", TERMINAL);
        }
        let bad = |name: &String| name.is_empty() || name.contains(['=', '\0']);
        if let Some(name) = self.spec.env.keys().find(|name| bad(name)) {
            return Err(format!("{name:?} is no name of an environment variable"));
        }
        command.envs(&self.spec.env);
        Ok(command)
    }
}

/// The user's shell.
pub fn shell() -> PathBuf {
    let named = std::env::var_os("SHELL").map(PathBuf::from);
    let known = || passwd::me().map(|user| user.shell);
    named
        .or_else(known)
        .filter(|shell| shell.is_absolute() && shell.is_file())
        .unwrap_or_else(|| "/bin/sh".into())
}

impl Running {
    fn run(mut self) -> End {
        loop {
            self.job.handle.bell.clear();
            self.take_up();
            self.keep_time();
            if self.is_over() {
                break;
            }
            if let Err(error) = self.wait_and_carry() {
                self.end_early(Why::Canceled);
                self.exit.get_or_insert(Err(error));
            }
        }
        if self.ending.is_some() {
            // Whatever of it is left.
            self.signal(&[signal::KILL]);
        }
        self.job.guard.remove(self.group.unsigned_abs());
        self.told()
    }

    /// Takes up what was put into the handle.
    fn take_up(&mut self) {
        let (actions, size, left) = {
            let handle = Arc::clone(&self.job.handle);
            let mut inbox = handle.inbox();
            let credit = std::mem::take(&mut inbox.credit);
            self.credit += credit;
            self.typed.append(&mut inbox.typed);
            if let Some(exit) = inbox.exit.take() {
                self.exit = Some(exit);
                self.timeout = None;
                let now = Instant::now();
                self.drained = Some((now + DRAIN, now + LINGER));
            } else if let (Some((drained, _)), true) = (&mut self.drained, credit > 0) {
                *drained = Instant::now() + DRAIN;
            }
            let actions = std::mem::take(&mut inbox.actions);
            (actions, inbox.size.take(), inbox.left)
        };
        if let (Some((cols, rows)), Some(pty)) = (size, &self.pty) {
            // A terminal that has gone has no size.
            let _ = pty.resize(Size { cols, rows });
        }
        for (number, action) in actions {
            let error = self.act(action).err();
            // The link has gone, with everybody who would want to know.
            let _ = self.job.up.send(Up::Ack { number, error });
        }
        if left {
            self.end_early(Why::Left);
        }
    }

    fn act(&mut self, action: Action) -> Result<(), String> {
        if action == Action::Stop {
            self.end_early(Why::Canceled);
            return Ok(());
        }
        if self.exit.is_some() {
            return Err("it has ended".into());
        }
        let pty = self.pty.as_ref().ok_or("it has no terminal")?;
        if action == Action::Interrupt {
            let group = pty.foreground().unwrap_or(self.group);
            return signal::kill_group(group, signal::INT)
                .map_err(|error| format!("it cannot be interrupted: {error}"));
        }
        let byte = pty
            .end_of_input()
            .map_err(|error| format!("its terminal cannot be looked at: {error}"))?;
        let byte = byte.ok_or(
            "the program has its terminal in raw mode, or without an end-of-file character: there is no end of input there",
        )?;
        self.typed.push_back(byte);
        Ok(())
    }

    fn end_early(&mut self, why: Why) {
        if self.ending.is_none() && self.exit.is_none() {
            self.ending = Some((why, Instant::now() + GRACE));
            // A shell at its prompt heeds the first alone, a stopped one needs the last.
            self.signal(&[signal::HUP, signal::TERM, signal::CONT]);
        }
    }

    /// To the program's group, and to the one in front of its terminal.
    fn signal(&self, signals: &[i32]) {
        let front = self.pty.as_ref().and_then(Pty::foreground);
        let front = front.filter(|&front| front != self.group);
        for group in [Some(self.group), front].into_iter().flatten() {
            for &signal in signals {
                // Fails when it has gone by itself.
                let _ = signal::kill_group(group, signal);
            }
        }
    }

    fn keep_time(&mut self) {
        let now = Instant::now();
        if self.timeout.is_some_and(|at| now >= at) {
            self.end_early(Why::TimedOut);
        }
        match self.ending {
            Some((_, at)) if now >= at && !self.killed => {
                self.killed = true;
                self.signal(&[signal::KILL]);
            }
            _ => {}
        }
    }

    fn is_over(&self) -> bool {
        let now = Instant::now();
        // What cannot even be killed is not waited for.
        if let Some((why, at)) = self.ending {
            if now >= at + GRACE || why == Why::Left && self.exit.is_some() {
                return true;
            }
        }
        match (&self.exit, self.drained_at()) {
            (Some(_), _) if self.outputs.is_empty() => true,
            (Some(_), Some(at)) => now >= at,
            _ => false,
        }
    }

    /// When what the program has left is waited for no longer.
    fn drained_at(&self) -> Option<Instant> {
        let waits_for_credit = self.credit == 0 && self.wanted > 0 && self.ending.is_none();
        let (usual, last) = self.drained?;
        Some(if waits_for_credit {
            last
        } else {
            usual.min(last)
        })
    }

    /// Waits for something to do, and does it.
    fn wait_and_carry(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let may_read = self.credit > 0 || self.wanted == 0 || self.ending.is_some();
        let may_type = !self.typed.is_empty() && self.type_at.is_none_or(|at| now >= at);
        let mut watched = vec![(self.job.handle.bell.as_fd(), Interest::Read)];
        let reads = if may_read { self.outputs.len() } else { 0 };
        for (_, output) in &self.outputs[..reads] {
            watched.push((output.as_fd(), Interest::Read));
        }
        let types = self.pty.as_ref().filter(|_| may_type);
        if let Some(pty) = types {
            watched.push((pty.master.as_fd(), Interest::Write));
        }
        let ready = poll(&watched, self.deadline())?;
        if types.is_some() && ready.last() == Some(&true) {
            self.type_on();
        }
        for at in (0..reads).rev() {
            if ready[1 + at] && !self.read(at) {
                self.outputs.remove(at);
            }
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        let ending = self
            .ending
            .map(|(_, at)| if self.killed { at + GRACE } else { at });
        let timeout = self.timeout.filter(|_| self.ending.is_none());
        let typing = self.type_at.filter(|_| !self.typed.is_empty());
        [ending, timeout, typing, self.drained_at()]
            .into_iter()
            .flatten()
            .min()
    }

    fn type_on(&mut self) {
        let Some(pty) = &self.pty else { return };
        let (first, _) = self.typed.as_slices();
        self.type_at = None;
        match (&pty.master).write(&first[..first.len().min(PIECE)]) {
            Ok(count) => drop(self.typed.drain(..count)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.type_at = Some(Instant::now() + RETRY);
            }
            // Nobody reads any more.
            Err(_) => self.typed.clear(),
        }
    }

    /// Reads a piece of an output. False at its end.
    fn read(&mut self, at: usize) -> bool {
        let mut piece = [0; PIECE];
        let discards = self.wanted == 0 || self.credit == 0;
        let most = match discards {
            true => PIECE,
            false => PIECE.min(usize::try_from(self.credit).unwrap_or(PIECE)),
        };
        let (source, output) = &mut self.outputs[at];
        let source = *source;
        let count = match output.read(&mut piece[..most]) {
            Ok(0) => return false,
            Ok(count) => count,
            Err(error) => {
                return matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                );
            }
        };
        let kept = match discards {
            true => 0,
            false => count.min(usize::try_from(self.wanted).unwrap_or(count)),
        };
        self.truncated |= kept < count;
        if kept > 0 {
            self.wanted -= kept as u64;
            self.credit -= kept as u64;
            let data = Bytes(piece[..kept].to_vec());
            let id = self.job.id;
            // The link has gone: the job hears of it on its own way.
            let _ = self.job.up.send(Up::Output {
                id,
                from: source,
                data,
            });
        }
        true
    }

    /// How it ended, for who asked for it.
    fn told(self) -> End {
        let truncated = self.truncated;
        let why = self.ending.map(|(why, _)| why);
        let early = |error: &str| End {
            truncated,
            timed_out: why == Some(Why::TimedOut),
            canceled: why != Some(Why::TimedOut),
            ..End::failed(error)
        };
        match (why, self.exit) {
            (Some(Why::TimedOut), _) => early("it took longer than `timeout_ms` and was ended"),
            (Some(Why::Canceled | Why::Left), _) => early("it was stopped"),
            (None, Some(Ok(status))) => match (status.code(), status.signal()) {
                (Some(exit_code), _) => End {
                    exit_code,
                    truncated,
                    ..End::default()
                },
                (None, number) => {
                    let name = number.and_then(signal::name);
                    let name = name.unwrap_or_else(|| "a signal".into());
                    End {
                        truncated,
                        ..End::failed(format!("killed by {name}"))
                    }
                }
            },
            (None, Some(Err(error))) => End::failed(format!("its end is not known: {error}")),
            (None, None) => End::failed("its end is not known"),
        }
    }
}

#[cfg(test)]
mod tests;
