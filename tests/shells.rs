//! Sessions in zsh and fish: as exact as in bash.

use serde_json::{Value, json};

use crate::util::client::Client;
use crate::util::skip::have;

fn check(shell: &str, lines: &[(&str, &str, i32, Value)]) {
    if !have(shell, "tmux") || !have(shell, shell) {
        return;
    }
    let mut client = Client::legacy("2025-11-25");
    let opened = client.open(json!({"name": "t1", "command": shell}));
    assert_eq!(opened.status(), "prompt", "{}", opened.text);
    for (line, output, exit, stages) in lines {
        let reply = client.run(line);
        assert_eq!(reply.body(), *output, "{shell}: {line}: {}", reply.text);
        assert_eq!(
            reply.facts["exit_code"], *exit,
            "{shell}: {line}: {}",
            reply.text
        );
        assert_eq!(
            reply.facts["pipestatus"], *stages,
            "{shell}: {line}: {}",
            reply.text
        );
    }
    // An unfinished command is told, and finished with the next line.
    let open = client.run("echo \"open");
    assert_eq!(open.status(), "waiting", "{shell}: {}", open.text);
    let closed = client.run("close\"");
    assert_eq!(
        (closed.body().as_str(), &closed.facts["exit_code"]),
        ("open\nclose", &json!(0)),
        "{shell}: {}",
        closed.text
    );
    // What the shell itself reads is a question: fish draws it as it draws a prompt.
    let asked = client.run("read line");
    assert!(
        matches!(asked.status(), "waiting" | "prompt"),
        "{shell}: {}",
        asked.text
    );
    client.run("the answer");
    assert_eq!(client.run("echo \"$line\"").body(), "the answer", "{shell}");
    // Half-typed text of somebody else is protected.
    let tmux = client.home().join("tmux");
    let keys = ["-L", "pg", "send-keys", "-t", "=t1:", "rm -i precious"];
    let sent = std::process::Command::new("tmux")
        .args(keys)
        .env("TMUX_TMPDIR", tmux)
        .status();
    assert!(sent.expect("tmux runs").success());
    let deadline = std::time::Instant::now() + crate::util::client::DEADLINE;
    while !client
        .tool("read", json!({"session": "t1"}))
        .text
        .contains("rm -i precious")
    {
        assert!(
            std::time::Instant::now() < deadline,
            "{shell}: the keys do not appear"
        );
    }
    let refused = client.run("echo joined");
    assert!(
        refused.is_error && refused.text.contains("rm -i precious"),
        "{shell}: {}",
        refused.text
    );
    let forced = client.run_with("echo forced", json!({"force": true}));
    assert_eq!(forced.body(), "forced", "{shell}: {}", forced.text);
    let over = client.run("exit 3");
    assert_eq!(over.facts["exit_code"], 3, "{shell}: {}", over.text);
    // The regions are the same to the next server.
    let before = client
        .tool("regions", json!({"session": "t1", "last": 100}))
        .text;
    let mut client = client.killed_and_restarted(|| {});
    assert_eq!(
        client
            .tool("regions", json!({"session": "t1", "last": 100}))
            .text,
        before
    );
}

#[test]
fn zsh() {
    let none = Value::Null;
    check(
        "zsh",
        &[
            ("echo hi", "hi", 0, none.clone()),
            ("false", "", 1, none.clone()),
            ("false | true", "", 0, json!([1, 0])),
            ("printf foo", "foo", 0, none.clone()),
            (
                "nosuch",
                "zsh: command not found: nosuch",
                127,
                none.clone(),
            ),
            ("for i in 1 2; do echo $i; done", "1\n2", 0, none.clone()),
            ("sh -c 'exit 5'", "", 5, none.clone()),
            ("echo é漢字", "é漢字", 0, none),
        ],
    );
}

#[test]
fn fish() {
    let none = Value::Null;
    check(
        "fish",
        &[
            ("echo hi", "hi", 0, none.clone()),
            ("false", "", 1, none.clone()),
            ("false | true", "", 0, json!([1, 0])),
            ("printf foo", "foo", 0, none.clone()),
            ("nosuch", "fish: Unknown command: nosuch", 127, none.clone()),
            ("for i in 1 2; echo $i; end", "1\n2", 0, none.clone()),
            ("sh -c 'exit 5'", "", 5, none.clone()),
            ("echo é漢字", "é漢字", 0, none),
        ],
    );
}

/// fish keeps what is not finished in its editor; the lines after it arrive as they are, within quotes too.
#[test]
fn fish_takes_several_lines_as_they_are() {
    let test = "fish_takes_several_lines_as_they_are";
    if !have(test, "tmux") || !have(test, "fish") {
        return;
    }
    let mut client = Client::legacy_with(&[]);
    client.open(json!({"name": "t1", "command": "fish"}));
    for (lines, printed) in [
        ("echo 'multi\nline'", "multi\nline"),
        (
            r"echo 'it\\s#li\'ne' after".replace('#', "\n").as_str(),
            "it\\s\nli'ne after",
        ),
        ("echo \"a 'b'\n'c' d\"", "a 'b'\n'c' d"),
        ("for i in 1 2\necho 'x'$i\nend", "x1\nx2"),
    ] {
        let ran = client.run(lines);
        assert_eq!(
            (ran.facts["exit_code"].as_i64(), ran.body().as_str()),
            (Some(0), printed),
            "{}",
            ran.text
        );
    }
}
