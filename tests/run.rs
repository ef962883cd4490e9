//! run and wait at a shell's prompt: exact output, exact statuses, and nothing more than was printed.

use serde_json::{Value, json};

use crate::util::client::Client;
use crate::util::skip::have;

/// Runs one line and compares output, exit status and the stages' statuses (`null` for a single command).
fn check(client: &mut Client, line: &str, output: &str, exit: i32, stages: Value) {
    let reply = client.run(line);
    assert_eq!(reply.body(), output, "{line}: {}", reply.text);
    assert_eq!(reply.facts["exit_code"], exit, "{line}: {}", reply.text);
    assert_eq!(reply.facts["pipestatus"], stages, "{line}: {}", reply.text);
    assert_eq!(reply.status(), "done", "{line}");
}

#[test]
fn every_stage_of_a_pipeline() {
    if !have("every_stage_of_a_pipeline", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    check(&mut client, "false | true", "", 0, json!([1, 0]));
    check(&mut client, "false | cat", "", 0, json!([1, 0]));
    check(
        &mut client,
        "sh -c 'exit 3' | tail -1",
        "",
        0,
        json!([3, 0]),
    );
    check(&mut client, "true | false | true", "", 0, json!([0, 1, 0]));
    check(&mut client, "! false", "", 0, Value::Null);
    check(&mut client, "! true", "", 1, Value::Null);
    check(&mut client, "false; true", "", 0, Value::Null);
    check(&mut client, "(exit 7)", "", 7, Value::Null);
    check(
        &mut client,
        "sh -c 'kill -9 $$'",
        "Killed",
        137,
        Value::Null,
    );
    let reply = client.run("yes | head -1");
    assert_eq!(reply.facts["pipestatus"], json!([141, 0]));
    assert_eq!(reply.body(), "y");
    assert!(
        reply.header().contains("exit 0 (pipe 141=SIGPIPE 0)"),
        "{}",
        reply.text
    );
}

#[test]
fn commands_as_they_are_written() {
    if !have("commands_as_they_are_written", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    check(&mut client, "echo hi # a comment", "hi", 0, Value::Null);
    check(&mut client, "echo hi;", "hi", 0, Value::Null);
    check(&mut client, "echo \"Hello!\"", "Hello!", 0, Value::Null);
    check(&mut client, "echo 'a\tb'", "a       b", 0, Value::Null);
    check(&mut client, "printf foo", "foo", 0, Value::Null);
    check(&mut client, "echo é漢字🙂", "é漢字🙂", 0, Value::Null);
    check(&mut client, "   echo spaced   ", "spaced", 0, Value::Null);
    check(
        &mut client,
        "-x",
        "bash: -x: command not found",
        127,
        Value::Null,
    );
    check(
        &mut client,
        "Enter",
        "bash: Enter: command not found",
        127,
        Value::Null,
    );
    // Text that ends in what tmux takes for syntax, or stands where it expands formats.
    check(
        &mut client,
        "echo '#{pane_id} %H #(id)';",
        "#{pane_id} %H #(id)",
        0,
        Value::Null,
    );
    let background = client.run("sleep 2 &");
    assert_eq!(background.facts["exit_code"], 0, "{}", background.text);
    // A heredoc, and a line after it, are two commands.
    let heredoc = client.run("cat <<E\nin it\nE\necho after");
    assert_eq!(
        heredoc.facts["regions"].as_array().map(Vec::len),
        Some(2),
        "{}",
        heredoc.text
    );
    assert!(
        heredoc.text.contains("\nin it\n") && heredoc.text.ends_with("\nafter"),
        "{}",
        heredoc.text
    );
}

#[test]
fn lines_that_are_no_commands() {
    if !have("lines_that_are_no_commands", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    for line in ["", "# only a comment"] {
        let reply = client.run(line);
        assert_eq!(reply.text, "[t1 · no command]");
        assert!(reply.facts.get("region").is_none() && reply.facts.get("exit_code").is_none());
    }
    for line in [";", "echo )"] {
        let reply = client.run(line);
        assert!(
            reply.header().starts_with("[t1 · no command, exit 2"),
            "{}",
            reply.text
        );
        assert!(reply.body().contains("syntax error"), "{}", reply.text);
    }
    // An open quote is said to be one, and can be finished.
    let open = client.run("echo \"open");
    assert_eq!(open.status(), "waiting");
    assert!(
        open.header().contains("continuation prompt"),
        "{}",
        open.text
    );
    check(&mut client, "end\"", "open\nend", 0, Value::Null);
}

#[test]
fn a_hundred_thousand_lines() {
    if !have("a_hundred_thousand_lines", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let reply = client.run("seq 1 100000");
    assert!(reply.text.len() < 2048, "{} bytes", reply.text.len());
    assert_eq!(reply.facts["exit_code"], 0);
    assert_eq!(reply.facts["total_lines"], 100_000);
    let shown = reply.body();
    assert!(
        shown.starts_with("1\n2\n3\n") && shown.ends_with("\n99999\n100000"),
        "{shown}"
    );
    // The number of the line that holds N.
    let first = reply.facts["first_line"].as_u64().expect("a number") - 1;
    let line = |client: &mut Client, n: u64, limit: u64| {
        let read = client.tool(
            "read",
            json!({"session": "t1", "start": first + n, "limit": limit}),
        );
        let want: Vec<String> = (n..n + limit)
            .map(|n| format!("{}: {n}", first + n))
            .collect();
        assert_eq!(read.body(), want.join("\n"));
    };
    line(&mut client, 1, 3);
    line(&mut client, 49_999, 3);
    line(&mut client, 99_951, 50);
    let found = client.tool(
        "search",
        json!({"session": "t1", "pattern": "^4242$", "context": 1}),
    );
    assert_eq!(found.facts["total_matches"], 1);
    let at = first + 4242;
    assert_eq!(
        found.body(),
        format!("#1:\n{}- 4241\n{at}: 4242\n{}- 4243", at - 1, at + 1)
    );
    let region = client.tool("read", json!({"session": "t1", "region": 1, "limit": 2}));
    assert_eq!(
        region.body(),
        format!("{}: 99999\n{}: 100000", first + 99_999, first + 100_000)
    );
}

#[test]
fn one_line_of_three_megabytes() {
    if !have("one_line_of_three_megabytes", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let reply = client.run("head -c 3000000 /dev/zero | tr '\\0' a; echo; echo next");
    assert!(reply.text.len() < 4096, "{} bytes", reply.text.len());
    assert!(
        reply.text.contains("3,000,000 bytes in all"),
        "{}",
        reply.text
    );
    assert!(reply.body().ends_with("\nnext"));
    assert_eq!(reply.facts["total_lines"], 2);
}

#[test]
fn a_progress_bar_is_one_line() {
    if !have("a_progress_bar_is_one_line", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let reply = client.run("for i in $(seq 3000); do printf '\\rstep %d of 3000' $i; done; echo");
    assert_eq!(reply.body(), "step 3000 of 3000");
    assert!(reply.text.len() < 500);
    assert_eq!(reply.facts["total_lines"], 1);
}

#[test]
fn until_does_not_match_the_command_line() {
    if !have("until_does_not_match_the_command_line", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let line = "echo first; read -t 1 x < /dev/zero; sleep 0.5; echo need''le; read -r y";
    let reply = client.run_with(line, json!({"until": "needle|needl"}));
    assert_eq!(reply.status(), "until", "{}", reply.text);
    assert_eq!(reply.body(), "first\nneedle");
    // It runs on, and ends when it is answered.
    let end = client.run("answer");
    assert!(
        end.header().contains("exit 0 (the end of #1: "),
        "{}",
        end.text
    );
    // The word itself is in the command line, and in the answer that is typed: only what is printed counts.
    let line = "read -r x; read -r y; echo needle";
    let first = client.run_with(line, json!({"until": "needle"}));
    assert_eq!(first.status(), "waiting", "{}", first.text);
    let second = client.run_with("needle", json!({"until": "needle"}));
    assert_eq!(second.status(), "waiting", "{}", second.text);
    let third = client.run_with("x", json!({"until": "needle"}));
    assert_eq!(third.body(), "needle", "{}", third.text);
}

#[test]
fn wait_tells_only_what_is_new() {
    if !have("wait_tells_only_what_is_new", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let fifo = client.home().join("go");
    client.run(&format!("mkfifo {}", fifo.display()));
    let line = format!(
        "echo one; cat {0}; echo two; cat {0}; false",
        fifo.display()
    );
    let begun = client.run_with(&line, json!({"timeout_s": 1}));
    assert_eq!(
        (begun.status(), begun.body().as_str()),
        ("running", "one"),
        "{}",
        begun.text
    );
    // Working, not waiting for input: typing is refused, and nothing is typed.
    let refused = client.run("echo no");
    assert!(
        refused.is_error && refused.text.contains("nothing was typed"),
        "{}",
        refused.text
    );
    std::fs::write(&fifo, "let on\n").expect("the fifo has a reader");
    let more = client.tool("wait", json!({"session": "t1", "until": "two"}));
    assert_eq!(
        (more.status(), more.body().as_str()),
        ("until", "let on\ntwo"),
        "{}",
        more.text
    );
    let none = client.tool("wait", json!({"session": "t1", "timeout_s": 0}));
    assert_eq!(
        (none.status(), none.body().as_str()),
        ("running", ""),
        "{}",
        none.text
    );
    std::fs::write(&fifo, "last\n").expect("the fifo has a reader");
    let end = client.tool("wait", json!({"session": "t1"}));
    assert_eq!(end.body(), "last", "{}", end.text);
    assert_eq!((&end.facts["exit_code"], end.status()), (&json!(1), "done"));
    let idle = client.tool("wait", json!({"session": "t1"}));
    assert!(idle.header().contains("nothing runs"), "{}", idle.text);
}

#[test]
fn several_lines_stop_at_a_question() {
    if !have("several_lines_stop_at_a_question", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let reply = client.run("cd /\npwd\nread -p 'Go on? ' x\necho never");
    assert_eq!(reply.status(), "waiting", "{}", reply.text);
    assert_eq!(reply.facts["regions"], json!([1, 2, 3]));
    assert_eq!(reply.facts["unsent"], json!(["echo never"]));
    assert_eq!(reply.facts["prompt"], "Go on?");
    assert!(
        reply.text.contains("not sent: echo never"),
        "{}",
        reply.text
    );
    client.run("yes");
    let said = client.run("echo \"$x in $PWD\"");
    assert_eq!(said.body(), "yes in /");
}

#[test]
fn show_and_last_lines_choose() {
    if !have("show_and_last_lines_choose", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let shown = client.run_with(
        "seq 1 300",
        json!({"show": "^2.7$", "show_after": 1, "last_lines": 2}),
    );
    let first = shown.facts["first_line"].as_u64().expect("a number") - 1;
    let numbered = |n: u64, mark: char| format!("{}{mark} {n}", first + n);
    let want: Vec<String> = (207..300)
        .step_by(10)
        .flat_map(|n| [numbered(n, ':'), numbered(n + 1, '-')])
        .collect();
    assert_eq!(shown.body(), want.join("\n") + "\n299\n300");
    assert_eq!(shown.facts["matches"], 10);
    let last = client.run_with("seq 1 300", json!({"last_lines": 3}));
    assert_eq!(last.body(), "298\n299\n300");
    let most = client.run_with("seq 1 300", json!({"max_lines": 4}));
    let omitted = most.facts["omitted"].as_array().expect("a range").clone();
    assert_eq!(
        omitted[1]
            .as_u64()
            .zip(omitted[0].as_u64())
            .map(|(to, from)| to - from + 1),
        Some(296)
    );
    assert!(
        most.body().starts_with("1\n2\n[... 296 lines omitted: ")
            && most.body().ends_with("]\n299\n300")
    );
}

#[test]
fn shells_within_shells() {
    if !have("shells_within_shells", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let inner = client.run("bash");
    assert_eq!(inner.status(), "prompt", "{}", inner.text);
    check(&mut client, "false | true", "", 0, json!([1, 0]));
    let left = client.run("exit 3");
    assert!(
        left.header().contains("exit 3 (the end of #1: "),
        "{}",
        left.text
    );
    assert_eq!(left.facts["exit_code"], 3);
    let over = client.run("exit 5");
    assert_eq!(
        (over.status(), &over.facts["exit_code"]),
        ("closed", &json!(5)),
        "{}",
        over.text
    );
    let late = client.run("echo");
    assert!(
        late.is_error && late.text.contains("exit status 5"),
        "{}",
        late.text
    );
}

#[test]
fn four_at_once_in_one_session() {
    if !have("four_at_once_in_one_session", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let run = |n: usize| json!({"name": "run", "arguments": {"session": "t1", "input": format!("echo begin{n}; sleep 0.2; echo end{n}; (exit {n})")}});
    let ids: Vec<u64> = (1..=4)
        .map(|n| client.begin("tools/call", run(n)))
        .collect();
    let mut done = 0;
    for (n, id) in (1..=4).zip(ids) {
        let result = client.answer(id)["result"].clone();
        let text = result["content"][0]["text"]
            .as_str()
            .expect("text")
            .to_owned();
        if result["isError"] == true {
            assert!(text.contains("nothing was typed"), "{text}");
            continue;
        }
        done += 1;
        assert!(text.ends_with(&format!("\nbegin{n}\nend{n}")), "{text}");
        assert_eq!(result["_meta"]["paneglass/facts"]["exit_code"], n, "{text}");
    }
    assert!(done > 0);
    // A refused line was not typed: it is in no region.
    let regions = client.tool("regions", json!({"session": "t1"}));
    assert_eq!(regions.body().lines().count(), done, "{}", regions.text);
}

#[test]
fn a_call_in_progress_blocks_no_other() {
    if !have("a_call_in_progress_blocks_no_other", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.open(json!({"name": "t2"}));
    let go = client.home().join("go");
    client.run(&format!("mkfifo {}", go.display()));
    let line = format!("echo begun; cat {}; echo over", go.display());
    let id = client.begin(
        "tools/call",
        json!({"name": "run", "arguments": {"session": "t1", "input": line, "timeout_s": 600}}),
    );
    // Everything else is served meanwhile: another session, and the log of the very session that is waited for.
    let other = client.tool("run", json!({"session": "t2", "input": "echo other"}));
    assert_eq!(other.body(), "other");
    let found = loop {
        let found = client.tool("search", json!({"session": "t1", "pattern": "^begun$"}));
        if found.facts["total_matches"] == 1 {
            break found;
        }
    };
    assert!(!found.is_error);
    assert!(client.request("ping", json!({}))["result"].is_object());
    let list = client.tool("session_list", json!({}));
    assert!(list.text.contains("t1 · cat works"), "{}", list.text);
    std::fs::write(&go, "").expect("the fifo has a reader");
    let text = client.answer(id)["result"]["content"][0]["text"].to_string();
    assert!(
        text.contains("begun\\nover") && text.contains("exit 0"),
        "{text}"
    );
}

#[test]
fn each_bash_construct_is_one_command() {
    if !have("each_bash_construct_is_one_command", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let function = client.run("greet() {\n  local name=$1\n  echo \"hello $name\"\n}");
    assert_eq!(function.facts["exit_code"], 0, "{}", function.text);
    check(&mut client, "greet you", "hello you", 0, Value::Null);
    check(
        &mut client,
        "for i in 1 2; do\n  echo $i\ndone",
        "1\n2",
        0,
        Value::Null,
    );
    check(
        &mut client,
        "if true\nthen echo yes\nfi",
        "yes",
        0,
        Value::Null,
    );
    check(&mut client, "echo one \\\n  two", "one two", 0, Value::Null);
    // The user's own settings hold, and harm neither them nor us.
    check(&mut client, "set -u; set -o pipefail", "", 0, Value::Null);
    check(&mut client, "false | true", "", 1, json!([1, 0]));
    let mut traced = client.run("set -x");
    assert_eq!(traced.facts["exit_code"], 0);
    traced = client.run("true");
    assert_eq!(traced.body(), "+ true", "{}", traced.text);
    client.run("set +x");
    check(&mut client, "PS1='\\n$(echo two)\\n> '", "", 0, Value::Null);
    check(&mut client, "echo after", "after", 0, Value::Null);
    // set -e does not end the shell at a failing prompt hook, and `! true` does not at all.
    check(&mut client, "set -e; ! true", "", 1, Value::Null);
    check(&mut client, "echo alive", "alive", 0, Value::Null);
    // Without the hook that tells the status, unknown is said and nothing is invented.
    client.run("set +e +u");
    let dropped = client.run("PROMPT_COMMAND='true'");
    assert!(dropped.text.contains("status unknown"), "{}", dropped.text);
    let unknown = client.run("(exit 4)");
    assert!(unknown.facts.get("exit_code").is_none(), "{}", unknown.text);
    assert!(unknown.text.contains("PROMPT_COMMAND"), "{}", unknown.text);
}
