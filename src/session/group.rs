//! The processes under a session's program: who they are, and signals to them.
//!
//! Only for sessions whose launcher adopts what the program leaves behind (start_program): then whatever descends
//! from the program descends from the launcher.

use super::Session;
use crate::proc::{Pid, Proc, Process, Tree};
use crate::sys::signal;

/// Characters of a command line by which a process is named.
const COMMAND: usize = 200;

/// A process, told from a later one of the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Member {
    pid: Pid,
    start_time: u64,
}

/// What a session's program has started, at one moment.
#[derive(Clone, Debug)]
pub struct Family {
    launcher: Pid,
    /// When the launcher started; `None` when it had gone already.
    launched: Option<u64>,
    /// The program's process group, and the one that it was started in.
    groups: Vec<Pid>,
    /// The program itself and its group. The launcher is not counted.
    group: Vec<Member>,
    /// Those that have left the group.
    others: Vec<Member>,
}

/// A process as it is named to people.
#[derive(Clone, Debug)]
pub struct Named {
    pub pid: i32,
    pub command: String,
}

impl Family {
    pub fn of(session: &Session, proc: &Proc) -> Family {
        let tree = proc.tree();
        let launcher = Pid(session.meta.pid);
        let own = tree.get(session.program()).map(|program| program.pgrp);
        let mut groups = vec![launcher];
        groups.extend(own.filter(|pgrp| *pgrp != launcher));
        let mut family = Family {
            launcher,
            launched: tree.get(launcher).map(|process| process.start_time),
            groups,
            group: Vec::new(),
            others: Vec::new(),
        };
        family.look(&tree);
        family
    }

    /// Who still lives, with who has been started since.
    pub fn look_again(&mut self, proc: &Proc) {
        self.look(&proc.tree());
    }

    fn look(&mut self, tree: &Tree) {
        let launcher = tree.get(self.launcher);
        let living = launcher.is_some_and(|process| Some(process.start_time) == self.launched);
        // A session lives on under its number when its leader, the launcher, has ended. Should somebody else have
        // that number by now, it is another session.
        let ours = |process: &Process| {
            (living || launcher.is_none())
                && process.session == self.launcher
                && process.pid != self.launcher
                && !process.is_dead()
        };
        let groups = self.groups.iter();
        let group: Vec<Member> = groups
            .flat_map(|pgrp| tree.group(*pgrp))
            .filter(|process| ours(process))
            .map(member)
            .collect();
        let mut others: Vec<Member> = Vec::new();
        if living {
            others.extend(tree.descendants([self.launcher]).into_iter().map(member));
        }
        others.extend(self.group.iter().chain(&self.others));
        let alive = |member: &Member| {
            tree.get(member.pid).is_some_and(|process| {
                process.start_time == member.start_time && !process.is_dead()
            })
        };
        let mut left: Vec<Member> = Vec::new();
        for other in others {
            if alive(&other) && !group.contains(&other) && !left.contains(&other) {
                left.push(other);
            }
        }
        (self.group, self.others) = (group, left);
    }

    /// Nobody of the program's group is left.
    pub fn is_over(&self) -> bool {
        self.group.is_empty()
    }

    /// Sends to each of the group, which may have ended meanwhile. The launcher is left out: it has to tell the end.
    /// One that is stopped has to go on to heed it.
    pub fn signal(&self, number: i32) {
        for member in &self.group {
            let _ = signal::kill(member.pid.0, number);
        }
        let go_on = signal::number("CONT");
        for member in &self.group {
            let _ = go_on.map(|number| signal::kill(member.pid.0, number));
        }
    }

    /// Those that have left the group and so are not ended with it, by pid and command line.
    pub fn left(&self, proc: &Proc) -> Vec<Named> {
        named(&self.others, proc)
    }

    /// Those of the group that live.
    pub fn members(&self, proc: &Proc) -> Vec<Named> {
        named(&self.group, proc)
    }
}

fn member(process: &Process) -> Member {
    Member {
        pid: process.pid,
        start_time: process.start_time,
    }
}

fn named(members: &[Member], proc: &Proc) -> Vec<Named> {
    let name = |member: &Member| {
        let words = proc.cmdline(member.pid);
        let line: Vec<_> = words
            .iter()
            .map(|word| String::from_utf8_lossy(word))
            .collect();
        let line = match line.is_empty() {
            true => proc
                .process(member.pid)
                .map(|process| process.comm)
                .unwrap_or_default(),
            false => line.join(" "),
        };
        Named {
            pid: member.pid.0,
            command: line.chars().take(COMMAND).collect(),
        }
    };
    members.iter().map(name).collect()
}

/// The number of a signal by its name (`TERM`, `SIGTERM`) or number.
pub fn number(name: &str) -> Option<i32> {
    signal::number(name)
}
