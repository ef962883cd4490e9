//! Typing by the tmux client that stays: the same bytes as by a process per call, and no harm when it goes.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::util::client::{Client, DEADLINE, SOCKET};
use crate::util::skip::have;

/// What tmux says on our server.
fn tmux(client: &Client, words: &[&str]) -> String {
    let output = Command::new("tmux")
        .args(["-L", SOCKET])
        .args(words)
        .env("TMUX_TMPDIR", client.home().join("tmux"))
        .output()
        .expect("tmux runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The process id of the client that stays.
fn staying(client: &Client) -> Option<i32> {
    let clients = tmux(
        client,
        &[
            "list-clients",
            "-F",
            "#{client_control_mode} #{client_pid} #{client_session}",
        ],
    );
    let line = clients.lines().find(|line| line.starts_with("1 "))?;
    assert!(line.contains(" (paneglass "), "{line}");
    line.split(' ').nth(1)?.parse().ok()
}

#[test]
fn every_text_arrives_as_it_is() {
    if !have("every_text_arrives_as_it_is", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let ascii: String = (' '..='~').collect();
    let texts = [
        ascii.as_str(),
        "a;",
        ";",
        "~",
        "~/x",
        "$HOME ${x} #{pane_id} #(date) %if %H",
        "it's \"both\" \\ \\n \\101 \\u00e9",
        "é漢字🙂 e\u{301}",
        "{ } %% ## # no comment",
        "-n",
        "a\tb",
    ];
    for round in 0..2 {
        for text in texts {
            let line = format!("printf '%s\\n' '{}'", text.replace('\'', r"'\''"));
            // A tab is shown as the blanks that a terminal makes of it.
            let shown = text.replace('\t', "       ");
            let reply = client.run(&line);
            assert_eq!(reply.body(), shown, "round {round}: {}", reply.text);
        }
    }
    assert!(staying(&client).is_some(), "it went another way");
    // Longer than what goes by the client that stays.
    let long = "x".repeat(40_000);
    let reply = client.run(&format!("printf %s {long} | wc -c"));
    assert_eq!(reply.body(), "40000");
}

#[test]
fn a_lost_client_costs_nothing() {
    if !have("a_lost_client_costs_nothing", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    for _ in 0..3 {
        assert_eq!(client.run("echo one").body(), "one");
    }
    let list = client.tool("session_list", json!({}));
    assert!(!list.text.contains("attached:"), "{}", list.text);
    assert!(!list.text.contains("1 person"), "{}", list.text);

    let pid = staying(&client).expect("a client that stays");
    let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(killed.expect("kill runs").success());
    let reply = client.run("echo two");
    assert_eq!(reply.body(), "two", "{}", reply.text);

    // As a person's `detach-client -a` would.
    let deadline = Instant::now() + DEADLINE;
    while staying(&client).is_none() {
        assert!(Instant::now() < deadline, "no other client was started");
        assert_eq!(client.run("echo three").body(), "three");
    }
    tmux(&client, &["detach-client", "-a"]);
    for name in tmux(&client, &["list-clients", "-F", "#{client_name}"]).lines() {
        tmux(&client, &["detach-client", "-t", name]);
    }
    let reply = client.run("echo four");
    assert_eq!(reply.body(), "four", "{}", reply.text);
}

#[test]
fn what_it_is_attached_to_goes_with_the_server() {
    if !have("what_it_is_attached_to_goes_with_the_server", "tmux") {
        return;
    }
    let sessions = |client: &Client| tmux(client, &["list-sessions", "-F", "#{session_name}"]);
    let kept = |client: &Client| sessions(client).matches("(paneglass ").count();
    let mut client = Client::in_session();
    for _ in 0..3 {
        client.run("true");
    }
    assert_eq!(kept(&client), 1);
    // After kill -9 nothing of the old one can clean up; the new one does, when it has a client of its own.
    let mut client = client.killed_and_restarted(|| {});
    let deadline = Instant::now() + DEADLINE;
    while staying(&client).is_some() {
        assert!(Instant::now() < deadline, "{}", sessions(&client));
        std::thread::sleep(Duration::from_millis(5));
    }
    for _ in 0..3 {
        assert_eq!(client.run("echo on").body(), "on");
    }
    assert_eq!(kept(&client), 1, "{}", sessions(&client));
    client.close_input();
    assert!(client.exit().success());
    assert_eq!(sessions(&client), "t1\n");
}

/// tmux 3.3a crashed in half of the ends of a control client whose session had `destroy-unattached` set, and took
/// every session with it.
#[test]
fn tmux_survives_its_end() {
    if !have("tmux_survives_its_end", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    for round in 0..12 {
        for _ in 0..3 {
            assert_eq!(client.run("echo on").body(), "on", "round {round}");
        }
        client = client.killed_and_restarted(|| {});
    }
    // Nor does its end hang when the server of ours was killed: 3.3a waits for a control client to be read.
    let pid = tmux(&client, &["display-message", "-p", "#{pid}"]);
    for _ in 0..3 {
        client.run("true");
    }
    let client = client.killed_and_restarted(|| {});
    tmux(&client, &["kill-server"]);
    let alive = || std::path::Path::new("/proc").join(pid.trim()).exists();
    let deadline = Instant::now() + DEADLINE;
    while alive() {
        assert!(Instant::now() < deadline, "the tmux server does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}
