//! What a client's calls come to over a lost connection.

use super::*;

const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;

fn call(id: &str, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"session":"s"}},"_meta":{{"progressToken":7}}}}}}"#
    )
}

fn harmless(tool: &str) -> bool {
    tool == "read"
}

fn ids(lines: &[String]) -> Vec<Value> {
    let id = |line: &String| serde_json::from_str::<Value>(line).unwrap()["id"].clone();
    lines.iter().map(id).collect()
}

#[test]
fn what_cannot_be_asked_twice_is_answered() {
    let mut ledger = Ledger::new(None, None);
    ledger.client(INITIALIZE.as_bytes(), true);
    assert_eq!(
        ledger.server(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#),
        Said::Passed
    );
    for (id, tool) in [
        ("1", "read"),
        ("\"two\"", "run"),
        ("99999999999999999999", "session_close"),
    ] {
        ledger.client(call(id, tool).as_bytes(), true);
    }
    ledger.client(call("4", "run").as_bytes(), false);
    let Resumed { server, client } = ledger.resume(harmless);
    assert_eq!(
        ids(&server),
        [HELLO_ID.into(), INITIALIZE_ID.into(), json!(1)]
    );
    assert!(!server[2].contains("progressToken"), "{}", server[2]);
    assert!(client[0].contains(r#""id":"two""#) && client[0].contains(r#""isError":false"#));
    assert!(client[0].contains("`wait` with session=s"), "{}", client[0]);
    assert!(
        client[1].contains(r#""id":99999999999999999999,"#)
            && client[1].contains(r#""isError":true"#)
    );
    // The one that had not gone out goes out now; lost again, it is not repeated either.
    ledger.all_sent();
    let again = ledger.resume(harmless);
    assert_eq!(
        (ids(&again.server).len(), ids(&again.client)),
        (3, vec![json!(4)])
    );
    // The bridge's own answers are its own.
    assert_eq!(
        ledger.server(&format!(r#"{{"id":"{INITIALIZE_ID}","result":{{}}}}"#)),
        Said::Kept
    );
    assert_eq!(ledger.give_up().len(), 1);
}

#[test]
fn a_cancelled_call_is_not_answered() {
    let mut ledger = Ledger::new(None, None);
    ledger.client(call("1", "run").as_bytes(), true);
    ledger.client(
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        true,
    );
    assert!(ledger.resume(harmless).client.is_empty());
}

#[test]
fn a_handshake_in_progress_is_not_doubled() {
    let mut ledger = Ledger::new(None, None);
    ledger.client(INITIALIZE.as_bytes(), true);
    assert_eq!(
        ids(&ledger.resume(harmless).server),
        [json!(HELLO_ID), json!(0)]
    );
}

#[test]
fn a_batch_is_answered_together() {
    let mut ledger = Ledger::new(None, None);
    let batch = format!("[{},{}]", call("1", "read"), call("2", "run"));
    ledger.client(batch.as_bytes(), true);
    let client = ledger.resume(harmless).client;
    let answers: Vec<Value> = serde_json::from_str(&client[0]).unwrap();
    assert_eq!((client.len(), answers.len()), (1, 2));
}

#[test]
fn the_name_that_the_server_gave_is_asked_for_again() {
    let mut ledger = Ledger::new(None, None);
    ledger.client(call("1", "run").as_bytes(), true);
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(ledger.server(answer), Said::PassedAndNamed);
    assert_eq!(ledger.server(answer), Said::Passed);
    let told = format!(r#"{{"id":"{HELLO_ID}","result":{{"agent":"a#2"}}}}"#);
    assert_eq!(ledger.server(&told), Said::Kept);
    assert!(ledger.hello().contains(r#""agent":"a#2""#));
    let named = Ledger::new(Some("reviewer".into()), None);
    assert!(named.hello().contains(r#""actor":"reviewer""#));
}

#[test]
fn junk_is_passed_on() {
    let mut ledger = Ledger::new(None, None);
    ledger.client(b"{", true);
    ledger.client(b"\xff", true);
    for line in ["", "[]", "nonsense", r#"{"method":"x","id":1}"#, "[1]"] {
        assert_eq!(ledger.server(line), Said::Passed, "{line}");
    }
    assert!(ledger.give_up().is_empty());
}
