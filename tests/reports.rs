//! Faults that were found by trying to break it: each test says what went wrong for whom.

use std::fs;
use std::time::Instant;

use serde_json::json;

use crate::util::client::{Client, DEADLINE};
use crate::util::skip::have;

/// Waits until `read` of the session shows the text.
fn appears(client: &mut Client, text: &str) {
    appears_times(client, text, 1);
}

/// The same so many times: a command line shows it once before its output does.
fn appears_times(client: &mut Client, text: &str, times: usize) {
    let deadline = Instant::now() + DEADLINE;
    while client
        .tool("read", json!({"session": "t1"}))
        .text
        .matches(text)
        .count()
        < times
    {
        assert!(Instant::now() < deadline, "{text:?} does not appear");
    }
}

/// A background job's output at the prompt was taken for a person's text: every later command was refused.
#[test]
fn background_output_is_nobodys_text() {
    if !have("background_output_is_nobodys_text", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.run("(sleep 0.2; echo from-a-job) &");
    appears_times(&mut client, "from-a-job", 2);
    let reply = client.run("echo after");
    assert_eq!(reply.body(), "after", "{}", reply.text);
    // What was half typed before the job printed is still in the shell's hands, and protected.
    client.run("(sleep 0.5; echo from-another) &");
    client.tool("send", json!({"session": "t1", "text": "echo mine"}));
    appears_times(&mut client, "from-another", 2);
    let kept = client.run("echo joined");
    assert_eq!(
        kept.body(),
        "joined",
        "the agent's own text is cleared first: {}",
        kept.text
    );
}

/// Text that stood below the cursor when the prompt was drawn was taken for typed text.
#[test]
fn old_text_under_the_cursor_is_nobodys() {
    if !have("old_text_under_the_cursor_is_nobodys", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    for line in [
        "seq 8; tput cup 0 0",
        "printf '\\e[H'",
        "seq 8; printf '\\e[5A'",
    ] {
        client.run(line);
        let reply = client.run("echo after");
        assert!(
            !reply.is_error && reply.facts["exit_code"] == 0,
            "{line}: {}",
            reply.text
        );
    }
}

/// A line went into a loop that a person had begun, and into an expression half typed at a program's prompt.
#[test]
fn unfinished_commands_and_half_typed_lines_in_programs() {
    let name = "unfinished_commands_and_half_typed_lines_in_programs";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let mut client = Client::in_session();
    client.somebody_types(&["for i in 1 2; do", "Enter"]);
    appears(&mut client, ": >");
    let refused = client.run("echo into-the-loop");
    assert!(
        refused.is_error && refused.text.contains("unfinished command"),
        "{}",
        refused.text
    );
    client.somebody_types(&["C-c"]);
    appears(&mut client, "> ^C");
    // The prompt comes after what is echoed of the key.
    let deadline = Instant::now() + DEADLINE;
    while client.run("echo free").body() != "free" {
        assert!(Instant::now() < deadline, "the prompt does not come back");
    }
    client.run("python3 -q");
    client.somebody_types(&["x = 5"]);
    appears(&mut client, ">>> x = 5");
    let refused = client.run("2+2");
    assert!(
        refused.is_error && refused.text.contains("\"x = 5\""),
        "{}",
        refused.text
    );
    client.somebody_types(&["Enter"]);
    appears(&mut client, "x = 5\n");
    let deadline = Instant::now() + DEADLINE;
    while client.run("x + 37").body() != "42" {
        assert!(Instant::now() < deadline, "python has not taken the line");
    }
}

/// What ended while no server ran was never told by `wait`, and old news was told again.
#[test]
fn wait_tells_what_ended_while_no_server_ran() {
    if !have("wait_tells_what_ended_while_no_server_ran", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let (go, done) = (client.home().join("go"), client.home().join("done"));
    client.run(&format!("mkfifo {}", go.display()));
    let line = format!(
        "echo shown; cat {}; seq 3; echo x > {}; (exit 7)",
        go.display(),
        done.display()
    );
    let begun = client.run_with(&line, json!({"until": "shown"}));
    assert_eq!(begun.status(), "until", "{}", begun.text);
    let mut client = client.killed_and_restarted(|| {
        fs::write(&go, "").expect("the fifo has a reader");
        let deadline = Instant::now() + DEADLINE;
        while !done.exists() {
            assert!(Instant::now() < deadline, "the command does not go on");
        }
    });
    let end = client.tool("wait", json!({"session": "t1"}));
    assert_eq!(
        (&end.facts["exit_code"], end.body().as_str()),
        (&json!(7), "1\n2\n3"),
        "{}",
        end.text
    );
    let idle = client.tool("wait", json!({"session": "t1"}));
    assert!(
        idle.header().contains("nothing runs") && !idle.text.contains("meanwhile"),
        "{}",
        idle.text
    );
    // Its own half-typed text is still its own.
    client.tool("send", json!({"session": "t1", "text": "echo half"}));
    let mut client = client.killed_and_restarted(|| {});
    assert_eq!(client.run("echo whole").body(), "whole");
}

/// A server that died right after typing left its agent's command to "a person".
#[test]
fn a_command_is_its_agents_even_when_the_server_dies_at_once() {
    if !have(
        "a_command_is_its_agents_even_when_the_server_dies_at_once",
        "tmux",
    ) {
        return;
    }
    let mut client = Client::in_session();
    for n in 0..5 {
        client.begin(
            "tools/call",
            json!({"name": "run", "arguments": {"session": "t1", "input": format!("echo number {n}")}}),
        );
        let log = client.home().join("state/sessions/t1/regions.jsonl");
        let deadline = Instant::now() + DEADLINE;
        while !fs::read_to_string(&log).is_ok_and(|text| text.contains(&format!("number {n}"))) {
            assert!(Instant::now() < deadline, "the line is not written down");
        }
        client = client.killed_and_restarted(|| {});
        // It was typed or it was not; if it was, it is known whose it is.
        client.run(&format!("echo after {n}"));
    }
    let regions = client.tool("regions", json!({"session": "t1", "last": 100}));
    assert!(!regions.text.contains("person"), "{}", regions.text);
}

/// The same when tmux was still about to type it: it came when the next server had read the log already.
#[test]
fn a_line_that_comes_late_is_its_agents() {
    if !have("a_line_that_comes_late_is_its_agents", "tmux") {
        return;
    }
    for (lines, whose) in [
        (&["echo late", "echo late"][..], ["black-box", "person"]),
        (&["echo other", "echo late"][..], ["person", "person"]),
    ] {
        let client = Client::in_session();
        let session = client.home().join("state/sessions/t1");
        let mut client = client.killed_and_restarted(|| {
            let at = fs::metadata(session.join("raw.log")).expect("a log").len();
            let typed = json!({"typed": "echo late", "who": "black-box", "at": at});
            let records = session.join("regions.jsonl");
            let before = fs::read_to_string(&records).unwrap_or_default();
            fs::write(&records, format!("{before}{typed}\n")).expect("the records");
        });
        assert!(client.tool("session_list", json!({})).text.contains("t1"));
        for (n, line) in lines.iter().enumerate() {
            client.somebody_types(&[line, "Enter"]);
            let ends = format!("#{} · exit 0", n + 1);
            let deadline = Instant::now() + DEADLINE;
            let regions = || json!({"session": "t1", "last": 100});
            while !client.tool("regions", regions()).text.contains(&ends) {
                assert!(Instant::now() < deadline, "{line} does not end");
            }
        }
        let regions = client.tool("regions", json!({"session": "t1", "last": 100}));
        for (line, who) in regions.text.lines().skip(1).zip(whose) {
            assert!(line.contains(&format!(" · {who} · ")), "{}", regions.text);
        }
    }
}

/// A flood in one session kept every other waiting.
#[test]
fn a_flood_keeps_no_other_session_waiting() {
    if !have("a_flood_keeps_no_other_session_waiting", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.open(json!({"name": "t2"}));
    let flood = client.run_with("yes", json!({"timeout_s": 0}));
    assert_eq!(flood.status(), "running");
    for n in 0..5 {
        let other = client.tool(
            "run",
            json!({"session": "t2", "input": format!("echo other {n}"), "timeout_s": 60}),
        );
        assert_eq!(other.body(), format!("other {n}"), "{}", other.text);
    }
    let mut end = client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
    if end.status() == "running" {
        end = client.tool(
            "wait",
            json!({"session": "t1", "timeout_s": 60, "last_lines": 1}),
        );
    }
    assert_eq!(end.facts["exit_code"], 130, "{}", end.text);
}

/// One unreadable folder kept every session from its agent.
#[test]
fn one_broken_session_harms_no_other() {
    if !have("one_broken_session_harms_no_other", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.open(json!({"name": "bad"}));
    client.run("echo here");
    let text = client.home().join("state/sessions/bad/session.txt");
    let mut client = client.killed_and_restarted(|| {
        fs::remove_file(&text).expect("it is there");
        fs::create_dir(&text).expect("a folder in its place");
    });
    assert_eq!(client.run("echo still").body(), "still");
    let list = client.tool("session_list", json!({}));
    assert!(
        list.text
            .contains("session bad of an earlier server cannot be read"),
        "{}",
        list.text
    );
}

/// The answer of a command that had read a secret was cut off with the line that was not echoed.
#[test]
fn what_follows_a_secret_is_output() {
    if !have("what_follows_a_secret_is_output", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.run("read -s -p 'Password: ' x; echo \"got ${#x}\"");
    let answered = client.run("four");
    assert_eq!(answered.body(), "got 4", "{}", answered.text);
}

/// After a gap in the log the next command's status was told as that of the one before.
#[test]
fn a_gap_gives_no_command_anothers_status() {
    if !have("a_gap_gives_no_command_anothers_status", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let go = client.home().join("go");
    client.run(&format!("mkfifo {}", go.display()));
    let line = format!("echo begun; cat {}; (exit 9)", go.display());
    client.run_with(&line, json!({"until": "begun"}));
    // The tap is stopped, so that the command's end comes while none writes the log; then it is killed.
    let times =
        fs::read_to_string(client.home().join("state/sessions/t1/times.log")).expect("a log");
    let tap = times
        .lines()
        .find_map(|line| line.split_once(" tap "))
        .expect("a tap")
        .1
        .to_owned();
    let signal = |name: &str| {
        let sent = std::process::Command::new("kill")
            .args([name, &tap])
            .status();
        assert!(sent.expect("kill runs").success());
    };
    signal("-STOP");
    fs::write(&go, "").expect("the fifo has a reader");
    let screen = |client: &mut Client| {
        client
            .tool("read", json!({"session": "t1", "view": "screen"}))
            .text
    };
    let deadline = Instant::now() + DEADLINE;
    // The shell is back at its prompt on the screen, and the log does not know.
    while !screen(&mut client).trim_end().ends_with(['#', '$']) {
        assert!(Instant::now() < deadline, "the prompt does not come back");
    }
    signal("-KILL");
    appears(&mut client, "output may be missing here");
    let reply = client.run("(exit 42)");
    let regions = client.tool("regions", json!({"session": "t1"}));
    let first = regions
        .text
        .lines()
        .find(|line| line.contains("echo begun"))
        .expect("the command")
        .to_owned();
    assert!(
        first.starts_with("#2 · ended, status unknown"),
        "{first}\n{}",
        reply.text
    );
}

/// A shell that had just come back to its prompt was taken for the program, by the last words of what had run:
/// `cost > 5 $ `.
#[test]
fn a_shell_that_is_back_is_no_program_at_its_prompt() {
    if !have("a_shell_that_is_back_is_no_program_at_its_prompt", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    // While the log cannot grow, only the kernel tells that the shell is back.
    let times =
        fs::read_to_string(client.home().join("state/sessions/t1/times.log")).expect("a log");
    let tap = times
        .lines()
        .find_map(|line| line.split_once(" tap "))
        .expect("a tap")
        .1
        .to_owned();
    let line = format!(
        "printf 'cost > 5 $ '; sleep 0.3; kill -STOP {tap}; (sleep 0.5; kill -CONT {tap}) &"
    );
    let reply = client.run(&line);
    assert_eq!(
        (reply.status(), &reply.facts["exit_code"]),
        ("done", &json!(0)),
        "{}",
        reply.text
    );
    // A question that reads single keys is one all the same.
    let asked = client.run("read -n 1 -p 'Sure? ' x");
    assert_eq!(
        (asked.status(), &asked.facts["prompt"]),
        ("waiting", &json!("Sure?")),
        "{}",
        asked.text
    );
    client.tool("send", json!({"session": "t1", "keys": ["y"]}));
    assert_eq!(client.run("echo \"got $x\"").body(), "got y");
}

/// A session whose log had reached its limit looked like one whose command never ends.
#[test]
fn a_log_at_its_limit_says_so() {
    if !have("a_log_at_its_limit_says_so", "tmux") {
        return;
    }
    let mut client = Client::legacy_with(&[("PANEGLASS_LOG_LIMIT", "50000")]);
    client.open(json!({"name": "t1"}));
    let flood = client.run("seq 1 100000");
    assert!(
        flood.text.contains("is kept any more (limit)"),
        "{}",
        flood.text
    );
    assert!(flood.facts.get("exit_code").is_none(), "{}", flood.text);
    assert!(!flood.text.contains("has ended"), "{}", flood.text);
    let refused = client.run("echo unseen");
    assert!(
        refused.is_error && refused.text.contains("Open another session"),
        "{}",
        refused.text
    );
    // What was kept is there, also for the next server.
    let kept = client.tool("read", json!({"session": "t1", "start": 2, "limit": 2}));
    assert_eq!(kept.body(), "2: 1\n3: 2");
    let mut client = client.killed_and_restarted(|| {});
    let refused = client.run("echo unseen");
    assert!(
        refused.is_error && refused.text.contains("(limit)"),
        "{}",
        refused.text
    );
    client.open(json!({"name": "t2"}));
    let other = client.tool("run", json!({"session": "t2", "input": "echo seen"}));
    assert_eq!(other.body(), "seen");
}
