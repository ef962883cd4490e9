//! `paneglass into`: sandboxes and containers, typed and as a session's own command, and entries that fail.

use std::process::Command;

use serde_json::json;

use super::far::home;
use crate::util::client::Client;
use crate::util::podman::Podman;
use crate::util::server::Server;
use crate::util::skip::have;

const BWRAP: &str = "bwrap --bind / / --dev /dev --proc /proc --unshare-pid --";
const UNSHARE: &str = "unshare -m --";

/// Whether namespaces can be made here with this command.
fn works(test: &str, command: &str) -> bool {
    let mut words = command.split(' ').filter(|word| *word != "--");
    let program = words.next().unwrap();
    if !have(test, program) {
        return false;
    }
    let ran = Command::new(program).args(words).arg("true").output();
    let works = ran.is_ok_and(|out| out.status.success());
    if !works {
        println!("SKIP {test}: {program} may not make namespaces here");
    }
    works
}

#[test]
fn typed_and_as_the_sessions_own_command() {
    let test = "typed_and_as_the_sessions_own_command";
    let mut client = Client::in_session();
    for (number, (command, place)) in [(BWRAP, "bwrap"), (UNSHARE, "unshare")]
        .into_iter()
        .enumerate()
    {
        if !works(test, command) {
            continue;
        }
        let reply = client.enter(&format!("paneglass into {command}"));
        assert!(
            reply.text.contains(&format!("[now on {place}]")),
            "{}",
            reply.text
        );
        client.ends("false", 1, Some(place));
        client.ends("sh -c 'exit 7'", 7, Some(place));
        client.leave();
        client.ends("true", 0, None);

        let name = format!("box{number}");
        let reply =
            client.open(json!({"name": name, "command": format!("paneglass into {command}")}));
        assert!(
            reply.text.contains(&format!("[now on {place}]")),
            "{}",
            reply.text
        );
        assert!(!reply.text.contains("plain shell"), "{}", reply.text);
        let run = |client: &mut Client, input: &str| {
            client.tool("run", json!({"session": name, "input": input}))
        };
        let reply = run(&mut client, "(exit 9)");
        assert_eq!(
            (&reply.facts["exit_code"], &reply.facts["place"]),
            (&json!(9), &json!(place)),
            "{}",
            reply.text
        );
        let reply = run(&mut client, "exit 3");
        assert_eq!(reply.status(), "closed", "{}", reply.text);
        assert!(reply.text.contains("exit status 3"), "{}", reply.text);
    }
}

/// What other programs ask the server knows it too.
#[test]
fn the_api_tells_the_place() {
    let test = "the_api_tells_the_place";
    if !works(test, UNSHARE) {
        return;
    }
    let server = Server::start();
    let mut client = server.bridge(&[]);
    client.open(json!({"name": "t1"}));
    let place = || server.get("/api/sessions/t1").json()["place"].clone();
    assert_eq!(place(), home());
    client.enter(&format!("paneglass into {UNSHARE}"));
    assert_eq!(place(), "unshare");
    assert_eq!(server.get("/api/sessions").json()[0]["place"], "unshare");
    client.leave();
    assert_eq!(place(), home());
}

#[test]
fn an_entry_that_fails() {
    let test = "an_entry_that_fails";
    if !have(test, "bwrap") {
        return;
    }
    let mut client = Client::in_session();
    let reply = client.ends("paneglass into bwrap --no-such-option --", 1, None);
    assert!(reply.text.contains("no-such-option"), "{}", reply.text);
    client.ends("paneglass into no-such-program", 127, None);
    client.ends("paneglass into", 2, None);
    // What follows a failed entry is not run here.
    let reply =
        client.open(json!({"name": "box", "command": "paneglass into bwrap --no-such-option --"}));
    assert!(reply.text.contains("exit status 1"), "{}", reply.text);
    let reply = client.tool("run", json!({"session": "box", "input": "touch here"}));
    assert!(reply.is_error, "{}", reply.text);
    assert!(!client.home().join("here").exists());
}

#[test]
fn a_container_of_podmans() {
    let Some(podman) = Podman::here("a_container_of_podmans") else {
        return;
    };
    let container = podman.start();
    let exec = format!(
        "paneglass into podman{} exec -it {}",
        podman.options, container.id
    );
    // The shell's own words win over what the entry's command says: root, on a host by the container's short id.
    let place = format!("root@{}", &container.id[..12]);
    let mut client = Client::in_session();
    let reply = client.enter(&exec);
    assert!(
        reply.text.contains(&format!("[now on {place}]")),
        "{}",
        reply.text
    );
    client.ends("false", 1, Some(&place));
    client.ends("sh -c 'exit 7'", 7, Some(&place));
    let there = client.run("echo >/in-the-container; ls /in-the-container");
    assert!(there.text.contains("/in-the-container"), "{}", there.text);
    client.leave();
    client.ends("ls /in-the-container", 2, None);

    let reply = client.open(json!({"name": "box", "command": exec}));
    assert!(!reply.text.contains("plain shell"), "{}", reply.text);
    for (input, status) in [("ls /in-the-container", 0), ("(exit 6)", 6)] {
        let reply = client.tool("run", json!({"session": "box", "input": input}));
        assert_eq!(
            (&reply.facts["exit_code"], &reply.facts["place"]),
            (&json!(status), &json!(place)),
            "{}",
            reply.text
        );
    }

    // One that is started by the entry itself.
    client.enter(&format!(
        "paneglass into {}",
        podman.line("podman run --rm -it --network none IMAGE")
    ));
    let reply = client.run("(exit 6)");
    assert_eq!(reply.facts["exit_code"], 6, "{}", reply.text);
    assert!(reply.facts["place"].is_string(), "{}", reply.text);
    client.leave();
    client.ends("true", 0, None);
}

#[test]
fn the_script_is_shown_and_nothing_runs() {
    let dir = crate::util::dir::Dir::new();
    let shown = dir.run(&["into", "--print", "touch", "made"]);
    let text = shown.good();
    assert!(text.starts_with("touch made sh -c '"), "{text}");
    assert!(
        text.contains("\n# The script in it:\npg_via=into\n"),
        "{text}"
    );
    assert!(!dir.path().join("made").exists());
    assert!(dir.run(&["into"]).bad(2).contains("name the command"));
}
