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

/// What an agent can ask of a session: its regions, their output, its last lines.
fn known(client: &mut Client, regions: u64) -> Vec<String> {
    let list = client.tool("regions", json!({"session": "t1", "last": 100}));
    let mut all: Vec<String> = list.text.lines().map(String::from).collect();
    for region in 1..=regions {
        let read = json!({"session": "t1", "region": region, "limit": 20});
        all.push(client.tool("read", read).text);
    }
    all.push(
        client
            .tool("read", json!({"session": "t1", "limit": 50}))
            .text,
    );
    all
}

#[test]
fn a_checkpoint_knows_what_a_replay_finds() {
    if !have("a_checkpoint_knows_what_a_replay_finds", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let dir = client.home().join("state/sessions/t1");
    client.run("false | true");
    // More than a checkpoint is written after; a slow machine takes its time.
    let line = "yes \"$(seq -s ' ' 1 300)\" | head -c 5000000";
    let mut flood = client.run_with(line, json!({"timeout_s": 40}));
    for _ in 0..5 {
        if flood.facts["exit_code"].is_null() {
            flood = client.tool("wait", json!({"session": "t1", "timeout_s": 40}));
        }
    }
    assert_eq!(flood.facts["exit_code"], 0, "{}", flood.text);
    assert!(dir.join("checkpoint").exists());
    client.run("printf partial");
    let before = known(&mut client, 3);
    type Spoil = fn(&Path);
    let spoil: [(&str, Spoil); 5] = [
        ("nothing", |_| {}),
        ("checkpoint is gone", |dir| {
            fs::remove_file(dir.join("checkpoint")).expect("it is there");
        }),
        ("checkpoint is torn", |dir| {
            let bytes = fs::read(dir.join("checkpoint")).expect("it is there");
            fs::write(dir.join("checkpoint"), &bytes[..bytes.len() / 2]).expect("it is ours");
        }),
        ("lines.idx is wrong", |dir| {
            fs::write(dir.join("lines.idx"), "wrong").expect("it is ours");
        }),
        ("session.txt is short", |dir| {
            fs::write(dir.join("session.txt"), "1\n2\n").expect("it is ours");
        }),
    ];
    for (what, spoil) in spoil {
        client = client.killed_and_restarted(|| spoil(&dir));
        let now = known(&mut client, 3);
        for (now, before) in now.iter().zip(&before) {
            assert_eq!(now, before, "{what}");
        }
        // What was made anew is there for the next server.
        assert!(dir.join("checkpoint").exists(), "{what}");
    }
    assert_eq!(client.run("echo on").body(), "on");
}

#[test]
fn a_server_that_ends_leaves_a_checkpoint() {
    if !have("a_server_that_ends_leaves_a_checkpoint", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let dir = client.home().join("state/sessions/t1");
    client.run("seq 1 30000");
    let before = known(&mut client, 1);
    assert!(!dir.join("checkpoint").exists());
    client.close_input();
    assert!(client.exit().success());
    assert!(dir.join("checkpoint").exists());
    let mut client = client.killed_and_restarted(|| {});
    assert_eq!(known(&mut client, 1), before);
}

#[test]
fn ended_sessions_are_read_when_somebody_asks() {
    if !have("ended_sessions_are_read_when_somebody_asks", "tmux") {
        return;
    }
    const MANY: usize = 300;
    let mut client = Client::in_session();
    client.run("seq 1 2000");
    client.tool("session_close", json!({"session": "t1"}));
    let sessions = client.home().join("state/sessions");
    let mut client = client.killed_and_restarted(|| {
        let meta = fs::read_to_string(sessions.join("t1/meta.json")).expect("it is there");
        for n in 2..=MANY {
            let name = format!("t{n}");
            let dir = sessions.join(&name);
            fs::create_dir(&dir).expect("a new folder");
            let own = meta.replace("\"name\": \"t1\"", &format!("\"name\": \"{name}\""));
            fs::write(dir.join("meta.json"), own).expect("it is ours");
            for file in ["raw.log", "times.log", "regions.jsonl"] {
                fs::copy(sessions.join("t1").join(file), dir.join(file)).expect("it is there");
            }
        }
    });
    let list = client.tool("session_list", json!({}));
    assert!(
        list.header().contains(&format!("{MANY} sessions, 0 open")),
        "{}",
        list.header()
    );
    let closed = |line: &&str| line.contains("session closed");
    assert_eq!(list.text.lines().filter(closed).count(), MANY);
    let made = || {
        let text = |n: &usize| sessions.join(format!("t{n}/session.txt")).exists();
        (2..=MANY).filter(text).collect::<Vec<_>>()
    };
    assert_eq!(made(), [] as [usize; 0]);
    let read = json!({"session": "t77", "region": 1, "start": 0, "limit": 2});
    assert!(client.tool("read", read).body().ends_with(": 2"));
    assert_eq!(made(), [77]);
    // A name of one can be taken, and its log stays.
    client.open(json!({"name": "t5"}));
    assert!(sessions.join("t5.1/raw.log").exists());
    let list = client.tool("session_list", json!({}));
    assert!(
        list.header().contains(&format!("{MANY} sessions, 1 open")),
        "{}",
        list.header()
    );
}
