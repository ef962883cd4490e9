//! Cases from public reports of what goes wrong between agents and terminals, as far as no other file has them.

use std::fs;
use std::time::Instant;

use serde_json::json;

use crate::util::client::{Client, DEADLINE};
use crate::util::skip::have;

/// A shell that tells nothing: unknown is said, and nothing guessed from text.
#[test]
fn a_plain_shells_statuses_are_unknown() {
    let name = "a_plain_shells_statuses_are_unknown";
    if !have(name, "tmux") || !have(name, "dash") {
        return;
    }
    let mut client = Client::in_session();
    client.open(json!({"name": "t2", "command": "dash", "env": {"PS1": "$ "}}));
    for (line, output) in [
        ("false | cat", ""),
        ("false", ""),
        ("sh -c 'exit 3' | tail -1", ""),
        ("echo exit 0", "exit 0"),
        ("yes | head -1", "y"),
    ] {
        let reply = client.tool(
            "run",
            json!({"session": "t2", "input": line, "timeout_s": 60}),
        );
        assert_eq!(
            (reply.status(), reply.body().as_str()),
            ("prompt", output),
            "{line}: {}",
            reply.text
        );
        for fact in ["exit_code", "pipestatus", "signal"] {
            assert!(reply.facts[fact].is_null(), "{line}: {}", reply.text);
        }
        assert!(!reply.header().contains("exit"), "{}", reply.text);
    }
}

/// Lines that other tools hung at, or joined with what they add to them.
#[test]
fn lines_as_they_are_written() {
    if !have("lines_as_they_are_written", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    for (line, output, exit) in [
        ("true # comment", "", 0),
        ("echo hi;", "hi", 0),
        ("sleep 2 &", "", 0),
        ("cat <<'END'\n$HOME `x` \\\nEND", "$HOME `x` \\", 0),
        ("echo after", "after", 0),
        ("- x", "bash: -: command not found", 127),
        ("Enter", "bash: Enter: command not found", 127),
        ("echo 'a;b' \\; c", "a;b ; c", 0),
        ("echo \"Hello!\"", "Hello!", 0),
        ("echo %s %% #{x} '#(date)'", "%s %%", 0),
    ] {
        let reply = client.run(line);
        let body = reply.body();
        // The shell tells of its background job by number.
        let body = body.strip_prefix("[1] ").map_or(body.as_str(), |_| "");
        assert_eq!(body.trim_end(), output, "{line}: {}", reply.text);
        assert_eq!(reply.facts["exit_code"], exit, "{line}: {}", reply.text);
    }
    for open in ["echo 'open", "cat <<END", "if true"] {
        let reply = client.run(open);
        assert_eq!(reply.status(), "waiting", "{open}: {}", reply.text);
        assert!(
            reply.header().contains("continuation prompt"),
            "{open}: {}",
            reply.text
        );
        let mut gone = client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
        let deadline = Instant::now() + DEADLINE;
        // The prompt may take longer than the pause that send waits for.
        while gone.text != "[t1 · at the shell's prompt]" {
            assert!(Instant::now() < deadline, "{open}: {}", gone.text);
            gone = client.tool("send", json!({"session": "t1"}));
        }
    }
}

/// A question is told as one by the kernel's word, whatever its text; text alone is never one.
#[test]
fn questions_and_what_looks_like_them() {
    let name = "questions_and_what_looks_like_them";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let mut client = Client::in_session();
    let secret = "python3 -c \"import getpass; print(len(getpass.getpass()))\"";
    for (line, at, hidden) in [
        ("read -p 'Go on? ' x", "Go on?", false),
        ("read x", "", false),
        ("python3 -c 'input()'", "", false),
        (secret, "Password:", true),
    ] {
        let asked = client.run(line);
        assert_eq!(
            (asked.status(), &asked.facts["prompt"]),
            ("waiting", &json!(at)),
            "{line}: {}",
            asked.text
        );
        assert_eq!(
            asked.header().contains("for a secret"),
            hidden,
            "{}",
            asked.text
        );
        assert!(!asked.header().contains("may be"), "{}", asked.text);
        let took = asked.facts["duration_ms"].as_u64().expect("a number");
        let answered = client.run("answer");
        assert_eq!(
            answered.facts["exit_code"], 0,
            "{line} after {took} ms: {}",
            answered.text
        );
    }
    for line in [
        "printf 'cost > 5 $ '; sleep 4",
        "echo 'Running tests:'; sleep 4",
        "sleep 4",
        "printf 'Go on? [y/N] '; sleep 4",
    ] {
        let reply = client.run(line);
        assert_eq!(
            (reply.status(), &reply.facts["exit_code"]),
            ("done", &json!(0)),
            "{line}: {}",
            reply.text
        );
    }
}

/// Long input loses nothing, or nothing of it is typed.
#[test]
fn long_input_arrives_whole_or_not_at_all() {
    let name = "long_input_arrives_whole_or_not_at_all";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let mut client = Client::in_session();
    let home = client.home().to_owned();
    // A line reader's terminal cuts at 4,095 bytes: refused before anything is typed.
    client.run("cat > f");
    let long = "x".repeat(6_000);
    for refused in [
        client.run(&long),
        client.tool("send", json!({"session": "t1", "text": long})),
        client.tool(
            "send",
            json!({"session": "t1", "text": format!("short\n{long}\n")}),
        ),
    ] {
        assert!(
            refused.is_error
                && refused.text.contains("6000 bytes")
                && refused.text.contains("nothing was typed"),
            "{}",
            refused.text
        );
    }
    let most = "y".repeat(4_095);
    client.run(&most);
    // Many short lines, more than a terminal holds.
    let lines: String = (0..334).map(|n| format!("{n:059}\n")).collect();
    client.tool(
        "send",
        json!({"session": "t1", "text": lines, "keys": ["ctrl+d"], "wait_ms": 60_000}),
    );
    let end = client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
    assert_ne!(end.status(), "running", "{}", end.text);
    assert_eq!(
        fs::read_to_string(home.join("f")).expect("cat wrote it"),
        format!("{most}\n{lines}")
    );
    // A reader in raw mode.
    let reader = "import os,sys,tty\ntty.setraw(0)\nprint('ready',end=' ',flush=True)\ngot=b''\nwhile not got.endswith(b'END'): got+=os.read(0,1000)\nopen('g','wb').write(got)\n";
    fs::write(home.join("raw.py"), reader).expect("a file of the test's own");
    let begun = client.run("python3 raw.py; stty sane");
    assert_eq!(begun.facts["prompt"], "ready", "{}", begun.text);
    let raw = format!("{}END", "z".repeat(20_000));
    let sent = client.tool(
        "send",
        json!({"session": "t1", "text": raw, "wait_ms": 60_000}),
    );
    assert_eq!(sent.facts["exit_code"], 0, "{}", sent.text);
    assert_eq!(
        fs::read_to_string(home.join("g")).expect("it wrote it"),
        raw
    );
    // A long line at a shell's prompt.
    let word: String = (0..1200).map(|n| format!("{n:09} ")).collect();
    let echoed = client.run(&format!("printf %s '{word}' > h"));
    assert_eq!(echoed.facts["exit_code"], 0, "{}", echoed.text);
    assert_eq!(
        fs::read_to_string(home.join("h")).expect("the shell wrote it"),
        word
    );
}

/// What is typed where nothing is shown, also key by key, is written down nowhere.
#[test]
fn a_secret_is_in_no_file_whoever_asks() {
    let name = "a_secret_is_in_no_file_whoever_asks";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let mut client = Client::in_session();
    client.run("python3 -c \"import getpass; print(len(getpass.getpass()))\"");
    let answered = client.run_with(
        "hunter2-the-secret",
        json!({"typing": {"wps": 50, "mistakes": 0.2, "seed": 4}}),
    );
    assert_eq!(
        (answered.body().trim(), &answered.facts["exit_code"]),
        ("18", &json!(0)),
        "{}",
        answered.text
    );
    let mut folders = vec![client.home().join("state")];
    while let Some(folder) = folders.pop() {
        for file in fs::read_dir(folder).expect("a folder").flatten() {
            if file.path().is_dir() {
                folders.push(file.path());
                continue;
            }
            let bytes = fs::read(file.path()).expect("a file");
            assert!(!bytes.windows(7).any(|part| part == b"hunter2"), "{file:?}");
        }
    }
    let regions = client.tool("regions", json!({"session": "t1"}));
    assert_eq!(
        regions.text.matches("Password: •••").count(),
        1,
        "{}",
        regions.text
    );
}
