//! The tmux server itself: how it is started and what is set in it.

use std::ffi::OsStr;
use std::time::Duration;

use super::command::{Error, Tmux};
use super::format::{shell_line, shell_word};

/// Rows of scrollback that a person can scroll in tmux itself; the whole output is in the log, so this stays small.
const HISTORY: &str = "10000";

/// The commands that start the server when none runs and set what our sessions rely on, ended by ";", to be
/// followed by more in the same invocation. Setting them again on a running server changes nothing.
pub(super) fn settings() -> Vec<String> {
    let mut words = vec!["start-server".to_string(), ";".to_string()];
    let mut set = |name: &str, value: &str| {
        words.extend(["set-option", "-g", "-q", name, value, ";"].map(String::from))
    };
    set("history-limit", HISTORY);
    // A program's end must be seen, with its status, before the pane goes.
    set("remain-on-exit", "on");
    // Exists from 3.3; -q passes it over before.
    set("remain-on-exit-format", "");
    set("default-terminal", "tmux-256color");
    // Keys typed by us must not be joined with an ESC that a person has just pressed.
    set("escape-time", "10");
    words
}

/// How often a server that is just ending is met before that is an error, and how long between.
const MEETINGS: u32 = 20;
const BETWEEN: Duration = Duration::from_millis(5);

/// Where tmux tells that a pane was made, by whomever: a line is appended to a file.
#[derive(Clone, Debug)]
pub struct News {
    pub file: String,
    /// Tells this file from those of other servers on the same tmux server.
    pub slot: u32,
}

impl News {
    /// The commands, each ended by ";". Giving them again changes nothing.
    pub(super) fn words(&self) -> Vec<String> {
        // tmux expands formats in it, the shell words; a file that is gone with its state directory is no news.
        let file = shell_word(&self.file).replace('#', "##");
        let line = shell_line(&["run-shell", "-b", &format!("echo 2>&- >>{file} || :")]);
        let mut words: Vec<String> = Vec::new();
        for event in ["after-split-window", "after-new-window"] {
            let hook = format!("{event}[{}]", self.slot);
            words.extend(["set-hook", "-g", &hook, &line, ";"].map(String::from));
        }
        words
    }
}

impl Tmux {
    /// Runs commands that start the server themselves. One that ends with its last session still takes connections for
    /// a moment, and drops them: then nothing has been done.
    pub(super) fn run_starting<S: AsRef<OsStr>>(&self, words: &[S]) -> Result<String, Error> {
        for _ in 1..MEETINGS {
            match self.run(words) {
                Err(Error::NoServer) => std::thread::sleep(BETWEEN),
                other => return other,
            }
        }
        self.run(words)
    }

    /// The server's process id and start time (epoch seconds); `None` when no server runs.
    pub fn server(&self) -> Result<Option<(i32, i64)>, Error> {
        match self.run(&["display-message", "-p", "#{pid} #{start_time}"]) {
            Ok(out) => Ok(out
                .trim()
                .split_once(' ')
                .and_then(|(pid, start)| Some((pid.parse().ok()?, start.parse().ok()?)))),
            Err(Error::NoServer) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The names of all sessions on the server, whoever made them; none when no server runs.
    pub fn session_names(&self) -> Result<Vec<String>, Error> {
        match self.run(&["list-sessions", "-F", "#{session_name}"]) {
            Ok(out) => Ok(out.lines().map(String::from).collect()),
            Err(Error::NoServer) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Has the server tell of new panes from now on.
    pub fn tell_of_panes(&self, news: &News) -> Result<(), Error> {
        self.run(&news.words()).map(drop)
    }

    /// Ends the server and every pane, and removes its socket. For private servers only: demo, doctor, tests.
    pub fn kill_server(&self) -> Result<(), Error> {
        // A server that has ended by itself has left its socket as well; starting another is how to learn where.
        let words = "start-server ; display-message -p #{socket_path} ; kill-server";
        let words: Vec<&str> = words.split(' ').collect();
        let path = self.run_starting(&words)?;
        // Without it the socket of each demo would stay. Gone already is what is wanted.
        let _ = std::fs::remove_file(path.trim_end_matches('\n'));
        Ok(())
    }
}
