//! Labelled cases: real programs on real terminals, of which it is known whether they wait or work.
//!
//! Each is looked at twice, with the system calls in sight and as an ordinary user under Yama sees it. The first has
//! to be right; the second right, or hedged.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Mutex;

use stage::Stage;
use table::CASES;

use super::{Proc, Verdict, View};

mod ssh;
mod stage;
mod table;

/// A program, what is done to it, and what it then does.
struct Case {
    name: &'static str,
    /// Programs that have to be on the PATH.
    needs: &'static [&'static str],
    argv: &'static [&'static str],
    steps: &'static [Step],
    expected: Expected,
}

enum Step {
    /// Until a look says that the named program waits.
    Waits(&'static str),
    /// Until this is printed.
    Shows(&'static str),
    Types(&'static str),
    /// Until one of the started processes has this kernel name and state.
    Exists(&'static str, u8),
    /// To every started process of this kernel name.
    Signals(&'static str, i32),
}

/// The verdict, and the short name of the process that it is on; "" for any.
#[derive(Clone, Copy, Debug)]
enum Expected {
    Waiting(&'static str),
    Secret(&'static str),
    Working(&'static str),
    Remote(&'static str),
    Stopped(&'static str),
}

impl Expected {
    fn verdict(self) -> Verdict {
        match self {
            Self::Waiting(_) | Self::Secret(_) => Verdict::Waiting,
            Self::Working(_) => Verdict::Working,
            Self::Remote(_) => Verdict::Remote,
            Self::Stopped(_) => Verdict::Stopped,
        }
    }

    fn is_met_by(self, view: &View) -> bool {
        let (Self::Waiting(name)
        | Self::Secret(name)
        | Self::Working(name)
        | Self::Remote(name)
        | Self::Stopped(name)) = self;
        view.verdict == self.verdict()
            && view.secret == matches!(self, Self::Secret(_))
            && (name.is_empty()
                || view
                    .process
                    .as_ref()
                    .is_some_and(|process| process.name == name))
    }
}

/// What the weak look said of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weak {
    Right,
    Hedged,
    Unknown,
    Relay,
    Wrong,
}

/// Looks in a row that have to agree. A program that polls by turns, or that is still starting, is caught by one.
const LOOKS: usize = 20;

/// Cases that run beside each other. Most of their time they wait for a program to start.
const WORKERS: usize = 3;

struct Outcome {
    name: &'static str,
    /// What the strong look said instead of what was expected.
    failure: Option<String>,
    weak: Weak,
    /// The last view of the weak look.
    said: String,
}

#[test]
fn every_labelled_case() {
    let queue: Mutex<VecDeque<&Case>> = Mutex::new(
        CASES
            .iter()
            .filter(|case| stage::has_all(case.name, case.needs))
            .collect(),
    );
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let Some(case) = queue.lock().unwrap().pop_front() else {
                        break;
                    };
                    let outcome = run(case);
                    outcomes.lock().unwrap().push(outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap();
    let mut table = String::new();
    for outcome in &outcomes {
        let strong = if outcome.failure.is_none() {
            "right"
        } else {
            "WRONG"
        };
        writeln!(
            table,
            "{strong:6} {:8} {:55} {}",
            format!("{:?}", outcome.weak),
            outcome.name,
            outcome.said
        )
        .unwrap();
    }
    let count = |weak| {
        outcomes
            .iter()
            .filter(|outcome| outcome.weak == weak)
            .count()
    };
    let failures: Vec<&Outcome> = outcomes
        .iter()
        .filter(|outcome| outcome.failure.is_some())
        .collect();
    println!("{table}");
    println!(
        "strong: {} of {} right; weak: {} right, {} hedged, {} unknown, {} relays, {} wrong",
        outcomes.len() - failures.len(),
        outcomes.len(),
        count(Weak::Right),
        count(Weak::Hedged),
        count(Weak::Unknown),
        count(Weak::Relay),
        count(Weak::Wrong)
    );
    for failed in &failures {
        println!(
            "FAILED {}: {}",
            failed.name,
            failed.failure.as_deref().unwrap_or_default()
        );
    }
    assert!(failures.is_empty(), "{} cases are wrong", failures.len());
    assert_eq!(
        count(Weak::Wrong),
        0,
        "wrong without a hedge, see the table"
    );
}

fn run(case: &Case) -> Outcome {
    let stage = Stage::new(case.argv);
    let strong = Proc::new("/proc");
    let failure = case
        .steps
        .iter()
        .find_map(|step| take(&stage, &strong, step).err());
    let failure = failure.or_else(|| settle(&stage, &strong, case.expected).err());
    let (weak, view) = judge_weak(&stage, case.expected);
    Outcome {
        name: case.name,
        failure,
        weak,
        said: brief(&view),
    }
}

fn take(stage: &Stage, proc: &Proc, step: &Step) -> Result<(), String> {
    match *step {
        Step::Waits(name) => stage.until(&format!("{name} waits"), || {
            Expected::Waiting(name).is_met_by(&stage.look(proc))
        }),
        Step::Shows(text) => stage.until(text, || stage.shows(text)),
        Step::Types(text) => {
            stage.types(text);
            Ok(())
        }
        Step::Exists(name, state) => stage.until(name, || {
            stage
                .processes(name)
                .iter()
                .any(|process| process.state == state)
        }),
        Step::Signals(name, signal) => {
            for process in stage.processes(name) {
                crate::sys::signal::kill(process.pid.0, signal)
                    .map_err(|error| format!("{name}: {error}"))?;
            }
            Ok(())
        }
    }
}

/// Waits until the verdict is the expected one, then that it stays so.
fn settle(stage: &Stage, proc: &Proc, expected: Expected) -> Result<(), String> {
    stage.until(&format!("{expected:?}"), || {
        expected.is_met_by(&stage.look(proc))
    })?;
    for look in 0..LOOKS {
        let view = stage.look(proc);
        // A program that wakes to draw a clock is not asleep in every look; one that works never waits.
        let wakes = expected.verdict() == Verdict::Waiting
            && view.verdict == Verdict::Working
            && view.running;
        if !wakes && !expected.is_met_by(&view) {
            return Err(format!("look {look} after it settled: {view:?}"));
        }
    }
    Ok(())
}

/// The worst of some looks; of a program that wakes at times, the looks while it sleeps.
fn judge_weak(stage: &Stage, expected: Expected) -> (Weak, View) {
    let proc = Proc::weak("/proc");
    let views = (0..LOOKS)
        .map(|_| stage.look(&proc))
        .filter(|view| !(view.verdict == Verdict::Working && view.running));
    let judged = views.map(|view| (weigh(&view, expected), view));
    judged
        .max_by_key(|(weak, _)| *weak as u8)
        .unwrap_or_else(|| {
            let view = stage.look(&proc);
            (
                if expected.is_met_by(&view) {
                    Weak::Right
                } else {
                    Weak::Wrong
                },
                view,
            )
        })
}

fn weigh(view: &View, expected: Expected) -> Weak {
    let (verdict, wanted) = (view.verdict, expected.verdict());
    if view.hedged {
        Weak::Hedged
    } else if verdict == wanted && view.secret == matches!(expected, Expected::Secret(_)) {
        Weak::Right
    } else if verdict == Verdict::Unknown {
        Weak::Unknown
    } else if verdict == Verdict::Remote {
        Weak::Relay
    } else {
        Weak::Wrong
    }
}

fn brief(view: &View) -> String {
    let name = view.process.as_ref().map_or("-", |process| &process.name);
    let hedge = if view.hedged { "may be " } else { "" };
    let by = view
        .waits_by
        .map(|by| format!(" by {by:?}"))
        .unwrap_or_default();
    let secret = if view.secret { ", secret" } else { "" };
    format!(
        "{hedge}{:?}{by}: {name}{secret}, {} relays",
        view.verdict, view.relays
    )
}
