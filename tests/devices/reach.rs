//! A terminal on a device: by itself, and in a session with all that sessions have.

use std::time::Instant;

use serde_json::json;

use super::{joined, server, tool};
use crate::util::client::DEADLINE;
use crate::util::dir::Dir;
use crate::util::skip::have;

#[test]
fn a_shell_on_a_device() {
    if !have("a_shell_on_a_device", "tmux") {
        return;
    }
    let server = server();
    let (_, id, mut device) = joined(&server);
    let mut shell = server.dir.command("sh");
    let line = format!(
        "printf 'stty size; pwd; exit 41\\n' | '{}' reach {id}",
        crate::util::binary().display()
    );
    shell.args(["-c", &line]);
    let ran = server.dir.end(shell, &line);
    assert_eq!(ran.code, Some(41), "{ran:?}");
    let folder = device.dir.path().display().to_string();
    assert!(
        ran.out.contains("24 80") && ran.out.contains(&folder),
        "{ran:?}"
    );
    let none = server.dir.run(&["reach", "zzzzzz"]);
    let told = "no device \"zzzzzz\" has joined; `paneglass devices` lists those that have";
    assert!(none.bad(1).contains(told), "{none:?}");
    device.kill();
    let deadline = Instant::now() + DEADLINE;
    while !server.dir.run(&["devices"]).good().contains("offline") {
        assert!(Instant::now() < deadline, "it stays online");
    }
    let away = server.dir.run(&["reach", &id]);
    let line = away.bad(1);
    assert!(line.contains(&format!("device {id} is offline")), "{line}");
    assert!(
        line.contains("`paneglass devices`") && !line.contains("list_clients"),
        "{line}"
    );
    let nowhere = Dir::new().run(&["reach", &id]);
    assert!(nowhere.bad(1).contains("serve --devices"), "{nowhere:?}");
    let what = server.dir.run(&["reach"]);
    assert!(what.bad(2).contains("devices"), "{what:?}");
}

#[test]
fn a_session_on_a_device() {
    if !have("a_session_on_a_device", "tmux") {
        return;
    }
    let server = server();
    let (_, id, mut device) = joined(&server);
    let call = |name: &str, arguments: serde_json::Value| {
        let result = tool(&server, name, arguments);
        let text = result["content"][0]["text"]
            .as_str()
            .expect("a text")
            .to_owned();
        assert_eq!(result["isError"], false, "{name}: {text}");
        text
    };
    let command = format!("'{}' reach {id}", crate::util::binary().display());
    call(
        "session_create",
        json!({"name": "far", "command": command, "env": {"PS1": "far$ "}}),
    );
    call("send", json!({"session": "far", "text": "PS1='far> '\n"}));
    let listed = call("session_list", json!({}));
    assert!(listed.contains(&format!("on device {id}")), "{listed}");
    let ran = call(
        "run",
        json!({"session": "far", "input": "for i in $(seq 500); do echo line $i; done; pwd"}),
    );
    let folder = device.dir.path().display().to_string();
    assert!(ran.contains("line 500") && ran.contains(&folder), "{ran}");
    let found = call("search", json!({"session": "far", "pattern": "^line 250$"}));
    assert!(found.contains("line 250"), "{found}");
    let screen = call("read", json!({"session": "far", "view": "screen"}));
    assert!(screen.contains("far>"), "{screen}");
    // What is interrupted there is interrupted there.
    call("send", json!({"session": "far", "text": "sleep 600\n"}));
    call("send", json!({"session": "far", "keys": ["ctrl+c"]}));
    // A prompt that comes only now would look like the answer to the next line.
    let deadline = Instant::now() + DEADLINE;
    let screen = || call("read", json!({"session": "far", "view": "screen"}));
    while !screen().trim_end().ends_with("^C\nfar>") {
        assert!(Instant::now() < deadline, "{}", screen());
    }
    let back = call("run", json!({"session": "far", "input": "echo back $?"}));
    assert!(back.contains("back 130"), "{back}");
    device.kill();
    // Nothing that was started there is unfinished, so a wait that comes before the end does not last until it.
    let deadline = Instant::now() + DEADLINE;
    loop {
        let over = tool(&server, "wait", json!({"session": "far", "timeout_s": 60}));
        let text = over["content"][0]["text"].as_str().expect("a text");
        if text.contains("exit status 1") {
            break;
        }
        assert!(Instant::now() < deadline, "{text}");
    }
    let told = call("read", json!({"session": "far"}));
    assert!(told.contains("not known"), "{told}");
}

#[test]
fn an_integrated_session_on_a_device() {
    if !have("an_integrated_session_on_a_device", "tmux") {
        return;
    }
    let server = server();
    let (_, id, device) = joined(&server);
    let call = |name: &str, arguments: serde_json::Value| {
        let result = tool(&server, name, arguments);
        assert_eq!(result["isError"], false, "{name}: {result}");
        result
    };
    let command = format!("paneglass into paneglass reach {id}");
    call("session_create", json!({"name": "far", "command": command}));
    let run = |input: &str| {
        let result = call("run", json!({"session": "far", "input": input}));
        let text = result["content"][0]["text"].as_str().expect("a text");
        (text.to_owned(), result["_meta"]["paneglass/facts"].clone())
    };
    let (text, facts) = run("pwd; seq 300 | (cat; exit 9)");
    assert_eq!(facts["exit_code"], 9, "{text}");
    let folder = device.dir.path().display().to_string();
    assert!(text.contains(&folder) && text.contains("300"), "{text}");
    let (_, facts) = run("true");
    assert_eq!(
        (&facts["exit_code"], &facts["status"]),
        (&json!(0), &json!("done"))
    );
    let regions = call("regions", json!({"session": "far"}));
    let regions = regions["content"][0]["text"].as_str().expect("a text");
    assert!(
        regions.contains("exit 9") && regions.contains("seq 300"),
        "{regions}"
    );
    let found = call("search", json!({"session": "far", "pattern": "^299$"}));
    assert!(
        found["content"][0]["text"]
            .as_str()
            .expect("a text")
            .contains("299")
    );
}
