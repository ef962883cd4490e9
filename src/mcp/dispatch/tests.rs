//! What each message is answered, without any transport.

use serde_json::{Map, Value, json};

use crate::mcp::fake::{Choices, Desk, request};

#[test]
fn everything_is_answered_before_initialize() {
    let desk = Desk::new();
    assert_eq!(
        desk.ask(request("ping", &json!({})).as_bytes(), None),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#
    );
    let level = request("logging/setLevel", &json!({"level": "debug"}));
    assert_eq!(
        desk.ask(level.as_bytes(), None),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#
    );
    assert_eq!(
        desk.value(&request("tools/list", &json!({})))["result"]["tools"][0]["name"],
        "echo"
    );
    assert_eq!(
        desk.value(&request("tools/call", &json!({"name": "echo"})))["result"]["isError"],
        false
    );
}

#[test]
fn ids_go_back_as_they_came() {
    let desk = Desk::new();
    for id in [
        "0",
        "-7",
        "18446744073709551616",
        "123456789012345678901234567890",
        "2.0",
        "\"\"",
        "\"a\\\"b\"",
        "\"1\"",
    ] {
        let line = format!(r#" {{"method":"ping","id": {id} ,"jsonrpc":"2.0","extra":[]}} "#);
        assert_eq!(
            desk.ask(line.as_bytes(), None),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
        );
    }
    let line = "{\"jsonrpc\":\"2.0\",\"id\":\"\\u2028é\",\"method\":\"ping\"}";
    assert_eq!(
        desk.ask(line.as_bytes(), None),
        "{\"jsonrpc\":\"2.0\",\"id\":\"\\u2028é\",\"result\":{}}"
    );
    for id in ["null", "1.5", "1e3", "true", "[]", "{}", "[1]"] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        assert_eq!(
            desk.error(line.as_bytes(), None),
            (-32600, Value::Null),
            "{id}"
        );
    }
}

#[test]
fn what_is_no_message_is_an_error_with_the_id_if_there_is_one() {
    let desk = Desk::new();
    let deep = |depth: usize| {
        let arrays = depth - 2;
        let (open, close) = ("[".repeat(arrays), "]".repeat(arrays));
        format!(r#"{{"jsonrpc":"2.0","id":5,"method":"ping","params":{{"a":{open}{close}}}}}"#)
    };
    assert_eq!(desk.value(&deep(128))["result"], json!({}));
    for (line, code, id) in [
        (&b"nonsense"[..], -32700, Value::Null),
        (b"{", -32700, Value::Null),
        (
            br#"{"jsonrpc":"2.0","id":8,"method":"ping""#,
            -32700,
            json!(8),
        ),
        (
            br#"{"jsonrpc":"2.0","id":8,"method":"ping"} x"#,
            -32700,
            json!(8),
        ),
        (
            br#"{"id":"s","method":"\ud800","jsonrpc":"2.0"}"#,
            -32600,
            json!("s"),
        ),
        (
            br#"{"jsonrpc":"2.0","id":8,"method":"ping","params":{"a":"\udc00"}}"#,
            -32700,
            json!(8),
        ),
        (
            br#"{"jsonrpc":"2.0","id":"\ud800","method":"ping"}"#,
            -32600,
            Value::Null,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\",\"id\":8}",
            -32700,
            json!(8),
        ),
        (deep(129).as_bytes(), -32700, json!(5)),
        (&b"[".repeat(100_000), -32700, Value::Null),
        (b"[]", -32600, Value::Null),
        (b"{}", -32600, Value::Null),
        (b"1", -32600, Value::Null),
        (b"null", -32600, Value::Null),
        (b"\"text\"", -32600, Value::Null),
        (br#"{"id":8,"method":"ping"}"#, -32600, json!(8)),
        (
            br#"{"jsonrpc":"1.0","id":8,"method":"ping"}"#,
            -32600,
            json!(8),
        ),
        (
            br#"{"jsonrpc":2.0,"id":8,"method":"ping"}"#,
            -32600,
            json!(8),
        ),
        (br#"{"jsonrpc":"2.0","id":8}"#, -32600, json!(8)),
        (br#"{"jsonrpc":"2.0","id":8,"method":7}"#, -32600, json!(8)),
        (
            br#"{"jsonrpc":"2.0","id":8,"id":9,"method":"ping"}"#,
            -32600,
            json!(8),
        ),
        (
            br#"{"jsonrpc":"2.0","id":8,"method":"ping","params":[1]}"#,
            -32602,
            json!(8),
        ),
        (
            br#"{"jsonrpc":"2.0","id":8,"method":"ping","params":"x"}"#,
            -32602,
            json!(8),
        ),
        (
            br#"{"jsonrpc":"2.0","id":8,"method":"resources/list"}"#,
            -32601,
            json!(8),
        ),
        (
            br#"{"jsonrpc":"2.0","id":8,"method":"notifications/initialized"}"#,
            -32601,
            json!(8),
        ),
    ] {
        let shown = String::from_utf8_lossy(&line[..line.len().min(100)]).into_owned();
        assert_eq!(desk.error(line, None), (code, id), "{shown}");
    }
}

#[test]
fn notifications_and_answers_are_not_answered() {
    let desk = Desk::new();
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"panics"}}"#,
        r#"{"jsonrpc":"2.0","method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"x"}}"#,
    ] {
        assert_eq!(desk.ask(line.as_bytes(), None), "", "{line}");
    }
}

#[test]
fn a_list_tells_all_of_a_tool() {
    let answer = Desk::new().value(&request("tools/list", &json!({"cursor": null})));
    assert_eq!(
        answer["result"]["tools"][0],
        json!({
            "name": "echo", "title": "A title", "description": "A description.",
            "inputSchema": {"type": "object", "properties": {"n": {"type": "integer", "description": "A number."}},
                "additionalProperties": false},
            "annotations": {"title": "A title", "readOnlyHint": true, "destructiveHint": false,
                "idempotentHint": false, "openWorldHint": false},
            "_meta": {"anthropic/alwaysLoad": true},
        })
    );
    assert_eq!(answer["result"]["tools"][1].get("_meta"), None);
    assert_eq!(answer["result"].as_object().map(Map::len), Some(1));
    assert_eq!(
        Desk::new()
            .error(
                request("tools/list", &json!({"cursor": "2"})).as_bytes(),
                None
            )
            .0,
        -32602
    );
}

#[test]
fn junk_is_answered_and_the_next_message_is_served() {
    let seed = 0x5eed_0001;
    println!("seed {seed}");
    let mut choices = Choices(seed);
    for version in ["2025-03-26", "2025-11-25"] {
        let desk = Desk::speaking(version);
        for round in 0..3000 {
            let junk = choices.junk();
            let answer = desk.ask(&junk, None);
            let shown = String::from_utf8_lossy(&junk);
            assert!(
                answer.is_empty() || serde_json::from_str::<Value>(&answer).is_ok(),
                "round {round}: {shown}: {answer}"
            );
            let next = format!(r#"{{"jsonrpc":"2.0","id":{round},"method":"ping"}}"#);
            let expected = format!(r#"{{"jsonrpc":"2.0","id":{round},"result":{{}}}}"#);
            assert_eq!(desk.ask(next.as_bytes(), None), expected, "after {shown}");
        }
    }
}
