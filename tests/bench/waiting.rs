//! How often work is taken for a question, how often a prompt is missed, and what waiting for silence costs.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::util::client::Client;
use crate::util::cost::Cost;

/// Servers that work beside each other, so that the machine is not at rest.
const LANES: usize = 8;

/// Runs that work and never ask.
const RUNS: usize = 200;

/// Prompts and questions that come.
const PROMPTS: usize = 200;

/// Milliseconds of quiet after which something that waits in an unknown way counts as waiting: far below the
/// default, so that a wrong verdict shows.
const SETTLE: u64 = 300;

/// How long silence is watched, and from when on.
const SILENCE: Duration = Duration::from_secs(60);
const BEFORE: Duration = Duration::from_secs(10);

/// Commands that work for a second or more, most of them silent for a while, some with the words of a question.
const WORK: &[(&str, &str)] = &[
    ("sleep", "sleep 1.2"),
    ("sleep in a pipe", "sleep 1.2 | cat"),
    ("words of a prompt", "printf 'cost > 5 $ '; sleep 1.2"),
    (
        "words of a question",
        "printf 'Continue? [y/N] '; sleep 1.2",
    ),
    ("words of python", "printf '>>> '; sleep 1.2"),
    ("compiler", "cc -O2 -o big big.c"),
    ("make", "make -s -B -j2 all"),
    ("test suite", "python3 -m pytest -q test_slow.py"),
    (
        "cargo",
        "HOME=$REAL_HOME cargo test --offline --manifest-path crate/Cargo.toml --target-dir $PWD/target-$RANDOM",
    ),
    (
        "busy loop",
        "python3 -c 'import time; t=time.time()+1.2\nwhile time.time()<t: pass'",
    ),
    ("connection that is not answered", "python3 net.py connect"),
    ("server that waits", "python3 net.py accept"),
    ("datagram that does not come", "python3 net.py receive"),
    ("child that expect drives", "expect child.exp"),
    (
        "child on a terminal of its own",
        "script -qec 'sleep 1.2' /dev/null",
    ),
    ("child that polls another terminal", "python3 pty_child.py"),
    ("background job and wait", "(sleep 1.2; echo done) & wait"),
];

/// A program and its lines: after each it is at a prompt, or asks.
const TALKS: &[(&str, &[&str])] = &[
    (
        "python3 -q",
        &[
            "1 + 1",
            "1/0",
            "for i in 1, 2:",
            "    i",
            "",
            "x = input('Who? ')",
            "me",
            "exit()",
        ],
    ),
    (
        "gdb -q -nx",
        &[
            "print 1",
            "print nonsense",
            "info line",
            "show version",
            "quit",
        ],
    ),
    (
        "sqlite3",
        &["select 1;", "select", "2;", "nonsense;", ".quit"],
    ),
    ("bc -q", &["1 + 1", "nonsense(", "2 ^ 64", "quit"]),
    (
        "perl -de 1",
        &["print 1", "nonsense(", "$x = <STDIN>", "me", "q"],
    ),
    (
        "node",
        &["1 + 1", "nonsense", "function f() {", "return 7}", ".exit"],
    ),
    (
        "dash",
        &[
            "echo hi",
            "read x",
            "me",
            "if true",
            "then echo yes; fi",
            "exit",
        ],
    ),
    (
        "while read -p 'more? ' x; do echo \"$x\"; done",
        &["a", "b", "c"],
    ),
    ("read -s -p 'Password: ' x", &["secret"]),
    ("cat | sort | wc -l", &["a", "b"]),
];

/// With an argument only the silence.
pub fn run(mut args: impl Iterator<Item = String>) -> ExitCode {
    if args.next().is_some() {
        silence();
        return ExitCode::SUCCESS;
    }
    let wrong = lanes(RUNS, work);
    report("work taken for a question", RUNS, &wrong);
    let missed = lanes(PROMPTS, talk);
    report("prompts and questions missed", PROMPTS, &missed);
    silence();
    ExitCode::from(u8::from(!wrong.is_empty() || !missed.is_empty()))
}

/// Prints a rate and each case of it.
fn report(what: &str, of: usize, cases: &[String]) {
    println!("{what}: {} of {of}", cases.len());
    for case in cases {
        println!("  {case}");
    }
}

/// Does `count` runs in servers beside each other, and gathers what went wrong. A run says how many it was.
fn lanes(count: usize, each: fn(&mut Client, usize) -> (usize, Vec<String>)) -> Vec<String> {
    let lane = move |lane: usize| {
        // cargo looks for its own things in the home of who runs this.
        let home = std::env::var("HOME").unwrap_or_default();
        let mut client = Client::legacy_with(&[("REAL_HOME", &home)]);
        client.open(json!({"name": "t1"}));
        prepare(client.home());
        let share = count / LANES + usize::from(lane < count % LANES);
        let (mut done, mut wrong) = (0, Vec::new());
        let mut at = lane;
        while done < share {
            let (more, cases) = each(&mut client, at);
            done += more;
            wrong.extend(cases);
            at += 1;
        }
        wrong
    };
    let lanes: Vec<_> = (0..LANES).map(|n| thread::spawn(move || lane(n))).collect();
    let ended = lanes
        .into_iter()
        .map(|lane| lane.join().expect("a lane went through"));
    ended.flatten().collect()
}

fn work(client: &mut Client, at: usize) -> (usize, Vec<String>) {
    let (what, line) = WORK[at % WORK.len()];
    let reply = client.run_with(line, json!({"settle_ms": SETTLE, "timeout_s": 300}));
    let wrong = reply.status() != "done";
    if wrong {
        client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
        client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
    }
    let case = wrong.then(|| format!("{what}: {}", reply.header()));
    (1, case.into_iter().collect())
}

fn talk(client: &mut Client, at: usize) -> (usize, Vec<String>) {
    let (start, lines) = TALKS[at % TALKS.len()];
    let mut missed = Vec::new();
    let (mut prompts, mut over) = (0, false);
    // The last line ends the program.
    let last = lines.len() - 1;
    for (at, line) in std::iter::once(&start).chain(lines).enumerate() {
        let reply = client.run_with(line, json!({"timeout_s": 20}));
        over = reply.status() == "done";
        if at <= last {
            prompts += 1;
            if !matches!(reply.status(), "prompt" | "waiting") {
                missed.push(format!("{start}, {line:?}: {}", reply.header()));
            }
        }
    }
    if !over {
        client.tool("send", json!({"session": "t1", "keys": ["ctrl+d"]}));
        client.tool("wait", json!({"session": "t1", "timeout_s": 20}));
    }
    (prompts, missed)
}

/// Watches a server that waits for a silent command.
fn silence() {
    let mut client = Client::in_session();
    let arguments = json!({"session": "t1", "input": "sleep 600", "timeout_s": 300});
    let waited = client.begin("tools/call", json!({"name": "run", "arguments": arguments}));
    thread::sleep(BEFORE);
    let before = Cost::of(client.pid());
    thread::sleep(SILENCE);
    let cost = Cost::of(client.pid()).since(before);
    println!(
        "waiting for a silent command for {} s: {} wake-ups, {} us of processor, {} ticks of 10 ms",
        SILENCE.as_secs(),
        cost.wakeups,
        cost.nanoseconds / 1000,
        cost.ticks
    );
    client.notify("notifications/cancelled", json!({"requestId": waited}));
}

/// The files that the commands use.
fn prepare(home: &Path) {
    let functions: String = (0..1500)
        .map(|n| format!("double f{n}(double x) {{ for (int i = 0; i < {n}; i++) x = x * x + {n} / (x + i); return x; }}\n"))
        .collect();
    let write =
        |name: &str, text: &str| fs::write(home.join(name), text).expect("a folder of our own");
    write(
        "big.c",
        &format!("{functions}int main(void) {{ return (int) f7(1); }}\n"),
    );
    write(
        "Makefile",
        "all: a b c\na b c:\n\t@sleep 0.6\n\t@echo made $@\n",
    );
    write(
        "test_slow.py",
        "import time\ndef test_a():\n    time.sleep(0.7)\ndef test_b():\n    time.sleep(0.7)\n",
    );
    write(
        "net.py",
        "import socket,sys\nwhat=sys.argv[1]\nif what=='receive':\n  s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); s.bind(('127.0.0.1',0)); s.settimeout(1.2)\n  \
         try: s.recv(9)\n  except TimeoutError: pass\nelse:\n  s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(0); s.settimeout(1.2)\n  \
         try:\n    if what=='accept': s.accept()\n    else:\n      held=[]\n      for _ in range(5):\n        c=socket.socket(); c.settimeout(0.4); held.append(c); c.connect(s.getsockname())\n  except TimeoutError: pass\n",
    );
    write(
        "child.exp",
        "set timeout 20\nspawn -noecho sh -c {printf 'Name? '; read x; sleep 1; echo \"hi $x\"}\nexpect \"Name?\"\nsend \"me\\r\"\nexpect \"hi me\"\nexpect eof\n",
    );
    write(
        "pty_child.py",
        "import os,pty,select\npid,fd=pty.fork()\nif pid==0: os.execvp('sh',['sh','-c','sleep 1.2; echo done'])\nwhile True:\n  select.select([fd],[],[])\n  \
         try: data=os.read(fd,999)\n  except OSError: break\n  if not data: break\nos.waitpid(pid,0)\n",
    );
    fs::create_dir_all(home.join("crate/src")).expect("a folder of our own");
    write(
        "crate/Cargo.toml",
        "[package]\nname = \"slow\"\nversion = \"0.0.0\"\nedition = \"2021\"\n",
    );
    write(
        "crate/src/lib.rs",
        "#[test]\nfn slow() { std::thread::sleep(std::time::Duration::from_millis(700)); }\n",
    );
}
