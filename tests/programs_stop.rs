//! Stopped means stopped: the whole group, by SIGKILL when it must be, and what has left it is named.

use std::time::Instant;

use serde_json::{Value, json};

use crate::programs_argv::{Programs, id};
use crate::programs_ends::{end, ended, is_running};
use crate::util::skip::have;

#[test]
fn a_stop_that_a_server_did_not_live_to_see() {
    if !have("a_stop_that_a_server_did_not_live_to_see", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let start = json!({"argv": ["sh", "-c", "trap 'echo told' TERM; echo up; while :; do sleep 600 & wait; done"]});
    let started = programs.record("start_program", start);
    let id = id(&started);
    programs.read_from(&id, 0);
    let call = json!({"name": "stop_program", "arguments": {"programId": id, "graceMs": 60_000}});
    programs.begin("tools/call", call);
    let told = programs.read_from(&id, 3);
    assert_eq!(told["text"], "told\n");
    let mut programs = programs.restarted(|| {});
    let (_, last) = programs.read_all(&id);
    assert_eq!(end(&last), ended("stopped", Value::Null, json!("SIGKILL")));
    programs.record("stop_program", json!({"programId": id}));
    programs.refusal("read_program", json!({"programId": id}));
}

#[test]
fn stop_ends_the_whole_group_and_says_how() {
    if !have("stop_ends_the_whole_group_and_says_how", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    // A read that waits is told, and gets the last words.
    let id = programs.begin_program(&[
        "sh",
        "-c",
        "trap 'echo bye; exit 0' TERM; echo up; sleep 600 & wait",
    ]);
    programs.read_from(&id, 0);
    let mut cursor = 3;
    let call = |cursor: u64| json!({"name": "read_program", "arguments": {"programId": id, "cursor": cursor, "timeoutMs": 60_000}});
    let mut reading = programs.begin("tools/call", call(cursor));
    let stopping = programs.begin(
        "tools/call",
        json!({"name": "stop_program", "arguments": {"programId": id}}),
    );
    let stopped = programs.answer(stopping)["result"].clone();
    let stopped = programs.checked("stop_program", &stopped);
    assert_eq!(end(&stopped), ended("stopped", json!(0), Value::Null));
    assert_eq!(
        (&stopped["killed"], &stopped["stillRunning"]),
        (&json!(false), &json!([]))
    );
    let answer = programs.answer(reading)["result"].clone();
    let read = programs.checked("read_program", &answer);
    assert_eq!(read["text"], "bye\n");
    if read["ended"] == false {
        // It was answered between the words and the end; what came after that is gone with the program.
        cursor = read["cursor"].as_u64().expect("a number");
        reading = programs.begin("tools/call", call(cursor));
        assert_eq!(programs.answer(reading)["result"]["isError"], true);
    }
    assert!(
        !programs.home().join("state/sessions/p1").exists(),
        "its output is forgotten"
    );
    assert_eq!(
        programs.tool("session_list", json!({})).header(),
        "[0 sessions, 0 open]"
    );
    programs.refusal("stop_program", json!({"programId": id}));
    let bad = programs.begin_program(&["sleep", "600"]);
    let text = programs.refusal("stop_program", json!({"programId": bad, "signal": "NOPE"}));
    assert!(text.contains("`signal` must be"), "{text}");
    let stopped = programs.record(
        "stop_program",
        json!({"programId": bad, "signal": "SIGINT"}),
    );
    assert_eq!(
        end(&stopped),
        ended("stopped", Value::Null, json!("SIGINT"))
    );
}

#[test]
fn a_waiting_read_is_told_stopped() {
    if !have("a_waiting_read_is_told_stopped", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let id = programs.begin_program(&["sleep", "600"]);
    let call = json!({"name": "read_program", "arguments": {"programId": id, "timeoutMs": 60_000}});
    let reading = programs.begin("tools/call", call);
    // Calls run beside each other: only once the read has been seen to wait is it known to be there first.
    let again = json!({"programId": id, "timeoutMs": 100});
    programs.record("read_program", again);
    programs.record("stop_program", json!({"programId": id}));
    let answer = programs.answer(reading)["result"].clone();
    let read = programs.checked("read_program", &answer);
    assert_eq!(end(&read), ended("stopped", Value::Null, json!("SIGTERM")));
    assert_eq!(
        (&read["ended"], &read["outputComplete"]),
        (&json!(true), &json!(true))
    );
}

#[test]
fn children_are_gone_or_named() {
    if !have("children_are_gone_or_named", "tmux") || !have("children_are_gone_or_named", "setsid")
    {
        return;
    }
    let mut programs = Programs::new(&[]);
    // One in the group that ignores both, one that has left it and whose parent has ended, and the program itself.
    let script = "trap '' TERM HUP; sh -c 'echo $$; while :; do sleep 0.05; done' & setsid -f sh -c 'echo $$; exec sleep 600'; echo $$; while :; do sleep 0.05; done";
    let id = programs.begin_program(&["sh", "-c", script]);
    let mut text = String::new();
    while text.lines().count() < 3 {
        let read = programs.read_from(&id, text.len() as u64);
        text.push_str(read["text"].as_str().expect("a text"));
    }
    let pids: Vec<&str> = text.lines().collect();
    let begun = Instant::now();
    let stopped = programs.record("stop_program", json!({"programId": id, "graceMs": 200}));
    assert_eq!(
        end(&stopped),
        ended("stopped", Value::Null, json!("SIGKILL"))
    );
    assert_eq!(stopped["killed"], true, "after {:?}", begun.elapsed());
    let left = stopped["stillRunning"].as_array().expect("a list");
    let [left] = left.as_slice() else {
        panic!("one process has left: {stopped}")
    };
    assert_eq!(left["command"], "sleep 600");
    let named = left["pid"].to_string();
    assert!(pids.contains(&named.as_str()), "{text} {stopped}");
    for pid in pids {
        assert_eq!(is_running(pid), pid == named, "{pid} of {text}, {stopped}");
    }
    let killed = std::process::Command::new("kill")
        .args(["-9", &named])
        .status();
    assert!(killed.expect("kill starts").success());
}

#[test]
fn one_that_is_suspended_heeds_the_signal() {
    if !have("one_that_is_suspended_heeds_the_signal", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let id = programs.begin_program(&["sh", "-c", "trap 'exit 4' TERM; echo $$; kill -STOP $$"]);
    programs.read_from(&id, 0);
    let stopped = programs.record("stop_program", json!({"programId": id, "graceMs": 60_000}));
    assert_eq!(end(&stopped), ended("stopped", json!(4), Value::Null));
    assert_eq!(stopped["killed"], false);
}
