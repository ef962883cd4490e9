//! Sessions are made, ended, closed and made again, and leave nothing behind when they cannot be.

use std::fs;

use serde_json::{Value, json};

use crate::util::client::Client;
use crate::util::skip::have;

fn entries(client: &Client) -> Vec<String> {
    let Ok(dir) = fs::read_dir(client.home().join("state/sessions")) else {
        return Vec::new();
    };
    let mut names: Vec<String> = dir
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn bad_requests_leave_nothing_behind() {
    if !have("bad_requests_leave_nothing_behind", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let bad: &[(Value, &str)] = &[
        (json!({"name": "a.b"}), "letters, digits, _ and -"),
        (json!({"name": "a:b"}), "letters, digits, _ and -"),
        (json!({"name": ""}), "letters, digits, _ and -"),
        (json!({"name": "x".repeat(65)}), "1 to 64"),
        (json!({"name": "t1"}), "is open already"),
        (json!({"cwd": "/nonexistent"}), "cannot be entered"),
        (json!({"cwd": "relative"}), "not absolute"),
        (json!({"cwd": "/etc/passwd"}), "cannot be entered"),
        (json!({"command": "no-such-program --x"}), "was not found"),
        (json!({"command": "  "}), "command is empty"),
        (json!({"command": "a\u{1b}b"}), "control character U+001B"),
        (json!({"cols": 5}), "`cols` must be a whole number from 10"),
        (json!({"rows": 1.5}), "`rows` must be a whole number from 2"),
        (
            json!({"env": {"A": 1}}),
            "an object whose values are strings",
        ),
        (json!({"env": {"A=B": "x"}}), "no environment holds"),
        (json!({"env": {"BIG": "x".repeat(70_000)}}), "at most 65536"),
        (
            json!({"prompt_pattern": "("}),
            "is not a regular expression",
        ),
        (json!({"nmae": "x"}), "no argument `nmae`"),
    ];
    for (arguments, reason) in bad {
        let reply = client.tool("session_create", arguments.clone());
        assert!(
            reply.is_error && reply.text.contains(reason),
            "{arguments}: {}",
            reply.text
        );
        assert!(!reply.text.contains('\n'), "{arguments}: {}", reply.text);
    }
    assert_eq!(entries(&client), ["t1"]);
    let list = client.tool("session_list", json!({}));
    assert!(list.header().contains("1 session, 1 open"), "{}", list.text);
}

#[test]
fn without_tmux_it_says_what_to_install() {
    let mut client = Client::legacy_with(&[("PANEGLASS_TMUX", "/nonexistent/tmux")]);
    let reply = client.tool("session_create", json!({}));
    assert!(
        reply.is_error && reply.text.contains("install tmux 3.2a or newer"),
        "{}",
        reply.text
    );
    assert_eq!(entries(&client), [] as [&str; 0]);
}

#[test]
fn cwd_env_size_and_command() {
    if !have("cwd_env_size_and_command", "tmux") {
        return;
    }
    let mut client = Client::legacy_with(&[
        ("FROM_SERVER", "kept"),
        ("TERM", "dumb"),
        ("TMUX", "/other,1,2"),
    ]);
    let odd = client.home().join("odd #{x} 'name;");
    fs::create_dir(&odd).expect("a folder");
    let reply = client.open(json!({
        "name": "t1", "cwd": odd, "cols": 90, "rows": 30, "env": {"EXTRA": "a b;#{c}'\"$d", "FROM_SERVER": "changed"}
    }));
    assert!(
        reply.header().starts_with("[t1 · bash · 90x30 · "),
        "{}",
        reply.text
    );
    assert_eq!(client.run("pwd").body(), odd.display().to_string());
    assert_eq!(
        client
            .run("printf '%s\\n' \"$EXTRA\" \"$FROM_SERVER\" $TERM")
            .body(),
        "a b;#{c}'\"$d\nchanged\ntmux-256color"
    );
    assert_eq!(client.run("stty size").body(), "30 90");
    assert_eq!(client.run("env | grep -c PANEGLASS_HOME").body(), "0");
    // tmux in the pane is the pane's own, not the one that the server was started in.
    assert!(!client.run("echo $TMUX").body().starts_with("/other"));
    let attach = reply.facts["attach"]
        .as_str()
        .expect("a command")
        .to_owned();
    assert!(
        reply.text.lines().any(|line| line == attach),
        "{}",
        reply.text
    );
    let shown = std::process::Command::new("sh")
        .args([
            "-c",
            &attach.replace("attach -t", "list-panes -F '#{pane_width}' -t"),
        ])
        .output();
    assert_eq!(
        String::from_utf8_lossy(&shown.expect("sh runs").stdout),
        "90\n"
    );
}

#[test]
fn no_locale_and_wide_text() {
    if !have("no_locale_and_wide_text", "tmux") {
        return;
    }
    for locale in ["", "C"] {
        let mut client = Client::legacy_with(&[("LC_ALL", locale), ("LANG", ""), ("LC_CTYPE", "")]);
        client.open(json!({"name": "t1"}));
        assert_eq!(
            client.run("echo 'é漢字🙂|' | tr '|' '\\t'").body(),
            "é漢字🙂",
            "{locale}"
        );
        let wide = client.run("printf '漢%.0s' $(seq 100000); echo");
        assert_eq!(wide.facts["total_lines"], 1, "{}", wide.text);
        assert!(wide.text.contains("300,000 bytes in all"), "{}", wide.text);
    }
}

#[test]
fn programs_in_panes_get_signals() {
    if !have("programs_in_panes_get_signals", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    // Signals 32 and 33 are the C library's own: no program can set them.
    let held = client.run("grep -E 'Sig(Ign|Blk)' /proc/self/status");
    for line in held.body().lines() {
        let mask = line
            .split_whitespace()
            .last()
            .and_then(|hex| u64::from_str_radix(hex, 16).ok());
        assert_eq!(mask.map(|mask| mask & !(3 << 31)), Some(0), "{line}");
    }
    assert_eq!(held.body().lines().count(), 2);
    let running = client.run_with("sleep 1000", json!({"timeout_s": 0}));
    assert_eq!(running.status(), "running");
    // Pressed before bash has started it, ctrl+c would reach nobody.
    let deadline = std::time::Instant::now() + crate::util::client::DEADLINE;
    while !client
        .tool("session_list", json!({}))
        .text
        .contains("sleep works")
    {
        assert!(
            std::time::Instant::now() < deadline,
            "sleep does not come to the front"
        );
    }
    client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
    let end = client.tool("wait", json!({"session": "t1"}));
    assert_eq!(end.facts["exit_code"], 130, "{}", end.text);
    assert_eq!(end.facts["signal"], "SIGINT");
    let limit = client.run("ulimit -n");
    let own = std::process::Command::new("sh")
        .args(["-c", "ulimit -n"])
        .output()
        .expect("sh runs");
    assert_eq!(
        limit.body(),
        String::from_utf8_lossy(&own.stdout).trim_end()
    );
}

#[test]
fn fast_ends_keep_their_last_line_and_status() {
    if !have("fast_ends_keep_their_last_line_and_status", "tmux") {
        return;
    }
    let mut client = Client::legacy("2025-11-25");
    for n in 0..20 {
        let name = format!("x{n}");
        client.open(json!({"name": name, "command": "sh -c 'seq 10000; exit 5'"}));
        let end = client.tool("wait", json!({"session": name, "timeout_s": 60}));
        assert!(end.text.contains("exit status 5"), "{n}: {}", end.text);
        let last = client.tool("read", json!({"session": name, "limit": 1}));
        assert_eq!(last.body(), "10000: 10000", "{n}: {}", last.text);
    }
    client.open(json!({"name": "killed", "command": "echo here; kill -TERM $$"}));
    let end = client.tool("wait", json!({"session": "killed", "timeout_s": 60}));
    assert!(end.text.contains("killed by SIGTERM"), "{}", end.text);
}

#[test]
fn a_closed_name_is_free_again() {
    if !have("a_closed_name_is_free_again", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.run("echo the first");
    let closed = client.tool("session_close", json!({"session": "t1"}));
    assert!(!closed.is_error, "{}", closed.text);
    let read = client.tool("read", json!({"session": "t1"}));
    assert!(read.text.contains("the first"), "{}", read.text);
    let late = client.tool("run", json!({"session": "t1", "input": "true"}));
    assert!(
        late.is_error && late.text.contains("was closed"),
        "{}",
        late.text
    );
    assert!(
        client
            .tool("session_close", json!({"session": "t1"}))
            .text
            .contains("closed already")
    );
    client.open(json!({"name": "t1"}));
    assert_eq!(client.run("echo the second").body(), "the second");
    assert_eq!(entries(&client), ["t1", "t1.1"]);
    // The default name is one that no log has.
    let next = client.open(json!({}));
    assert_eq!(next.facts["session"], "t2");
    let gone = client.open(json!({"name": "gone", "delete_logs_on_close": true}));
    assert!(!gone.is_error);
    client.tool("session_close", json!({"session": "gone"}));
    assert_eq!(entries(&client), ["t1", "t1.1", "t2"]);
}

#[test]
fn a_pane_killed_from_outside_is_said_to_be() {
    if !have("a_pane_killed_from_outside_is_said_to_be", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.run("echo printed");
    let id = client.begin("tools/call", json!({"name": "run", "arguments": {"session": "t1", "input": "sleep 1000", "timeout_s": 60}}));
    let tmux = client.home().join("tmux");
    let kill = || {
        std::process::Command::new("tmux")
            .args(["-L", "pg", "kill-pane", "-t", "=t1:"])
            .env("TMUX_TMPDIR", &tmux)
            .status()
    };
    // The command is known to run before its pane goes.
    while !client
        .tool("regions", json!({"session": "t1"}))
        .text
        .contains("running")
    {}
    assert!(kill().expect("tmux runs").success());
    let reply = client.answer(id)["result"].clone();
    let text = reply["content"][0]["text"]
        .as_str()
        .expect("text")
        .to_owned();
    assert!(text.contains("pane was removed from outside"), "{text}");
    assert!(
        client
            .tool("read", json!({"session": "t1"}))
            .text
            .contains("printed")
    );
}

#[test]
fn a_plain_shell_has_no_invented_status() {
    if !have("a_plain_shell_has_no_invented_status", "tmux")
        || !have("a_plain_shell_has_no_invented_status", "dash")
    {
        return;
    }
    let mut client = Client::legacy("2025-11-25");
    client.open(json!({"name": "t1", "command": "dash"}));
    let reply = client.run("echo hi; false");
    assert_eq!(reply.body(), "hi", "{}", reply.text);
    assert!(
        reply.facts.get("exit_code").is_none() && !reply.text.contains("exit 1"),
        "{}",
        reply.text
    );
    let over = client.run("exit 4");
    assert!(over.header().contains("exit status 4"), "{}", over.text);
}
