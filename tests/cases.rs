//! Cases from public reports of what goes wrong between agents and terminals, as far as no other file has them.

use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use crate::util::client::{Client, DEADLINE};
use crate::util::server::Server;
use crate::util::skip::have;

/// A shell that tells nothing: unknown is said, and nothing guessed from text.
#[test]
fn a_plain_shells_statuses_are_unknown() {
    let name = "a_plain_shells_statuses_are_unknown";
    if !have(name, "tmux") || !have(name, "dash") {
        return;
    }
    let mut client = Client::in_session();
    client.open(json!({"name": "t2", "command": "dash", "env": {"PS1": "$ "}}));
    for (line, output) in [
        ("false | cat", ""),
        ("false", ""),
        ("sh -c 'exit 3' | tail -1", ""),
        ("echo exit 0", "exit 0"),
        ("yes | head -1", "y"),
        ("true | false | true", ""),
        ("! false", ""),
        ("false; true", ""),
    ] {
        let reply = client.tool(
            "run",
            json!({"session": "t2", "input": line, "timeout_s": 60}),
        );
        assert_eq!(
            (reply.status(), reply.body().as_str()),
            ("prompt", output),
            "{line}: {}",
            reply.text
        );
        for fact in ["exit_code", "pipestatus", "signal"] {
            assert!(reply.facts[fact].is_null(), "{line}: {}", reply.text);
        }
        assert!(!reply.header().contains("exit"), "{}", reply.text);
    }
}

/// Lines that other tools hung at, or joined with what they add to them.
#[test]
fn lines_as_they_are_written() {
    if !have("lines_as_they_are_written", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    for (line, output, exit) in [
        ("true # comment", "", 0),
        ("echo hi;", "hi", 0),
        ("sleep 2 &", "", 0),
        // One that outlasts the test is not waited for.
        ("sleep 600 &", "", 0),
        ("kill %%; wait 2>&-", "", 0),
        ("cat <<'END'\n$HOME `x` \\\nEND", "$HOME `x` \\", 0),
        ("echo after", "after", 0),
        ("- x", "bash: -: command not found", 127),
        ("Enter", "bash: Enter: command not found", 127),
        ("echo 'a;b' \\; c", "a;b ; c", 0),
        ("echo \"Hello!\"", "Hello!", 0),
        ("echo %s %% #{x} '#(date)'", "%s %%", 0),
    ] {
        let reply = client.run(line);
        let body = reply.body();
        // The shell tells of its background job by number.
        let body = if body.starts_with('[') { "" } else { &body };
        assert_eq!(body.trim_end(), output, "{line}: {}", reply.text);
        assert_eq!(reply.facts["exit_code"], exit, "{line}: {}", reply.text);
    }
    for open in ["echo 'open", "cat <<END", "if true"] {
        let reply = client.run(open);
        assert_eq!(reply.status(), "waiting", "{open}: {}", reply.text);
        assert!(
            reply.header().contains("continuation prompt"),
            "{open}: {}",
            reply.text
        );
        let mut gone = client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
        let deadline = Instant::now() + DEADLINE;
        // The prompt may take longer than the pause that send waits for.
        while gone.text != "[t1 · at the shell's prompt]" {
            assert!(Instant::now() < deadline, "{open}: {}", gone.text);
            gone = client.tool("send", json!({"session": "t1"}));
        }
    }
}

/// A long line with no newline at all: every byte of it, found by what stands in its midst.
#[test]
fn one_line_without_its_end() {
    if !have("one_line_without_its_end", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let line = "head -c 1500000 /dev/zero | tr '\\0' a; printf 42''42; head -c 1499996 /dev/zero | tr '\\0' b";
    let saved = client.home().join("whole");
    let reply = client.run_with(line, json!({"save_to": saved}));
    assert_eq!(
        (&reply.facts["exit_code"], &reply.facts["total_lines"]),
        (&json!(0), &json!(1)),
        "{}",
        reply.text
    );
    assert!(reply.text.len() < 4096, "{} bytes", reply.text.len());
    let whole = fs::read_to_string(saved).expect("it was saved");
    let want = format!("{}4242{}", "a".repeat(1_500_000), "b".repeat(1_499_996));
    assert!(
        whole.trim_end_matches('\n') == want,
        "{} bytes",
        whole.len()
    );
    let found = client.tool(
        "search",
        json!({"session": "t1", "pattern": "a4242b", "context": 1}),
    );
    assert_eq!(found.facts["total_matches"], 1, "{}", found.text);
    assert!(found.text.len() < 8192, "{} bytes", found.text.len());
    assert_eq!(client.run("echo after").body(), "after");
}

/// A question is told as one by the kernel's word, whatever its text; text alone is never one.
#[test]
fn questions_and_what_looks_like_them() {
    let name = "questions_and_what_looks_like_them";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let mut client = Client::in_session();
    let secret = "python3 -c \"import getpass; print(len(getpass.getpass()))\"";
    for (line, at, hidden) in [
        ("read -p 'Go on? ' x", "Go on?", false),
        ("read x", "", false),
        ("python3 -c 'input()'", "", false),
        (secret, "Password:", true),
    ] {
        // Told within 2 s; on a machine that is busy, once that it is not.
        let deadline = Instant::now() + DEADLINE;
        loop {
            let asked = client.run(line);
            assert_eq!(
                (asked.status(), &asked.facts["prompt"]),
                ("waiting", &json!(at)),
                "{line}: {}",
                asked.text
            );
            assert_eq!(
                asked.header().contains("for a secret"),
                hidden,
                "{}",
                asked.text
            );
            assert!(!asked.header().contains("may be"), "{}", asked.text);
            let took = asked.facts["duration_ms"].as_u64().expect("a number");
            let answered = client.run("answer");
            assert_eq!(
                answered.facts["exit_code"], 0,
                "{line} after {took} ms: {}",
                answered.text
            );
            if took < 2_000 {
                break;
            }
            assert!(Instant::now() < deadline, "{line}: told after {took} ms");
        }
    }
    for line in [
        "printf 'cost > 5 $ '; sleep 4",
        "echo 'Running tests:'; sleep 4",
        "sleep 4",
        "printf 'Go on? [y/N] '; sleep 4",
    ] {
        let reply = client.run(line);
        assert_eq!(
            (reply.status(), &reply.facts["exit_code"]),
            ("done", &json!(0)),
            "{line}: {}",
            reply.text
        );
    }
}

/// Long input loses nothing, or nothing of it is typed.
#[test]
fn long_input_arrives_whole_or_not_at_all() {
    let name = "long_input_arrives_whole_or_not_at_all";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let mut client = Client::in_session();
    let home = client.home().to_owned();
    // A line reader's terminal cuts at 4,095 bytes: refused before anything is typed.
    client.run("cat > f");
    let long = "x".repeat(6_000);
    for refused in [
        client.run(&long),
        client.tool("send", json!({"session": "t1", "text": long})),
        client.tool(
            "send",
            json!({"session": "t1", "text": format!("short\n{long}\n")}),
        ),
    ] {
        assert!(
            refused.is_error
                && refused.text.contains("6000 bytes")
                && refused.text.contains("nothing was typed"),
            "{}",
            refused.text
        );
    }
    let most = "y".repeat(4_095);
    client.run(&most);
    // Many short lines, more than a terminal holds.
    let lines: String = (0..334).map(|n| format!("{n:059}\n")).collect();
    client.tool(
        "send",
        json!({"session": "t1", "text": lines, "keys": ["ctrl+d"], "wait_ms": 60_000}),
    );
    let end = client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
    assert_ne!(end.status(), "running", "{}", end.text);
    assert_eq!(
        fs::read_to_string(home.join("f")).expect("cat wrote it"),
        format!("{most}\n{lines}")
    );
    // A reader in raw mode.
    let reader = "import os,sys,tty\ntty.setraw(0)\nprint('ready',end=' ',flush=True)\ngot=b''\nwhile not got.endswith(b'END'): got+=os.read(0,1000)\nopen('g','wb').write(got)\n";
    fs::write(home.join("raw.py"), reader).expect("a file of the test's own");
    let begun = client.run("python3 raw.py; stty sane");
    assert_eq!(begun.facts["prompt"], "ready", "{}", begun.text);
    let raw = format!("{}END", "z".repeat(20_000));
    let sent = client.tool(
        "send",
        json!({"session": "t1", "text": raw, "wait_ms": 60_000}),
    );
    assert_eq!(sent.facts["exit_code"], 0, "{}", sent.text);
    assert_eq!(
        fs::read_to_string(home.join("g")).expect("it wrote it"),
        raw
    );
    // A long line at a shell's prompt.
    let word: String = (0..1200).map(|n| format!("{n:09} ")).collect();
    let echoed = client.run(&format!("printf %s '{word}' > h"));
    assert_eq!(echoed.facts["exit_code"], 0, "{}", echoed.text);
    assert_eq!(
        fs::read_to_string(home.join("h")).expect("the shell wrote it"),
        word
    );
}

/// What is typed where nothing is shown, also key by key, is written down nowhere.
#[test]
fn a_secret_is_in_no_file_whoever_asks() {
    let name = "a_secret_is_in_no_file_whoever_asks";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let mut client = Client::in_session();
    client.run("python3 -c \"import getpass; print(len(getpass.getpass()))\"");
    let answered = client.run_with(
        "hunter2-the-secret",
        json!({"typing": {"wps": 50, "mistakes": 0.2, "seed": 4}}),
    );
    assert_eq!(
        (answered.body().trim(), &answered.facts["exit_code"]),
        ("18", &json!(0)),
        "{}",
        answered.text
    );
    let mut folders = vec![client.home().join("state")];
    while let Some(folder) = folders.pop() {
        for file in fs::read_dir(folder).expect("a folder").flatten() {
            if file.path().is_dir() {
                folders.push(file.path());
                continue;
            }
            let bytes = fs::read(file.path()).expect("a file");
            assert!(!bytes.windows(7).any(|part| part == b"hunter2"), "{file:?}");
        }
    }
    let regions = client.tool("regions", json!({"session": "t1"}));
    assert_eq!(
        regions.text.matches("Password: •••").count(),
        1,
        "{}",
        regions.text
    );
}

/// Lines given to a session at once, by several clients: who gave which.
struct Crowd {
    lines: Vec<(usize, String, u64)>,
    /// Exit status of each line, and a word that no other line has.
    marks: Vec<(u64, String)>,
}

impl Crowd {
    /// Each client gives four lines to its session, in turn, and waits for none.
    fn begin(clients: &mut [(&mut Client, &str)], round: &str) -> Crowd {
        let (mut lines, mut marks) = (Vec::new(), Vec::new());
        for n in 1..=4 {
            for (who, (client, session)) in clients.iter_mut().enumerate() {
                let mark = format!("{round}-{who}-{n}");
                let status = 10 * who as u64 + n;
                let line =
                    format!("echo begin {mark}; sleep 0.1; echo end {mark}; (exit {status})");
                let arguments = json!({"session": session, "input": line, "timeout_s": 60});
                let call = json!({"name": "run", "arguments": arguments});
                lines.push((who, line, client.begin("tools/call", call)));
                marks.push((status, mark));
            }
        }
        Crowd { lines, marks }
    }

    /// Each line has come to its own output and status, or was refused and is nowhere in the log. Says how many of
    /// each client's were run, and what the refusals said.
    fn end(self, clients: &mut [&mut Client], log: &Path) -> (Vec<usize>, Vec<String>) {
        let (mut ran, mut refusals) = (vec![0; clients.len()], Vec::new());
        for ((who, line, id), (status, mark)) in self.lines.into_iter().zip(self.marks) {
            let result = clients[who].answer(id)["result"].clone();
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            if result["isError"] == true {
                let log = fs::read(log).expect("the session's log");
                let log = String::from_utf8_lossy(&log);
                assert!(!log.contains(&mark), "{line} was refused: {text}\n{log}");
                refusals.push(text.to_owned());
                continue;
            }
            let facts = &result["_meta"]["paneglass/facts"];
            let told: Vec<&str> = text.lines().filter(|line| !line.starts_with('[')).collect();
            assert_eq!(
                told,
                [format!("begin {mark}"), format!("end {mark}")],
                "{text}"
            );
            assert_eq!(
                (&facts["status"], &facts["exit_code"]),
                (&json!("done"), &json!(status)),
                "{line}: {text}"
            );
            ran[who] += 1;
        }
        (ran, refusals)
    }
}

/// How many commands the session has had, as a client is told.
fn commands(client: &mut Client, session: &str) -> usize {
    let regions = client.tool("regions", json!({"session": session, "last": 1000}));
    assert!(!regions.is_error, "{}", regions.text);
    regions
        .body()
        .lines()
        .filter(|line| line.starts_with('#'))
        .count()
}

/// Two servers that each have a client, and one state directory: one has the session, the other types nothing, and
/// has it when the first is gone.
#[test]
fn four_at_once_from_two_servers_clients() {
    if !have("four_at_once_from_two_servers_clients", "tmux") {
        return;
    }
    let mut first = Client::in_session();
    let home = first.home().to_owned();
    let log = home.join("state/sessions/t1/raw.log");
    let server = || {
        let mut client = Client::joining(&home, &[]);
        client.shake_hands("2025-11-25");
        client
    };
    let mut second = server();
    let crowd = Crowd::begin(&mut [(&mut first, "t1"), (&mut second, "t1")], "held");
    let (ran, refusals) = crowd.end(&mut [&mut first, &mut second], &log);
    assert!(ran[0] > 0 && ran[1] == 0, "{ran:?}");
    let holder = format!("pid {} on ", first.pid());
    let named = refusals.iter().filter(|text| text.contains(&holder));
    assert_eq!(named.count(), 4, "{refusals:?}");
    assert_eq!(commands(&mut first, "t1"), ran[0]);
    let before = ran[0];
    // Both ask for it at the moment when it is free.
    let mut first = first.killed_and_restarted(|| ());
    let crowd = Crowd::begin(&mut [(&mut first, "t1"), (&mut second, "t1")], "free");
    let (ran, refusals) = crowd.end(&mut [&mut first, &mut second], &log);
    let mut got = [(ran[0], &mut first), (ran[1], &mut second)];
    got.sort_by_key(|(ran, _)| *ran);
    let [(none, other), (some, holder)] = got;
    assert!(none == 0 && some > 0, "{none} and {some}: {refusals:?}");
    assert_eq!(commands(holder, "t1"), before + some);
    let holder_pid = format!("pid {} on ", holder.pid());
    let refused = other.run("echo refused");
    assert!(
        refused.is_error && refused.text.contains(&holder_pid),
        "{}",
        refused.text
    );
}

/// A server of many and the clients that came by two doors; beside it one that wants the state directory for itself.
#[test]
fn four_at_once_at_a_shared_server_and_beside_it() {
    if !have("four_at_once_at_a_shared_server_and_beside_it", "tmux") {
        return;
    }
    let server = Server::start();
    let home = server.dir.path().to_owned();
    let log = home.join("state/sessions/t1/raw.log");
    let mut bridged = server.bridge(&["--actor", "bridged"]);
    bridged.open(json!({"name": "t1"}));
    // Started as a server of its own, it finds the one that runs.
    let mut carried = Client::joining(&home, &[]);
    carried.shake_hands("2025-11-25");
    let crowd = Crowd::begin(&mut [(&mut bridged, "t1"), (&mut carried, "t1")], "shared");
    let beside = server.dir.run(&["--no-bridge"]);
    assert!(beside.bad(1).contains("state directory"), "{beside:?}");
    let (ran, refusals) = crowd.end(&mut [&mut bridged, &mut carried], &log);
    assert!(ran[0] > 0 && ran[1] > 0, "{ran:?}: {refusals:?}");
    for refusal in &refusals {
        assert!(refusal.contains("nothing was typed"), "{refusal}");
    }
    assert_eq!(commands(&mut bridged, "t1"), ran[0] + ran[1]);
}

/// Two servers with a state directory each and one tmux server, where a name is there once: who asks for one that the
/// other has is told so, who asks for none gets a free one, and nobody's lines and statuses are the other's.
#[test]
fn four_at_once_from_two_servers_with_one_tmux() {
    if !have("four_at_once_from_two_servers_with_one_tmux", "tmux") {
        return;
    }
    let mut first = Client::in_session();
    let home = first.home().to_owned();
    let path = |below: &str| home.join(below).display().to_string();
    let apart = [
        ("PANEGLASS_HOME", path("apart")),
        ("TMUX_TMPDIR", path("tmux")),
    ];
    let apart = apart
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let mut second = Client::legacy_with(&apart);
    let taken = second.tool("session_create", json!({"name": "t1"}));
    assert!(
        taken.is_error
            && taken.text.contains("another paneglass server's")
            && taken.text.contains("PANEGLASS_SOCKET"),
        "{}",
        taken.text
    );
    let free = second.open(json!({}));
    assert_eq!(free.facts["session"], "t2", "{}", free.text);
    // A program's name is chosen like that too.
    let program = json!({"argv": ["sh", "-c", "echo mine; sleep 600"]});
    let programs = [&mut first, &mut second].map(|client| {
        let begun = client.tool("start_program", program.clone());
        assert!(!begun.is_error, "{}", begun.text);
        begun.facts["session"].clone()
    });
    assert_ne!(programs[0], programs[1]);
    let logs = ["state/sessions/t1/raw.log", "apart/sessions/t2/raw.log"].map(|log| home.join(log));
    let crowd = Crowd::begin(&mut [(&mut first, "t1"), (&mut second, "t2")], "apart");
    let marks: Vec<String> = crowd.marks.iter().map(|(_, mark)| mark.clone()).collect();
    let nowhere = home.join("nowhere");
    fs::write(&nowhere, "").expect("our own");
    let (ran, refusals) = crowd.end(&mut [&mut first, &mut second], &nowhere);
    assert!(ran[0] > 0 && ran[1] > 0, "{ran:?}: {refusals:?}");
    for (own, (client, session)) in [(&mut first, "t1"), (&mut second, "t2")]
        .into_iter()
        .enumerate()
    {
        assert_eq!(commands(client, session), ran[own]);
        let log = fs::read(&logs[own]).expect("the session's log");
        let log = String::from_utf8_lossy(&log);
        let seen = marks.iter().filter(|mark| log.contains(mark.as_str()));
        let seen: Vec<&String> = seen.collect();
        let prefix = format!("apart-{own}-");
        assert!(
            seen.iter().all(|mark| mark.starts_with(&prefix)),
            "{seen:?}"
        );
        assert_eq!(seen.len(), ran[own], "{seen:?}");
    }
}
