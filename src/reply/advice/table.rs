//! The advice, most urgent first.

use super::{Advice, Pipeline, Situation, Stage};

pub(super) const TABLE: &[Advice] = &[
    Advice {
        name: "password",
        when: |now| now.secret,
        text: |now| {
            format!(
                "the user types this, you do not: give them {} and then `wait`",
                now.attach
            )
        },
    },
    Advice {
        name: "stuck",
        when: |now| now.stuck.is_some(),
        text: |now| match &now.stuck {
            Some(stuck) => format!(
                "nothing was printed for {} s and nothing computes: {} (pid {}) {}",
                stuck.seconds, stuck.name, stuck.pid, stuck.what
            ),
            None => String::new(),
        },
    },
    Advice {
        name: "ctrl-c",
        when: |now| now.interrupted && now.status == "running",
        text: |now| {
            let name = now.front.as_deref().unwrap_or("the program");
            format!(
                "ctrl+c did not end {name}: `send` with signal=\"TERM\" asks the job in front to end, signal=\"KILL\" ends it"
            )
        },
    },
    Advice {
        name: "company",
        when: |now| now.company.is_some(),
        text: |now| {
            let who = now.company.as_deref().unwrap_or_default();
            format!(
                "you are not alone in this session: {who} since your last call; `regions` lists what ran"
            )
        },
    },
    Advice {
        name: "place",
        when: |now| now.place.is_some(),
        text: |now| {
            let place = now.place.as_deref().unwrap_or_default();
            format!("what you run goes to {place} from here on, until you leave it")
        },
    },
    Advice {
        name: "ended",
        when: |now| now.ended,
        text: |_| {
            "the session's own shell has ended, and the session with it; `session_create` opens another".into()
        },
    },
    Advice {
        name: "left",
        when: |now| now.left && !now.ended && now.place.is_none(),
        text: |_| {
            "you are back in the shell that it was started from, with that one's folder and variables".into()
        },
    },
    Advice {
        name: "question",
        when: |now| {
            now.status == "waiting" && !now.secret && now.tool != "expect" && now.front.is_some()
        },
        text: |_| {
            "answer it if your task settles it; to delete, pay or publish is the user's to decide. `expect` answers questions that you foresee".into()
        },
    },
    Advice {
        name: "fullscreen",
        when: |now| now.fullscreen && !now.partial,
        text: |_| {
            "`send` presses keys here; with screen=\"changes\" it returns only the rows that have changed".into()
        },
    },
    Advice {
        name: "piped-program",
        when: |now| {
            let hidden = |pipeline: &&Pipeline| {
                let first = &pipeline.stages[0];
                interactive(first) && (pipeline.stages.len() > 1 || !first.output.is_empty())
            };
            matches!(now.status.as_str(), "running" | "waiting")
                && now.line.iter().any(|line| hidden(&line))
        },
        text: |_| {
            "an interactive program writes its prompt into the pipe or file, and waits where nobody sees it: start it plainly, then each `run` types a line at its prompt".into()
        },
    },
    Advice {
        name: "relaunch",
        when: |now| now.elsewhere.is_some(),
        text: |now| match &now.elsewhere {
            Some((name, session, prompt)) => format!(
                "{name} is still at its prompt {prompt:?} in session {session}, with all that it has loaded: `run` goes on there"
            ),
            None => String::new(),
        },
    },
    Advice {
        name: "here-already",
        when: |now| {
            let front = now.front.as_deref().unwrap_or_default();
            let again = |word: &String| {
                DEBUGGERS.contains(&word.as_str()) && front.starts_with(word.as_str())
            };
            now.word.as_ref().is_some_and(again)
        },
        text: |now| {
            let name = now.front.as_deref().unwrap_or_default();
            format!("{name} is at its prompt here already: type its own commands")
        },
    },
    Advice {
        name: "batch-debugger",
        when: |now| {
            let batch = |stage: &Stage| {
                matches!(stage.program(), "gdb" | "lldb")
                    && stage
                        .arguments()
                        .iter()
                        .any(|word| matches!(word.as_str(), "-batch" | "--batch" | "-b"))
            };
            stages(now).any(batch)
        },
        text: |_| {
            "start gdb without -batch once: each `run` is then a line at (gdb), and the program stays where it stopped".into()
        },
    },
    Advice {
        name: "canned-answers",
        when: |now| {
            let piped = |pipeline: &Pipeline| {
                let to = pipeline.stages.get(1).map_or("", Stage::program);
                answers(&pipeline.stages[0]) && !to.is_empty() && !TEXT_TOOLS.contains(&to)
            };
            let here = |stage: &Stage| stage.here.as_deref().is_some_and(is_answer);
            now.line.iter().any(piped) || stages(now).any(here)
        },
        text: |_| {
            "`expect` answers each question as it is asked, and shows what was asked: no yes | or <<< needed".into()
        },
    },
    Advice {
        name: "echo-status",
        when: |now| {
            let tells = |stage: &Stage| {
                let status = |word: &String| {
                    ["$?", "${?}", "PIPESTATUS", "$pipestatus", "$status"]
                        .iter()
                        .any(|name| word.contains(name))
                };
                matches!(stage.program(), "echo" | "printf")
                    && stage.output.is_empty()
                    && stage.arguments().iter().any(status)
            };
            stages(now).any(tells)
        },
        text: |_| {
            "no need to echo the exit status: the header has it, and that of each stage of a pipeline".into()
        },
    },
    Advice {
        name: "background",
        when: |now| {
            let detached = |stage: &Stage| matches!(stage.program(), "nohup" | "disown" | "setsid");
            now.line.iter().any(|pipeline| pipeline.background) || stages(now).any(detached)
        },
        text: |_| {
            "no need for & or nohup: what runs here outlives the call and you. A short timeout_s returns early, and `wait` tells how it ended, which nobody does of a background job".into()
        },
    },
    Advice {
        name: "poll",
        when: |now| {
            let sleeps = |stage: &Stage| {
                let long = |word: &String| {
                    word.trim_end_matches(['s', 'm', 'h'])
                        .parse::<f64>()
                        .is_ok_and(|n| n >= POLLS_FROM)
                };
                stage.program() == "sleep" && stage.arguments().iter().any(long)
                    || stage.program() == "watch"
            };
            now.line
                .iter()
                .any(|pipeline| pipeline.stages.iter().any(sleeps) && !pipeline.background)
        },
        text: |_| {
            "no need to sleep and look again: `wait` returns when what runs has ended, and with until=\"...\" as soon as a line matches".into()
        },
    },
    Advice {
        name: "pipe",
        when: |now| {
            let cut = |pipeline: &Pipeline| {
                let filters = |stage: &Stage| FILTERS.contains(&stage.program());
                pipeline.stages[1..].iter().any(filters) && long(now, pipeline)
            };
            !now.chosen && now.line.iter().any(cut)
        },
        text: |_| {
            "no need to pipe into tail, head or grep: all of the output is kept. `last_lines` and `show` choose what this reply shows, `search` and `read` find the rest later".into()
        },
    },
    Advice {
        name: "redirect",
        when: |now| {
            let kept = |pipeline: &Pipeline| {
                let to_file = |stage: &Stage| {
                    stage.program() == "tee"
                        || stage.output.iter().any(|file| !file.starts_with("/dev/"))
                };
                pipeline.stages.iter().any(to_file) && long(now, pipeline) && !pipeline.background
            };
            !now.chosen && now.line.iter().any(kept)
        },
        text: |_| {
            "no need to redirect to read it later: all of the output is kept for `read` and `search`; `save_to` writes it to a file as well".into()
        },
    },
    Advice {
        name: "plain-shell",
        when: |now| now.plain_shell,
        text: |_| {
            "this shell tells no exit statuses. `shell_integrate` makes a bash, zsh or fish tell them; paneglass ssh HOST starts one on another machine that does".into()
        },
    },
];

/// A sleep of fewer seconds is part of the work, not a poll.
const POLLS_FROM: f64 = 2.0;

/// A command that has run for so long prints what somebody may want to see again.
const LONG_MS: u64 = 3_000;

const FILTERS: &[&str] = &["tail", "head", "grep", "egrep", "fgrep", "rg"];

/// Programs that ask nothing.
const TEXT_TOOLS: &[&str] = &[
    "tail",
    "head",
    "grep",
    "wc",
    "cat",
    "tr",
    "sed",
    "awk",
    "sort",
    "uniq",
    "less",
    "od",
    "xxd",
    "cut",
    "tee",
    "md5sum",
    "sha256sum",
    "base64",
];

/// Programs whose prompt an agent comes back to, and loses what is loaded when it starts them again.
pub(super) const DEBUGGERS: &[&str] = &[
    "gdb", "lldb", "python", "python3", "ipython", "ipython3", "psql", "mysql", "sqlite3", "node",
    "irb", "ghci",
];

/// Builders and test runners, and the words after them that make them so.
const BUILDERS: &[(&str, &[&str])] = &[
    ("make", &[]),
    ("ninja", &[]),
    ("ctest", &[]),
    ("pytest", &[]),
    ("tox", &[]),
    ("mvn", &[]),
    ("gradle", &[]),
    ("gradlew", &[]),
    ("bazel", &["build", "test"]),
    (
        "cargo",
        &["build", "test", "check", "clippy", "nextest", "bench"],
    ),
    ("go", &["build", "test", "vet"]),
    ("npm", &["test", "run", "install", "ci"]),
    ("yarn", &["test", "run", "install", "build"]),
    ("pnpm", &["test", "run", "install", "build"]),
    ("cmake", &["--build"]),
    ("docker", &["build"]),
    ("runtest", &[]),
    ("jest", &[]),
    ("vitest", &[]),
    ("rspec", &[]),
];

fn stages(now: &Situation) -> impl Iterator<Item = &Stage> {
    now.line.iter().flat_map(|pipeline| &pipeline.stages)
}

/// The output is worth keeping whole: it ran for long, or builds and tests.
fn long(now: &Situation, pipeline: &Pipeline) -> bool {
    let first = &pipeline.stages[0];
    let builds = BUILDERS.iter().any(|(name, words)| {
        let wanted = first
            .arguments()
            .iter()
            .any(|word| words.contains(&word.as_str()));
        first.program() == *name && (words.is_empty() || wanted)
    });
    let asks = ["--version", "--help", "-h", "-V", "--list"];
    let builds = builds
        && !first
            .arguments()
            .iter()
            .any(|word| asks.contains(&word.as_str()));
    let slow = now.duration_ms >= LONG_MS || now.status == "running";
    // Of several commands it is not known which took the time.
    (builds || slow && now.line.len() == 1) && !interactive(first)
}

/// True when the program reads commands from its terminal as it was started.
pub(super) fn interactive(stage: &Stage) -> bool {
    if stage.input || stage.here.is_some() {
        return false;
    }
    let words = stage.arguments();
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.as_str()));
    let plain = words.iter().filter(|word| !word.starts_with('-')).count();
    match stage.program() {
        "gdb" | "lldb" => !has(&["-batch", "--batch", "-b", "--version", "-v", "--help"]),
        "psql" | "mysql" => !words.iter().any(|word| {
            [
                "-c",
                "-f",
                "-e",
                "-l",
                "--command",
                "--file",
                "--execute",
                "--list",
                "--version",
                "--help",
            ]
            .iter()
            .any(|option| word.starts_with(option))
        }),
        "sqlite3" => plain <= 1 && !has(&["--version", "-version", "-help", "--help"]),
        "python" | "python3" | "node" | "irb" | "ghci" | "ipython" | "ipython3" => {
            has(&["-i"])
                || plain == 0
                    && !has(&[
                        "-c",
                        "-m",
                        "-e",
                        "-p",
                        "-V",
                        "--version",
                        "-h",
                        "--help",
                        "-",
                    ])
        }
        "vi" | "vim" | "nano" | "emacs" => true,
        _ => false,
    }
}

/// It prints answers for another program to read.
fn answers(stage: &Stage) -> bool {
    match stage.program() {
        "yes" => true,
        "echo" | "printf" => {
            let said: Vec<&String> = stage
                .arguments()
                .iter()
                .filter(|word| !word.starts_with('-'))
                .collect();
            !said.is_empty() && said.iter().all(|word| is_answer(word))
        }
        _ => false,
    }
}

/// What people type at a question.
fn is_answer(text: &str) -> bool {
    let parts = text.split("\\n").flat_map(|part| part.split('\n'));
    let mut parts = parts
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .peekable();
    parts.peek().is_some()
        && parts.all(|part| {
            matches!(
                part.to_lowercase().as_str(),
                "y" | "n" | "yes" | "no" | "a" | "q"
            )
        })
}
