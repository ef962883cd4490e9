//! What the guide says is so: each claim is done as its topic says.

use std::fs;
use std::path::Path;
use std::time::Instant;

use regex::Regex;
use serde_json::json;

use crate::util::client::{Client, DEADLINE};
use crate::util::reply::Reply;
use crate::util::skip::have;

/// Whether a tool is there and takes the parameter. Says so when not.
fn offers(client: &mut Client, test: &str, tool: &str, parameter: &str) -> bool {
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let found = tools.as_array().into_iter().flatten().any(|offered| {
        offered["name"] == tool && !offered["inputSchema"]["properties"][parameter].is_null()
    });
    if !found {
        println!("SKIP {test}: {tool} with {parameter}");
    }
    found
}

fn numbered(reply: &Reply) -> Vec<(u64, String)> {
    let split = |line: &str| {
        let (number, text) = line.split_once(": ")?;
        Some((number.parse().ok()?, text.to_owned()))
    };
    reply.text.lines().filter_map(split).collect()
}

#[test]
fn patterns() {
    if !have("patterns", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.run("make() { seq 1 500; echo 'part.c:3:1: error: x' >&2; seq 501 900; }");
    // One line for each of the table's rows.
    let plain = client.run("make");
    assert!(
        plain.text.contains("[... ") && plain.text.contains(": part.c:3:1: error: x"),
        "{}",
        plain.text
    );
    let last = client.run_with("make", json!({"last_lines": 20}));
    assert_eq!(
        last.body(),
        (881..=900)
            .map(|n| n.to_string())
            .collect::<Vec<_>>()
            .join("\n")
    );
    let show = client.run_with("make", json!({"show": "error"}));
    assert_eq!(numbered(&show).len(), 1, "{}", show.text);
    let found = client.tool(
        "search",
        json!({"session": "t1", "pattern": "^part.*error: x"}),
    );
    assert_eq!(found.facts["total_matches"], 3, "{}", found.text);
    assert!(
        client
            .run("false | true")
            .header()
            .contains("exit 0 (pipe 1 0)")
    );
    client.run("mkdir src; cd src; x=5; f() { echo in f; }");
    assert!(
        client
            .run("pwd; echo $x; f")
            .body()
            .ends_with("/src\n5\nin f")
    );
    // It runs on when the call returns, and when the server goes.
    let begun = client.run_with("read -t 600 line; (exit 4)", json!({"timeout_s": 0}));
    assert!(
        matches!(begun.status(), "running" | "waiting"),
        "{}",
        begun.text
    );
    let mut client = client.killed_and_restarted(|| {});
    client.tool("send", json!({"session": "t1", "keys": ["enter"]}));
    let regions = client.tool("regions", json!({"session": "t1"}));
    assert!(regions.text.contains("exit 4"), "{}", regions.text);
    client.open(json!({"name": "server"}));
    let until = client.tool("run", json!({
        "session": "server", "input": "echo Listening on 80; sleep 1000", "until": "Listening on", "timeout_s": 60,
    }));
    assert_eq!(until.status(), "until", "{}", until.text);
    // In the moment in which it is started bash loses the first.
    let stops = (0..5).any(|_| {
        let stopped = client.tool("send", json!({"session": "server", "keys": ["ctrl+c"]}));
        stopped.text.contains("exit 130")
    });
    assert!(stops);
    // Several lines: one that asks stops the rest. A heredoc is one command.
    let several = client.run("echo one\nread -p 'Name? ' n\necho three");
    assert_eq!(
        several.facts["unsent"],
        json!(["echo three"]),
        "{}",
        several.text
    );
    client.run("bob");
    let heredoc = client.run("cat <<E\nin it\nE");
    assert_eq!(
        (heredoc.body().as_str(), heredoc.status()),
        ("in it", "done"),
        "{}",
        heredoc.text
    );
}

#[test]
fn programs() {
    if !have("programs", "tmux") || !have("programs", "python3") {
        return;
    }
    let mut client = Client::in_session();
    let prompt = client.run("python3 -q");
    assert!(
        prompt.header().contains("prompt \">>>\""),
        "{}",
        prompt.text
    );
    assert_eq!(client.run("'|'.join(\"it's\")").body(), "\"i|t|'|s\"");
    client.run("x = 41");
    assert_eq!(client.run("x + 1").body(), "42");
    let left = client.run("exit(3)");
    assert_eq!(left.facts["exit_code"], 3, "{}", left.text);
    // Questions, single keys, passwords.
    let question = client.run("read -p 'Overwrite? [y/N] ' a; echo got $a");
    assert!(
        question
            .header()
            .contains("waiting at \"Overwrite? [y/N]\""),
        "{}",
        question.text
    );
    assert_eq!(client.run("y").body(), "got y");
    client.run("read -n 1 -p 'Key? ' k; echo; echo key $k");
    let key = client.tool("send", json!({"session": "t1", "text": "q"}));
    assert!(key.text.contains("key q"), "{}", key.text);
    let secret = client.run("read -s -p 'Password: ' p");
    assert!(
        secret.header().contains("waiting for a secret"),
        "{}",
        secret.text
    );
    client.tool("send", json!({"session": "t1", "text": "hunter2\n"}));
    let found = client.tool("search", json!({"session": "t1", "pattern": "hunter2"}));
    assert_eq!(found.facts["total_matches"], 0, "{}", found.text);
    // A shell that does not mark its commands.
    client.run("PS1='$ ' sh");
    let plain = client.run("echo in sh; false");
    assert_eq!(plain.body(), "in sh");
    assert!(plain.facts.get("exit_code").is_none(), "{}", plain.text);
    client.run("exit");
    if have("programs", "gdb") {
        let gdb = client.run("gdb -q sleep");
        assert!(gdb.header().contains("prompt \"(gdb)\""), "{}", gdb.text);
        client.run("set pagination off");
        let begun = client.run_with("run 1000", json!({"until": "Starting program"}));
        assert_eq!(begun.status(), "until", "{}", begun.text);
        client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
        let deadline = Instant::now() + DEADLINE;
        while client.tool("send", json!({"session": "t1"})).status() != "prompt" {
            assert!(Instant::now() < deadline, "(gdb) does not come back");
        }
        let found = client.tool(
            "search",
            json!({"session": "t1", "pattern": "received signal SIGINT"}),
        );
        assert_eq!(found.facts["total_matches"], 1, "{}", found.text);
        // It asks whether to kill what it debugs.
        client.run("kill");
        client.run("y");
        client.run("quit");
    }
    if offers(&mut client, "programs", "expect", "respond") {
        let answered = client.tool("expect", json!({
            "session": "t1", "input": "read -p 'Name: ' n; read -p 'Overwrite? ' o; echo $n $o",
            "respond": [{"pattern": "Overwrite", "line": "y"}, {"pattern": "Name:", "line": "shop"}],
        }));
        assert!(answered.text.contains("shop y"), "{}", answered.text);
        let unanswered = client.tool("expect", json!({
            "session": "t1", "input": "read -p 'Colour? ' c", "respond": [{"pattern": "Name:", "line": "shop"}],
        }));
        assert_eq!(unanswered.status(), "unanswered", "{}", unanswered.text);
        client.run("red");
    }
    if offers(&mut client, "programs", "send", "signal") {
        client.run_with(
            "sh -c 'trap \"\" INT; echo on; while :; do read -t 1 x; done'",
            json!({"until": "on"}),
        );
        client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
        client.tool("send", json!({"session": "t1", "signal": "KILL"}));
        assert_eq!(client.run("echo back").body(), "back");
    }
}

#[test]
fn output() {
    if !have("output", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.run("mkfifo go");
    let begun = client.run_with(
        "seq 1 3; cat go; seq 4 6; (exit 2)",
        json!({"until": "^3$"}),
    );
    assert_eq!(begun.status(), "until", "{}", begun.text);
    // Another session is free at once.
    client.open(json!({"name": "t2"}));
    let beside = client.tool("run", json!({"session": "t2", "input": "echo beside"}));
    assert_eq!(beside.body(), "beside");
    fs::write(client.home().join("go"), "").expect("the fifo has a reader");
    let end = client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
    assert_eq!(
        (end.body().as_str(), &end.facts["exit_code"]),
        ("4\n5\n6", &json!(2)),
        "{}",
        end.text
    );
    // Long output.
    let long = client.run("seq -f 'line %g' 1 1000");
    assert_eq!(long.body().lines().count(), 81, "{}", long.text);
    let region = long.facts["region"].clone();
    let first = long.facts["first_line"].as_u64().expect("a number");
    let omitted = long.facts["omitted"].clone();
    assert_eq!(omitted, json!([first + 40, first + 959]));
    let found = client.tool(
        "search",
        json!({"session": "t1", "pattern": "line .*7", "region": region}),
    );
    assert_eq!(found.facts["total_matches"], 271, "{}", found.text);
    let shown = found
        .text
        .lines()
        .filter(|line| Regex::new(r"^\d+: ").expect("valid").is_match(line));
    assert_eq!(shown.count(), 20, "{}", found.text);
    let page = client.tool(
        "read",
        json!({"session": "t1", "start": first + 499, "limit": 100}),
    );
    let lines = numbered(&page);
    assert_eq!((lines.len(), lines[0].1.as_str()), (100, "line 500"));
    let show = client.run_with(
        "seq -f 'line %g' 1 1000",
        json!({"show": "line 500$", "show_after": 3}),
    );
    assert_eq!(show.body().lines().count(), 1 + 3 + 3, "{}", show.text);
    // A progress bar is one line; colours are in none.
    let bar = client.run(
        "for n in $(seq 300); do printf '\\rstep %d' $n; done; printf '\\n\\e[31mred\\e[0m\\n'",
    );
    assert_eq!(bar.body(), "step 300\nred");
    let raw = client.tool("read", json!({"session": "t1", "view": "raw"}));
    assert!(raw.text.contains("\\e[31mred"), "{}", raw.text);
    let screen = client.tool("read", json!({"session": "t1", "view": "screen"}));
    assert!(screen.header().contains("cursor row"), "{}", screen.text);
    // The log's file has the same numbers.
    let text =
        fs::read_to_string(client.home().join("state/sessions/t1/session.txt")).expect("a log");
    assert_eq!(text.lines().nth(first as usize - 1), Some("line 1"));
    if offers(&mut client, "output", "run", "save_to") {
        client.run_with("seq 1 500; echo err >&2", json!({"save_to": "build.log"}));
        let saved = fs::read_to_string(client.home().join("build.log")).expect("a file");
        assert!(saved.starts_with("1\n2\n") && saved.ends_with("500\nerr\n"));
    }
    // Closed sessions are read as open ones are.
    client.tool("session_close", json!({"session": "t1"}));
    let late = client.tool("read", json!({"session": "t1", "start": first, "limit": 1}));
    assert_eq!(numbered(&late)[0].1, "line 1");
    let kept = client.tool("session_logs", json!({"session": "t1", "action": "keep"}));
    assert!(kept.text.contains("its logs are kept"), "{}", kept.text);
}

#[test]
fn fullscreen() {
    if !have("fullscreen", "tmux") || !have("fullscreen", "vim") || !have("fullscreen", "less") {
        return;
    }
    let mut client = Client::in_session();
    let file = client.home().join("note");
    let up = client.run("vim -u NONE -N note");
    assert_eq!(up.facts["screen"]["fullscreen"], true, "{}", up.text);
    let refused = client.run("echo typed");
    assert!(
        refused.is_error && refused.text.contains("nothing was typed"),
        "{}",
        refused.text
    );
    let unknown = client.tool(
        "send",
        json!({"session": "t1", "text": "x", "keys": ["hyper+x"]}),
    );
    assert!(
        unknown.is_error && unknown.text.contains("Nothing was typed"),
        "{}",
        unknown.text
    );
    client.tool("send", json!({"session": "t1", "text": "ione\ntwo"}));
    client.tool("send", json!({"session": "t1", "keys": ["escape"]}));
    let still = client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
    assert_eq!(still.facts["screen"]["fullscreen"], true, "{}", still.text);
    client.tool(
        "send",
        json!({"session": "t1", "text": ":wq", "keys": ["enter"]}),
    );
    client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
    assert_eq!(
        fs::read_to_string(file).expect("what was written"),
        "one\ntwo\n"
    );
    client.run("seq 1 500 > many");
    let top = client.run("less many");
    assert!(top.text.contains("\n1\n2\n"), "{}", top.text);
    let next = client.tool("send", json!({"session": "t1", "keys": ["space"]}));
    assert!(!next.text.contains("\n1\n2\n"), "{}", next.text);
    let found = client.tool("send", json!({"session": "t1", "text": "/^400\n"}));
    assert!(found.text.contains("\n400\n401\n"), "{}", found.text);
    let now = client.tool("send", json!({"session": "t1"}));
    assert!(now.text.contains("\n400\n"), "{}", now.text);
    if offers(&mut client, "fullscreen", "send", "screen") {
        let changed = client.tool(
            "send",
            json!({"session": "t1", "keys": ["down"], "screen": "changes"}),
        );
        assert!(changed.text.len() < now.text.len() * 2, "{}", changed.text);
    }
    client.tool("send", json!({"session": "t1", "keys": ["q"]}));
    client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
    // The screen is not in the log.
    let log = client.tool("search", json!({"session": "t1", "pattern": "^401$"}));
    assert_eq!(log.facts["total_matches"], 0, "{}", log.text);
}

/// The user's side of sharing is in people.rs: text on the prompt line, wait, session_close.
#[test]
fn sharing() {
    if !have("sharing", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let home = client.home().to_owned();
    let go = home.join("go");
    client.run(&format!("mkfifo {}", go.display()));
    client.run_with(
        &format!("echo begun; cat {}; echo done-later", go.display()),
        json!({"until": "begun"}),
    );
    // Sessions and what runs in them outlive the server.
    let mut client = client.killed_and_restarted(|| finish(&go));
    let list = client.tool("session_list", json!({}));
    assert!(
        list.text.contains("opened by black-box") && list.text.contains("last output"),
        "{}",
        list.text
    );
    client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
    let found = client.tool(
        "search",
        json!({"session": "t1", "pattern": "^done-later$"}),
    );
    assert_eq!(found.facts["total_matches"], 1, "{}", found.text);
    let over = client.run("exit");
    assert_eq!(over.status(), "closed", "{}", over.text);
}

fn finish(fifo: &Path) {
    fs::write(fifo, "").expect("the fifo has a reader");
}
