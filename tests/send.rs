//! send: what its reply holds, every key, signals, and the screen in part.

use std::fs;
use std::time::Instant;

use serde_json::{Value, json};

use crate::util::client::{Client, DEADLINE};
use crate::util::reply::Reply;
use crate::util::skip::have;

fn send(client: &mut Client, arguments: Value) -> Reply {
    let mut all = json!({"session": "t1"});
    for (name, value) in arguments.as_object().expect("an object") {
        all[name] = value.clone();
    }
    client.tool("send", all)
}

#[test]
fn no_prompt_and_no_echo_is_repeated() {
    if !have("no_prompt_and_no_echo_is_repeated", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let done = send(&mut client, json!({"text": "echo foo; (exit 3)\n"}));
    assert_eq!(
        (done.body().as_str(), &done.facts["exit_code"]),
        ("foo", &json!(3)),
        "{}",
        done.text
    );
    // What is typed and not submitted is named, and is not output.
    let half = send(&mut client, json!({"text": "echo half"}));
    assert_eq!(
        half.text,
        "[t1 · at the shell's prompt]\n[on the prompt line, not submitted: echo half]"
    );
    let gone = send(&mut client, json!({"keys": ["ctrl+c"]}));
    assert_eq!(gone.text, "[t1 · at the shell's prompt]");
    let two = send(
        &mut client,
        json!({"text": "echo one\necho two", "keys": ["enter"]}),
    );
    assert_eq!(two.text.matches("echo").count(), 0, "{}", two.text);
    assert!(
        two.text.contains("\none\n[t1 #") && two.text.ends_with("\ntwo"),
        "{}",
        two.text
    );
    // An answer without Enter: the question and the key are not repeated.
    client.run("read -n 1 -p 'Sure? ' x; echo \" got $x\"");
    let answered = send(&mut client, json!({"text": "y"}));
    assert_eq!(answered.body(), " got y", "{}", answered.text);
    assert!(
        answered.text.contains("was: read -n 1"),
        "{}",
        answered.text
    );
    let working = send(&mut client, json!({"text": "sleep 600\n"}));
    assert_eq!(
        (working.status(), working.body().as_str()),
        ("running", ""),
        "{}",
        working.text
    );
    assert!(
        working.text.contains("sleep works in the foreground"),
        "{}",
        working.text
    );
    let ended = send(&mut client, json!({"keys": ["^C"]}));
    assert_eq!(ended.facts["exit_code"], 130, "{}", ended.text);
}

#[test]
fn a_program_that_stays_after_ctrl_c_is_named() {
    let name = "a_program_that_stays_after_ctrl_c_is_named";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let mut client = Client::in_session();
    client.run("python3 -q");
    let sum = send(&mut client, json!({"text": "40 + 2\n"}));
    assert_eq!(
        (sum.body().as_str(), sum.status()),
        ("42", "prompt"),
        "{}",
        sum.text
    );
    let stays = send(&mut client, json!({"keys": ["ctrl+c"]}));
    assert!(
        stays.text.contains("exit() or ctrl+d leaves it"),
        "{}",
        stays.text
    );
    let left = send(&mut client, json!({"keys": ["ctrl+d"]}));
    assert_eq!(left.facts["exit_code"], 0, "{}", left.text);
    client.run_with("trap '' INT; sleep 600", json!({"timeout_s": 0}));
    let ignores = send(&mut client, json!({"keys": ["ctrl+c"]}));
    assert!(
        ignores
            .text
            .contains("sleep is still in front after ctrl+c")
            && ignores.text.contains("signal=TERM"),
        "{}",
        ignores.text
    );
    let ended = send(&mut client, json!({"signal": "TERM"}));
    assert_eq!(ended.facts["exit_code"], 143, "{}", ended.text);
}

/// A terminal in raw mode that prints every byte it reads in hexadecimal, and ends at a full stop.
const READER: &str = "import os,sys,tty,termios\nold=termios.tcgetattr(0)\ntty.setraw(0)\nsys.stdout.write('ready ')\nsys.stdout.flush()\nwhile 1:\n  b=os.read(0,4096)\n  sys.stdout.write(b.hex()+'|')\n  sys.stdout.flush()\n  if b.endswith(b'.'): break\ntermios.tcsetattr(0,termios.TCSADRAIN,old)\nprint()\n";

#[test]
fn every_key_sends_its_bytes() {
    let name = "every_key_sends_its_bytes";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let mut client = Client::in_session();
    fs::write(client.home().join("reader.py"), READER).expect("a file of the test's own");
    let mut keys: Vec<(String, Vec<u8>)> = Vec::new();
    // i, j and m are tab, newline and enter.
    for letter in b'a'..=b'z' {
        keys.push((format!("ctrl+{}", char::from(letter)), vec![letter & 0x1f]));
    }
    let named: &[(&str, &[u8])] = &[
        ("C-a", b"\x01"),
        ("^A", b"\x01"),
        ("Ctrl-A", b"\x01"),
        ("control+a", b"\x01"),
        ("enter", b"\r"),
        ("tab", b"\t"),
        ("shift+tab", b"\x1b[Z"),
        ("escape", b"\x1b"),
        ("backspace", b"\x7f"),
        ("delete", b"\x1b[3~"),
        ("insert", b"\x1b[2~"),
        ("up", b"\x1b[A"),
        ("down", b"\x1b[B"),
        ("right", b"\x1b[C"),
        ("left", b"\x1b[D"),
        ("home", b"\x1b[1~"),
        ("end", b"\x1b[4~"),
        ("pageup", b"\x1b[5~"),
        ("pagedown", b"\x1b[6~"),
        ("space", b" "),
        ("f1", b"\x1bOP"),
        ("f2", b"\x1bOQ"),
        ("f3", b"\x1bOR"),
        ("f4", b"\x1bOS"),
        ("f5", b"\x1b[15~"),
        ("f6", b"\x1b[17~"),
        ("f7", b"\x1b[18~"),
        ("f8", b"\x1b[19~"),
        ("f9", b"\x1b[20~"),
        ("f10", b"\x1b[21~"),
        ("f11", b"\x1b[23~"),
        ("f12", b"\x1b[24~"),
        ("alt+x", b"\x1bx"),
        ("alt+X", b"\x1bX"),
        ("ctrl+left", b"\x1b[1;5D"),
        ("ctrl+enter", b"\r"),
        ("shift+enter", b"\r"),
        ("alt+enter", b"\x1b\r"),
        ("ctrl+backspace", b"\x08"),
        ("shift+backspace", b"\x7f"),
        ("alt+backspace", b"\x1b\x7f"),
        ("ctrl+tab", b"\t"),
        ("ctrl+shift+tab", b"\x1b[Z"),
        ("shift+escape", b"\x1b"),
        ("ctrl+space", b"\0"),
        ("shift+space", b" "),
        ("shift+up", b"\x1b[1;2A"),
        ("alt+down", b"\x1b[1;3B"),
        ("ctrl+alt+right", b"\x1b[1;7C"),
        ("q", b"q"),
        (";", b";"),
        ("é", "é".as_bytes()),
        ("漢", "漢".as_bytes()),
        ("-", b"-"),
        ("\\", b"\\"),
        ("#", b"#"),
        ("shift+a", b"A"),
        ("ctrl+\\", b"\x1c"),
        ("ctrl+[", b"\x1b"),
    ];
    keys.extend(
        named
            .iter()
            .map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())),
    );
    let begun = client.run("python3 reader.py");
    assert_eq!(begun.facts["prompt"], "ready", "{}", begun.text);
    let names: Vec<&str> = keys.iter().map(|(name, _)| name.as_str()).collect();
    send(
        &mut client,
        json!({"keys": names, "wait_ms": 60_000, "settle_ms": 1000}),
    );
    let end = send(&mut client, json!({"text": ".", "wait_ms": 60_000}));
    assert_eq!(end.facts["exit_code"], 0, "{}", end.text);
    let log = client.tool("read", json!({"session": "t1", "region": 1}));
    let got: String = log
        .body()
        .chars()
        .filter(|c| c.is_ascii_hexdigit() || *c == ' ')
        .collect();
    let got = got.rsplit(' ').next().unwrap_or_default().to_owned();
    let want: String = keys
        .iter()
        .flat_map(|(_, bytes)| bytes.iter())
        .chain(b".")
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(got, want, "{}", log.text);
    let unknown = send(&mut client, json!({"keys": ["enter", "hyper+x"]}));
    assert!(
        unknown.is_error
            && unknown.text.contains("pageup")
            && unknown.text.contains("Nothing was typed"),
        "{}",
        unknown.text
    );
}

#[test]
fn signals_reach_the_job_and_never_the_shell() {
    if !have("signals_reach_the_job_and_never_the_shell", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let shell = client.run("echo $$").body();
    for signal in ["TERM", "KILL", "INT", "HUP", "QUIT"] {
        let refused = send(&mut client, json!({"signal": signal}));
        assert!(
            refused.is_error && refused.text.contains("never sent a signal"),
            "{}",
            refused.text
        );
        // Without job control the job is in the shell's own process group.
        client.run("set +m");
        client.run_with("sleep 600", json!({"timeout_s": 0}));
        let own = send(&mut client, json!({"signal": signal}));
        assert!(
            own.is_error && own.text.contains("nothing was sent"),
            "{}",
            own.text
        );
        send(&mut client, json!({"keys": ["ctrl+c"]}));
        client.run("set -m");
        // Once it says so it is what it was to become; before, it is a copy of the shell, which ignores some signals.
        let says_so = json!({"until": "ready"});
        client.run_with("sh -c 'echo ready; exec sleep 600' | cat", says_so);
        let ended = send(&mut client, json!({"signal": signal}));
        assert!(
            ended.text.contains(&format!("SIG{signal} was sent to ")),
            "{}",
            ended.text
        );
        assert!(ended.text.contains("and it has ended"), "{}", ended.text);
        assert_eq!(ended.status(), "done", "{}", ended.text);
    }
    assert_eq!(client.run("echo $$").body(), shell, "the shell lives");
    // A program that ignores it.
    let stubborn = "bash -c 'trap \"\" TERM; echo ready; while :; do sleep 600; done'";
    client.run_with(stubborn, json!({"until": "ready"}));
    let lives = send(&mut client, json!({"signal": "TERM", "wait_ms": 300}));
    assert!(
        lives.text.contains("it has not ended") && lives.status() == "running",
        "{}",
        lives.text
    );
    let killed = send(&mut client, json!({"signal": "KILL"}));
    assert_eq!(killed.facts["exit_code"], 137, "{}", killed.text);
    // The connection to another machine is not what the caller means; told by its name.
    let ssh = client.home().join("ssh");
    fs::copy("/bin/sleep", &ssh).expect("a copy");
    client.run_with(&format!("{} 600", ssh.display()), json!({"timeout_s": 0}));
    let deadline = Instant::now() + DEADLINE;
    loop {
        let refused = send(&mut client, json!({"signal": "TERM"}));
        if !refused.is_error {
            // It was not yet what it was to become.
            client.run_with(&format!("{} 600", ssh.display()), json!({"timeout_s": 0}));
        }
        // Until it has started the shell is in front.
        if refused.text.contains("would end the connection") {
            break;
        }
        assert!(Instant::now() < deadline, "{}", refused.text);
    }
    let forced = send(&mut client, json!({"signal": "TERM", "force": true}));
    assert_eq!(forced.facts["exit_code"], 143, "{}", forced.text);
    let both = send(&mut client, json!({"signal": "TERM", "text": "x"}));
    assert!(
        both.is_error && both.text.contains("in place of"),
        "{}",
        both.text
    );
    // A session's own program is no shell, and is not signalled either.
    client.open(json!({"name": "t2", "command": "cat"}));
    let own = client.tool("send", json!({"session": "t2", "signal": "KILL"}));
    assert!(
        own.is_error && own.text.contains("never sent a signal"),
        "{}",
        own.text
    );
}

/// In each shell each signal reaches the job in front and nothing else: whatever is in front, the shell has traps for
/// all that can be caught, and they tell.
fn no_signal_reaches(shell: &str, own_pid: &str, no_job_control: &str, job_control: &str) {
    let name = format!("no_signal_reaches_{shell}");
    if !have(&name, "tmux") || !have(&name, shell) {
        return;
    }
    const CAUGHT: [&str; 4] = ["TERM", "INT", "HUP", "QUIT"];
    let mut client = Client::legacy("2025-11-25");
    let env = json!({"PS1": "$ "});
    client.open(json!({"name": "t1", "command": shell, "env": env}));
    for signal in CAUGHT {
        client.run(&format!("trap 'echo GO\"\"T-{signal}' {signal}"));
    }
    let pid = client.run(own_pid).body();
    let got = |client: &mut Client| {
        let found = client.tool("search", json!({"session": "t1", "pattern": "GOT-"}));
        found.facts["total_matches"].as_u64().expect("a number")
    };
    let refused = |client: &mut Client, what: &str| {
        for signal in CAUGHT.into_iter().chain(["KILL"]) {
            for force in [false, true] {
                let reply = send(client, json!({"signal": signal, "force": force}));
                assert!(
                    reply.is_error && reply.text.contains("nothing was sent"),
                    "{shell}, {what}, {signal}, {force}: {}",
                    reply.text
                );
            }
        }
    };
    let asks = |client: &mut Client, line: &str| {
        let asked = client.run(line);
        // fish's own question ends as a prompt does.
        assert!(
            matches!(asked.status(), "waiting" | "prompt"),
            "{shell}: {}",
            asked.text
        );
    };
    refused(&mut client, "at its prompt");
    asks(&mut client, "read line");
    refused(&mut client, "in a command of its own");
    client.run("answer");
    client.run(no_job_control);
    asks(&mut client, "cat");
    refused(&mut client, "with a job in its own group");
    send(&mut client, json!({"keys": ["ctrl+d"], "wait_ms": 60_000}));
    client.run(job_control);
    assert_eq!(client.run(own_pid).body(), pid, "{shell}");
    // The job does not end by what it catches: a shell whose job ends by SIGINT acts as if it had caught it.
    let job = "for s in TERM INT HUP QUIT; do trap \"echo JOB-$s\" $s; done; echo ready; while :; do sleep 1; done";
    let begun = client.run_with(&format!("sh -c '{job}'"), json!({"until": "^ready"}));
    assert_eq!(begun.status(), "until", "{shell}: {}", begun.text);
    for signal in CAUGHT {
        let sent = send(&mut client, json!({"signal": signal, "wait_ms": 0}));
        assert!(
            sent.text.contains(&format!("SIG{signal} was sent to sh")),
            "{shell}: {}",
            sent.text
        );
        let told = client.tool(
            "wait",
            json!({"session": "t1", "timeout_s": 60, "until": format!("^JOB-{signal}")}),
        );
        assert_eq!(told.status(), "until", "{shell}: {}", told.text);
    }
    let ended = send(&mut client, json!({"signal": "KILL", "wait_ms": 60_000}));
    assert!(
        ended.text.contains("and it has ended"),
        "{shell}: {}",
        ended.text
    );
    assert_eq!(client.run(own_pid).body(), pid, "{shell}");
    assert_eq!(got(&mut client), 0, "{shell}");
    // The traps do tell, when somebody else sends what we do not. (bash ends by a SIGTERM at its prompt even so.)
    let sent = std::process::Command::new("kill")
        .args(["-s", "TERM", &pid])
        .status();
    assert!(sent.expect("kill runs").success());
    let deadline = Instant::now() + DEADLINE;
    while got(&mut client) == 0 {
        assert!(Instant::now() < deadline, "{shell}: its trap does not tell");
        // A shell may look at its traps only once it has a line to read; bash has ended by now.
        client.tool("send", json!({"session": "t1", "keys": ["enter"]}));
    }
}

#[test]
fn no_signal_reaches_bash() {
    no_signal_reaches("bash", "echo $$", "set +m", "set -m");
}

#[test]
fn no_signal_reaches_zsh() {
    no_signal_reaches("zsh", "echo $$", "setopt no_monitor", "setopt monitor");
}

#[test]
fn no_signal_reaches_fish() {
    let none = "status job-control none";
    no_signal_reaches(
        "fish",
        "echo $fish_pid",
        none,
        "status job-control interactive",
    );
}

#[test]
fn no_signal_reaches_dash() {
    no_signal_reaches("dash", "echo $$", "set +m", "set -m");
}

#[test]
fn the_screen_whole_changed_or_round_the_cursor() {
    let name = "the_screen_whole_changed_or_round_the_cursor";
    if !have(name, "tmux") || !have(name, "vim") {
        return;
    }
    let mut client = Client::in_session();
    let lines: String = (1..=60).map(|n| format!("line {n}\n")).collect();
    fs::write(client.home().join("f"), lines).expect("a file of the test's own");
    client.run("vim -u NONE -N f");
    let same = send(&mut client, json!({"screen": "changes"}));
    assert!(
        same.header().ends_with("no row changed]") && same.body().is_empty(),
        "{}",
        same.text
    );
    let changed = send(
        &mut client,
        json!({"text": "2dd", "keys": ["u", "j", "x"], "screen": "changes"}),
    );
    let shown = changed.body();
    assert!(
        shown.contains("2: ine 2") && !shown.contains("line 30"),
        "{}",
        changed.text
    );
    let near = send(
        &mut client,
        json!({"keys": ["2", "0", "G"], "screen": "cursor"}),
    );
    assert!(near.body().lines().count() == 7, "{}", near.text);
    let row = near.facts["screen"]["cursor"]["row"]
        .as_u64()
        .expect("a row");
    assert!(
        near.body().contains(&format!("{row}: line 20")),
        "{}",
        near.text
    );
    let whole = send(&mut client, json!({"keys": ["g", "g"]}));
    assert!(
        whole.body().starts_with("line 1\nine 2\nline 3"),
        "{}",
        whole.text
    );
    let left = send(&mut client, json!({"text": ":q!", "keys": ["enter"]}));
    assert_eq!(left.facts["exit_code"], 0, "{}", left.text);
    let wrong = send(&mut client, json!({"screen": "half"}));
    assert!(
        wrong.is_error && wrong.text.contains("full, changes, cursor"),
        "{}",
        wrong.text
    );
}
