//! One server for many clients: who may have the state directory and the socket, what the agents are called, what is
//! written down of them, and how it ends.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::util::binary;
use crate::util::client::{Client, DEADLINE};
use crate::util::dir::{Dir, Running};
use crate::util::server::{Server, answer, call, initialize, post, request};
use crate::util::skip::have;

#[test]
fn a_second_server_is_refused_and_told_who_has_it() {
    if !have("a_second_server_is_refused_and_told_who_has_it", "tmux") {
        return;
    }
    let server = Server::start();
    let pid = format!("pid {} on ", server.pid());
    let other = server.dir.path().join("other");
    fs::create_dir(&other).expect("our own");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o700)).expect("our own");
    let socket = other.join("s");
    let same_state = server
        .dir
        .run(&["serve", "--socket", socket.to_str().expect("UTF-8")]);
    assert!(same_state.bad(1).contains(&pid), "{same_state:?}");
    assert!(same_state.err.contains("state directory"), "{same_state:?}");
    let remedy = "let one `paneglass serve` serve all clients";
    assert!(same_state.err.contains(remedy), "{same_state:?}");
    let state = other.join("state");
    let state = [("PANEGLASS_HOME", state.to_str().expect("UTF-8"))];
    let same_socket = server.dir.run_with(&["serve"], &state);
    assert!(same_socket.bad(1).contains(&pid), "{same_socket:?}");
    assert!(same_socket.err.contains("listens on"), "{same_socket:?}");
    let stdio = server.dir.run(&["--no-bridge"]);
    assert!(stdio.bad(1).contains("--no-bridge"), "{stdio:?}");
    // Without that it is a bridge, to the tools that the server has.
    for (args, lines) in [(&[][..], 1), (&["--toolsets", "devices"], 2)] {
        let bridge = server.dir.run(args);
        assert_eq!(bridge.code, Some(0), "{bridge:?}");
        assert_eq!(bridge.err.lines().count(), lines, "{bridge:?}");
        let told = bridge.err.contains("--toolsets has no effect");
        assert_eq!(told, lines == 2, "{bridge:?}");
    }
    server.answers();
    // And the other way round: a client's private server has the state directory.
    drop(server);
    let mut client = Client::in_session();
    let mut command = Dir::new().command(binary());
    let home = client.home().to_owned();
    command
        .args(["serve"])
        .current_dir(&home)
        .env("PANEGLASS_HOME", home.join("state"))
        .env("XDG_RUNTIME_DIR", home.join("run"));
    let ran = command.output().expect("the binary runs");
    let err = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(err.contains(&format!("pid {} on ", client.pid())), "{err}");
    assert_eq!(client.run("true").facts["exit_code"], 0);
}

#[test]
fn of_servers_that_start_at_once_one_is_left() {
    if !have("of_servers_that_start_at_once_one_is_left", "tmux") {
        return;
    }
    for round in 0..3 {
        let dir = Dir::new();
        let start = |at: usize| {
            let mut command = dir.command(binary());
            let err = fs::File::create(dir.path().join(format!("err{at}"))).expect("our own");
            // Half of them want another socket: then it is the state directory that they meet at.
            let socket = dir.path().join("run").join(format!("s{}", at % 2));
            command.arg("serve").arg("--socket").arg(socket);
            command.stdout(Stdio::null()).stderr(err);
            Running(command.spawn().expect("the binary starts"))
        };
        let mut servers: Vec<Running> = (0..6).map(start).collect();
        let deadline = Instant::now() + DEADLINE;
        loop {
            let mut left = Vec::new();
            for (at, server) in servers.iter_mut().enumerate() {
                match server.0.try_wait().expect("our child") {
                    None => left.push(at),
                    Some(status) => assert_eq!(status.code(), Some(1)),
                }
            }
            assert!(!left.is_empty(), "none is left in round {round}");
            if let [one] = left[..] {
                let err =
                    || fs::read_to_string(dir.path().join(format!("err{one}"))).expect("our own");
                while !err().contains("serving") {
                    assert!(Instant::now() < deadline, "{}", err());
                }
                break;
            }
            assert!(Instant::now() < deadline, "{left:?} are left");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

#[test]
fn what_a_killed_server_left_is_taken_over() {
    if !have("what_a_killed_server_left_is_taken_over", "tmux") {
        return;
    }
    let mut server = Server::start();
    server.post(&[], &call("session_create", json!({"name": "t1"})));
    let first = server.get("/health").json()["instance"].clone();
    server.kill();
    assert!(server.socket().exists());
    server.start_again();
    assert_ne!(server.get("/health").json()["instance"], first);
    let ran = server.post(
        &[],
        &call("run", json!({"session": "t1", "input": "(exit 4)"})),
    );
    assert!(ran.body.contains("exit 4"), "{ran:?}");
    // Stopped in the middle of a call: it is answered, and nothing is left.
    let mut stream = server.unix();
    let wait = call(
        "run",
        json!({"session": "t1", "input": "sleep 600", "timeout_s": 600}),
    );
    stream
        .write_all(&post(&[], &wait.to_string()))
        .expect("it reads");
    let deadline = Instant::now() + DEADLINE;
    while !server
        .post(&[], &call("session_list", json!({})))
        .body
        .contains("sleep works")
    {
        assert!(Instant::now() < deadline, "it does not begin");
    }
    let took = server.stop();
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(answer(&mut stream).body.contains("result"));
    assert!(!server.socket().exists());
    server.start_again();
    let listed = server.post(&[], &call("session_list", json!({})));
    assert!(listed.body.contains("sleep works"), "{listed:?}");
}

#[test]
fn folders_and_files_are_the_users_alone() {
    let server = Server::tcp();
    let mode = |path: &str| {
        let path = server.dir.path().join(path);
        let meta =
            fs::metadata(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        meta.permissions().mode() & 0o777
    };
    assert_eq!(server.token().len(), 64);
    for (path, wanted) in [
        ("run/paneglass", 0o700),
        ("run/paneglass/server.sock", 0o600),
        ("run/paneglass/server.sock.lock", 0o600),
        ("run/paneglass/server.sock.inner", 0o600),
        ("state/panes", 0o600),
        ("state", 0o700),
        ("state/lock", 0o600),
        ("state/token", 0o600),
    ] {
        assert_eq!(mode(path), wanted, "{path}");
    }
    let dir = Dir::new();
    let open = dir.path().join("open");
    fs::create_dir(&open).expect("our own");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).expect("our own");
    let socket = open.join("s");
    let ran = dir.run(&["serve", "--socket", socket.to_str().expect("UTF-8")]);
    assert!(ran.bad(1).contains("chmod 700"), "{ran:?}");
    let long = format!("/tmp/{}/s", "x".repeat(110));
    assert!(
        dir.run(&["serve", "--socket", &long])
            .bad(1)
            .contains("too long")
    );
    // A token that others can read is none.
    dir.run(&["token"]).good();
    let token = dir.path().join("state/token");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).expect("our own");
    let ran = dir.run(&["token"]);
    assert!(ran.bad(1).contains("delete it"), "{ran:?}");
    fs::remove_file(&token).expect("our own");
    let new = dir.run(&["token"]).good().to_owned();
    assert_eq!(dir.run(&["token"]).good(), new);
}

#[test]
fn agents_have_names_and_state_of_their_own() {
    if !have("agents_have_names_and_state_of_their_own", "tmux") {
        return;
    }
    let server = Server::start();
    let mut one = server.bridge(&[]);
    let mut two = server.bridge(&[]);
    let mut named = server.bridge(&["--actor", "reviewer"]);
    for (client, name) in [(&mut one, "a"), (&mut two, "b"), (&mut named, "c")] {
        let opened = client.open(json!({"name": name}));
        assert!(!opened.is_error);
    }
    let id = server.session("black-box");
    let http = [("Mcp-Session-Id", id.as_str())];
    server.post(&http, &call("session_create", json!({"name": "d"})));
    let list = one.tool("session_list", json!({})).text;
    for (session, agent) in [
        ("a", "black-box"),
        ("b", "black-box#2"),
        ("c", "reviewer"),
        ("d", "black-box#3"),
    ] {
        let line = list
            .lines()
            .find(|line| line.starts_with(&format!("{session} · ")));
        let agents = format!("opened by {agent} ");
        assert!(
            line.is_some_and(|line| line.contains(&agents)),
            "{agent}: {list}"
        );
    }
    // Each is told once what another ran.
    let told = |client: &mut Client, line: &str| {
        let reply = client.tool(
            "run",
            json!({"session": "a", "input": line, "timeout_s": 60}),
        );
        assert_eq!(reply.facts["exit_code"], 0, "{}", reply.text);
        reply.text
    };
    told(&mut one, "true first");
    told(&mut two, "true second");
    let news = |client: &mut Client| {
        client
            .tool("wait", json!({"session": "a", "timeout_s": 0}))
            .text
    };
    let text = news(&mut one);
    assert!(
        text.contains("true second") && text.contains("black-box#2"),
        "{text}"
    );
    let text = news(&mut one);
    assert!(!text.contains("true second"), "{text}");
    // What was typed and printed is in no line of the log.
    let calls = server.calls();
    assert!(calls.iter().any(|call| call["agent"] == "black-box#2"
        && call["tool"] == "run"
        && call["session"] == "a"
        && call["ok"] == true));
    let refused = one.tool("run", json!({"session": "nowhere", "input": "true"}));
    assert!(refused.is_error);
    let last = server.calls().pop().expect("a line");
    assert_eq!(
        (last["ok"].as_bool(), last["error"].as_str()),
        (Some(false), Some("refused")),
        "{last}"
    );
    assert!(last["time"].is_number() && last["duration_ms"].is_number());
    let text = fs::read_to_string(server.dir.path().join("state/calls.log")).expect("a log");
    assert!(!text.contains("second"), "{text}");
    // A name is free again when its client has gone.
    drop(two);
    let deadline = Instant::now() + DEADLINE;
    loop {
        let mut next = server.bridge(&[]);
        next.tool("session_list", json!({}));
        let agent = server.calls().pop().expect("a line")["agent"].clone();
        if agent == "black-box#2" {
            break;
        }
        assert!(Instant::now() < deadline, "{agent}");
    }
}

#[test]
fn a_line_transport_on_the_socket() {
    let server = Server::start();
    let mut stream = server.unix();
    let lines = format!(
        "{}\n{}\r\nnonsense\n",
        initialize("raw"),
        request("ping", json!({}))
    );
    stream.write_all(lines.as_bytes()).expect("it reads");
    let mut lines = BufReader::new(stream).lines();
    let mut next = || lines.next().expect("a line").expect("a line");
    assert!(next().contains("2025-11-25"));
    assert_eq!(next(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(next().contains("-32700"));
}

#[test]
fn commands_ask_the_server_that_runs() {
    if !have("commands_ask_the_server_that_runs", "tmux") {
        return;
    }
    let server = Server::start();
    let ran = server.dir.run(&["call", "session_create", "name=t1"]);
    assert!(ran.good().starts_with("[t1 "), "{ran:?}");
    let ran = server
        .dir
        .run(&["call", "--json", "run", "session=t1", "input=(exit 3)"]);
    assert!(ran.good().contains(r#""exit_code":3"#), "{ran:?}");
    let ran = server.dir.run(&["call", "run", "session=none", "input=x"]);
    assert_eq!(
        (ran.code, ran.out.contains("there is no session")),
        (Some(1), true),
        "{ran:?}"
    );
    assert!(
        server
            .dir
            .run(&["call", "rum"])
            .bad(2)
            .contains("session_create")
    );
    assert_eq!(server.calls().len(), 3);
    assert!(server.calls().iter().all(|call| call["agent"] == "call"));
    let listed = server.dir.run(&["list", "--json"]);
    assert!(listed.good().contains("\"t1\""), "{listed:?}");
    assert!(server.dir.run(&["list"]).good().contains("t1"));
}

#[test]
fn the_unit_starts_what_was_asked_for() {
    let dir = Dir::new();
    let unit = dir.run(&["serve", "--print-unit", "--tcp", "9000", "--host", "::1"]);
    let start = unit
        .good()
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="));
    let binary = binary().to_string_lossy().into_owned();
    assert_eq!(
        start,
        Some(format!("{binary} serve --tcp 9000 --host ::1").as_str())
    );
    for text in [
        "\n#Environment=PANEGLASS_HOME=%h/.local/state/paneglass/%l\n",
        "systemctl --user enable",
        "WantedBy=default.target",
    ] {
        assert!(unit.out.contains(text), "{unit:?}");
    }
    assert!(!dir.path().join("state").exists());
}

/// As a service of systemd: tmux is started in a scope of its own, so that the service's end does not end it.
#[test]
fn under_systemd_tmux_has_a_scope_of_its_own() {
    if !have("under_systemd_tmux_has_a_scope_of_its_own", "tmux") {
        return;
    }
    let dir = Dir::new();
    let bin = dir.path().join("bin");
    fs::create_dir(&bin).expect("our own");
    // Does what systemd-run does with a scope, but for the scope.
    let script = "#!/bin/sh\necho \"$@\" >>\"$HOME/scopes\"\nuntil [ \"$1\" = -- ]; do shift; done\nshift\nexec \"$@\"\n";
    fs::write(bin.join("systemd-run"), script).expect("our own");
    fs::set_permissions(bin.join("systemd-run"), fs::Permissions::from_mode(0o755))
        .expect("our own");
    let path = std::env::var("PATH").expect("a path");
    let path = format!("{}:{path}", bin.display());
    let server = Server::in_dir(dir, &[], None, &[("PATH", &path), ("INVOCATION_ID", "1")]);
    for name in ["a", "b"] {
        let opened = server.post(&[], &call("session_create", json!({"name": name})));
        assert_eq!(opened.json()["result"]["isError"], false, "{opened:?}");
    }
    let scopes = fs::read_to_string(server.dir.path().join("scopes")).expect("it was asked for");
    assert_eq!(scopes.lines().count(), 1, "{scopes}");
    assert!(
        scopes.starts_with("--user --scope ") && scopes.contains("start-server"),
        "{scopes}"
    );
    for name in ["a", "b"] {
        server.post(&[], &call("session_close", json!({"session": name})));
    }
    // Without a session it ends, as ever; the next one gets another.
    let opened = server.post(&[], &call("session_create", json!({"name": "c"})));
    assert_eq!(opened.json()["result"]["isError"], false, "{opened:?}");
    let scopes = fs::read_to_string(server.dir.path().join("scopes")).expect("it was asked for");
    assert_eq!(scopes.lines().count(), 2, "{scopes}");
}
