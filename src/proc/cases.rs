//! Labelled cases: real programs on real terminals, of which it is known whether they wait or work.
//!
//! Each is looked at with everything in sight, as an ordinary user sees it under Yama, and as another user does.
//! The first has to be right; the others must not be wrong without saying so.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::sync::Mutex;

use stage::Stage;
use table::CASES;

use super::{Proc, Verdict, View};

mod facts;
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

/// What a look with fewer rights said of a case, the better first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    Right,
    Hedged,
    Relay,
    Unknown,
    Wrong,
}

/// What cannot be read without ptrace access to one's own processes (Yama), and of another user's processes.
const FORBIDDEN: [(&str, &[&str]); 2] = [
    ("weak", &["syscall", "mem"]),
    (
        "stranger",
        &["syscall", "mem", "wchan", "fd", "fdinfo", "cwd", "root"],
    ),
];

/// Of another user's process only the terminal's mode is seen, and the mode of a password prompt is taken for one:
/// right for sudo, su and passwd, wrong for who turns the echo off and then works.
const KNOWN_WRONG: [(&str, &str); 1] = [("stranger", "a password prompt's mode, and work")];

/// Looks in a row that have to agree. A program that polls by turns, or that is still starting, is caught by one.
const LOOKS: usize = 20;

/// Cases that run beside each other. Most of their time they wait for a program to start.
const WORKERS: usize = 3;

struct Outcome {
    name: &'static str,
    /// What the full look said instead of what was expected.
    failure: Option<String>,
    /// The full look in brief.
    said: String,
    grades: [(Grade, String); FORBIDDEN.len()],
}

#[test]
fn every_labelled_case() {
    let runnable = CASES
        .iter()
        .filter(|case| stage::has_all(case.name, case.needs));
    let queue: Mutex<VecDeque<&Case>> = Mutex::new(runnable.collect());
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
    print(&outcomes);
    let failures: Vec<&Outcome> = outcomes
        .iter()
        .filter(|outcome| outcome.failure.is_some())
        .collect();
    for failed in &failures {
        println!(
            "FAILED {}: {}",
            failed.name,
            failed.failure.as_deref().unwrap_or_default()
        );
    }
    assert!(failures.is_empty(), "{} cases are wrong", failures.len());
    let wrong: Vec<(&str, &str)> = outcomes.iter().flat_map(wrong_without_a_hedge).collect();
    let unknown: Vec<_> = wrong
        .iter()
        .filter(|known| !KNOWN_WRONG.contains(known))
        .collect();
    assert!(unknown.is_empty(), "wrong without a hedge: {unknown:?}");
}

fn wrong_without_a_hedge(outcome: &Outcome) -> impl Iterator<Item = (&'static str, &'static str)> {
    let rights = FORBIDDEN.iter().zip(&outcome.grades);
    rights
        .filter(|(_, (grade, _))| *grade == Grade::Wrong)
        .map(|((rights, _), _)| (*rights, outcome.name))
}

fn print(outcomes: &[Outcome]) {
    let mut table = String::new();
    for outcome in outcomes {
        let full = if outcome.failure.is_none() {
            "right"
        } else {
            "WRONG"
        };
        writeln!(
            table,
            "{}\n    full      {full:8} {}",
            outcome.name, outcome.said
        )
        .unwrap();
        for ((rights, _), (grade, said)) in FORBIDDEN.iter().zip(&outcome.grades) {
            writeln!(table, "    {rights:9} {:8} {said}", format!("{grade:?}")).unwrap();
        }
    }
    let right = outcomes
        .iter()
        .filter(|outcome| outcome.failure.is_none())
        .count();
    writeln!(table, "full: {right} of {} right", outcomes.len()).unwrap();
    for (index, (rights, _)) in FORBIDDEN.iter().enumerate() {
        let mut counts = BTreeMap::new();
        for outcome in outcomes {
            *counts.entry(outcome.grades[index].0).or_insert(0) += 1;
        }
        writeln!(table, "{rights}: {counts:?}").unwrap();
    }
    println!("{table}");
}

fn run(case: &Case) -> Outcome {
    let stage = Stage::new(case.argv);
    let full = Proc::new("/proc");
    let failure = case
        .steps
        .iter()
        .find_map(|step| take(&stage, &full, step).err());
    let failure = failure.or_else(|| settle(&stage, &full, case.expected).err());
    let said = brief(&stage.look(&full));
    let grades = FORBIDDEN.map(|(_, forbidden)| {
        grade(
            &stage,
            &Proc {
                forbidden,
                ..full.clone()
            },
            case.expected,
        )
    });
    Outcome {
        name: case.name,
        failure,
        said,
        grades,
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

/// The worst of some looks; of a program that wakes at times, the worst while it sleeps.
fn grade(stage: &Stage, proc: &Proc, expected: Expected) -> (Grade, String) {
    let views: Vec<View> = (0..LOOKS).map(|_| stage.look(proc)).collect();
    let asleep = views
        .iter()
        .filter(|view| !(view.verdict == Verdict::Working && view.running));
    let judged = asleep
        .map(|view| (weigh(view, expected), brief(view)))
        .max();
    judged.unwrap_or_else(|| (weigh(&views[0], expected), brief(&views[0])))
}

fn weigh(view: &View, expected: Expected) -> Grade {
    if view.hedged {
        Grade::Hedged
    } else if view.verdict == expected.verdict()
        && view.secret == matches!(expected, Expected::Secret(_))
    {
        Grade::Right
    } else if view.verdict == Verdict::Unknown {
        Grade::Unknown
    } else if view.verdict == Verdict::Remote {
        Grade::Relay
    } else {
        Grade::Wrong
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
