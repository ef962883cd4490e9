//! Many agents at one server, each calling run in a session of its own: how long each waits, and what the server
//! takes for all of them. By lines on the Unix socket, as bridges speak, and by HTTP.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::util::server::{Server, answer, call, initialize, post};

const AGENTS: usize = 32;
const CALLS: usize = 30;

/// One agent's way to the server.
enum Way {
    Lines(BufReader<UnixStream>),
    Http(UnixStream),
}

impl Way {
    fn ask(&mut self, message: &Value) -> String {
        match self {
            Way::Lines(stream) => {
                writeln!(stream.get_mut(), "{message}").expect("the server reads");
                let mut line = String::new();
                stream.read_line(&mut line).expect("the server answers");
                line
            }
            Way::Http(stream) => {
                let message = post(&[], &message.to_string());
                stream.write_all(&message).expect("the server reads");
                answer(stream).body
            }
        }
    }
}

/// Prints the table. A call that does not do what it should panics.
pub fn run() -> ExitCode {
    println!(
        "{AGENTS} agents, {CALLS} calls of run \"true\" each, in sessions of their own (ms)\n"
    );
    println!(
        "{:<24} {:>8} {:>8} {:>8} {:>10}",
        "", "median", "95 %", "worst", "calls/s"
    );
    for (name, agents, http) in [
        ("1 agent, lines", 1, false),
        ("lines", AGENTS, false),
        ("1 agent, HTTP", 1, true),
        ("HTTP", AGENTS, true),
    ] {
        measure(name, agents, http);
    }
    ExitCode::SUCCESS
}

fn measure(name: &str, agents: usize, http: bool) {
    let server = Server::start();
    let before = server.megabytes();
    let start = Barrier::new(agents);
    let begun = Instant::now();
    let mut all: Vec<Duration> = thread::scope(|scope| {
        let agent = |at: usize| {
            let (server, start) = (&server, &start);
            scope.spawn(move || {
                let session = format!("s{at}");
                let mut way = match http {
                    true => Way::Http(server.unix()),
                    false => Way::Lines(BufReader::new(server.unix())),
                };
                way.ask(&initialize("bench"));
                way.ask(&call("session_create", json!({"name": session})));
                let run = call("run", json!({"session": session, "input": "true"}));
                start.wait();
                let time = |_| {
                    let begun = Instant::now();
                    let answer = way.ask(&run);
                    assert!(answer.contains("exit 0"), "{answer}");
                    begun.elapsed()
                };
                (0..CALLS).map(time).collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = (0..agents).map(agent).collect();
        let times = threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"));
        times.flatten().collect()
    });
    let whole = begun.elapsed();
    all.sort();
    let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{name:<24} {:>8.2} {:>8.2} {:>8.2} {:>10.0}   memory {} MB, at rest {} MB; in all {:.1} s",
        at(0.5),
        at(0.95),
        at(1.0),
        all.len() as f64 / all.iter().sum::<Duration>().as_secs_f64() * agents as f64,
        server.megabytes(),
        before,
        whole.as_secs_f64()
    );
}
