//! MCP on stdio, against the real binary: what no client library lets one send.

use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::util::client::{Client, DEADLINE};
use crate::util::skip::have;

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// Params of a modern request.
fn modern(mut params: Value) -> Value {
    params["_meta"][VERSION_KEY] = json!("2026-07-28");
    params["_meta"][CAPABILITIES_KEY] = json!({});
    params
}

/// A session for calls that take long.
fn with_session(test: &str) -> Option<Client> {
    if !have(test, "tmux") {
        return None;
    }
    let mut client = Client::legacy("2025-11-25");
    client.text("session_create", json!({"name": "s"}));
    Some(client)
}

fn cancel(client: &mut Client, id: u64) {
    client.notify("notifications/cancelled", json!({"requestId": id}));
}

#[test]
fn every_legacy_revision_shakes_hands() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::legacy(version);
        assert_eq!(client.request("ping", json!({}))["result"], json!({}));
        let list = client.request("tools/list", json!({}));
        assert_eq!(list["result"].get("resultType"), None);
        assert_eq!(
            client.request("logging/setLevel", json!({"level": "info"}))["result"],
            json!({})
        );
        assert_eq!(
            client.request("prompts/list", json!({}))["error"]["code"],
            -32601
        );
    }
    let mut client = Client::start();
    let answer = client.request(
        "initialize",
        json!({"protocolVersion": "2026-07-28", "capabilities": {}}),
    );
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answer["result"]["serverInfo"]["name"], "paneglass");
    assert!(
        answer["result"]["instructions"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    );
}

#[test]
fn a_probe_leaves_nothing_behind() {
    let mut client = Client::start();
    client.request("server/discover", modern(json!({})));
    client.request(
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {}}),
    );
    client.request("tools/list", json!({}));
    client.request("ping", json!({}));
    let entries =
        |dir: &str| std::fs::read_dir(client.home().join(dir)).map_or(0, |entries| entries.count());
    assert_eq!(
        (entries("state"), entries("run"), entries("tmux")),
        (0, 0, 0)
    );
}

#[test]
fn the_tools_are_the_same_for_everyone() {
    let mut client = Client::start();
    let before = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let modern = client.request("tools/list", modern(json!({})))["result"].clone();
    assert_eq!(before, modern["tools"]);
    assert_eq!(modern["resultType"], "complete");
    assert!(modern["ttlMs"].is_u64() && modern["cacheScope"].is_string());
    let mut other = Client::legacy("2024-11-05");
    assert_eq!(
        other.request("tools/list", json!({}))["result"]["tools"],
        before
    );

    let tools = before.as_array().expect("an array");
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str()).collect();
    let want = [
        "session_create",
        "run",
        "wait",
        "send",
        "expect",
        "read",
        "search",
        "regions",
        "session_split",
        "session_resize",
        "session_list",
        "shell_integrate",
        "session_close",
        "session_logs",
        "guide",
        "start_program",
        "read_program",
        "stop_program",
        "capture_pane",
    ];
    assert_eq!(names, want.map(Some));
    for tool in tools {
        let name = tool["name"].as_str().expect("a name");
        assert!(
            tool["title"]
                .as_str()
                .is_some_and(|title| !title.is_empty()),
            "{name}"
        );
        assert!(
            tool["description"]
                .as_str()
                .is_some_and(|text| text.chars().count() < 2048),
            "{name}"
        );
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{name}");
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            assert!(tool["annotations"][hint].is_boolean(), "{name} {hint}");
        }
        if tool.get("outputSchema").is_none() {
            assert_eq!(tool["_meta"]["anthropic/alwaysLoad"], true, "{name}");
        }
    }
}

#[test]
fn modern_requests_need_no_handshake() {
    let mut client = Client::start();
    let discover = client.request("server/discover", modern(json!({})))["result"].clone();
    assert_eq!(discover["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(
        discover["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "paneglass"
    );
    assert!(
        discover["instructions"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    );
    for (method, params, code) in [
        ("initialize", modern(json!({})), -32601),
        ("ping", modern(json!({})), -32601),
        ("subscriptions/listen", modern(json!({})), -32601),
        ("server/discover", json!({}), -32602),
        (
            "tools/list",
            json!({"_meta": {VERSION_KEY: "2026-07-28"}}),
            -32602,
        ),
        (
            "tools/list",
            json!({"_meta": {VERSION_KEY: "2030-01-01", CAPABILITIES_KEY: {}}}),
            -32022,
        ),
        (
            "tools/call",
            modern(json!({"name": "no_such_tool"})),
            -32602,
        ),
    ] {
        assert_eq!(
            client.request(method, params.clone())["error"]["code"],
            code,
            "{method} {params}"
        );
    }
}

#[test]
fn calls_in_both_eras() {
    if !have("calls_in_both_eras", "tmux") {
        return;
    }
    let mut client = Client::start();
    let legacy = client.call("session_list", json!({}));
    assert_eq!(legacy["isError"], false, "{legacy}");
    assert_eq!(legacy.get("resultType"), None);
    let call = modern(json!({"name": "session_list", "arguments": {}}));
    let modern = client.request("tools/call", call)["result"].clone();
    assert_eq!(modern["resultType"], "complete");
    assert_eq!(
        modern["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "paneglass"
    );
    for result in [legacy, modern] {
        assert_eq!(result.get("structuredContent"), None);
        let text = result["content"][0]["text"].as_str().expect("text");
        assert!(
            serde_json::from_str::<Value>(text).is_err(),
            "text that is JSON: {text}"
        );
    }
    let wrong = client.call("session_list", json!({"no_such_argument": 1}));
    assert_eq!(wrong["isError"], true, "{wrong}");
    let unknown = client.request("tools/call", json!({"name": "no_such_tool"}));
    assert_eq!(unknown["error"]["code"], -32602);
}

#[test]
fn ids_come_back_as_they_went() {
    let mut client = Client::start();
    for id in [
        "0",
        "-1",
        "9007199254740993",
        "123456789012345678901234567890",
        "\"\"",
        "\"é \\\"\"",
    ] {
        client.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        assert_eq!(
            client.next_line(),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
        );
    }
}

#[test]
fn junk_is_answered_and_the_server_lives_on() {
    let mut client = Client::start();
    let mut long = br#"{"jsonrpc":"2.0","method":"ping","x":""#.to_vec();
    long.resize(17 << 20, b'x');
    long.extend(br#"","id":"long"}"#);
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":"deep","method":"ping","params":{}"#,
        "[".repeat(100_000)
    );
    for (line, code, id) in [
        (&b"nonsense"[..], -32700, Value::Null),
        (b"\xff\xfe\x00", -32700, Value::Null),
        (
            br#"{"jsonrpc":"2.0","id":"cut","method""#,
            -32700,
            json!("cut"),
        ),
        (
            br#"{"jsonrpc":"2.0","id":"half","method":"ping","params":{"a":"\ud800"}}"#,
            -32700,
            json!("half"),
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":\"raw\",\"method\":\"\xc3\"}",
            -32700,
            json!("raw"),
        ),
        (deep.as_bytes(), -32700, json!("deep")),
        (&long, -32600, json!("long")),
        (b"[]", -32600, Value::Null),
        (b"{}", -32600, Value::Null),
        (
            b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
            -32600,
            Value::Null,
        ),
    ] {
        client.bytes(line);
        client.bytes(b"\r\n\n");
        let answer = client.next();
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &id),
            "{answer}"
        );
        assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    }
}

#[test]
fn a_batch_under_its_revision() {
    let mut client = Client::legacy("2025-03-26");
    client.line(
        r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":"b","method":"tools/list"}]"#,
    );
    let answer = client.next();
    let ids: Vec<_> = answer
        .as_array()
        .expect("an array")
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, ["a", "b"]);
    client.line(r#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#);
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn a_long_call_is_pinged_and_cancelled() {
    let Some(mut client) = with_session("a_long_call_is_pinged_and_cancelled") else {
        return;
    };
    let call = json!({"name": "run", "arguments": {"session": "s", "input": "sleep 1000", "timeout_s": 600},
        "_meta": {"progressToken": 0}});
    let id = client.begin("tools/call", call);
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    let mut last = 0.0;
    for _ in 0..2 {
        let progress = client.find(|message| message["method"] == "notifications/progress");
        assert_eq!(progress["params"]["progressToken"], 0);
        let now = progress["params"]["progress"].as_f64().expect("a number");
        assert!(now > last, "{now} after {last}");
        last = now;
    }
    cancel(&mut client, id);
    cancel(&mut client, 999);
    // The command goes on: another call finds it, and nothing came for the cancelled one.
    let running = client.call("run", json!({"session": "s", "input": "true"}));
    assert_eq!(running["isError"], true, "{running}");
    client.close_input();
    let late = client.rest();
    assert!(late.iter().all(|message| message["id"] != id), "{late:?}");
    assert_eq!(client.exit().code(), Some(0));
}

#[test]
fn what_a_pane_prints_cannot_break_the_framing() {
    let Some(mut client) = with_session("what_a_pane_prints_cannot_break_the_framing") else {
        return;
    };
    let command = r"printf 'a\342\200\250b\342\200\251c\302\205d\n'";
    // The client refuses every line that holds one of the three.
    client.text("run", json!({"session": "s", "input": command}));
    // Lines hold what tmux shows, and some versions show none of the three; the bytes hold them all.
    let text = client.text("read", json!({"session": "s", "view": "raw"}));
    assert!(text.contains("a\u{2028}b\u{2029}c"), "{text}");
}

#[test]
fn requests_before_the_end_of_input_are_answered() {
    let mut client = Client::start();
    client.begin(
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {}}),
    );
    client.begin("tools/list", json!({}));
    client.bytes(br#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#);
    client.close_input();
    let ids: Vec<_> = client
        .rest()
        .iter()
        .map(|message| message["id"].as_u64())
        .collect();
    assert_eq!(ids, [Some(1), Some(2), Some(3)]);
    assert_eq!(client.exit().code(), Some(0));
}

#[test]
fn the_end_of_input_ends_a_wait() {
    let Some(mut client) = with_session("the_end_of_input_ends_a_wait") else {
        return;
    };
    let call = json!({"name": "run", "arguments": {"session": "s", "input": "sleep 1000", "timeout_s": 600}});
    client.begin("tools/call", call);
    client.request("ping", json!({}));
    let closed = Instant::now();
    client.close_input();
    assert_eq!(client.exit().code(), Some(0));
    assert!(closed.elapsed() < DEADLINE / 2, "{:?}", closed.elapsed());
}

#[test]
fn signals_end_it_in_order() {
    for signal in ["INT", "TERM", "HUP"] {
        let mut client = Client::legacy("2025-11-25");
        let sent = Command::new("kill")
            .args(["-s", signal, &client.pid().to_string()])
            .status();
        assert!(sent.expect("kill runs").success());
        assert_eq!(
            client.exit().code(),
            Some(0),
            "{signal}: {}",
            client.stderr()
        );
        assert!(client.rest().is_empty());
    }
}

#[test]
fn a_client_that_stops_reading_ends_it_quietly() {
    let mut client = Client::legacy("2025-11-25");
    client.close_output();
    client.request("ping", json!({}));
    // The pipe is closed once the reader has dropped it, so the answers to come have nowhere to go.
    let deadline = Instant::now() + DEADLINE;
    while client.try_line(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#) {
        assert!(
            Instant::now() < deadline,
            "the server goes on without a reader"
        );
        std::thread::yield_now();
    }
    assert_eq!(client.exit().code(), Some(0), "{}", client.stderr());
    assert!(!client.stderr().contains("panicked"), "{}", client.stderr());
}
