//! What each message is answered, without any transport.

use super::*;
use crate::mcp::fake::{self, Choices, Handles};
use crate::mcp::message::encode_batch;

/// A server with one connection, whose calls run where they are asked.
struct Desk {
    service: Arc<dyn Service>,
    server: Server,
    connection: Connection,
    _handles: Handles,
}

impl Desk {
    fn new() -> Self {
        let (service, handles) = fake::service();
        let server = Server::new(Arc::clone(&service) as Arc<dyn Service>);
        let connection = server.connect();
        Self {
            service,
            server,
            connection,
            _handles: handles,
        }
    }

    fn speaking(version: &str) -> Self {
        let desk = Self::new();
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tester", "version": "9"}}});
        assert_eq!(
            desk.value(&hello.to_string())["result"]["protocolVersion"],
            version
        );
        desk
    }

    /// The line that answers `text`; empty when there is none.
    fn ask(&self, text: &[u8], headers: Option<&Headers>) -> String {
        let run = |step| match step {
            Step::Answer(response) => Some(response),
            Step::Call(call) => call.run(&*self.service, Arc::new(|_| {})),
        };
        match self.server.receive(&self.connection, text, headers) {
            Outcome::Nothing => String::new(),
            Outcome::One(step) => run(step).map_or_else(String::new, |response| response.encode()),
            Outcome::Batch(steps) => {
                encode_batch(&steps.into_iter().filter_map(run).collect::<Vec<_>>())
            }
        }
    }

    fn value(&self, text: &str) -> Value {
        serde_json::from_str(&self.ask(text.as_bytes(), None)).expect("an answer is JSON")
    }

    /// The error code and the id that answer `text`.
    fn error(&self, text: &[u8], headers: Option<&Headers>) -> (i64, Value) {
        let answer = self.ask(text, headers);
        let answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
        assert_eq!(answer["jsonrpc"], "2.0");
        assert!(answer["error"]["message"].is_string(), "{answer}");
        (
            answer["error"]["code"].as_i64().expect("a code"),
            answer["id"].clone(),
        )
    }
}

fn request(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

fn enveloped(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "2"},
    });
    request(method, &params)
}

#[test]
fn initialize_echoes_a_known_revision_and_offers_the_last_one_otherwise() {
    for (asked, given) in [
        (json!("2024-11-05"), "2024-11-05"),
        (json!("2025-03-26"), "2025-03-26"),
        (json!("2025-06-18"), "2025-06-18"),
        (json!("2025-11-25"), "2025-11-25"),
        (json!("2026-07-28"), "2025-11-25"),
        (json!("1999-01-01"), "2025-11-25"),
        (json!(5), "2025-11-25"),
        (Value::Null, "2025-11-25"),
    ] {
        let answer = Desk::new().value(&request("initialize", &json!({"protocolVersion": asked})));
        let expected = json!({"jsonrpc": "2.0", "id": 1, "result": {
            "protocolVersion": given,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "fake", "version": "1.2.3", "title": "Fake"},
            "instructions": "Be brief.",
        }});
        assert_eq!(answer, expected);
    }
    let bare = Desk::new().value(r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#);
    assert_eq!(bare["result"]["protocolVersion"], "2025-11-25");
}

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
        r#"[Client { connection: 1, name: Some("tester"), version: Some("9") }]"#
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
fn modern_results() {
    let desk = Desk::new();
    let whose = json!({"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "1.2.3", "title": "Fake"}});
    assert_eq!(
        desk.value(&enveloped("server/discover", json!({})))["result"],
        json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "instructions": "Be brief.",
            "ttlMs": 300_000, "cacheScope": "private", "resultType": "complete", "_meta": whose})
    );
    let list = desk.value(&enveloped("tools/list", json!({})));
    assert_eq!(
        list["result"]["tools"],
        desk.value(&request("tools/list", &json!({})))["result"]["tools"]
    );
    assert_eq!(list["result"]["ttlMs"], 300_000);
    assert_eq!(list["result"]["cacheScope"], "private");
    assert_eq!(list["result"]["resultType"], "complete");
    let call = desk.value(&enveloped("tools/call", json!({"name": "echo"})));
    assert_eq!(call["result"]["resultType"], "complete");
    assert_eq!(call["result"]["_meta"]["paneglass/facts"]["status"], "done");
    assert_eq!(
        call["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "fake"
    );
    let call = desk.value(&enveloped("tools/call", json!({"name": "whoami"})));
    let text = call["result"]["content"][0]["text"].as_str().expect("text");
    assert!(text.contains(r#"name: Some("modern")"#), "{text}");
    assert_eq!(call["result"]["_meta"], whose);
}

#[test]
fn modern_errors_in_their_order() {
    let desk = Desk::new();
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "subscriptions/listen",
        "tasks/get",
    ] {
        assert_eq!(
            desk.error(enveloped(method, json!({})).as_bytes(), None).0,
            -32601,
            "{method}"
        );
    }
    for (method, params, code) in [
        ("server/discover", json!({}), -32602),
        ("server/discover", json!({"_meta": {}}), -32602),
        (
            "server/discover",
            json!({"_meta": {capabilities: {}}}),
            -32602,
        ),
        (
            "tools/list",
            json!({"_meta": {version: "2026-07-28"}}),
            -32602,
        ),
        (
            "tools/list",
            json!({"_meta": {version: 20260728, capabilities: {}}}),
            -32602,
        ),
        (
            "tools/list",
            json!({"_meta": {version: "2026-07-28", capabilities: []}}),
            -32602,
        ),
        ("no/such", json!({"_meta": {version: "2099-01-01"}}), -32602),
        (
            "no/such",
            json!({"_meta": {version: "2099-01-01", capabilities: {}}}),
            -32022,
        ),
        (
            "initialize",
            json!({"_meta": {version: "2025-11-25", capabilities: {}}}),
            -32022,
        ),
    ] {
        assert_eq!(
            desk.error(request(method, &params).as_bytes(), None).0,
            code,
            "{method} {params}"
        );
    }
    assert_eq!(
        desk.error(
            enveloped("tools/call", json!({"name": "no_such_tool"})).as_bytes(),
            None
        )
        .0,
        -32602
    );
    let answer = desk.value(&request(
        "tools/list",
        &json!({"_meta": {version: "2025-06-18", capabilities: {}}}),
    ));
    assert_eq!(
        answer["error"]["data"],
        json!({"supported": ["2026-07-28"], "requested": "2025-06-18"})
    );
    // A `_meta` without the version is an ordinary legacy field.
    assert_eq!(
        desk.value(&request("ping", &json!({"_meta": {capabilities: {}}})))["result"],
        json!({})
    );
}

#[test]
fn headers_must_say_what_the_body_says() {
    let desk = Desk::new();
    let headers = |version: &str, method: &str, name: &str| {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Headers {
            protocol_version: given(version),
            method: given(method),
            name: given(name),
        }
    };
    let code = |body: &str, headers: Headers| {
        let answer: Value =
            serde_json::from_str(&desk.ask(body.as_bytes(), Some(&headers))).expect("JSON");
        answer["error"]["code"].as_i64().unwrap_or(0)
    };
    let list = enveloped("tools/list", json!({}));
    let call = enveloped("tools/call", json!({"name": "echo"}));
    let odd = list.replace("2026-07-28", "2099-01-01");
    for (body, headers, expected) in [
        (&list, headers("2026-07-28", "tools/list", ""), 0),
        (&list, headers("2026-07-28", "tools/list", "ignored"), 0),
        (&list, headers("2026-07-28", "", ""), -32020),
        (&list, headers("2026-07-28", "Tools/List", ""), -32020),
        (&list, headers("", "tools/list", ""), -32020),
        (&list, headers("2025-11-25", "tools/list", ""), -32020),
        (&call, headers("2026-07-28", "tools/call", "echo"), 0),
        (&call, headers("2026-07-28", "tools/call", ""), -32020),
        (&call, headers("2026-07-28", "tools/call", "whoami"), -32020),
        (&odd, headers("2099-01-01", "tools/list", ""), -32022),
        (&odd, headers("2026-07-28", "tools/list", ""), -32020),
        (
            &request("tools/list", &json!({})),
            headers("2026-07-28", "tools/list", ""),
            -32602,
        ),
        (
            &request("tools/list", &json!({})),
            headers("2025-11-25", "", ""),
            0,
        ),
        (
            &request("initialize", &json!({})),
            headers("2026-07-28", "initialize", ""),
            -32020,
        ),
        (
            &request("initialize", &json!({})),
            headers("2025-06-18", "", ""),
            0,
        ),
        (
            &enveloped("initialize", json!({})),
            headers("2026-07-28", "initialize", ""),
            -32601,
        ),
    ] {
        assert_eq!(code(body, headers.clone()), expected, "{body} {headers:?}");
    }
}

#[test]
fn batches_under_one_revision_only() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        assert_eq!(
            Desk::speaking(version).error(format!("[{ping}]").as_bytes(), None),
            (-32600, Value::Null)
        );
    }
    assert_eq!(
        Desk::new().error(format!("[{ping}]").as_bytes(), None).0,
        -32600
    );

    let desk = Desk::speaking("2025-03-26");
    assert_eq!(desk.ask(format!("[{note},{note}]").as_bytes(), None), "");
    assert_eq!(desk.error(b"[]", None), (-32600, Value::Null));
    let full = vec![ping; BATCH_LIMIT].join(",");
    assert_eq!(
        desk.value(&format!("[{full}]")).as_array().map(Vec::len),
        Some(BATCH_LIMIT)
    );
    assert_eq!(
        desk.error(format!("[{full},{ping}]").as_bytes(), None),
        (-32600, Value::Null)
    );

    let big = r#"{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}"#;
    let hello = r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{}}"#;
    let modern = enveloped("tools/list", json!({})).replace("\"id\":1", "\"id\":3");
    let call = r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo"}}"#;
    let answer = desk.ask(
        format!("[{big},{note},7,{hello},{modern},{call}]").as_bytes(),
        None,
    );
    assert!(
        answer.starts_with(r#"[{"jsonrpc":"2.0","id":99999999999999999999,"result":{}},"#),
        "{answer}"
    );
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let seen: Vec<_> = answer
        .as_array()
        .expect("an array")
        .iter()
        .skip(1)
        .map(|one| (&one["id"], &one["error"]["code"]))
        .collect();
    assert_eq!(
        seen,
        [
            (&Value::Null, &json!(-32600)),
            (&json!(2), &json!(-32600)),
            (&json!(3), &json!(-32600)),
            (&json!(4), &Value::Null),
        ]
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
