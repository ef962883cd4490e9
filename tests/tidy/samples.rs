//! Bad samples: each check fails where it should, and only there.

use crate::source::Source;
use crate::{package, rules};

/// The line numbers of the faults that a check finds.
fn lines(check: fn(&Source) -> Vec<String>, path: &str, text: &str) -> Vec<usize> {
    check(&Source::new(path, text))
        .iter()
        .map(|fault| {
            let number = fault.split(':').nth(1).expect("a line number");
            number.parse().expect("a line number")
        })
        .collect()
}

#[test]
fn imports_upwards() {
    let text = "use crate::sys::fd;\nuse crate::{session, store};\nuse crate::tools::x;\n// crate::tools\n";
    assert_eq!(lines(rules::layers, "src/store/a.rs", text), [2, 3]);
    assert_eq!(lines(rules::layers, "src/session/a.rs", text), [3]);
    assert_eq!(
        lines(rules::layers, "src/unknown.rs", "use crate::sys;"),
        [1]
    );
    assert!(lines(rules::layers, "tests/a.rs", text).is_empty());
}

#[test]
fn imports_round_the_table() {
    assert_eq!(
        lines(rules::layers, "src/term/mod.rs", "use super::sys;"),
        [1]
    );
    assert_eq!(
        lines(
            rules::layers,
            "src/term/a.rs",
            "use super::b;\nuse super::super::sys;"
        ),
        [2]
    );
    let inline = "mod tests { use super::super::b; use super::super::super::sys; }";
    assert_eq!(lines(rules::layers, "src/term/a.rs", inline), [1]);
    let main = "mod sys;\nmod cli;\nfn main() { cli::main(); sys::fd::close(); }";
    assert_eq!(lines(rules::layers, "src/main.rs", main), [3]);
}

#[test]
fn crates_in_the_wrong_module() {
    let text = "use libc;\nuse serde_json::Value;\nfn f() { libc::getpid() }\n// libc::x\nlet s = \"libc::x\";\n";
    assert_eq!(lines(rules::crates, "src/store/a.rs", text), [1, 3]);
    assert_eq!(lines(rules::crates, "src/sys/a.rs", text), [2]);
    assert!(lines(rules::crates, "src/cli/a.rs", "use lexopt::Arg;").is_empty());
}

#[test]
fn pure_modules_with_files_or_clocks() {
    let text = "use std::{fmt, time::Instant};\nfn f() { std::fs::read(p) }\n#[cfg(test)]\nmod tests { use std::fs; }\n";
    assert_eq!(lines(rules::outside, "src/term/a.rs", text), [1, 2]);
    assert_eq!(lines(rules::outside, "src/mcp/a.rs", text), [2]);
    assert!(lines(rules::outside, "src/store/a.rs", text).is_empty());
}

#[test]
fn unsafe_code_elsewhere_or_unexplained() {
    let text = "// SAFETY: a number.\nlet a = unsafe { f() };\nlet b = unsafe { f() };\n// Fast.\nlet c = unsafe { f() };\n";
    assert_eq!(lines(rules::unsafe_code, "src/sys/a.rs", text), [3, 5]);
    assert_eq!(lines(rules::unsafe_code, "src/store/a.rs", text), [2, 3, 5]);
    assert_eq!(lines(rules::unsafe_code, "tests/a.rs", text), [2, 3, 5]);
    assert!(
        lines(
            rules::unsafe_code,
            "src/a.rs",
            "#![forbid(unsafe_code)] // unsafe"
        )
        .is_empty()
    );
    let bare = "//! Bytes.\npub mod a;\n";
    assert_eq!(lines(rules::forbids_unsafe, "src/term/mod.rs", bare), [1]);
    assert_eq!(lines(rules::forbids_unsafe, "src/config.rs", bare), [1]);
    for path in ["src/sys/mod.rs", "src/term/a.rs", "src/main.rs"] {
        assert!(
            lines(rules::forbids_unsafe, path, bare).is_empty(),
            "{path}"
        );
    }
}

#[test]
fn printing_and_nameless_threads() {
    let text = "fn f() { println!(); eprintln!(); }\nfn g() { print!(); }\nfn h() { std::thread::spawn(f); }\n#[cfg(test)]\nmod tests { fn t() { println!(); thread::spawn(f); } }\n";
    assert_eq!(lines(rules::prints, "src/mcp/a.rs", text), [1, 2]);
    assert!(lines(rules::prints, "src/cli/a.rs", text).is_empty());
    assert_eq!(lines(rules::threads, "src/cli/a.rs", text), [3]);
}

#[test]
fn unproved_unwraps() {
    let text = "let a = b.unwrap();\n// It was just pushed.\nlet a = b.unwrap();\nlet a = b\n    .expect(\"x\");\nlet a = b.unwrap_or(1);\n#[cfg(test)]\nmod tests { fn t() { a.unwrap(); } }\n";
    assert_eq!(lines(rules::unwraps, "src/store/a.rs", text), [1, 5]);
}

#[test]
fn what_is_left_undone() {
    let text = "todo!();\nfn todo() {}\n// todo!\ndbg!(1);\nunimplemented!();\n";
    assert_eq!(lines(rules::leftovers, "tests/a.rs", text), [1, 4, 5]);
}

#[test]
fn no_header_and_empty_names() {
    assert_eq!(
        lines(rules::headers, "tests/a.rs", "use a;\n//! Late.\n"),
        [1]
    );
    assert!(lines(rules::headers, "tests/a.rs", "//! What it is.\n").is_empty());
    let text = "struct PaneManager;\nenum Shape {}\nstruct Implicit;\n";
    assert_eq!(lines(rules::names, "src/store/a.rs", text), [1]);
    assert_eq!(lines(rules::names, "src/store/utils.rs", ""), [1]);
    assert!(lines(rules::names, "tests/util/mod.rs", "").is_empty());
}

#[test]
fn long_unit_tests() {
    let tests = |count| {
        format!(
            "fn f() {{}}\n#[cfg(test)]\nmod tests {{\n{}}}\n",
            "\n".repeat(count)
        )
    };
    let faults = |count| rules::inline_tests(&Source::new("src/store/a.rs", &tests(count))).len();
    assert_eq!((faults(97), faults(98)), (0, 1));
}

#[test]
fn files_of_test_modules() {
    let mut sources = [
        Source::new("src/proc/mod.rs", "#[cfg(test)]\nmod cases;\nmod look;\n"),
        Source::new("src/proc/cases.rs", "mod stage;\n"),
        Source::new("src/proc/cases/stage.rs", "fn f() { a.unwrap() }\n"),
        Source::new("src/proc/look.rs", "fn f() { a.unwrap() }\n"),
    ];
    rules::mark_test_files(&mut sources);
    let faults: Vec<String> = sources.iter().flat_map(rules::unwraps).collect();
    assert_eq!(faults.len(), 1);
    assert!(faults[0].starts_with("src/proc/look.rs:1:"), "{faults:?}");
}

#[test]
fn long_files() {
    let long = |path: &str, count| package::long(&[(path.into(), vec![b'\n'; count])]).len();
    assert_eq!(long("src/a.rs", 500), 0);
    assert_eq!(long("src/a.rs", 501), 1);
    assert_eq!(long("shell/bash/rc", 501), 1);
    assert_eq!(long("tests/data/a.json", 501), 0);
    assert_eq!(long("src/term/width_table.rs", 501), 0);
    let table = ("src/term/width_table.rs".into(), b"fn f() {}\n".to_vec());
    assert_eq!(package::long(&[table]).len(), 1);
}

#[test]
fn hosts_and_paths() {
    let faults = |path: &str, line: String| {
        package::hosts_and_paths(&[(path.into(), line.into_bytes())]).len()
    };
    let host = ["crates", "io"].join(".");
    assert_eq!(faults("README.md", format!("see https://{host}/x")), 1);
    assert_eq!(faults("Cargo.lock", format!("# {host}")), 1);
    assert_eq!(
        faults("Cargo.lock", format!("source = \"registry+{host}\"")),
        0
    );
    for name in ["work", "root", "home"] {
        assert_eq!(faults("src/a.rs", format!("cd /{name}/x")), 1, "{name}");
        assert_eq!(faults("src/a.rs", format!("cd a/{name}/x")), 0, "{name}");
    }
}

#[test]
fn dependencies() {
    let good = "[package]\nedition = \"2024\"\nrust-version = \"1.85\"\nautotests = false\n[dependencies]\ncrossbeam-channel = \"0.5\"\nserde = { version = \"1\" }\n";
    assert!(
        package::manifest(good).is_empty(),
        "{:?}",
        package::manifest(good)
    );
    for bad in [
        "tokio = \"1\"\n",
        "[dependencies.tokio]\n",
        "[dev-dependencies]\ntempfile = \"3\"\n",
        "[build-dependencies]\n",
        "[target.'cfg(unix)'.dependencies]\n",
    ] {
        assert!(
            !package::manifest(&format!("{good}{bad}")).is_empty(),
            "{bad}"
        );
    }
    assert!(!package::manifest(&good.replace("2024", "2021")).is_empty());
    let build = good.replace("[package]\n", "[package]\nbuild = \"build.rs\"\n");
    assert!(!package::manifest(&build).is_empty());
    assert_eq!(package::lock("source = \"git+https://host/x\"\n").len(), 1);
    assert!(package::lock("source = \"registry+https://host/x\"\n").is_empty());
}
