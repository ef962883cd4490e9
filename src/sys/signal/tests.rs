//! Signals between real processes.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;

use super::*;

#[test]
fn names_agree_with_the_c_library() {
    let known = [
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGUSR2, "SIGUSR2"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGCHLD, "SIGCHLD"),
        (libc::SIGTTIN, "SIGTTIN"),
        (libc::SIGWINCH, "SIGWINCH"),
        (libc::SIGSYS, "SIGSYS"),
    ];
    for (number, expected) in known {
        assert_eq!(name(number).as_deref(), Some(expected));
    }
    assert_eq!(
        (libc::SIGRTMIN(), libc::SIGRTMAX()),
        (*REAL_TIME.start(), *REAL_TIME.end())
    );
}

#[test]
fn every_name_leads_back_to_its_number() {
    let signals: Vec<i32> = (-3..200).filter(|number| name(*number).is_some()).collect();
    assert_eq!(signals.len(), 31 + 31);
    for signal in signals {
        let name = name(signal).unwrap();
        assert_eq!(number(&name), Some(signal), "{name}");
        assert_eq!(
            number(&name.trim_start_matches("SIG").to_lowercase()),
            Some(signal),
            "{name}"
        );
        assert_eq!(number(&signal.to_string()), Some(signal));
    }
}

#[test]
fn other_spellings_and_junk() {
    assert_eq!(number("sigcld"), Some(libc::SIGCHLD));
    assert_eq!(number(" RTMAX-3 "), Some(61));
    for junk in [
        "",
        "SIG",
        "SIGNOPE",
        "0",
        "-9",
        "32",
        "65",
        "RTMIN+99",
        "RTMIN2",
        "RTMAX+1",
        "SIG9",
        "99999999999",
    ] {
        assert_eq!(number(junk), None, "{junk}");
    }
    for junk in [i32::MIN, -1, 0, 32, 33, 65, i32::MAX] {
        assert_eq!(name(junk), None, "{junk}");
    }
}

#[test]
fn statuses_above_128_name_a_signal() {
    assert_eq!(from_status(141), Some(libc::SIGPIPE));
    for status in [i32::MIN, 0, 1, 127, 128, 160, 255] {
        assert_eq!(from_status(status), None, "{status}");
    }
}

#[test]
fn a_group_is_signalled_and_nobody_else_can_be_meant() {
    let mut child = Command::new("sleep")
        .arg("600")
        .process_group(0)
        .spawn()
        .unwrap();
    let sent = kill_group(child.id() as i32, libc::SIGTERM);
    if sent.is_err() {
        child.kill().unwrap();
    }
    let status = child.wait().unwrap();
    sent.unwrap();
    assert_eq!(status.signal(), Some(libc::SIGTERM));
    for id in [i32::MIN, -1, 0, 1] {
        assert_eq!(
            kill_group(id, 0).unwrap_err().raw_os_error(),
            Some(libc::EINVAL)
        );
        assert_eq!(kill(id, 0).unwrap_err().raw_os_error(), Some(libc::EINVAL));
    }
}
