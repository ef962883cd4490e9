//! calls.log: one JSON line for each tool call, so that a user can see who did what and when. Never what was typed or
//! printed.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use serde::Serialize;

/// A file over this size becomes the old one: months of calls, and still quick to search.
const ROTATED_BYTES: u64 = 10_000_000;

/// One call.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    /// When it ended, in seconds since the epoch.
    pub time: f64,
    pub agent: &'a str,
    pub tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<&'a str>,
    pub duration_ms: u64,
    pub ok: bool,
    /// What kind of error it was answered with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a str>,
}

/// The log, opened at the first call.
#[derive(Debug)]
pub struct Calls {
    path: PathBuf,
    old: PathBuf,
    limit: u64,
    file: Option<(File, u64)>,
}

impl Calls {
    pub fn new(path: PathBuf, old: PathBuf) -> Calls {
        Calls {
            path,
            old,
            limit: ROTATED_BYTES,
            file: None,
        }
    }

    /// Appends one line. On failure the next call opens the file anew.
    pub fn append(&mut self, record: &Record<'_>) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        let (mut file, mut size) = match self.file.take() {
            Some(open) => open,
            None => self.open()?,
        };
        if size > 0 && size + line.len() as u64 > self.limit {
            std::fs::rename(&self.path, &self.old)?;
            (file, size) = self.open()?;
        }
        file.write_all(&line)?;
        self.file = Some((file, size + line.len() as u64));
        Ok(())
    }

    fn open(&self) -> io::Result<(File, u64)> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path)?;
        let size = file.metadata()?.len();
        Ok((file, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::Scratch;

    #[test]
    fn lines_are_appended_and_one_old_file_is_kept() {
        let dir = Scratch::new();
        let (path, old) = (dir.path().join("new"), dir.path().join("old"));
        let record = Record {
            time: 1.5,
            agent: "a",
            tool: "run",
            session: Some("s"),
            duration_ms: 7,
            ok: false,
            error: Some("refused"),
        };
        let line = "{\"time\":1.5,\"agent\":\"a\",\"tool\":\"run\",\"session\":\"s\",\"duration_ms\":7,\"ok\":false,\"error\":\"refused\"}\n";
        let mut calls = Calls::new(path.clone(), old.clone());
        calls.limit = 2 * line.len() as u64;
        for _ in 0..2 {
            calls.append(&record).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), line.repeat(2));
        assert!(!old.exists());
        // Another server goes on with the same file.
        let mut calls = Calls {
            limit: calls.limit,
            ..Calls::new(path.clone(), old.clone())
        };
        for _ in 0..3 {
            calls.append(&record).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), line);
        assert_eq!(std::fs::read_to_string(&old).unwrap(), line.repeat(2));
    }
}
