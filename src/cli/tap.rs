//! `paneglass tap DIR LIMIT TTY`: what tmux's pipe-pane feeds. Appends a pane's bytes to the logs in DIR until the pane is gone.
//!
//! Outlives servers: it is a child of tmux. So it must never fail where it could go on, and never keep tmux
//! waiting.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::store::append::Appender;
use crate::store::layout::SessionDir;
use crate::sys::winsize;

/// A pipe or socket pair hands over at most this much at once (its buffer is 64 to 208 KB).
const CHUNK: usize = 256 * 1024;

pub fn run(mut args: lexopt::Parser) -> ExitCode {
    let words: Vec<_> = std::iter::from_fn(|| args.value().ok()).take(3).collect();
    let [dir, limit, tty] = words.as_slice() else {
        eprintln!("paneglass tap: it is started by tmux for a session, as tap DIR LIMIT TTY");
        return ExitCode::from(2);
    };
    let limit = limit
        .to_str()
        .and_then(|text| text.parse().ok())
        .unwrap_or(u64::MAX);
    match tap(
        &SessionDir {
            path: PathBuf::from(dir),
        },
        Path::new(tty),
        limit,
    ) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("paneglass tap: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tap(dir: &SessionDir, tty: &Path, limit: u64) -> Result<(), crate::store::Error> {
    let mut log = Appender::open(&dir.raw(), &dir.times(), limit)?;
    log.begin(now_ms(), std::process::id());
    if let Some(seed) = seed(dir) {
        let now = now_ms();
        log.date(now, winsize::of(tty).ok());
        log.append(now, &seed);
    }
    let mut input = std::io::stdin().lock();
    let mut buffer = vec![0; CHUNK];
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            // The pane is gone in another way than by an end of file.
            Err(_) => break,
        };
        let now = now_ms();
        if log.due(now) {
            log.date(now, winsize::of(tty).ok());
        }
        log.append(now, &buffer[..count]);
    }
    log.end(now_ms());
    Ok(())
}

/// How long what an adopted pane showed is waited for: its server fetches it in the call that starts us. Meanwhile
/// tmux holds what the pane prints.
const SEED: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(2);

/// What the pane showed before it was logged, for an adopted one.
fn seed(dir: &SessionDir) -> Option<Vec<u8>> {
    let deadline = Instant::now() + SEED;
    let mut bytes = std::fs::read(dir.seed()).ok()?;
    while bytes.is_empty() && Instant::now() < deadline {
        std::thread::sleep(LOOK);
        bytes = std::fs::read(dir.seed()).ok()?;
    }
    let _ = std::fs::remove_file(dir.seed());
    Some(bytes)
}

fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as u64)
}
