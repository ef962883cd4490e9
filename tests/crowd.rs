//! Three agents by three ways and a person, all in one session: nobody's line is joined with another's, and everybody
//! gets what is theirs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::util::client::{Client, DEADLINE};
use crate::util::mix::Random;
use crate::util::pty::Pty;
use crate::util::server::{Server, call};
use crate::util::skip::have;

/// Rounds of each agent; PANEGLASS_TEST_ROUNDS makes it minutes of work.
const ROUNDS: u64 = 8;

/// A person's key every so often, which is quick for a person.
const KEY: Duration = Duration::from_millis(15);

type Tool<'a> = Box<dyn FnMut(&str, Value) -> Value + Send + 'a>;

struct Agent<'a> {
    name: &'static str,
    tool: Tool<'a>,
    /// The lines that it ran, and the statuses they had to have.
    ran: BTreeMap<String, i64>,
    refused: u64,
    /// All that it was told.
    told: Vec<String>,
}

impl Agent<'_> {
    fn call(&mut self, tool: &str, arguments: Value) -> (Value, String) {
        let result = (self.tool)(tool, arguments);
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        self.told.push(text.to_owned());
        let text = text.to_owned();
        (result, text)
    }

    /// Runs a line, and waits for its turn when it is refused.
    fn run(&mut self, line: &str) -> Value {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let arguments = json!({"session": "t1", "input": line, "timeout_s": 120});
            let (result, text) = self.call("run", arguments);
            if result["isError"] != true {
                return result;
            }
            assert!(text.contains("nothing was typed"), "{line}: {text}");
            assert!(
                Instant::now() < deadline,
                "{line}: it never has its turn: {text}"
            );
            self.refused += 1;
            self.call("wait", json!({"session": "t1", "timeout_s": 1}));
        }
    }

    fn work(&mut self, rounds: u64, seed: u64) {
        let mut random = Random::new(seed);
        for round in 0..rounds {
            let mark = format!("{}-{round}", self.name);
            let status = random.below(4) as i64;
            let (line, output) = match random.below(4) {
                0 => (format!("echo {mark}; (exit {status})"), mark.clone()),
                1 => (
                    format!("for i in 1 2 3; do echo {mark}.$i; sleep 0.02; done; (exit {status})"),
                    format!("{mark}.1\n{mark}.2\n{mark}.3"),
                ),
                2 => (
                    format!(
                        "sleep 0.{}; echo {mark} é漢; (exit {status})",
                        random.below(3)
                    ),
                    format!("{mark} é漢"),
                ),
                _ => (
                    format!(
                        "echo {} | tail -c {}; (exit {status})",
                        "x".repeat(200) + &mark,
                        mark.len() + 1
                    ),
                    mark.clone(),
                ),
            };
            let result = self.run(&line);
            let text = result["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            let facts = &result["_meta"]["paneglass/facts"];
            assert_eq!(facts["status"], "done", "{line}: {text}");
            assert_eq!(facts["exit_code"], status, "{line}: {text}");
            // What the person typed ahead stands between, as the terminal echoed it; a line of output is whole.
            let mut body = text.lines().skip(1);
            for line in output.lines() {
                assert!(body.any(|told| told.contains(line)), "{line}: {text}");
            }
            assert!(self.ran.insert(line, status).is_none());
        }
    }
}

/// Types lines, key by key, and gives some of them up half-way, until told to stop. Returns those it entered.
fn person(pty: &mut Pty, seed: u64, stop: &AtomicBool) -> Vec<String> {
    let mut random = Random::new(seed);
    let mut entered = Vec::new();
    let mut seen = Vec::new();
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let line = format!("echo person-{number}");
        for key in line.bytes() {
            pty.type_bytes(&[key]);
            pty.read(&mut seen, Instant::now() + KEY);
        }
        // A thought in the middle of a line.
        let thought = Instant::now() + KEY * random.below(20) as u32;
        while Instant::now() < thought {
            pty.read(&mut seen, thought);
        }
        if random.one_in(3) {
            pty.type_bytes(b"\x15");
        } else {
            pty.type_bytes(b"\r");
            entered.push(line);
        }
        // Then they look at what came of it: it is the others' turn.
        let pause = Instant::now() + Duration::from_millis(random.below(4_000) as u64);
        while Instant::now() < pause {
            pty.read(&mut seen, pause);
        }
        seen.clear();
    }
    entered
}

/// The log's bytes round the last place where it has `text`.
fn raw(server: &Server, text: &str) -> String {
    let path = server.dir.path().join("state/sessions/t1/raw.log");
    let bytes = std::fs::read(path).unwrap_or_default();
    let bytes = bytes.escape_ascii().to_string();
    let at = bytes.rfind(text).unwrap_or(bytes.len());
    bytes[at.saturating_sub(1_500)..(at + 500).min(bytes.len())].to_owned()
}

#[test]
fn three_agents_and_a_person_in_one_session() {
    if !have("three_agents_and_a_person_in_one_session", "tmux") {
        return;
    }
    let rounds = std::env::var("PANEGLASS_TEST_ROUNDS").ok();
    let rounds = rounds.and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let server = Server::tcp();
    let mut bridge = server.bridge(&["--actor", "bridged"]);
    let attach = bridge.open(json!({"name": "t1"})).facts["attach"]
        .as_str()
        .expect("a command")
        .to_owned();
    let id = server.session("legacy");
    let legacy = |tool: &str, arguments: Value| {
        server
            .post(
                &[
                    ("Mcp-Session-Id", &id),
                    ("MCP-Protocol-Version", "2025-11-25"),
                ],
                &call(tool, arguments),
            )
            .result()
    };
    let modern = |tool: &str, arguments: Value| {
        server
            .modern("tools/call", json!({"name": tool, "arguments": arguments}))
            .result()
    };
    let agent = |name, tool| Agent {
        name,
        tool,
        ran: BTreeMap::new(),
        refused: 0,
        told: Vec::new(),
    };
    let client: &mut Client = &mut bridge;
    let mut agents = [
        agent(
            "bridged",
            Box::new(|tool: &str, arguments| client.call(tool, arguments)) as Tool,
        ),
        agent("legacy", Box::new(legacy)),
        agent("modern", Box::new(modern)),
    ];
    let env = [
        ("PATH", std::env::var("PATH").unwrap_or_default()),
        ("TERM", "xterm-256color".into()),
        ("HOME", server.dir.path().display().to_string()),
    ];
    let env = env.map(|(name, value)| (name.to_owned(), value));
    let mut pty = Pty::spawn(
        &["sh", "-c", &format!("exec {attach}")],
        &env,
        server.dir.path(),
        (120, 41),
    )
    .expect("a terminal");
    let seed = 7;
    println!("seed {seed}");
    let stop = AtomicBool::new(false);
    let entered = std::thread::scope(|scope| {
        let typing = scope.spawn(|| person(&mut pty, seed, &stop));
        let working: Vec<_> = agents
            .iter_mut()
            .zip(1..)
            .map(|(agent, n)| scope.spawn(move || agent.work(rounds, seed + n)))
            .collect();
        let ended: Vec<_> = working.into_iter().map(|thread| thread.join()).collect();
        stop.store(true, Ordering::Relaxed);
        let entered = typing.join().expect("the person");
        for result in ended {
            if let Err(panic) = result {
                std::panic::resume_unwind(panic);
            }
        }
        entered
    });
    // The last of what the person typed is a line of theirs or nothing; what they begin now is not touched.
    let mut seen = Vec::new();
    pty.type_bytes(b"\x15rm -i precious");
    let deadline = Instant::now() + DEADLINE;
    while !String::from_utf8_lossy(&seen).contains("precious") {
        pty.read(&mut seen, Instant::now() + KEY);
        assert!(
            Instant::now() < deadline,
            "{}",
            String::from_utf8_lossy(&seen)
        );
    }
    for agent in &mut agents {
        let result = (agent.tool)("run", json!({"session": "t1", "input": "echo mine"}));
        assert_eq!(result["isError"], true, "{result}");
        assert!(
            result.to_string().contains("precious"),
            "{result}: {}",
            raw(&server, "precious")
        );
    }
    let list = (agents[0].tool)("session_list", json!({}));
    let list = list["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    assert!(
        list.contains("with unsubmitted text ") && list.contains("precious"),
        "{list}"
    );
    assert!(list.contains("1 person attached"), "{list}");

    // Every command of the session is one that somebody ran, whole, by whom it says, and each is there once.
    let told = (agents[0].tool)("regions", json!({"session": "t1", "last": 1000}));
    let told = told["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let mut left: Vec<(String, String)> = entered
        .iter()
        .map(|line| ("person".into(), line.clone()))
        .collect();
    for agent in &agents {
        assert!(!agent.ran.is_empty(), "{} never had its turn", agent.name);
        left.extend(
            agent
                .ran
                .keys()
                .map(|line| (agent.name.to_owned(), line.clone())),
        );
    }
    let everything: Vec<&Vec<String>> = agents.iter().map(|agent| &agent.told).collect();
    for line in told.lines().filter(|line| line.starts_with('#')) {
        let fields: Vec<&str> = line.splitn(6, " · ").collect();
        let [_, _, who, _, _, label] = fields[..] else {
            panic!("{line}")
        };
        let at = left.iter().position(|(by, ran)| {
            let whole = ran == label
                || (label.ends_with('…') && ran.starts_with(label.trim_end_matches('…')));
            whole && who.starts_with(by.as_str())
        });
        left.remove(at.unwrap_or_else(|| {
            panic!(
                "nobody ran {line:?}: {}\n{told}\n{everything:#?}",
                raw(&server, label)
            )
        }));
    }
    assert!(left.is_empty(), "not in the session: {left:?}\n{told}");

    // Each agent was told of what others ran, once.
    for agent in &agents {
        for line in &entered {
            let times = agent
                .told
                .iter()
                .flat_map(|text| text.lines())
                .filter(|note| {
                    note.starts_with("[meanwhile a person ran")
                        && note
                            .split(|c: char| !c.is_alphanumeric() && c != '-')
                            .any(|word| Some(word) == line.split(' ').nth(1))
                });
            assert!(
                times.count() <= 1,
                "{} was told of {line} more than once: {:#?}",
                agent.name,
                agent.told
            );
        }
    }
    let refused: Vec<u64> = agents.iter().map(|agent| agent.refused).collect();
    println!("refused {refused:?}, the person ran {}", entered.len());
}
