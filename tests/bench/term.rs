//! How fast `paneglass cook` reads three kinds of output, beside `cat` and the terminal crates that can be built.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use crate::inputs::{self, Random};
use crate::peers::Peers;

/// The best of so many runs: what else the machine does only ever makes a run slower.
const RUNS: u32 = 5;

pub fn run(mut args: impl Iterator<Item = String>) -> ExitCode {
    let megabytes = args.next().and_then(|arg| arg.parse().ok()).unwrap_or(100);
    match measure(megabytes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(megabytes: u64) -> io::Result<()> {
    let dir = std::env::temp_dir().join(format!("paneglass-bench-{}", std::process::id()));
    std::fs::create_dir(&dir)?;
    let result = compare(&dir, megabytes);
    std::fs::remove_dir_all(&dir)?;
    result
}

fn compare(dir: &Path, megabytes: u64) -> io::Result<()> {
    let peers = Peers::build();
    println!(
        "{:<10} {:>8} {:>8} {:>22} {:>10}",
        "MB/s", "cook", "cat", "alacritty_terminal", "vte"
    );
    let kinds: [(&str, inputs::Input); 3] = [
        ("plain", inputs::plain),
        ("colour", inputs::colour),
        ("progress", inputs::progress),
    ];
    for (name, input) in kinds {
        let file = dir.join(name);
        write(&file, megabytes * 1_000_000, input)?;
        let out = dir.join("out");
        let cook = best(&file, || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_paneglass"));
            command.arg("cook").arg(&file);
            timed(command, &out)
        })?;
        let cat = best(&file, || {
            let mut command = Command::new("cat");
            command.arg(&file);
            timed(command, &out)
        })?;
        let peer = |which: &str| match &peers {
            Some(peers) => {
                let speed = best(&file, || peers.time(which, &file))?;
                io::Result::Ok(format!("{speed:.0}"))
            }
            None => Ok(String::from("not built")),
        };
        println!(
            "{name:<10} {cook:>8.0} {cat:>8.0} {:>22} {:>10}",
            peer("alacritty_terminal")?,
            peer("vte")?
        );
    }
    Ok(())
}

/// The best speed of a few runs, in MB/s.
fn best(file: &Path, mut run: impl FnMut() -> io::Result<Duration>) -> io::Result<f64> {
    let bytes = std::fs::metadata(file)?.len() as f64;
    let mut least = Duration::MAX;
    for _ in 0..RUNS {
        least = least.min(run()?);
    }
    Ok(bytes / 1e6 / least.as_secs_f64())
}

/// The time from a command's start to its end, its output written to a file.
fn timed(mut command: Command, out: &PathBuf) -> io::Result<Duration> {
    command.stdin(Stdio::null()).stdout(File::create(out)?);
    let start = Instant::now();
    let status = command.status()?;
    let time = start.elapsed();
    if status.success() {
        Ok(time)
    } else {
        Err(io::Error::other(format!("{command:?}: {status}")))
    }
}

/// Writes at least `bytes` of an input.
fn write(file: &Path, bytes: u64, input: inputs::Input) -> io::Result<()> {
    let mut random = Random::new();
    let mut text = String::new();
    let mut written = 0;
    let mut to = BufWriter::new(File::create(file)?);
    for turn in 1.. {
        text.clear();
        input(&mut random, turn, &mut text);
        to.write_all(text.as_bytes())?;
        written += text.len() as u64;
        if written >= bytes {
            break;
        }
    }
    to.write_all(b"\r\n")?;
    to.flush()
}
