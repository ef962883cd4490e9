//! System calls as /proc shows them.

use super::*;

fn x86(line: &str) -> Option<Call> {
    Call::parse(line.as_bytes(), &X86_64)
}

fn arm(line: &str) -> Option<Call> {
    Call::parse(line.as_bytes(), &AARCH64)
}

const TAIL: &str = "0x0 0x0 0x0 0x7ffc49f922f8 0x7fda6611d2ad\n";

#[test]
fn calls_without_a_time_limit() {
    let x = |line: &str| unlimited(line.as_bytes(), &X86_64);
    let tail = "0x7ffc49f922f8 0x7fda6611d2ad\n";
    // read; poll; ppoll; select; pselect6; epoll_wait; epoll_pwait2.
    assert!(x(&format!("0 0x0 0x7f00 0x400 0x0 0x0 0x0 {tail}")));
    assert!(x(&format!("7 0x7f00 0x1 0xffffffff 0x0 0x0 0x0 {tail}")));
    assert!(!x(&format!("7 0x7f00 0x1 0x3e8 0x0 0x0 0x0 {tail}")));
    assert!(x(&format!("271 0x7f00 0x1 0x0 0x0 0x8 0x0 {tail}")));
    assert!(!x(&format!("271 0x7f00 0x1 0x7f10 0x0 0x8 0x0 {tail}")));
    assert!(x(&format!("23 0x1 0x7f00 0x0 0x0 0x0 0x0 {tail}")));
    assert!(!x(&format!("270 0x1 0x7f00 0x0 0x0 0x7f20 0x0 {tail}")));
    assert!(x(&format!("232 0x4 0x7f00 0x10 0xffffffff 0x0 0x0 {tail}")));
    assert!(!x(&format!("441 0x4 0x7f00 0x10 0x7f20 0x0 0x0 {tail}")));
    assert!(!x("running\n") && !x(&format!("202 0x0 0x0 0x0 0x0 0x0 0x0 {tail}")));
    // aarch64 has ppoll only.
    assert!(unlimited(
        format!("73 0x7f00 0x1 0x0 0x0 0x8 0x0 {tail}").as_bytes(),
        &AARCH64
    ));
}

#[test]
fn calls_of_both_architectures() {
    let line = |call: u32| format!("{call} 0x3 0x7f00 0x20 {TAIL}");
    let read = Some(Call::Read { fd: 3 });
    let poll = Some(Call::Poll {
        entries: 3,
        count: 0x7f00,
    });
    let select = Some(Call::Select {
        set: 0x7f00,
        count: 3,
    });
    let epoll = Some(Call::Epoll { fd: 3 });
    let resumed = Some(Call::Resumed {
        entries: 3,
        count: 0x7f00,
    });
    for (x, a, expected) in [
        (0, 63, read),
        (17, 67, read),
        (19, 65, read),
        (295, 69, read),
        (327, 286, read),
        (275, 76, read),
        (271, 73, poll),
        (270, 72, select),
        (281, 22, epoll),
        (441, 441, epoll),
        (219, 128, resumed),
        (426, 426, Some(Call::Ring)),
        (202, 98, Some(Call::Other)),
    ] {
        assert_eq!(
            (x86(&line(x)), arm(&line(a))),
            (expected, expected),
            "{x} {a}"
        );
    }
    assert_eq!(
        [x86(&line(7)), x86(&line(23)), x86(&line(232))],
        [poll, select, epoll]
    );
    assert_eq!(arm(&line(7)), Some(Call::Other));
}

#[test]
fn only_the_low_half_of_a_register_is_a_descriptor() {
    assert_eq!(
        x86(&format!("0 0xffffffff00000002 0x0 0x0 {TAIL}")),
        Some(Call::Read { fd: 2 })
    );
}

#[test]
fn threads_that_sleep_in_no_call() {
    assert_eq!(x86("running\n"), Some(Call::Running));
    assert_eq!(x86("-1 0x7ffc49f922f8 0x7fda6611d2ad\n"), Some(Call::Other));
    assert_eq!(x86("-1 0x0 0x0"), Some(Call::Other));
}

#[test]
fn a_program_of_32_bits_has_other_numbers() {
    assert_eq!(x86("3 0x0 0xff8a 0x1 0x0 0x0 0x0 0xff8a1234 0xf7f1"), None);
}

#[test]
fn junk_is_no_call() {
    for junk in [
        "",
        "\n",
        "0",
        "zero 0x0",
        "0 0x0",
        "0 0x0 0x0 0x0",
        "0 1 2 3 4 5 6 7 8",
        "0 0xzz 0x0 0x0 0x0 0x0",
    ] {
        assert_eq!(x86(junk), None, "{junk}");
    }
    assert_eq!(Call::parse(&[0xff; 40], &X86_64), None);
}

#[test]
fn wait_channels_by_prefix() {
    for (name, channel) in [
        ("wait_woken", Channel::Read),
        ("n_tty_read", Channel::Read),
        ("poll_schedule_timeout.constprop.0", Channel::Poll),
        ("do_sys_poll", Channel::Poll),
        ("do_select.isra.0", Channel::Poll),
        ("do_epoll_wait", Channel::Epoll),
        ("ep_poll", Channel::Epoll),
        ("io_cqring_wait", Channel::Ring),
        ("do_wait", Channel::Other),
        ("hrtimer_nanosleep", Channel::Other),
        ("0", Channel::Hidden),
        ("", Channel::Hidden),
    ] {
        assert_eq!(Channel::parse(name.as_bytes()), channel, "{name}");
    }
}
