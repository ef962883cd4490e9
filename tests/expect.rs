//! expect: foreseen questions in whatever order, all its ends, and what it never does.

use std::fs;

use serde_json::{Value, json};

use crate::util::client::Client;
use crate::util::reply::Reply;
use crate::util::skip::have;

/// An installer that asks. The first line it prints holds a word of a rule, but is no question.
const INSTALLER: &str = r#"#!/bin/bash
echo "checking the Password rules"
read -p "Name (yes|no)? " name
read -s -p "Password: " first; echo
read -s -p "Again: " second; echo
for n in 1 2 3; do read -p "Overwrite file$n? [y/N] " answer; echo "file$n: $answer"; done
echo "Press enter to go on"
read
read -n 1 -p "Sure? " key; echo
echo "got $name ${#first} ${#second} $key"
exit 4
"#;

fn installer() -> Client {
    let client = Client::in_session();
    fs::write(client.home().join("inst"), INSTALLER).expect("a file of the test's own");
    client
}

fn expect(client: &mut Client, arguments: Value) -> Reply {
    let mut all = json!({"session": "t1", "timeout_s": 60});
    for (name, value) in arguments.as_object().expect("an object") {
        all[name] = value.clone();
    }
    client.tool("expect", all)
}

/// Answers to all questions, in an order that is not theirs.
fn answers() -> Vec<Value> {
    vec![
        json!({"pattern": "Sure", "keys": ["k"]}),
        json!({"pattern": "go on", "keys": ["enter"]}),
        json!({"pattern": r"Overwrite \w+\?", "line": "y"}),
        json!({"pattern": "^Password:|^Again:", "line": "hunter2"}),
        json!({"pattern": "Name", "line": "Sure Overwrite x?"}),
        json!({"pattern": "never asked", "line": "x"}),
    ]
}

#[test]
fn foreseen_questions_are_answered_in_any_order() {
    if !have("foreseen_questions_are_answered_in_any_order", "tmux") {
        return;
    }
    let mut client = installer();
    // Words of the rules in the command line and in an answer match nothing.
    let done = expect(
        &mut client,
        json!({"input": "bash inst # Name Password: Overwrite x?", "respond": answers()}),
    );
    assert_eq!(
        (done.status(), &done.facts["exit_code"]),
        ("done", &json!(4)),
        "{}",
        done.text
    );
    assert!(
        done.header().starts_with("[t1 #1 · exit 4 · "),
        "{}",
        done.text
    );
    assert!(
        done.body().contains("got Sure Overwrite x? 7 7 k"),
        "{}",
        done.text
    );
    let sent = done.facts["sent"].as_array().expect("a list");
    let said: Vec<(&str, &str)> = sent
        .iter()
        .map(|said| {
            (
                said["matched"].as_str().unwrap_or(""),
                said["sent"].as_str().unwrap_or(""),
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            ("Name (yes|no)?", "\"Sure Overwrite x?\" and enter"),
            ("Password:", "••••••"),
            ("Again:", "••••••"),
            ("Overwrite file1? [y/N]", "\"y\" and enter"),
            ("Overwrite file2? [y/N]", "\"y\" and enter"),
            ("Overwrite file3? [y/N]", "\"y\" and enter"),
            ("Press enter to go on", "enter"),
            ("Sure?", "k"),
        ]
    );
    assert!(
        done.text.contains("[asked \"Password:\", answered ••••••]"),
        "{}",
        done.text
    );
    assert!(
        done.text.contains("[never matched: \"never asked\"]"),
        "{}",
        done.text
    );
    // What was sent where nothing is shown is in no file.
    let log = client.home().join("state/sessions/t1");
    for file in fs::read_dir(log).expect("a folder").flatten() {
        let bytes = fs::read(file.path()).expect("a file");
        assert!(!bytes.windows(7).any(|part| part == b"hunter2"), "{file:?}");
    }
}

#[test]
fn every_way_to_end() {
    if !have("every_way_to_end", "tmux") {
        return;
    }
    let mut client = installer();
    // A rule that may answer twice is no answer to the third: told at once, and all that was answered with it.
    let mut rules = answers();
    rules[2]["times"] = json!(2);
    let unanswered = expect(&mut client, json!({"input": "bash inst", "respond": rules}));
    assert_eq!(
        (unanswered.status(), &unanswered.facts["prompt"]),
        ("unanswered", &json!("Overwrite file3? [y/N]")),
        "{}",
        unanswered.text
    );
    assert!(
        unanswered
            .header()
            .contains("unanswered question \"Overwrite file3?"),
        "{}",
        unanswered.text
    );
    // Without a line the question that stands there is answered; a stop rule ends it.
    let rules = json!([{"pattern": "Overwrite", "line": "n"}, {"pattern": "go on", "stop": true}]);
    let stopped = expect(&mut client, json!({"respond": rules}));
    assert_eq!(stopped.status(), "stopped", "{}", stopped.text);
    assert!(
        stopped.body().ends_with("file3: n\nPress enter to go on"),
        "{}",
        stopped.text
    );
    let rules = json!([{"pattern": "go on", "text": "\n"}]);
    let until = expect(&mut client, json!({"respond": rules, "until": "^Sure"}));
    assert_eq!(until.status(), "until", "{}", until.text);
    let rules = json!([{"pattern": "Sure", "text": "k"}]);
    let end = expect(&mut client, json!({"respond": rules}));
    assert_eq!(
        (end.status(), &end.facts["exit_code"]),
        ("done", &json!(4)),
        "{}",
        end.text
    );
    // It works on: the timeout.
    let rules = json!([{"pattern": "x", "line": "y"}]);
    let running = expect(
        &mut client,
        json!({"input": "sleep 600", "respond": rules, "timeout_s": 1}),
    );
    assert_eq!(running.status(), "running", "{}", running.text);
    client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
    // A secret that no rule answers.
    let secret = expect(
        &mut client,
        json!({"input": "read -s -p 'Code: ' x", "respond": rules}),
    );
    assert!(
        secret
            .header()
            .contains("unanswered secret question \"Code:\""),
        "{}",
        secret.text
    );
    assert!(
        secret.text.contains("leave that to the user"),
        "{}",
        secret.text
    );
    client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
    // Nothing asks at a shell's prompt.
    let refused = expect(&mut client, json!({"respond": rules}));
    assert!(
        refused.is_error && refused.text.contains("asks nothing"),
        "{}",
        refused.text
    );
}

#[test]
fn a_program_back_at_its_prompt() {
    let name = "a_program_back_at_its_prompt";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let mut client = Client::in_session();
    client.run("python3 -q");
    let rules = json!([{"pattern": "Second", "line": "2"}, {"pattern": "First", "line": "1"}]);
    let input = "[input('First? '), input('Second? ')]";
    let reply = expect(&mut client, json!({"input": input, "respond": rules}));
    assert_eq!(
        (reply.status(), &reply.facts["prompt"]),
        ("prompt", &json!(">>>")),
        "{}",
        reply.text
    );
    assert!(reply.text.contains("\n['1', '2']\n"), "{}", reply.text);
    let ended = expect(
        &mut client,
        json!({"input": "exit(int(input('First? ')))", "respond": rules}),
    );
    assert_eq!(ended.facts["exit_code"], 1, "{}", ended.text);
    // A question that is asked again and again is answered each time, and never twice on the same text.
    let rules = json!([{"pattern": "more", "line": "y", "times": 40}]);
    let line = "for i in $(seq 40); do read -p 'more? ' x; done; echo \"last $x\"";
    let many = expect(&mut client, json!({"input": line, "respond": rules}));
    assert_eq!(many.facts["exit_code"], 0, "{}", many.text);
    assert_eq!(many.facts["sent"].as_array().map(Vec::len), Some(40));
    assert!(many.body().ends_with("last y"), "{}", many.text);
}

#[test]
fn bad_rules_type_nothing() {
    if !have("bad_rules_type_nothing", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    for (bad, says) in [
        (json!({"input": "echo x"}), "`respond` is required"),
        (
            json!({"input": "echo x", "respond": [{"pattern": "a"}]}),
            "exactly one",
        ),
        (
            json!({"input": "echo x", "respond": [{"pattern": "(", "line": ""}]}),
            "regular expression",
        ),
        (
            json!({"input": "echo x", "respond": [{"pattern": "a", "keys": ["hyper"]}]}),
            "no key",
        ),
        (
            json!({"input": "a\nb", "respond": [{"pattern": "a", "line": ""}]}),
            "one line",
        ),
        (
            json!({"input": "\u{3}", "respond": [{"pattern": "a", "line": ""}]}),
            "U+0003",
        ),
    ] {
        let refused = expect(&mut client, bad);
        assert!(
            refused.is_error && refused.text.contains(says),
            "{}",
            refused.text
        );
    }
    let regions = client.tool("regions", json!({"session": "t1"}));
    assert_eq!(regions.body(), "", "{}", regions.text);
}
