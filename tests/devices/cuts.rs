//! Links that are cut, servers that are killed, devices that are killed: what each side says afterwards, and that
//! nothing is left running on the device.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Device, gone, joined, online, record, refusal, server, tool, with_paneglass};
use crate::util::client::DEADLINE;
use crate::util::dir::Dir;
use crate::util::server::Server;
use crate::util::skip::have;

/// A network between a device and the server, which can be cut.
struct Network {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// What is sent waits, as where packets are lost for a while.
    paused: AtomicBool,
    /// Nothing new is let through.
    down: AtomicBool,
    over: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
}

impl Network {
    fn to(server: &Server) -> Network {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let shared = Arc::new(Shared::default());
        let (all, target) = (Arc::clone(&shared), server.port());
        thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                if all.over.load(Ordering::Acquire) {
                    return;
                }
                if all.down.load(Ordering::Acquire) {
                    continue;
                }
                let Ok(far) = TcpStream::connect(("127.0.0.1", target)) else {
                    continue;
                };
                let copy = |stream: &TcpStream| stream.try_clone().expect("a descriptor");
                all.streams
                    .lock()
                    .expect("no panic")
                    .extend([copy(&near), copy(&far)]);
                let there = (copy(&near), copy(&far), Arc::clone(&all));
                let back = (far, near, Arc::clone(&all));
                for (from, to, all) in [there, back] {
                    thread::spawn(move || carry(from, to, &all));
                }
            }
        });
        Network { port, shared }
    }

    fn pause(&self, paused: bool) {
        self.shared.paused.store(paused, Ordering::Release);
    }

    /// Cuts what goes through, and lets nothing new through while it is down.
    fn cut(&self, down: bool) {
        self.shared.down.store(down, Ordering::Release);
        for stream in self.shared.streams.lock().expect("no panic").drain(..) {
            drop(stream.shutdown(Shutdown::Both));
        }
    }

    fn join(&self, server: &Server) -> (String, String, Device) {
        let made = record(server, "create_client", json!({}));
        let text = |name: &str| made[name].as_str().expect("a text").to_owned();
        let line = text("macos_linux_command")
            .replace(&format!(":{} ", server.port()), &format!(":{} ", self.port));
        let device = Device::paste(&line);
        let token = text("client_token");
        let id = online(server, &token);
        (token, id, device)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        self.pause(false);
        self.cut(true);
        // Wakes the one that accepts.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, all: &Shared) {
    let mut piece = [0; 65_536];
    while let Ok(count @ 1..) = from.read(&mut piece) {
        while all.paused.load(Ordering::Acquire) {
            thread::sleep(Duration::from_millis(2));
        }
        if to.write_all(&piece[..count]).is_err() {
            break;
        }
    }
    drop(from.shutdown(Shutdown::Both));
    drop(to.shutdown(Shutdown::Both));
}

/// A session that prints its process id and goes on: its id and that number.
fn sleeper(server: &Server, token: &str) -> (String, String) {
    let arguments =
        json!({"client_token": token, "command": "trap '' HUP; echo $$; sleep 600; sleep 600"});
    let started = record(server, "session_start", arguments);
    let id = started["session_id"].as_str().expect("an id").to_owned();
    let deadline = Instant::now() + DEADLINE;
    loop {
        let read = session(server, token, &id, 0);
        let output = read["output"].as_str().expect("a text");
        if let Some(pid) = output.strip_suffix("\r\n") {
            return (id, pid.to_owned());
        }
        assert!(Instant::now() < deadline, "{read}");
    }
}

fn session(server: &Server, token: &str, id: &str, cursor: u64) -> Value {
    record(
        server,
        "session_read",
        json!({"client_token": token, "session_id": id, "cursor": cursor, "wait_ms": 20_000}),
    )
}

/// Waits for the end of a session that nobody knows more of.
fn lost(server: &Server, token: &str, id: &str) {
    let deadline = Instant::now() + DEADLINE * 2;
    let end = loop {
        let read = session(server, token, id, 0);
        if read["done"] == true {
            break read;
        }
        assert!(Instant::now() < deadline, "{read}");
        // There is output, so a read does not wait.
        thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(
        (&end["exit_code"], &end["timed_out"], &end["canceled"]),
        (&json!(-1), &json!(false), &json!(false))
    );
    assert!(
        end["error"].as_str().expect("why").contains("not known"),
        "{end}"
    );
}

#[test]
fn a_short_pause_is_nothing_and_a_cut_link_comes_back() {
    if !have("a_short_pause_is_nothing_and_a_cut_link_comes_back", "tmux") {
        return;
    }
    let server = server();
    let network = Network::to(&server);
    let (token, id, device) = network.join(&server);
    let arguments = json!({"client_token": token, "command": "stty -echo; while read -r x; do echo got $x; done"});
    let started = record(&server, "session_start", arguments);
    let talk = started["session_id"].as_str().expect("an id");
    network.pause(true);
    thread::sleep(Duration::from_secs(1));
    network.pause(false);
    let input =
        json!({"client_token": token, "session_id": talk, "action": "input", "input": "on\n"});
    record(&server, "session_control", input);
    let deadline = Instant::now() + DEADLINE;
    while !session(&server, &token, talk, 0)["output"]
        .as_str()
        .expect("a text")
        .contains("got on")
    {
        assert!(Instant::now() < deadline, "it does not go on");
        thread::sleep(Duration::from_millis(20));
    }
    let (cut, pid) = sleeper(&server, &token);
    network.cut(false);
    lost(&server, &token, &cut);
    gone(&pid);
    // It is back by its credential, as the same device.
    device.says("offline");
    assert_eq!(online(&server, &token), id);
    let run = json!({"client_token": token, "command": "echo back"});
    assert_eq!(record(&server, "execute_command", run)["stdout"], "back\n");
}

#[test]
fn a_link_that_is_silent_for_long_is_dead_on_both_sides() {
    if !have(
        "a_link_that_is_silent_for_long_is_dead_on_both_sides",
        "tmux",
    ) {
        return;
    }
    let server = server();
    let network = Network::to(&server);
    let (token, id, device) = network.join(&server);
    let (cut, pid) = sleeper(&server, &token);
    let begun = Instant::now();
    network.pause(true);
    lost(&server, &token, &cut);
    // Three heartbeats of ten seconds; the first may have been on its way.
    assert!(
        begun.elapsed() >= Duration::from_secs(19),
        "{:?}",
        begun.elapsed()
    );
    let run = json!({"client_token": token, "command": "true"});
    assert!(refusal(&server, "execute_command", run.clone()).contains("offline"));
    // The device finds out by itself, and ends what nobody can reach.
    device.says("silent");
    gone(&pid);
    network.pause(false);
    assert_eq!(online(&server, &token), id);
    assert_eq!(record(&server, "execute_command", run)["exit_code"], 0);
}

#[test]
fn a_link_that_is_cut_for_good_leaves_nothing_running() {
    if !have("a_link_that_is_cut_for_good_leaves_nothing_running", "tmux") {
        return;
    }
    let server = server();
    let network = Network::to(&server);
    let (token, _, mut device) = network.join(&server);
    let (cut, pid) = sleeper(&server, &token);
    network.cut(true);
    lost(&server, &token, &cut);
    gone(&pid);
    let listed = record(
        &server,
        "list_clients",
        json!({"client_token": token, "wait_ms": 1_500}),
    );
    assert_eq!(listed["status"], "waiting");
    let listed = record(&server, "session_list", json!({"client_token": token}));
    assert_eq!(listed["sessions"][0]["online"], false);
    device.says("trying again");
    device.kill();
}

#[test]
fn a_killed_device_leaves_nothing_running() {
    if !have("a_killed_device_leaves_nothing_running", "tmux") {
        return;
    }
    let server = server();
    let (token, _, mut device) = joined(&server);
    let (cut, pid) = sleeper(&server, &token);
    let file = device.dir.path().join("pids");
    let pids = thread::scope(|scope| {
        let command =
            "trap '' HUP TERM; sleep 600 & echo $$ $! > new; mv new pids; sleep 600; sleep 600";
        let arguments = json!({"client_token": token, "command": command});
        let running = scope.spawn(|| tool(&server, "execute_command", arguments));
        let deadline = Instant::now() + DEADLINE;
        let pids = loop {
            match std::fs::read_to_string(&file) {
                Ok(text) => break text,
                Err(_) => assert!(Instant::now() < deadline, "it does not begin"),
            }
            thread::sleep(Duration::from_millis(5));
        };
        device.kill();
        let result = running.join().expect("no panic");
        assert_eq!(result["isError"], true);
        let record = &result["structuredContent"];
        assert_eq!(
            (&record["exit_code"], &record["canceled"]),
            (&json!(-1), &json!(false))
        );
        assert!(record["error"].as_str().expect("why").contains("not known"));
        pids
    });
    pids.split_whitespace().for_each(gone);
    lost(&server, &token, &cut);
    gone(&pid);
}

#[test]
fn a_server_that_is_killed_or_stopped_is_found_again() {
    if !have("a_server_that_is_killed_or_stopped_is_found_again", "tmux") {
        return;
    }
    let mut server = Server::with(&["--devices"], None);
    let made = record(&server, "create_client", json!({}));
    let text = |name: &str| made[name].as_str().expect("a text").to_owned();
    let (token, invitation) = (text("client_token"), text("invitation"));
    let dir = Dir::new();
    with_paneglass(&dir);
    let there = server.dir.path().display();
    let line = format!(
        "paneglass join --invitation {invitation} --via env PANEGLASS_HOME={there}/state XDG_RUNTIME_DIR={there}/run paneglass link"
    );
    let device = Device::start(dir, &line);
    let id = online(&server, &token);
    for round in 0..2 {
        let (cut, pid) = sleeper(&server, &token);
        match round {
            0 => server.kill(),
            _ => drop(server.stop()),
        }
        gone(&pid);
        server.start_again();
        assert_eq!(online(&server, &token), id);
        let read = json!({"client_token": token, "session_id": cut});
        let told = refusal(&server, "session_read", read);
        assert!(
            told.contains("server was started anew") && told.contains("not known"),
            "{told}"
        );
        let run = json!({"client_token": token, "command": "echo on"});
        assert_eq!(record(&server, "execute_command", run)["stdout"], "on\n");
    }
    assert!(device.stderr().contains("trying again"));
}
