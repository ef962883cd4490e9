//! /proc/PID/status (proc_pid_status(5)) from bytes. Opens nothing.

use super::Pid;
use super::stat::number;

/// Whose a process is, and in which PID namespace it lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Real user.
    pub uid: u32,
    /// Effective user: whose rights it has.
    pub euid: u32,
    /// Who traces it, a debugger or strace.
    pub tracer: Option<Pid>,
    /// Its number in each PID namespace from ours inwards; one number when it lives in ours. Empty where the kernel
    /// does not say.
    pub namespace_pids: Vec<Pid>,
}

impl Status {
    /// None when there is no line of users: such a file is not this one.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut users = None;
        let mut tracer = None;
        let mut namespace_pids = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else {
                continue;
            };
            let (key, value) = line.split_at(colon);
            let mut values = value[1..]
                .split(u8::is_ascii_whitespace)
                .filter(|value| !value.is_empty());
            match key {
                // The first line of a kind counts: a name cannot hold a newline here, the kernel escapes it.
                b"Uid" if users.is_none() => {
                    users = values
                        .next()
                        .and_then(number)
                        .zip(values.next().and_then(number))
                }
                b"TracerPid" => {
                    tracer = values
                        .next()
                        .and_then(number)
                        .filter(|pid| *pid > 0)
                        .map(Pid)
                }
                b"NSpid" => namespace_pids = values.filter_map(number).map(Pid).collect(),
                _ => {}
            }
        }
        let (uid, euid) = users?;
        Some(Self {
            uid,
            euid,
            tracer,
            namespace_pids,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_tracer_and_namespaces() {
        let text =
            b"Name:\tcat\nUmask:\t0022\nTracerPid:\t12\nUid:\t1000\t0\t0\t0\nNSpid:\t600\t7\t1\n";
        assert_eq!(
            Status::parse(text),
            Some(Status {
                uid: 1000,
                euid: 0,
                tracer: Some(Pid(12)),
                namespace_pids: vec![Pid(600), Pid(7), Pid(1)]
            })
        );
    }

    #[test]
    fn what_is_not_there_is_left_out() {
        let status = Status::parse(b"Uid:\t1 2 3 4\nTracerPid:\t0\n").unwrap();
        assert_eq!((status.tracer, status.namespace_pids.len()), (None, 0));
    }

    #[test]
    fn junk_is_no_status() {
        for junk in [
            &b""[..],
            b":",
            b"Uid:",
            b"Uid:\t1",
            b"Uid:\tx\ty",
            b"\xff\n\xfe:",
            b"Name:\tUid",
        ] {
            assert_eq!(Status::parse(junk), None);
        }
    }

    #[test]
    fn our_own_is_readable() {
        let status = crate::proc::Proc::new("/proc")
            .status(Pid(std::process::id() as i32))
            .unwrap();
        assert_eq!(status.namespace_pids.len(), 1);
    }
}
