//! Many devices with many sessions that all print: what the server holds is bounded, and a device that floods slows
//! only itself.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Device, online, record, server};
use crate::util::client::DEADLINE;
use crate::util::skip::have;

const DEVICES: usize = 50;

/// Of each device; the flood is one of them.
const SESSIONS: usize = 4;

/// What a session prints, in bytes.
const PRINTED: usize = 300_000;

/// What the server may hold, in MB: all that is kept of 200 sessions and of one that floods, three times over for what
/// is on its way, for threads and for an allocator that keeps what was freed.
const MEGABYTES: u64 = 220;

#[test]
fn fifty_devices_with_two_hundred_sessions() {
    if !have("fifty_devices_with_two_hundred_sessions", "tmux") {
        return;
    }
    let server = server();
    let begun = Instant::now();
    let devices: Vec<(String, Device)> = (0..DEVICES)
        .map(|_| {
            let made = record(&server, "create_client", json!({}));
            let line = made["macos_linux_command"].as_str().expect("a command");
            let token = made["client_token"].as_str().expect("a token");
            (token.to_owned(), Device::paste(line))
        })
        .collect();
    for (token, _) in &devices {
        online(&server, token);
    }
    println!("{DEVICES} devices are online after {:?}", begun.elapsed());
    let start = |token: &str, command: &str| {
        let arguments = json!({"client_token": token, "command": command});
        record(&server, "session_start", arguments);
    };
    let (flooding, _) = &devices[0];
    start(flooding, "yes 'a flood that never ends, as fast as it may'");
    let prints = format!("head -c {PRINTED} /dev/zero | tr '\\0' x; cat");
    for (token, _) in &devices {
        for _ in 0..SESSIONS {
            start(token, &prints);
        }
    }
    let deadline = Instant::now() + DEADLINE * 2;
    let mut most = server.megabytes();
    for (token, _) in &devices {
        loop {
            most = most.max(server.megabytes());
            let listed = record(&server, "session_list", json!({"client_token": token}));
            let sessions = listed["sessions"].as_array().expect("a list");
            let done = sessions.iter().all(|session| {
                let end = session["output_end_cursor"].as_u64().expect("a number");
                end >= PRINTED as u64
            });
            if done {
                break;
            }
            assert!(Instant::now() < deadline, "{listed}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    println!(
        "all is printed after {:?}, at most {most} MB",
        begun.elapsed()
    );
    assert!(most < MEGABYTES, "{most} MB");
    // Meanwhile the others are served, and so is the one that floods.
    for (token, _) in [&devices[0], &devices[1], &devices[DEVICES - 1]] {
        let asked = Instant::now();
        let run = json!({"client_token": token, "command": "echo here"});
        assert_eq!(record(&server, "execute_command", run)["stdout"], "here\n");
        println!("a command takes {:?}", asked.elapsed());
    }
    let listed = record(&server, "session_list", json!({"client_token": flooding}));
    let flood = &listed["sessions"][0];
    let range = ["output_start_cursor", "output_end_cursor"]
        .map(|name| flood[name].as_u64().expect("a number"));
    assert!(range[1] - range[0] <= 1_200_000, "{flood}");
    assert_eq!(flood["status"], "running");
}
