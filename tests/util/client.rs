//! An MCP client on the binary's stdio, with a home, a runtime directory and a tmux socket of its own.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::{Value, json};

/// Generous: only a failing test waits so long.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// The name of the tmux socket, in a directory of the test's own.
pub const SOCKET: &str = "pg";

/// Characters of a transcript's line that are printed.
const SHOWN: usize = 1_500;

/// The line ends of Unicode that must not leave the server as they are.
const LINE_ENDS: [char; 3] = ['\u{2028}', '\u{2029}', '\u{85}'];

/// A running server and what it said. Dropped, the server and its tmux are ended; when the test failed, the
/// transcript and the server's stderr are printed.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Messages that came while another was waited for.
    early: VecDeque<Value>,
    transcript: Vec<String>,
    stderr: Arc<Mutex<Vec<u8>>>,
    threads: Vec<JoinHandle<()>>,
    /// Dropped to close the server's stdout from this side.
    reading: Option<Sender<()>>,
    last_id: u64,
    home: PathBuf,
    environment: Vec<(String, String)>,
    /// The next server uses the home.
    keeps_home: bool,
}

impl Client {
    /// Starts the binary without arguments.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts the binary without arguments, with these environment variables besides the private ones; an empty
    /// value takes a variable away.
    pub fn start_with(environment: &[(&str, &str)]) -> Self {
        let environment = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self::start_in(private_dir(), environment.collect(), &[])
    }

    /// Starts the binary with these arguments in the directory of a server that runs there; the directory stays.
    pub fn joining(home: &Path, args: &[&str]) -> Self {
        let mut client = Self::start_in(home.to_owned(), Vec::new(), args);
        client.keeps_home = true;
        client
    }

    /// Starts a shell's line that runs the binary, as a README has it: in a sandbox, for one.
    pub fn by(line: &str, environment: &[(&str, &str)]) -> Self {
        let environment = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("exec {line}")]);
        Self::spawn(shell, private_dir(), environment.collect())
    }

    fn start_in(home: PathBuf, environment: Vec<(String, String)>, args: &[&str]) -> Self {
        let mut command = Command::new(super::binary());
        command.args(args);
        Self::spawn(command, home, environment)
    }

    fn spawn(mut command: Command, home: PathBuf, environment: Vec<(String, String)>) -> Self {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &home)
            .env("SHELL", "/bin/bash")
            .env("LC_ALL", "C.UTF-8")
            .env("XDG_RUNTIME_DIR", home.join("run"))
            .env("TMUX_TMPDIR", home.join("tmux"))
            .env("PANEGLASS_HOME", home.join("state"))
            .env("PANEGLASS_SOCKET", SOCKET);
        for (name, value) in &environment {
            if value.is_empty() {
                command.env_remove(name);
            } else {
                command.env(name, value);
            }
        }
        let mut child = command
            .current_dir(&home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let input = child.stdin.take();
        let output = child.stdout.take().expect("stdout is a pipe");
        let mut errors = child.stderr.take().expect("stderr is a pipe");
        let (line, lines) = channel();
        let (reading, read_on) = channel();
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&stderr);
        let threads = vec![
            thread::spawn(move || read_lines(output, &line, &read_on)),
            thread::spawn(move || {
                let mut chunk = [0; 4096];
                while let Ok(count @ 1..) = errors.read(&mut chunk) {
                    log.lock().expect("no panic").extend(&chunk[..count]);
                }
            }),
        ];
        Self {
            child,
            input,
            lines,
            early: VecDeque::new(),
            transcript: Vec::new(),
            stderr,
            threads,
            reading: Some(reading),
            last_id: 0,
            home,
            environment,
            keeps_home: false,
        }
    }

    /// Ends the server with SIGKILL and starts another on the same state; the sessions live on in between while
    /// `meanwhile` runs. The handshake is done.
    pub fn killed_and_restarted(mut self, meanwhile: impl FnOnce()) -> Self {
        self.child.kill().expect("the server is our child");
        self.child.wait().expect("the server is our child");
        meanwhile();
        self.keeps_home = true;
        let mut next = Self::start_in(self.home.clone(), self.environment.clone(), &[]);
        next.transcript = std::mem::take(&mut self.transcript);
        next.shake_hands("2025-11-25");
        next
    }

    /// Starts the binary and shakes hands under a legacy revision.
    pub fn legacy(version: &str) -> Self {
        let mut client = Self::start();
        client.shake_hands(version);
        client
    }

    /// The handshake of a legacy revision.
    pub fn shake_hands(&mut self, version: &str) {
        let hello = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "black-box", "version": "1"},
        });
        let answer = self.request("initialize", hello);
        assert_eq!(answer["result"]["protocolVersion"], version);
        self.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    /// Types into session t1 as somebody else: straight to tmux, not through the server.
    pub fn somebody_types(&self, keys: &[&str]) {
        let sent = Command::new("tmux")
            .args(["-L", "pg", "send-keys", "-t", "=t1:"])
            .args(keys)
            .env("TMUX_TMPDIR", self.home.join("tmux"))
            .status();
        assert!(sent.expect("tmux runs").success());
    }

    /// The test's own directory: HOME, with `state` (PANEGLASS_HOME), `run` and `tmux` in it.
    pub fn home(&self) -> &Path {
        &self.home
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What the server wrote to stderr so far.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr.lock().expect("no panic")).into_owned()
    }

    /// Sends bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let shown = &bytes[..bytes.len().min(500)];
        self.transcript
            .push(format!("> {}", String::from_utf8_lossy(shown).trim_end()));
        let input = self.input.as_mut().expect("the input is open");
        input
            .write_all(bytes)
            .and_then(|()| input.flush())
            .expect("the server reads");
    }

    /// Sends one line.
    pub fn line(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes());
    }

    /// Sends one line, if the server still reads.
    pub fn try_line(&mut self, line: &str) -> bool {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(format!("{line}\n").as_bytes()).is_ok()
    }

    /// Sends a request and returns its id.
    pub fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.line(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        id
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.line(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    /// Waits for the message with this id; others stay for later.
    pub fn answer(&mut self, id: u64) -> Value {
        self.find(|message| message["id"] == id && message.get("method").is_none())
    }

    /// Waits for the first message that is wanted; others stay for later.
    pub fn find(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.early.iter().position(&wanted) {
            return self.early.remove(at).expect("just found");
        }
        loop {
            let message = self.receive();
            if wanted(&message) {
                return message;
            }
            self.early.push_back(message);
        }
    }

    /// The next message, whatever it is.
    pub fn next(&mut self) -> Value {
        match self.early.pop_front() {
            Some(message) => message,
            None => self.receive(),
        }
    }

    /// The next line as it came.
    pub fn next_line(&mut self) -> String {
        self.lines.recv_timeout(DEADLINE).expect("a line comes")
    }

    /// Sends a request and waits for its answer.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Calls a tool and waits for its result; a JSON-RPC error fails the test.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(
            answer["result"]["content"][0]["text"].is_string(),
            "{tool} is answered {answer}"
        );
        answer["result"].clone()
    }

    /// The text of a call's result, which must not be an error.
    pub fn text(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["content"][0]["text"]
            .as_str()
            .expect("checked by call")
            .to_owned()
    }

    /// Closes the server's stdin.
    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Closes this side of the server's stdout. It takes effect after one more line.
    pub fn close_output(&mut self) {
        self.reading = None;
    }

    /// Waits for the server's exit.
    pub fn exit(&mut self) -> ExitStatus {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.try_wait().expect("the server is our child") {
                return status;
            }
            assert!(Instant::now() < deadline, "the server does not exit");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// What is left of the output, to its end.
    pub fn rest(&mut self) -> Vec<Value> {
        let mut rest: Vec<_> = self.early.drain(..).collect();
        loop {
            match self.lines.recv_timeout(DEADLINE) {
                Ok(line) => rest.push(self.parse(&line)),
                Err(RecvTimeoutError::Disconnected) => return rest,
                Err(RecvTimeoutError::Timeout) => panic!("the output does not end"),
            }
        }
    }

    fn receive(&mut self) -> Value {
        match self.lines.recv_timeout(DEADLINE) {
            Ok(line) => self.parse(&line),
            Err(error) => panic!("no message came: {error}"),
        }
    }

    fn parse(&mut self, line: &str) -> Value {
        self.transcript.push(format!("< {line}"));
        assert!(!line.contains(LINE_ENDS), "a line end of Unicode in {line}");
        let message: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let messages = message
            .as_array()
            .map_or(std::slice::from_ref(&message), Vec::as_slice);
        assert!(
            messages.iter().all(|message| message["jsonrpc"] == "2.0"),
            "{line}"
        );
        message
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.input = None;
        self.reading = None;
        // Both fail only when it has ended, which is what is wanted.
        drop(self.child.kill());
        drop(self.child.wait());
        if !self.keeps_home {
            end_tmux(&self.home.join("tmux"));
        }
        if thread::panicking() {
            let cut = |line: &String| line.chars().take(SHOWN).collect::<String>();
            let transcript: Vec<String> = self.transcript.iter().map(cut).collect();
            eprintln!("--- transcript\n{}", transcript.join("\n"));
            eprintln!("--- stderr\n{}", self.stderr());
        } else {
            for thread in self.threads.drain(..) {
                // A reader that panicked has printed why.
                drop(thread.join());
            }
        }
        if !self.keeps_home {
            drop(fs::remove_dir_all(&self.home));
        }
    }
}

/// Ends the tmux server on the test's own socket, if there is one.
pub fn end_tmux(dir: &Path) {
    if !fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some()) {
        return;
    }
    let ended = Command::new("tmux")
        .args(["-L", SOCKET, "kill-server"])
        .env("TMUX_TMPDIR", dir)
        .env_remove("TMUX")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    drop(ended);
}

fn read_lines(output: ChildStdout, line: &Sender<String>, read_on: &Receiver<()>) {
    let mut output = BufReader::new(output);
    let mut bytes = Vec::new();
    while let Ok(1..) = output.read_until(b'\n', &mut bytes) {
        let text = String::from_utf8_lossy(&bytes)
            .trim_end_matches('\n')
            .to_owned();
        let wanted = !matches!(
            read_on.try_recv(),
            Err(std::sync::mpsc::TryRecvError::Disconnected)
        );
        if line.send(text).is_err() || !wanted {
            return;
        }
        bytes.clear();
    }
}

/// A new directory with a short path: a socket's path has at most 107 bytes.
pub fn private_dir() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let home = std::env::temp_dir().join(format!("pg{}-{count}", std::process::id()));
    for dir in ["run", "tmux"] {
        fs::create_dir_all(home.join(dir)).expect("a temporary directory");
    }
    // A fish that finds it makes none, which would take a minute of a core beside the tests.
    let made = home.join(".local/share/fish/generated_completions");
    fs::create_dir_all(made).expect("a temporary directory");
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    for dir in ["", "run", "tmux"] {
        fs::set_permissions(home.join(dir), Clone::clone(&private)).expect("our own directory");
    }
    home
}
