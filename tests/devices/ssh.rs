//! A device that joins over ssh:// through a real sshd: what works by TCP works there, a cut connection comes back, and
//! what ssh refuses is told in a sentence.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use super::{Device, gone, online, path_of, record, tool, with_paneglass};
use crate::places::far::{self, Far};
use crate::util::client::DEADLINE;
use crate::util::dir::Dir;
use crate::util::server::Server;
use crate::util::skip::find;

/// What an ssh of the user's own may be configured for, which is nothing for a link.
const FOR_PEOPLE: &str = " HostName 127.0.0.1\n RemoteCommand tmux attach\n RequestTTY force\n LocalForward 127.0.0.1:1 x:1\n \
                          ExitOnForwardFailure yes\n";

/// A server without TCP, and the sshd of its machine, where a login by ssh has no paneglass on its PATH.
struct Machine {
    far: Far,
    server: Server,
}

impl Machine {
    fn start() -> Machine {
        let server = Server::with(&["--devices"], None);
        let mut far = Far::with(&[]);
        // Nothing of what this machine has installed, nor what its root's shell is set up for.
        let bin = far.path("bin");
        fs::create_dir(&bin).expect("our own");
        symlink("/bin/sh", bin.join("sh")).expect("just made");
        far.setting(&format!(
            "SetEnv PANEGLASS_HOME={}/state HOME={} PATH={}",
            server.dir.path().display(),
            far.path("home").display(),
            bin.display()
        ));
        far.start();
        Machine { far, server }
    }

    /// A machine whose user's ssh has this configuration.
    fn device(&self, config: &str) -> Dir {
        let dir = Dir::new();
        with_paneglass(&dir);
        let ssh = find("ssh", "ssh", &[]).expect("it was asked for");
        let wrapper = dir.path().join("bin/ssh");
        let text = format!("#!/bin/sh\nexec {} -F {config} \"$@\"\n", ssh.display());
        fs::write(&wrapper, text).expect("our own");
        fs::set_permissions(&wrapper, Permissions::from_mode(0o755)).expect("our own");
        dir
    }

    /// One that gets in.
    fn friend(&self) -> Dir {
        let config = self.far.config("friend", "key", self.far.port());
        let text = fs::read_to_string(&config).expect("just made");
        fs::write(&config, text + FOR_PEOPLE).expect("our own");
        self.device(&config)
    }

    /// Ends every connection to the sshd; what ran on it must end by itself.
    fn cut(&self) {
        let connections = self.far.connections();
        assert!(!connections.is_empty());
        let carried: Vec<String> = connections.iter().flat_map(|pid| below(pid)).collect();
        assert!(!carried.is_empty());
        connections.iter().for_each(|pid| signal("KILL", pid));
        connections.iter().chain(&carried).for_each(|pid| gone(pid));
    }
}

/// The processes that a process has started, and theirs.
fn below(pid: &str) -> Vec<String> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = children.unwrap_or_default();
    let each = children.split_whitespace().flat_map(|child| {
        let mut all = below(child);
        all.push(child.to_owned());
        all
    });
    each.collect()
}

fn signal(name: &str, pid: &str) {
    let sent = Command::new("kill").args(["-s", name, pid]).status();
    assert!(sent.expect("kill runs").success(), "{pid}");
}

/// Joins to the end, with this invitation: the one sentence that it says.
fn refused(dir: &Dir, url: &str, invitation: &str) -> String {
    fs::write(dir.path().join("invitation"), invitation).expect("our own");
    let ran = dir.run_with(
        &["join", url, "--invitation", "@invitation"],
        &[("PATH", &path_of(dir))],
    );
    let told = ran.bad(1);
    assert!(
        told.contains(&format!("cannot connect to {url}: ")),
        "{told}"
    );
    assert!(!told.contains(invitation), "{told}");
    told.to_owned()
}

#[test]
fn a_device_by_a_real_ssh() {
    let test = "a_device_by_a_real_ssh";
    if !far::can(test) {
        return;
    }
    let machine = Machine::start();
    let server = &machine.server;
    let made = record(server, "create_client", json!({}));
    let line = made["macos_linux_command"].as_str().expect("a command");
    assert!(line.starts_with("paneglass join ssh://root@"), "{line}");
    let mut device = Device::start(machine.friend(), line);
    let token = made["client_token"].as_str().expect("a token");
    let id = online(server, token);
    let run = |command: &str| {
        let arguments = json!({"client_token": token, "command": command});
        tool(server, "execute_command", arguments)["structuredContent"].clone()
    };
    let ran = run("echo out; echo err >&2; exit 7");
    assert_eq!(
        (&ran["stdout"], &ran["stderr"], &ran["exit_code"]),
        (&json!("out\n"), &json!("err\n"), &json!(7))
    );
    // Bytes of every kind, more than a pipe holds.
    let long = run("for i in $(seq 2000); do printf 'é~.\\r\\n~.%0200d\\n' $i; done");
    let lines = long["stdout"].as_str().expect("a text");
    assert!(lines.ends_with(&format!("é~.\r\n~.{:0200}\n", 2000)));
    assert_eq!(long["truncated"], false);

    let start = |command: &str| {
        let arguments = json!({"client_token": token, "command": command});
        record(server, "session_start", arguments)["session_id"].clone()
    };
    let session = start("tty | cut -c1-8; read -r x; echo got $x; exit 3");
    let input =
        json!({"client_token": token, "session_id": session, "action": "input", "input": "it\n"});
    record(server, "session_control", input);
    let (mut cursor, mut seen) = (0, String::new());
    let end = loop {
        let part = record(
            server,
            "session_read",
            json!({"client_token": token, "session_id": session, "cursor": cursor, "wait_ms": 20_000, "max_bytes": 5}),
        );
        let output = part["output"].as_str().expect("a text");
        seen.push_str(output);
        cursor += output.len() as u64;
        assert_eq!(part["next_cursor"], cursor, "{part}");
        if part["done"] == true && part["has_more"] == false {
            break part;
        }
    };
    assert!(
        seen.contains("/dev/pts") && seen.ends_with("got it\r\n"),
        "{seen:?}"
    );
    assert_eq!(end["exit_code"], 3, "{end}");

    // The sshd's connection dies: what ran ends, nobody knows how, and the device is back as itself.
    let cut = start("trap '' HUP; echo $$; sleep 600");
    let pid = pid_of(server, token, &cut);
    machine.cut();
    gone(&pid);
    device.says("offline: ");
    assert_eq!(online(server, token), id);
    assert_eq!(run("echo back")["stdout"], "back\n");
    let read = json!({"client_token": token, "session_id": cut});
    let read = record(server, "session_read", read);
    assert_eq!(
        (&read["done"], &read["exit_code"]),
        (&json!(true), &json!(-1))
    );
    assert!(
        read["error"].as_str().expect("why").contains("not known"),
        "{read}"
    );

    // Stopped, it takes all that it has started with it.
    let last = start("echo $$; sleep 600");
    let mut pids = below(&device.pid().to_string());
    pids.push(pid_of(server, token, &last));
    signal("TERM", &device.pid().to_string());
    assert_eq!(device.ends(), Some(0), "{}", device.stderr());
    pids.iter().for_each(|pid| gone(pid));
    let said = device.stderr();
    assert!(
        said.lines()
            .all(|line| line.starts_with("paneglass join: ")),
        "{said}"
    );
    assert_eq!(said.matches("joined as").count(), 2, "{said}");
}

/// What a session has printed first: its process id.
fn pid_of(server: &Server, token: &str, session: &Value) -> String {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let read = json!({"client_token": token, "session_id": session, "wait_ms": 20_000});
        let read = record(server, "session_read", read);
        if let Some(pid) = read["output"]
            .as_str()
            .and_then(|text| text.strip_suffix("\r\n"))
        {
            return pid.to_owned();
        }
        assert!(Instant::now() < deadline, "{read}");
    }
}

#[test]
fn what_ssh_refuses_is_told_in_a_sentence() {
    let test = "what_ssh_refuses_is_told_in_a_sentence";
    if !far::can(test) {
        return;
    }
    let mut machine = Machine::start();
    let made = record(&machine.server, "create_client", json!({}));
    let invitation = made["invitation"].as_str().expect("a text");
    let port = machine.far.port();
    let url = "ssh://root@127.0.0.1";
    // No key of this user's is known there.
    let stranger = machine.device(&machine.far.config("stranger", "wrong", port));
    let told = refused(&stranger, url, invitation);
    assert!(told.contains("Permission denied"), "{told}");
    assert!(told.contains("`ssh root@127.0.0.1`"), "{told}");
    // The key of the host is another than the user's ssh knows.
    let config = machine.far.config("fooled", "key", port);
    let known = machine.far.path("known-wrong");
    let wrong = fs::read_to_string(machine.far.path("wrong.pub")).expect("just made");
    fs::write(&known, format!("[127.0.0.1]:{port} {wrong}")).expect("our own");
    let text = fs::read_to_string(&config).expect("just made");
    let other = text.replace(
        &machine.far.path("known").display().to_string(),
        &known.display().to_string(),
    );
    assert_ne!(other, text);
    fs::write(&config, other).expect("our own");
    let told = refused(&machine.device(&config), url, invitation);
    assert!(told.contains("Host key verification failed"), "{told}");
    // Nobody answers at that port.
    let none = TcpListener::bind("127.0.0.1:0").expect("a port");
    let closed = none.local_addr().expect("bound").port();
    drop(none);
    let friend = machine.friend();
    let told = refused(&friend, &format!("{url}:{closed}"), invitation);
    assert!(told.contains("Connection refused"), "{told}");
    // All that went wrong has not used the invitation up.
    let device = Device::start(
        friend,
        &format!("paneglass join {url} --invitation {invitation}"),
    );
    let token = made["client_token"].as_str().expect("a token");
    online(&machine.server, token);
    drop(device);
    // No server, and no paneglass.
    machine.server.stop();
    let told = refused(&machine.friend(), url, invitation);
    assert!(told.contains("no server runs here"), "{told}");
    let own = machine.server.dir.path().join("state/bin/paneglass");
    fs::remove_file(own).expect("the server has made it");
    let told = refused(&machine.friend(), url, invitation);
    assert!(told.contains("paneglass is not installed"), "{told}");
}

/// It waited for two minutes.
#[test]
fn a_device_stops_while_ssh_still_connects() {
    let test = "a_device_stops_while_ssh_still_connects";
    if find(test, "ssh", &[]).is_none() {
        return;
    }
    // Takes ssh in, and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!(
        "ssh://127.0.0.1:{}",
        silent.local_addr().expect("bound").port()
    );
    let dir = Dir::new();
    with_paneglass(&dir);
    let line = format!("paneglass join {url} --invitation {}", "a".repeat(64));
    let mut device = Device::start(dir, &line);
    let _held = silent.accept().expect("ssh comes");
    let ssh = below(&device.pid().to_string());
    assert!(!ssh.is_empty());
    signal("TERM", &device.pid().to_string());
    assert_eq!(device.ends(), Some(0), "{}", device.stderr());
    ssh.iter().for_each(|pid| gone(pid));
}
