//! Where each file stands. The only place that spells a file's name.

use std::path::PathBuf;

const DELETING: &str = ".deleting-";

/// The state directory.
#[derive(Clone, Debug)]
pub struct Layout {
    pub root: PathBuf,
}

impl Layout {
    pub fn new(root: PathBuf) -> Layout {
        Layout { root }
    }

    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    pub fn session(&self, name: &str) -> SessionDir {
        SessionDir {
            path: self.sessions().join(name),
        }
    }

    /// The shell integration files of this version of the program.
    pub fn shell(&self) -> PathBuf {
        self.root.join("shell")
    }

    /// Touched by tmux whenever a pane is made there.
    pub fn panes(&self) -> PathBuf {
        self.root.join("panes")
    }

    /// The folder that sessions have on their PATH.
    pub fn bin(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// A link to this program.
    pub fn own_program(&self) -> PathBuf {
        self.bin().join("paneglass")
    }

    /// Where `shell_integrate` found no integration, and when.
    pub fn not_installed(&self) -> PathBuf {
        self.root.join("not-installed.json")
    }

    pub fn lock(&self) -> PathBuf {
        self.root.join("lock")
    }

    /// Who called what, and when.
    pub fn calls(&self) -> PathBuf {
        self.root.join("calls.log")
    }

    /// The same, of before.
    pub fn old_calls(&self) -> PathBuf {
        self.root.join("calls.log.1")
    }

    /// Who may join and who has: groups of devices.
    pub fn devices(&self) -> PathBuf {
        self.root.join("devices.json")
    }

    /// The servers that this machine has joined as a device, with its credentials.
    pub fn joined(&self) -> PathBuf {
        self.root.join("joined.json")
    }

    /// What clients show on TCP.
    pub fn token(&self) -> PathBuf {
        self.root.join("token")
    }

    /// One line per deleted session: when, and why.
    pub fn removed(&self) -> PathBuf {
        self.root.join("removed.jsonl")
    }

    /// Where a session's folder stands while it is deleted: no session has such a name.
    pub fn deleting(&self, folder: &str) -> PathBuf {
        self.sessions().join(format!("{DELETING}{folder}"))
    }

    /// The folder that such a name stood for.
    pub fn deleted(name: &str) -> Option<&str> {
        name.strip_prefix(DELETING)
    }
}

/// One session's directory.
#[derive(Clone, Debug)]
pub struct SessionDir {
    pub path: PathBuf,
}

impl SessionDir {
    /// Made by whom, when, command, host, tmux socket, sizes.
    pub fn meta(&self) -> PathBuf {
        self.path.join("meta.json")
    }

    /// Every byte that the pane printed. The truth.
    pub fn raw(&self) -> PathBuf {
        self.path.join("raw.log")
    }

    /// When, how wide, and what is missing, by offset in raw.log. The truth.
    pub fn times(&self) -> PathBuf {
        self.path.join("times.log")
    }

    /// One line per change of a region. The truth.
    pub fn regions(&self) -> PathBuf {
        self.path.join("regions.jsonl")
    }

    /// The cooked lines that can no longer change. A cache of raw.log.
    pub fn text(&self) -> PathBuf {
        self.path.join("session.txt")
    }

    /// Where every so many lines of session.txt begin. A cache of session.txt.
    pub fn index(&self) -> PathBuf {
        self.path.join("lines.idx")
    }

    /// The state that the logs up to some offset make. A cache of raw.log, times.log and regions.jsonl.
    pub fn checkpoint(&self) -> PathBuf {
        self.path.join("checkpoint")
    }

    /// What each agent was told and left.
    pub fn agents(&self) -> PathBuf {
        self.path.join("state.json")
    }

    /// What an adopted pane showed, to be logged before anything else; empty until that is known.
    pub fn seed(&self) -> PathBuf {
        self.path.join("seed")
    }

    /// A marker: the logs stay, however long nobody uses them.
    pub fn keep(&self) -> PathBuf {
        self.path.join("keep")
    }

    /// A marker: the logs go as soon as the session is closed.
    pub fn delete_on_close(&self) -> PathBuf {
        self.path.join("delete-on-close")
    }

    /// A marker: its date is when the closed session was last read.
    pub fn last_used(&self) -> PathBuf {
        self.path.join("last-used")
    }

    /// The files whose dates tell of use. Not those that are made again from others whenever a server starts.
    pub fn dated(&self) -> [PathBuf; 7] {
        [
            self.meta(),
            self.raw(),
            self.times(),
            self.regions(),
            self.agents(),
            self.keep(),
            self.last_used(),
        ]
    }

    /// The process id of the pane's program, written by the launcher, which is its parent.
    pub fn program(&self) -> PathBuf {
        self.path.join("program")
    }

    /// How the pane's program ended, written by the launcher.
    pub fn end(&self) -> PathBuf {
        self.path.join("end")
    }

    /// Who ended a program that start_program made: its lifetime, or stop_program. Written before it is signalled.
    pub fn ended_by(&self) -> PathBuf {
        self.path.join("ended-by")
    }

    /// How the launcher starts the pane's program; it deletes the file, which holds an environment, before anything
    /// else.
    pub fn spawn(&self) -> PathBuf {
        self.path.join("spawn.json")
    }
}
