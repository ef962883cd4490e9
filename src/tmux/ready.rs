//! A tmux client that was started in advance and waits for its commands on its standard input: what it costs to start
//! a process has been paid when somebody types.
//!
//! Everything also goes by a process that is started when it is needed (`command.rs`), and does so when none is ready
//! or a line cannot say what is to be said. A client in control mode would be quicker still, but tmux 3.3a crashes, with
//! all that runs in it, when a session is made or ends while such a client attaches (10 of 10 tries at once), or when
//! its own session goes while it ends (31 of 60).

use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Bytes of one line of commands. Longer ones are rare, and a process of their own takes any size.
const LONGEST: usize = 16 * 1024;

/// A word of a line of commands as tmux parses it: nothing in it is expanded, and it never ends the line. `None` for
/// what a line cannot hold.
fn quoted(text: &str) -> Option<String> {
    if !text.contains('\'') && !text.contains(char::is_control) {
        return Some(format!("'{text}'"));
    }
    let mut quoted = String::with_capacity(text.len() + 16);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\\' | '"' | '$' | '~' => quoted.extend(['\\', c]),
            c if c.is_control() => return None,
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    Some(quoted)
}

/// One line of these commands, each given as words.
pub(super) fn line(commands: &[&[&str]]) -> Option<String> {
    let mut line = String::new();
    for words in commands {
        if !line.is_empty() {
            line.push_str(" ; ");
        }
        let words: Option<Vec<String>> = words.iter().map(|text| quoted(text)).collect();
        line.push_str(&words?.join(" "));
    }
    line.push('\n');
    (line.len() <= LONGEST).then_some(line)
}

/// How long after a call the next client is started: what was typed runs now, and would wait for it on a machine of
/// few cores.
const LATER: Duration = Duration::from_millis(20);

/// The client that is ready, if one is, and the thread that starts the next.
#[derive(Debug, Default)]
pub(super) struct Ready {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Something was asked before: a process that asks once would only lose by getting ready for a second time.
    asked: bool,
    client: Option<Child>,
    /// What starts the next one, and when.
    next: Option<(Command, Instant)>,
    over: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts each next client when it is due.
    fn run(&self) {
        let mut state = self.state();
        while !state.over {
            let now = Instant::now();
            state = match state.next.take_if(|(_, due)| *due <= now) {
                Some((mut command, _)) => {
                    drop(state);
                    // Without it there is the other way.
                    let client = command.spawn().ok();
                    let mut state = self.state();
                    state.client = client;
                    state
                }
                None => {
                    let left = state.next.as_ref().map(|(_, due)| *due - now);
                    // A wait without a word is cut short only by the end.
                    let left = left.unwrap_or(Duration::MAX);
                    let woken = self.changed.wait_timeout(state, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

impl Ready {
    /// The client that is ready, which is then the caller's. One that has ended went with its server.
    pub fn take(&self) -> Option<Child> {
        let mut client = self.shared.state().client.take()?;
        match client.try_wait() {
            Ok(None) => Some(client),
            _ => None,
        }
    }

    /// Has `command` started as the next client, a little later.
    pub fn refill(&self, mut command: Command) {
        let mut state = self.shared.state();
        let first = !std::mem::replace(&mut state.asked, true);
        // One that is due stays due: who calls again and again would put it off for ever.
        if first || state.client.is_some() || state.next.is_some() {
            return;
        }
        command.args(["-N", "source-file", "-"]);
        state.next = Some((command, Instant::now() + LATER));
        drop(state);
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let shared = Arc::clone(&self.shared);
            let builder = std::thread::Builder::new().name("tmux-ready".into());
            *thread = builder.spawn(move || shared.run()).ok();
        }
        self.shared.changed.notify_one();
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        self.shared.state().over = true;
        self.shared.changed.notify_one();
        let thread = self.thread.get_mut().map(Option::take);
        if let Some(thread) = thread.unwrap_or_else(|poisoned| poisoned.into_inner().take()) {
            let _ = thread.join();
        }
        if let Some(client) = &mut self.shared.state().client {
            // It ends at the end of its input.
            drop(client.stdin.take());
            let _ = client.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_without_a_pause_get_one_too() {
        let ready = Ready::default();
        let deadline = Instant::now() + Duration::from_secs(60);
        while ready.shared.state().client.is_none() {
            assert!(Instant::now() < deadline, "it is put off again and again");
            let mut command = Command::new("sh");
            command
                .args(["-c", "cat"])
                .stdin(std::process::Stdio::piped());
            ready.refill(command);
            std::thread::sleep(LATER / 10);
        }
        let mut client = ready.take().unwrap();
        drop(client.stdin.take());
        assert!(client.wait().unwrap().success());
    }

    #[test]
    fn words_of_a_line() {
        let line = line(&[&["a", "b c"], &["it's", "$x ~ \\ \"", "1\n2\t3"]]);
        assert_eq!(
            line.as_deref(),
            Some("'a' 'b c' ; \"it's\" '$x ~ \\ \"' \"1\\n2\\t3\"\n")
        );
        assert_eq!(super::line(&[&["\u{1b}"]]), None);
        assert_eq!(super::line(&[&["x".repeat(20_000).as_str()]]), None);
    }
}
