//! Calls: their results, their ids and their progress.

use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::mcp::dispatch::{Outcome, Step};
use crate::mcp::fake::{Desk, request};

#[test]
fn legacy_calls() {
    let desk = Desk::speaking("2025-06-18");
    let answer = desk.value(&request(
        "tools/call",
        &json!({"name": "echo", "arguments": {"n": 4, "a": "b"}}),
    ));
    assert_eq!(
        answer["result"],
        json!({
            "content": [{"type": "text", "text": "[echo] {\"n\":4,\"a\":\"b\"}"}],
            "isError": false,
            "structuredContent": {"n": 4},
            "_meta": {"paneglass/facts": {"status": "done"}},
        })
    );
    let answer = desk.value(&request("tools/call", &json!({"name": "whoami"})));
    assert_eq!(
        answer["result"]["content"][0]["text"],
        r#"[Client { connection: 1, actor: None, earlier: None, folder: None, name: Some("tester"), version: Some("9"), scope: None }]"#
    );
    assert_eq!(answer["result"].get("_meta"), None);
    for params in [
        json!({}),
        json!({"name": 1}),
        json!({"name": "no_such_tool"}),
        json!({"name": "echo", "arguments": []}),
        json!({"name": "echo", "arguments": "x"}),
    ] {
        assert_eq!(
            desk.error(request("tools/call", &params).as_bytes(), None),
            (-32602, json!(1)),
            "{params}"
        );
    }
}

#[test]
fn a_panic_is_a_result_that_names_the_call() {
    let desk = Desk::new();
    let answer = desk.value(&request(
        "tools/call",
        &json!({"name": "panics", "arguments": {"n": 6}}),
    ));
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(
        answer["result"]["content"][0]["text"],
        "panics panicked inside the server: on purpose, 6"
    );
    assert_eq!(
        desk.value(&request("ping", &json!({})))["result"],
        json!({})
    );
}

#[test]
fn one_id_one_call_at_a_time() {
    let desk = Desk::new();
    let call = request("tools/call", &json!({"name": "echo"}));
    let Outcome::One(Step::Call(first)) =
        desk.server.receive(&desk.connection, call.as_bytes(), None)
    else {
        panic!("a call is a call");
    };
    assert_eq!(desk.error(call.as_bytes(), None), (-32600, json!(1)));
    // Cancelled, its id is free again, and the first call's end does not end the second one.
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(desk.ask(cancel.as_bytes(), None), "");
    let Outcome::One(Step::Call(second)) =
        desk.server.receive(&desk.connection, call.as_bytes(), None)
    else {
        panic!("a call is a call");
    };
    assert!(first.run(&*desk.service, Arc::new(|_| {})).is_none());
    assert!(second.run(&*desk.service, Arc::new(|_| {})).is_some());
}

#[test]
fn progress_bears_the_token_as_it_came() {
    let desk = Desk::new();
    for token in ["0", "\"t\\\"1\"", "18446744073709551617", "1.5"] {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"ticks","_meta":{{"progressToken":{token}}}}}}}"#
        );
        let sent = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&sent);
        let Outcome::One(Step::Call(call)) =
            desk.server.receive(&desk.connection, call.as_bytes(), None)
        else {
            panic!("a call is a call");
        };
        assert!(
            call.run(
                &*desk.service,
                Arc::new(move |line| log.lock().expect("no panic").push(line))
            )
            .is_some()
        );
        let expected: Vec<_> = (0..3)
            .map(|n| format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{},"message":"line {n}"}}}}"#,
                n + 1
            ))
            .collect();
        assert_eq!(*sent.lock().expect("no panic"), expected);
    }
    for meta in [
        "{}",
        r#"{"progressToken":null}"#,
        r#"{"progressToken":[]}"#,
        "7",
    ] {
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"ticks","_meta":{meta}}}}}"#
        );
        let Outcome::One(Step::Call(call)) =
            desk.server.receive(&desk.connection, call.as_bytes(), None)
        else {
            panic!("a call is a call");
        };
        assert!(
            call.run(&*desk.service, Arc::new(|line| panic!("unasked: {line}")))
                .is_some()
        );
    }
}
