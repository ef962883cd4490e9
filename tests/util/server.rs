//! `paneglass serve` in a directory of its own, and HTTP to it byte by byte.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, DEADLINE};
use super::dir::{Dir, Running};

/// A server; dropped, it is ended, and its directory goes.
pub struct Server {
    child: Running,
    /// Goes after the server.
    pub dir: Dir,
    args: Vec<String>,
    limit: Option<u32>,
}

/// What a server answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// Names in lower case.
    pub fields: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        fields
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The result of a call, answered at once or as a stream.
    pub fn result(&self) -> Value {
        let answer = match self.body.starts_with('{') {
            true => self.json(),
            false => self.events().pop().unwrap_or_default(),
        };
        assert!(answer["result"].is_object(), "{self:?}");
        answer["result"].clone()
    }

    /// The messages of a stream of events.
    pub fn events(&self) -> Vec<Value> {
        let data = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        data.map(|text| serde_json::from_str(text).expect("JSON in an event"))
            .collect()
    }
}

/// Either kind of connection.
pub trait Wire: Read + Write + Send {}
impl<T: Read + Write + Send> Wire for T {}

impl Server {
    /// On the Unix socket alone.
    pub fn start() -> Server {
        Server::with(&[], None)
    }

    /// On TCP too, at a free port.
    pub fn tcp() -> Server {
        Server::with(&["--tcp", "0"], None)
    }

    /// With these arguments, and at most so many descriptors.
    pub fn with(args: &[&str], limit: Option<u32>) -> Server {
        Server::in_dir(Dir::new(), args, limit, &[])
    }

    /// The same in this directory, with these environment variables.
    pub fn in_dir(
        dir: Dir,
        args: &[&str],
        limit: Option<u32>,
        environment: &[(&str, &str)],
    ) -> Server {
        let args: Vec<String> = ["serve"]
            .iter()
            .chain(args)
            .map(|arg| arg.to_string())
            .collect();
        let child = launch(&dir, &args, limit, environment);
        let mut server = Server {
            child,
            dir,
            args,
            limit,
        };
        server.wait();
        server
    }

    fn wait(&mut self) {
        let deadline = Instant::now() + DEADLINE;
        while !self.stderr().contains("serving ") {
            let ended = self.child.0.try_wait().expect("the server is our child");
            assert!(ended.is_none(), "{ended:?}: {}", self.stderr());
            assert!(Instant::now() < deadline, "the server does not start");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Ends the server with SIGKILL. Its sessions go on.
    pub fn kill(&mut self) {
        self.child.0.kill().expect("the server is our child");
        self.child.0.wait().expect("the server is our child");
    }

    /// Asks the server to stop, as systemd does; returns how long it took.
    pub fn stop(&mut self) -> Duration {
        let begun = Instant::now();
        let pid = self.pid().to_string();
        let status = Command::new("kill").arg(&pid).status().expect("kill runs");
        assert!(status.success());
        let deadline = begun + DEADLINE;
        loop {
            if let Some(status) = self.child.0.try_wait().expect("the server is our child") {
                assert_eq!(status.code(), Some(0), "{}", self.stderr());
                return begun.elapsed();
            }
            assert!(Instant::now() < deadline, "the server does not stop");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Starts another in its place.
    pub fn start_again(&mut self) {
        self.child = launch(&self.dir, &self.args, self.limit, &[]);
        self.wait();
    }

    pub fn pid(&self) -> u32 {
        self.child.0.id()
    }

    pub fn stderr(&self) -> String {
        fs::read_to_string(self.dir.path().join("serve.err")).unwrap_or_default()
    }

    pub fn socket(&self) -> PathBuf {
        self.dir.path().join("run/paneglass/server.sock")
    }

    /// Megabytes that the server has in memory.
    pub fn megabytes(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("it runs");
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
        kilobytes.expect("a number") / 1024
    }

    /// A connection to the Unix socket.
    pub fn unix(&self) -> UnixStream {
        let stream = UnixStream::connect(self.socket()).expect("the server listens");
        stream.set_read_timeout(Some(DEADLINE)).expect("a time");
        stream
    }

    /// The port of 127.0.0.1.
    pub fn port(&self) -> u16 {
        let err = self.stderr();
        let port = err.split("http://127.0.0.1:").nth(1);
        let port = port.and_then(|rest| rest.split('/').next()?.parse().ok());
        port.unwrap_or_else(|| panic!("no port in {err}"))
    }

    /// A connection to it.
    pub fn tcp_stream(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port())).expect("the server listens");
        stream.set_read_timeout(Some(DEADLINE)).expect("a time");
        stream
    }

    pub fn token(&self) -> String {
        self.dir.run(&["token"]).good().trim().to_owned()
    }

    /// Sends bytes on a new connection to the socket and reads one answer.
    pub fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.unix();
        stream.write_all(bytes).expect("the server reads");
        answer(&mut stream)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.raw(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes())
    }

    /// Sends a message to /mcp with these headers beside the usual ones.
    pub fn post(&self, fields: &[(&str, &str)], message: &Value) -> Answer {
        self.raw(&post(fields, &message.to_string()))
    }

    /// A modern request with all headers it needs.
    pub fn modern(&self, method: &str, params: Value) -> Answer {
        let (fields, message) = modern(method, params);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(a, b)| (*a, b.as_str())).collect();
        self.post(&fields, &message)
    }

    /// Begins a legacy session: its id.
    pub fn session(&self, name: &str) -> String {
        let begun = self.post(&[], &initialize(name));
        assert_eq!(begun.status, 200, "{begun:?}");
        begun.field("mcp-session-id").expect("an id").to_owned()
    }

    /// The next client is served, at either door.
    pub fn answers(&self) {
        let health = self.get("/health");
        assert_eq!(health.json()["service"], "paneglass", "{health:?}");
        if self.args.iter().any(|arg| arg == "--tcp") {
            let mut stream = self.tcp_stream();
            stream
                .write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                .expect("the server reads");
            assert_eq!(answer(&mut stream).status, 200);
        }
    }

    /// An agent at a bridge, hands shaken.
    pub fn bridge(&self, args: &[&str]) -> Client {
        let args: Vec<&str> = ["connect"].iter().chain(args).copied().collect();
        let mut client = Client::joining(self.dir.path(), &args);
        client.shake_hands("2025-11-25");
        client
    }

    /// The lines of calls.log.
    pub fn calls(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.dir.path().join("state/calls.log")).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON lines"))
            .collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("--- the server's stderr\n{}", self.stderr());
            for call in self.calls().iter().rev().take(20) {
                eprintln!("{call}");
            }
        }
    }
}

fn launch(dir: &Dir, args: &[String], limit: Option<u32>, environment: &[(&str, &str)]) -> Running {
    let mut command = match limit {
        None => dir.command(super::binary()),
        Some(limit) => {
            let mut command = dir.command("sh");
            command
                .arg("-c")
                .arg(format!("ulimit -n {limit}; exec \"$0\" \"$@\""));
            command.arg(super::binary());
            command
        }
    };
    let err = File::create(dir.path().join("serve.err")).expect("a file of the test's own");
    command.args(args).envs(environment.iter().copied());
    command.stdout(Stdio::null()).stderr(err);
    Running(command.spawn().expect("the binary starts"))
}

pub fn initialize(name: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}})
}

pub fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

pub fn call(tool: &str, arguments: Value) -> Value {
    request("tools/call", json!({"name": tool, "arguments": arguments}))
}

/// A modern request, and the headers that go with it.
pub fn modern(method: &str, mut params: Value) -> (Vec<(&'static str, String)>, Value) {
    let mut fields = vec![
        ("MCP-Protocol-Version", "2026-07-28".to_owned()),
        ("Mcp-Method", method.to_owned()),
    ];
    if let Some(name) = params["name"].as_str() {
        fields.push(("Mcp-Name", name.to_owned()));
    }
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params["_meta"]["io.modelcontextprotocol/clientInfo"] =
        json!({"name": "modern", "version": "1"});
    (fields, request(method, params))
}

/// The bytes of a POST to /mcp; headers of the same name take the usual ones' place.
pub fn post(fields: &[(&str, &str)], body: &str) -> Vec<u8> {
    http("POST", "/mcp", fields, body)
}

/// The same for any method and path.
pub fn http(method: &str, path: &str, fields: &[(&str, &str)], body: &str) -> Vec<u8> {
    let usual = [
        ("Host", "localhost"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let given = |name: &str| {
        fields
            .iter()
            .any(|(other, _)| other.eq_ignore_ascii_case(name))
    };
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    for (name, value) in usual.iter().filter(|(name, _)| !given(name)).chain(fields) {
        if !value.is_empty() {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    text.into_bytes()
}

/// Reads one answer to its end.
pub fn answer(stream: &mut dyn Wire) -> Answer {
    let mut reader = BufReader::new(stream);
    let line = |reader: &mut BufReader<&mut dyn Wire>| {
        let mut line = String::new();
        reader.read_line(&mut line).expect("an answer comes");
        line.trim_end().to_owned()
    };
    let first = line(&mut reader);
    let status = first.split(' ').nth(1).and_then(|text| text.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no status in {first:?}"));
    let mut fields = Vec::new();
    loop {
        let text = line(&mut reader);
        let Some((name, value)) = text.split_once(':') else {
            break;
        };
        fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let field = |name: &str| {
        fields
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| value)
    };
    let mut body = Vec::new();
    if field("transfer-encoding").is_some() {
        loop {
            let size = usize::from_str_radix(&line(&mut reader), 16).expect("a chunk's size");
            let mut chunk = vec![0; size];
            reader.read_exact(&mut chunk).expect("a chunk");
            body.extend(chunk);
            line(&mut reader);
            if size == 0 {
                break;
            }
        }
    } else if let Some(length) = field("content-length") {
        body = vec![0; length.parse().expect("a length")];
        reader.read_exact(&mut body).expect("a body");
    }
    Answer {
        status,
        fields,
        body: String::from_utf8(body).expect("UTF-8"),
    }
}
