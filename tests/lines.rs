//! How lines reach a program: as one paste, slowly, past another's text, at a prompt that nobody knows.

use serde_json::json;

use crate::util::client::Client;
use crate::util::skip::have;

/// Several lines for Python with what its plain prompt trips over: blank lines in a block, none after it, strings
/// and brackets over several lines.
const SCRIPT: &str = "def f(n):\n    total = 0\n\n    for i in range(n):\n        total += i\n\n    return total\nx = [\n    1,\n\n    2]\ns = '''a\n\n  b'''\nfor i in x:\n    print(i, f(i + 3))\nprint(len(s))\nif x:\n    print('yes')\nelse:\n    print('no')";

/// What it prints.
const PRINTED: &str = "1 6\n2 10\n6\nyes";

#[test]
fn several_lines_to_python_are_one_paste() {
    let name = "several_lines_to_python_are_one_paste";
    if !have(name, "tmux") || !have(name, "python3") || !have(name, "ipython3") {
        return;
    }
    for (start, prompt) in [("python3 -q", ">>>"), ("ipython3 --no-banner", "In [2]:")] {
        let mut client = Client::in_session();
        client.run(start);
        let reply = client.run(SCRIPT);
        assert_eq!(
            (reply.status(), &reply.facts["prompt"]),
            ("prompt", &json!(prompt)),
            "{}",
            reply.text
        );
        // One region, and nothing of the echo.
        assert_eq!(reply.facts["region"], 2, "{}", reply.text);
        assert_eq!(reply.body().trim(), PRINTED, "{}", reply.text);
        let known = client.run("f(4) + 1");
        assert!(known.body().ends_with('7'), "{}", known.text);
        let wrong = client.run("a = 1\nb = = 2\nc = 3");
        assert!(wrong.body().contains("SyntaxError"), "{}", wrong.text);
        // What `until` waits for is not in the lines themselves.
        let line = "word = 'need' + 'le'\nprint('not yet')\nprint(word)  # needle\nx = input()";
        let until = client.run_with(line, json!({"until": "needle"}));
        assert_eq!(until.status(), "until", "{}", until.text);
        assert!(until.body().contains("not yet\nneedle"), "{}", until.text);
        client.run("");
        // A block alone, ended.
        let block = client.run("class A:\n    def m(self):\n        return 'made'");
        assert_eq!(
            (block.status(), block.body().trim()),
            ("prompt", ""),
            "{}",
            block.text
        );
        let made = client.run("A().m()");
        assert!(made.body().ends_with("'made'"), "{}", made.text);
    }
}

#[test]
fn a_person_could_have_typed_it() {
    if !have("a_person_could_have_typed_it", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let typing = json!({"typing": {"wps": 40, "mistakes": 0.3, "seed": 9}});
    let reply = client.run_with("printf '%s|' 'several words'\t'and $more'", typing.clone());
    assert_eq!(reply.body(), "several words|and $more|", "{}", reply.text);
    let log = client.tool(
        "read",
        json!({"session": "t1", "view": "raw", "start": 0, "max_bytes": 10_000}),
    );
    assert!(
        log.text.contains("\\x08") || log.text.contains("\\b"),
        "{}",
        log.text
    );
    // Several lines, and the same keys for the same seed.
    let reply = client.run_with("echo one\necho two", typing);
    assert_eq!(reply.facts["regions"], json!([2, 3]), "{}", reply.text);
    for (typing, says) in [
        (json!({"wps": 0}), "0.2 to 100"),
        (json!({"mistakes": 1}), "0 to 0.5"),
        (json!({"speed": 1}), "no argument `speed`"),
        (json!("fast"), "an object"),
    ] {
        let refused = client.run_with("echo x", json!({"typing": typing}));
        assert!(
            refused.is_error && refused.text.contains(says),
            "{}",
            refused.text
        );
    }
}

/// A prompt that no table knows, by readline, with a number in it.
const CALC: &str = "import readline,select\nn = 0\nwhile True:\n    n += 1\n    select.select([0], [], [], 0.01)\n    try: line = input(f'calc[{n}] ~/dir{n}:: ')\n    except EOFError: break\n    print('=', eval(line))\n";

#[test]
fn an_unknown_prompt_is_offered_as_a_pattern() {
    let name = "an_unknown_prompt_is_offered_as_a_pattern";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let mut client = Client::in_session();
    // Two threads: the kernel's word alone does not settle it.
    let threaded = format!(
        "import threading,time\nthreading.Thread(target=lambda: time.sleep(600), daemon=True).start()\n{}",
        CALC.replace(":: ", " =) ")
    );
    std::fs::write(client.home().join("calc"), threaded).expect("a file of the test's own");
    let begun = client.run_with("python3 calc", json!({"settle_ms": 1500}));
    assert_eq!(
        (begun.status(), &begun.facts["prompt"]),
        ("waiting", &json!("calc[1] ~/dir1 =)")),
        "{}",
        begun.text
    );
    let offered = begun
        .text
        .split_once("prompt_pattern=")
        .and_then(|(_, rest)| rest.split_once(" makes"))
        .map(|(pattern, _)| pattern)
        .unwrap_or_else(|| panic!("no pattern is offered: {}", begun.text));
    let pattern: String = serde_json::from_str(offered).expect("a quoted string");
    for (line, answer) in [("1 + 1", "= 2"), ("6 * 7", "= 42")] {
        let reply = client.run_with(
            line,
            json!({"prompt_pattern": pattern, "settle_ms": 60_000}),
        );
        assert_eq!(
            (reply.status(), reply.body().as_str()),
            ("prompt", answer),
            "{}",
            reply.text
        );
    }
    let bad = client.run_with("1", json!({"prompt_pattern": "("}));
    assert!(
        bad.is_error && bad.text.contains("`prompt_pattern`"),
        "{}",
        bad.text
    );
}

#[test]
fn force_clears_what_another_began() {
    if !have("force_clears_what_another_began", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let waits_with = |client: &mut Client, text: &str| {
        let deadline = std::time::Instant::now() + crate::util::client::DEADLINE;
        while !client
            .tool("read", json!({"session": "t1"}))
            .text
            .trim_end()
            .ends_with(text)
        {
            assert!(
                std::time::Instant::now() < deadline,
                "{text:?} does not appear"
            );
        }
    };
    client.somebody_types(&["rm -i precious"]);
    waits_with(&mut client, "precious");
    let refused = client.run("echo mine");
    assert!(
        refused.is_error && refused.text.contains("rm -i precious"),
        "{}",
        refused.text
    );
    assert_eq!(
        client.run_with("echo mine", json!({"force": true})).body(),
        "mine"
    );
    // An unfinished command of another is given up, not added to.
    client.somebody_types(&["for i in 1 2; do", "Enter"]);
    waits_with(&mut client, ">");
    let refused = client.run("echo mine");
    assert!(
        refused.is_error && refused.text.contains("unfinished command"),
        "{}",
        refused.text
    );
    let forced = client.run_with("echo mine", json!({"force": true}));
    assert_eq!(
        (forced.status(), forced.body().as_str()),
        ("done", "mine"),
        "{}",
        forced.text
    );
    for control in ["\u{3}", "a\u{1b}[A", "x\u{7f}"] {
        let refused = client.run(control);
        assert!(
            refused.is_error && refused.text.contains("keys="),
            "{}",
            refused.text
        );
    }
}
