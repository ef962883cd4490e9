//! A session on a device, with a person at a real tmux client beside the agent: what both see, what each has run, and
//! that neither's keys are joined with the other's.

use serde_json::json;

use super::{joined, server};
use crate::people::Person;
use crate::util::client::Client;
use crate::util::reply::Reply;
use crate::util::skip::have;

/// A line that must have ended with this status, as the agent is told.
fn ends(client: &mut Client, line: &str, status: i32) -> Reply {
    let reply = client.run(line);
    assert_eq!(
        (reply.status(), &reply.facts["exit_code"]),
        ("done", &json!(status)),
        "{line}: {}",
        reply.text
    );
    reply
}

#[test]
fn a_person_beside_the_agent_on_a_device() {
    if !have("a_person_beside_the_agent_on_a_device", "tmux") {
        return;
    }
    let server = server();
    let (_, id, mut device) = joined(&server);
    let mut client = server.bridge(&[]);
    let command = format!("paneglass into paneglass reach {id}");
    let opened = client.open(json!({"name": "t1", "command": command}));
    assert!(!opened.text.contains("plain shell"), "{}", opened.text);
    let attach = opened.facts["attach"].as_str().expect("a command");
    let mut person = Person::attach(&client, attach);
    let folder = device.dir.path().display().to_string();

    // What the agent runs there is seen.
    let reply = ends(&mut client, "pwd; echo seen-$((40 + 2))", 0);
    assert_eq!(reply.body(), format!("{folder}\nseen-42"), "{}", reply.text);
    person.sees("seen-42");
    for status in [0, 1, 7, 126, 255] {
        ends(&mut client, &format!("(exit {status})"), status);
    }
    let reply = ends(&mut client, "true | false | (exit 5)", 5);
    assert_eq!(
        reply.facts["pipestatus"],
        json!([0, 1, 5]),
        "{}",
        reply.text
    );
    ends(&mut client, "no-such-command-here", 127);
    ends(&mut client, "sh -c 'kill -TERM $$'", 143);
    // What is silent there is not taken for a question: nobody can see from here what it waits for.
    let patient = json!({"settle_ms": 60_000});
    let silent = client.run_with("sleep 2; (exit 6)", patient);
    assert_eq!(silent.facts["exit_code"], 6, "{}", silent.text);

    // What the person types stays the person's, half typed or run.
    person.types("echo half");
    person.sees("half");
    for (tool, arguments) in [
        ("run", json!({"session": "t1", "input": "echo mine"})),
        ("send", json!({"session": "t1", "text": "x"})),
        ("send", json!({"session": "t1", "keys": ["enter"]})),
    ] {
        let refused = client.tool(tool, arguments);
        assert!(
            refused.is_error && refused.text.contains("echo half"),
            "{}",
            refused.text
        );
    }
    let waiting = client.begin(
        "tools/call",
        json!({"name": "wait", "arguments": {"session": "t1", "timeout_s": 600}}),
    );
    person.types("-and-$((6 * 7)); sh -c 'exit 9'\r");
    person.sees("half-and-42");
    let told = client.answer(waiting)["result"]["content"][0]["text"].to_string();
    assert!(
        told.contains("a person ran") && told.contains("echo half-and-"),
        "{told}"
    );
    let regions = client.text("regions", json!({"session": "t1", "last": 1}));
    assert!(
        regions.contains("exit 9") && regions.contains("echo half-and-"),
        "{regions}"
    );
    // And told once.
    let reply = ends(&mut client, "seq 300 | sed s/^/row-/", 0);
    assert!(!reply.text.contains("a person ran"), "{}", reply.text);
    assert_eq!(reply.facts["total_lines"], 300, "{}", reply.text);
    let found = client.tool("search", json!({"session": "t1", "pattern": "^row-250$"}));
    assert_eq!(found.facts["total_matches"], 1, "{}", found.text);
    let found = client.tool(
        "search",
        json!({"session": "t1", "pattern": "^half-and-42$"}),
    );
    assert_eq!(found.facts["total_matches"], 1, "{}", found.text);
    // Cleared, not joined, where the agent insists.
    person.types("echo per");
    person.sees("echo per");
    let forced = client.run_with("echo forced", json!({"force": true}));
    assert_eq!(forced.body(), "forced", "{}", forced.text);

    // The person answers what the agent's command asks there.
    let asked = client.run("read -r -p 'which? ' answer; echo got-$answer; (exit 4)");
    assert_eq!(asked.status(), "waiting", "{}", asked.text);
    person.sees("which?");
    person.types("blue\r");
    person.sees("got-blue");
    let end = client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
    assert_eq!(end.facts["exit_code"], 4, "{}", end.text);
    assert!(end.text.contains("got-blue"), "{}", end.text);
    // The person's window is the terminal there.
    ends(&mut client, "stty size > size", 0);
    let size = std::fs::read_to_string(device.dir.path().join("size")).expect("it is there");
    assert_eq!(size, "40 120\n");
    device.kill();
    person.sees("not known");
}
