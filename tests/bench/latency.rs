//! How long an agent waits: for the server's start, for a command that does nothing, for one that prints much.
//! Beside it, in the same run, the same command typed with the tmux command line.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::util::binary;
use crate::util::client::{Client, SOCKET};
use crate::util::dir::{Dir, Running};

const STARTS: usize = 40;
const COMMANDS: usize = 200;
const FLOODS: usize = 10;

/// Before each thing measured. An agent thinks longer than this.
const PAUSE: Duration = Duration::from_millis(40);

/// Bytes; what an agent reads of a hundred thousand lines.
const ANSWER: usize = 2_048;

/// The times of one thing that was done again and again.
struct Times {
    what: &'static str,
    /// What is asked for, for the reader.
    bar: &'static str,
    all: Vec<Duration>,
}

impl Times {
    fn new(what: &'static str, bar: &'static str) -> Times {
        let all = Vec::new();
        Times { what, bar, all }
    }

    /// Milliseconds that this share of all took at most.
    fn at(&self, share: f64) -> f64 {
        let mut sorted = self.all.clone();
        sorted.sort();
        let last = sorted.len() - 1;
        sorted[(last as f64 * share).round() as usize].as_secs_f64() * 1e3
    }

    fn print(&self) {
        println!(
            "{:<34} {:>8.2} {:>8.2} {:>8.2}   {}",
            self.what,
            self.at(0.5),
            self.at(0.0),
            self.at(0.95),
            self.bar
        );
    }
}

/// Prints the table. A call that does not do what it should panics.
pub fn run() -> ExitCode {
    let mut starts = Times::new("start to answered initialize", "under 5");
    let mut ours = Times::new("run \"true\"", "under 6");
    let mut waited = Times::new("by hand: send-keys, wait-for", "");
    let mut piped = Times::new("by hand: send-keys, a named pipe", "");
    let mut floods = Times::new("run \"seq 1 100000\"", "under 120");
    let mut after = Times::new("the next line after it", "");
    let mut longest = 0;

    let mut client = Client::legacy("2025-11-25");
    client.text("session_create", json!({"name": "s"}));
    let hand = ByHand::new();
    for _ in 0..STARTS {
        starts.all.push(start());
    }
    // In turns, so that what else the machine does meets each alike, and each when what the one before left to be
    // done is done.
    for _ in 0..COMMANDS {
        sleep(PAUSE);
        ours.all.push(call(&mut client, "true", 0).0);
        sleep(PAUSE);
        waited.all.push(hand.wait_for("true"));
        sleep(PAUSE);
        piped.all.push(hand.pipe("true"));
    }
    for _ in 0..FLOODS {
        sleep(PAUSE);
        let (time, result) = call(&mut client, "seq 1 100000", 100_000);
        floods.all.push(time);
        longest = longest.max(result["content"][0]["text"].as_str().map_or(0, str::len));
        after.all.push(call(&mut client, "true", 0).0);
    }

    println!(
        "{:<34} {:>8} {:>8} {:>8}   bar",
        "milliseconds", "median", "least", "95 %"
    );
    for times in [&starts, &ours, &waited, &piped, &floods, &after] {
        times.print();
    }
    let ratio = |other: &Times| ours.at(0.5) / other.at(0.5);
    println!(
        "run \"true\" takes {:.2} of the time by hand with wait-for (bar 0.60), {:.2} of that with a named pipe",
        ratio(&waited),
        ratio(&piped)
    );
    println!("the answer to seq has {longest} bytes (bar {ANSWER})");
    ExitCode::SUCCESS
}

/// From the start of a process to its answer.
fn start() -> Duration {
    let dir = Dir::new();
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    });
    let hello = format!("{hello}\n");
    let mut command = dir.command(binary());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let begun = Instant::now();
    let mut server = Running(command.spawn().expect("the server starts"));
    let mut input = server.0.stdin.take().expect("a pipe");
    input.write_all(hello.as_bytes()).expect("the server reads");
    let mut answer = String::new();
    BufReader::new(server.0.stdout.take().expect("a pipe"))
        .read_line(&mut answer)
        .expect("the server answers");
    let time = begun.elapsed();
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["result"]["serverInfo"]["name"], "paneglass");
    time
}

/// Runs a line that must end well with so many lines of output.
fn call(client: &mut Client, input: &str, lines: u64) -> (Duration, Value) {
    let begun = Instant::now();
    let result = client.call("run", json!({"session": "s", "input": input}));
    let time = begun.elapsed();
    let facts = &result["_meta"]["paneglass/facts"];
    assert_eq!(facts["exit_code"], 0, "{result}");
    assert_eq!(
        facts["total_lines"].as_u64().unwrap_or(0),
        lines,
        "{result}"
    );
    (time, result)
}

/// A shell in a tmux of its own, and commands typed into it as a script would: send-keys, then waiting for
/// something that the typed line does when it is done. The status comes back too, since it does with `run`.
struct ByHand {
    dir: Dir,
}

impl ByHand {
    fn new() -> ByHand {
        let hand = ByHand { dir: Dir::new() };
        hand.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-s",
            "s",
            "bash --norc",
        ]);
        let mut fifo = hand.dir.command("mkfifo");
        fifo.arg("pipe");
        hand.dir.end(fifo, "mkfifo pipe").good();
        // The first typed line waits for the shell's start.
        hand.pipe("true");
        hand
    }

    fn tmux(&self, words: &[&str]) {
        let mut tmux: Command = self.dir.command("tmux");
        tmux.args(["-L", SOCKET]).args(words);
        let output = tmux.output().expect("tmux starts");
        assert!(output.status.success(), "{words:?}: {output:?}");
    }

    fn wait_for(&self, line: &str) -> Duration {
        let status = self.dir.path().join("status");
        let begun = Instant::now();
        let typed = format!("{line}; echo $? > status; tmux wait-for -S done");
        self.tmux(&["send-keys", "-t", "s", &typed, "Enter"]);
        self.tmux(&["wait-for", "done"]);
        let code = fs::read_to_string(status).expect("the line has written it");
        let time = begun.elapsed();
        assert_eq!(code, "0\n");
        time
    }

    fn pipe(&self, line: &str) -> Duration {
        let begun = Instant::now();
        let typed = format!("{line}; echo $? > pipe");
        self.tmux(&["send-keys", "-t", "s", &typed, "Enter"]);
        let mut code = String::new();
        File::open(self.dir.path().join("pipe"))
            .and_then(|mut pipe| pipe.read_to_string(&mut code))
            .expect("the line writes to the pipe");
        let time = begun.elapsed();
        assert_eq!(code, "0\n");
        time
    }
}
