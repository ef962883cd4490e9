//! MCP over HTTP in both eras, by the rules of its table, and the paths beside it.

mod calls;
mod logs;

use std::io::Write;
use std::process::Command;

use serde_json::{Value, json};

use crate::util::server::{Server, answer, call, initialize, modern, post, request};
use crate::util::skip::have;

fn code(body: &Value) -> i64 {
    body["error"]["code"].as_i64().unwrap_or_default()
}

#[test]
fn health_and_sessions() {
    if !have("health_and_sessions", "tmux") {
        return;
    }
    let server = Server::start();
    let health = server.get("/health").json();
    for field in ["service", "version", "host", "user", "instance"] {
        assert!(health[field].is_string(), "{health}");
    }
    assert_eq!(server.get("/api/sessions").json(), json!([]));
    let opened = server.post(
        &[("X-Terminal-Actor", "me")],
        &call(
            "session_create",
            json!({"name": "a", "cols": 100, "rows": 30}),
        ),
    );
    assert_eq!(opened.json()["result"]["isError"], false, "{opened:?}");
    let session = server.get("/api/sessions/a").json();
    assert_eq!(server.get("/api/sessions").json()[0]["name"], "a");
    let facts = [
        ("status", json!("open")),
        ("cols", json!(100)),
        ("agent", json!("me")),
        ("attached", json!(0)),
        ("exit_status", Value::Null),
    ];
    for (name, value) in facts {
        assert_eq!(session[name], value, "{session}");
    }
    assert!(
        session["pane"]["pane_id"]
            .as_str()
            .is_some_and(|id| id.starts_with('%')),
        "{session}"
    );
    let place = format!("{}@{}", health["user"], health["host"]).replace('"', "");
    assert_eq!(session["place"], place, "{session}");
    assert_eq!(session["presence"]["human_input"], Value::Null, "{session}");
    assert!(session["last_output"].as_f64() > session["created"].as_f64().map(|at| at - 60.0));
    assert!(
        session["attach_argv"]
            .as_array()
            .is_some_and(|argv| argv.contains(&json!("=a")))
    );
    server.post(&[], &call("session_close", json!({"session": "a"})));
    assert_eq!(server.get("/api/sessions/a").json()["status"], "closed");
    for (method, path, status, allow) in [
        ("GET", "/api/sessions/none", 404, None),
        ("GET", "/nowhere", 404, None),
        ("POST", "/health", 405, Some("GET")),
        ("DELETE", "/api/sessions", 405, Some("GET")),
        ("GET", "/mcp", 405, Some("POST, DELETE")),
    ] {
        let refused = server.raw(format!("{method} {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
        assert_eq!(
            (refused.status, refused.field("allow")),
            (status, allow),
            "{refused:?}"
        );
        assert!(refused.json()["error"].is_string(), "{refused:?}");
    }
}

#[test]
fn curl_over_the_socket() {
    if !have("curl_over_the_socket", "curl") || !have("curl_over_the_socket", "tmux") {
        return;
    }
    let server = Server::start();
    let curl = |args: &[&str]| {
        let mut command = Command::new("curl");
        command
            .args(["-sS", "--max-time", "60", "--unix-socket"])
            .arg(server.socket());
        let ran = command.args(args).output().expect("curl runs");
        assert!(ran.status.success(), "{ran:?}");
        String::from_utf8(ran.stdout).expect("UTF-8")
    };
    assert!(curl(&["http://x/health"]).contains("paneglass"));
    let json = ["-H", "Content-Type: application/json", "http://x/mcp", "-d"];
    let ask = |message: &Value| {
        let message = message.to_string();
        curl(&[&json[..], &[message.as_str()]].concat())
    };
    ask(&call("session_create", json!({"name": "c"})));
    let ran = ask(&call(
        "run",
        json!({"session": "c", "input": "echo $((6*7)); (exit 5)"}),
    ));
    assert!(ran.contains("exit 5") && ran.contains("42"), "{ran}");
    // A chunked body, and one that asks to be sent first.
    for header in ["Transfer-Encoding: chunked", "Expect: 100-continue"] {
        let message = request("ping", json!({})).to_string();
        let pong = curl(&[&["-H", header], &json[..], &[message.as_str()]].concat());
        assert!(pong.contains(r#""result":{}"#), "{header}: {pong}");
    }
}

#[test]
fn a_legacy_session_from_its_begin_to_its_end() {
    let server = Server::start();
    let id = server.session("legacy");
    assert!(
        id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{id}"
    );
    assert_ne!(server.session("legacy"), id);
    let session = [("Mcp-Session-Id", id.as_str())];
    let listed = server.post(&session, &request("tools/list", json!({})));
    assert_eq!(
        (listed.status, listed.field("content-type")),
        (200, Some("application/json"))
    );
    assert!(listed.json()["result"]["tools"][0]["name"].is_string());
    let noted = server.post(
        &session,
        &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    );
    assert_eq!(
        (
            noted.status,
            noted.body.as_str(),
            noted.field("content-type")
        ),
        (202, "", None)
    );
    // Errors of JSON-RPC are answers like others.
    let unknown = server.post(&session, &request("nonsense", json!({})));
    assert_eq!((unknown.status, code(&unknown.json())), (200, -32601));
    // One that a server does not know any more, and a client that begins anew all the same.
    let other = [("Mcp-Session-Id", "0123")];
    assert_eq!(server.post(&other, &request("ping", json!({}))).status, 404);
    let begun = server.post(&other, &initialize("legacy"));
    assert!(
        begun
            .field("mcp-session-id")
            .is_some_and(|new| new != "0123"),
        "{begun:?}"
    );
    let delete = |id: &str| {
        let line = format!("DELETE /mcp HTTP/1.1\r\nHost: x\r\n{id}\r\n");
        server.raw(line.as_bytes()).status
    };
    let this = format!("Mcp-Session-Id: {id}\r\n");
    assert_eq!((delete(&this), delete(&this), delete("")), (204, 404, 400));
    assert_eq!(
        server.post(&session, &request("ping", json!({}))).status,
        404
    );
    assert_eq!(delete("MCP-Protocol-Version: 2026-07-28\r\n"), 405);
}

#[test]
fn legacy_versions_and_batches() {
    let server = Server::start();
    let ping = request("ping", json!({}));
    let version = |version| {
        server
            .post(&[("MCP-Protocol-Version", version)], &ping)
            .status
    };
    assert_eq!(
        (
            version("2025-06-18"),
            version(""),
            version("1.0"),
            version("2025-13-01")
        ),
        (200, 200, 400, 400)
    );
    // Where a client says nothing it speaks 2025-03-26, the one revision with batches.
    let batch = json!([ping, {"jsonrpc": "2.0", "method": "notifications/x"}, {"jsonrpc": "2.0", "id": 2, "method": "ping"}]);
    let answered = server.post(&[], &batch);
    assert_eq!(
        (answered.status, answered.json().as_array().map(Vec::len)),
        (200, Some(2))
    );
    assert_eq!(
        server
            .post(&[], &json!([{"jsonrpc": "2.0", "method": "x"}]))
            .status,
        202
    );
    let refused = server.post(&[("MCP-Protocol-Version", "2025-11-25")], &batch);
    assert_eq!((refused.status, code(&refused.json())), (400, -32600));
    let junk = server.raw(&post(&[], "{\"id\":"));
    assert_eq!((junk.status, code(&junk.json())), (400, -32700));
}

#[test]
fn the_modern_era() {
    let server = Server::start();
    let found = server.modern("server/discover", json!({}));
    assert_eq!(
        found.json()["result"]["supportedVersions"],
        json!(["2026-07-28"]),
        "{found:?}"
    );
    assert_eq!(found.status, 200);
    let (fields, list) = modern("tools/list", json!({}));
    let ask = |change: &[(&str, &str)], message: &Value| {
        let mut all: Vec<(&str, &str)> = fields.iter().map(|(a, b)| (*a, b.as_str())).collect();
        for (name, value) in change {
            all.retain(|(other, _)| other != name);
            all.push((name, value));
        }
        let answered = server.post(&all, message);
        let code = match answered.body.as_str() {
            "" => 0,
            _ => code(&answered.json()),
        };
        (answered.status, code)
    };
    assert_eq!(ask(&[], &list), (200, 0));
    assert_eq!(ask(&[("Mcp-Session-Id", "anything")], &list), (200, 0));
    assert_eq!(ask(&[("Mcp-Method", "")], &list), (400, -32020));
    assert_eq!(ask(&[("Mcp-Method", "tools/call")], &list), (400, -32020));
    assert_eq!(ask(&[("MCP-Protocol-Version", "")], &list), (400, -32020));
    assert_eq!(ask(&[], &request("tools/list", json!({}))), (400, -32602));
    assert_eq!(ask(&[], &initialize("x")), (400, -32020));
    let mut future = list.clone();
    future["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2030-01-01".into();
    assert_eq!(
        ask(&[("MCP-Protocol-Version", "2030-01-01")], &future),
        (400, -32022)
    );
    let (_, unknown) = modern("nonsense", json!({}));
    assert_eq!(ask(&[("Mcp-Method", "nonsense")], &unknown), (404, -32601));
    let (_, tool) = modern("tools/call", json!({"name": "no_such_tool"}));
    let named = |name| ask(&[("Mcp-Method", "tools/call"), ("Mcp-Name", name)], &tool);
    assert_eq!(
        (named("no_such_tool"), named("other"), named("")),
        ((400, -32602), (400, -32020), (400, -32020))
    );
    // no_such_tool in base64.
    assert_eq!(named("=?base64?bm9fc3VjaF90b29s?="), (400, -32602));
    assert_eq!(named("=?base64?!?="), (400, 0));
    let note = json!({"jsonrpc": "2.0", "method": "notifications/x"});
    assert_eq!(ask(&[("Mcp-Method", "notifications/x")], &note), (202, 0));
}

#[test]
fn types_and_sizes() {
    let server = Server::start();
    let ping = request("ping", json!({}));
    let with = |name, value| server.post(&[(name, value)], &ping);
    assert_eq!(with("Content-Type", "text/plain").status, 415);
    assert_eq!(with("Content-Type", "").status, 415);
    assert_eq!(
        with("Content-Type", "application/json; charset=utf-8").status,
        200
    );
    assert_eq!(with("Accept", "text/html").status, 406);
    assert_eq!(
        with("Accept", "application/json").json()["result"],
        json!({})
    );
    let stream = with("Accept", "text/event-stream");
    assert_eq!(
        (stream.status, stream.field("content-type")),
        (200, Some("text/event-stream"))
    );
    assert_eq!(
        (
            stream.field("cache-control"),
            stream.field("x-accel-buffering")
        ),
        (Some("no-store"), Some("no"))
    );
    assert_eq!(stream.events()[0]["result"], json!({}));
    assert_eq!(
        server
            .post(&[], &request("ping", json!({"x": "y".repeat(4_190_000)})))
            .status,
        200
    );
    assert_eq!(
        server
            .post(&[], &request("ping", json!({"x": "y".repeat(4_194_304)})))
            .status,
        413
    );
}

#[test]
fn on_tcp_only_who_has_the_token() {
    let server = Server::tcp();
    let token = format!("Bearer {}", server.token());
    let ask = |path: &str, fields: &[(&str, &str)]| {
        let mut stream = server.tcp_stream();
        let mut text = format!("GET {path} HTTP/1.1\r\n");
        for (name, value) in [("Host", "localhost")].iter().chain(fields) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        stream
            .write_all(format!("{text}\r\n").as_bytes())
            .expect("it reads");
        answer(&mut stream)
    };
    assert_eq!(ask("/health", &[]).status, 200);
    let refused = ask("/api/sessions", &[]);
    assert_eq!(
        (refused.status, refused.field("www-authenticate")),
        (401, Some("Bearer realm=\"paneglass\""))
    );
    assert_eq!(
        ask("/api/sessions", &[("Authorization", &token)]).status,
        200
    );
    assert_eq!(
        ask(
            "/api/sessions",
            &[("Authorization", &token[..token.len() - 1])]
        )
        .status,
        401
    );
    assert_eq!(ask("/mcp", &[("Authorization", &token)]).status, 405);
    for origin in ["http://evil.example", "null"] {
        assert_eq!(
            ask(
                "/api/sessions",
                &[("Authorization", &token), ("Origin", origin)]
            )
            .status,
            403
        );
    }
    assert_eq!(
        ask("/health", &[("Origin", "http://localhost:6274")]).status,
        200
    );
    for host in ["evil.example", "10.1.2.3"] {
        let mut stream = server.tcp_stream();
        let text = format!("GET /health HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(text.as_bytes()).expect("it reads");
        assert_eq!(answer(&mut stream).status, 403, "{host}");
    }
    // Plain lines are for the socket, whose peers are known.
    let mut stream = server.tcp_stream();
    stream
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\r\n\r\n")
        .expect("it reads");
    assert_eq!(answer(&mut stream).status, 400);
    server.answers();
}
