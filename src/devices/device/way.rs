//! A command whose standard input and output carry a link: it ends with it, and its last words tell why. Must not know
//! what is said over it.

use std::io::{self, Read};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// What is kept of a line, in bytes: no sentence needs more.
const LINE: usize = 500;

/// How long a command may take to say its last words when its output is at an end. An ssh that leaves a master
/// connection behind (ControlPersist) never ends them.
const FAREWELL: Duration = Duration::from_secs(2);

/// A command that carries a link, killed when it is dropped.
pub struct Way {
    child: Mutex<Child>,
    words: Option<Arc<Words>>,
}

impl Way {
    /// Starts the command. With `listen` what it says on standard error is not shown: its last line is kept.
    pub fn open(
        mut command: Command,
        listen: bool,
    ) -> io::Result<(Arc<Way>, ChildStdout, ChildStdin)> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        if listen {
            command.stderr(Stdio::piped());
        }
        let mut child = command
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
        let (input, output, said) = (child.stdout.take(), child.stdin.take(), child.stderr.take());
        let mut way = Way {
            child: Mutex::new(child),
            words: None,
        };
        way.words = said.map(Words::hear).transpose()?;
        match (input, output) {
            (Some(input), Some(output)) => Ok((Arc::new(way), input, output)),
            // Both are there: they were asked for.
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Ends the command.
    pub fn end(&self) -> Option<ExitStatus> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        // Fails only when it has ended.
        let _ = child.kill();
        child.wait().ok()
    }

    /// Its last line, and its exit status when it ended by itself, once its output is at an end. None when it said
    /// nothing, or is not listened to. Ends the command.
    pub fn last_words(&self) -> Option<(String, Option<i32>)> {
        let line = self.words.as_ref().and_then(|words| words.last());
        let status = self.end();
        line.map(|line| (line, status.and_then(|status| status.code())))
    }

    /// Leaves what was said so far out of its last words: it did not end of that.
    pub fn forget_words(&self) {
        if let Some(words) = &self.words {
            words.state().last.clear();
        }
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.end();
    }
}

/// What a command says on standard error.
#[derive(Default)]
struct Words {
    state: Mutex<Said>,
    ended: Condvar,
}

#[derive(Default)]
struct Said {
    /// The last line with anything in it.
    last: String,
    /// Nothing more comes.
    over: bool,
}

impl Words {
    fn hear(said: ChildStderr) -> io::Result<Arc<Words>> {
        let words = Arc::new(Words::default());
        let listener = Arc::clone(&words);
        thread::Builder::new()
            .name("link-words".into())
            .spawn(move || listener.listen(said))?;
        Ok(words)
    }

    fn listen(&self, mut said: impl Read) {
        let mut line = Vec::new();
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = said.read(&mut piece) {
            for &byte in &piece[..count] {
                match byte {
                    b'\n' => self.keep(&mut line),
                    _ if line.len() < LINE => line.push(byte),
                    _ => {}
                }
            }
        }
        self.keep(&mut line);
        self.state().over = true;
        self.ended.notify_all();
    }

    /// Takes a line up, without what would steer a terminal.
    fn keep(&self, line: &mut Vec<u8>) {
        let text = String::from_utf8_lossy(line);
        let plain: String = text.chars().filter(|c| !c.is_control()).collect();
        if !plain.trim().is_empty() {
            self.state().last = plain.trim().to_owned();
        }
        line.clear();
    }

    fn last(&self) -> Option<String> {
        let waited = self
            .ended
            .wait_timeout_while(self.state(), FAREWELL, |said| !said.over);
        let (said, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Some(said.last.clone()).filter(|line| !line.is_empty())
    }

    fn state(&self) -> MutexGuard<'_, Said> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(script: &str) -> Arc<Way> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let (way, mut input, _output) = Way::open(command, true).unwrap();
        io::copy(&mut input, &mut io::sink()).unwrap();
        way
    }

    #[test]
    fn last_words_are_the_last_line_with_anything_in_it() {
        let said = |script: &str| opened(script).last_words();
        assert_eq!(said("exit 3"), None);
        assert_eq!(
            said("printf 'first\\n\\033[1mlast\\r\\n \\n' >&2; exit 3"),
            Some(("[1mlast".into(), Some(3)))
        );
        let long = said("head -c 100000 /dev/zero | tr '\\0' x >&2; kill -9 $$");
        assert_eq!(long, Some(("x".repeat(LINE), None)));
    }

    #[test]
    fn words_that_do_not_end_are_not_waited_for() {
        // Its own child keeps standard error, as the master of an ssh does.
        let way = opened("echo why >&2; sleep 600 >/dev/null & echo $! >&2; exit 255");
        let (pid, status) = way.last_words().unwrap();
        assert_eq!(status, Some(255));
        let ended = Command::new("kill").arg(pid).status().unwrap();
        assert!(ended.success());
    }

    #[test]
    fn what_was_said_before_is_forgotten() {
        let way = opened("echo a warning >&2");
        assert!(way.last_words().is_some());
        way.forget_words();
        assert_eq!(way.last_words(), None);
    }
}
