//! Sessions on a device: read by cursor, typed into, interrupted, ended, listed, and how many there may be.

use serde_json::{Value, json};

use super::{joined, record, refusal, server};
use crate::util::server::Server;
use crate::util::skip::have;

/// A session, to be asked by its token and id.
struct Session<'a> {
    server: &'a Server,
    token: &'a str,
    id: String,
    cursor: u64,
    seen: String,
}

impl<'a> Session<'a> {
    fn start(server: &'a Server, token: &'a str, command: &str) -> Session<'a> {
        let arguments = json!({"client_token": token, "command": command});
        let started = record(server, "session_start", arguments);
        assert_eq!(started["cursor"], 0);
        let id = started["session_id"].as_str().expect("an id").to_owned();
        Session {
            server,
            token,
            id,
            cursor: 0,
            seen: String::new(),
        }
    }

    /// Reads a part from the cursor on.
    fn read(&mut self, most: u64) -> Value {
        let part = record(
            self.server,
            "session_read",
            json!({"client_token": self.token, "session_id": self.id, "cursor": self.cursor,
                "wait_ms": 20_000, "max_bytes": most}),
        );
        let output = part["output"].as_str().expect("a text");
        let next = part["next_cursor"].as_u64().expect("a number");
        assert_eq!(part["truncated"], false, "{part}");
        assert_eq!(next, self.cursor + output.len() as u64);
        assert!(output.len() as u64 <= most);
        self.cursor = next;
        self.seen.push_str(output);
        part
    }

    fn until(&mut self, text: &str) {
        while !self.seen.contains(text) {
            let part = self.read(65_536);
            assert_eq!(part["done"], false, "{}", self.seen);
        }
    }

    /// Reads to the end; the last part.
    fn end(&mut self) -> Value {
        loop {
            let part = self.read(65_536);
            if part["done"] == true {
                return part;
            }
        }
    }

    fn arguments(&self, action: &str) -> Value {
        json!({"client_token": self.token, "session_id": self.id, "action": action})
    }

    fn act(&self, action: &str) -> Value {
        record(self.server, "session_control", self.arguments(action))
    }

    fn input(&self, text: &str) {
        let mut arguments = self.arguments("input");
        arguments["input"] = text.into();
        let done = record(self.server, "session_control", arguments);
        assert_eq!(done["accepted"], true);
    }
}

#[test]
fn ten_megabytes_of_utf8_by_cursor() {
    if !have("ten_megabytes_of_utf8_by_cursor", "tmux") {
        return;
    }
    let server = server();
    let (token, _, device) = joined(&server);
    // Half a megabyte at a time, as the reader asks for it: no more is kept than one.
    let text = "a\u{e9}\u{20ac}\u{1f600}\u{5b57}z\n".repeat(32 << 10);
    std::fs::write(device.dir.path().join("text"), &text).expect("our own");
    let command = "stty -echo -opost; echo ready; while read -r _; do cat text; done";
    let mut session = Session::start(&server, &token, command);
    session.until("ready\n");
    session.seen.clear();
    let sizes = [4, 5, 7, 65_536, 65_535, 16_384];
    let mut all = 0;
    while all < 10 << 20 {
        session.input("\n");
        let mut reads = sizes.iter().cycle();
        // What the cursor has passed is not there twice.
        while session.seen.len() < text.len() {
            // Small reads at the start of each piece, large ones for the rest.
            let most = match session.seen.len() {
                0..100 => *reads.next().expect("a cycle"),
                _ => 65_536 - *reads.next().expect("a cycle") % 9,
            };
            session.read(most);
        }
        assert!(session.seen == text, "after {all} bytes");
        all += text.len();
        session.seen.clear();
    }
    for (cursor, told) in [
        (session.cursor + 1, "beyond"),
        (session.cursor - 3, "inside"),
    ] {
        let wrong = json!({"client_token": token, "session_id": session.id, "cursor": cursor});
        let refused = refusal(&server, "session_read", wrong);
        // The last bytes are "z\n" behind a character of three bytes.
        assert!(refused.contains(told), "{cursor}: {refused}");
    }
    let old = json!({"client_token": token, "session_id": session.id, "cursor": 0});
    let old = record(&server, "session_read", old);
    assert_eq!(
        (&old["truncated"], &old["has_more"]),
        (&json!(true), &json!(true))
    );
    session.act("stop");
}

#[test]
fn keys_interrupts_and_ends() {
    if !have("keys_interrupts_and_ends", "tmux") {
        return;
    }
    let server = server();
    let (token, _, _device) = joined(&server);
    let mut cat = Session::start(&server, &token, "echo ready; cat; exit 3");
    cat.until("ready");
    cat.input("h\u{e9}llo\n");
    cat.until("h\u{e9}llo\r\nh\u{e9}llo\r\n");
    assert_eq!(cat.act("eof")["delivered"], true);
    let end = cat.end();
    assert_eq!(
        (&end["exit_code"], &end["canceled"]),
        (&json!(3), &json!(false))
    );
    // What has ended is told so, and stays readable.
    let late = refusal(&server, "session_control", cat.arguments("interrupt"));
    assert!(late.contains("has ended"), "{late}");
    let stopped = cat.act("stop");
    assert_eq!(
        (
            &stopped["status"],
            &stopped["already_done"],
            &stopped["accepted"],
            &stopped["exit_code"]
        ),
        (&json!("finished"), &json!(true), &json!(false), &json!(3))
    );
    let mut raw = Session::start(
        &server,
        &token,
        "trap 'echo caught; exit 9' INT; stty raw; echo ready; sleep 600 & wait",
    );
    raw.until("ready");
    let refused = refusal(&server, "session_control", raw.arguments("eof"));
    assert!(refused.contains("raw mode"), "{refused}");
    assert_eq!(raw.act("interrupt")["delivered"], true);
    assert_eq!(raw.end()["exit_code"], 9);
    assert!(raw.seen.contains("caught"));
    let mut stubborn = Session::start(
        &server,
        &token,
        "trap '' TERM HUP; echo ready; while :; do sleep 1; done",
    );
    stubborn.until("ready");
    let mut at_once = stubborn.arguments("stop");
    at_once["wait_ms"] = 0.into();
    let stopping = record(&server, "session_control", at_once);
    assert_eq!(
        (
            &stopping["status"],
            &stopping["done"],
            &stopping["accepted"]
        ),
        (&json!("stopping"), &json!(false), &json!(true))
    );
    let mut patient = stubborn.arguments("stop");
    patient["wait_ms"] = 20_000.into();
    let stopped = record(&server, "session_control", patient);
    assert_eq!(
        (
            &stopped["status"],
            &stopped["exit_code"],
            &stopped["canceled"]
        ),
        (&json!("stopped"), &json!(-1), &json!(true))
    );
    for (arguments, told) in [
        (json!({"action": "dance"}), "input, interrupt, eof, stop"),
        (json!({"action": "input"}), "`input`"),
        (json!({"action": "eof", "input": "x"}), "`input`"),
        (json!({"action": "eof", "wait_ms": 1}), "`wait_ms`"),
    ] {
        let mut all = json!({"client_token": token, "session_id": cat.id});
        for (name, value) in arguments.as_object().expect("an object") {
            all[name.as_str()] = value.clone();
        }
        assert!(
            refusal(&server, "session_control", all).contains(told),
            "{told}"
        );
    }
}

#[test]
fn six_are_kept_and_listed() {
    if !have("six_are_kept_and_listed", "tmux") {
        return;
    }
    let server = server();
    let (token, id, mut device) = joined(&server);
    let mut sessions: Vec<Session> = (0..6)
        .map(|at| Session::start(&server, &token, &format!("echo s{at}; cat")))
        .collect();
    for (at, session) in sessions.iter_mut().enumerate() {
        session.until(&format!("s{at}"));
    }
    let seventh = json!({"client_token": token, "command": "true"});
    let refused = refusal(&server, "session_start", seventh);
    assert!(refused.contains("6 sessions"), "{refused}");
    // The one that ended first goes.
    for at in [3, 1] {
        sessions[at].act("eof");
        assert_eq!(sessions[at].end()["exit_code"], 0);
    }
    let new = Session::start(&server, &token, "cat");
    let listed = record(&server, "session_list", json!({"client_token": token}));
    let ids: Vec<&str> = listed["sessions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["session_id"].as_str().expect("an id"))
        .collect();
    let kept = [0, 1, 2, 4, 5].map(|at| sessions[at].id.as_str());
    assert_eq!(ids, [&kept[..], &[new.id.as_str()]].concat());
    let first = &listed["sessions"][0];
    assert_eq!(
        (&first["client_id"], &first["status"], &first["online"]),
        (&json!(id), &json!("running"), &json!(true))
    );
    assert_eq!(first["output_end_cursor"], sessions[0].cursor);
    assert_eq!(listed["sessions"][1]["status"], "ended");
    let gone = json!({"client_token": token, "session_id": sessions[3].id});
    assert!(refusal(&server, "session_read", gone).contains("no session"));
    // The records stay when the device goes, and tell no more than is known.
    device.kill();
    let end = sessions[0].end();
    assert_eq!(
        (&end["exit_code"], &end["canceled"]),
        (&json!(-1), &json!(false))
    );
    assert!(end["error"].as_str().expect("why").contains("not known"));
    let listed = record(&server, "session_list", json!({"client_token": token}));
    assert_eq!(listed["sessions"][0]["online"], false);
    assert_eq!(listed["sessions"][0]["status"], "ended");
    // Without the token it lists the terminals.
    let text = super::tool(&server, "session_list", json!({}));
    assert_eq!(
        text["content"][0]["text"]
            .as_str()
            .expect("a text")
            .lines()
            .next(),
        Some("[0 sessions, 0 open]")
    );
}
