//! /proc: which processes are on a terminal, and whether the foreground job waits for it or works.
//!
//! `stat`, `tty`, `call`, `status` and `people` parse bytes; `files` and `blocked` look at one process, `tree` at all of
//! them; `look` puts the answer together, and `rest` says cheaply whether it still holds. Everything is read below a root folder, so that tests can bring their
//! own. There is no clock here: who asks again compares two [`View`]s. Nothing here knows tmux, sessions or
//! prompts.
#![forbid(unsafe_code)]
// Nothing asks yet: the sessions are built beside this.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

mod blocked;
mod call;
#[cfg(test)]
mod cases;
mod files;
mod look;
mod people;
mod rest;
mod stat;
mod status;
mod tree;
mod tty;
mod view;

pub use rest::Rest;
pub use stat::{Process, TICKS_PER_SECOND};
pub use status::Status;
pub use tree::Tree;
pub use tty::Tty;
pub use view::{Foreground, Named, Verdict, View, WaitsBy};

/// The number of a process, a thread or a process group, as our own PID namespace counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pid(pub i32);

/// Room for a line of /proc/PID/stat: a name of at most 64 bytes and 51 numbers. The kernel hands it over in one
/// read, and that there are as many as there are processes is what a look costs most.
const LINE_BYTES: usize = 2048;

/// The kinds of namespaces that a sandbox has of its own. A session of systemd's may share all but the cgroup's.
const NAMESPACES: [&str; 6] = ["mnt", "pid", "user", "net", "uts", "ipc"];

impl fmt::Display for Pid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// A mounted /proc.
///
/// Processes come and go while it is read: what has gone is told as None or left out, never as an error.
#[derive(Clone, Debug)]
pub struct Proc {
    root: PathBuf,
    /// Files and folders of a process that count as forbidden: tests look as a user with fewer rights does.
    forbidden: &'static [&'static str],
}

impl Proc {
    /// Reads below `root`, normally `/proc`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            forbidden: &[],
        }
    }

    /// The process, a zombie too. None when there is none.
    pub fn process(&self, pid: Pid) -> Option<Process> {
        let mut line = [0; LINE_BYTES];
        let mut file = File::open(self.allowed(pid, "stat").ok()?).ok()?;
        let length = file.read(&mut line).ok()?;
        Process::parse(&line[..length])
    }

    /// The arguments it was started with, or what it wrote over them. Empty for a zombie and for a kernel thread.
    pub fn cmdline(&self, pid: Pid) -> Vec<Vec<u8>> {
        people::arguments(&self.bytes(pid, "cmdline").unwrap_or_default())
    }

    /// Its working directory. None too when it is another user's.
    pub fn cwd(&self, pid: Pid) -> Option<PathBuf> {
        std::fs::read_link(self.allowed(pid, "cwd").ok()?).ok()
    }

    /// Users and namespaces, from /proc/PID/status.
    pub fn status(&self, pid: Pid) -> Option<Status> {
        Status::parse(&self.bytes(pid, "status").ok()?)
    }

    /// The file of its program. None for a kernel thread, and when it is another user's.
    pub fn exe(&self, pid: Pid) -> Option<PathBuf> {
        std::fs::read_link(self.allowed(pid, "exe").ok()?).ok()
    }

    /// Whether a path leads to a file as this process sees the file system.
    pub fn sees_file(&self, pid: Pid, path: &Path) -> bool {
        let below = path.strip_prefix("/").unwrap_or(path);
        self.allowed(pid, "root")
            .is_ok_and(|root| root.join(below).is_file())
    }

    /// The kernel's function that the process sleeps in; "0" or empty when it does not sleep, or may not be seen.
    pub fn wchan(&self, pid: Pid) -> String {
        let name = self.bytes(pid, "wchan").unwrap_or_default();
        String::from_utf8_lossy(name.trim_ascii()).into_owned()
    }

    /// The namespaces it lives in, each as the kernel names it (`mnt:[4026531840]`), in the order of NAMESPACES. None when
    /// they are hidden, as another user's are.
    pub fn namespaces(&self, pid: Pid) -> Option<Vec<PathBuf>> {
        NAMESPACES
            .iter()
            .map(|name| std::fs::read_link(self.allowed(pid, &format!("ns/{name}")).ok()?).ok())
            .collect()
    }

    /// All processes there are now. One pass over /proc costs 5 to 7 microseconds a process.
    pub fn tree(&self) -> Tree {
        Tree::scan(self)
    }

    /// The job in front on the terminal of this process: the group that typed keys and ^C go to. None when the
    /// process has gone or has no terminal, or when the group is outside our PID namespace.
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "which host and user a session is on is asked by what comes next: places"
        )
    )]
    pub fn foreground(&self, pane_pid: Pid) -> Option<Foreground> {
        let pane = self.process(pane_pid)?;
        let pgrp = pane.tpgid?;
        // The usual case needs no pass over all processes: the group's leader is alive.
        if let Some(leader) = self
            .process(pgrp)
            .filter(|leader| leader.pgrp == pgrp && !leader.is_dead())
        {
            return Some(self.name_foreground(&pane, pgrp, Some(&leader)));
        }
        let tree = self.tree();
        let oldest = tree
            .group(pgrp)
            .filter(|member| !member.is_dead())
            .min_by_key(|member| member.start_time);
        Some(self.name_foreground(&pane, pgrp, oldest))
    }

    /// Whether the foreground job of the terminal `tty_path`, on which `pane_pid` was started, waits for input.
    pub fn look(&self, pane_pid: Pid, tty_path: &Path) -> View {
        look::look(self, pane_pid, tty_path)
    }

    /// Yama's ptrace_scope: 1 or more keeps an ordinary user from seeing which system call a process sleeps in.
    /// None where the kernel has no Yama.
    pub fn yama_scope(&self) -> Option<u8> {
        stat::number(
            std::fs::read(self.root.join("sys/kernel/yama/ptrace_scope"))
                .ok()?
                .trim_ascii(),
        )
    }

    /// Whether the system calls of this process can be seen, which is what tells waiting from working for certain.
    pub fn sees_calls(&self, pid: Pid) -> bool {
        call::NATIVE.is_some() && self.bytes(pid, "syscall").is_ok()
    }

    fn name_foreground(&self, pane: &Process, pgrp: Pid, leader: Option<&Process>) -> Foreground {
        Foreground {
            pgrp,
            leader: leader.map(|leader| self.named(leader)),
            own: pane.pgrp == pgrp,
        }
    }

    fn named(&self, process: &Process) -> Named {
        let arguments = self.cmdline(process.pid);
        Named {
            pid: process.pid,
            start_time: process.start_time,
            name: people::name(&arguments, &process.comm),
            command: people::command(&arguments, &process.comm),
        }
    }

    fn bytes(&self, pid: Pid, file: &str) -> io::Result<Vec<u8>> {
        std::fs::read(self.allowed(pid, file)?)
    }

    fn folder(&self, pid: Pid, name: &str) -> io::Result<std::fs::ReadDir> {
        std::fs::read_dir(self.allowed(pid, name)?)
    }

    fn allowed(&self, pid: Pid, file: &str) -> io::Result<PathBuf> {
        if file.split('/').any(|part| self.forbidden.contains(&part)) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut path = self.root.join(pid.to_string());
        path.push(file);
        Ok(path)
    }
}
