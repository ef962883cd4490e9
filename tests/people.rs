//! A person at an attached terminal, beside an agent: neither loses a key to the other.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::util::client::{Client, DEADLINE};
use crate::util::pty::Pty;
use crate::util::skip::have;

/// A person's terminal, attached with the command that session_create gave.
pub struct Person {
    pty: Pty,
    seen: Vec<u8>,
}

impl Person {
    pub fn attach(client: &Client, attach: &str) -> Person {
        let env = [
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("TERM", "xterm-256color".into()),
            ("HOME", client.home().display().to_string()),
        ];
        let env: Vec<(String, String)> = env
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        let pty = Pty::spawn(
            &["sh", "-c", &format!("exec {attach}")],
            &env,
            client.home(),
            (120, 41),
        )
        .expect("a terminal");
        let mut person = Person {
            pty,
            seen: Vec::new(),
        };
        person.sees("t1");
        person
    }

    /// Waits until the text has been drawn since the last call.
    pub fn sees(&mut self, text: &str) {
        let deadline = Instant::now() + DEADLINE;
        while !String::from_utf8_lossy(&self.seen).contains(text) {
            self.pty
                .read(&mut self.seen, Instant::now() + Duration::from_millis(200));
            let seen = String::from_utf8_lossy(&self.seen);
            assert!(
                Instant::now() < deadline,
                "the person does not see {text:?} in {seen:?}"
            );
        }
        self.seen.clear();
    }

    pub fn types(&mut self, keys: &str) {
        self.pty.type_bytes(keys.as_bytes());
    }
}

#[test]
fn half_typed_text_is_protected() {
    if !have("half_typed_text_is_protected", "tmux") {
        return;
    }
    let mut client = Client::legacy("2025-11-25");
    let attach = client.open(json!({"name": "t1"})).facts["attach"]
        .as_str()
        .expect("a command")
        .to_owned();
    let mut person = Person::attach(&client, &attach);
    let list = client.tool("session_list", json!({}));
    assert!(list.text.contains("1 person attached"), "{}", list.text);
    person.types("rm -i precious");
    person.sees("precious");
    // What is refused is not typed, and nobody is told that it was.
    let refused = client.run("echo mine");
    assert!(refused.is_error, "{}", refused.text);
    let list = client.tool("session_list", json!({}));
    assert!(!list.text.contains("you typed"), "{}", list.text);
    for (tool, arguments) in [
        ("run", json!({"session": "t1", "input": "echo mine"})),
        ("send", json!({"session": "t1", "text": "x"})),
        ("send", json!({"session": "t1", "keys": ["enter"]})),
        ("send", json!({"session": "t1", "keys": ["ctrl+c"]})),
    ] {
        let refused = client.tool(tool, arguments);
        assert!(
            refused.is_error && refused.text.contains("rm -i precious"),
            "{}",
            refused.text
        );
    }
    let screen = client.tool("read", json!({"session": "t1", "view": "screen"}));
    assert!(
        screen.body().trim_end().ends_with("rm -i precious"),
        "{}",
        screen.text
    );
    // A wait lasts until the text goes, and says which way; what the person runs is the person's, and told as such.
    let id = client.begin(
        "tools/call",
        json!({"name": "wait", "arguments": {"session": "t1", "timeout_s": 600}}),
    );
    person.types(" || echo by-hand\r");
    let told = client.answer(id)["result"]["content"][0]["text"]
        .as_str()
        .expect("text")
        .to_owned();
    assert!(
        told.contains("a person ran") && told.contains("rm -i precious || echo by-hand"),
        "{told}"
    );
    client.run("true");
    // With force the line is cleared first, and never joined.
    person.types("echo per");
    person.sees("echo per");
    let forced = client.run_with("echo forced", json!({"force": true}));
    assert_eq!(forced.body(), "forced", "{}", forced.text);
    let kept = client.tool("session_close", json!({"session": "t1"}));
    assert!(
        kept.is_error && kept.text.contains("attached"),
        "{}",
        kept.text
    );
}

#[test]
fn copy_mode_is_left_before_typing() {
    if !have("copy_mode_is_left_before_typing", "tmux") {
        return;
    }
    let mut client = Client::legacy("2025-11-25");
    let attach = client.open(json!({"name": "t1"})).facts["attach"]
        .as_str()
        .expect("a command")
        .to_owned();
    client.run("seq 100");
    let mut person = Person::attach(&client, &attach);
    // What the key binding does; keys that come all at once are a paste to tmux, and bindings do not hold.
    let tmux = client.home().join("tmux");
    let entered = std::process::Command::new("tmux")
        .args(["-L", "pg", "copy-mode", "-t", "=t1:"])
        .env("TMUX_TMPDIR", tmux)
        .status();
    assert!(entered.expect("tmux runs").success());
    // tmux shows the position in its copy mode.
    person.sees("[0/");
    assert_eq!(client.run("echo typed").body(), "typed");
    let sent = client.tool("send", json!({"session": "t1", "text": "abc"}));
    assert!(sent.text.contains("not submitted: abc"), "{}", sent.text);
}

#[test]
fn a_resized_window_keeps_lines_whole() {
    if !have("a_resized_window_keeps_lines_whole", "tmux") {
        return;
    }
    let mut client = Client::legacy("2025-11-25");
    let attach = client.open(json!({"name": "t1"})).facts["attach"]
        .as_str()
        .expect("a command")
        .to_owned();
    let person = Person::attach(&client, &attach);
    let line = "x".repeat(150);
    for (cols, rows) in [(70, 20), (200, 50), (90, 30)] {
        person.pty.resize(cols, rows);
        let size = format!("{} {cols}", rows - 1);
        let deadline = Instant::now() + DEADLINE;
        while client.run("stty size").body() != size {
            assert!(
                Instant::now() < deadline,
                "the pane does not follow the window"
            );
        }
        let reply = client.run("printf '%0150d\\n' 0 | tr 0 x");
        assert_eq!(reply.body(), line, "{cols}: {}", reply.text);
        assert_eq!(reply.facts["total_lines"], 1, "{}", reply.text);
    }
    let found = client.tool(
        "search",
        json!({"session": "t1", "pattern": format!("^{line}$")}),
    );
    assert_eq!(found.facts["total_matches"], 3, "{}", found.text);
}
