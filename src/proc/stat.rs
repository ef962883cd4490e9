//! One line of /proc/PID/stat (proc_pid_stat(5)) from bytes. Opens nothing.

use super::{Pid, tty::Tty};

/// What /proc/PID/stat tells about a process, or /proc/PID/task/TID/stat about a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: Pid,
    /// 0 for init, and for a process whose parent is outside our PID namespace.
    pub ppid: Pid,
    pub pgrp: Pid,
    pub session: Pid,
    /// The controlling terminal.
    pub tty: Option<Tty>,
    /// Foreground process group of the controlling terminal. None without a terminal, and when the group is outside
    /// our PID namespace.
    pub tpgid: Option<Pid>,
    /// The letter of the state: R running, S asleep, D asleep and not to be disturbed, T stopped by a signal,
    /// t stopped by a debugger, Z a zombie, X dead, I idle.
    pub state: u8,
    /// The name the kernel shows, at most 15 bytes, with what is not UTF-8 replaced. Any program may set any.
    pub comm: String,
    pub threads: u32,
    /// Start, in clock ticks after boot: with the pid, this tells a process from a later one of the same pid.
    pub start_time: u64,
    /// Time on a processor, user and system, in clock ticks ([`TICKS_PER_SECOND`]).
    pub cpu_ticks: u64,
}

/// USER_HZ: fixed at 100 in the kernel's interface on both architectures, whatever the kernel's own clock.
pub const TICKS_PER_SECOND: u64 = 100;

/// Fields from the state to `starttime`; of some fifty, the rest are not used.
const FIELDS: usize = 20;

impl Process {
    /// Reads the line. None when it is not one: a number, a name in brackets, and the fields up to `starttime`.
    ///
    /// The name may hold anything, brackets, blanks and newlines included; what follows it never holds a bracket,
    /// so the last one ends it.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let open = line.iter().position(|byte| *byte == b'(')?;
        let close = line.iter().rposition(|byte| *byte == b')')?;
        let comm = line.get(open + 1..close)?;
        let pid = number(line.get(..open)?.trim_ascii())?;
        let rest = line
            .get(close + 1..)?
            .split(u8::is_ascii_whitespace)
            .filter(|field| !field.is_empty());
        let rest: Vec<&[u8]> = rest.take(FIELDS).collect();
        // Fields are counted from 1 in proc_pid_stat(5), and the first two are already read.
        let field = |index: usize| rest.get(index - 3).copied();
        let state = match field(3)? {
            [letter] => *letter,
            _ => return None,
        };
        let tpgid: i32 = number(field(8)?)?;
        Some(Self {
            pid: Pid(pid),
            ppid: Pid(number(field(4)?)?),
            pgrp: Pid(number(field(5)?)?),
            session: Pid(number(field(6)?)?),
            tty: Tty::from_stat(number(field(7)?)?),
            tpgid: (tpgid > 0).then_some(Pid(tpgid)),
            state,
            comm: String::from_utf8_lossy(comm).into_owned(),
            threads: number(field(20)?)?,
            start_time: number(field(22)?)?,
            cpu_ticks: number::<u64>(field(14)?)?.saturating_add(number(field(15)?)?),
        })
    }

    /// Stopped by a signal or a debugger: it neither reads nor works until it is continued.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, b'T' | b't')
    }

    /// Already dead; the entry stays until the parent asks for the status. A main thread that ended before its
    /// others is a zombie too, in a living process.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, b'X' | b'x') || self.state == b'Z' && self.threads <= 1
    }

    /// On a processor, or waiting for its turn on one.
    pub fn is_running(&self) -> bool {
        self.state == b'R'
    }
}

/// A decimal number that is the whole of `text`.
pub(super) fn number<N: std::str::FromStr>(text: &[u8]) -> Option<N> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(comm: &str) -> String {
        format!(
            "4242 ({comm}) S 17 4200 4100 34817 4300 4194304 120 0 1 0 25 17 3 4 20 0 6 0 987654 8192 300 \
             18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
        )
    }

    #[test]
    fn every_field_that_is_used() {
        let process = Process::parse(line("cat").as_bytes()).unwrap();
        assert_eq!(
            process,
            Process {
                pid: Pid(4242),
                ppid: Pid(17),
                pgrp: Pid(4200),
                session: Pid(4100),
                tty: Tty::from_stat(34817),
                tpgid: Some(Pid(4300)),
                state: b'S',
                comm: "cat".into(),
                threads: 6,
                start_time: 987_654,
                cpu_ticks: 42,
            }
        );
    }

    #[test]
    fn any_name_is_read_whole() {
        for comm in [
            "",
            ")",
            ") R 1 1 1 (",
            "a b",
            "a\nb",
            "(((",
            "tmux: client",
            "))) S 1 2 3",
        ] {
            let process = Process::parse(line(comm).as_bytes()).unwrap();
            assert_eq!(
                (process.comm.as_str(), process.state, process.ppid),
                (comm, b'S', Pid(17))
            );
        }
        let mut bytes = line("x").into_bytes();
        bytes[6] = 0xff;
        assert_eq!(Process::parse(&bytes).unwrap().comm, "\u{fffd}");
    }

    #[test]
    fn no_terminal_and_a_group_outside() {
        let process = Process::parse(line("d").replace("34817 4300", "0 -1").as_bytes()).unwrap();
        assert_eq!((process.tty, process.tpgid), (None, None));
    }

    #[test]
    fn junk_is_no_process() {
        let whole = line("cat");
        // Cut anywhere before the end of starttime, the line says too little.
        let needed = whole.find("987654").unwrap();
        for end in 0..needed {
            assert_eq!(Process::parse(&whole.as_bytes()[..end]), None, "{end}");
        }
        for junk in [
            "",
            ")(",
            "(",
            "()",
            "x (cat) S 1",
            "1 (cat) SS 1 1 1 1 1",
            "99999999999 (cat) S",
        ] {
            assert_eq!(Process::parse(junk.as_bytes()), None, "{junk}");
        }
    }
}
