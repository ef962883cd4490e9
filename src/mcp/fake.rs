//! A service for the tests of this layer, and the small generator of their property tests.

use std::convert::Infallible;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, select, unbounded};
use serde_json::{Value, json};

use super::dispatch::{Connection, Outcome, Server, Step};
use super::era::Headers;
use super::message::encode_batch;
use super::schema;
use super::service::{Annotations, Call, ServerInfo, Service, Tool, ToolResult};

/// Tools that do what their names say.
pub struct Fake {
    tools: Vec<Tool>,
    /// Gets the name of each call that holds, when it begins to.
    holding: Sender<String>,
    /// Ends the calls that hold.
    release: Receiver<Infallible>,
}

/// What a test keeps of its fake service.
pub struct Handles {
    pub holding: Receiver<String>,
    pub release: Sender<Infallible>,
}

pub fn service() -> (Arc<Fake>, Handles) {
    let (started, holding) = unbounded();
    let (release, released) = unbounded();
    let annotations = Annotations {
        read_only: true,
        ..Annotations::default()
    };
    let tool = |name| Tool {
        name,
        title: "A title",
        description: "A description.",
        input_schema: schema::object([schema::integer("n", "A number.")]),
        output_schema: None,
        annotations,
        always_load: name == "echo",
    };
    let names = [
        "echo", "whoami", "hold", "stubborn", "panics", "ticks", "large",
    ];
    let fake = Fake {
        tools: names.map(tool).into(),
        holding: started,
        release: released,
    };
    (Arc::new(fake), Handles { holding, release })
}

impl Service for Fake {
    fn info(&self) -> ServerInfo {
        ServerInfo {
            name: "fake".into(),
            version: "1.2.3".into(),
            title: "Fake".into(),
            instructions: "Be brief.".into(),
        }
    }

    fn tools(&self, _: Option<&str>) -> &[Tool] {
        &self.tools
    }

    fn call(&self, call: Call) -> ToolResult {
        let n = call.arguments.get("n").and_then(|n| n.as_u64());
        match call.name.as_str() {
            "echo" => ToolResult {
                text: format!("[echo] {}", json!(call.arguments)),
                facts: Some(json!({ "status": "done" })),
                structured: n.map(|n| json!({ "n": n })),
                ..ToolResult::default()
            },
            "whoami" => ToolResult::text(format!("[{:?}]", call.client)),
            "hold" => {
                self.holding.send(call.name).expect("the test listens");
                select! {
                    recv(call.cancel) -> _ => ToolResult::text("[cancelled]"),
                    recv(self.release) -> _ => ToolResult::text("[released]"),
                }
            }
            "stubborn" => {
                self.holding.send(call.name).expect("the test listens");
                assert!(self.release.recv().is_err());
                ToolResult::text("[released]")
            }
            "panics" => panic!("on purpose, {}", n.unwrap_or(0)),
            "ticks" => {
                for tick in 0..n.unwrap_or(3) {
                    if let Some(progress) = &call.progress {
                        progress.send(&format!("line {tick}"));
                    }
                }
                ToolResult::text("[ticked]")
            }
            "large" => ToolResult::text("x".repeat(n.unwrap_or(0) as usize)),
            other => unreachable!("{other} is not a tool"),
        }
    }

    fn agent(&self, connection: u64) -> Option<String> {
        Some(format!("agent-{connection}"))
    }

    fn left(&self, _connection: u64) {}
}

/// A server with one connection, whose calls run where they are asked.
pub struct Desk {
    pub service: Arc<dyn Service>,
    pub server: Server,
    pub connection: Connection,
    _handles: Handles,
}

impl Desk {
    pub fn new() -> Self {
        let (service, handles) = service();
        let server = Server::new(Arc::clone(&service) as Arc<dyn Service>);
        let connection = server.connect(None);
        Self {
            service,
            server,
            connection,
            _handles: handles,
        }
    }

    pub fn speaking(version: &str) -> Self {
        let desk = Self::new();
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tester", "version": "9"}}});
        assert_eq!(
            desk.value(&hello.to_string())["result"]["protocolVersion"],
            version
        );
        desk
    }

    /// The line that answers `text`; empty when there is none.
    pub fn ask(&self, text: &[u8], headers: Option<&Headers>) -> String {
        let run = |step| match step {
            Step::Answer(response) => Some(response),
            Step::Call(call) => call.run(&*self.service, Arc::new(|_| {})),
        };
        match self.server.receive(&self.connection, text, headers) {
            Outcome::Nothing => String::new(),
            Outcome::One(step) => run(step).map_or_else(String::new, |response| response.encode()),
            Outcome::Batch(steps) => {
                encode_batch(&steps.into_iter().filter_map(run).collect::<Vec<_>>())
            }
        }
    }

    pub fn value(&self, text: &str) -> Value {
        serde_json::from_str(&self.ask(text.as_bytes(), None)).expect("an answer is JSON")
    }

    /// The error code and the id that answer `text`.
    pub fn error(&self, text: &[u8], headers: Option<&Headers>) -> (i64, Value) {
        let answer = self.ask(text, headers);
        let answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
        assert_eq!(answer["jsonrpc"], "2.0");
        assert!(answer["error"]["message"].is_string(), "{answer}");
        (
            answer["error"]["code"].as_i64().expect("a code"),
            answer["id"].clone(),
        )
    }
}

pub fn request(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

pub fn enveloped(method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "2"},
    });
    request(method, &params)
}

/// A reproducible source of choices (splitmix64).
pub struct Choices(pub u64);

impl Choices {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    /// A line that is a damaged message, or none at all. Has no line end.
    pub fn junk(&mut self) -> Vec<u8> {
        const WHOLE: [&str; 6] = [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"a\u00e9","method":"tools/list","params":{"cursor":null}}"#,
            r#"[{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"},{"result":1}]"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"n":[1,{"a":-1.5e3}]},"_meta":{"progressToken":0}}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#,
        ];
        const BITS: [&[u8]; 20] = [
            b"{",
            b"}",
            b"[",
            b"]",
            b"\"",
            b":",
            b",",
            b"\\",
            b"\\ud800",
            b"\xff",
            b"\xed\xa0\x80",
            b"null",
            b"1e999",
            b"\0",
            b"\r",
            b"\"id\":",
            b"-0",
            b"00",
            b"\xe2\x80\xa8",
            b"true",
        ];
        let mut line = if self.below(4) == 0 {
            (0..self.below(200))
                .map(|_| self.below(256) as u8)
                .collect()
        } else {
            WHOLE[self.below(WHOLE.len())].as_bytes().to_vec()
        };
        for _ in 0..self.below(4) {
            let at = self.below(line.len() + 1);
            match self.below(4) {
                0 => line.truncate(at),
                1 => drop(line.drain(..at)),
                2 if at < line.len() => line[at] = self.below(256) as u8,
                _ => drop(line.splice(at..at, BITS[self.below(BITS.len())].iter().copied())),
            }
        }
        line.retain(|&byte| byte != b'\n');
        line
    }
}
