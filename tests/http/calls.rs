//! Calls that take their time: answered as a stream, kept alive, cancelled, left.

use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::util::client::DEADLINE;
use crate::util::server::{Server, Wire, answer, call, modern, post};
use crate::util::skip::have;

/// Some clients drop a connection that is silent for 60 s: after 15 s the answer begins as a stream, and every 15 s
/// something is said.
#[test]
fn a_long_wait_stays_alive() {
    if !have("a_long_wait_stays_alive", "tmux") {
        return;
    }
    let server = Server::start();
    server.post(&[], &call("session_create", json!({"name": "t1"})));
    let begun = Instant::now();
    let mut stream = server.unix();
    let message = call(
        "run",
        json!({"session": "t1", "input": "sleep 31; echo done", "timeout_s": 120}),
    );
    stream
        .write_all(&post(&[], &message.to_string()))
        .expect("it reads");
    let mut comments = Vec::new();
    let mut last = String::new();
    for line in BufReader::new(stream).lines() {
        let line = line.expect("an answer");
        match line.as_str() {
            ":" => comments.push(begun.elapsed().as_secs()),
            "0" => break,
            _ if line.starts_with("data: ") => last = line,
            _ => {}
        }
    }
    assert!(
        matches!(comments[..], [first, second] if (15..30).contains(&first) && second >= first + 15),
        "{comments:?}"
    );
    assert!(last.contains("done") && last.contains("exit 0"), "{last}");
}

#[test]
fn progress_is_streamed() {
    if !have("progress_is_streamed", "tmux") {
        return;
    }
    let server = Server::start();
    server.post(&[], &call("session_create", json!({"name": "t1"})));
    let mut message = call(
        "run",
        json!({"session": "t1", "input": "echo begun; sleep 7", "timeout_s": 60}),
    );
    message["params"]["_meta"] = json!({"progressToken": 0});
    let streamed = server.post(&[], &message);
    assert_eq!(streamed.field("content-type"), Some("text/event-stream"));
    let events = streamed.events();
    let (result, progress) = events.split_last().expect("a result");
    assert_eq!(result["id"], 1);
    assert!(!progress.is_empty());
    for (at, note) in progress.iter().enumerate() {
        assert_eq!(
            (
                &note["params"]["progressToken"],
                &note["params"]["progress"]
            ),
            (&json!(0), &json!(at + 1))
        );
    }
    // A client that takes JSON alone gets JSON, however long it takes.
    let plain = server.post(&[("Accept", "application/json")], &message);
    assert_eq!(plain.json()["result"]["isError"], false);
}

#[test]
fn closing_cancels_in_the_modern_era_alone() {
    if !have("closing_cancels_in_the_modern_era_alone", "tmux") {
        return;
    }
    let server = Server::tcp();
    let token = format!("Bearer {}", server.token());
    for name in ["a", "b", "c"] {
        server.post(&[], &call("session_create", json!({"name": name})));
    }
    let begin = |mut stream: Box<dyn Wire>, bytes: &[u8], session: &str| {
        stream.write_all(bytes).expect("it reads");
        // It is in progress once the shell runs it.
        let deadline = Instant::now() + DEADLINE;
        let working = format!("{session} · sleep works");
        let list = call("session_list", json!({}));
        while !server.post(&[], &list).body.contains(&working) {
            assert!(Instant::now() < deadline, "it does not begin");
        }
        stream
    };
    let ended = |session: &str| {
        let deadline = Instant::now() + DEADLINE;
        let wanted = |call: &Value| call["tool"] == "run" && call["session"] == session;
        loop {
            if let Some(call) = server.calls().into_iter().find(wanted) {
                return call;
            }
            assert!(Instant::now() < deadline, "it does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let doors: [(&str, Box<dyn Wire>); 2] = [
        ("a", Box::new(server.unix())),
        ("b", Box::new(server.tcp_stream())),
    ];
    for (session, stream) in doors {
        let (mut fields, message) = modern(
            "tools/call",
            json!({"name": "run", "arguments": {"session": session, "input": "sleep 600", "timeout_s": 600}}),
        );
        fields.push(("Authorization", token.clone()));
        let fields: Vec<(&str, &str)> = fields.iter().map(|(a, b)| (*a, b.as_str())).collect();
        drop(begin(stream, &post(&fields, &message.to_string()), session));
        let cancelled = ended(session);
        let ms = cancelled["duration_ms"].as_u64();
        assert!(ms < Some(60_000), "{cancelled}");
        assert_eq!(cancelled["agent"], "modern");
        // The command was not.
        let listed = server.post(&[], &call("session_list", json!({})));
        let working = format!("{session} · sleep works");
        assert!(listed.body.contains(&working), "{}", listed.body);
    }
    // For a legacy client a lost connection means nothing: its call goes on.
    let legacy = call(
        "run",
        json!({"session": "c", "input": "sleep 3", "timeout_s": 600}),
    );
    let legacy = post(&[], &legacy.to_string());
    drop(begin(Box::new(server.unix()), &legacy, "c"));
    let ended = ended("c");
    assert!(ended["duration_ms"].as_u64() >= Some(3_000), "{ended}");
}

#[test]
fn a_legacy_call_is_cancelled_by_its_session() {
    if !have("a_legacy_call_is_cancelled_by_its_session", "tmux") {
        return;
    }
    let server = Server::start();
    let id = server.session("legacy");
    let session = [("Mcp-Session-Id", id.as_str())];
    server.post(&session, &call("session_create", json!({"name": "t1"})));
    let mut stream = server.unix();
    let run = call(
        "run",
        json!({"session": "t1", "input": "sleep 600", "timeout_s": 600}),
    );
    stream
        .write_all(&post(&session, &run.to_string()))
        .expect("it reads");
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let deadline = Instant::now() + DEADLINE;
    // The two connections race: until the call is there, there is nothing to cancel.
    while server.calls().iter().all(|call| call["tool"] != "run") {
        assert!(Instant::now() < deadline, "it is not cancelled");
        assert_eq!(server.post(&session, &cancel).status, 202);
        std::thread::sleep(Duration::from_millis(20));
    }
    let ended = answer(&mut stream);
    assert_eq!((ended.status, ended.body.as_str()), (202, ""));
}
