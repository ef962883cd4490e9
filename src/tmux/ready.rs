//! A tmux client that was started in advance and waits for its commands on its standard input: what it costs to start
//! a process has been paid when somebody types.
//!
//! Everything also goes by a process that is started when it is needed (`command.rs`), and does so when none is ready
//! or a line cannot say what is to be said. A client in control mode would be quicker still, but tmux 3.3a crashes, with
//! all that runs in it, when a session is made or ends while such a client attaches (10 of 10 tries at once), or when
//! its own session goes while it ends (31 of 60).

use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

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

/// The client that is ready, if one is.
#[derive(Debug, Default)]
pub(super) struct Ready {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Something was asked before: a process that asks once would only lose by getting ready for a second time.
    asked: bool,
    client: Option<Child>,
    maker: Option<JoinHandle<()>>,
}

impl Ready {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client that is ready, which is then the caller's. One that has ended went with its server.
    pub fn take(&self) -> Option<Child> {
        let mut client = self.state().client.take()?;
        match client.try_wait() {
            Ok(None) => Some(client),
            _ => None,
        }
    }

    /// Starts the next one, beside the caller.
    pub fn refill(self: &Arc<Ready>, mut command: Command) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.asked, true) && state.client.is_none() {
            return;
        }
        let busy = state
            .maker
            .as_ref()
            .is_some_and(|maker| !maker.is_finished());
        if busy || state.client.is_some() {
            return;
        }
        let ready = Arc::clone(self);
        let made = move || {
            command.args(["-N", "source-file", "-"]);
            // Without it there is the other way.
            let client = command.spawn().ok();
            ready.state().client = client;
        };
        let builder = std::thread::Builder::new().name("tmux-ready".into());
        state.maker = builder.spawn(made).ok();
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // The thread that starts one may be the last to know of us.
        let own = std::thread::current().id();
        if let Some(maker) = state
            .maker
            .take()
            .filter(|maker| maker.thread().id() != own)
        {
            let _ = maker.join();
        }
        if let Some(client) = &mut state.client {
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
