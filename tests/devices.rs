//! Remote devices: the real binary as a server and as devices on this machine, each with a home of its own.

mod access;
mod beside;
mod cuts;
mod many;
mod network;
mod reach;
mod sessions;
mod ssh;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::util::binary;
use crate::util::client::{Client, DEADLINE};
use crate::util::dir::{Dir, Running};
use crate::util::server::{Server, call};
use crate::util::skip::have;

/// A server with devices, on TCP too.
pub fn server() -> Server {
    Server::with(&["--tcp", "0", "--devices"], None)
}

/// A running `paneglass join`.
pub struct Device {
    child: Running,
    pub dir: Dir,
}

impl Device {
    /// Pastes a command line of create_client into a shell of a machine's own.
    pub fn paste(line: &str) -> Device {
        let dir = Dir::new();
        with_paneglass(&dir);
        Device::start(dir, line)
    }

    /// The same in a home that is there already.
    pub fn start(dir: Dir, line: &str) -> Device {
        let err = File::create(dir.path().join("join.err")).expect("our own");
        let mut shell = dir.command("sh");
        shell
            .args(["-c", &format!("exec {line}")])
            .env("PATH", path_of(&dir))
            .stdout(Stdio::null())
            .stderr(err);
        let child = Running(shell.spawn().expect("a shell"));
        Device { child, dir }
    }

    pub fn pid(&self) -> u32 {
        self.child.0.id()
    }

    pub fn stderr(&self) -> String {
        fs::read_to_string(self.dir.path().join("join.err")).unwrap_or_default()
    }

    /// Waits until it has said so much.
    pub fn says(&self, text: &str) {
        let deadline = Instant::now() + DEADLINE;
        while !self.stderr().contains(text) {
            assert!(Instant::now() < deadline, "{text:?}: {}", self.stderr());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Its exit code, which must come.
    pub fn ends(&mut self) -> Option<i32> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.0.try_wait().expect("our child") {
                return status.code();
            }
            assert!(Instant::now() < deadline, "it goes on: {}", self.stderr());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn kill(&mut self) {
        self.child.0.kill().expect("our child");
        self.child.0.wait().expect("our child");
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the device's stderr\n{}", self.stderr());
        }
    }
}

/// Puts `paneglass` on the PATH of a machine's own.
pub fn with_paneglass(dir: &Dir) {
    let folder = dir.path().join("bin");
    fs::create_dir(&folder).expect("our own");
    std::os::unix::fs::symlink(binary(), folder.join("paneglass")).expect("just made");
}

pub fn path_of(dir: &Dir) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{path}", dir.path().join("bin").display())
}

/// Calls a tool by HTTP, as the user of the server may.
pub fn tool(server: &Server, name: &str, arguments: Value) -> Value {
    let answer = server.post(&[("Accept", "application/json")], &call(name, arguments));
    let answer = answer.json();
    assert!(answer["result"].is_object(), "{name}: {answer}");
    answer["result"].clone()
}

/// The record of a call that is no error. The text holds the same.
pub fn record(server: &Server, name: &str, arguments: Value) -> Value {
    let result = tool(server, name, arguments);
    assert_eq!(result["isError"], false, "{name}: {result}");
    result["structuredContent"].clone()
}

/// What a call is refused with.
pub fn refusal(server: &Server, name: &str, arguments: Value) -> String {
    let result = tool(server, name, arguments);
    assert_eq!(result["isError"], true, "{name}: {result}");
    let text = result["content"][0]["text"].as_str().expect("a text");
    text.to_owned()
}

/// A token with one device online: the token, its id, and the device.
pub fn joined(server: &Server) -> (String, String, Device) {
    let made = record(server, "create_client", json!({}));
    let device = Device::paste(made["macos_linux_command"].as_str().expect("a command"));
    let token = made["client_token"].as_str().expect("a token").to_owned();
    let id = online(server, &token);
    (token, id, device)
}

/// Waits until a device of the token is online; its id.
pub fn online(server: &Server, token: &str) -> String {
    let listed = record(
        server,
        "list_clients",
        json!({"client_token": token, "wait_ms": 60_000}),
    );
    assert_eq!(listed["status"], "connected", "{listed}");
    let id = listed["clients"][0]["client_id"].as_str();
    id.expect("an id").to_owned()
}

/// Waits until a process has gone, or is only a zombie that somebody else has to reap.
pub fn gone(pid: &str) {
    let deadline = Instant::now() + DEADLINE;
    let stat = PathBuf::from(format!("/proc/{pid}/stat"));
    while fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z ")) {
        assert!(Instant::now() < deadline, "process {pid} lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_device_from_its_invitation_to_its_revocation() {
    if !have("a_device_from_its_invitation_to_its_revocation", "tmux") {
        return;
    }
    let server = server();
    let result = tool(&server, "create_client", json!({}));
    let made = &result["structuredContent"];
    assert_eq!(made["display_text"], result["content"][0]["text"]);
    assert_eq!(made["multi_device"], false);
    let token = made["client_token"].as_str().expect("a token");
    let asked = json!({"client_token": token});
    let before = record(&server, "list_clients", asked.clone());
    assert_eq!(before, json!({"status": "waiting", "clients": []}));
    let nobody = json!({"client_token": token, "command": "true"});
    assert!(refusal(&server, "execute_command", nobody).contains("no device has joined"));
    let mut device = Device::paste(made["macos_linux_command"].as_str().expect("a command"));
    let id = online(&server, token);
    assert!(
        id.len() == 6
            && id
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    );
    let listed = record(&server, "list_clients", asked.clone());
    let info = &listed["clients"][0]["client_info"];
    assert_eq!(info["platform"], "linux");
    assert_eq!(
        info["default_cwd"],
        device.dir.path().to_str().expect("UTF-8")
    );
    let status = listed["clients"][0]["status"].as_str().expect("a status");
    assert!(status.starts_with("Connected"), "{status}");
    let devices = server.dir.run(&["devices"]);
    assert!(devices.good().starts_with(&id), "{devices:?}");
    // Nothing of what opens it is to be seen by others, or written down.
    let invitation = made["invitation"].as_str().expect("an invitation");
    let kept = device.dir.path().join("state/joined.json");
    let kept = fs::read_to_string(kept).expect("it is kept");
    let kept: Value = serde_json::from_str(&kept).expect("JSON");
    let server_way = format!("http://127.0.0.1:{}", server.port());
    let credential = kept[&server_way]["credential"].as_str().expect("a secret");
    for secret in [token, invitation, credential] {
        assert_eq!(secret.len(), 64);
        for pid in [server.pid(), device.pid()] {
            for file in ["cmdline", "environ"] {
                let path = format!("/proc/{pid}/{file}");
                assert!(!holds(Path::new(&path), secret), "{path}");
            }
        }
        for name in ["devices.json", "calls.log"] {
            assert!(!holds(&server.dir.path().join("state").join(name), secret));
        }
        assert!(!server.stderr().contains(secret) && !device.stderr().contains(secret));
    }
    // And then it is over.
    let session = json!({"client_token": token, "command": "echo $$; sleep 600"});
    let session = record(&server, "session_start", session);
    let read =
        json!({"client_token": token, "session_id": session["session_id"], "wait_ms": 20_000});
    let read = record(&server, "session_read", read);
    let pid = read["output"].as_str().expect("a pid").trim().to_owned();
    let revoked = record(&server, "revoke_client", asked.clone());
    assert_eq!(revoked, json!({"revoked": [id]}));
    assert_eq!(device.ends(), Some(1));
    assert!(device.stderr().contains("revoked"), "{}", device.stderr());
    gone(&pid);
    let refused = refusal(&server, "list_clients", asked);
    assert!(
        refused.contains("not valid") && !refused.contains(token),
        "{refused}"
    );
    let again = server.dir.run(&["join", &server_way]);
    assert!(again.bad(1).contains("has not joined"), "{again:?}");
}

fn holds(path: &Path, secret: &str) -> bool {
    let mut bytes = Vec::new();
    let mut file = File::open(path).expect("it is there");
    file.read_to_end(&mut bytes).expect("it is readable");
    bytes
        .windows(secret.len())
        .any(|part| part == secret.as_bytes())
}

#[test]
fn commands_and_how_they_end() {
    if !have("commands_and_how_they_end", "tmux") {
        return;
    }
    let server = server();
    let (token, id, _device) = joined(&server);
    let run = |command: &str, more: Value| {
        let mut arguments = json!({"client_token": token, "command": command});
        for (name, value) in more.as_object().expect("an object") {
            arguments[name.as_str()] = value.clone();
        }
        let result = tool(&server, "execute_command", arguments);
        let record = result["structuredContent"].clone();
        assert_eq!(result["isError"], record["exit_code"] != 0, "{result}");
        assert_eq!(record["client_id"], id.as_str());
        record
    };
    let plain = run("echo out; echo err >&2", json!({}));
    assert_eq!(
        (&plain["stdout"], &plain["stderr"]),
        (&json!("out\n"), &json!("err\n"))
    );
    assert_eq!(plain["truncated"], false);
    let placed = run(
        "pwd; echo $W; tty",
        json!({"cwd": "/usr", "env": {"W": "a b"}}),
    );
    assert_eq!(placed["stdout"], "/usr\na b\nnot a tty\n");
    assert_eq!(placed["exit_code"], 1);
    // Each in a fresh shell.
    assert_eq!(run("echo $W", json!({}))["stdout"], "\n");
    let killed = run("kill -9 $$", json!({}));
    assert_eq!(killed["exit_code"], -1);
    assert!(killed["error"].as_str().expect("why").contains("SIGKILL"));
    let slow = run("echo $$; sleep 600", json!({"timeout_ms": 400}));
    assert_eq!(
        (&slow["timed_out"], &slow["exit_code"]),
        (&json!(true), &json!(-1))
    );
    assert_eq!(slow["canceled"], false);
    gone(slow["stdout"].as_str().expect("a pid").trim());
    let long = run(
        "head -c 700000 /dev/zero | tr '\\0' x; head -c 700000 /dev/zero | tr '\\0' y >&2",
        json!({}),
    );
    let length = |name: &str| long[name].as_str().expect("a text").len();
    assert_eq!(length("stdout") + length("stderr"), 1 << 20);
    assert_eq!(
        (&long["truncated"], &long["exit_code"]),
        (&json!(true), &json!(0))
    );
    let lost = run("true", json!({"cwd": "/no/such"}));
    assert!(lost["error"].as_str().expect("why").contains("no folder"));
    let long = "\u{1}".repeat(60_000);
    for (bad, told) in [
        (json!({"client_token": token, "command": long}), "too long"),
        (
            json!({"client_token": token, "command": "x", "timeout_ms": 86_400_001u64}),
            "timeout_ms",
        ),
        (json!({"client_token": token, "command": ""}), "command"),
        (
            json!({"client_token": token, "command": "x", "client_id": "zzzzzz"}),
            "zzzzzz",
        ),
        (json!({"command": "x"}), "client_token"),
    ] {
        assert!(
            refusal(&server, "execute_command", bad).contains(told),
            "{told}"
        );
    }
}

#[test]
fn a_cancelled_call_ends_its_command() {
    if !have("a_cancelled_call_ends_its_command", "tmux") {
        return;
    }
    let server = server();
    let (token, _, device) = joined(&server);
    let mut client: Client = server.bridge(&[]);
    let file = device.dir.path().join("pid");
    let arguments = json!({"client_token": token, "command": "echo $$ > pid; sleep 600"});
    let params = json!({"name": "execute_command", "arguments": arguments});
    let id = client.begin("tools/call", params);
    let deadline = Instant::now() + DEADLINE;
    let pid = loop {
        let text = fs::read_to_string(&file).unwrap_or_default();
        if text.ends_with('\n') {
            break text.trim().to_owned();
        }
        assert!(Instant::now() < deadline, "it does not begin");
        std::thread::sleep(Duration::from_millis(5));
    };
    client.notify("notifications/cancelled", json!({"requestId": id}));
    gone(&pid);
    // The device goes on.
    let after = json!({"client_token": token, "command": "echo on"});
    assert_eq!(record(&server, "execute_command", after)["stdout"], "on\n");
}
