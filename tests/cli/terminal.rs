//! The command line on a terminal, where a person sits.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::util::binary;
use crate::util::client::DEADLINE;
use crate::util::dir::{Dir, Running};
use crate::util::skip::have;

/// Starts the binary on a terminal that script(1) makes; what is written to its input is typed there.
fn on_a_terminal(dir: &Dir, args: &str) -> Command {
    let mut script = dir.command("script");
    let line = format!("exec {} {args}", binary().display());
    script
        .args(["-qec", &line, "/dev/null"])
        .env("TERM", "xterm-256color")
        .stdin(Stdio::piped());
    script
}

/// Waits for something to be so.
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !so() {
        assert!(Instant::now() < deadline, "{what} does not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_person_who_starts_the_server_is_told_what_it_is() {
    if !have(
        "a_person_who_starts_the_server_is_told_what_it_is",
        "script",
    ) {
        return;
    }
    let dir = Dir::new();
    let printed = dir.path().join("printed");
    let mut script = on_a_terminal(&dir, "");
    script.stdout(fs::File::create(&printed).expect("the test's own"));
    let mut script = Running(script.spawn().expect("script starts"));
    let shown = || fs::read_to_string(&printed).unwrap_or_default();
    until("the notice", || shown().contains("see paneglass --help"));
    let mut input = script.0.stdin.take().expect("stdin is a pipe");
    input.write_all(b"\x04").expect("script reads");
    assert_eq!(
        script.0.wait().expect("our child").code(),
        Some(0),
        "{}",
        shown()
    );
}

#[test]
fn attach_joins_the_session_and_detaches() {
    let test = "attach_joins_the_session_and_detaches";
    if !have(test, "tmux") || !have(test, "script") {
        return;
    }
    let dir = Dir::new();
    dir.run(&["call", "session_create", "name=build"]).good();
    let printed = dir.path().join("printed");
    let mut script = on_a_terminal(&dir, "attach build");
    // As within a tmux of the person's own.
    script.env("TMUX", "/no/socket,1,0");
    script.stdout(fs::File::create(&printed).expect("the test's own"));
    let mut script = Running(script.spawn().expect("script starts"));
    let attached = || -> Value {
        let list: Value = serde_json::from_str(&dir.run(&["list", "--json"]).out).expect("JSON");
        list[0]["attached"].clone()
    };
    until("the person", || attached() == 1);
    let mut input = script.0.stdin.take().expect("stdin is a pipe");
    input.write_all(b"\x02d").expect("script reads");
    let status = script.0.wait().expect("our child");
    let shown = String::from_utf8_lossy(&fs::read(&printed).unwrap_or_default()).into_owned();
    assert_eq!(status.code(), Some(0), "{shown}");
    assert!(shown.contains("detached"), "{shown}");
    assert_eq!(attached(), 0);
}
