//! The command line: help, exit codes 0, 1 and 2, and errors of one line that say what to do.

mod settings;
mod terminal;

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::util::binary;
use crate::util::dir::Dir;
use crate::util::server::Server;
use crate::util::skip::have;

/// A terminal of the usual width shows a help text without wrapping.
const HELP_COLUMNS: usize = 80;

/// The commands that the general help lists.
fn commands(dir: &Dir) -> Vec<String> {
    let help = dir.run(&["--help"]);
    let listed = help
        .good()
        .split("Commands:\n")
        .nth(1)
        .expect("a list of commands");
    let names: Vec<String> = listed
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .map(String::from)
        .collect();
    assert!(names.len() >= 8, "{names:?}");
    names
}

#[test]
fn every_command_has_help_that_fits_a_terminal() {
    let dir = Dir::new();
    let mut texts = vec![("paneglass".to_string(), dir.run(&["--help"]))];
    assert_eq!(dir.run(&["-h"]).good(), texts[0].1.good());
    assert_eq!(dir.run(&["help"]).good(), texts[0].1.good());
    for word in ["help", "--help", "-h"] {
        assert_eq!(dir.run(&["help", word]).good(), texts[0].1.good());
    }
    for name in commands(&dir) {
        let help = dir.run(&[&name, "--help"]);
        assert_eq!(dir.run(&[&name, "-h"]).good(), help.good());
        assert_eq!(dir.run(&["help", &name]).good(), help.good());
        texts.push((format!("paneglass {name}"), help));
    }
    for (line, help) in &texts {
        let usage = format!("Usage:\n  {line}");
        assert!(help.good().contains(&usage), "{line}:\n{}", help.out);
        assert!(help.out.contains("-h, --help"), "{line}:\n{}", help.out);
    }
    let wide: Vec<&str> = texts
        .iter()
        .flat_map(|(_, help)| help.out.lines())
        .filter(|line| line.chars().count() > HELP_COLUMNS)
        .collect();
    assert!(
        wide.is_empty(),
        "over {HELP_COLUMNS} columns:\n{}",
        wide.join("\n")
    );
}

#[test]
fn wrong_usage_is_2_and_points_to_the_help() {
    let dir = Dir::new();
    let wrong: &[(&[&str], &str)] = &[
        (&["lisst"], "no command \"lisst\""),
        (&["help", "lisst"], "no command \"lisst\""),
        (&["--lisst"], "--lisst"),
        (
            &["--toolsets", "terminal,lisst"],
            "--toolsets must name some of terminal, programs, devices",
        ),
        (&["join", "lisst"], "\"lisst\" is no server's address"),
        (&["-x"], "-x"),
        (&["list", "--xml"], "--xml"),
        (&["list", "build"], "build"),
        (&["attach"], "name one session"),
        (&["attach", "a", "b"], "name one session"),
        (&["attach", "--xml"], "--xml"),
        (&["call"], "name a tool"),
        (&["call", "--xml", "run"], "--xml"),
        (&["call", "rum"], "session_create, run"),
        (&["call", "run", "session"], "\"session\" is not NAME=VALUE"),
        (&["demo", "fast"], "\"fast\""),
        (&["doctor", "--xml"], "--xml"),
        (&["doctor", "tmux"], "tmux"),
        (&["version", "1"], "\"1\""),
        (&["serve", "--tcp", "65536"], "up to 65535"),
        (&["serve", "--host", "localhost"], "--host is for --tcp"),
        (&["connect", "--actor"], "--actor"),
        (&["token", "x"], "\"x\""),
        (&["--no-bridge", "list"], "list"),
        (&["shell"], "name a shell"),
        (&["shell", "tcsh"], "tcsh"),
        (&["shell", "bash", "bash"], "one shell"),
        (&["cook", "--cols", "0"], "1 to 65535"),
        (&["cook", "--cols"], "--cols"),
        (&["cook", "--xml"], "--xml"),
        (&["cook", "a", "b"], "\"b\""),
        (&["cook", "--tmux", "newest"], "such as 3.3a"),
        (&["cook", "--resize", "120x40"], "AT:COLSxROWS"),
    ];
    for (args, text) in wrong {
        let ran = dir.run(args);
        let line = ran.bad(2);
        assert!(line.contains(text) && line.contains("--help"), "{ran:?}");
    }
    // These two are for tmux alone.
    for name in ["tap", "launch"] {
        let ran = dir.run(&[name]);
        assert!(ran.bad(2).contains("started by tmux"), "{ran:?}");
    }
    assert!(
        !dir.path().join("state").exists(),
        "wrong usage leaves nothing"
    );
}

#[test]
fn failures_are_1_and_say_what_to_do() {
    if !have("failures_are_1_and_say_what_to_do", "tmux") {
        return;
    }
    let dir = Dir::new();
    let failed: &[(&[&str], &[&str])] = &[
        (&["attach", "build"], &["build", "no session is open"]),
        (&["cook", "no/such/file"], &["no/such/file"]),
        (&["cook", "/"], &["/: ", "directory"]),
        (&["shell", "--dir", "/proc/no"], &["/proc/no"]),
    ];
    for (args, texts) in failed {
        let ran = dir.run(args);
        let line = ran.bad(1);
        assert!(texts.iter().all(|text| line.contains(text)), "{ran:?}");
    }
    dir.run(&["call", "session_create", "name=other"]).good();
    let ran = dir.run(&["attach", "build"]);
    assert!(ran.bad(1).contains("open sessions: other"), "{ran:?}");
}

#[test]
fn version_and_what_it_works_with() {
    let dir = Dir::new();
    let version = concat!("paneglass ", env!("CARGO_PKG_VERSION"), "\n");
    for args in [["version"], ["-V"], ["--version"]] {
        assert_eq!(dir.run(&args).good(), version);
    }
    let verbose = dir.run(&["version", "--verbose"]);
    let mut lines = verbose.good().lines();
    assert_eq!(lines.next(), version.lines().next());
    let protocols = lines.next().unwrap_or_default();
    for revision in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        assert!(protocols.contains(revision), "{verbose:?}");
    }
    if have("version_and_what_it_works_with", "tmux") {
        let mut tmux = dir.command("tmux");
        tmux.arg("-V");
        assert_eq!(
            lines.next(),
            Some(dir.end(tmux, "tmux -V").good().trim_end())
        );
    }
    // Without tmux it is still a version that is asked for.
    let without = dir.run_with(&["version", "-v"], &[("PANEGLASS_TMUX", "/no/tmux")]);
    assert!(without.good().contains("/no/tmux"), "{without:?}");
}

#[test]
fn doctor_tells_each_fact_and_whether_sessions_work() {
    if !have("doctor_tells_each_fact_and_whether_sessions_work", "tmux") {
        return;
    }
    let dir = Dir::new();
    let plain = dir.run(&["doctor"]);
    let facts: Value = serde_json::from_str(dir.run(&["doctor", "--json"]).good()).expect("JSON");
    let facts = facts.as_array().expect("an array");
    for name in [
        "tmux",
        "bash",
        "zsh",
        "fish",
        "state",
        "locale",
        "terminfo",
        "/proc",
        "inotify",
        "room",
        "tmux-socket",
        "socket",
        "session",
    ] {
        let fact = facts.iter().find(|fact| fact["name"] == name);
        let fact = fact.unwrap_or_else(|| panic!("no fact about {name}"));
        assert!(
            fact["fact"].as_str().is_some_and(|text| !text.is_empty()),
            "{fact}"
        );
        assert_eq!(fact["state"] == "ok", fact["remedy"] == "", "{fact}");
        let line = plain
            .good()
            .lines()
            .find(|line| line.split_whitespace().nth(1) == Some(name));
        assert!(line.is_some(), "{name} is not in\n{}", plain.out);
    }
    assert_eq!(nothing_left(&dir), "");
    let far = format!("/no/{}/socket", "way".repeat(40));
    let sockets = [
        ("PANEGLASS_SOCKET_PATH", far.as_str()),
        ("TMUX_TMPDIR", "/no/such"),
    ];
    let wide = dir.run_with(&["doctor"], &sockets);
    assert_eq!(wide.code, Some(1), "{wide:?}");
    for line in wide.out.lines() {
        let fits = line.chars().count() <= HELP_COLUMNS;
        // No word is broken, however long it is.
        assert!(fits || line.ends_with(&far), "{line}");
    }
    let words: Vec<&str> = wide.out.split_whitespace().collect();
    let told = format!("warn socket {far} is longer than a socket's path may be: serve cannot");
    assert!(words.join(" ").contains(&told), "{}", wide.out);
    let without = dir.run_with(&["doctor", "--json"], &[("PANEGLASS_TMUX", "/no/tmux")]);
    assert_eq!(without.code, Some(1), "{without:?}");
    let facts: Value = serde_json::from_str(&without.out).expect("JSON");
    assert_eq!(facts[0]["name"], "tmux");
    assert_eq!(facts[0]["state"], "BAD");
    assert!(
        facts[0]["remedy"]
            .as_str()
            .is_some_and(|text| text.contains("install tmux")),
        "{facts}"
    );
}

/// What is left in the directory for sockets: a tmux server that still runs has one.
fn nothing_left(dir: &Dir) -> String {
    let mut left = Vec::new();
    for entry in fs::read_dir(dir.path().join("tmux"))
        .into_iter()
        .flatten()
        .flatten()
    {
        for socket in fs::read_dir(entry.path()).into_iter().flatten().flatten() {
            left.push(socket.path().display().to_string());
        }
    }
    left.join(", ")
}

#[test]
fn demo_does_the_main_job_and_leaves_nothing() {
    if !have("demo_does_the_main_job_and_leaves_nothing", "tmux") {
        return;
    }
    let dir = Dir::new();
    let temp = dir.path().join("temp");
    fs::create_dir(&temp).expect("the test's own directory");
    let demo = |environment: &[(&str, &str)]| {
        let mut all = vec![("TMPDIR", temp.to_str().expect("a short path"))];
        all.extend(environment);
        dir.run_with(&["demo"], &all)
    };
    let shown = demo(&[]);
    for text in [
        "exit 2",
        "lines omitted",
        "1 matching line",
        "error: expected expression",
        "build ok",
        "waiting at \"Install? [y/N]\"",
        "answer: y",
        "(pipe 1 0)",
        "tmux -u -L",
    ] {
        assert!(
            shown.good().contains(text),
            "{text:?} is not in\n{}",
            shown.out
        );
    }
    // One that fails leaves nothing either.
    let failed = demo(&[("PANEGLASS_TMUX", "/no/tmux")]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert_eq!(failed.err.lines().count(), 1, "{failed:?}");
    assert!(failed.err.contains("/no/tmux"), "{failed:?}");
    let left: Vec<_> = fs::read_dir(&temp)
        .expect("the test's own")
        .flatten()
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(nothing_left(&dir), "");
    assert!(
        !dir.path().join("state").exists(),
        "the user's own state is not touched"
    );
}

#[test]
fn list_shows_sessions_while_and_after_they_live() {
    if !have("list_shows_sessions_while_and_after_they_live", "tmux") {
        return;
    }
    let dir = Dir::new();
    let list =
        || -> Value { serde_json::from_str(dir.run(&["list", "--json"]).good()).expect("JSON") };
    assert_eq!(dir.run(&["list"]).good(), "no sessions\n");
    assert_eq!(list(), json!([]));
    dir.run(&["call", "session_create", "name=build"]).good();
    let table = dir.run(&["list"]);
    let rows: Vec<&str> = table.good().lines().collect();
    assert_eq!(rows.len(), 2, "{table:?}");
    assert!(rows[0].starts_with("NAME "), "{table:?}");
    assert!(
        rows[1].starts_with("build ") && rows[1].contains(" open "),
        "{table:?}"
    );
    let open = list();
    assert_eq!(
        (&open[0]["name"], &open[0]["state"]),
        (&json!("build"), &json!("open"))
    );
    assert_eq!(open[0]["attached"], 0);
    dir.run(&["call", "session_close", "session=build"]).good();
    assert_eq!(list()[0]["state"], "closed");
}

#[test]
fn call_prints_the_reply_and_exits_by_it() {
    if !have("call_prints_the_reply_and_exits_by_it", "tmux") {
        return;
    }
    let dir = Dir::new();
    dir.run(&["call", "session_create", "name=build", "cols=100"])
        .good();
    let run = dir.run(&["call", "run", "session=build", "input=echo a=b; (exit 3)"]);
    assert!(run.good().starts_with("[build #1 · exit 3"), "{run:?}");
    assert!(run.out.contains("\na=b\n"), "{run:?}");
    let whole = dir.run(&[
        "call",
        "--json",
        "run",
        "session=build",
        "input=false | true",
    ]);
    let whole: Value = serde_json::from_str(whole.good()).expect("JSON");
    assert_eq!(whole["isError"], false);
    assert_eq!(whole["facts"]["pipestatus"], json!([1, 0]));
    assert!(
        whole["text"]
            .as_str()
            .is_some_and(|text| text.contains("(pipe 1 0)"))
    );
    // What is a string to the tool is one, whatever it would be as JSON.
    let typed = dir.run(&["call", "run", "session=build", "input=true"]);
    assert!(typed.good().contains("exit 0"), "{typed:?}");
    let typed = dir.run(&[
        "call",
        "search",
        "session=build",
        "pattern=\"b\"",
        "context=x",
    ]);
    assert_eq!((typed.code, typed.err.as_str()), (Some(1), ""), "{typed:?}");
    assert!(typed.out.contains("`context` must be"), "{typed:?}");
    let found = dir.run(&["call", "search", "session=build", "pattern=1", "context=0"]);
    assert!(found.good().contains("matching"), "{found:?}");
    let wrong = dir.run(&["call", "--json", "read", "session=nobody"]);
    assert_eq!(wrong.code, Some(1), "{wrong:?}");
    let wrong: Value = serde_json::from_str(&wrong.out).expect("JSON");
    assert_eq!(wrong["isError"], true);
    assert!(
        wrong["text"]
            .as_str()
            .is_some_and(|text| text.contains("build")),
        "{wrong}"
    );
    let escapes = dir.run(&[
        "call",
        "run",
        "session=build",
        "input=printf '\\302\\233\\033[31mred\\033[m\\007\\n'",
    ]);
    let control = |c: char| c.is_control() && c != '\n';
    assert!(
        escapes.good().contains("red") && !escapes.out.contains(control),
        "{escapes:?}"
    );
}

#[test]
fn call_knows_what_a_running_server_takes() {
    if !have("call_knows_what_a_running_server_takes", "tmux") {
        return;
    }
    let server = Server::start();
    let dir = &server.dir;
    // A string by the schema: only the session is wrong.
    let ran = dir.run(&["call", "search", "session=none", "pattern=1"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.out.contains("there is no session \"none\""), "{ran:?}");
}

#[test]
fn an_ended_or_absent_input_ends_the_server() {
    let dir = Dir::new();
    assert_eq!(dir.run(&[]).good(), "");
    assert!(!dir.path().join("state").exists(), "no call, no state");
}

#[test]
fn output_that_nobody_reads_is_no_error() {
    let dir = Dir::new();
    for args in [&["--help"][..], &["shell", "bash"]] {
        let mut command = dir.command(binary());
        command
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("our child");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
    }
}

#[test]
fn shell_writes_what_it_prints() {
    let dir = Dir::new();
    let printed = dir.run(&["shell", "bash"]);
    dir.run(&["shell", "--dir", "files"]).good();
    let written = fs::read_to_string(dir.path().join("files/bash/integration.bash"));
    assert_eq!(written.expect("a file"), printed.good());
}

#[test]
fn cook_turns_a_recording_into_lines() {
    let dir = Dir::new();
    let recording = dir.path().join("recording");
    fs::write(&recording, "10%\r20%\r100%\r\n\x1b[1mbold\x1b[m\r\n").expect("the test's own");
    let ran = dir.run(&["cook", "recording"]);
    assert_eq!(ran.good(), "100%\nbold\n");
    let screen = dir.run(&[
        "cook",
        "--screen",
        "--cols",
        "10",
        "--rows",
        "3",
        "recording",
    ]);
    assert_eq!(screen.good(), "100%\nbold\n");
    let mut command = dir.command(binary());
    command
        .args(["cook", "-"])
        .stdin(fs::File::open(&recording).expect("just written"));
    assert_eq!(dir.end(command, "cook -").good(), "100%\nbold\n");
}
