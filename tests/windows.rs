//! Windows of several terminals: split by an agent, split by a person, sized and closed.

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
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

/// Waits until session_list names the session.
fn listed(client: &mut Client, name: &str) -> String {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let list = client.tool("session_list", json!({})).text;
        if let Some(line) = list
            .lines()
            .find(|line| line.starts_with(&format!("{name} ·")))
        {
            return line.to_owned();
        }
        assert!(Instant::now() < deadline, "{name} is not in\n{list}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_split_is_a_session_of_its_own() {
    if !have("a_split_is_a_session_of_its_own", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.run("cd /usr");
    let split = client.tool("session_split", json!({"session": "t1", "size": "40"}));
    assert!(!split.is_error, "{}", split.text);
    assert!(
        split.header().starts_with("[t1+1 · bash · 40x40"),
        "{}",
        split.text
    );
    let attach = split.facts["attach"].as_str().expect("a command");
    assert!(
        attach.contains("=t1") && attach.contains("select-pane"),
        "{attach}"
    );
    let below = client.tool(
        "session_split",
        json!({"session": "t1+1", "name": "low", "below": true, "size": "25%"}),
    );
    assert!(
        below.header().starts_with("[low · bash · 40x"),
        "{}",
        below.text
    );
    // Each has its own output, its own folder to begin with, and its own width.
    for (name, width) in [("t1", "79"), ("t1+1", "40"), ("low", "40")] {
        let reply = client.tool(
            "run",
            json!({"session": name, "input": "pwd; stty size | cut -d' ' -f2"}),
        );
        assert_eq!(
            reply.body(),
            format!("/usr\n{width}"),
            "{name}: {}",
            reply.text
        );
        assert_eq!(reply.facts["exit_code"], 0, "{}", reply.text);
    }
    // A person's keys still go to the first.
    assert_eq!(
        tmux(
            &client,
            &["display-message", "-p", "-t", "=t1:", "#{pane_index}"]
        ),
        "0"
    );
    let wrong = client.tool("session_split", json!({"session": "t1", "size": "half"}));
    assert!(
        wrong.is_error && wrong.text.contains("`size`"),
        "{}",
        wrong.text
    );
    // A window without room for one more: nothing is left behind.
    let names = |client: &Client| {
        let entries = std::fs::read_dir(client.home().join("state/sessions")).expect("a folder");
        entries.flatten().count()
    };
    let refused = (0..20).find_map(|_| {
        let before = names(&client);
        let reply = client.tool("session_split", json!({"session": "low", "below": true}));
        reply
            .is_error
            .then(|| (reply.text, names(&client) - before))
    });
    let (text, left) = refused.expect("no window has room for so many");
    assert!(text.contains("no space"), "{text}");
    assert_eq!(left, 0);
    let others = client.tool("session_list", json!({})).text;
    for line in others
        .lines()
        .filter(|line| line.starts_with("t1+") && !line.starts_with("t1+1 "))
    {
        let name = line.split(' ').next().expect("a name");
        client.tool("session_close", json!({"session": name}));
    }

    // One that goes leaves the others; the name of the window stays taken while one stands in it.
    client.tool("session_close", json!({"session": "t1"}));
    let refused = client.tool("session_create", json!({"name": "t1"}));
    assert!(
        refused.is_error && refused.text.contains("stands in"),
        "{}",
        refused.text
    );
    let reply = client.tool("run", json!({"session": "t1+1", "input": "echo on"}));
    assert_eq!(reply.body(), "on", "{}", reply.text);

    // So does one that has ended and shows its last screen.
    client.tool("session_create", json!({"name": "u1"}));
    client.tool(
        "session_split",
        json!({"session": "u1", "command": "sh -c 'exit 3'"}),
    );
    client.tool("session_close", json!({"session": "u1"}));
    let refused = client.tool("session_create", json!({"name": "u1"}));
    assert!(
        refused.is_error && refused.text.contains("stands in"),
        "{}",
        refused.text
    );
    client.tool("session_close", json!({"session": "u1+1"}));
    let free = client.tool("session_create", json!({"name": "u1"}));
    assert!(!free.is_error, "{}", free.text);
    client.tool("session_close", json!({"session": "u1"}));

    // Over a restart too.
    let mut client = client.killed_and_restarted(|| {});
    let reply = client.tool("run", json!({"session": "t1+1", "input": "echo still"}));
    assert_eq!(reply.body(), "still", "{}", reply.text);
    let closed = client.tool("session_close", json!({"session": "t1+1", "window": true}));
    assert!(
        closed.text.contains("closed with it: low"),
        "{}",
        closed.text
    );
    let list = client.tool("session_list", json!({}));
    assert!(list.header().contains("0 open"), "{}", list.text);
}

#[test]
fn a_pane_that_a_person_makes_becomes_a_session() {
    if !have("a_pane_that_a_person_makes_becomes_a_session", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    // What tmux's own keys do.
    let program = "PS1='mine$ ' HISTFILE= exec bash --norc --noprofile";
    tmux(
        &client,
        &[
            "split-window",
            "-t",
            "=t1:",
            "-e",
            "PATH=/usr/bin:/bin",
            program,
        ],
    );
    let line = listed(&mut client, "t1+1");
    assert!(line.contains("opened by a person"), "{line}");
    let reply = client.tool("run", json!({"session": "t1+1", "input": "echo $((6*7))"}));
    assert_eq!(reply.body(), "42", "{}", reply.text);
    // Without markers no status is invented.
    assert!(reply.facts["exit_code"].is_null(), "{}", reply.text);

    // What it showed before is in its log, and what it printed meanwhile once.
    tmux(
        &client,
        &[
            "new-window",
            "-t",
            "=t1:",
            "for i in $(seq 400); do echo line $i; done; exec cat",
        ],
    );
    listed(&mut client, "t1+2");
    let reply = client.tool("send", json!({"session": "t1+2", "text": "typed\n"}));
    assert!(reply.text.contains("typed"), "{}", reply.text);
    let deadline = Instant::now() + DEADLINE;
    loop {
        let found = client.tool(
            "search",
            json!({"session": "t1+2", "pattern": "^line 400$"}),
        );
        if found.facts["total_matches"] == 1 {
            break;
        }
        assert!(Instant::now() < deadline, "{}", found.text);
    }
    let found = client.tool(
        "search",
        json!({"session": "t1+2", "pattern": "^line \\d+$", "max_results": 1}),
    );
    let total = found.facts["total_matches"].as_u64().expect("a number");
    assert!(total <= 400, "{}", found.text);

    // Its log goes on over a restart.
    let mut client = client.killed_and_restarted(|| {});
    let again = client.tool(
        "search",
        json!({"session": "t1+2", "pattern": "^line \\d+$", "max_results": 1}),
    );
    assert_eq!(again.facts["total_matches"], total, "{}", again.text);
    // A person who ends its shell wants the pane gone.
    client.tool("run", json!({"session": "t1+1", "input": "exit"}));
    let panes = tmux(
        &client,
        &["list-panes", "-s", "-t", "=t1", "-F", "#{pane_id}"],
    );
    assert_eq!(panes.lines().count(), 2, "{panes}");
}

#[test]
fn a_size_is_kept_or_followed() {
    if !have("a_size_is_kept_or_followed", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let reply = client.tool("session_resize", json!({"session": "t1", "cols": 100}));
    assert_eq!(reply.header(), "[t1 · 100x40 · fixed]", "{}", reply.text);
    let reply = client.tool(
        "session_resize",
        json!({"session": "t1", "rows": 30, "cols": 90}),
    );
    assert_eq!(reply.facts["screen"], json!({"cols": 90, "rows": 30}));
    assert_eq!(client.run("stty size").body(), "30 90");
    let option = ["show-options", "-w", "-v", "-t", "=t1:", "window-size"];
    assert_eq!(tmux(&client, &option), "manual");
    let reply = client.tool("session_resize", json!({"session": "t1", "fixed": false}));
    assert!(reply.header().contains("follows"), "{}", reply.text);
    assert_eq!(tmux(&client, &option), "");
    let reply = client.tool("session_resize", json!({"session": "t1", "fixed": true}));
    assert_eq!(reply.header(), "[t1 · 90x30 · fixed]", "{}", reply.text);
    assert_eq!(tmux(&client, &option), "manual");
    for wrong in [
        json!({"session": "t1"}),
        json!({"session": "t1", "cols": 1}),
        json!({"session": "none", "cols": 80}),
    ] {
        assert!(client.tool("session_resize", wrong).is_error);
    }
    // One of two panes: as far as the window has room.
    client.tool("session_split", json!({"session": "t1"}));
    let reply = client.tool("session_resize", json!({"session": "t1+1", "cols": 20}));
    assert_eq!(reply.facts["screen"]["cols"], 20, "{}", reply.text);
    let reply = client.tool("session_resize", json!({"session": "t1+1", "cols": 500}));
    assert!(reply.text.contains("no room"), "{}", reply.text);
}
