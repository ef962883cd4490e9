//! Made-up processes in a folder that looks like /proc.

use std::os::unix::fs::{FileExt, symlink};

use super::*;

/// No terminal of the machine that runs the tests has such a number.
pub const PTS: u32 = 0x7_0000;
pub const INNER: u32 = 0x7_0001;
/// The session of the pane, and its first process.
pub const SESSION: i32 = 100;

/// A folder that looks like /proc.
pub struct Fixture {
    pub proc: Proc,
}

/// What differs from one made-up process to the next.
#[derive(Clone)]
pub struct Made<'a> {
    pub pid: i32,
    pub ppid: i32,
    pub pgrp: i32,
    pub session: i32,
    pub pts: Option<u32>,
    pub tpgid: i32,
    pub state: char,
    pub comm: &'a str,
    pub call: (u32, u64, u64),
    pub wchan: &'a str,
    pub fds: &'a [(u32, &'a str)],
    pub fdinfo: &'a [(u32, &'a str)],
}

impl Default for Made<'_> {
    fn default() -> Self {
        Self {
            pid: 200,
            ppid: SESSION,
            pgrp: 200,
            session: SESSION,
            pts: Some(PTS),
            tpgid: 200,
            state: 'S',
            comm: "job",
            call: (NANOSLEEP, 0, 0),
            wchan: "hrtimer_nanosleep",
            fds: &[],
            fdinfo: &[],
        }
    }
}

fn tty_nr(index: u32) -> u32 {
    (136 << 8) | (index & 0xff) | ((index & 0xf_ff00) << 12)
}

impl Fixture {
    pub fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("pgproc.{}.{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        Self {
            proc: Proc::new(root),
        }
    }

    /// With a shell that waits for its child, as the pane's process.
    pub fn with_shell(name: &str) -> Self {
        let fixture = Self::new(name);
        fixture.make(&Made {
            pid: SESSION,
            ppid: 1,
            pgrp: SESSION,
            comm: "sh",
            ..Made::default()
        });
        fixture
    }

    pub fn make(&self, made: &Made<'_>) {
        let dir = self.proc.root.join(made.pid.to_string());
        let task = dir.join(format!("task/{}", made.pid));
        for dir in [&dir.join("fd"), &dir.join("fdinfo"), &task] {
            std::fs::create_dir_all(dir).unwrap();
        }
        let Made {
            pid,
            ppid,
            pgrp,
            session,
            tpgid,
            state,
            comm,
            ..
        } = made;
        let tty = made.pts.map_or(0, tty_nr);
        let stat = format!(
            "{pid} ({comm}) {state} {ppid} {pgrp} {session} {tty} {tpgid} 0 0 0 0 0 0 0 0 0 20 0 1 0 {pid} 0\n"
        );
        let (call, a, b) = made.call;
        let call = format!("{call} {a:#x} {b:#x} 0x0 0x0 0x0 0x0 0x7ffc00000000 0x7f0000000000\n");
        std::fs::write(dir.join("stat"), &stat).unwrap();
        std::fs::write(task.join("stat"), &stat).unwrap();
        std::fs::write(task.join("syscall"), call).unwrap();
        std::fs::write(task.join("wchan"), made.wchan).unwrap();
        std::fs::write(dir.join("cmdline"), format!("{comm}\0")).unwrap();
        for (fd, target) in made.fds {
            symlink(target, dir.join(format!("fd/{fd}"))).unwrap();
        }
        for (fd, text) in made.fdinfo {
            std::fs::write(dir.join(format!("fdinfo/{fd}")), text).unwrap();
        }
    }

    pub fn memory(&self, pid: i32, address: u64, bytes: &[u8]) {
        let file = std::fs::File::create(self.proc.root.join(format!("{pid}/mem"))).unwrap();
        file.write_all_at(bytes, address).unwrap();
    }

    pub fn look(&self) -> View {
        self.look_in(Mode {
            canonical: true,
            echo: true,
        })
    }

    pub fn look_in(&self, mode: Mode) -> View {
        let terminal = Terminal {
            path: PathBuf::from(format!("/dev/pts/{PTS}")),
            tty: Tty::pts(PTS),
            instance: Some(7),
            mode: Some(mode),
            unread: 0,
        };
        judge(&self.proc, &self.proc.tree(), Pid(SESSION), Some(&terminal))
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.proc.root);
    }
}
