//! Looks at made-up trees of /proc: what no real program does on demand, and junk.

use made::{Fixture, INNER, Made, SESSION};

use super::*;
use crate::proc::WaitsBy;

mod made;

#[cfg(target_arch = "x86_64")]
const CALLS: Calls = Calls {
    read: 0,
    poll: 271,
    select: 270,
    epoll: 281,
    resumed: 219,
};
#[cfg(target_arch = "aarch64")]
const CALLS: Calls = Calls {
    read: 63,
    poll: 73,
    select: 72,
    epoll: 22,
    resumed: 128,
};
const NANOSLEEP: u32 = 35;
const IO_URING_ENTER: u32 = 426;

struct Calls {
    read: u32,
    poll: u32,
    select: u32,
    epoll: u32,
    resumed: u32,
}

const ON_PTS: &[(u32, &str)] = &[
    (0, "/dev/pts/458752"),
    (1, "/dev/pts/458752"),
    (5, "socket:[77]"),
];
const RAW: Mode = Mode {
    canonical: false,
    echo: false,
};
const HIDES: Mode = Mode {
    canonical: true,
    echo: false,
};

#[test]
fn a_read_of_the_terminal_waits_and_of_a_socket_works() {
    for (fd, verdict) in [
        (0, Verdict::Waiting),
        (5, Verdict::Working),
        (9, Verdict::Working),
    ] {
        let fixture = Fixture::with_shell("read");
        fixture.make(&Made {
            call: (CALLS.read, fd, 0),
            fds: ON_PTS,
            ..Made::default()
        });
        let view = fixture.look();
        assert_eq!(view.verdict, verdict, "{fd}");
        assert_eq!(
            view.waits_by,
            (verdict == Verdict::Waiting).then_some(WaitsBy::Read)
        );
        assert_eq!(view.process.unwrap().pid, Pid(200));
        let foreground = view.foreground.unwrap();
        assert_eq!((foreground.pgrp, foreground.own), (Pid(200), false));
    }
}

#[test]
fn only_descriptors_polled_for_input_count() {
    let entry =
        |fd: i32, events: u16| [&fd.to_ne_bytes()[..], &events.to_ne_bytes(), &[0, 0]].concat();
    for (entries, verdict) in [
        (vec![entry(5, 1), entry(0, 1)], Verdict::Waiting),
        (vec![entry(0, 2)], Verdict::Waiting),
        // To write, switched off, another descriptor.
        (vec![entry(5, 1), entry(0, 4)], Verdict::Working),
        (vec![entry(-1, 1), entry(i32::MIN, 1)], Verdict::Working),
        (vec![entry(5, 1)], Verdict::Working),
        (vec![], Verdict::Working),
    ] {
        let fixture = Fixture::with_shell("poll");
        fixture.make(&Made {
            call: (CALLS.poll, 0x1000, entries.len() as u64),
            fds: ON_PTS,
            ..Made::default()
        });
        fixture.memory(200, 0x1000, &entries.concat());
        assert_eq!(fixture.look().verdict, verdict, "{entries:?}");
    }
}

#[test]
fn select_sets_are_read_to_their_last_bit() {
    let fds = &[(70, "/dev/pts/458752"), (3, "pipe:[1]")];
    for (bytes, count, verdict) in [
        ([0, 0, 0, 0, 0, 0, 0, 0, 0x40], 71, Verdict::Waiting),
        // The bit is beyond what the call looks at.
        ([0, 0, 0, 0, 0, 0, 0, 0, 0x40], 70, Verdict::Working),
        ([0x08, 0, 0, 0, 0, 0, 0, 0, 0], 71, Verdict::Working),
    ] {
        let fixture = Fixture::with_shell("select");
        fixture.make(&Made {
            call: (CALLS.select, count, 0x1000),
            fds,
            ..Made::default()
        });
        fixture.memory(200, 0x1000, &bytes);
        assert_eq!(fixture.look().verdict, verdict, "{bytes:?} {count}");
    }
    let fixture = Fixture::with_shell("select");
    fixture.make(&Made {
        call: (CALLS.select, 71, 0),
        fds,
        ..Made::default()
    });
    assert_eq!(fixture.look().verdict, Verdict::Working, "no set to read");
}

#[test]
fn epoll_is_followed_through_epoll_but_not_for_ever() {
    let fds = &[
        (0, "/dev/pts/458752"),
        (3, "anon_inode:[eventpoll]"),
        (4, "anon_inode:[eventpoll]"),
    ];
    let nested = "tfd:        4 events:       19 data: 0\n";
    for (inner, verdict) in [
        ("tfd:        0 events:       19 data: 0\n", Verdict::Waiting),
        // To write only.
        ("tfd:        0 events:        4 data: 0\n", Verdict::Working),
        ("tfd:        3 events:       19 data: 0\n", Verdict::Working),
    ] {
        let fixture = Fixture::with_shell("epoll");
        fixture.make(&Made {
            call: (CALLS.epoll, 3, 0),
            fds,
            fdinfo: &[(3, nested), (4, inner)],
            ..Made::default()
        });
        assert_eq!(fixture.look().verdict, verdict, "{inner}");
    }
}

#[test]
fn a_resumed_call_is_a_poll_only_by_its_wait_channel() {
    for (wchan, verdict) in [
        ("poll_schedule_timeout", Verdict::Waiting),
        ("hrtimer_nanosleep", Verdict::Working),
    ] {
        let fixture = Fixture::with_shell("resumed");
        fixture.make(&Made {
            call: (CALLS.resumed, 0x1000, 1),
            wchan,
            fds: ON_PTS,
            ..Made::default()
        });
        fixture.memory(200, 0x1000, &[0, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(fixture.look().verdict, verdict, "{wchan}");
    }
}

#[test]
fn what_cannot_be_seen_is_unknown_unless_a_line_is_hidden() {
    let fixture = Fixture::with_shell("ring");
    fixture.make(&Made {
        call: (IO_URING_ENTER, 3, 0),
        fds: ON_PTS,
        ..Made::default()
    });
    assert_eq!(fixture.look().verdict, Verdict::Unknown);
    let view = fixture.look_in(HIDES);
    assert_eq!(
        (view.verdict, view.secret, view.hedged),
        (Verdict::Waiting, true, false)
    );
}

#[test]
fn a_foreground_group_out_of_sight() {
    // hidepid, or the group is in another PID namespace.
    for tpgid in [200, -1, 0] {
        let fixture = Fixture::new("unseen");
        fixture.make(&Made {
            pid: SESSION,
            pgrp: SESSION,
            tpgid,
            ..Made::default()
        });
        assert_eq!(fixture.look().verdict, Verdict::Unknown);
        assert_eq!(
            (
                fixture.look_in(HIDES).verdict,
                fixture.look_in(HIDES).secret
            ),
            (Verdict::Waiting, true)
        );
    }
}

#[test]
fn a_pid_from_another_namespace_is_looked_up_by_terminal() {
    let fixture = Fixture::new("namespace");
    fixture.make(&Made {
        pid: SESSION,
        session: 1,
        pts: None,
        tpgid: -1,
        comm: "innocent",
        ..Made::default()
    });
    fixture.make(&Made {
        session: 200,
        call: (CALLS.read, 0, 0),
        fds: ON_PTS,
        ..Made::default()
    });
    let view = fixture.look();
    assert_eq!(
        (view.verdict, view.process.map(|process| process.pid)),
        (Verdict::Waiting, Some(Pid(200)))
    );
}

#[test]
fn the_same_number_in_a_container_is_another_terminal() {
    let fixture = Fixture::with_shell("container");
    fixture.make(&Made::default());
    let elsewhere = Made {
        pid: 300,
        session: 300,
        pgrp: 200,
        call: (CALLS.read, 0, 0),
        fds: ON_PTS,
        ..Made::default()
    };
    fixture.make(&elsewhere);
    assert_eq!(fixture.look().verdict, Verdict::Working);
}

#[test]
fn the_dead_and_the_stopped_do_not_count() {
    let fixture = Fixture::with_shell("stopped");
    fixture.make(&Made {
        state: 'T',
        call: (CALLS.read, 0, 0),
        fds: ON_PTS,
        ..Made::default()
    });
    assert_eq!(fixture.look().verdict, Verdict::Stopped);
    fixture.make(&Made {
        pid: 201,
        state: 'Z',
        ..Made::default()
    });
    assert_eq!(fixture.look().verdict, Verdict::Stopped);
    fixture.make(&Made {
        pid: 202,
        ..Made::default()
    });
    assert_eq!(fixture.look().verdict, Verdict::Working);
    fixture.make(&Made {
        pid: SESSION,
        pgrp: SESSION,
        state: 'Z',
        ..Made::default()
    });
    assert_eq!(fixture.look().verdict, Verdict::Gone);
}

#[test]
fn a_background_group_cannot_be_waiting_by_poll() {
    let entry = [0, 0, 0, 0, 1, 0, 0, 0];
    for (session, verdict) in [(SESSION, Verdict::Working), (300, Verdict::Waiting)] {
        let fixture = Fixture::with_shell("background");
        fixture.make(&Made::default());
        let call = (CALLS.poll, 0x1000, 1);
        fixture.make(&Made {
            pid: 300,
            ppid: 200,
            pgrp: 300,
            session,
            call,
            fds: ON_PTS,
            ..Made::default()
        });
        fixture.memory(300, 0x1000, &entry);
        assert_eq!(fixture.look().verdict, verdict, "session {session}");
    }
}

/// A relay on the outer terminal that polls both, and what runs on the inner one.
fn relay(name: &str, inner: &Made<'_>) -> Fixture {
    let fixture = Fixture::with_shell(name);
    let fds = &[(0, "/dev/pts/458752"), (3, "/dev/ptmx")];
    let fdinfo = &[(3, "flags:\t02\ntty-index:\t458753\n")];
    fixture.make(&Made {
        call: (CALLS.poll, 0x1000, 2),
        fds,
        fdinfo,
        comm: "script",
        ..Made::default()
    });
    fixture.memory(200, 0x1000, POLLS_BOTH);
    fixture.make(inner);
    fixture
}

/// Entries of a poll for input on 0 and 3.
const POLLS_BOTH: &[u8] = &[0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0];

const BEHIND: Made<'static> = Made {
    pid: 300,
    ppid: 200,
    pgrp: 300,
    session: 300,
    pts: Some(INNER),
    tpgid: 300,
    state: 'S',
    comm: "inner",
    call: (NANOSLEEP, 0, 0),
    wchan: "hrtimer_nanosleep",
    fds: &[(0, "/dev/pts/458753"), (3, "/dev/ptmx")],
    fdinfo: &[(3, "tty-index:\t458753\n")],
};

#[test]
fn the_inner_terminal_decides() {
    let view = relay("relay", &BEHIND).look_in(RAW);
    assert_eq!((view.verdict, view.relays), (Verdict::Working, 1));
    assert_eq!(view.process.unwrap().name, "inner");
    assert_eq!(view.foreground.unwrap().leader.unwrap().name, "script");
    let waits = Made {
        call: (CALLS.read, 0, 0),
        fds: &[(0, "/dev/pts/458753")],
        ..BEHIND
    };
    assert_eq!(
        relay("relay", &waits).look_in(RAW).verdict,
        Verdict::Waiting
    );
    // lldb's program is stopped, and lldb itself is at its prompt.
    let view = relay(
        "relay",
        &Made {
            state: 't',
            ..BEHIND
        },
    )
    .look_in(RAW);
    assert_eq!(
        (view.verdict, view.process.unwrap().name.as_str()),
        (Verdict::Waiting, "script")
    );
}

#[test]
fn who_does_not_wait_for_the_inner_terminal_is_no_relay() {
    let fixture = relay("no-relay", &BEHIND);
    fixture.memory(
        200,
        0x1000,
        &[0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0],
    );
    let view = fixture.look_in(RAW);
    assert_eq!(
        (
            view.verdict,
            view.relays,
            view.process.unwrap().name.as_str()
        ),
        (Verdict::Waiting, 0, "script")
    );
}

#[test]
fn relays_in_a_circle_end() {
    let polls = Made {
        call: (CALLS.poll, 0x1000, 2),
        ..BEHIND
    };
    let fixture = relay("circle", &polls);
    fixture.memory(300, 0x1000, POLLS_BOTH);
    let view = fixture.look_in(RAW);
    assert_eq!((view.verdict, view.relays), (Verdict::Unknown, 3));
}

#[test]
fn a_path_that_is_no_terminal_is_unknown() {
    let own = Pid(std::process::id() as i32);
    for path in ["/nowhere", "/", "/dev/null", "/proc/self/stat"] {
        assert_eq!(
            look(&Proc::new("/proc"), own, Path::new(path)).verdict,
            Verdict::Unknown,
            "{path}"
        );
    }
    assert_eq!(
        look(&Proc::new("/proc"), Pid(0), Path::new("/dev/null")).verdict,
        Verdict::Gone
    );
}

/// xorshift64*: enough to scatter bytes.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }
}

#[test]
fn junk_in_any_file_never_panics() {
    let seed = 0x9e37_79b9_7f4a_7c15 ^ u64::from(std::process::id());
    println!("seed {seed:#x}");
    let mut random = Random(seed);
    let pieces: [&[u8]; 8] = [
        b"-1 ",
        b"0x",
        b"99999999999999999999 ",
        b")",
        b"(",
        b"\n",
        b"\xff\xfe",
        b"tfd: 0 events: 1 ",
    ];
    let files = [
        "stat",
        "cmdline",
        "task/200/stat",
        "task/200/syscall",
        "task/200/wchan",
        "fdinfo/3",
        "fdinfo/4",
        "mem",
    ];
    for round in 0..300 {
        let fixture = Fixture::with_shell("junk");
        let fds = &[
            (0, "/dev/pts/458752"),
            (3, "anon_inode:[eventpoll]"),
            (4, "/dev/ptmx"),
        ];
        let calls = [
            CALLS.read,
            CALLS.poll,
            CALLS.select,
            CALLS.epoll,
            CALLS.resumed,
        ];
        let call = (
            calls[random.below(calls.len())],
            random.below(9) as u64,
            random.below(9) as u64,
        );
        fixture.make(&Made {
            call,
            fds,
            ..Made::default()
        });
        for file in files {
            let path = fixture.proc.root.join("200").join(file);
            match random.below(4) {
                0 => drop(std::fs::remove_file(path)),
                1 => {
                    let mut bytes = std::fs::read(&path).unwrap_or_default();
                    let at = random.below(bytes.len() + 1);
                    bytes.splice(at..at, pieces[random.below(pieces.len())].iter().copied());
                    std::fs::write(path, bytes).unwrap();
                }
                2 => std::fs::write(
                    path,
                    (0..random.below(99))
                        .map(|_| random.below(256) as u8)
                        .collect::<Vec<u8>>(),
                )
                .unwrap(),
                _ => {}
            }
        }
        let view = fixture.look_in(if round % 2 == 0 { RAW } else { HIDES });
        assert_ne!(view.verdict, Verdict::Gone, "seed {seed:#x}, round {round}");
    }
}
