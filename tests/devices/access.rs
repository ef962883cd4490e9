//! Who gets in and what each sees: invitations and tokens that are wrong, used, expired or foreign; several devices of
//! one token; a client whose bearer is a client token.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Device, joined, online, record, refusal, server, tool, with_paneglass};
use crate::util::client::DEADLINE;
use crate::util::dir::Dir;
use crate::util::server::{Answer, Server, answer, call, initialize, post, request};
use crate::util::skip::have;

/// What `paneglass join` says of an invitation that is not good.
fn refused(server: &Server, invitation: &str) -> String {
    let dir = Dir::new();
    std::fs::write(dir.path().join("invitation"), invitation).expect("our own");
    let url = format!("http://127.0.0.1:{}", server.port());
    let ran = dir.run(&["join", &url, "--invitation", "@invitation"]);
    let told = ran.bad(1).to_owned();
    assert!(!told.contains(invitation), "{told}");
    told
}

#[test]
fn what_is_not_good_is_refused_alike() {
    if !have("what_is_not_good_is_refused_alike", "tmux") {
        return;
    }
    let server = server();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let one = record(&server, "create_client", json!({}));
    let other = record(&server, "create_client", json!({"timeout_seconds": 1}));
    let device = Device::paste(&text(&one["macos_linux_command"]));
    let id = online(&server, &text(&one["client_token"]));
    let wrong = refused(&server, &"0".repeat(64));
    assert!(wrong.contains("not accepted"), "{wrong}");
    let used = text(&one["invitation"]);
    let token = text(&one["client_token"]);
    let foreign = text(&other["client_token"]);
    for secret in [used, token.clone(), foreign.clone()] {
        assert_eq!(refused(&server, &secret), wrong);
    }
    // Expired: asked until it is, since a clock may stand still for a moment.
    let invitation = text(&other["invitation"]);
    std::thread::sleep(Duration::from_millis(1_100));
    assert_eq!(refused(&server, &invitation), wrong);
    // Each token opens its own alone, and says no more of the others than of none.
    let ask = |token: &str| json!({"client_token": token, "client_id": id, "command": "true"});
    let of_other = refusal(&server, "execute_command", ask(&foreign));
    let of_none = refusal(&server, "execute_command", {
        json!({"client_token": foreign, "client_id": "zzzzzz", "command": "true"})
    });
    assert_eq!(of_other.replace(&id, "zzzzzz"), of_none);
    let invalid = refusal(&server, "execute_command", ask(&"1".repeat(64)));
    assert!(
        invalid.contains("not valid") && !invalid.contains("1111"),
        "{invalid}"
    );
    assert_eq!(refusal(&server, "execute_command", ask("x")), invalid);
    let session = json!({"client_token": token, "command": "cat"});
    let session = record(&server, "session_start", session);
    let foreign_read = json!({"client_token": foreign, "session_id": session["session_id"]});
    assert!(refusal(&server, "session_read", foreign_read).contains("no session"));
    assert!(!device.stderr().contains("refuses"));
}

#[test]
fn one_token_for_several_devices() {
    if !have("one_token_for_several_devices", "tmux") {
        return;
    }
    let server = server();
    let made = record(&server, "create_client", json!({"multi_device": true}));
    let line = made["macos_linux_command"].as_str().expect("a command");
    let token = made["client_token"].as_str().expect("a token");
    let mut devices: Vec<Device> = (0..3).map(|_| Device::paste(line)).collect();
    devices.iter().for_each(|device| device.says("joined as"));
    let deadline = Instant::now() + DEADLINE;
    let asked = json!({"client_token": token});
    let ids: Vec<String> = loop {
        let listed = record(&server, "list_clients", asked.clone());
        let clients = listed["clients"].as_array().expect("a list");
        if clients.len() == 3 {
            let id = |client: &Value| client["client_id"].as_str().expect("an id").to_owned();
            break clients.iter().map(id).collect();
        }
        assert!(Instant::now() < deadline, "{listed}");
    };
    let unnamed = json!({"client_token": token, "command": "true"});
    assert!(refusal(&server, "execute_command", unnamed).contains("client_id"));
    for id in &ids {
        let run = json!({"client_token": token, "client_id": id, "command": "echo $HOME"});
        let home = record(&server, "execute_command", run)["stdout"].clone();
        let home = home.as_str().expect("a text").trim().to_owned();
        let device = devices
            .iter()
            .find(|device| device.dir.path().to_str() == Some(&home));
        assert!(device.expect("one of them").stderr().contains(id.as_str()));
    }
    // One of them goes; the others stay.
    let revoked = json!({"client_token": token, "client_id": ids[0]});
    assert_eq!(
        record(&server, "revoke_client", revoked.clone()),
        json!({"revoked": [ids[0]]})
    );
    assert!(refusal(&server, "revoke_client", revoked).contains("no device"));
    let left = devices
        .iter_mut()
        .find(|device| device.stderr().contains(&ids[0]));
    assert_eq!(left.expect("one of them").ends(), Some(1));
    // So it is with the command that the server's user has.
    let ran = server.dir.run(&["devices", "revoke", &ids[1]]);
    assert_eq!(ran.good(), format!("revoked {}\n", ids[1]));
    let listed = record(&server, "list_clients", asked);
    assert_eq!(listed["clients"].as_array().map(Vec::len), Some(1));
    let none = server.dir.run(&["devices", "revoke", &ids[1]]);
    let told = format!(
        "no device {:?} has joined; `paneglass devices` lists",
        ids[1]
    );
    assert!(none.bad(1).contains(&told), "{none:?}");
}

/// A request on TCP that shows this token.
fn with_bearer(server: &Server, bearer: &str, fields: &[(&str, &str)], message: &Value) -> Answer {
    let shown = format!("Bearer {bearer}");
    let usual = [
        ("Authorization", shown.as_str()),
        ("Accept", "application/json"),
    ];
    let fields = [&usual[..], fields].concat();
    let mut stream = server.tcp_stream();
    use std::io::Write;
    let bytes = post(&fields, &message.to_string());
    stream.write_all(&bytes).expect("the server reads");
    answer(&mut stream)
}

#[test]
fn a_client_token_as_bearer_sees_its_own_alone() {
    if !have("a_client_token_as_bearer_sees_its_own_alone", "tmux") {
        return;
    }
    let server = server();
    let (token, id, _device) = joined(&server);
    let (other, _, _other_device) = joined(&server);
    let ask = |message: &Value| with_bearer(&server, &token, &[], message);
    let listed = ask(&request("tools/list", json!({}))).json();
    let tools = listed["result"]["tools"].as_array().expect("a list");
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(
        names,
        [
            "list_clients",
            "execute_command",
            "session_start",
            "session_read",
            "session_control",
            "revoke_client",
            "session_list"
        ]
    );
    assert!(
        tools
            .iter()
            .all(|tool| tool["outputSchema"]["type"] == "object")
    );
    assert!(!listed.to_string().contains("client_token"), "{listed}");
    let run = |tool: &str, arguments: Value| ask(&call(tool, arguments)).json()["result"].clone();
    let ran = run("execute_command", json!({"command": "echo mine"}));
    assert_eq!(ran["structuredContent"]["stdout"], "mine\n");
    assert_eq!(ran["structuredContent"]["client_id"], id.as_str());
    let clients = run("list_clients", json!({}));
    assert_eq!(
        clients["structuredContent"]["clients"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    let foreign = json!({"client_token": other, "command": "cat"});
    let foreign = record(&server, "session_start", foreign)["session_id"].clone();
    let mine = run("session_start", json!({"command": "cat"}))["structuredContent"].clone();
    let sessions = run("session_list", json!({}))["structuredContent"]["sessions"].clone();
    assert_eq!(sessions.as_array().map(Vec::len), Some(1));
    assert_eq!(sessions[0]["session_id"], mine["session_id"]);
    assert_eq!(
        run("session_read", json!({"session_id": foreign}))["isError"],
        true
    );
    let told = run(
        "execute_command",
        json!({"client_token": other, "command": "true"}),
    );
    assert_eq!(told["isError"], true);
    // Nothing else of the server is there for it.
    for hidden in ["run", "session_create", "create_client", "read"] {
        let told = ask(&call(hidden, json!({"session": "t1", "input": "true"}))).json();
        assert_eq!(told["error"]["code"], -32602, "{told}");
    }
    let mut stream = server.tcp_stream();
    use std::io::Write;
    let get = format!(
        "GET /api/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(get.as_bytes()).expect("the server reads");
    assert_eq!(answer(&mut stream).status, 403);
    // A session of another's is none, either way.
    let management = server.session("user");
    let field = [("Mcp-Session-Id", management.as_str())];
    let list = request("tools/list", json!({}));
    assert_eq!(with_bearer(&server, &token, &field, &list).status, 404);
    let begun = ask(&initialize("scoped"));
    let own = begun.field("mcp-session-id").expect("an id");
    let field = [("Mcp-Session-Id", own)];
    assert_eq!(with_bearer(&server, &token, &field, &list).status, 200);
    assert_eq!(with_bearer(&server, &other, &field, &list).status, 404);
    // Once it is revoked it opens nothing.
    assert_eq!(
        run("revoke_client", json!({}))["structuredContent"]["revoked"],
        json!([id])
    );
    assert_eq!(ask(&list).status, 401);
    assert_eq!(
        with_bearer(&server, &"2".repeat(64), &[], &list).status,
        401
    );
}

#[test]
fn plain_http_to_another_machine_is_refused() {
    let dir = Dir::new();
    for url in ["http://10.213.7.1:8766", "http://server.example"] {
        let ran = dir.run(&["join", url, "--invitation", &"a".repeat(64)]);
        let told = ran.bad(2);
        assert!(
            told.contains("ssh://") && told.contains("--insecure"),
            "{told}"
        );
    }
    let none = dir.run(&["join"]);
    assert!(none.bad(2).contains("URL"), "{none:?}");
    let short = dir.run(&["join", "http://localhost:1", "--invitation", "abc"]);
    assert!(short.bad(1).contains("64 hexadecimal digits"), "{short:?}");
    let nobody = dir.run(&[
        "join",
        "http://127.0.0.1:1",
        "--invitation",
        &"a".repeat(64),
    ]);
    assert!(nobody.bad(1).contains("cannot connect"), "{nobody:?}");
}

#[test]
fn by_ssh_and_by_another_command() {
    if !have("by_ssh_and_by_another_command", "tmux") {
        return;
    }
    // On the Unix socket alone: nothing listens on the network.
    let server = Server::with(&["--devices"], None);
    let made = record(&server, "create_client", json!({"multi_device": true}));
    let line = made["macos_linux_command"].as_str().expect("a command");
    assert!(line.starts_with("paneglass join ssh://"), "{line}");
    let dir = Dir::new();
    with_paneglass(&dir);
    // What stands for ssh writes down how it was called, and goes to the server's machine.
    let there = server.dir.path();
    let ssh = format!(
        "#!/bin/sh\necho \"$@\" > '{0}/ssh.args'\nwhile [ \"$1\" != paneglass ]; do shift; done\n\
         shift\nHOME='{1}' PANEGLASS_HOME='{1}/state' XDG_RUNTIME_DIR='{1}/run' exec '{2}' \"$@\"\n",
        dir.path().display(),
        there.display(),
        crate::util::binary().display()
    );
    let program = dir.path().join("bin/ssh");
    std::fs::write(&program, ssh).expect("our own");
    let made_executable = Command::new("chmod").arg("755").arg(&program).status();
    assert!(made_executable.expect("chmod runs").success());
    let mut device = Device::start(dir, line);
    let token = made["client_token"].as_str().expect("a token");
    let id = online(&server, token);
    let called =
        std::fs::read_to_string(device.dir.path().join("ssh.args")).expect("it was called");
    assert!(
        called.starts_with("-T ") && called.trim_end().ends_with(" paneglass link"),
        "{called}"
    );
    let run = json!({"client_token": token, "client_id": id, "command": "head -c 300000 /dev/zero | tr '\\0' x"});
    let ran = record(&server, "execute_command", run);
    assert_eq!(ran["stdout"].as_str().map(str::len), Some(300_000));
    device.kill();
    let via = Dir::new();
    with_paneglass(&via);
    let invitation = made["invitation"].as_str().expect("an invitation");
    let line = format!(
        "paneglass join --invitation {invitation} --via env PANEGLASS_HOME={0}/state XDG_RUNTIME_DIR={0}/run paneglass link",
        there.display()
    );
    let via = Device::start(via, &line);
    via.says("joined as");
    let listed = tool(
        &server,
        "list_clients",
        json!({"client_token": token, "wait_ms": 60_000}),
    );
    let other = listed["structuredContent"]["clients"][0]["client_id"].clone();
    assert!(
        via.stderr().contains(other.as_str().expect("an id")),
        "{listed}"
    );
}
