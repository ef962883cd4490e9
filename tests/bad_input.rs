//! Bad input of each kind: one clear sentence, nothing typed, nothing lost.

use serde_json::{Value, json};

use crate::util::client::Client;
use crate::util::skip::have;

#[test]
fn each_kind_gets_one_sentence() {
    if !have("each_kind_gets_one_sentence", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.run("echo before");
    let cases: &[(&str, Value, &str)] = &[
        ("run", json!({}), "`session` is required"),
        ("run", json!({"session": "t1"}), "`input` is required"),
        (
            "run",
            json!({"session": 7, "input": "x"}),
            "`session` must be a string, not 7",
        ),
        (
            "run",
            json!({"session": "nope", "input": "x"}),
            "no session \"nope\"; open sessions: t1",
        ),
        (
            "run",
            json!({"session": "t1", "input": ["x"]}),
            "`input` must be a string",
        ),
        (
            "run",
            json!({"session": "t1", "input": "x", "timeout_s": -1}),
            "whole number from 0 to 1500",
        ),
        (
            "run",
            json!({"session": "t1", "input": "x", "timeout_s": 1501}),
            "whole number from 0 to 1500",
        ),
        (
            "run",
            json!({"session": "t1", "input": "x", "timeout_s": "30"}),
            "whole number from 0 to 1500, not \"30\"",
        ),
        (
            "run",
            json!({"session": "t1", "input": "x", "max_lines": 0}),
            "whole number from 1",
        ),
        (
            "run",
            json!({"session": "t1", "input": "x", "until": "("}),
            "`until` is not a regular expression",
        ),
        (
            "run",
            json!({"session": "t1", "input": "x", "show": "(?=a)"}),
            "no lookaround",
        ),
        (
            "run",
            json!({"session": "t1", "input": "x", "show": "(a{1000}){1000}"}),
            "too large a pattern",
        ),
        (
            "run",
            json!({"session": "t1", "input": "x", "force": "yes"}),
            "true or false",
        ),
        (
            "run",
            json!({"session": "t1", "input": "x", "timeout": 5}),
            "no argument `timeout`; it takes session, input, timeout_s",
        ),
        (
            "run",
            json!({"session": "t1", "input": "a\u{3}b"}),
            "control character U+0003",
        ),
        (
            "run",
            json!({"session": "t1", "input": "a\u{1b}[31m"}),
            "control character U+001B",
        ),
        (
            "run",
            json!({"session": "t1", "input": "x".repeat(1_048_577)}),
            "at most 1048576",
        ),
        (
            "wait",
            json!({"session": "t1", "timeout_s": 1.5}),
            "whole number from 0 to 1500",
        ),
        (
            "send",
            json!({"session": "t1", "keys": ["ctrl+c", "hyper+x"]}),
            "no key \"hyper+x\"; known are ctrl+a",
        ),
        (
            "send",
            json!({"session": "t1", "keys": "enter"}),
            "an array of strings",
        ),
        (
            "read",
            json!({"session": "t1", "view": "pretty"}),
            "one of cooked, screen, raw",
        ),
        (
            "read",
            json!({"session": "t1", "region": 99}),
            "no region 99; its regions are 1 to 1",
        ),
        (
            "read",
            json!({"session": "t1", "start": 1_000_000}),
            "line 1000000 is outside",
        ),
        (
            "read",
            json!({"session": "t1", "view": "raw", "start": 1_000_000}),
            "beyond the end",
        ),
        (
            "search",
            json!({"session": "t1", "pattern": "["}),
            "`pattern` is not a regular expression",
        ),
        ("search", json!({"session": "t1"}), "`pattern` is required"),
        (
            "regions",
            json!({"session": "t1", "last": 0}),
            "whole number from 1",
        ),
        ("session_list", json!({"all": true}), "no argument `all`"),
        (
            "session_close",
            json!({"session": "../t1"}),
            "no session \"../t1\"",
        ),
    ];
    for (tool, arguments, reason) in cases {
        let reply = client.tool(tool, arguments.clone());
        let shown: String = arguments.to_string().chars().take(80).collect();
        assert!(
            reply.is_error && reply.text.contains(reason),
            "{tool} {shown}: {}",
            reply.text
        );
        assert!(
            !reply.text.contains('\n') && reply.text.len() < 500,
            "{tool} {shown}: {}",
            reply.text
        );
    }
    // Nothing of it was typed, and what was there is there.
    let regions = client.tool("regions", json!({"session": "t1"}));
    assert!(regions.header().contains("1 of 1"), "{}", regions.text);
    assert_eq!(client.run("echo after").body(), "after");
}

#[test]
fn a_line_too_long_for_its_reader_is_refused_or_all_there() {
    let name = "a_line_too_long_for_its_reader_is_refused_or_all_there";
    if !have(name, "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let file = client.home().join("f");
    let waiting = client.run(&format!("cat > {}", file.display()));
    assert_eq!(waiting.status(), "waiting", "{}", waiting.text);
    let refused = client.run(&"y".repeat(6_000));
    assert!(
        refused.is_error && refused.text.contains("at most 4095 bytes"),
        "{}",
        refused.text
    );
    // 20,000 bytes in lines of 60 get through whole.
    let lines: Vec<String> = (0..328).map(|n| format!("{n:060}")).collect();
    let sent = client.tool(
        "send",
        json!({"session": "t1", "text": lines.join("\n") + "\n"}),
    );
    assert!(!sent.is_error, "{}", sent.text);
    client.tool("send", json!({"session": "t1", "keys": ["ctrl+d"]}));
    let end = client.tool("wait", json!({"session": "t1"}));
    assert!(!end.is_error, "{}", end.text);
    assert_eq!(
        std::fs::read_to_string(&file).expect("cat wrote it"),
        lines.join("\n") + "\n"
    );
    // A shell edits its line itself: 12,000 bytes are one.
    let long = "z".repeat(12_000);
    let counted = client.run(&format!("printf %s '{long}' | wc -c"));
    assert_eq!(counted.body(), "12000", "{}", counted.text);
}
