//! A job that prints nothing and computes nothing: which of its processes waits, and for what.
//!
//! Must not know when that is worth telling.

use std::time::{Duration, Instant};

use super::{Session, Sessions};
use crate::proc::{Pid, Process};

/// Two looks so far apart tell a job that is idle from one that was between two turns on the processor.
const BETWEEN: Duration = Duration::from_millis(100);

/// The process that the others wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The kernel's name for it, which any program may set: to be cleaned before it is shown.
    pub name: String,
    pub pid: i32,
    pub what: &'static str,
}

/// Where a process sleeps in the kernel, by the beginning of the function's name, in words. The names vary between
/// kernels; /proc/PID/wchan, proc_pid_wchan(5).
const PLACES: &[(&str, &str)] = &[
    ("hrtimer_nanosleep", "sleeps until a time comes"),
    ("do_nanosleep", "sleeps until a time comes"),
    (
        "locks_lock_inode",
        "waits for a lock on a file that another holds",
    ),
    (
        "flock_lock",
        "waits for a lock on a file that another holds",
    ),
    (
        "posix_lock",
        "waits for a lock on a file that another holds",
    ),
    ("inet_csk_accept", "waits for a connection from the network"),
    (
        "inet_wait_for_connect",
        "waits for a connection to be answered",
    ),
    ("unix_", "waits for another process on a socket"),
    ("wait_woken", "waits for data from a connection"),
    ("sk_wait_data", "waits for data from a connection"),
    ("tcp_", "waits for data from a connection"),
    (
        "wait_for_partner",
        "waits for somebody to open the other end of a pipe",
    ),
    (
        "fifo_open",
        "waits for somebody to open the other end of a pipe",
    ),
    ("anon_pipe_read", "waits for data from a pipe"),
    ("pipe_read", "waits for data from a pipe"),
    ("anon_pipe_write", "waits for somebody to read a pipe"),
    ("pipe_write", "waits for somebody to read a pipe"),
    ("futex", "waits for a lock within itself"),
    ("do_wait", "waits for a process that it has started"),
    ("nfs", "waits for a file server"),
    ("rpc_", "waits for a file server"),
    (
        "poll_schedule",
        "waits for an event, of the network or another process",
    ),
    (
        "do_sys_poll",
        "waits for an event, of the network or another process",
    ),
    (
        "do_select",
        "waits for an event, of the network or another process",
    ),
    (
        "do_epoll",
        "waits for an event, of the network or another process",
    ),
    (
        "ep_poll",
        "waits for an event, of the network or another process",
    ),
];

fn place(wchan: &str) -> &'static str {
    PLACES
        .iter()
        .find(|(name, _)| wchan.starts_with(name))
        .map_or(
            "waits for something other than this terminal",
            |(_, what)| what,
        )
}

impl Sessions {
    /// The process at the end of the chain of waiting ones; `None` while anything of the job computes, or reads and
    /// writes disks. Takes a tenth of a second.
    pub fn idle(&self, session: &std::sync::Arc<Session>) -> Option<Idle> {
        let first = self.job(session)?;
        let watch = session.watch();
        let (_running, never) = crossbeam_channel::bounded(0);
        let deadline = Instant::now() + BETWEEN;
        // Output in between is a sign of life.
        if watch.wait(deadline, &never) != super::watch::Woken::Deadline {
            return None;
        }
        let second = self.job(session)?;
        let ticks = |job: &[Process]| job.iter().map(|process| process.cpu_ticks).sum::<u64>();
        let pids = |job: &[Process]| job.iter().map(|process| process.pid).collect::<Vec<Pid>>();
        if pids(&first) != pids(&second) || ticks(&second) > ticks(&first) + 1 {
            return None;
        }
        let last = second.last()?;
        Some(Idle {
            name: last.comm.clone(),
            pid: last.pid.0,
            what: place(&self.proc.wchan(last.pid)),
        })
    }

    /// The processes of the job in front, parents first; `None` when one of them runs or cannot be disturbed.
    fn job(&self, session: &Session) -> Option<Vec<Process>> {
        let tree = self.proc.tree();
        let front = tree.get(session.program())?.tpgid?;
        let leaders: Vec<Pid> = tree.group(front).map(|process| process.pid).collect();
        let mut job: Vec<Process> = tree.group(front).cloned().collect();
        job.extend(
            tree.descendants(leaders)
                .into_iter()
                .filter(|child| child.pgrp != front)
                .cloned(),
        );
        job.retain(|process| !process.is_dead());
        // A child waits longer than its parent, which waits for it.
        job.sort_by_key(|process| (process.start_time, process.pid));
        let still = |process: &Process| process.state == b'S';
        job.iter().all(still).then_some(job)
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn places_in_words() {
        assert_eq!(place("hrtimer_nanosleep"), "sleeps until a time comes");
        assert_eq!(
            place("poll_schedule_timeout.constprop.0"),
            "waits for an event, of the network or another process"
        );
        assert_eq!(place("0"), "waits for something other than this terminal");
    }
}
