//! Typing by the tmux client that is ready: the same bytes as by a process per call, and no harm when it goes.

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

/// The process id of the client that is ready: a child of the server that waits for its input.
fn ready(client: &Client) -> Option<i32> {
    let mut found = Vec::new();
    for thread in std::fs::read_dir(format!("/proc/{}/task", client.pid()))
        .ok()?
        .flatten()
    {
        let text = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        found.extend(
            text.split_whitespace()
                .filter_map(|pid| pid.parse::<i32>().ok()),
        );
    }
    found.into_iter().find(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("source-file")
    })
}

/// Waits until there is one.
fn becomes_ready(client: &mut Client) -> i32 {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(pid) = ready(client) {
            return pid;
        }
        assert!(Instant::now() < deadline, "no client gets ready");
        assert_eq!(client.run("echo on").body(), "on");
    }
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
    becomes_ready(&mut client);
    // Longer than what a line for it holds.
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
    for round in 0..5 {
        let pid = becomes_ready(&mut client);
        let killed = Command::new("kill").args(["-9", &pid.to_string()]).status();
        assert!(killed.expect("kill runs").success());
        let reply = client.run("echo two");
        assert_eq!(reply.body(), "two", "{round}: {}", reply.text);
    }
    // It is nobody who is attached.
    becomes_ready(&mut client);
    let list = client.tool("session_list", json!({}));
    assert!(!list.text.contains("attached"), "{}", list.text);
}

#[test]
fn it_ends_with_the_server_and_keeps_no_tmux_alive() {
    if !have("it_ends_with_the_server_and_keeps_no_tmux_alive", "tmux") {
        return;
    }
    let gone = |pid: i32| {
        let deadline = Instant::now() + DEADLINE;
        while std::path::Path::new(&format!("/proc/{pid}")).exists() {
            assert!(Instant::now() < deadline, "{pid} does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let mut client = Client::in_session();
    let server: i32 = tmux(&client, &["display-message", "-p", "#{pid}"])
        .trim()
        .parse()
        .expect("a number");
    // kill -9: nothing of ours can clean up.
    let pid = becomes_ready(&mut client);
    let mut client = client.killed_and_restarted(|| {});
    gone(pid);
    let pid = becomes_ready(&mut client);
    client.close_input();
    assert!(client.exit().success());
    gone(pid);
    tmux(&client, &["kill-server"]);
    gone(server);
}

/// Many sessions are made and closed while clients come and go: tmux has crashed of less.
#[test]
fn tmux_survives_a_crowd() {
    if !have("tmux_survives_a_crowd", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let server = tmux(&client, &["display-message", "-p", "#{pid}"]);
    for round in 0..4 {
        becomes_ready(&mut client);
        let made: Vec<u64> = (0..8)
            .map(|n| {
                let arguments =
                    json!({"name": format!("s{round}-{n}"), "command": "sh -c 'exit 3'"});
                client.begin(
                    "tools/call",
                    json!({"name": "session_create", "arguments": arguments}),
                )
            })
            .collect();
        for _ in 0..4 {
            assert_eq!(client.run("echo on").body(), "on");
        }
        for id in made {
            assert!(client.answer(id)["result"]["isError"] != true);
        }
        let closed: Vec<u64> = (0..8)
            .map(|n| {
                let arguments = json!({"session": format!("s{round}-{n}")});
                client.begin(
                    "tools/call",
                    json!({"name": "session_close", "arguments": arguments}),
                )
            })
            .collect();
        for _ in 0..4 {
            assert_eq!(client.run("echo on").body(), "on");
        }
        for id in closed {
            assert!(client.answer(id)["result"]["isError"] != true);
        }
    }
    assert_eq!(tmux(&client, &["display-message", "-p", "#{pid}"]), server);
}
