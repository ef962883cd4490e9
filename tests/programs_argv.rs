//! Programs by argv: what arrives, what is read, what a person sees of it.

use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::util::binary;
use crate::util::client::{Client, SOCKET};
use crate::util::dir::Dir;
use crate::util::skip::have;

/// A client whose answers are checked against what the tools declare.
pub struct Programs {
    client: Client,
    schemas: Vec<(String, Value)>,
}

impl Deref for Programs {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Programs {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

impl Programs {
    pub fn new(environment: &[(&str, &str)]) -> Programs {
        Programs::of(Client::legacy_with(environment))
    }

    fn of(mut client: Client) -> Programs {
        let list = client.request("tools/list", json!({}));
        let tools = list["result"]["tools"].as_array().expect("a list").iter();
        let schemas = tools.map(|tool| {
            let name = tool["name"].as_str().expect("a name");
            (name.to_owned(), tool["outputSchema"].clone())
        });
        Programs {
            schemas: schemas.collect(),
            client,
        }
    }

    /// The server is killed, and another started once `meanwhile` has run.
    pub fn restarted(self, meanwhile: impl FnOnce()) -> Programs {
        Programs::of(self.client.killed_and_restarted(meanwhile))
    }

    /// Calls a tool that answers with a record: the same in structured form and as text.
    pub fn record(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        self.checked(tool, &result)
    }

    pub fn checked(&self, tool: &str, result: &Value) -> Value {
        assert_eq!(result["isError"], false, "{tool}: {result}");
        let record = &result["structuredContent"];
        let text = result["content"][0]["text"].as_str().expect("a text");
        let (header, json) = text.split_once('\n').expect("a header line");
        assert!(header.starts_with('[') && header.ends_with(']'), "{header}");
        assert_eq!(json, record.to_string());
        let schema = self.schemas.iter().find(|(name, _)| name == tool);
        valid(record, &schema.expect("a tool that is listed").1, tool);
        record.clone()
    }

    /// Calls a tool that must answer with an error of one line.
    pub fn refusal(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(!text.contains('\n'), "{text}");
        text.to_owned()
    }

    /// Starts a program and returns its id.
    pub fn begin_program(&mut self, argv: &[&str]) -> String {
        id(&self.record("start_program", json!({"argv": argv})))
    }

    /// Everything that it printed and its last record, once it has ended.
    pub fn read_all(&mut self, id: &str) -> (String, Value) {
        let (mut text, mut cursor) = (String::new(), json!(0));
        loop {
            let arguments = json!({"programId": id, "cursor": cursor, "timeoutMs": 60_000});
            let read = self.record("read_program", arguments);
            text.push_str(read["text"].as_str().expect("a text"));
            cursor = read["cursor"].clone();
            if read["ended"] == true {
                return (text, read);
            }
        }
    }

    /// One read from a cursor.
    pub fn read_from(&mut self, id: &str, cursor: u64) -> Value {
        let arguments = json!({"programId": id, "cursor": cursor, "timeoutMs": 60_000});
        self.record("read_program", arguments)
    }

    /// What tmux says, asked as a person would.
    pub fn tmux(&self, words: &[&str]) -> String {
        tmux(self.home(), words)
    }
}

pub fn tmux(home: &Path, words: &[&str]) -> String {
    let output = Command::new("tmux")
        .args(["-L", SOCKET])
        .args(words)
        .env("TMUX_TMPDIR", home.join("tmux"))
        .env_remove("TMUX")
        .output()
        .expect("tmux starts");
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn id(started: &Value) -> String {
    started["programId"].as_str().expect("an id").to_owned()
}

/// A value against the few words of JSON Schema that our schemas use.
fn valid(value: &Value, schema: &Value, place: &str) {
    let kind = schema["type"].as_str().expect("one type");
    let fits = match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        other => panic!("{place}: an unexpected type {other}"),
    };
    assert!(fits, "{place}: {value} is no {kind}");
    if let Some(words) = schema["enum"].as_array() {
        assert!(words.contains(value), "{place}: {value}");
    }
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        valid(item, &schema["items"], &format!("{place}[{at}]"));
    }
    let Some(object) = value.as_object() else {
        return;
    };
    for (name, value) in object {
        let property = &schema["properties"][name];
        assert!(property.is_object(), "{place}: {name} is not declared");
        valid(value, property, &format!("{place}.{name}"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().expect("a name");
        assert!(object.contains_key(name), "{place}: {name} is missing");
    }
}

#[test]
fn argv_arrives_exactly() {
    if !have("argv_arrives_exactly", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let file = programs.home().join("argv");
    let long = "x".repeat(100 * 1024);
    let arguments = [
        "",
        "a b",
        "'",
        "\"",
        "a\nb\n",
        "\\",
        "$HOME `id` $(id)",
        "*",
        "-n",
        "--",
        "é漢🙂",
        "#{x};",
        "%H",
        "\t\r\x1b",
        "",
        &long,
        ";",
    ];
    // The one place where a shell is asked, and only to write down what it was given.
    let script = "for word do printf '%s\\0' \"$word\"; done > \"$0\"";
    let mut argv = vec!["sh", "-c", script, file.to_str().expect("UTF-8")];
    argv.extend(arguments);
    let id = programs.begin_program(&argv);
    let (_, end) = programs.read_all(&id);
    assert_eq!(end["exitStatus"], 0, "{end}");
    let wanted: String = arguments.iter().map(|word| format!("{word}\0")).collect();
    assert!(fs::read(&file).expect("it was written") == wanted.as_bytes());
    // As long as the session lives, its command is shown as a shell would read it, and not all of it.
    let list = programs.tool("session_list", json!({})).text;
    assert!(
        list.len() < 2_000 && list.contains("sh -c 'for word do"),
        "{list}"
    );
}

#[test]
fn what_no_program_can_get_is_refused() {
    let mut programs = Programs::new(&[]);
    for (arguments, reason) in [
        (json!({}), "`argv` is required"),
        (json!({"argv": []}), "`argv` is required"),
        (json!({"argv": "ls -l"}), "an array of strings"),
        (json!({"argv": ["a", 1]}), "an array of strings"),
        (json!({"argv": ["a", "b\u{0}c"]}), "`argv`[1] holds a NUL"),
        (
            json!({"argv": ["a"], "env": {"A=": "x"}}),
            "no environment holds",
        ),
        (
            json!({"argv": ["a"], "startDirectory": "relative"}),
            "not absolute",
        ),
        (
            json!({"argv": ["a"], "lifetimeMs": 0}),
            "`lifetimeMs` must be a whole number from 1",
        ),
        (json!({"argv": ["a"], "fromPaneId": "%99"}), "names no pane"),
        (
            json!({"argv": ["a"], "fromPaneId": "nowhere"}),
            "there is no session",
        ),
        (
            json!({"argv": ["a"], "name": "a.b"}),
            "letters, digits, _ and -",
        ),
        (
            json!({"argv": ["a"], "command": "x"}),
            "no argument `command`",
        ),
    ] {
        let text = programs.refusal("start_program", arguments);
        assert!(text.contains(reason), "{text}");
    }
    // JSON is UTF-8, and so are its strings: what is not is refused before any tool is asked.
    for bytes in [b"\"\xff\"".as_slice(), br#""\ud800""#] {
        let head = br#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"start_program","arguments":{"argv":["echo","#;
        programs.bytes(&[head.as_slice(), bytes, b"]}}}\n"].concat());
        let answer = programs.next();
        assert_eq!(answer["error"]["code"], -32700, "{answer}");
        let message = answer["error"]["message"].as_str().expect("a text");
        assert!(
            ["utf-8", "hex escape"]
                .iter()
                .any(|word| message.contains(word)),
            "{message}"
        );
    }
    assert!(!programs.home().join("state/sessions/p1").exists());
}

#[test]
fn where_and_how_it_runs() {
    if !have("where_and_how_it_runs", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[("FROM_SERVER", "kept")]);
    let folder = programs.home().join("odd #{x} 'name;");
    fs::create_dir(&folder).expect("the test's own");
    let script = "pwd; echo \"$EXTRA $FROM_SERVER $TERM\"; stty size; echo $PANEGLASS_HOME";
    let started = programs.record(
        "start_program",
        json!({"argv": ["sh", "-c", script], "startDirectory": folder, "env": {"EXTRA": "a b"}, "cols": 90, "rows": 30, "name": "job"}),
    );
    assert_eq!(started["session"], "job");
    assert_eq!(
        (&started["cursor"], &started["effectiveLifetimeMs"]),
        (&json!(0), &json!(3_600_000))
    );
    let (text, end) = programs.read_all(&id(&started));
    let wanted = format!("{}\na b kept tmux-256color\n30 90\n\n", folder.display());
    assert_eq!((text, &end["outcome"]), (wanted, &json!("completed")));
    // The name is taken as long as the output is kept.
    let text = programs.refusal("start_program", json!({"argv": ["true"], "name": "job"}));
    assert!(
        text.contains(&id(&started)) && text.contains("stop_program"),
        "{text}"
    );
    let long = json!({"argv": ["true"], "lifetimeMs": 100_000_000_000u64});
    assert_eq!(
        programs.record("start_program", long)["effectiveLifetimeMs"],
        86_400_000
    );
}

#[test]
fn a_program_is_a_session() {
    if !have("a_program_is_a_session", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let started = programs.record(
        "start_program",
        json!({"argv": ["sh", "-c", "echo one needle; read line; echo got $line; read line"]}),
    );
    let id = id(&started);
    programs.read_from(&id, 0);
    let list = programs.tool("session_list", json!({})).text;
    let attach = started["attach"].as_str().expect("a command");
    assert!(list.contains("p1 · ") && list.contains(attach), "{list}");
    let found = programs
        .tool("search", json!({"session": "p1", "pattern": "needle$"}))
        .text;
    assert!(found.contains("1: one needle"), "{found}");
    programs.tool("send", json!({"session": "p1", "text": "a line\n"}));
    let read = programs.read_from(&id, 11);
    assert!(
        read["text"].as_str().expect("a text").contains("a line"),
        "{read}"
    );
    assert!(
        programs
            .tool("read", json!({"session": "p1"}))
            .text
            .contains("got a line")
    );
    // Closing the session ends the program; its output is kept as of any other.
    assert!(
        !programs
            .tool("session_close", json!({"session": "p1"}))
            .is_error
    );
    let (text, end) = programs.read_all(&id);
    assert!(
        text.starts_with("one needle\n") && end["outcome"] == "gone",
        "{end}"
    );
    let folder = programs.home().join("state/sessions/p1");
    assert!(folder.exists());
    programs.record("stop_program", json!({"programId": id}));
    let text = programs.refusal("read_program", json!({"programId": id}));
    assert!(
        text.contains("no program is known") && !folder.exists(),
        "{text}"
    );
}

#[test]
fn each_state_of_a_progress_line_is_a_line() {
    if !have("each_state_of_a_progress_line_is_a_line", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let script = r"printf '\033[32m0%%\033[m\r50%%\r'; printf '\033[K100%%\r\ndone\r\n'; printf 'a\377b\n\nend'";
    let id = programs.begin_program(&["sh", "-c", script]);
    let (text, _) = programs.read_all(&id);
    assert_eq!(text, "0%\n50%\n100%\ndone\na\u{fffd}b\n\nend");
}

#[test]
fn toolsets_and_read_only_choose() {
    let names = |environment: &[(&str, &str)]| -> Vec<String> {
        let programs = Programs::new(environment);
        programs
            .schemas
            .iter()
            .map(|(name, _)| name.clone())
            .collect()
    };
    let (all, programs) = (names(&[]), names(&[("PANEGLASS_TOOLSETS", "programs")]));
    assert_eq!(
        programs,
        [
            "start_program",
            "read_program",
            "stop_program",
            "capture_pane"
        ]
    );
    let terminal = names(&[("PANEGLASS_TOOLSETS", "terminal")]);
    assert_eq!([terminal, programs].concat(), all);
    let reading = [
        ("PANEGLASS_TOOLSETS", "programs"),
        ("PANEGLASS_READ_ONLY", "1"),
    ];
    assert_eq!(names(&reading), ["read_program", "capture_pane"]);
    // What is not listed is not served either.
    let mut client = Client::legacy_with(&reading);
    let call = json!({"name": "start_program", "arguments": {"argv": ["true"]}});
    let answer = client.request("tools/call", call);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[test]
fn a_flag_chooses_the_toolsets() {
    let dir = Dir::new();
    let ask = dir.path().join("ask");
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    fs::write(&ask, format!("{line}\n")).expect("the test's own");
    let run = |words: &[&str]| {
        let mut command = dir.command(binary());
        let input = fs::File::open(&ask).expect("just written");
        command
            .args(words)
            .stdin(input)
            .env("PANEGLASS_TOOLSETS", "terminal");
        dir.end(command, &words.join(" "))
    };
    let listed = run(&["--toolsets", "programs"]);
    assert!(
        listed.good().contains("\"stop_program\"") && !listed.out.contains("\"run\""),
        "{listed:?}"
    );
    assert!(
        run(&["--toolsets", "magic"])
            .bad(2)
            .contains("--toolsets must name some of terminal, programs, devices")
    );
    run(&["--toolsets"]).bad(2);
    run(&["--toolsets", "programs", "list"]).bad(2);
}

#[test]
fn programs_started_at_once_are_told_apart() {
    if !have("programs_started_at_once_are_told_apart", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let start =
        |n: usize| json!({"name": "start_program", "arguments": {"argv": ["echo", n.to_string()]}});
    let calls: Vec<u64> = (0..12)
        .map(|n| programs.begin("tools/call", start(n)))
        .collect();
    for (n, call) in calls.into_iter().enumerate() {
        let answer = programs.answer(call)["result"].clone();
        let started = programs.checked("start_program", &answer);
        assert_eq!(programs.read_all(&id(&started)).0, format!("{n}\n"));
    }
}
