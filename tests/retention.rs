//! Closed sessions' logs: deleted by the rules, never otherwise, and said to be. Time passes by dating files back.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::util::client::{Client, DEADLINE, SOCKET};
use crate::util::dir::Dir;
use crate::util::pty::Pty;
use crate::util::skip::have;
use crate::util::stored::{age, folder, goes};

/// The command, beside a server that holds the directory.
fn logs(home: &Path, args: &[&str], environment: &[(&str, &str)]) -> (bool, String) {
    let out = Command::new(crate::util::binary())
        .arg("logs")
        .args(args)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("TMUX_TMPDIR", home.join("tmux"))
        .env("PANEGLASS_HOME", home.join("state"))
        .env("PANEGLASS_SOCKET", SOCKET)
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts");
    let text = [out.stdout, out.stderr].concat();
    (
        out.status.success(),
        String::from_utf8(text).expect("what is printed is UTF-8"),
    )
}

fn sweep(home: &Path) -> String {
    let (good, text) = logs(home, &["sweep"], &[]);
    assert!(good, "{text}");
    text
}

fn close(client: &mut Client, name: &str) {
    let closed = client.tool("session_close", json!({"session": name}));
    assert!(!closed.is_error, "{}", closed.text);
}

fn tmux(client: &Client, args: &[&str]) {
    let status = Command::new("tmux")
        .args(["-L", SOCKET])
        .args(args)
        .env("TMUX_TMPDIR", client.home().join("tmux"))
        .status();
    assert!(status.expect("tmux runs").success(), "{args:?}");
}

#[test]
fn unused_logs_go_and_a_reader_is_told() {
    if !have("unused_logs_go_and_a_reader_is_told", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let home = client.home().to_owned();
    client.run("echo old");
    close(&mut client, "t1");
    client.open(json!({"name": "t1"}));
    client.run("echo new");
    close(&mut client, "t1");
    // Both the session and the earlier one of its name.
    for name in ["t1", "t1.1"] {
        age(&home, name, 2);
    }
    assert_eq!(sweep(&home), "nothing is due\n");
    let list = client.tool("session_list", json!({}));
    assert!(list.text.contains("its logs stay until 2"), "{}", list.text);
    for name in ["t1", "t1.1"] {
        age(&home, name, 4);
    }
    let (_, dry) = logs(&home, &["sweep", "--dry-run"], &[]);
    assert_eq!(
        dry,
        "would delete t1: closed and not used for 3 days\nwould delete t1.1: closed and not used for 3 days\n"
    );
    // Reading is use.
    let read = client.tool("read", json!({"session": "t1"}));
    assert!(read.text.contains("new"), "{}", read.text);
    assert_eq!(
        sweep(&home),
        "deleted t1.1: closed and not used for 3 days\n"
    );
    age(&home, "t1", 4);
    assert_eq!(sweep(&home), "deleted t1: closed and not used for 3 days\n");
    // The server had it in hand.
    for tool in ["read", "regions", "run"] {
        let mut arguments = json!({"session": "t1"});
        if tool == "run" {
            arguments["input"] = "true".into();
        }
        let late = client.tool(tool, arguments);
        assert!(
            late.is_error
                && late.text.contains("its logs were deleted at 2")
                && late.text.contains("UTC: closed and not used for 3 days"),
            "{tool}: {}",
            late.text
        );
    }
    client.open(json!({"name": "t1"}));
    assert_eq!(client.run("echo again").body(), "again");
}

#[test]
fn a_server_sweeps_at_its_start() {
    if !have("a_server_sweeps_at_its_start", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let home = client.home().to_owned();
    client.open(json!({"name": "used"}));
    for name in ["t1", "used"] {
        close(&mut client, name);
    }
    let half = home.join("state/sessions/.deleting-half");
    let mut client = client.killed_and_restarted(|| {
        age(&home, "t1", 4);
        // A server died while it deleted this one.
        fs::create_dir(&half).expect("the test's own directory");
        let old = json!({"session": "ancient", "created": 1, "deleted": 2, "why": "long ago"});
        fs::write(home.join("state/removed.jsonl"), format!("{old}\n")).expect("our own file");
    });
    client.tool("session_list", json!({}));
    goes(&folder(&home, "t1"));
    goes(&half);
    assert!(folder(&home, "used").exists());
    let late = client.tool("read", json!({"session": "half"}));
    assert!(late.text.contains("was deleting them"), "{}", late.text);
    // What is older than 30 days is forgotten.
    let removed = fs::read_to_string(home.join("state/removed.jsonl")).expect("a record");
    assert!(!removed.contains("ancient"), "{removed}");
    // The line for the server's log comes last.
    let line = "deleted the logs of session t1: closed and not used for 3 days";
    let deadline = Instant::now() + DEADLINE;
    while !client.stderr().contains(line) {
        assert!(Instant::now() < deadline, "{}", client.stderr());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_is_never_deleted() {
    if !have("what_is_never_deleted", "tmux") {
        return;
    }
    let mut client = Client::legacy("2025-11-25");
    let home = client.home().to_owned();
    // Open; its program ended, its last screen shown; pinned; made on another host, or under another TMUX_TMPDIR.
    for name in ["open", "exited", "pinned", "host", "tmpdir"] {
        client.open(json!({"name": name}));
    }
    let over = client.tool("run", json!({"session": "exited", "input": "exit 3"}));
    assert_eq!(over.status(), "closed", "{}", over.text);
    for name in ["open", "exited"] {
        // Even with the marker: they are not closed.
        fs::write(folder(&home, name).join("delete-on-close"), "").expect("our own file");
    }
    let kept = client.tool(
        "session_logs",
        json!({"session": "pinned", "action": "keep"}),
    );
    assert!(!kept.is_error, "{}", kept.text);
    close(&mut client, "pinned");
    let altered: [(&str, &str, Value); 2] = [
        ("host", "host", "another-host".into()),
        ("tmpdir", "tmux_tmpdir", "/nonexistent".into()),
    ];
    for (name, ..) in &altered {
        tmux(&client, &["kill-session", "-t", &format!("={name}")]);
    }
    let deadline = Instant::now() + DEADLINE;
    while client
        .tool("session_list", json!({}))
        .text
        .matches("session gone")
        .count()
        < 2
    {
        assert!(Instant::now() < deadline, "the panes' ends are not seen");
    }
    for (name, field, value) in altered {
        let path = folder(&home, name).join("meta.json");
        let text = fs::read_to_string(&path).expect("a session's file");
        let mut meta: Value = serde_json::from_str(&text).expect("JSON");
        meta[field] = value;
        meta["end"] = Value::Null;
        fs::write(&path, meta.to_string()).expect("our own file");
    }
    let all = ["open", "exited", "pinned", "host", "tmpdir"];
    let attach = client.tool("session_list", json!({})).facts["sessions"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|session| session["session"] == "exited")
        .expect("it is there")["attach"]
        .as_str()
        .expect("a command")
        .to_owned();
    let check = |environment: &[(&str, &str)]| {
        for name in all {
            age(&home, name, 400);
        }
        let (good, text) = logs(&home, &["sweep"], environment);
        assert!(good && text == "nothing is due\n", "{text}");
        for name in all {
            assert!(folder(&home, name).join("raw.log").exists(), "{name} went");
        }
    };
    check(&[]);
    // From where this tmux is not seen.
    let other = home.join("run");
    check(&[("TMUX_TMPDIR", other.to_str().expect("UTF-8"))]);
    check(&[("PANEGLASS_SOCKET", "other")]);
    // A person looks at the last screen of a program that has ended.
    let env = [
        ("PATH", std::env::var("PATH").unwrap_or_default()),
        ("TERM", "xterm-256color".into()),
    ];
    let env: Vec<(String, String)> = env.map(|(name, value)| (name.to_owned(), value)).into();
    let line = format!("exec {attach}");
    let person = Pty::spawn(&["sh", "-c", &line], &env, &home, (80, 24)).expect("a terminal");
    let deadline = Instant::now() + DEADLINE;
    while !client
        .tool("session_list", json!({}))
        .text
        .contains("1 person attached")
    {
        assert!(Instant::now() < deadline, "nobody attaches");
    }
    check(&[]);
    drop(person);
    // A tmux whose socket a cleaner of temporary files has taken away: its panes live on.
    let (_, due) = logs(&home, &["due"], &[]);
    assert!(
        due.contains("open    open, deleted when it closes"),
        "{due}"
    );
    let socket = fs::read_dir(home.join("tmux")).expect("a folder").next();
    let socket = socket
        .expect("tmux's folder")
        .expect("an entry")
        .path()
        .join(SOCKET);
    let aside = home.join("socket");
    fs::rename(&socket, &aside).expect("the socket");
    let (good, text) = logs(&home, &["sweep"], &[]);
    fs::rename(&aside, &socket).expect("the socket");
    assert!(good && !text.contains("deleted open"), "{text}");
    assert!(folder(&home, "open").exists());
}

#[test]
fn nothing_is_unused_where_all_is_kept() {
    if !have("nothing_is_unused_where_all_is_kept", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let home = client.home().to_owned();
    close(&mut client, "t1");
    age(&home, "t1", 4000);
    let (good, text) = logs(&home, &["sweep"], &[("PANEGLASS_KEEP_CLOSED_DAYS", "0")]);
    assert!(
        good && text == "nothing is due\n" && folder(&home, "t1").exists(),
        "{text}"
    );
    let (_, text) = logs(&home, &["sweep"], &[("PANEGLASS_KEEP_CLOSED_DAYS", "5000")]);
    assert_eq!(text, "nothing is due\n");
    let (_, text) = logs(&home, &["sweep"], &[("PANEGLASS_KEEP_CLOSED_DAYS", "1")]);
    assert_eq!(text, "deleted t1: closed and not used for a day\n");
}

#[test]
fn logs_that_go_with_their_session() {
    if !have("logs_that_go_with_their_session", "tmux") {
        return;
    }
    let mut client = Client::legacy("2025-11-25");
    let home = client.home().to_owned();
    let exists = |name: &str| folder(&home, name).exists();
    // Asked for at the start.
    client.open(json!({"name": "first", "delete_logs_on_close": true}));
    let closed = client.tool("session_close", json!({"session": "first"}));
    assert!(
        closed.text.contains("its logs were deleted") && !exists("first"),
        "{}",
        closed.text
    );
    let late = client.tool("read", json!({"session": "first"}));
    assert!(
        late.text.contains("its logs were to go with it"),
        "{}",
        late.text
    );
    // Taken back.
    client.open(json!({"name": "back", "delete_logs_on_close": true}));
    client.tool(
        "session_logs",
        json!({"session": "back", "action": "default"}),
    );
    close(&mut client, "back");
    assert!(exists("back"));
    // Of a closed one.
    let set = client.tool(
        "session_logs",
        json!({"session": "back", "action": "delete_on_close"}),
    );
    assert!(!set.is_error, "{}", set.text);
    goes(&folder(&home, "back"));
    // By a marker that anybody may set, and a pane that goes without a call.
    client.open(json!({"name": "touched"}));
    fs::write(folder(&home, "touched").join("delete-on-close"), "").expect("our own file");
    tmux(&client, &["kill-pane", "-t", "=touched:"]);
    goes(&folder(&home, "touched"));
    assert!(
        !client
            .tool("session_list", json!({}))
            .text
            .contains("touched")
    );
    // And on a session that is closed already; an end has the markers looked at before their minute is over.
    for name in ["early", "late"] {
        client.open(json!({"name": name}));
    }
    close(&mut client, "early");
    fs::write(folder(&home, "early").join("delete-on-close"), "").expect("our own file");
    close(&mut client, "late");
    goes(&folder(&home, "early"));
    assert!(folder(&home, "late").exists());
}

#[test]
fn what_is_asked_for_is_done_or_refused() {
    if !have("what_is_asked_for_is_done_or_refused", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let home = client.home().to_owned();
    let mut ask =
        |action: &str| client.tool("session_logs", json!({"session": "t1", "action": action}));
    assert!(ask("delete").text.contains("is open; close it first"));
    assert!(
        ask("burn")
            .text
            .contains("must be one of keep, default, delete_on_close, delete")
    );
    assert_eq!(
        ask("delete_on_close").text,
        "[t1 · open; its logs go when it closes]"
    );
    assert_eq!(ask("keep").text, "[t1 · open; its logs stay]");
    assert_eq!(logs(&home, &["due"], &[]).1, "t1  open, kept\n");
    let (good, text) = logs(&home, &["delete", "t1"], &[]);
    assert!(!good && text.contains("is open: close it first"), "{text}");
    // In the words of the command line.
    assert!(text.contains("logs delete-on-close"), "{text}");
    for (action, told) in [
        ("delete-on-close", "t1: open, deleted when it closes\n"),
        ("default", "t1: open\n"),
        ("keep", "t1: open, kept\n"),
    ] {
        assert_eq!(logs(&home, &[action, "t1"], &[]), (true, told.into()));
    }
    close(&mut client, "t1");
    let (_, due) = logs(&home, &["due"], &[]);
    assert_eq!(due, "t1  closed, kept\n");
    assert_eq!(
        logs(&home, &["default", "t1"], &[]).1.split(" 2").next(),
        Some("t1: closed, until")
    );
    let (_, due) = logs(&home, &["due", "--json"], &[]);
    let due: Value = serde_json::from_str(&due).expect("JSON");
    assert!(
        due[0]["expires_ms"]
            .as_u64()
            .is_some_and(|ms| ms > 1_700_000_000_000),
        "{due}"
    );
    assert_eq!(
        logs(&home, &["delete", "t1"], &[]),
        (true, "t1: deleted\n".into())
    );
    let late = client.tool("read", json!({"session": "t1"}));
    assert!(
        late.text.contains("paneglass logs asked for it"),
        "{}",
        late.text
    );
    let (good, text) = logs(&home, &["keep", "../t1"], &[]);
    assert!(!good && text.contains("there is no session"), "{text}");
    client.open(json!({"name": "t2"}));
    close(&mut client, "t2");
    let gone = client.tool("session_logs", json!({"session": "t2", "action": "delete"}));
    assert_eq!(gone.text, "[t2 · its logs are deleted]");
    let late = client.tool("session_logs", json!({"session": "t2", "action": "keep"}));
    assert!(
        late.is_error && late.text.contains("black-box asked for it"),
        "{}",
        late.text
    );
}

#[test]
fn logs_without_any_session() {
    let dir = Dir::new();
    assert_eq!(dir.run(&["logs", "due"]).good(), "no sessions\n");
    for args in [&["logs", "sweep"][..], &["logs", "sweep", "--dry-run"]] {
        assert_eq!(dir.run(args).good(), "nothing is due\n");
    }
    assert!(
        dir.run(&["logs", "keep", "t1"])
            .bad(1)
            .contains("there is no session \"t1\"")
    );
    assert!(
        dir.run(&["logs", "burn", "t1"])
            .bad(2)
            .contains("there is no \"burn\"")
    );
    assert!(dir.run(&["logs"]).bad(2).contains("say what to do"));
}
