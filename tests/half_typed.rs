//! What another has typed and not submitted where no shell tells of it: plain shells, questions, the far side of ssh.
//! Nobody's line is joined with another's, and who answers a question is not taken for somebody else.

use std::time::Instant;

use serde_json::json;

use crate::places::far::{self, Far};
use crate::util::client::{Client, DEADLINE};
use crate::util::reply::Reply;
use crate::util::server::Server;
use crate::util::skip::have;

/// Waits until the last line shows it.
fn ends_with(client: &mut Client, text: &str) {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let read = client.tool("read", json!({"session": "t1"}));
        if read.text.trim_end().ends_with(text) {
            return;
        }
        assert!(Instant::now() < deadline, "no {text:?} in {}", read.text);
    }
}

fn types(client: &mut Client, text: &str) {
    client.somebody_types(&["-l", text]);
    ends_with(client, text.trim_end());
}

/// A run and a send are refused, and say what stands there.
fn protects(client: &mut Client, line: &str, text: &str) {
    for (tool, arguments) in [
        ("run", json!({"session": "t1", "input": line})),
        ("send", json!({"session": "t1", "text": "x"})),
        ("send", json!({"session": "t1", "keys": ["enter"]})),
        (
            "expect",
            json!({"session": "t1", "respond": [{"pattern": ".", "line": line}]}),
        ),
    ] {
        // At its prompt a shell is asked nothing.
        let refused = client.tool(tool, arguments);
        assert!(
            refused.is_error
                && refused.text.contains("someone's unsubmitted text")
                && refused.text.contains(&format!("{text:?}")),
            "{tool}: {}",
            refused.text
        );
    }
    let waited = client.tool("wait", json!({"session": "t1", "timeout_s": 0}));
    let says = format!("unsubmitted text is on the prompt line: {text:?}");
    assert!(waited.text.contains(&says), "{}", waited.text);
    let list = client.tool("session_list", json!({}));
    assert!(
        list.text.contains(&format!("unsubmitted text {text:?}")),
        "{}",
        list.text
    );
}

fn forced(client: &mut Client, line: &str) -> Reply {
    client.run_with(line, json!({"force": true}))
}

#[test]
fn a_plain_shells_line_is_protected() {
    let test = "a_plain_shells_line_is_protected";
    if !have(test, "tmux") {
        return;
    }
    for (program, start) in [
        ("bash", "env -i bash --norc"),
        ("script", "script -qc 'env -i bash --norc' /dev/null"),
        ("dash", "dash"),
        ("zsh", "zsh -f"),
        ("fish", "fish -N"),
        ("ksh", "ksh"),
        ("busybox", "busybox sh"),
        ("tclsh", "tclsh"),
    ] {
        if !have(test, program) {
            continue;
        }
        let echo = |word: &str| match program {
            "tclsh" => format!("puts {word}"),
            _ => format!("echo {word}"),
        };
        let mut client = Client::in_session();
        let begun = client.run(start);
        assert_eq!(begun.status(), "prompt", "{start}: {}", begun.text);
        for word in ["one", "two", "three"] {
            let reply = client.run(&echo(word));
            let first = reply.body().lines().next().map(String::from);
            assert_eq!(first.as_deref(), Some(word), "{start}: {}", reply.text);
        }
        types(&mut client, &echo("PER"));
        protects(&mut client, &echo("mine"), &echo("PER"));
        let reply = forced(&mut client, &echo("mine"));
        assert_eq!(reply.body(), "mine", "{start}: {}", reply.text);
        // What it has left itself is cleared, and it is told so.
        let sent = client.tool("send", json!({"session": "t1", "text": echo("own")}));
        assert!(
            sent.text.contains("not submitted: "),
            "{start}: {}",
            sent.text
        );
        let reply = client.run(&echo("mine"));
        assert!(
            reply.body().starts_with("mine") && reply.text.contains("cleared from the line first"),
            "{start}: {}",
            reply.text
        );
    }
}

#[test]
fn a_questions_line_is_protected() {
    let test = "a_questions_line_is_protected";
    if !have(test, "tmux") || !have(test, "python3") {
        return;
    }
    for (start, answered) in [
        ("read -p 'Delete? ' x; echo \"<$x>\"", "<yes>"),
        (
            "dash -c 'printf \"Delete? \"; read x; echo \"<$x>\"'",
            "<yes>",
        ),
        ("python3 -c 'print(\"<\" + input() + \">\")'", "<yes>"),
        ("cat", "yes"),
    ] {
        let mut client = Client::in_session();
        let begun = client.run(start);
        assert_eq!(begun.status(), "waiting", "{start}: {}", begun.text);
        types(&mut client, "no");
        protects(&mut client, "yes", "no");
        let reply = forced(&mut client, "yes");
        assert_eq!(reply.body(), answered, "{start}: {}", reply.text);
    }
    // A question that came while nobody looked.
    let mut client = Client::in_session();
    let begun = client.run_with(
        "sleep 1; read -p 'Delete? ' x; echo \"<$x>\"",
        json!({"timeout_s": 0}),
    );
    assert_eq!(begun.status(), "running", "{}", begun.text);
    ends_with(&mut client, "Delete?");
    // As long as a person needs to read it.
    std::thread::sleep(std::time::Duration::from_millis(600));
    types(&mut client, "no");
    protects(&mut client, "yes", "no");
}

#[test]
fn what_a_program_prints_itself_is_nobodys() {
    if !have("what_a_program_prints_itself_is_nobodys", "tmux") {
        return;
    }
    let parts = "printf 'Are you '; sleep 1; printf 'sure? '; read x; echo \"<$x>\"";
    let mut client = Client::in_session();
    let asked = client.run(parts);
    assert_eq!(asked.status(), "waiting", "{}", asked.text);
    let reply = client.run("yes");
    assert_eq!(reply.body(), "<yes>", "{}", reply.text);
    // Nobody looks when its second part comes.
    for look in [false, true] {
        let begun = client.run_with(parts, json!({"timeout_s": 0}));
        assert_eq!(begun.status(), "running", "{}", begun.text);
        ends_with(&mut client, "Are you sure?");
        if look {
            let waited = client.tool("wait", json!({"session": "t1"}));
            assert_eq!(waited.status(), "waiting", "{}", waited.text);
        }
        let reply = client.run("yes");
        assert_eq!(reply.body(), "<yes>", "{}", reply.text);
    }
    // Keys that it reads one by one, and the next question on the same line.
    let keys = "for i in 1 2 3; do read -n1 -p \"Delete $i? \" x; done; echo; echo done";
    client.run(keys);
    for next in ["Delete 2?", "Delete 3?", ""] {
        let sent = client.tool("send", json!({"session": "t1", "keys": ["y"]}));
        assert!(
            !sent.is_error && !sent.text.contains("not submitted"),
            "{}",
            sent.text
        );
        if !next.is_empty() {
            ends_with(&mut client, next);
        }
    }
    // A line that is drawn again and again.
    let spins = "for i in 1 2 3 4 5 6; do printf '\\rstep %s' $i; sleep 0.2; done; read -p ' go? ' x; echo \"<$x>\"";
    client.run(spins);
    let reply = client.run("on");
    assert_eq!(reply.body(), "<on>", "{}", reply.text);
}

#[test]
fn a_prompt_that_is_drawn_again_is_still_known() {
    if !have("a_prompt_that_is_drawn_again_is_still_known", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.run("env -i bash --norc");
    let refused = |client: &mut Client| {
        let refused = client.run("echo mine");
        assert!(
            refused.is_error && refused.text.contains("\"echo PER\""),
            "{}",
            refused.text
        );
    };
    types(&mut client, "echo PER");
    client.somebody_types(&["C-l"]);
    refused(&mut client);
    let size = json!({"session": "t1", "cols": 60, "rows": 20});
    client.tool("session_resize", size);
    refused(&mut client);
    // By a later server.
    let mut client = client.killed_and_restarted(|| {});
    refused(&mut client);
    // With the cursor before it.
    client.somebody_types(&["C-a"]);
    let deadline = Instant::now() + DEADLINE;
    loop {
        let screen = client.tool("read", json!({"session": "t1", "view": "screen"}));
        // After a prompt of ten columns.
        if screen.text.contains(" column 11") {
            break;
        }
        assert!(Instant::now() < deadline, "{}", screen.text);
    }
    refused(&mut client);
    // Given up, and drawn once more: nothing is left.
    client.somebody_types(&["C-c"]);
    client.somebody_types(&["C-l"]);
    let deadline = Instant::now() + DEADLINE;
    loop {
        let reply = client.run("echo mine");
        if !reply.is_error {
            assert_eq!(reply.body(), "mine", "{}", reply.text);
            break;
        }
        assert!(Instant::now() < deadline, "{}", reply.text);
    }
}

#[test]
fn an_agents_line_is_its_own() {
    if !have("an_agents_line_is_its_own", "tmux") {
        return;
    }
    let server = Server::start();
    let (mut one, mut other) = (server.bridge(&[]), server.bridge(&[]));
    one.open(json!({"name": "t1"}));
    for (start, ready) in [("env -i bash --norc", "prompt"), ("cat", "waiting")] {
        let begun = one.run(start);
        assert_eq!(begun.status(), ready, "{}", begun.text);
        one.tool("send", json!({"session": "t1", "text": "echo BO "}));
        protects(&mut other, "echo mine", "echo BO");
        let reply = one.run("echo own");
        assert!(
            reply
                .text
                .contains("your own and not submitted: \"echo BO\""),
            "{}",
            reply.text
        );
        assert!(!reply.body().contains("BO"), "{}", reply.text);
        let reply = other.run("echo mine");
        assert!(
            !reply.is_error && !reply.text.contains("cleared"),
            "{}",
            reply.text
        );
    }
}

#[test]
fn keys_typed_ahead_are_their_agents() {
    if !have("keys_typed_ahead_are_their_agents", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let ahead = |client: &mut Client| {
        let begun = client.run_with("sleep 1", json!({"timeout_s": 0}));
        assert_eq!(begun.status(), "running", "{}", begun.text);
        let arguments = json!({"session": "t1", "text": "q", "settle_ms": 20});
        assert!(!client.tool("send", arguments).is_error);
        let ended = client.tool("wait", json!({"session": "t1"}));
        assert_eq!(ended.status(), "done", "{}", ended.text);
        ends_with(client, "q");
    };
    ahead(&mut client);
    let reply = client.run("echo mine");
    assert_eq!(reply.body(), "mine", "{}", reply.text);
    assert!(
        reply.text.contains("your own and not submitted: \"q\""),
        "{}",
        reply.text
    );
    ahead(&mut client);
    let sent = client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
    assert!(!sent.is_error, "{}", sent.text);
    // With what a person adds it is not.
    ahead(&mut client);
    types(&mut client, "uit");
    let refused = client.run("echo mine");
    assert!(
        refused.is_error && refused.text.contains("\"quit\""),
        "{}",
        refused.text
    );
}

#[test]
fn wait_tells_when_it_goes_at_a_program() {
    let test = "wait_tells_when_it_goes_at_a_program";
    if !have(test, "tmux") || !have(test, "python3") {
        return;
    }
    let mut client = Client::in_session();
    client.run("python3 -q");
    for (keys, says) in [
        (["5", "Enter"], "the unsubmitted text was submitted: \"x ="),
        (["C-e", "C-u"], "the unsubmitted text is gone: \"x =\""),
    ] {
        types(&mut client, "x = ");
        let arguments = json!({"session": "t1", "timeout_s": 600});
        let id = client.begin(
            "tools/call",
            json!({"name": "wait", "arguments": arguments}),
        );
        client.somebody_types(&keys);
        let told = client.answer(id)["result"]["content"][0]["text"].to_string();
        let told: String = serde_json::from_str(&told).expect("a string");
        // A call that begins late finds nothing there.
        assert!(told.contains(says) || !told.contains("x ="), "{told}");
    }
    let reply = client.run("x");
    assert_eq!(reply.body(), "5", "{}", reply.text);
}

#[test]
fn a_line_beyond_ssh_is_protected() {
    let test = "a_line_beyond_ssh_is_protected";
    if !far::can(test) {
        return;
    }
    let far = Far::started(&["dash"]);
    let mut client = Client::in_session();
    client.run(&format!("ssh {}", far.words(0)));
    for word in ["one", "two"] {
        let reply = client.run(&format!("echo {word}"));
        assert_eq!(reply.body().lines().next(), Some(word), "{}", reply.text);
    }
    types(&mut client, "echo PER");
    protects(&mut client, "echo mine", "echo PER");
    assert_eq!(forced(&mut client, "echo mine").body(), "mine");
    // A question of the far side.
    client.run("printf 'Delete? '; read x; echo \"<$x>\"");
    types(&mut client, "no");
    protects(&mut client, "yes", "no");
    assert_eq!(forced(&mut client, "yes").body(), "<yes>");
    client.run("exit");
}
