//! All processes at one moment, and how they belong together.

use std::collections::HashSet;

use super::{Pid, Proc, Process, Tty};

/// A list of processes, read in one pass: not a snapshot, some may have gone before the pass ended.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    processes: Vec<Process>,
}

impl Tree {
    pub(super) fn scan(proc: &Proc) -> Self {
        let Ok(entries) = std::fs::read_dir(&proc.root) else {
            return Self::default();
        };
        let pids = entries
            .flatten()
            .filter_map(|entry| super::stat::number(entry.file_name().as_encoded_bytes()));
        Self {
            processes: pids.filter_map(|pid| proc.process(Pid(pid))).collect(),
        }
    }

    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "which host and user a session is on is asked by what comes next: places"
        )
    )]
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    pub fn get(&self, pid: Pid) -> Option<&Process> {
        self.processes.iter().find(|process| process.pid == pid)
    }

    /// Those whose controlling terminal this is.
    pub fn on(&self, tty: Tty) -> impl Iterator<Item = &Process> {
        self.processes
            .iter()
            .filter(move |process| process.tty == Some(tty))
    }

    /// The members of a process group.
    pub fn group(&self, pgrp: Pid) -> impl Iterator<Item = &Process> {
        self.processes
            .iter()
            .filter(move |process| process.pgrp == pgrp)
    }

    /// Children, their children and so on, of any of these; not these themselves. Parents come before children.
    pub fn descendants(&self, of: impl IntoIterator<Item = Pid>) -> Vec<&Process> {
        let mut family: HashSet<Pid> = of.into_iter().collect();
        let mut found: Vec<&Process> = Vec::new();
        // Pids wrap round, so a child may be listed before its parent: pass until nothing is added.
        loop {
            let known = found.len();
            for process in &self.processes {
                if family.contains(&process.ppid) && family.insert(process.pid) {
                    found.push(process);
                }
            }
            if found.len() == known {
                return found;
            }
        }
    }

    /// Whether `pid` is `ancestor` or descends from it.
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "which host and user a session is on is asked by what comes next: places"
        )
    )]
    pub fn is_within(&self, pid: Pid, ancestor: Pid) -> bool {
        let mut pid = pid;
        // Bounded: processes that were replaced during the pass may seem to be each other's parents.
        for _ in 0..=self.processes.len() {
            if pid == ancestor {
                return true;
            }
            match self.get(pid) {
                Some(process) => pid = process.ppid,
                None => return false,
            }
        }
        false
    }
}

#[cfg(test)]
impl FromIterator<Process> for Tree {
    fn from_iter<I: IntoIterator<Item = Process>>(processes: I) -> Self {
        Self {
            processes: processes.into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, ppid: i32, pgrp: i32, tty: Option<u32>) -> Process {
        Process {
            pid: Pid(pid),
            ppid: Pid(ppid),
            pgrp: Pid(pgrp),
            session: Pid(1),
            tty: tty.map(Tty::pts),
            tpgid: None,
            state: b'S',
            comm: String::new(),
            threads: 1,
            start_time: 0,
            cpu_ticks: 0,
        }
    }

    fn pids<'a>(processes: impl IntoIterator<Item = &'a Process>) -> Vec<i32> {
        processes.into_iter().map(|process| process.pid.0).collect()
    }

    #[test]
    fn families_groups_and_terminals() {
        // 30 was started after the pids wrapped round: it is listed before its parent.
        let tree: Tree = [
            process(1, 0, 1, None),
            process(30, 900, 900, Some(4)),
            process(500, 1, 500, Some(4)),
            process(900, 500, 900, Some(4)),
            process(901, 1, 901, Some(5)),
        ]
        .into_iter()
        .collect();
        assert_eq!(pids(tree.on(Tty::pts(4))), [30, 500, 900]);
        assert_eq!(pids(tree.group(Pid(900))), [30, 900]);
        assert_eq!(pids(tree.descendants([Pid(500)])), [900, 30]);
        assert_eq!(pids(tree.descendants([Pid(30)])), [0i32; 0]);
        assert!(tree.is_within(Pid(30), Pid(500)) && tree.is_within(Pid(500), Pid(500)));
        assert!(!tree.is_within(Pid(901), Pid(500)) && !tree.is_within(Pid(77), Pid(500)));
    }

    #[test]
    fn parents_in_a_circle_end() {
        let tree: Tree = [process(5, 6, 5, None), process(6, 5, 5, None)]
            .into_iter()
            .collect();
        assert!(!tree.is_within(Pid(5), Pid(1)));
        assert_eq!(pids(tree.descendants([Pid(5)])), [6]);
    }

    #[test]
    fn a_pass_over_the_real_one_finds_ourselves() {
        let tree = Proc::new("/proc").tree();
        let own = Pid(std::process::id() as i32);
        assert_eq!(tree.get(own).map(|process| process.pid), Some(own));
        assert!(tree.is_within(own, own));
        assert!(Proc::new("/nowhere").tree().processes().is_empty());
    }
}
