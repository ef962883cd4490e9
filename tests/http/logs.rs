//! How long logs stay, over HTTP: told, set and swept as session_logs and `paneglass logs` do it.

use std::io::Write;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::util::client::DEADLINE;
use crate::util::dir::Dir;
use crate::util::pty::Pty;
use crate::util::server::{Answer, Server, answer, call, http};
use crate::util::skip::have;
use crate::util::stored::{age, folder, goes};

const DAY: f64 = 24.0 * 60.0 * 60.0;

/// Calls a tool that succeeds; returns its text.
fn tool(server: &Server, name: &str, arguments: Value) -> String {
    let result = server.post(&[], &call(name, arguments)).result();
    assert_eq!(result["isError"], false, "{result}");
    let text = result["content"][0]["text"].as_str();
    text.expect("text").to_owned()
}

fn open(server: &Server, name: &str) {
    tool(server, "session_create", json!({ "name": name }));
}

fn close(server: &Server, name: &str) {
    tool(server, "session_close", json!({ "session": name }));
}

fn set(server: &Server, name: &str, action: &str) -> Answer {
    let path = format!("/api/sessions/{name}/logs");
    let body = json!({ "action": action }).to_string();
    server.raw(&http("POST", &path, &[], &body))
}

fn sweep(server: &Server, query: &str) -> Value {
    let swept = server.raw(&http("POST", &format!("/api/sweep{query}"), &[], ""));
    assert_eq!(swept.status, 200, "{swept:?}");
    swept.json()
}

/// Epoch seconds.
fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("it is later than 1970").as_secs_f64()
}

/// What is told of a session's logs, by the list and by itself.
fn told(server: &Server, name: &str) -> Value {
    let alone = server.get(&format!("/api/sessions/{name}")).json();
    let all = server.get("/api/sessions").json();
    let mut all = all.as_array().expect("a list").iter();
    let listed = all
        .find(|session| session["name"] == name)
        .expect("it is listed");
    for field in ["keep", "delete_on_close", "expires"] {
        assert!(listed.get(field).is_some(), "{listed}");
        assert_eq!(listed[field], alone[field], "{field}");
    }
    json!([alone["keep"], alone["delete_on_close"], alone["expires"]])
}

#[test]
fn logs_are_told_and_set_as_by_the_tool() {
    if !have("logs_are_told_and_set_as_by_the_tool", "tmux") {
        return;
    }
    let begun = now();
    let server = Server::start();
    open(&server, "a");
    assert_eq!(told(&server, "a"), json!([false, false, null]));
    let check = |action: &str, keep: bool, on_close: bool, expires: bool| {
        let set = set(&server, "a", action);
        assert_eq!(set.status, 200, "{set:?}");
        let set = set.json();
        let words = set["logs"].as_str().expect("words");
        // The same in the tool's words.
        let asked = json!({"session": "a", "action": action});
        assert_eq!(
            tool(&server, "session_logs", asked),
            format!("[a · {words}]")
        );
        assert_eq!(set["name"], "a", "{set}");
        let now_told = told(&server, "a");
        assert_eq!(
            (&now_told[0], &now_told[1]),
            (&json!(keep), &json!(on_close))
        );
        assert_eq!(
            (&set["keep"], &set["delete_on_close"]),
            (&now_told[0], &now_told[1])
        );
        match now_told[2].as_f64() {
            Some(at) => {
                assert!(expires, "{now_told}");
                let range = begun + 3.0 * DAY..=now() + 3.0 * DAY;
                assert!(range.contains(&at), "{at} is not in {range:?}");
            }
            None => assert!(!expires && now_told[2].is_null(), "{now_told}"),
        }
        assert_eq!(set["expires"].is_number(), expires, "{set}");
        words.to_owned()
    };
    assert_eq!(check("keep", true, false, false), "open; its logs stay");
    assert_eq!(
        check("delete_on_close", false, true, false),
        "open; its logs go when it closes"
    );
    assert_eq!(check("default", false, false, false), "open; its logs stay");
    close(&server, "a");
    assert_eq!(check("keep", true, false, false), "its logs are kept");
    let until = check("default", false, false, true);
    assert!(until.starts_with("its logs stay until 2"), "{until}");
    // A server that has read nothing of it says the same.
    let before = told(&server, "a");
    let mut server = server;
    server.kill();
    server.start_again();
    let listed = server.get("/api/sessions").json();
    assert_eq!(listed[0]["expires"], before[2], "{listed}");
    assert_eq!(told(&server, "a"), before);
}

#[test]
fn logs_deleted_over_http_leave_word() {
    if !have("logs_deleted_over_http_leave_word", "tmux") {
        return;
    }
    let server = Server::start();
    let home = server.dir.path();
    open(&server, "a");
    let refused = set(&server, "a", "delete");
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.body.contains("is open; close it first"));
    assert!(folder(home, "a").join("raw.log").exists());
    tool(
        &server,
        "run",
        json!({"session": "a", "input": "echo alive"}),
    );
    close(&server, "a");
    // Another of its name: the first one's logs are a.1 then.
    open(&server, "a");
    close(&server, "a");
    for name in ["a.1", "a"] {
        let deleted = set(&server, name, "delete");
        assert_eq!(deleted.status, 200, "{deleted:?}");
        let deleted = deleted.json();
        assert_eq!(deleted["logs"], "its logs are deleted");
        assert_eq!(deleted["why"], "the HTTP API asked for it");
        assert!(deleted["deleted"].as_f64() > Some(now() - DAY), "{deleted}");
        assert!(!folder(home, name).exists());
    }
    // Whoever comes later is told.
    let read = server.post(&[], &call("read", json!({"session": "a"})));
    let late = [
        server.get("/api/sessions/a"),
        set(&server, "a", "keep"),
        set(&server, "a", "delete"),
        set(&server, "a.1", "default"),
    ];
    for answer in &late {
        assert_eq!(answer.status, 404, "{answer:?}");
    }
    for answer in late.iter().chain([&read]) {
        let words = ["its logs were deleted at 2", "the HTTP API asked for it"];
        assert!(
            words.iter().all(|word| answer.body.contains(word)),
            "{answer:?}"
        );
    }
    assert_eq!(server.get("/api/sessions").json(), json!([]));
    // Who says a name is remembered by it.
    open(&server, "b");
    close(&server, "b");
    let body = json!({"action": "delete"}).to_string();
    let named = [("X-Terminal-Actor", "me")];
    let deleted = server.raw(&http("POST", "/api/sessions/b/logs", &named, &body));
    assert_eq!(deleted.json()["why"], "me asked for it", "{deleted:?}");
    // Of a closed one they go soon.
    open(&server, "c");
    close(&server, "c");
    let soon = set(&server, "c", "delete_on_close");
    assert_eq!(soon.json()["logs"], "its logs are about to be deleted");
    goes(&folder(home, "c"));
}

/// A server went on listing what the command had deleted, as long as nobody asked for it by name.
#[test]
fn what_the_command_deletes_is_not_listed() {
    if !have("what_the_command_deletes_is_not_listed", "tmux") {
        return;
    }
    let mut server = Server::start();
    for name in ["a", "b"] {
        open(&server, name);
        close(&server, name);
    }
    server.kill();
    server.start_again();
    assert_eq!(server.get("/api/sessions").json()[0]["name"], "a");
    server.dir.run(&["logs", "delete", "a"]).good();
    let listed = server.get("/api/sessions").json();
    assert_eq!(
        (listed.as_array().map(Vec::len), &listed[0]["name"]),
        (Some(1), &json!("b"))
    );
    server.dir.run(&["logs", "delete", "b"]).good();
    let listed = tool(&server, "session_list", json!({}));
    assert!(listed.starts_with("[0 sessions, 0 open]"), "{listed}");
}

#[test]
fn what_is_wrongly_asked_for_deletes_nothing() {
    if !have("what_is_wrongly_asked_for_deletes_nothing", "tmux") {
        return;
    }
    let server = Server::tcp();
    let home = server.dir.path();
    open(&server, "a");
    close(&server, "a");
    age(home, "a", 4);
    let delete = json!({"action": "delete"}).to_string();
    let check = |method: &str, path: &str, body: &str, status: u16, word: &str| {
        let refused = server.raw(&http(method, path, &[], body));
        assert_eq!(
            refused.status, status,
            "{method} {path} {body}: {refused:?}"
        );
        let error = refused.json()["error"].as_str().map(str::to_owned);
        assert!(error.is_some_and(|text| text.contains(word)), "{refused:?}");
        if status == 405 {
            assert_eq!(refused.field("allow"), Some("POST"), "{refused:?}");
        }
        assert!(folder(home, "a").exists(), "{method} {path} {body}");
    };
    for method in ["GET", "PUT", "DELETE"] {
        check(method, "/api/sessions/a/logs", &delete, 405, "POST");
        check(method, "/api/sweep", "", 405, "POST");
    }
    for path in [
        "/api/sessions/none/logs",
        "/api/sessions/../logs",
        "/api/sessions/a%2e1/logs",
    ] {
        check("POST", path, &delete, 404, "there is no session");
    }
    for path in [
        "/api/sessions//logs",
        "/api/sessions/a/log",
        "/api/sessions/a/logs/",
        "/api/sweep/",
    ] {
        check("POST", path, &delete, 404, "nothing at this path");
    }
    for (body, word) in [
        ("", "not JSON"),
        ("{\"action\": \"delete\"", "not JSON"),
        ("[\"delete\"]", "not an object"),
        ("{}", "`action` is missing"),
        ("{\"action\": null}", "not a string"),
        (
            "{\"action\": \"Delete\"}",
            "keep, default, delete_on_close, delete",
        ),
        (
            "{\"action\": \"delete\", \"dry_run\": true}",
            "there is no \"dry_run\"",
        ),
    ] {
        check("POST", "/api/sessions/a/logs", body, 400, word);
    }
    for query in ["?dry-run=1", "?dry_run=yes", "?dry_run=1&dry_run=0", "?x=1"] {
        check("POST", &format!("/api/sweep{query}"), "", 400, "dry_run=1");
    }
    check(
        "POST",
        "/api/sweep",
        "{\"dry_run\": true}",
        400,
        "dry_run=1",
    );
    let plain = [("Content-Type", "text/plain")];
    let typed = server.raw(&http("POST", "/api/sessions/a/logs", &plain, &delete));
    assert_eq!(typed.status, 415, "{typed:?}");
    // On TCP they are for who has the token, and not for pages.
    let token = format!("Bearer {}", server.token());
    let ask = |path: &str, fields: &[(&str, &str)], body: &str| {
        let mut stream = server.tcp_stream();
        let bytes = http("POST", path, fields, body);
        stream.write_all(&bytes).expect("it reads");
        answer(&mut stream).status
    };
    let good = ("Authorization", token.as_str());
    for (path, body) in [
        ("/api/sessions/a/logs", delete.as_str()),
        ("/api/sweep", ""),
    ] {
        assert_eq!(ask(path, &[], body), 401);
        assert_eq!(ask(path, &[("Authorization", "Bearer guessed")], body), 401);
        for origin in ["http://evil.example", "null"] {
            assert_eq!(ask(path, &[good, ("Origin", origin)], body), 403);
        }
        assert_eq!(ask(path, &[good, ("Host", "evil.example")], body), 403);
        assert!(folder(home, "a").exists(), "{path}");
    }
    assert_eq!(ask("/api/sweep", &[good], ""), 200);
    assert!(!folder(home, "a").exists());
}

#[test]
fn a_sweep_over_http_takes_what_is_due_alone() {
    if !have("a_sweep_over_http_takes_what_is_due_alone", "tmux") {
        return;
    }
    let server = Server::start();
    let home = server.dir.path();
    // Once these logs have gone, the sweep of the server's start is over: it takes nothing of what follows.
    open(&server, "first");
    close(&server, "first");
    set(&server, "first", "delete_on_close");
    goes(&folder(home, "first"));
    let (stay, all) = (
        ["pinned", "open", "exited", "fresh"],
        ["old", "pinned", "open", "exited"],
    );
    for name in ["old", "fresh", "pinned", "open", "exited"] {
        open(&server, name);
    }
    tool(
        &server,
        "run",
        json!({"session": "exited", "input": "exit 3"}),
    );
    assert_eq!(set(&server, "pinned", "keep").status, 200);
    for name in ["old", "fresh", "pinned"] {
        close(&server, name);
    }
    // Not closed: a pane shows a program's last screen, and a person looks at it.
    for name in ["open", "exited"] {
        assert_eq!(set(&server, name, "delete_on_close").status, 200);
    }
    let exited = server.get("/api/sessions/exited").json();
    assert_eq!(exited["status"], "exited", "{exited}");
    let argv = exited["attach_argv"].as_array().expect("words").clone();
    let argv: Vec<&str> = argv.iter().filter_map(Value::as_str).collect();
    let env = [
        ("PATH", std::env::var("PATH").unwrap_or_default()),
        ("TERM", "xterm-256color".into()),
    ]
    .map(|(name, value)| (name.to_owned(), value));
    let person = Pty::spawn(&argv, &env, home, (80, 24)).expect("a terminal");
    let deadline = Instant::now() + DEADLINE;
    while server.get("/api/sessions/exited").json()["attached"] != 1 {
        assert!(Instant::now() < deadline, "nobody attaches");
    }
    let refused = set(&server, "exited", "delete");
    assert_eq!(refused.status, 409, "{refused:?}");
    for name in all {
        age(home, name, 4);
    }
    // To be told deletes nothing, however often.
    let removed = || std::fs::read_to_string(home.join("state/removed.jsonl")).unwrap_or_default();
    let remembered = removed();
    let created = server.get("/api/sessions/old").json()["created"].clone();
    let why = "closed and not used for 3 days";
    for query in ["?dry_run=1", "?dry_run=true"] {
        assert_eq!(
            sweep(&server, query),
            json!({"dry_run": true, "sessions": [{"name": "old", "created": created, "deleted": null, "why": why}]})
        );
    }
    assert_eq!(
        server.dir.run(&["logs", "sweep", "--dry-run"]).good(),
        format!("would delete old: {why}\n")
    );
    assert!(folder(home, "old").join("raw.log").exists() && removed() == remembered);
    // It is overdue.
    let expires = told(&server, "old")[2].as_f64();
    assert!(expires.is_some_and(|at| at < now()), "{expires:?}");
    let swept = sweep(&server, "");
    assert_eq!(swept["dry_run"], false);
    let gone = swept["sessions"].as_array().expect("a list");
    assert_eq!(gone.len(), 1, "{swept}");
    assert_eq!(
        (&gone[0]["name"], &gone[0]["why"]),
        (&json!("old"), &json!(why))
    );
    assert_eq!(gone[0]["created"], created, "{swept}");
    assert!(gone[0]["deleted"].as_f64() > created.as_f64(), "{swept}");
    assert!(!folder(home, "old").exists());
    let late = server.get("/api/sessions/old");
    assert!(late.status == 404 && late.body.contains(why), "{late:?}");
    // Nothing else has gone, nor goes: not with ten years.
    for days in [4, 3_650] {
        for name in all.iter().filter(|name| **name != "old") {
            age(home, name, days);
        }
        assert_eq!(
            sweep(&server, "?dry_run=1"),
            json!({"dry_run": true, "sessions": []})
        );
        assert_eq!(
            sweep(&server, ""),
            json!({"dry_run": false, "sessions": []})
        );
    }
    for name in stay {
        assert!(folder(home, name).join("raw.log").exists(), "{name} went");
    }
    assert_eq!(told(&server, "pinned"), json!([true, false, null]));
    assert_eq!(told(&server, "exited"), json!([false, true, null]));
    assert_eq!(server.get("/api/sessions/exited").json()["attached"], 1);
    drop(person);
}

#[test]
fn who_may_only_read_is_told_what_is_due() {
    if !have("who_may_only_read_is_told_what_is_due", "tmux") {
        return;
    }
    let server = Server::in_dir(Dir::new(), &[], None, &[("PANEGLASS_READ_ONLY", "1")]);
    let delete = json!({"action": "delete"}).to_string();
    for (path, body) in [
        ("/api/sessions/a/logs", delete.as_str()),
        ("/api/sweep", ""),
    ] {
        let refused = server.raw(&http("POST", path, &[], body));
        assert_eq!(refused.status, 403, "{refused:?}");
        assert!(refused.body.contains("PANEGLASS_READ_ONLY"), "{refused:?}");
    }
    assert_eq!(
        sweep(&server, "?dry_run=1"),
        json!({"dry_run": true, "sessions": []})
    );
}
