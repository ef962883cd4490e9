//! The server dies and another takes its place: nothing printed, typed or known is lost.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::util::client::{Client, DEADLINE};
use crate::util::skip::have;

/// Waits until a file holds something.
fn appears(path: &Path) {
    let deadline = Instant::now() + DEADLINE;
    while !fs::metadata(path).is_ok_and(|meta| meta.len() > 0) {
        assert!(
            Instant::now() < deadline,
            "{} does not appear",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_running_command_loses_no_byte() {
    if !have("a_running_command_loses_no_byte", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let home = client.home().to_owned();
    let (go, done) = (home.join("go"), home.join("done"));
    client.run(&format!("mkfifo {}", go.display()));
    // It prints before the server dies, while none runs, and after the next has come.
    let line = format!(
        "seq 1 20000; cat {go}; seq 20001 60000; echo x > {done}; cat {go}; seq 60001 70000; (exit 9)",
        go = go.display(),
        done = done.display()
    );
    let begun = client.run_with(&line, json!({"until": "^20000$"}));
    assert_eq!(begun.status(), "until", "{}", begun.text);
    let mut client = client.killed_and_restarted(|| {
        fs::write(&go, "").expect("the fifo has a reader");
        appears(&done);
    });
    let running = client.tool("wait", json!({"session": "t1", "timeout_s": 0}));
    assert_eq!(running.facts["region"], 2, "{}", running.text);
    fs::write(&go, "").expect("the fifo has a reader");
    let end = client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
    assert_eq!(end.facts["exit_code"], 9, "{}", end.text);
    assert_eq!(
        end.facts["last_line"]
            .as_u64()
            .zip(end.facts["first_line"].as_u64())
            .map(|(last, _)| last),
        end.facts["last_line"].as_u64()
    );
    // Every line, once, in order.
    let first = client.tool(
        "read",
        json!({"session": "t1", "region": 2, "start": 0, "limit": 1}),
    );
    let offset = first.facts["first_line"].as_u64().expect("a number") - 1;
    for start in (1..=70_000u64).step_by(5_000) {
        let read = client.tool(
            "read",
            json!({"session": "t1", "start": offset + start, "limit": 5_000}),
        );
        let last = read.facts["last_line"].as_u64().expect("a number");
        assert_eq!(last, offset + start + 4_999);
    }
    let text = fs::read_to_string(home.join("state/sessions/t1/session.txt")).expect("a log");
    let numbers: Vec<u64> = text.lines().filter_map(|line| line.parse().ok()).collect();
    assert!(
        numbers.iter().copied().eq(1..=numbers.len() as u64),
        "lines are missing or doubled"
    );
    assert!(numbers.len() > 69_000, "{}", numbers.len());
}

#[test]
fn regions_and_lines_are_the_same_again() {
    if !have("regions_and_lines_are_the_same_again", "tmux")
        || !have("regions_and_lines_are_the_same_again", "python3")
    {
        return;
    }
    let mut client = Client::in_session();
    for line in [
        "false | true",
        "echo \"open",
        "end\"",
        "seq 200",
        "printf partial",
        "read -p 'Name: ' n",
        "bob",
        "cd /",
        "echo )",
    ] {
        client.run(line);
    }
    client.run("python3 -q");
    client.run("print('in python')");
    client.run("1 +");
    let ask = |client: &mut Client| -> Vec<String> {
        let regions = client.tool("regions", json!({"session": "t1", "last": 100}));
        // A running command's time goes on.
        let steady = |line: &str| {
            let parts: Vec<&str> = line.split(" · ").collect();
            let running = parts.contains(&"running");
            parts
                .iter()
                .enumerate()
                .filter(|(at, _)| !running || *at != 3)
                .map(|(_, part)| format!("{part} "))
                .collect::<String>()
        };
        let mut all: Vec<String> = regions.text.lines().map(steady).collect();
        all.extend(
            client
                .tool("read", json!({"session": "t1", "start": 1, "limit": 1_000}))
                .text
                .lines()
                .map(String::from),
        );
        for id in 1..=10 {
            all.push(
                client
                    .tool("read", json!({"session": "t1", "region": id}))
                    .text,
            );
        }
        all
    };
    /// Compares line by line: a whole log in one assertion tells nobody anything.
    fn same(now: &[String], before: &[String]) {
        for (now, before) in now.iter().zip(before) {
            assert_eq!(now, before);
        }
        assert_eq!(now.len(), before.len());
    }
    let before = ask(&mut client);
    assert!(before.iter().filter(|line| line.starts_with('#')).count() >= 10);
    let mut client = client.killed_and_restarted(|| {});
    same(&ask(&mut client), &before);
    // And it works on where it was.
    assert_eq!(client.run("print(6*7)").body(), "42");
    let left = client.run("exit()");
    assert_eq!(left.facts["exit_code"], 0, "{}", left.text);
    assert_eq!(client.run("pwd").body(), "/");
    let again = ask(&mut client);
    let mut client = client.killed_and_restarted(|| {});
    same(&ask(&mut client), &again);
}

#[test]
fn what_ended_meanwhile_is_known() {
    if !have("what_ended_meanwhile_is_known", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let (go, done) = (client.home().join("go"), client.home().join("done"));
    client.run(&format!("mkfifo {}", go.display()));
    client.open(json!({"name": "x", "command": format!("cat {}; echo last words; echo x > {}; exit 6", go.display(), done.display())}));
    let mut client = client.killed_and_restarted(|| {
        fs::write(&go, "").expect("the fifo has a reader");
        appears(&done);
    });
    let read = client.tool("read", json!({"session": "x"}));
    assert!(read.text.contains("last words"), "{}", read.text);
    // The next server finds the pane dead, or sees it die.
    let late = client.tool("wait", json!({"session": "x", "timeout_s": 30}));
    assert!(late.text.contains("exit status 6"), "{}", late.text);
}

#[test]
fn a_second_server_is_refused_by_name() {
    if !have("a_second_server_is_refused_by_name", "tmux") {
        return;
    }
    let client = Client::in_session();
    let mut second = Client::legacy_with(&[
        (
            "PANEGLASS_HOME",
            &client.home().join("state").display().to_string(),
        ),
        (
            "TMUX_TMPDIR",
            &client.home().join("tmux").display().to_string(),
        ),
    ]);
    let refused = second.tool("session_list", json!({}));
    assert!(
        refused.is_error && refused.text.contains(&format!("pid {}", client.pid())),
        "{}",
        refused.text
    );
}

#[test]
fn a_lost_cache_and_a_torn_record_are_mended() {
    if !have("a_lost_cache_and_a_torn_record_are_mended", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.run("seq 500");
    client.run("false");
    let dir = client.home().join("state/sessions/t1");
    let before = client.tool("regions", json!({"session": "t1"})).text;
    let mut client = client.killed_and_restarted(|| {
        fs::write(dir.join("session.txt"), "wrong").expect("it can be written");
        let mut records = fs::read(dir.join("regions.jsonl")).expect("it is there");
        records.extend(b"{\"id\":3,\"ki");
        fs::write(dir.join("regions.jsonl"), records).expect("it can be written");
    });
    assert_eq!(
        client.tool("regions", json!({"session": "t1"})).text,
        before
    );
    assert_eq!(client.run("echo on").body(), "on");
    let mut client = client.killed_and_restarted(|| {
        fs::remove_file(dir.join("session.txt")).expect("it is there");
        fs::remove_file(dir.join("regions.jsonl")).expect("it is there");
    });
    // Without the records the markers still tell what ran, and how it ended.
    let regions = client.tool("regions", json!({"session": "t1"}));
    assert!(
        regions.text.contains("#2 · exit 1") && regions.text.contains("#3 · exit 0"),
        "{}",
        regions.text
    );
    let read = client.tool(
        "read",
        json!({"session": "t1", "region": 1, "start": 0, "limit": 2}),
    );
    assert!(read.body().ends_with(": 2"), "{}", read.text);
}

#[test]
fn a_killed_tap_is_replaced() {
    if !have("a_killed_tap_is_replaced", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.run("echo before");
    let times = client.home().join("state/sessions/t1/times.log");
    let taps = || {
        let text = fs::read_to_string(&times).expect("a log");
        let tap = |line: &str| line.split_once(" tap ").map(|(_, pid)| pid.to_owned());
        text.lines().filter_map(tap).collect::<Vec<_>>()
    };
    let first = taps().pop().expect("a tap");
    let killed = std::process::Command::new("kill")
        .args(["-9", &first])
        .status();
    assert!(killed.expect("kill runs").success());
    let deadline = Instant::now() + DEADLINE;
    while taps().len() < 2 {
        assert!(Instant::now() < deadline, "no new tap comes");
        std::thread::sleep(Duration::from_millis(5));
    }
    // It goes on, and says where something may be missing.
    assert_eq!(client.run("echo after").body(), "after");
    let read = client.tool("read", json!({"session": "t1"})).text;
    assert!(
        read.contains(": before") && read.contains("output may be missing here"),
        "{read}"
    );
    let mut client = client.killed_and_restarted(|| {});
    let again = client.tool("read", json!({"session": "t1"})).text;
    assert_eq!(again, read);
}
