//! A control-mode client: one tmux process that stays, and takes commands in a tenth of the time that starting
//! another costs.
//!
//! It is attached to a session of its own, the keeper, so that no session of ours ever counts it as a person or takes
//! its size. Everything also goes by a process per call (`command.rs`), and does so when this has ended, is in use, or
//! cannot say what is to be said.
//!
//! tmux 3.3a crashes, with all that runs in it, when a session is destroyed while a control client that is attached to
//! it ends: with `destroy-unattached` set on the keeper, 31 of 60 ends did so; without, 0 of 300. So a keeper is killed
//! only once no client is attached any more, and one that a killed server leaves is killed by the next.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, Command};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::command::{DEADLINE, Error};
use crate::sys::lifeline;
use crate::sys::poll::{Interest, poll};

/// Bytes of one line of commands. Longer ones are rare, and a process per call takes any size; this much fits a pipe
/// whose reader hangs, so that writing never blocks.
const LONGEST: usize = 16 * 1024;

/// How long nothing is tried after the client has ended: with its server, most likely.
const AFTER_END: Duration = Duration::from_secs(1);

/// The same after a tmux that did not answer: each try costs its caller the whole deadline.
const AFTER_HANG: Duration = Duration::from_secs(60);

/// How long the client may take to end once its input is closed.
const LEAVING: Duration = Duration::from_millis(500);

/// Names of keepers begin so. Ours are of letters, digits, `_` and `-`, so no session has such a name.
const KEEPER: &str = "(paneglass ";

fn keeper(process: u32) -> String {
    format!("{KEEPER}{process})")
}

/// A word of a line of commands as tmux parses it: nothing in it is expanded, and it never ends the line. `None` for
/// what a line cannot hold.
fn quoted(text: &str) -> Option<String> {
    if !text.contains(['\'', '\n', '\t']) && !text.contains(char::is_control) {
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

/// One command from its words. `None` when a line cannot hold them.
pub(super) fn command(words: &[&str]) -> Option<String> {
    let words: Option<Vec<String>> = words.iter().map(|text| quoted(text)).collect();
    Some(words?.join(" "))
}

/// The client, when there is one.
#[derive(Debug, Default)]
pub(super) struct Control {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    /// Nothing was asked yet. A process that asks once would only lose by starting a client that stays.
    #[default]
    Unused,
    Due,
    Running(Box<Client>),
    /// Not before this.
    Paused(Instant),
}

impl Control {
    /// Runs `commands` in one go and returns what they printed. `None`: nothing was said to tmux, so say it in another
    /// way. `start` makes the command line of a client, up to the words of tmux's own commands.
    pub fn run(
        &self,
        verb: &str,
        commands: &[String],
        start: impl Fn() -> Command,
    ) -> Option<Result<String, Error>> {
        let line = commands.join(" ; ");
        if line.len() > LONGEST {
            return None;
        }
        // In use: starting a process is quicker than waiting for a tmux that may hang.
        let mut state = self.state.try_lock().ok()?;
        match &*state {
            State::Unused => {
                *state = State::Due;
                return None;
            }
            State::Paused(until) if Instant::now() < *until => return None,
            State::Due | State::Paused(_) => match Client::start(start) {
                Ok(client) => *state = State::Running(Box::new(client)),
                Err(_) => {
                    *state = State::Paused(Instant::now() + AFTER_HANG);
                    return None;
                }
            },
            State::Running(_) => {}
        }
        let State::Running(client) = &mut *state else {
            return None;
        };
        let (answer, pause) = match client.ask(&line) {
            Ok(output) => return Some(Ok(output)),
            Err(Failure::Refused(message)) => {
                return Some(Err(Error::Refused {
                    verb: verb.to_string(),
                    message,
                }));
            }
            Err(Failure::NotSent) => (None, AFTER_END),
            Err(Failure::Ended) => (
                Some(Err(Error::Unanswered {
                    verb: verb.to_string(),
                })),
                AFTER_END,
            ),
            Err(Failure::Hung) => (
                Some(Err(Error::Hung {
                    verb: verb.to_string(),
                })),
                AFTER_HANG,
            ),
        };
        *state = State::Paused(Instant::now() + pause);
        answer
    }
}

enum Failure {
    /// The client was gone before anything was said.
    NotSent,
    /// It went before it had answered: what was asked for may have been done or not.
    Ended,
    Hung,
    Refused(String),
}

/// What one command printed.
struct Block {
    ok: bool,
    text: Vec<u8>,
}

#[derive(Debug)]
struct Client {
    child: Child,
    /// Ends the keeper.
    end: Command,
    /// Closed to end the client.
    input: Option<ChildStdin>,
    blocks: Receiver<Block>,
    reader: Option<JoinHandle<()>>,
    asked: u64,
}

impl Client {
    /// Starts it and waits until it is attached.
    fn start(command: impl Fn() -> Command) -> std::io::Result<Client> {
        let keeper = keeper(std::process::id());
        let mut end = command();
        end.args(["-N", "kill-session", "-t", &format!("={keeper}")]);
        // The program of the session ends at once, and its dead pane stays: the session costs no process.
        let mut command = command();
        command.args(["-N", "-C", "new-session", "-A", "-s", &keeper, "true"]);
        let (sender, blocks) = channel();
        let (started, child) = channel();
        let reader = std::thread::Builder::new()
            .name("tmux-control".into())
            .spawn(move || start_and_read(command, &started, &sender))?;
        let gone = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        let mut child: Child = child.recv().map_err(|_| gone())??;
        let mut client = Client {
            input: child.stdin.take(),
            child,
            end,
            blocks,
            reader: Some(reader),
            asked: 0,
        };
        // A client that cannot attach ends, and must do so before anything is asked of it.
        match client.sweep() {
            Ok(()) => Ok(client),
            Err(_) => Err(std::io::ErrorKind::ConnectionRefused.into()),
        }
    }

    /// Ends keepers that servers before have left. One without any client serves nobody; a client that is ending is
    /// still in this list, though it no longer counts as attached.
    fn sweep(&mut self) -> Result<(), Failure> {
        let names = self.ask("list-sessions -F '#{session_name}'")?;
        for name in names.lines().filter(|name| name.starts_with(KEEPER)) {
            let name = format!("'={name}'");
            if self.ask(&format!("list-clients -t {name}"))?.is_empty() {
                // Gone already is what is wanted.
                let _ = self.ask(&format!("kill-session -t {name}"));
            }
        }
        Ok(())
    }

    fn ask(&mut self, line: &str) -> Result<String, Failure> {
        self.asked += 1;
        // A command that fails takes the rest of its line with it, so what says that all is done has its own.
        let done = format!("done-{}", self.asked);
        let text = format!("{line}\ndisplay-message -p {done}\n");
        let Some(input) = &mut self.input else {
            return Err(Failure::NotSent);
        };
        input
            .write_all(text.as_bytes())
            .map_err(|_| Failure::NotSent)?;
        let deadline = Instant::now() + DEADLINE;
        let (mut printed, mut refused) = (Vec::new(), None);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let block = self
                .blocks
                .recv_timeout(left)
                .map_err(|error| match error {
                    RecvTimeoutError::Timeout => Failure::Hung,
                    RecvTimeoutError::Disconnected => Failure::Ended,
                })?;
            if block.text.strip_suffix(b"\n") == Some(done.as_bytes()) {
                break;
            }
            if block.ok {
                printed.extend_from_slice(&block.text);
            } else {
                refused.get_or_insert(block.text);
            }
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match refused {
            Some(message) => Err(Failure::Refused(text(message.trim_ascii()))),
            None => Ok(text(&printed)),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        let deadline = Instant::now() + LEAVING;
        // Its output ends with it, and the channel with its output.
        let ended = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.blocks.recv_timeout(left) {
                Ok(_late) => {}
                Err(error) => break error == RecvTimeoutError::Disconnected,
            }
        };
        // One that is ending already is not hurt by this, and one that hangs must not keep us.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        // The next server does it, if this fails.
        if let (true, Ok(mut last)) = (ended, self.end.spawn()) {
            if let Some(output) = last.stdout.take() {
                let waited = poll(&[(output.as_fd(), Interest::Read)], Some(deadline));
                if !waited.is_ok_and(|ready| ready.contains(&true)) {
                    let _ = last.kill();
                }
            }
            let _ = last.wait();
        }
    }
}

/// Starts the client and takes in what it prints until its end. It is killed when we are: 3.3a waits for ever to give a
/// control client that is ending what nobody reads any more, and so does the server when it is told to end.
fn start_and_read(
    mut command: Command,
    started: &Sender<std::io::Result<Child>>,
    blocks: &Sender<Block>,
) {
    lifeline::tie_to_this_thread(&mut command);
    let mut child = command.spawn();
    let output = child.as_mut().ok().and_then(|child| child.stdout.take());
    if started.send(child).is_ok() {
        if let Some(output) = output {
            read(BufReader::new(output), blocks);
        }
    }
}

/// Takes the blocks out of what a client prints. Between them stand notices of what happens in the server, and the
/// answers to commands that are not ours (flags 0). A line in a block can look like its end; only the one that
/// repeats all of its beginning is.
fn read(mut output: impl BufRead, blocks: &Sender<Block>) {
    let mut line = Vec::new();
    let mut open: Option<(Vec<u8>, Vec<u8>)> = None;
    loop {
        line.clear();
        match output.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let Some((guard, text)) = &mut open else {
            if let Some(guard) = line.strip_prefix(b"%begin ") {
                open = Some((guard.to_vec(), Vec::new()));
            }
            continue;
        };
        let ok = line.strip_prefix(b"%end ") == Some(guard.as_slice());
        if !ok && line.strip_prefix(b"%error ") != Some(guard.as_slice()) {
            text.extend_from_slice(&line);
            continue;
        }
        let ours = guard.ends_with(b" 1\n");
        let text = std::mem::take(text);
        open = None;
        if ours && blocks.send(Block { ok, text }).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_told_from_what_stands_round_them() {
        let printed = b"%begin 1 1 0\n%end 1 1 0\n%session-changed $1 x\n%begin 1 2 1\na\n%end 1 2 0\n%error 1 3 1\n%end 1 2 1\n\
                        %begin 1 3 1\nno such pane\n%error 1 3 1\n%exit\n";
        let (sender, blocks) = channel();
        read(&printed[..], &sender);
        drop(sender);
        let all: Vec<(bool, String)> = blocks
            .iter()
            .map(|block| (block.ok, String::from_utf8(block.text).unwrap()))
            .collect();
        assert_eq!(
            all,
            [
                (true, "a\n%end 1 2 0\n%error 1 3 1\n".to_string()),
                (false, "no such pane\n".to_string())
            ]
        );
    }
}
