//! A device on a network of its own: a namespace that the test makes, with one way to the server.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Device, online, record, with_paneglass};
use crate::util::client::DEADLINE;
use crate::util::dir::Dir;
use crate::util::server::Server;
use crate::util::skip::have;

/// A namespace, joined to ours by a pair of interfaces. Dropped, it goes with them.
struct Namespace {
    name: String,
    here: String,
    there: String,
    /// The addresses of the two.
    near: String,
    far: String,
}

impl Namespace {
    /// None where this user may make none.
    fn make() -> Option<Namespace> {
        let number = std::process::id() % 10_000;
        let made = Namespace {
            name: format!("pg{number}"),
            here: format!("pg{number}a"),
            there: format!("pg{number}b"),
            // Another run of the tests beside this one has its own network.
            near: format!("10.213.{}.1", number % 256),
            far: format!("10.213.{}.2", number % 256),
        };
        let Namespace {
            name,
            here,
            there,
            near,
            far,
        } = &made;
        let lines = [
            format!("netns add {name}"),
            format!("link add {here} type veth peer name {there} netns {name}"),
            format!("addr add {near}/30 dev {here}"),
            format!("link set {here} up"),
            format!("-n {name} addr add {far}/30 dev {there}"),
            format!("-n {name} link set {there} up"),
        ];
        lines.iter().all(|line| ip(line)).then_some(made)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // The interfaces go with either end.
        ip(&format!("link del {}", self.here));
        ip(&format!("netns del {}", self.name));
    }
}

fn ip(line: &str) -> bool {
    let mut command = Command::new("ip");
    command.args(line.split(' ')).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn a_device_behind_a_network_that_goes_away() {
    let test = "a_device_behind_a_network_that_goes_away";
    if !have(test, "tmux") || !have(test, "ip") {
        return;
    }
    let Some(namespace) = Namespace::make() else {
        println!("SKIP {test}: network namespaces");
        return;
    };
    let (near, far) = (&namespace.near, &namespace.far);
    let server = Server::with(&["--tcp", "0", "--host", near, "--devices"], None);
    let made = record(&server, "create_client", json!({}));
    let line = made["macos_linux_command"].as_str().expect("a command");
    // Whoever has the server listen there is taken to trust that network.
    assert!(
        line.contains(&format!("http://{near}:")) && line.contains(" --insecure "),
        "{line}"
    );
    let text = made["display_text"].as_str().expect("a text");
    assert!(text.contains("paneglass join ssh://"), "{text}");
    let inside = |line: &str| {
        let dir = Dir::new();
        with_paneglass(&dir);
        Device::start(dir, &format!("ip netns exec {} {line}", namespace.name))
    };
    let mut plain = inside(&line.replace(" --insecure", ""));
    assert_eq!(plain.ends(), Some(2));
    assert!(
        plain.stderr().contains(&format!("ssh://[USER@]{near}")),
        "{}",
        plain.stderr()
    );
    let device = inside(line);
    let token = made["client_token"].as_str().expect("a token");
    let id = online(&server, token);
    let run = |command: &str| {
        let arguments = json!({"client_token": token, "command": command});
        record(&server, "execute_command", arguments)["stdout"].clone()
    };
    let address = run("ip -br addr show");
    assert!(
        address.as_str().expect("a text").contains(far.as_str()),
        "{address}"
    );
    // Without a network for a second: what was said meanwhile arrives afterwards.
    let cat = json!({"client_token": token, "command": "cat"});
    let session = record(&server, "session_start", cat)["session_id"].clone();
    assert!(ip(&format!("link set {} down", namespace.here)));
    std::thread::sleep(Duration::from_secs(1));
    assert!(ip(&format!("link set {} up", namespace.here)));
    let input =
        json!({"client_token": token, "session_id": session, "action": "input", "input": "on\n"});
    // The device says that it has it within five seconds, or it is not known.
    super::tool(&server, "session_control", input);
    let deadline = Instant::now() + DEADLINE;
    loop {
        let read = json!({"client_token": token, "session_id": session});
        let read = record(&server, "session_read", read);
        assert_eq!(read["done"], false, "{read}");
        if read["output"] == "on\r\non\r\n" {
            break;
        }
        assert!(Instant::now() < deadline, "{read}");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(device.stderr().contains(&id) && !device.stderr().contains("offline"));
}
