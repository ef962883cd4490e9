//! Whether anything on a terminal has run since: the cheap question before the whole look is taken again.
//!
//! The kernel has no event for "a process began to wait for its terminal": inotify on the terminal tells of reads that
//! have ended, a pidfd of processes that have. But what a thread sleeps in cannot change while it sleeps. A thread that
//! has run has been taken off a processor since, or is on one, and the kernel counts the former.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{Pid, Proc, Process, Tree, Tty, stat::number};

/// A job with more threads is not asked: listing all processes costs less then.
const MAX_THREADS: usize = 64;

/// Everything that could come to wait for a terminal, asleep, and how often each thread of it had been taken off a
/// processor.
///
/// It is made from a list of processes that is a little older than the counts, so a process that began in between may
/// be missing. Two equal ones in a row miss nobody: the second list has whoever began before the first counts were
/// taken, and after that nothing ran that could have begun another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    threads: Vec<Thread>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Thread {
    process: Pid,
    thread: Pid,
    switches: u64,
}

impl Proc {
    /// None when a part of it runs or cannot be seen, when it is too much, and when the terminal is not that of
    /// `pane_pid`.
    pub fn rest(&self, pane_pid: Pid, tty_path: &Path) -> Option<Rest> {
        let tty = Tty::from_rdev(std::fs::metadata(tty_path).ok()?.rdev());
        let tree = self.tree();
        tree.get(pane_pid).filter(|pane| pane.tty == Some(tty))?;
        self.rest_of(&family(&tree, tty))
    }

    fn rest_of(&self, family: &[&Process]) -> Option<Rest> {
        let mut threads = Vec::new();
        for process in family {
            for thread in self.threads(process)? {
                let switches = self.switches(process.pid, thread)?;
                threads.push(Thread {
                    process: process.pid,
                    thread,
                    switches,
                });
            }
            if threads.len() > MAX_THREADS {
                return None;
            }
        }
        Some(Rest { threads })
    }

    /// Nothing of it has run since. One that has ended counts as having run.
    pub fn rests(&self, rest: &Rest) -> bool {
        rest.threads
            .iter()
            .all(|known| self.switches(known.process, known.thread) == Some(known.switches))
    }

    fn threads(&self, process: &Process) -> Option<Vec<Pid>> {
        if process.threads <= 1 {
            return Some(vec![process.pid]);
        }
        let entries = self.folder(process.pid, "task").ok()?.flatten();
        let numbers = entries.filter_map(|entry| number(entry.file_name().as_encoded_bytes()));
        let mut threads: Vec<Pid> = numbers.map(Pid).take(MAX_THREADS + 1).collect();
        threads.sort_unstable();
        Some(threads)
    }

    fn switches(&self, process: Pid, thread: Pid) -> Option<u64> {
        asleep(&self.bytes(process, &format!("task/{thread}/status")).ok()?)
    }
}

/// The processes on a terminal and all that descend from them, but for the dead.
fn family(tree: &Tree, tty: Tty) -> Vec<&Process> {
    let mut family: Vec<&Process> = tree.on(tty).collect();
    let on: Vec<Pid> = family.iter().map(|process| process.pid).collect();
    let below = tree.descendants(on.iter().copied());
    family.extend(below.into_iter().filter(|child| !on.contains(&child.pid)));
    family.retain(|process| !process.is_dead());
    family.sort_by_key(|process| process.pid);
    family
}

/// How often a thread has been taken off a processor, from its /proc/PID/task/TID/status (proc_pid_status(5)). None
/// when it is on one or waits for its turn, and where the kernel does not count.
fn asleep(status: &[u8]) -> Option<u64> {
    let value = |key: &[u8]| {
        let mut lines = status.split(|byte| *byte == b'\n');
        lines.find_map(|line| Some(line.strip_prefix(key)?.trim_ascii()))
    };
    if value(b"State:")?.first()? == &b'R' {
        return None;
    }
    let own: u64 = number(value(b"voluntary_ctxt_switches:")?)?;
    let forced: u64 = number(value(b"nonvoluntary_ctxt_switches:")?)?;
    own.checked_add(forced)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &[u8] = b"Name:\tcat\nState:\tS (sleeping)\nvoluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t2\n";

    #[test]
    fn counts_of_a_sleeper() {
        assert_eq!(asleep(STATUS), Some(42));
        let text = String::from_utf8_lossy(STATUS);
        for (from, to) in [
            ("S (sleeping)", "R (running)"),
            ("nonvoluntary", "other"),
            ("\t40", "\t-1"),
            ("\t40", "\t18446744073709551615"),
            ("State", "Stat"),
        ] {
            assert!(text.contains(from));
            let status = text.replacen(from, to, 1);
            assert_eq!(asleep(status.as_bytes()), None, "{status}");
        }
        assert_eq!(asleep(b""), None);
        assert_eq!(asleep(b"\xff:\nState:"), None);
    }
}
