//! What outlives a device for a moment: when the device is gone, however it ended, the guard ends the process groups
//! that it left. Must not know what they were.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::sys::signal;

/// The command that is the guard.
pub const COMMAND: &str = "guard";

/// A running guard. Dropped, it does its work and ends.
pub struct Guard {
    child: Child,
    told: Mutex<Option<ChildStdin>>,
}

impl Guard {
    /// Starts one, out of reach of the terminal's keys.
    pub fn start(binary: &Path) -> io::Result<Guard> {
        let mut child = Command::new(binary)
            .arg(COMMAND)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()?;
        let told = Mutex::new(child.stdin.take());
        Ok(Guard { child, told })
    }

    /// A process group runs.
    pub fn add(&self, group: u32) {
        self.tell('+', group);
    }

    /// It is done, and what is left of it may stay.
    pub fn remove(&self, group: u32) {
        self.tell('-', group);
    }

    fn tell(&self, sign: char, group: u32) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(told) = told.as_mut() {
            // A guard that was killed guards nothing, which is no reason to stop working.
            let _ = writeln!(told, "{sign}{group}");
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        *told = None;
        drop(told);
        // It ends at its end of input.
        let _ = self.child.wait();
    }
}

/// Is the guard, until `input` ends: then it ends what is left.
pub fn run(input: impl BufRead) {
    for group in left(input) {
        // Fails when it has gone by itself.
        let _ = signal::kill_group(group, signal::KILL);
    }
}

/// The groups that were added and not removed.
fn left(input: impl BufRead) -> BTreeSet<i32> {
    let mut groups = BTreeSet::new();
    for line in input.lines().map_while(Result::ok) {
        let number = |text: &str| text.parse::<i32>().ok();
        match (line.strip_prefix('+'), line.strip_prefix('-')) {
            (Some(text), _) => groups.extend(number(text)),
            (_, Some(text)) => {
                if let Some(group) = number(text) {
                    groups.remove(&group);
                }
            }
            (None, None) => {}
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_removed_is_left() {
        let said = "+10\n+11\n-10\nwhat\n+x\n-\n+12\n-12\n+11\n";
        assert_eq!(left(said.as_bytes()), [11].into());
    }
}
