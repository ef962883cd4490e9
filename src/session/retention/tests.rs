//! What is decided over logs, from facts alone.

use super::*;

const NOW: u64 = 1_000 * DAY;

fn closed() -> Facts {
    Facts {
        ours: true,
        closed: true,
        keep: false,
        on_close: false,
        used: NOW - 10 * DAY,
    }
}

#[test]
fn what_becomes_of_logs() {
    let check = |facts, days, want| assert_eq!(fate(facts, days, NOW), want, "{facts:?}");
    let unused = |days| Fate::Due(Why::Unused { days });
    check(closed(), 3, unused(3));
    check(closed(), 10, unused(10));
    check(closed(), 11, Fate::Until(NOW + DAY));
    check(closed(), 0, Fate::Forever);
    let keep = Facts {
        keep: true,
        ..closed()
    };
    check(keep, 3, Fate::Kept);
    // Whoever set both may have meant either: nothing is deleted.
    let both = Facts {
        on_close: true,
        ..keep
    };
    check(both, 3, Fate::Kept);
    let on_close = Facts {
        on_close: true,
        used: NOW,
        ..closed()
    };
    check(on_close, 0, Fate::Due(Why::OnClose));
    for on_close in [false, true] {
        let open = Facts {
            closed: false,
            on_close,
            ..closed()
        };
        check(open, 3, Fate::Open { on_close });
        let elsewhere = Facts {
            ours: false,
            ..open
        };
        check(elsewhere, 3, Fate::Elsewhere);
    }
    // Closed by its own server, wherever that was.
    let elsewhere = Facts {
        ours: false,
        ..closed()
    };
    check(elsewhere, 3, unused(3));
    // A clock that was ahead when the file was written.
    let future = Facts {
        used: NOW + 5 * DAY,
        ..closed()
    };
    check(future, 3, Fate::Until(NOW + 8 * DAY));
    let broken = Facts {
        used: u64::MAX,
        ..closed()
    };
    check(broken, 3, Fate::Until(u64::MAX));
}

#[test]
fn names_of_folders() {
    for name in ["t1", "build.1", "a-b_c.12"] {
        assert!(is_folder(name), "{name}");
    }
    for name in [
        "",
        ".",
        "..",
        ".1",
        "t1.",
        "t1.x",
        "t1.1.1",
        "../t1",
        ".deleting-t1",
        "-x",
    ] {
        assert!(!is_folder(name), "{name}");
    }
}
