//! What a look tells beside its verdict, on real terminals.

use std::time::Instant;

use super::stage::{Stage, has_all};
use crate::proc::{Proc, Rest, TICKS_PER_SECOND, Verdict, WaitsBy};
use crate::sys::signal;

fn proc() -> Proc {
    Proc::new("/proc")
}

#[test]
fn typed_and_unread_lines_are_counted() {
    let stage = Stage::new(&["sleep", "1000"]);
    stage.types("abc\n");
    stage
        .until("unread", || stage.look(&proc()).unread == 4)
        .unwrap();
    stage
        .until("works", || stage.look(&proc()).verdict == Verdict::Working)
        .unwrap();
    let view = stage.look(&proc());
    assert!(view.canonical && view.echo && !view.is_waiting());
}

#[test]
fn the_job_in_front_and_the_shell_that_is_its_own() {
    if !has_all("the_job_in_front_and_the_shell_that_is_its_own", &["bash"]) {
        return;
    }
    let stage = Stage::new(&["bash", "--norc"]);
    let front = || {
        proc()
            .foreground(stage.pid())
            .filter(|front| front.leader.is_some())
    };
    stage
        .until("bash waits", || stage.look(&proc()).is_waiting())
        .unwrap();
    let shell = front().unwrap();
    assert!(shell.own && shell.pgrp == stage.pid(), "{shell:?}");
    let view = stage.look(&proc());
    assert_eq!(
        (view.waits_by, view.canonical, view.echo),
        (Some(WaitsBy::Poll), false, false)
    );

    stage.types("sleep 1234 | cat\r");
    let named = |wanted: &str| {
        front()
            .and_then(|front| front.leader)
            .is_some_and(|leader| leader.command == wanted)
    };
    stage
        .until("sleep in front", || named("sleep 1234"))
        .unwrap();
    let job = front().unwrap();
    assert!(!job.own && job.pgrp != stage.pid(), "{job:?}");

    // The job's leader goes, the job stays: its oldest process stands for it.
    signal::kill(job.pgrp.0, signal::number("KILL").unwrap()).unwrap();
    stage
        .until("bash in front again", || {
            front().is_some_and(|front| front.own)
        })
        .unwrap();
    stage.types("sleep 1234\r");
    stage
        .until("sleep in front", || named("sleep 1234"))
        .unwrap();
    signal::kill_group(front().unwrap().pgrp.0, signal::number("TERM").unwrap()).unwrap();
    stage
        .until("bash waits", || {
            stage.look(&proc()).is_waiting() && front().is_some_and(|front| front.own)
        })
        .unwrap();
    assert_eq!(
        proc().cwd(stage.pid()).as_deref(),
        Some(stage.dir().canonicalize().unwrap().as_path())
    );
}

#[test]
fn a_busy_thread_beside_a_reading_one_is_told() {
    if !has_all("a_busy_thread_beside_a_reading_one_is_told", &["python3"]) {
        return;
    }
    let program = "import sys, threading\nthreading.Thread(target=sys.stdin.readline).start()\nwhile True: pass";
    for (argv, busy) in [(&["python3", "-c", program][..], true), (&["cat"], false)] {
        let stage = Stage::new(argv);
        stage
            .until("a thread reads", || stage.look(&proc()).is_waiting())
            .unwrap();
        let (start, first) = (Instant::now(), stage.look(&proc()));
        // The kernel's own clock of the process decides when enough has passed, not ours.
        let enough = TICKS_PER_SECOND / 5;
        let passed = || stage.look(&proc()).cpu_ticks - first.cpu_ticks >= enough;
        if busy {
            stage.until("time used", passed).unwrap();
        }
        let later = stage.look(&proc());
        // However slow the machine, who used twenty ticks by then was busy at some time before.
        let elapsed = if busy {
            start.elapsed().min(std::time::Duration::from_secs(1))
        } else {
            start.elapsed()
        };
        assert_eq!(
            later.busy_since(&first, elapsed),
            busy,
            "{first:?} {later:?}"
        );
    }
}

/// Run by hand: `cargo test --release cost_of_a_look -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn cost_of_a_look() {
    let stage = Stage::new(&["cat"]);
    stage
        .until("cat waits", || stage.look(&proc()).is_waiting())
        .unwrap();
    const LOOKS: u32 = 500;
    let start = Instant::now();
    for _ in 0..LOOKS {
        assert!(stage.look(&proc()).is_waiting());
    }
    let each = start.elapsed() / LOOKS;
    println!(
        "{each:?} a look, {} processes",
        proc().tree().processes().len()
    );
}

/// Two equal rests in a row, as a look needs them.
fn settled(stage: &Stage) -> Rest {
    let rest = || proc().rest(stage.pid(), stage.tty());
    let mut found = None;
    stage
        .until("all of it sleeps", || {
            let first = rest();
            found = rest().filter(|second| Some(second) == first.as_ref());
            found.is_some()
        })
        .unwrap();
    found.unwrap()
}

/// A program begins to read its terminal without a word: what was at rest before has run.
#[test]
fn who_begins_to_read_has_run() {
    let line = "read first; echo took $first; (read second; echo took $second); sleep 1000";
    let stage = Stage::new(&["sh", "-c", line]);
    let waits = |stage: &Stage| {
        stage
            .until("waits", || stage.look(&proc()).is_waiting())
            .unwrap();
    };
    waits(&stage);
    let first = settled(&stage);
    assert!(proc().rests(&first));
    stage.types("one\n");
    stage.until("answered", || stage.shows("took one")).unwrap();
    assert!(!proc().rests(&first));
    // The next question is a child's.
    waits(&stage);
    let second = settled(&stage);
    assert!(!proc().rests(&first) && proc().rests(&second));
    stage.types("two\n");
    stage.until("answered", || stage.shows("took two")).unwrap();
    assert!(!proc().rests(&second));
    stage
        .until("sleeps", || stage.processes("sleep").len() == 1)
        .unwrap();
    let asleep = settled(&stage);
    assert_eq!(stage.look(&proc()).verdict, Verdict::Working);
    assert!(proc().rests(&asleep));
}

#[test]
fn what_computes_or_has_ended_does_not_rest() {
    let stage = Stage::new(&["sh", "-c", "while :; do :; done"]);
    stage
        .until("it runs", || stage.look(&proc()).running)
        .unwrap();
    for _ in 0..20 {
        assert_eq!(proc().rest(stage.pid(), stage.tty()), None);
    }
    let stage = Stage::new(&["sh", "-c", "sleep 1000; echo gone; read x"]);
    stage
        .until("it sleeps", || stage.processes("sleep").len() == 1)
        .unwrap();
    let rest = settled(&stage);
    for process in stage.processes("sleep") {
        signal::kill(process.pid.0, 9).unwrap();
    }
    stage.until("it ended", || stage.shows("gone")).unwrap();
    assert!(!proc().rests(&rest));
    // Another terminal's is nobody's business here.
    let other = Stage::new(&["cat"]);
    assert_eq!(proc().rest(other.pid(), stage.tty()), None);
}
