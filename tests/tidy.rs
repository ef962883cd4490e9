//! Holds the layers and habits of the source tree: who may import whom, what stands where, how long a file may be.
//!
//! Unit tests keep to their module's row of every table, since a test that needs an upper layer belongs in tests/;
//! they may print, unwrap, and touch files and clocks. Each check is a function from a source to its faults, so
//! that tests/tidy/samples.rs can show that each can fail.

#[path = "tidy/package.rs"]
mod package;
#[path = "tidy/rules.rs"]
mod rules;
#[path = "tidy/samples.rs"]
mod samples;
#[path = "tidy/source.rs"]
mod source;

use std::collections::BTreeSet;
use std::path::Path;

use source::Source;

/// Which module may import which, as `crate::` paths say. `main` is the crate's root. A row may name modules that
/// are not there yet; a module without a row is a fault.
const LAYERS: &[(&str, &[&str])] = &[
    ("main", &["cli", "config", "serve"]),
    (
        "cli",
        &[
            "config", "devices", "guide", "mcp", "place", "proc", "serve", "session", "store",
            "sys", "term", "tmux",
        ],
    ),
    (
        "serve",
        &[
            "config", "devices", "guide", "http", "mcp", "place", "programs", "session", "store",
            "sys", "tmux", "tools",
        ],
    ),
    (
        "tools",
        &[
            "devices", "guide", "mcp", "place", "proc", "programs", "reply", "session",
        ],
    ),
    ("guide", &[]),
    ("reply", &["guide", "session", "term"]),
    (
        "session",
        &["place", "proc", "store", "sys", "term", "tmux"],
    ),
    ("programs", &["session", "store", "tmux"]),
    ("devices", &["http", "store", "sys"]),
    ("http", &["mcp", "sys"]),
    ("place", &["proc", "sys"]),
    ("store", &["sys"]),
    ("tmux", &["sys"]),
    ("proc", &["sys"]),
    ("mcp", &[]),
    ("term", &[]),
    ("config", &[]),
    ("sys", &[]),
];

/// Where each crate may be named, and with that which crates there are.
const CRATES: &[(&str, &[&str])] = &[
    ("libc", &["sys"]),
    ("lexopt", &["cli"]),
    ("tiny_http", &["http"]),
    ("crossbeam_channel", &["http", "mcp", "serve", "session"]),
    ("regex", &["programs", "reply", "session", "tools"]),
    ("serde", RECORDS),
    ("serde_json", RECORDS),
];

/// Everywhere but term, proc and sys, which know bytes only.
const RECORDS: &[&str] = &[
    "cli", "config", "devices", "guide", "http", "mcp", "place", "programs", "reply", "serve",
    "session", "store", "tmux", "tools",
];

/// What of the standard library a module must not know.
const MUST_NOT_KNOW: &[(&str, &[&str])] = &[
    ("term", OUTSIDE),
    ("reply", OUTSIDE),
    ("guide", OUTSIDE),
    ("mcp", &["env", "fs", "process"]),
    ("config", &["fs", "process", "thread"]),
];

/// Files, time and whatever else makes a function depend on more than its arguments.
const OUTSIDE: &[&str] = &[
    "env", "fs", "io", "net", "os", "process", "sync", "thread", "time",
];

/// The only module with unsafe code.
const UNSAFE: &str = "sys";

/// The only test code with some: std has no way to give a child a controlling terminal.
const UNSAFE_TESTS: &str = "tests/util/pty.rs";

/// The only module that prints: everywhere else standard output is the protocol.
const PRINTS: &str = "cli";

/// Lines of a file that a reader still takes in.
const FILE_LINES: usize = 500;

/// Lines of unit tests that may stand in the file they test; more go to a sibling tests.rs.
const TEST_LINES: usize = 100;

/// Files that are nothing but data, and so may be longer.
const DATA_TABLES: &[&str] = &[
    "man/paneglass-tools.7",
    "src/proc/cases/table.rs",
    "src/term/width_table.rs",
];

/// Names of patterns, not of things.
const EMPTY_NAMES: &[&str] = &["Manager", "Helper", "Util", "Utils", "Impl"];

/// All that is committed; `cargo package` and .ci/run see to it that nothing else is.
const COMMITTED: &[&str] = &[
    ".ci",
    ".gitignore",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "man",
    "shell",
    "src",
    "tests",
];

/// Every committed file with its bytes, by its path from the package's root.
fn files() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut left: Vec<String> = COMMITTED.iter().map(|&name| name.into()).collect();
    while let Some(path) = left.pop() {
        let full = root.join(&path);
        if full.is_dir() {
            for entry in full.read_dir().expect("a folder of the package") {
                let name = entry.expect("an entry of the package").file_name();
                let name = name.to_str().expect("a name in UTF-8");
                // What Python leaves beside a script that was run.
                if name != "__pycache__" {
                    left.push(format!("{path}/{name}"));
                }
            }
        } else if full.is_file() {
            // A package has neither .ci nor .gitignore, and its manifest is one that cargo wrote, beside ours.
            let ours = root.join(format!("{path}.orig"));
            let full = if ours.is_file() { ours } else { full };
            found.push((path, std::fs::read(full).expect("a file of the package")));
        }
    }
    found.sort();
    found
}

/// The Rust files of src and tests.
fn sources() -> Vec<Source> {
    let mut sources: Vec<Source> = files()
        .into_iter()
        .filter(|(path, _)| path.ends_with(".rs"))
        .map(|(path, bytes)| {
            let text = String::from_utf8(bytes).expect("Rust is UTF-8");
            Source::new(&path, &text)
        })
        .collect();
    rules::mark_test_files(&mut sources);
    sources
}

/// Fails with every fault that `check` finds in the sources.
fn hold(check: impl Fn(&Source) -> Vec<String>) {
    let sources = sources();
    assert!(sources.len() > 100, "the sources are found");
    none(sources.iter().flat_map(check).collect());
}

fn none(faults: Vec<String>) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn layers() {
    hold(rules::layers);
}

#[test]
fn every_module_has_a_row() {
    let known: BTreeSet<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    for (name, below) in LAYERS {
        assert!(below.iter().all(|name| known.contains(name)), "{name}");
    }
    let main = sources()
        .into_iter()
        .find(|source| source.path == "src/main.rs");
    for module in main.expect("the crate's root").modules() {
        assert!(
            known.contains(module.as_str()),
            "{module} is in no row of LAYERS"
        );
    }
}

#[test]
fn crates_stay_in_their_modules() {
    hold(rules::crates);
}

#[test]
fn modules_know_no_more_than_they_must() {
    hold(rules::outside);
}

#[test]
fn unsafe_code_is_fenced_and_explained() {
    hold(rules::unsafe_code);
}

#[test]
fn module_trees_forbid_unsafe_code() {
    hold(rules::forbids_unsafe);
}

#[test]
fn only_the_command_line_prints() {
    hold(rules::prints);
}

#[test]
fn threads_have_names() {
    hold(rules::threads);
}

#[test]
fn nothing_is_unwrapped_without_a_proof() {
    hold(rules::unwraps);
}

#[test]
fn nothing_is_left_undone() {
    hold(rules::leftovers);
}

#[test]
fn modules_say_what_they_are() {
    hold(rules::headers);
}

#[test]
fn names_say_something() {
    hold(rules::names);
}

#[test]
fn unit_tests_are_short_or_apart() {
    hold(rules::inline_tests);
}

#[test]
fn files_are_short() {
    none(package::long(&files()));
}

#[test]
fn nothing_names_this_machine_or_a_registry() {
    none(package::hosts_and_paths(&files()));
}

#[test]
fn the_manifest_names_only_the_allowed_crates() {
    let files = files();
    let text = |name: &str| {
        let (_, bytes) = files
            .iter()
            .find(|(path, _)| path == name)
            .expect("a file of the package");
        String::from_utf8_lossy(bytes).into_owned()
    };
    none(package::manifest(&text("Cargo.toml")));
    none(package::lock(&text("Cargo.lock")));
}
