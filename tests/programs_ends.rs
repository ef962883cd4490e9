//! How programs end: every outcome with its facts, over a restart, with the pane killed, and nothing left running.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::programs_argv::{Programs, id, tmux};
use crate::util::client::DEADLINE;
use crate::util::skip::have;

/// Waits until a file is there.
fn appears(path: &Path) {
    let deadline = Instant::now() + DEADLINE;
    while !path.exists() {
        assert!(
            Instant::now() < deadline,
            "{} does not appear",
            path.display()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a process has ended (a zombie has).
fn ends(pid: &str) {
    let deadline = Instant::now() + DEADLINE;
    while is_running(pid) {
        assert!(Instant::now() < deadline, "process {pid} does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn is_running(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// What a record says of an end.
pub fn end(record: &Value) -> (String, Value, Value) {
    let outcome = record["outcome"].as_str().expect("a word").to_owned();
    (
        outcome,
        record["exitStatus"].clone(),
        record["signal"].clone(),
    )
}

pub fn ended(outcome: &str, status: Value, signal: Value) -> (String, Value, Value) {
    (outcome.to_owned(), status, signal)
}

/// All that a last record says but the last piece of text: how much that is depends on when it was asked for.
fn without_text(record: &Value) -> Value {
    let mut record = record.clone();
    record["text"] = Value::Null;
    record
}

/// A folder of a program's session.
fn folder(programs: &Programs, session: &Value) -> PathBuf {
    let name = session.as_str().expect("a name");
    programs.home().join("state/sessions").join(name)
}

#[test]
fn every_outcome_with_its_facts_also_to_the_next_server() {
    if !have(
        "every_outcome_with_its_facts_also_to_the_next_server",
        "tmux",
    ) {
        return;
    }
    let mut programs = Programs::new(&[]);
    let plain = programs.home().join("plain");
    fs::write(&plain, "no program").expect("the test's own");
    let (plain, home) = (
        plain.display().to_string(),
        programs.home().display().to_string(),
    );
    let sh = |script: &str| json!({"argv": ["sh", "-c", script]});
    let null = || Value::Null;
    let cases = [
        (
            sh("echo fine"),
            ended("completed", json!(0), null()),
            "fine\n",
        ),
        (
            sh("echo bad; exit 7"),
            ended("completed", json!(7), null()),
            "bad\n",
        ),
        (sh("exit 255"), ended("completed", json!(255), null()), ""),
        // As a shell reports it.
        (
            sh("exit 130"),
            ended("completed", json!(130), json!("SIGINT")),
            "",
        ),
        (
            sh("kill -TERM $$"),
            ended("completed", null(), json!("SIGTERM")),
            "",
        ),
        (
            sh("kill -KILL $$"),
            ended("completed", null(), json!("SIGKILL")),
            "",
        ),
        (
            sh("no-such-program"),
            ended("completed", json!(127), null()),
            "not found",
        ),
        (
            json!({"argv": ["/nonexistent/x"]}),
            ended("not_started", json!(127), null()),
            "cannot start /nonexistent/x",
        ),
        (
            json!({"argv": [""]}),
            ended("not_started", json!(127), null()),
            "cannot start",
        ),
        (
            json!({"argv": [plain]}),
            ended("not_started", json!(126), null()),
            "Permission denied",
        ),
        (
            json!({"argv": [home]}),
            ended("not_started", json!(126), null()),
            "Permission denied",
        ),
        (
            json!({"argv": ["true"], "startDirectory": "/nonexistent"}),
            ended("not_started", json!(126), null()),
            "cannot enter /nonexistent",
        ),
        (
            json!({"argv": ["true", "x".repeat(200_000)]}),
            ended("not_started", json!(126), null()),
            "too long",
        ),
        (
            json!({"argv": ["sleep", "600"], "lifetimeMs": 1}),
            ended("expired", null(), json!("SIGTERM")),
            "",
        ),
    ];
    let mut known = Vec::new();
    for (arguments, wanted, text) in cases {
        let id = id(&programs.record("start_program", arguments));
        let (printed, last) = programs.read_all(&id);
        assert_eq!(end(&last), wanted, "{last}");
        assert!(printed.contains(text), "{printed:?}");
        assert_eq!(
            (
                &last["outputComplete"],
                &last["lostEnd"],
                &last["outputCut"]
            ),
            (&json!(true), &json!(false), &json!(false)),
            "{last}"
        );
        known.push((id, printed, last));
    }
    // A pane that a person removes.
    let started = programs.record("start_program", sh("echo up; exec sleep 600"));
    let gone = id(&started);
    programs.read_from(&gone, 0);
    programs.tmux(&[
        "kill-pane",
        "-t",
        started["paneId"].as_str().expect("an id"),
    ]);
    let (printed, last) = programs.read_all(&gone);
    assert_eq!(
        (end(&last), printed.as_str()),
        (ended("gone", null(), null()), "up\n")
    );
    assert_eq!(
        (&last["lostEnd"], &last["outputComplete"]),
        (&json!(true), &json!(false))
    );
    known.push((gone, printed, last));
    let running = programs.begin_program(&["sh", "-c", "echo up; read x; exit 3"]);
    programs.read_from(&running, 0);
    let mut programs = programs.restarted(|| {});
    for (id, printed, last) in &known {
        let (again, read) = programs.read_all(id);
        assert_eq!((&again, without_text(&read)), (printed, without_text(last)));
    }
    // It runs on, and its end is seen.
    let read = programs.record(
        "read_program",
        json!({"programId": running, "timeoutMs": 0}),
    );
    assert_eq!(
        (end(&read), &read["text"]),
        (ended("running", null(), null()), &json!("up\n"))
    );
    let session = format!("p{}", known.len() + 1);
    programs.tool("send", json!({"session": session, "text": "x\n"}));
    assert_eq!(
        end(&programs.read_all(&running).1),
        ended("completed", json!(3), null())
    );
    // Their panes go; what is known of them stays.
    programs.tmux(&["kill-server"]);
    let mut programs = programs.restarted(|| {});
    for (id, printed, last) in &known {
        let (again, read) = programs.read_all(id);
        assert_eq!((&again, without_text(&read)), (printed, without_text(last)));
    }
}

#[test]
fn an_end_that_no_server_saw() {
    if !have("an_end_that_no_server_saw", "tmux") {
        return;
    }
    for pane_killed in [false, true] {
        let mut programs = Programs::new(&[]);
        let (go, home) = (programs.home().join("go"), programs.home().to_owned());
        let script = format!(
            "echo up; while ! [ -e {} ]; do sleep 0.01; done; seq 1000; exit 6",
            go.display()
        );
        let started = programs.record("start_program", json!({"argv": ["sh", "-c", script]}));
        let id = id(&started);
        programs.read_from(&id, 0);
        let told = folder(&programs, &started["session"]).join("end");
        let mut programs = programs.restarted(|| {
            fs::write(&go, "").expect("the test's own");
            appears(&told);
            if pane_killed {
                // The terminal has taken in everything, and the pane is dead: tmux says so only then.
                let pane = started["paneId"].as_str().expect("an id");
                let deadline = Instant::now() + DEADLINE;
                while tmux(
                    &home,
                    &["display-message", "-p", "-t", pane, "#{pane_dead}"],
                ) != "1\n"
                {
                    assert!(Instant::now() < deadline, "the pane does not die");
                }
                tmux(&home, &["kill-pane", "-t", pane]);
            }
        });
        let (text, last) = programs.read_all(&id);
        assert_eq!(
            end(&last),
            ended("completed", json!(6), Value::Null),
            "{last}"
        );
        assert!(
            text.ends_with("\n999\n1000\n") && last["outputComplete"] == true,
            "{last}"
        );
    }
}

#[test]
fn a_lifetime_ends_though_no_server_ran() {
    if !have("a_lifetime_ends_though_no_server_ran", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let deaf = "trap '' TERM; echo $$; while :; do sleep 0.05; done";
    let tidy = "trap 'echo tidied; exit 5' TERM; echo $$; sleep 600 & wait";
    let mut begun = Vec::new();
    for script in [deaf, tidy] {
        let start = json!({"argv": ["sh", "-c", script], "lifetimeMs": 3_600_000});
        let started = programs.record("start_program", start);
        let id = id(&started);
        let first = programs.read_from(&id, 0)["text"]
            .as_str()
            .expect("a text")
            .to_owned();
        let meta = folder(&programs, &started["session"]).join("meta.json");
        begun.push((id, first.trim().to_owned(), meta));
    }
    // Two hours pass.
    let mut programs = programs.restarted(|| {
        for (_, pid, meta) in &begun {
            let text = fs::read_to_string(meta).expect("it is there");
            let mut value: Value = serde_json::from_str(&text).expect("JSON");
            let created = value["created"].as_u64().expect("a time");
            value["created"] = json!(created - 7_200_000);
            fs::write(meta, value.to_string()).expect("the test's own");
            assert!(is_running(pid));
        }
    });
    // Whatever is asked first: they end, also the one that does not heed SIGTERM.
    programs.tool("session_list", json!({}));
    begun.iter().for_each(|(_, pid, _)| ends(pid));
    let (text, last) = programs.read_all(&begun[0].0);
    assert_eq!(end(&last), ended("expired", Value::Null, json!("SIGKILL")));
    assert_eq!(
        (text.lines().count(), &last["outputComplete"]),
        (1, &json!(true))
    );
    let (text, last) = programs.read_all(&begun[1].0);
    assert_eq!(end(&last), ended("expired", json!(5), Value::Null));
    assert!(text.ends_with("\ntidied\n"), "{text}");
}

#[test]
fn a_child_that_holds_the_output_does_not_hold_the_end() {
    if !have(
        "a_child_that_holds_the_output_does_not_hold_the_end",
        "tmux",
    ) {
        return;
    }
    let mut programs = Programs::new(&[]);
    let id = programs.begin_program(&["sh", "-c", "trap '' HUP; sleep 600 & echo $!; exit 3"]);
    let (text, last) = programs.read_all(&id);
    assert_eq!(end(&last), ended("completed", json!(3), Value::Null));
    let killed = std::process::Command::new("kill")
        .args(["-9", text.trim()])
        .status();
    assert!(killed.expect("kill starts").success());
}

#[test]
fn what_fails_at_once_is_known_each_time() {
    if !have("what_fails_at_once_is_known_each_time", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let begun: Vec<String> = (0..50)
        .map(|_| programs.begin_program(&["sh", "-c", "echo boom >&2; exit 7"]))
        .collect();
    for id in begun {
        let (text, last) = programs.read_all(&id);
        assert_eq!(
            (text.as_str(), &last["exitStatus"], &last["outputComplete"]),
            ("boom\n", &json!(7), &json!(true))
        );
    }
    for n in 0..20 {
        let name = format!("s{n}");
        programs.open(json!({"name": name, "command": "sh -c 'seq 10000; exit 5'"}));
        let late = programs.tool("wait", json!({"session": name, "timeout_s": 30}));
        assert!(late.text.contains("exit status 5"), "{}", late.text);
        let last = programs.tool("read", json!({"session": name, "limit": 1}));
        assert!(last.body().ends_with(": 10000"), "{}", last.text);
    }
}

#[test]
fn the_65th_that_ends_lets_the_first_go() {
    if !have("the_65th_that_ends_lets_the_first_go", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let running = programs.begin_program(&["sleep", "600"]);
    let mut ids = Vec::new();
    for n in 0..66 {
        let id = programs.begin_program(&["echo", &n.to_string()]);
        assert_eq!(programs.read_all(&id).0, format!("{n}\n"));
        ids.push(id);
    }
    let mut programs = programs.restarted(|| {});
    let text = programs.refusal("read_program", json!({"programId": ids[1]}));
    assert!(
        !text.contains(&ids[0]) && text.contains(&ids[2]) && text.contains(&running),
        "{text}"
    );
    for (n, id) in ids.iter().enumerate().skip(2) {
        assert_eq!(programs.read_all(id).0, format!("{n}\n"));
    }
    // The panes have gone with them: the first, which runs, and those that are kept.
    let panes = programs.tmux(&["list-panes", "-a", "-F", "#{@paneglass}"]);
    assert_eq!(panes.lines().filter(|tag| !tag.is_empty()).count(), 65);
    let read = programs.record(
        "read_program",
        json!({"programId": running, "timeoutMs": 0}),
    );
    assert_eq!(read["outcome"], "running");
}

#[test]
fn output_beyond_the_limit_is_told() {
    if !have("output_beyond_the_limit_is_told", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[("PANEGLASS_LOG_LIMIT", "1000")]);
    let id = programs.begin_program(&["seq", "1000"]);
    let (text, last) = programs.read_all(&id);
    assert!(
        text.starts_with("1\n2\n") && text.len() < 1000,
        "{}",
        text.len()
    );
    assert_eq!(end(&last), ended("completed", json!(0), Value::Null));
    assert_eq!(
        (
            &last["outputCut"],
            &last["lostEnd"],
            &last["outputComplete"]
        ),
        (&json!(true), &json!(false), &json!(false))
    );
}
