//! wait: a line that went on is new, and what may work is waited for.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::util::client::{Client, DEADLINE};
use crate::util::skip::have;

/// A line that was shown unfinished is shown again with what came: in the reply of wait, of a look with `send`, and to
/// each agent for itself.
#[test]
fn a_line_that_went_on_is_new() {
    if !have("a_line_that_went_on_is_new", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.run("mkfifo go");
    let go = client.home().join("go");
    for (line, first, then, exit) in [
        (
            "printf 'Compiling... '; cat go; echo done",
            "Compiling...",
            "Compiling... done",
            0,
        ),
        (
            "printf ....; cat go; echo 'F [100%]'; (exit 1)",
            "....",
            "....F [100%]",
            1,
        ),
        (
            "printf abc; cat go; echo ' error: bad'; echo z",
            "abc",
            "abc error: bad\nz",
            0,
        ),
        (
            r"printf '10 %%\r'; cat go; printf '20 %%\n'",
            "10 %",
            "20 %",
            0,
        ),
        ("printf 'no end'; cat go", "no end", "", 0),
        ("echo whole; cat go", "whole", "", 0),
        ("echo whole; cat go; echo more", "whole", "more", 0),
    ] {
        let begun = client.run_with(line, json!({"timeout_s": 1}));
        assert_eq!(
            (begun.status(), begun.body().as_str()),
            ("running", first),
            "{}",
            begun.text
        );
        let still = client.tool("wait", json!({"session": "t1", "timeout_s": 0}));
        assert_eq!(
            (still.status(), still.body().as_str()),
            ("running", ""),
            "{}",
            still.text
        );
        fs::write(&go, "").expect("the fifo has a reader");
        let end = client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
        assert_eq!(end.facts["exit_code"], exit, "{line}: {}", end.text);
        assert_eq!(end.body(), then, "{line}: {}", end.text);
    }
    // What `until` has found is shown.
    client.run_with(
        "printf 'Server starting...'; cat go; echo ' LISTENING'; cat go",
        json!({"until": "starting"}),
    );
    fs::write(&go, "").expect("the fifo has a reader");
    let found = client.tool(
        "wait",
        json!({"session": "t1", "until": "LISTENING", "timeout_s": 60}),
    );
    assert_eq!(
        (found.status(), found.body().as_str()),
        ("until", "Server starting... LISTENING"),
        "{}",
        found.text
    );
    // A look tells it as well, and what it has told is not told again.
    fs::write(&go, "").expect("the fifo has a reader");
    client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
    client.run_with(
        "printf one; cat go; echo two; cat go",
        json!({"timeout_s": 1}),
    );
    fs::write(&go, "").expect("the fifo has a reader");
    let deadline = Instant::now() + DEADLINE;
    while !client
        .tool("read", json!({"session": "t1", "view": "screen"}))
        .text
        .contains("onetwo")
    {
        assert!(Instant::now() < deadline, "it does not go on");
    }
    let looked = client.tool("send", json!({"session": "t1"}));
    assert!(looked.body().contains("onetwo"), "{}", looked.text);
    fs::write(&go, "").expect("the fifo has a reader");
    let end = client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
    assert_eq!(
        (end.status(), end.body().as_str()),
        ("done", ""),
        "{}",
        end.text
    );
}

/// The far side of an ssh that is silent may work: `wait` waits for it, also when a reply has said that it may ask.
#[test]
fn a_silent_far_side_is_waited_for() {
    if !have("a_silent_far_side_is_waited_for", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    // What is called ssh and reads a terminal in raw mode is taken for it.
    fs::copy("/bin/cat", client.home().join("ssh")).expect("a copy");
    client.run("mkfifo go");
    let line = "bash -c 'stty -icanon; (read x < go; echo built) & exec ./ssh'";
    let begun = client.run_with(line, json!({"timeout_s": 60}));
    assert_eq!(begun.status(), "waiting", "{}", begun.text);
    assert!(
        begun
            .text
            .contains("if it works, `wait` goes on waiting for it"),
        "{}",
        begun.text
    );
    let wait = json!({"session": "t1", "until": "built", "timeout_s": 60});
    let waited = client.begin("tools/call", json!({"name": "wait", "arguments": wait}));
    // Far longer than a wait took that took silence for a question.
    std::thread::sleep(Duration::from_secs(5));
    fs::write(client.home().join("go"), "\n").expect("the fifo has a reader");
    let answer = client.answer(waited);
    let text = answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default();
    assert!(
        text.contains("until matched") && text.contains("\nbuilt"),
        "{answer}"
    );
    let still = client.tool("wait", json!({"session": "t1", "timeout_s": 1}));
    assert!(
        still.text.contains("cannot be told from here"),
        "{}",
        still.text
    );
    client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
}

/// So may the other threads of a program that also takes commands.
#[test]
fn a_program_that_also_reads_is_waited_for() {
    if !have("a_program_that_also_reads_is_waited_for", "tmux")
        || !have("a_program_that_also_reads_is_waited_for", "python3")
    {
        return;
    }
    let mut client = Client::in_session();
    let script = "import sys, threading, time
threading.Thread(target=lambda: [0 for line in sys.stdin], daemon=True).start()
for n in range(8):
    print('step', n, flush=True)
    time.sleep(0.5)
print('READY', flush=True)
time.sleep(600)
";
    fs::write(client.home().join("serve.py"), script).expect("the test's own folder");
    let ready = client.run_with(
        "python3 serve.py",
        json!({"until": "READY", "timeout_s": 60, "settle_ms": 60_000}),
    );
    let ready = match ready.status() {
        // Between two steps it may look as if it asked: then it is waited for.
        "waiting" => client.tool(
            "wait",
            json!({"session": "t1", "until": "READY", "timeout_s": 60}),
        ),
        _ => ready,
    };
    assert_eq!(ready.status(), "until", "{}", ready.text);
    client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
}

/// `watch` reads nothing and has the whole screen: no line of it is in the log, and the reply says where it is.
#[test]
fn what_works_on_the_whole_screen_says_so() {
    let test = "what_works_on_the_whole_screen_says_so";
    if !have(test, "tmux") || !have(test, "watch") {
        return;
    }
    let mut client = Client::in_session();
    let mut shown = client.run_with("watch -n 1 date", json!({"timeout_s": 2}));
    let deadline = Instant::now() + DEADLINE;
    while !shown.text.contains("it has the whole screen") {
        assert!(Instant::now() < deadline, "{}", shown.text);
        shown = client.tool("wait", json!({"session": "t1", "timeout_s": 1}));
    }
    assert_eq!(shown.status(), "running", "{}", shown.text);
    client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
}

/// A prompt of a program's own whose lines end as terminfo's `nel` has it (haskeline does so): the first line of the
/// answer is an answer.
#[test]
fn a_line_may_end_by_nel() {
    let test = "a_line_may_end_by_nel";
    if !have(test, "tmux") || !have(test, "python3") {
        return;
    }
    let mut client = Client::in_session();
    let script = r#"import os, termios
new = termios.tcgetattr(0)
new[3] &= ~(termios.ECHO | termios.ICANON)
termios.tcsetattr(0, termios.TCSANOW, new)
for ends in (b"\x1bE", b"\x1bD\r", b"\x0b\r", b"\r\n"):
    os.write(1, b"nel> ")
    line = b""
    while (key := os.read(0, 1)) not in b"\n\r":
        line += key
        os.write(1, key)
    os.write(1, ends)
    for n in range(3):
        os.write(1, b"out %d %s\r\n" % (n, line))
"#;
    fs::write(client.home().join("nel.py"), script).expect("the test's own folder");
    client.run_with("python3 nel.py", json!({"prompt_pattern": "nel> "}));
    for line in ["one", "two", "three", "four"] {
        let ran = client.run_with(line, json!({"prompt_pattern": "nel> "}));
        let printed: Vec<String> = (0..3).map(|n| format!("out {n} {line}")).collect();
        assert_eq!(ran.body(), printed.join("\n"), "{}", ran.text);
    }
}
