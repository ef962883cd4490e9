//! Which revision a request is taken to speak, and what each one's answers look like.

use serde_json::{Value, json};

use super::*;
use crate::mcp::fake::{Desk, enveloped, request};
use crate::mcp::message::BATCH_LIMIT;

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
