//! How long a new server takes to pick up a long log, with a checkpoint and without, and what logs of odd shapes cost
//! in time and memory while they are followed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::inputs::{self, Random};
use crate::util::client::Client;

/// What ends a log: once it is read back, all was taken in.
const LAST: &str = "that was all";

/// A date for so many bytes, as from a pane that prints 10 MB/s.
const DATED: u64 = 1_000_000;

pub fn run(mut args: impl Iterator<Item = String>) -> ExitCode {
    let megabytes = args
        .next()
        .and_then(|arg| arg.parse().ok())
        .unwrap_or(1_000);
    let measured = pick_ups(megabytes).and_then(|()| shapes());
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A log that grows without a pane.
struct Log {
    raw: BufWriter<File>,
    times: File,
    length: u64,
    dated: u64,
}

impl Log {
    fn open(dir: &Path) -> io::Result<Log> {
        let append = |name| OpenOptions::new().append(true).open(dir.join(name));
        let raw = append("raw.log")?;
        let length = raw.metadata()?.len();
        Ok(Log {
            raw: BufWriter::with_capacity(1 << 16, raw),
            times: append("times.log")?,
            length,
            dated: 0,
        })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.length >= self.dated {
            self.dated = self.length + DATED;
            let ms = 1_800_000_000_000 + self.length / 10_000;
            self.raw.flush()?;
            writeln!(self.times, "{ms} {}", self.length)?;
        }
        self.length += bytes.len() as u64;
        self.raw.write_all(bytes)
    }
}

fn dir(client: &Client) -> PathBuf {
    client.home().join("state/sessions/t1")
}

/// Reads the log's end until it is there.
fn reach_end(client: &mut Client) {
    let ask = json!({"session": "t1", "limit": 2});
    while !client.tool("read", ask.clone()).text.contains(LAST) {
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Megabytes of memory that a server has now, and has had at most.
fn memory(client: &Client) -> (f64, f64) {
    let path = format!("/proc/{}/status", client.pid());
    let status = fs::read_to_string(path).unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name));
        let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        number.unwrap_or(0.0) / 1024.0
    };
    (field("VmRSS:"), field("VmHWM:"))
}

/// Milliseconds of processor time that a server has used.
fn processor(client: &Client) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", client.pid())).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum::<u64>()
        * 10
}

fn head() {
    println!(
        "{:<34} {:>8} {:>10} {:>10} {:>10} {:>10}",
        "", "MB", "ms", "CPU ms", "RSS MB", "peak MB"
    );
}

fn row(what: &str, bytes: u64, time: Duration, client: &Client) {
    let (now, peak) = memory(client);
    println!(
        "{what:<34} {:>8.1} {:>10.1} {:>10} {now:>10.1} {peak:>10.1}",
        bytes as f64 / 1e6,
        time.as_secs_f64() * 1e3,
        processor(client)
    );
}

fn pick_ups(megabytes: u64) -> io::Result<()> {
    let kinds: [(&str, inputs::Input); 2] = [("plain", inputs::plain), ("colour", inputs::colour)];
    head();
    for (name, input) in kinds {
        let mut client = Client::in_session();
        client.run("true");
        let dir = dir(&client);
        let mut length = 0;
        for (what, spoil) in [
            ("whole log", None),
            ("checkpoint", None),
            ("without session.txt", Some("session.txt")),
            ("without lines.idx", Some("lines.idx")),
        ] {
            let mut failed = Ok(());
            client = client.killed_and_restarted(|| {
                failed = match spoil {
                    Some(file) => fs::remove_file(dir.join(file)),
                    None if length == 0 => fill(&dir, megabytes, input).map(|bytes| length = bytes),
                    None => Ok(()),
                };
            });
            failed?;
            let start = Instant::now();
            reach_end(&mut client);
            row(&format!("{name}, {what}"), length, start.elapsed(), &client);
        }
    }
    Ok(())
}

/// Appends so much of an input. With the log's length.
fn fill(dir: &Path, megabytes: u64, input: inputs::Input) -> io::Result<u64> {
    let mut log = Log::open(dir)?;
    let (mut random, mut text) = (Random::new(), String::new());
    for turn in 1.. {
        text.clear();
        input(&mut random, turn, &mut text);
        log.write(text.as_bytes())?;
        if log.length >= megabytes * 1_000_000 {
            break;
        }
    }
    log.write(format!("\r\n{LAST}\r\n").as_bytes())?;
    log.raw.flush()?;
    Ok(log.length)
}

/// What a pane prints: before, a piece that is repeated, how often, and after.
type Shape = (&'static str, String, String, usize, &'static str);

fn shapes() -> io::Result<()> {
    let numbers: String = (0..1_000).map(|n| format!("line {n}\r\n")).collect();
    let digits = "0123456789".repeat(1_000);
    let marks = "\u{301}".repeat(1_000);
    let shapes: [Shape; 5] = [
        ("3 million lines", String::new(), numbers, 3_000, ""),
        (
            "a line of 100 MB",
            String::new(),
            digits.clone(),
            10_000,
            "",
        ),
        (
            "a line of 200 MB",
            String::new(),
            digits.clone(),
            20_000,
            "",
        ),
        ("a million marks in a cell", "e".into(), marks, 1_000, ""),
        ("an OSC of 10 MB", "\x1b]0;".into(), digits, 1_000, "\x07"),
    ];
    println!();
    head();
    for (what, before, piece, times, after) in shapes {
        let mut client = Client::in_session();
        client.run("true");
        let mut log = Log::open(&dir(&client))?;
        let begun = log.length;
        let start = Instant::now();
        log.write(before.as_bytes())?;
        for _ in 0..times {
            log.write(piece.as_bytes())?;
        }
        log.write(format!("{after}\r\n{LAST}\r\n").as_bytes())?;
        log.raw.flush()?;
        reach_end(&mut client);
        row(what, log.length - begun, start.elapsed(), &client);
    }
    Ok(())
}
