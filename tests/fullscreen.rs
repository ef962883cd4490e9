//! Full-screen programs, driven by keys: what they do is checked on disk where they write, on their screen where
//! they do not.

use std::fs;

use serde_json::json;

use crate::util::client::Client;
use crate::util::reply::Reply;
use crate::util::skip::have;

/// Starts a program that must come up on the whole screen.
fn open(client: &mut Client, line: &str) -> Reply {
    let screen = client.run(line);
    assert_eq!(
        screen.facts["screen"]["fullscreen"], true,
        "{}",
        screen.text
    );
    // It is named, and what to do is said.
    let name = line.split(' ').next().unwrap_or_default();
    assert!(
        screen
            .text
            .contains(&format!("[{name} has the whole screen: `send` keys")),
        "{}",
        screen.text
    );
    screen
}

fn keys(client: &mut Client, text: &str, keys: &[&str]) -> Reply {
    client.tool(
        "send",
        json!({"session": "t1", "text": text, "keys": keys, "wait_ms": 20_000}),
    )
}

/// It has ended well, and its screen is one line of the log.
fn closed(client: &mut Client, reply: &Reply, line: &str) {
    assert_eq!(reply.facts["exit_code"], 0, "{line}: {}", reply.text);
    assert!(
        reply.text.contains(&format!("was: {line}]")),
        "{}",
        reply.text
    );
    let after = client.run("echo after");
    assert_eq!(after.body(), "after", "{}", after.text);
}

#[test]
fn vim_edits_a_file() {
    if !have("vim_edits_a_file", "tmux") || !have("vim_edits_a_file", "vim") {
        return;
    }
    let mut client = Client::in_session();
    let file = client.home().join("notes.txt");
    fs::write(&file, "one\ntwo\nthree\nfour\n").expect("a file of the test's own");
    open(&mut client, "vim -u NONE -N notes.txt");
    // Delete a line, put it back below, append to a line, replace everywhere, a new line with quotes and a tab.
    keys(&mut client, "jddp", &[]);
    keys(&mut client, "A", &[]);
    keys(&mut client, " and more; #{x} %H", &["escape"]);
    keys(&mut client, ":%s/o/0/g", &["enter"]);
    let typed = keys(&mut client, "Go\"quoted\"\tend", &["escape"]);
    assert!(typed.body().contains("\"qu"), "{}", typed.text);
    let left = keys(&mut client, ":wq", &["enter"]);
    closed(&mut client, &left, "vim -u NONE -N notes.txt");
    assert_eq!(
        fs::read_to_string(&file).expect("vim wrote it"),
        "0ne\nthree\ntw0 and m0re; #{x} %H\nf0ur\n\"quoted\"\tend\n"
    );
}

#[test]
fn nano_edits_a_file() {
    if !have("nano_edits_a_file", "tmux") || !have("nano_edits_a_file", "nano") {
        return;
    }
    let mut client = Client::in_session();
    let file = client.home().join("n.txt");
    fs::write(&file, "first\nlast\n").expect("a file of the test's own");
    open(&mut client, "nano -I n.txt");
    keys(&mut client, "", &["down", "home"]);
    keys(&mut client, "middle\n", &[]);
    let asked = keys(&mut client, "", &["ctrl+o"]);
    assert!(asked.body().contains("n.txt"), "{}", asked.text);
    keys(&mut client, "", &["enter"]);
    let left = keys(&mut client, "", &["ctrl+x"]);
    closed(&mut client, &left, "nano -I n.txt");
    assert_eq!(
        fs::read_to_string(&file).expect("nano wrote it"),
        "first\nmiddle\nlast\n"
    );
}

#[test]
fn less_pages_and_searches() {
    if !have("less_pages_and_searches", "tmux") || !have("less_pages_and_searches", "less") {
        return;
    }
    let mut client = Client::in_session();
    let lines: String = (1..=500).map(|n| format!("line {n}\n")).collect();
    fs::write(client.home().join("long"), lines).expect("a file of the test's own");
    let first = open(&mut client, "less long");
    assert!(
        first.body().starts_with("line 1\nline 2\n"),
        "{}",
        first.text
    );
    let refused = client.run("echo typed into less");
    assert!(
        refused.is_error && refused.text.contains("less has the whole screen"),
        "{}",
        refused.text
    );
    let paged = keys(&mut client, "", &["pagedown"]);
    assert!(
        paged.body().contains("line 40\n") && !paged.body().contains("line 3\n"),
        "{}",
        paged.text
    );
    let found = keys(&mut client, "/line 321$", &["enter"]);
    assert!(found.body().starts_with("line 321\n"), "{}", found.text);
    let end = keys(&mut client, "G", &[]);
    assert!(end.body().contains("line 500\n"), "{}", end.text);
    let left = keys(&mut client, "q", &[]);
    closed(&mut client, &left, "less long");
    // At the end of a pipe it reads the terminal all the same.
    let piped = open(&mut client, "less -f /dev/fd/3 3< <(seq 1000)");
    assert!(piped.body().starts_with("1\n2\n"), "{}", piped.text);
    keys(&mut client, "q", &[]);
    assert_eq!(client.run("echo after").body(), "after");
}

#[test]
fn top_and_htop_show_themselves() {
    let name = "top_and_htop_show_themselves";
    for (program, line) in [("top", "top -d 0.5"), ("htop", "htop -d 5")] {
        if !have(name, "tmux") || !have(name, program) {
            return;
        }
        let mut client = Client::in_session();
        let screen = open(&mut client, line);
        assert!(screen.body().contains("PID"), "{}", screen.text);
        // It draws on by itself: nothing to send shows the screen of now.
        let again = client.tool("send", json!({"session": "t1", "wait_ms": 100}));
        assert_eq!(again.facts["screen"]["fullscreen"], true, "{}", again.text);
        let left = keys(&mut client, "q", &[]);
        let left = if left.facts["exit_code"].is_null() {
            client.tool("wait", json!({"session": "t1", "timeout_s": 60}))
        } else {
            left
        };
        assert_eq!(left.facts["exit_code"], 0, "{}", left.text);
        assert_eq!(client.run("echo after").body(), "after");
        let read = client.tool("read", json!({"session": "t1"}));
        assert!(read.text.lines().count() < 12, "{}", read.text);
    }
}
