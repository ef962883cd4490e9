//! The transport, over socket pairs.

use std::io::{BufRead, BufReader};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use super::*;
use crate::mcp::fake::{self, Choices, Handles};
use crate::mcp::workers::CALL_LIMIT;

/// Generous: only a failing test waits so long.
const SOON: Duration = Duration::from_secs(30);

/// A client of a server on threads of its own.
struct Client {
    input: UnixStream,
    output: BufReader<UnixStream>,
    handles: Handles,
    stop: Option<Sender<Infallible>>,
    end: Receiver<Result<End, Error>>,
}

impl Client {
    fn new() -> Self {
        let (service, handles) = fake::service();
        let (input, server_input) = UnixStream::pair().expect("a socket pair");
        let (output, server_output) = UnixStream::pair().expect("a socket pair");
        for stream in [&input, &output] {
            stream.set_read_timeout(Some(SOON)).expect("a timeout");
            stream.set_write_timeout(Some(SOON)).expect("a timeout");
        }
        let (stop, stopped) = bounded(0);
        let end = spawn("server", move || {
            serve_lines(server_input, server_output, service, &stopped)
        })
        .expect("a thread");
        Self {
            input,
            output: BufReader::new(output),
            handles,
            stop: Some(stop),
            end,
        }
    }

    fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.input
            .write_all(bytes.as_ref())
            .expect("the server reads");
    }

    fn line(&mut self, text: &str) {
        self.send(format!("{text}\n"));
    }

    fn call(&mut self, id: usize, tool: &str, rest: &str) {
        self.line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"{rest}}}}}"#
        ));
    }

    fn ping(&mut self, id: usize) {
        self.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        assert_eq!(
            self.next(),
            json!({"jsonrpc": "2.0", "id": id, "result": {}})
        );
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server writes");
        assert!(line.ends_with('\n'), "the output ended: {line:?}");
        serde_json::from_str(&line).expect("a line is JSON")
    }

    /// The text of the next message, which answers call `id`.
    fn text(&mut self, id: usize) -> String {
        let answer = self.next();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"]["content"][0]["text"]
            .as_str()
            .expect("text")
            .to_owned()
    }

    fn holds(&self, calls: usize) {
        for _ in 0..calls {
            self.handles
                .holding
                .recv_timeout(SOON)
                .expect("the call begins");
        }
    }

    fn close(&mut self) {
        self.input.shutdown(Shutdown::Write).expect("open");
    }

    /// Waits for the end, after which there is no more output.
    fn ended(mut self, expected: End) {
        let end = self.end.recv_timeout(SOON).expect("the server ends");
        assert_eq!(end.expect("no error"), expected);
        let mut rest = String::new();
        self.output
            .read_to_string(&mut rest)
            .expect("the output ends");
        assert_eq!(rest, "");
    }
}

#[test]
fn lines_of_every_kind() {
    let mut client = Client::new();
    client.send("\n\r\n  \n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n");
    assert_eq!(client.next()["id"], 1);
    client.send("junk\n{\"id\":2,\n[]\n");
    for (code, id) in [
        (-32700, Value::Null),
        (-32700, json!(2)),
        (-32600, Value::Null),
    ] {
        let answer = client.next();
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &id)
        );
    }
    // In pieces, and the last one without an end.
    for byte in br#"{"jsonrpc":"2.0","id":3,"method":"ping"}"# {
        client.send([*byte]);
    }
    client.close();
    assert_eq!(client.next()["id"], 3);
    client.ended(End::Input);
}

#[test]
fn a_line_over_the_limit_is_skipped_and_answered() {
    let mut client = Client::new();
    let megabyte = "x".repeat(1 << 20);
    client.send(
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"s":""#,
    );
    for _ in 0..17 {
        client.send(&megabyte);
    }
    client.send("\"}},\"id\":\"big\"}\n");
    let answer = client.next();
    assert_eq!(
        (&answer["error"]["code"], &answer["id"]),
        (&json!(-32600), &json!("big"))
    );
    client.ping(1);
    client.call(2, "large", r#","arguments":{"n":9000000}"#);
    assert_eq!(client.next()["error"]["code"], -32603);
    client.close();
    client.ended(End::Input);
}

#[test]
fn calls_wait_while_others_are_answered() {
    let mut client = Client::new();
    client.call(1, "hold", "");
    client.call(2, "hold", "");
    client.holds(2);
    client.ping(3);
    client.call(4, "echo", "");
    assert_eq!(client.text(4), "[echo] {}");
    client.call(5, "panics", "");
    assert_eq!(
        client.text(5),
        "panics panicked inside the server: on purpose, 0"
    );
    client.line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}"#);
    client
        .line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#);
    client.ping(6);
    client.handles.release = bounded(0).0;
    assert_eq!(client.text(2), "[released]");
    client.close();
    client.ended(End::Input);
}

#[test]
fn progress_comes_before_its_answer_and_never_after() {
    let mut client = Client::new();
    client.call(
        1,
        "ticks",
        r#","arguments":{"n":5},"_meta":{"progressToken":0}"#,
    );
    for n in 1..=5 {
        let progress = client.next();
        assert_eq!(progress["method"], "notifications/progress");
        let expected =
            json!({"progressToken": 0, "progress": n, "message": format!("line {}", n - 1)});
        assert_eq!(progress["params"], expected);
    }
    assert_eq!(client.text(1), "[ticked]");
    client.call(2, "ticks", "");
    assert_eq!(client.text(2), "[ticked]");
    client.close();
    client.ended(End::Input);
}

#[test]
fn a_batch_is_answered_when_its_last_call_is() {
    let mut client = Client::new();
    client.line(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#);
    client.next();
    let call = |id: usize, tool: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#
        )
    };
    client.line(&format!(
        "[{},{},{},5]",
        call(1, "hold"),
        call(2, "echo"),
        call(3, "hold")
    ));
    client.holds(2);
    client.ping(4);
    client.line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#);
    // So that the cancellation is known before the other call ends.
    client.ping(5);
    client.handles.release = bounded(0).0;
    let answer = client.next();
    let mut ids: Vec<_> = answer
        .as_array()
        .expect("an array")
        .iter()
        .map(|one| one["id"].to_string())
        .collect();
    ids.sort();
    assert_eq!(ids, ["1", "2", "null"]);
    client.close();
    client.ended(End::Input);
}

#[test]
fn more_calls_than_the_limit_are_told_so() {
    let mut client = Client::new();
    for id in 0..CALL_LIMIT {
        client.call(id, "hold", "");
    }
    client.holds(CALL_LIMIT);
    client.call(CALL_LIMIT, "echo", "");
    let answer = client.next();
    assert_eq!(answer["id"], CALL_LIMIT);
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(
        answer["result"]["content"][0]["text"],
        "echo: busy: 512 calls are in progress, which is the limit; cancel some or wait for them"
    );
    client.ping(1000);
    client.handles.release = bounded(0).0;
    let mut ids: Vec<_> = (0..CALL_LIMIT)
        .map(|_| client.next()["id"].as_u64())
        .collect();
    ids.sort();
    assert_eq!(ids, (0..CALL_LIMIT as u64).map(Some).collect::<Vec<_>>());
    client.close();
    client.ended(End::Input);
}

#[test]
fn the_end_of_input_ends_waits_and_flushes_answers() {
    let mut client = Client::new();
    client.call(1, "hold", "");
    client.call(2, "echo", "");
    client.holds(1);
    client.close();
    assert_eq!(client.text(2), "[echo] {}");
    assert_eq!(client.text(1), "[cancelled]");
    client.ended(End::Input);
}

#[test]
fn stop_ends_waits_though_the_input_is_open() {
    let mut client = Client::new();
    client.call(1, "hold", "");
    client.holds(1);
    client.stop = None;
    assert_eq!(client.text(1), "[cancelled]");
    client.ended(End::Stop);
}

#[test]
fn a_call_that_does_not_end_is_left_behind() {
    let mut client = Client::new();
    client.call(1, "stubborn", "");
    client.holds(1);
    client.ping(2);
    client.close();
    let end = client.end.recv_timeout(SOON).expect("the server ends");
    assert_eq!(end.expect("no error"), End::Input);
}

#[test]
fn a_client_that_leaves_ends_it_quietly() {
    let mut client = Client::new();
    client.ping(1);
    client
        .output
        .get_ref()
        .shutdown(Shutdown::Both)
        .expect("open");
    client.line(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    let end = client.end.recv_timeout(SOON).expect("the server ends");
    assert_eq!(end.expect("no error"), End::ClientGone);
}

#[test]
fn a_client_that_does_not_read_cannot_hold_the_end() {
    let mut client = Client::new();
    // More than the socket and the queue take, so that everything behind them blocks.
    for id in 0..READY_LINES + 16 {
        client.call(id, "large", r#","arguments":{"n":300000}"#);
    }
    client.stop = None;
    let end = client.end.recv_timeout(SOON).expect("the server ends");
    assert_eq!(end.expect("no error"), End::Stop);
}

#[test]
fn junk_bytes_and_then_a_message() {
    let seed = 0x5eed_0002;
    println!("seed {seed}");
    let mut choices = Choices(seed);
    let mut client = Client::new();
    for round in 0..300 {
        let mut junk = choices.junk();
        let id = 1_000_000 + round;
        junk.extend(format!("\n{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n").bytes());
        client.send(&junk);
        let answered = (0..3).any(|_| client.next()["id"] == id);
        assert!(
            answered,
            "round {round}: {}",
            String::from_utf8_lossy(&junk)
        );
    }
    client.close();
}
