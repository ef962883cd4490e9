//! Clients at a bridge: their server is killed and started again in the middle of calls, and they notice nothing but
//! what they should be told.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::util::binary;
use crate::util::client::{Client, DEADLINE};
use crate::util::dir::Dir;
use crate::util::reply::Reply;
use crate::util::server::{Server, call};
use crate::util::skip::have;

/// The reply to a call that was sent before.
fn reply(client: &mut Client, id: u64) -> Reply {
    let answer = client.answer(id);
    let result = &answer["result"];
    Reply {
        text: result["content"][0]["text"]
            .as_str()
            .unwrap_or_default()
            .into(),
        facts: result["_meta"]["paneglass/facts"].clone(),
        is_error: result["isError"].as_bool().unwrap_or_default(),
    }
}

fn begin(client: &mut Client, tool: &str, arguments: serde_json::Value) -> u64 {
    client.begin("tools/call", json!({"name": tool, "arguments": arguments}))
}

#[test]
fn a_run_over_a_killed_server_is_typed_once() {
    if !have("a_run_over_a_killed_server_is_typed_once", "tmux") {
        return;
    }
    let mut server = Server::start();
    let mut client = server.bridge(&[]);
    client.open(json!({"name": "t1"}));
    let once = server.dir.path().join("once");
    let go = server.dir.path().join("go");
    let line = format!(
        "echo x >> {}; seq 300; until [ -e {} ]; do sleep 0.01; done; seq 301 600; (exit 9)",
        once.display(),
        go.display()
    );
    for round in 1..=3 {
        fs::remove_file(&go).ok();
        let id = begin(
            &mut client,
            "run",
            json!({"session": "t1", "input": line, "timeout_s": 600}),
        );
        let deadline = Instant::now() + DEADLINE;
        while fs::read_to_string(&once)
            .unwrap_or_default()
            .lines()
            .count()
            < round
        {
            assert!(Instant::now() < deadline, "it does not begin");
        }
        server.kill();
        fs::write(&go, "").expect("our own");
        server.start_again();
        let interrupted = reply(&mut client, id);
        assert!(!interrupted.is_error, "{}", interrupted.text);
        assert_eq!(interrupted.status(), "interrupted", "{}", interrupted.text);
        assert!(interrupted.text.contains("`wait`"), "{}", interrupted.text);
        let ended = client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
        assert!(ended.text.contains("exit 9"), "{}", ended.text);
        let text = fs::read_to_string(&once).expect("a file");
        assert_eq!(text.lines().count(), round, "it is typed again");
    }
    // Nothing printed is lost.
    let found = client.tool(
        "search",
        json!({"session": "t1", "pattern": "^(1|300|301|600)$"}),
    );
    assert_eq!(found.facts["total_matches"], 12, "{}", found.text);
}

#[test]
fn what_only_reads_or_waits_is_asked_again() {
    if !have("what_only_reads_or_waits_is_asked_again", "tmux") {
        return;
    }
    let mut server = Server::start();
    let mut client = server.bridge(&[]);
    client.open(json!({"name": "t1"}));
    let go = server.dir.path().join("go");
    let line = format!(
        "until [ -e {} ]; do sleep 0.01; done; echo there",
        go.display()
    );
    client.tool(
        "run",
        json!({"session": "t1", "input": line, "timeout_s": 0}),
    );
    let id = begin(
        &mut client,
        "wait",
        json!({"session": "t1", "timeout_s": 600, "until": "^there$"}),
    );
    // Asked to stop it answers what waits, as it stands; killed it answers nothing.
    for _ in 0..2 {
        server.kill();
        server.start_again();
    }
    // The client goes on meanwhile.
    assert_eq!(client.request("ping", json!({}))["result"], json!({}));
    fs::write(&go, "").expect("our own");
    let ended = reply(&mut client, id);
    assert!(
        ended.text.contains("there") && !ended.is_error,
        "{}",
        ended.text
    );
}

/// Restarted as systemd does it, a server answers what waits before it ends, as it stands.
#[test]
fn a_restart_in_the_middle_of_a_call() {
    if !have("a_restart_in_the_middle_of_a_call", "tmux") {
        return;
    }
    let mut server = Server::start();
    let mut client = server.bridge(&[]);
    client.open(json!({"name": "t1"}));
    let (once, go) = (server.dir.path().join("once"), server.dir.path().join("go"));
    let line = format!(
        "echo x >> {}; until [ -e {} ]; do sleep 0.01; done; (exit 8)",
        once.display(),
        go.display()
    );
    let run = json!({"session": "t1", "input": line, "timeout_s": 600});
    let id = begin(&mut client, "run", run);
    let deadline = Instant::now() + DEADLINE;
    // The server has heard of it too.
    let begun = |server: &Server| {
        let told = server.post(&[], &call("regions", json!({"session": "t1"})));
        told.body.contains("#1 · running")
    };
    while !once.exists() || !begun(&server) {
        assert!(Instant::now() < deadline, "it does not begin");
    }
    server.stop();
    server.start_again();
    let stopped = reply(&mut client, id);
    assert!(!stopped.is_error, "{}", stopped.text);
    assert_eq!(stopped.facts["region"], 1, "{}", stopped.text);
    fs::write(&go, "").expect("our own");
    let ended = client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
    assert_eq!(ended.facts["exit_code"], 8, "{}", ended.text);
    assert_eq!(fs::read_to_string(&once).expect("a file"), "x\n");
}

#[test]
fn a_client_asks_while_there_is_no_server() {
    if !have("a_client_asks_while_there_is_no_server", "tmux") {
        return;
    }
    let mut server = Server::start();
    let mut client = server.bridge(&[]);
    client.open(json!({"name": "t1"}));
    let took = server.stop();
    assert!(took < Duration::from_secs(5), "{took:?}");
    let ids = [
        begin(
            &mut client,
            "run",
            json!({"session": "t1", "input": "(exit 6)", "timeout_s": 60}),
        ),
        client.begin("ping", json!({})),
    ];
    server.start_again();
    // What had not gone out is typed now, once.
    let ran = reply(&mut client, ids[0]);
    assert_eq!(ran.facts["exit_code"], 6, "{}", ran.text);
    assert_eq!(client.answer(ids[1])["result"], json!({}));
}

#[test]
fn agents_stay_who_they_are() {
    if !have("agents_stay_who_they_are", "tmux") {
        return;
    }
    let mut server = Server::start();
    let mut clients: Vec<Client> = (0..3).map(|_| server.bridge(&[])).collect();
    let mut names = |server: &Server, order: &[usize]| -> Vec<String> {
        let mut names = vec![String::new(); 3];
        for &at in order {
            clients[at].tool("session_list", json!({}));
            // The bridge asks for its name after the answer, so the next answer is behind that.
            clients[at].request("ping", json!({}));
            let agent = server.calls().pop().expect("a line")["agent"].clone();
            names[at] = agent.as_str().expect("a name").to_owned();
        }
        names
    };
    let before = names(&server, &[0, 1, 2]);
    assert_eq!(before, ["black-box", "black-box#2", "black-box#3"]);
    for order in [[2, 1, 0], [1, 2, 0]] {
        server.kill();
        server.start_again();
        assert_eq!(names(&server, &order), before);
    }
}

#[test]
fn a_stdio_start_becomes_a_bridge() {
    if !have("a_stdio_start_becomes_a_bridge", "tmux") {
        return;
    }
    let mut server = Server::start();
    let mut client = Client::joining(server.dir.path(), &[]);
    client.shake_hands("2025-11-25");
    client.open(json!({"name": "t1"}));
    assert!(client.stderr().contains("bridge"), "{}", client.stderr());
    let sessions = server.get("/api/sessions").json();
    assert_eq!(sessions[0]["name"], "t1");
    // It works where the client was started, not where the server was.
    let elsewhere = server.dir.path().join("run");
    let mut command = server.dir.command(binary());
    command
        .args(["call", "session_create", "name=t2"])
        .current_dir(&elsewhere);
    server.dir.end(command, "call").good();
    let cwd = server.get("/api/sessions/t2").json()["cwd"].clone();
    assert_eq!(cwd.as_str(), elsewhere.to_str());
    server.kill();
    server.start_again();
    let ran = client.tool("run", json!({"session": "t1", "input": "(exit 2)"}));
    assert_eq!(ran.facts["exit_code"], 2, "{}", ran.text);
    client.close_input();
    assert_eq!(client.exit().code(), Some(0));
}

#[test]
fn no_server_for_30_s_ends_the_bridge() {
    let dir = Dir::new();
    let mut client = Client::joining(dir.path(), &["connect"]);
    let begun = Instant::now();
    assert_eq!(client.exit().code(), Some(1));
    assert!(begun.elapsed() >= Duration::from_secs(29));
    assert!(
        client.stderr().contains("paneglass serve"),
        "{}",
        client.stderr()
    );
    // One whose client ends does not wait.
    let mut client = Client::joining(dir.path(), &["connect"]);
    client.close_input();
    assert_eq!(client.exit().code(), Some(0));
}

#[test]
fn modern_clients_and_batches_are_carried_too() {
    let mut server = Server::start();
    let mut client = Client::joining(server.dir.path(), &["connect"]);
    let envelope = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    for _ in 0..2 {
        let found = client.request("server/discover", json!({"_meta": envelope}));
        assert_eq!(found["result"]["resultType"], "complete", "{found}");
        server.kill();
        server.start_again();
    }
    let mut client = Client::joining(server.dir.path(), &["connect"]);
    client.shake_hands("2025-03-26");
    client.line(r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]"#);
    let batch = client.find(|message| message.is_array());
    assert_eq!(batch.as_array().map(Vec::len), Some(2));
}
