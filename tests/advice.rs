//! Advice in replies: each kind in its situation, once; none in sessions that go as they should.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::util::client::{Client, SOCKET};
use crate::util::reply::Reply;
use crate::util::skip::have;

/// The kinds of advice in a reply.
fn given(reply: &Reply) -> Vec<String> {
    let names = reply.facts["advice"].as_array().into_iter().flatten();
    names
        .map(|name| name.as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Runs a line in `t1`, which is to bring this advice, and again, which is to bring it no more. Returns the first.
fn once(client: &mut Client, line: &str, name: &str) -> Reply {
    let reply = client.run(line);
    assert_eq!(given(&reply), [name], "{line}: {}", reply.text);
    let again = client.run(line);
    assert_eq!(
        given(&again),
        [] as [&str; 0],
        "{line} again: {}",
        again.text
    );
    reply
}

/// A shell function stands in for a program that the machine may not have.
const STAND_INS: &str = "make() { echo built; }; install() { read a; echo got $a; }; gdb() { echo bt; }; sleep() { :; }";

#[test]
fn habits_of_one_shot_shells() {
    if !have("habits_of_one_shot_shells", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    assert_eq!(given(&client.run(STAND_INS)), [] as [&str; 0]);
    let pipe = once(&mut client, "make 2>&1 | tail -1", "pipe");
    assert!(
        pipe.text
            .contains("`last_lines` and `show` choose what this reply shows"),
        "{}",
        pipe.text
    );
    once(&mut client, "make > log 2>&1", "redirect");
    once(&mut client, "make; echo exit=$?", "echo-status");
    once(&mut client, "true &", "background");
    once(&mut client, "sleep 30", "poll");
    once(&mut client, "yes | install", "canned-answers");
    once(&mut client, "gdb -batch -ex bt ./prog", "batch-debugger");
    // Two at most; what did not fit comes when it is met again. Not a word after a restart of what was said.
    client.open(json!({"name": "t2"}));
    let both = |client: &mut Client| {
        client.tool("run", json!({"session": "t2", "input": "true & sleep 0; true; echo $?; sleep() { :; }; sleep 9"}))
    };
    assert_eq!(given(&both(&mut client)), ["echo-status", "background"]);
    let mut client = client.killed_and_restarted(|| {});
    assert_eq!(given(&both(&mut client)), ["poll"]);
    assert_eq!(given(&both(&mut client)), [] as [&str; 0]);
    // Whoever says what the reply is to show needs no advice on that.
    client.open(json!({"name": "t3"}));
    client.tool("run", json!({"session": "t3", "input": STAND_INS}));
    let chosen = client.tool(
        "run",
        json!({"session": "t3", "input": "make | tail -1", "last_lines": 5}),
    );
    assert_eq!(given(&chosen), [] as [&str; 0], "{}", chosen.text);
}

#[test]
fn questions_passwords_and_programs_in_pipes() {
    if !have("questions_passwords_and_programs_in_pipes", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let question = client.run("read -p 'Name? ' name");
    assert_eq!(given(&question), ["question"], "{}", question.text);
    assert_eq!(given(&client.run("bob")), [] as [&str; 0]);
    let again = client.run("read -p 'Name? ' name");
    assert_eq!(given(&again), [] as [&str; 0], "{}", again.text);
    client.run("bob");
    let secret = client.run("read -s -p 'Password: ' word");
    assert_eq!(given(&secret), ["password"], "{}", secret.text);
    let attach = client.tool("session_list", json!({})).facts["sessions"][0]["attach"].clone();
    assert!(
        secret.text.contains(attach.as_str().expect("a command")),
        "{}",
        secret.text
    );
    client.tool("send", json!({"session": "t1", "keys": ["enter"]}));
    // A program whose prompt goes where nobody sees it.
    client.run("psql() { read line; }");
    let hidden = client.run("psql shop > out");
    assert_eq!(given(&hidden), ["piped-program"], "{}", hidden.text);
}

#[test]
fn what_does_not_end() {
    if !have("what_does_not_end", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    client.run("mkfifo pipe");
    // It waits longer than the silence that is worth a look.
    let stuck = client.run_with("cat pipe", json!({"timeout_s": 7}));
    assert_eq!(given(&stuck), ["stuck"], "{}", stuck.text);
    assert!(
        stuck.text.contains("nothing computes: cat (pid ")
            && stuck.text.contains("the other end of a pipe"),
        "{}",
        stuck.text
    );
    client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
    client.run_with(
        "sh -c 'trap \"\" INT; echo on; while :; do read -t 1 x < pipe; done'",
        json!({"until": "on"}),
    );
    let press =
        |client: &mut Client| client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
    let deaf = press(&mut client);
    assert_eq!(given(&deaf), ["ctrl-c"], "{}", deaf.text);
    assert!(deaf.text.contains("signal=\"TERM\""), "{}", deaf.text);
    assert_eq!(given(&press(&mut client)), [] as [&str; 0]);
}

#[test]
fn screens_shells_and_company() {
    if !have("screens_shells_and_company", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let full = "printf '\\033[?1049h'; read line; printf '\\033[?1049l'";
    let screen = client.run(full);
    assert_eq!(given(&screen), ["fullscreen"], "{}", screen.text);
    client.tool("send", json!({"session": "t1", "keys": ["enter"]}));
    assert_eq!(given(&client.run(full)), [] as [&str; 0]);
    client.tool("send", json!({"session": "t1", "keys": ["enter"]}));
    // A shell that tells no statuses, and back.
    assert_eq!(given(&client.run("PS1='$ ' sh")), [] as [&str; 0]);
    let plain = client.run("echo in sh");
    assert_eq!(given(&plain), ["plain-shell"], "{}", plain.text);
    assert_eq!(given(&client.run("echo in sh")), [] as [&str; 0]);
    let left = client.run("exit");
    assert_eq!(given(&left), ["left"], "{}", left.text);
    // A person types.
    let typed = Command::new("tmux")
        .args([
            "-L",
            SOCKET,
            "send-keys",
            "-t",
            "=t1:",
            "echo by-hand",
            "Enter",
        ])
        .env("TMUX_TMPDIR", client.home().join("tmux"))
        .status();
    assert!(typed.expect("tmux runs").success());
    while !client
        .tool("regions", json!({"session": "t1"}))
        .text
        .contains("by-hand")
    {}
    let company = client.run("true");
    assert_eq!(given(&company), ["company"], "{}", company.text);
    assert!(
        company.text.contains("a person ran #") && company.text.contains("echo by-hand"),
        "{}",
        company.text
    );
    assert_eq!(given(&client.run("true")), [] as [&str; 0]);
    let ended = client.run("exit 3");
    assert_eq!(given(&ended), ["ended"], "{}", ended.text);
}

#[test]
fn programs_started_again() {
    if !have("programs_started_again", "tmux") || !have("programs_started_again", "python3") {
        return;
    }
    let mut client = Client::in_session();
    assert_eq!(given(&client.run("python3 -q")), [] as [&str; 0]);
    let here = client.run("python3");
    assert_eq!(given(&here), ["here-already"], "{}", here.text);
    client.open(json!({"name": "t2"}));
    let again = client.tool("run", json!({"session": "t2", "input": "python3 -q"}));
    assert_eq!(given(&again), ["relaunch"], "{}", again.text);
    assert!(
        again
            .text
            .contains("python3 is still at its prompt \">>>\" in session t1"),
        "{}",
        again.text
    );
}

/// Work as it should go: nothing in it calls for advice.
const CLEAN: &[&[&str]] = &[
    &[
        "pwd",
        "ls",
        "mkdir -p src && cd src",
        "touch a.c b.c",
        "ls -l",
        "cd ..",
    ],
    &[
        "git init -q repo && cd repo",
        "git config user.email a@b.c; git config user.name a",
        "echo one > f && git add f",
        "git commit -qm 'first | tail &'",
        "git log --oneline | head -5",
        "git status",
    ],
    &[
        "cat > Makefile <<'E'\nall:\n\t@echo built\nE",
        "make",
        "make all",
        "make --version | head -1",
    ],
    &[
        "seq 1 5000",
        "seq 1 5000 | tail -3",
        "seq 1 100 | grep 7 | wc -l",
    ],
    &[
        "python3 -q",
        "x = 6 * 7",
        "print(x)",
        "for i in range(3):\n    print(i)\n",
        "exit()",
    ],
    &[
        "python3 -c 'print(1)'",
        "python3 -m json.tool <<< '{\"a\": 1}'",
        "echo '{}' | python3 -m json.tool",
    ],
    &[
        "for f in a b c; do echo $f; done",
        "while read l; do echo $l; done < /etc/hostname",
        "if true; then echo yes; fi",
    ],
    &[
        "export A=1 B='two words'",
        "echo \"$A $B\"",
        "env | grep '^A='",
        "unset A",
    ],
    &[
        "false",
        "true",
        "(exit 7)",
        "false | true",
        "! false",
        "grep -q x /dev/null || echo none",
    ],
    &[
        "cd /tmp",
        "cd -",
        "pushd / > /dev/null",
        "popd > /dev/null",
        "dirs",
    ],
    &[
        "printf 'a\\nb\\n' > list",
        "sort -r list",
        "sort list | uniq -c > counts",
        "cat counts",
        "wc -l < list",
    ],
    &[
        "ps aux | grep -c bash",
        "ps -o pid,comm",
        "uname -a",
        "id",
        "date",
    ],
    &[
        "find . -name '*.rs' | head",
        "find / -maxdepth 1 | sort",
        "du -sh . | cut -f1",
        "df -h /",
    ],
    &[
        "echo 'sleep 30 &' > script.sh",
        "cat script.sh",
        "grep 'sleep 30' script.sh",
        "bash -n script.sh",
        "rm script.sh",
    ],
    &["f() { echo in f \"$@\"; }", "f a b", "type f", "unset -f f"],
    &[
        "echo 'int main(void) { return 0; }' > m.c",
        "cat m.c",
        "nl m.c",
        "tr a-z A-Z < m.c",
        "rev m.c",
    ],
    &[
        "echo y",
        "yes | head -2",
        "echo no | tr a-z A-Z",
        "bc <<< 1+1 || true",
    ],
    &[
        "tar cf x.tar /etc/hostname 2> /dev/null",
        "tar tf x.tar",
        "gzip x.tar",
        "ls x.tar.gz",
        "sha256sum x.tar.gz | cut -c1-8",
    ],
    &[
        "sed -n 1,3p /etc/passwd",
        "awk -F: '{print $1}' /etc/passwd | sort | head -3",
        "cut -d: -f1 /etc/group | tail -2",
    ],
    &[
        "echo a; echo b; echo c",
        "echo a && echo b || echo c",
        "{ echo x; echo y; }",
        "(cd / && pwd)",
    ],
    &["sleep 0.1", "time true", "sleep 0.1 && echo slept"],
    &[
        "ls nothing-here",
        "cat nothing-here",
        "cd nothing-here",
        "nosuchcommand",
    ],
    &[
        "set -o pipefail",
        "false | cat",
        "set +o pipefail",
        "false | cat",
    ],
    &["echo \"open", "closed\"", "echo a \\", "b"],
    &["alias ll='ls -l'", "ll", "history | tail -2", "unalias ll"],
    &[
        "umask",
        "touch own && chmod 600 own",
        "stat -c %a . ",
        "test -d . && echo dir",
    ],
    &[
        "echo é漢字🙂",
        "printf '%5s|\\n' x",
        "printf '\\e[31mred\\e[0m\\n'",
        "clear",
        "echo after",
    ],
    &[
        "diff <(echo a) <(echo b)",
        "comm <(seq 3) <(seq 2 4)",
        "paste <(seq 2) <(seq 2)",
        "echo $(ls | wc -l)",
    ],
    &[
        "x=$(date +%s)",
        "echo $((x > 0))",
        "test $x -gt 0; true",
        "[[ $x =~ ^[0-9]+$ ]] && echo number",
    ],
    &[
        "# only a comment",
        "",
        "true # and one",
        ": > empty",
        "test -s empty || echo empty",
    ],
    &[
        "mkdir -p d/e && touch d/e/f",
        "tree d 2> /dev/null || find d",
        "mv d/e/f d/g",
        "cp -r d h",
        "rm -r d h",
    ],
    &[
        "git init -q -b main r2 && cd r2 && git config user.email a@b.c && git config user.name a",
        "for n in 1 2 3; do echo $n > f$n; git add .; git commit -qm \"commit $n\"; done",
        "git log --oneline",
        "git diff HEAD~1 --stat | cat",
        "git show --stat HEAD | head -20",
    ],
];

#[test]
fn none_in_clean_sessions() {
    if !have("none_in_clean_sessions", "tmux")
        || ["python3", "git", "make"]
            .iter()
            .any(|program| !have("none_in_clean_sessions", program))
    {
        return;
    }
    assert!(CLEAN.len() >= 30);
    let mut client = Client::legacy("2025-11-25");
    for (number, lines) in CLEAN.iter().enumerate() {
        let name = format!("clean{number}");
        let folder = client.home().join(&name);
        fs::create_dir(&folder).expect("the test's own directory");
        client.open(json!({"name": name, "cwd": folder}));
        for line in *lines {
            let reply = client.tool(
                "run",
                json!({"session": name, "input": line, "timeout_s": 60}),
            );
            assert!(!reply.is_error, "{line}: {}", reply.text);
            assert_eq!(
                reply.facts.get("advice").unwrap_or(&Value::Null),
                &Value::Null,
                "{line}: {}",
                reply.text
            );
        }
        for (tool, arguments) in [
            ("wait", json!({"session": name, "timeout_s": 1})),
            ("send", json!({"session": name})),
            ("read", json!({"session": name})),
            ("session_close", json!({"session": name})),
        ] {
            let reply = client.tool(tool, arguments);
            assert!(
                !reply.is_error && given(&reply).is_empty(),
                "{tool}: {}",
                reply.text
            );
        }
    }
}
