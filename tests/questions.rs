//! What waits for input is told from what works, and what is answered secretly stays secret.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::util::client::Client;
use crate::util::skip::have;

#[test]
fn questions_are_told_at_once() {
    let name = "questions_are_told_at_once";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let mut client = Client::in_session();
    // The command, what it waits at, an answer, and what comes of it.
    for (line, at, answer, output) in [
        (
            "read -p 'Go on? [y/N] ' x; echo \"got $x\"",
            "Go on? [y/N]",
            "y",
            "got y",
        ),
        (
            "python3 -c 'print(\"got\", input())'",
            "",
            "fine",
            "got fine",
        ),
        (
            "python3 -c 'print(\"got\", input(\"Name: \"))'",
            "Name:",
            "x y",
            "got x y",
        ),
        ("head -n 1", "", "cat", "cat"),
    ] {
        let asked = client.run(line);
        assert_eq!(
            (asked.status(), asked.facts["prompt"].as_str()),
            ("waiting", Some(at)),
            "{line}: {}",
            asked.text
        );
        assert!(!asked.header().contains("may be"), "{}", asked.text);
        let answered = client.run(answer);
        assert_eq!(answered.body(), output, "{line}: {}", answered.text);
        assert_eq!(answered.facts["exit_code"], 0, "{line}: {}", answered.text);
    }
}

#[test]
fn work_is_not_taken_for_a_question() {
    if !have("work_is_not_taken_for_a_question", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    for line in [
        "printf 'cost > 5 $ '; sleep 2",
        "echo 'Running tests:'; sleep 2",
        "sleep 2",
        "printf 'Password: '; sleep 2",
        "printf '>>> '; sleep 2",
    ] {
        let reply = client.run_with(line, json!({"settle_ms": 100}));
        assert_eq!(
            (reply.status(), &reply.facts["exit_code"]),
            ("done", &json!(0)),
            "{line}: {}",
            reply.text
        );
    }
}

#[test]
fn a_secret_is_in_no_file() {
    if !have("a_secret_is_in_no_file", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let asked = client.run("read -s -p 'Password: ' x");
    assert!(
        asked
            .header()
            .contains("waiting for a secret at \"Password:\""),
        "{}",
        asked.text
    );
    let answered = client.run("hunter2-the-secret");
    assert_eq!(answered.facts["exit_code"], 0, "{}", answered.text);
    let proof = client.run("echo ${#x}");
    assert_eq!(proof.body(), "18");
    let regions = client.tool("regions", json!({"session": "t1"}));
    assert!(regions.text.contains("Password: •••"), "{}", regions.text);
    fn search(dir: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(dir).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                search(&path, found);
            } else if fs::read(&path)
                .is_ok_and(|bytes| bytes.windows(7).any(|part| part == b"hunter2"))
            {
                found.push(path.display().to_string());
            }
        }
    }
    let mut found = Vec::new();
    search(&client.home().join("state"), &mut found);
    assert_eq!(found, [] as [&str; 0]);
}

#[test]
fn a_program_at_its_prompt() {
    let name = "a_program_at_its_prompt";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let mut client = Client::in_session();
    let begun = client.run("python3 -q");
    assert_eq!(
        (begun.status(), begun.facts["prompt"].as_str()),
        ("prompt", Some(">>>")),
        "{}",
        begun.text
    );
    let sum = client.run("40 + 2");
    assert_eq!((sum.body().as_str(), sum.status()), ("42", "prompt"));
    let error = client.run("1/0");
    assert!(
        error
            .body()
            .ends_with("ZeroDivisionError: division by zero"),
        "{}",
        error.text
    );
    let asked = client.run("x = input('Who? ')");
    assert_eq!(asked.facts["prompt"], "Who?", "{}", asked.text);
    assert_eq!(client.run("me").status(), "prompt");
    assert_eq!(
        client
            .run("print(x)\nprint(x * 2)")
            .text
            .matches("me")
            .count(),
        3
    );
    let busy = client.run_with("import time; time.sleep(600)", json!({"timeout_s": 1}));
    assert_eq!(busy.status(), "running", "{}", busy.text);
    let stopped = client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
    assert!(
        stopped.body().contains("KeyboardInterrupt"),
        "{}",
        stopped.text
    );
    let end = client.run("exit(3)");
    assert_eq!(end.facts["exit_code"], 3, "{}", end.text);
    assert!(
        end.header().contains("exit 3 (the end of #1: "),
        "{}",
        end.text
    );
}

#[test]
fn a_full_screen_program() {
    let name = "a_full_screen_program";
    if !have(name, "tmux") || !have(name, "vim") {
        return;
    }
    let mut client = Client::in_session();
    let file = client.home().join("note.txt");
    let screen = client.run(&format!("vim -u NONE -N {}", file.display()));
    assert_eq!(
        screen.facts["screen"]["fullscreen"], true,
        "{}",
        screen.text
    );
    let refused = client.run("echo typed into vim");
    assert!(
        refused.is_error && refused.text.contains("nothing was typed"),
        "{}",
        refused.text
    );
    client.tool("send", json!({"session": "t1", "keys": ["i"]}));
    let typed = client.tool(
        "send",
        json!({"session": "t1", "text": "one line; #{x}", "keys": ["escape"]}),
    );
    assert!(typed.body().starts_with("one line; #{x}"), "{}", typed.text);
    let left = client.tool(
        "send",
        json!({"session": "t1", "text": ":wq", "keys": ["enter"]}),
    );
    assert!(
        left.text.contains("#1 was: vim") && left.facts["exit_code"] == 0,
        "{}",
        left.text
    );
    assert_eq!(
        fs::read_to_string(&file).expect("vim wrote it"),
        "one line; #{x}\n"
    );
    // In the log it is one line.
    let read = client.tool("read", json!({"session": "t1"}));
    assert_eq!(
        read.text.matches("[full-screen program").count(),
        1,
        "{}",
        read.text
    );
}
