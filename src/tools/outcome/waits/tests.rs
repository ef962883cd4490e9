//! Looks in a row, and what is believed of them.

use super::*;

fn view(pid: i32, hedged: bool) -> View {
    View {
        verdict: Verdict::Waiting,
        hedged,
        waits_by: None,
        alone: true,
        foreground: None,
        process: Some(crate::proc::Named {
            pid: Pid(pid),
            start_time: 7,
            name: "cat".into(),
            command: "cat".into(),
        }),
        relays: 0,
        secret: false,
        canonical: true,
        echo: true,
        unread: 0,
        running: false,
        cpu_ticks: 0,
    }
}

fn asks(pid: i32) -> Front {
    let line = String::new();
    let view = view(pid, false);
    let typed = String::new();
    Front::Waiting { line, typed, view }
}

fn may_ask(pid: i32) -> Front {
    let line = String::new();
    let view = view(pid, true);
    let typed = String::new();
    Front::Waiting { line, typed, view }
}

fn works(pid: i32) -> Front {
    let view = view(pid, false);
    Front::Working { view }
}

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

const QUESTION: Duration = Duration::from_millis(200);

/// After which quiet this is believed, looks being taken after the given ones.
fn believed(looks: &[(u64, Front)], enough: Duration) -> Option<u64> {
    let mut waits = None;
    for (quiet, front) in looks {
        waits = Waits::seen(front, ms(*quiet), waits);
        let stands = |waits: &Waits| waits.confirmed(ms(*quiet), enough);
        if ms(*quiet) >= enough && waits.as_ref().is_some_and(stands) {
            return Some(*quiet);
        }
    }
    None
}

#[test]
fn who_asks_at_once_is_believed_at_once() {
    let at_once = [30, 60, 90, 135, 200].map(|quiet| (quiet, asks(5)));
    assert_eq!(believed(&at_once, QUESTION), Some(200));
    assert_eq!(believed(&at_once, FIRST_LOOK), Some(30));
    let after_the_first = [(30, works(5)), (60, asks(5)), (90, asks(5)), (200, asks(5))];
    assert_eq!(believed(&after_the_first, QUESTION), Some(200));
}

#[test]
fn one_look_in_a_silence_is_not_enough() {
    let leaves = [(800, works(5)), (1200, asks(5)), (1300, works(5))];
    assert_eq!(believed(&leaves, QUESTION), None);
    let asks_late = [(800, works(5)), (1200, asks(5)), (1300, asks(5))];
    assert_eq!(believed(&asks_late, QUESTION), Some(1300));
    // Work between two looks begins it anew, and so does another process.
    let again = [(800, asks(5)), (850, works(5)), (900, asks(5))];
    assert_eq!(believed(&again, QUESTION), None);
    let another = [
        (800, asks(5)),
        (900, asks(6)),
        (990, asks(6)),
        (1000, asks(6)),
    ];
    assert_eq!(believed(&another, QUESTION), Some(1000));
    // A line that looks like a prompt as well is the more to be believed.
    let prompt = [(800, works(5)), (820, asks(5)), (850, asks(5))];
    assert_eq!(believed(&prompt, FIRST_LOOK), Some(850));
}

#[test]
fn what_is_not_certain_takes_longer() {
    let at_once = [30, 60, 200, 240, 250].map(|quiet| (quiet, may_ask(5)));
    assert_eq!(believed(&at_once, QUESTION), Some(250));
    let late = [1000, 1100, 1200, 1249, 1250].map(|quiet| (quiet, may_ask(5)));
    assert_eq!(believed(&late, QUESTION), Some(1250));
}

#[test]
fn what_may_wait_is_settled_soon_however_long_it_was_silent() {
    let hour = ms(3_600_000);
    let waits = |front: &Front| Waits::seen(front, hour, None);
    let next = |front: &Front, quiet: Duration| waits(front).map(|it| it.next_look(quiet));
    assert_eq!(next(&asks(5), hour), Some(Some(AGAIN)));
    assert_eq!(next(&asks(5), hour + AGAIN), Some(None));
    assert_eq!(next(&may_ask(5), hour), Some(Some(CONFIRMED)));
    assert_eq!(next(&works(5), hour), None);
}
