//! Silence: what waiting for a silent command costs, and that who asks after it is heard all the same.

use serde_json::json;

use crate::util::client::Client;
use crate::util::cost::Cost;
use crate::util::skip::have;

/// Seconds of silence before the wait that is measured, and of that wait.
const BEFORE: u64 = 6;
const WAIT: u64 = 14;

/// Wake-ups in that wait: 6 looks (2 s apart, then a fifth of the silence), the deadline, and the threads that take a
/// call in and its answer out. A server that polled ten times a second would have 140.
const WAKEUPS: u64 = 24;

/// Ticks of 1/100 s in that wait, of 1400: a thirtieth of a processor, and 25 times what a build for debugging took on
/// a loaded machine. One that polled without pause would have most of them.
const TICKS: u64 = 50;

#[test]
fn a_silent_wait_costs_next_to_nothing() {
    if !have("a_silent_wait_costs_next_to_nothing", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let begun = client.run_with("sleep 600", json!({"timeout_s": BEFORE}));
    assert_eq!(begun.status(), "running", "{}", begun.text);
    let before = Cost::of(client.pid());
    let still = client.tool("wait", json!({"session": "t1", "timeout_s": WAIT}));
    let cost = Cost::of(client.pid()).since(before);
    assert_eq!(still.status(), "running", "{}", still.text);
    assert!(
        still.text.contains("sleep works, silent for"),
        "{}",
        still.text
    );
    println!("{cost:?}");
    assert!(cost.wakeups <= WAKEUPS, "{cost:?}");
    assert!(cost.ticks <= TICKS, "{cost:?}");
}

/// After a silence in which nothing of them ran they begin to read without a word: in the same process, in a new one,
/// in another thread, and in one that takes its parent's place.
#[test]
fn who_asks_without_a_word_after_long_silence_is_heard() {
    let name = "who_asks_without_a_word_after_long_silence_is_heard";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let lines = [
        "python3 -c 'import time; time.sleep(9); print(input())'",
        "sleep 9; (read x; echo $x)",
        "python3 -c 'import threading,time; threading.Thread(target=lambda: (time.sleep(9), print(input()))).start()'",
        "sh -c 'sleep 9; exec head -n 1'",
        "sleep 9 | cat; read x; echo $x",
    ];
    let mut client = Client::legacy("2025-11-25");
    let session = |at: usize| format!("s{at}");
    let mut calls = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        client.open(json!({"name": session(at)}));
        let arguments = json!({"session": session(at), "input": line, "timeout_s": 45});
        calls.push(client.begin("tools/call", json!({"name": "run", "arguments": arguments})));
    }
    for ((at, line), call) in lines.iter().enumerate().zip(calls) {
        let asked = client.answer(call)["result"].clone();
        let facts = &asked["_meta"]["paneglass/facts"];
        assert_eq!(facts["status"], "waiting", "{line}: {asked}");
        let answer = client.tool(
            "run",
            json!({"session": session(at), "input": "heard", "timeout_s": 60}),
        );
        let told = answer.body();
        assert_eq!(
            told.lines().last(),
            Some("heard"),
            "{line}: {}",
            answer.text
        );
        assert_eq!(answer.facts["exit_code"], 0, "{line}: {}", answer.text);
    }
}
