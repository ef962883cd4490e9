//! A running server, asked by a command of the user's: over its socket, as any client would.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::shared;
use crate::config::Config;
use crate::mcp::ToolResult;
use crate::mcp::dispatch::HELLO;

/// What commands speak: the newest revision with a handshake, which any server of ours knows.
const VERSION: &str = "2025-11-25";

/// The longest answer that is read: over what a server sends.
const ANSWER_BYTES: u64 = 64 << 20;

/// A connection to a server.
pub struct Remote {
    stream: BufReader<UnixStream>,
    path: PathBuf,
    last_id: u64,
}

/// The socket of the server that this configuration means, if one runs: the one that holds its state directory, or,
/// where the user has named no state directory, the one at the usual place.
pub fn socket(config: &Config) -> Option<PathBuf> {
    let usual = || Some(config.socket_path.clone()).filter(|_| !config.home_is_named);
    shared::running(config).or_else(usual)
}

impl Remote {
    /// Connects to the server that this configuration means. None when none runs.
    pub fn find(config: &Config, agent: &str) -> Option<Remote> {
        let path = socket(config)?;
        let stream = UnixStream::connect(&path).ok()?;
        let mut remote = Remote {
            stream: BufReader::new(stream),
            path,
            last_id: 0,
        };
        let client = json!({ "name": agent, "version": env!("CARGO_PKG_VERSION") });
        let initialize =
            json!({ "protocolVersion": VERSION, "capabilities": {}, "clientInfo": client });
        remote
            .request(HELLO, json!({ "actor": agent, "folder": super::folder() }))
            .ok()?;
        remote.request("initialize", initialize).ok()?;
        Some(remote)
    }

    /// The names of its tools, with the schemas of their arguments.
    pub fn tools(&mut self) -> Result<Vec<(String, Value)>, String> {
        let listed = self.request("tools/list", json!({}))?;
        let tools = listed["tools"].as_array().into_iter().flatten();
        Ok(tools
            .filter_map(|tool| Some((tool["name"].as_str()?.into(), tool["inputSchema"].clone())))
            .collect())
    }

    /// Calls one tool.
    pub fn call(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolResult, String> {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.request("tools/call", params)?;
        let text = |name: &str| result["content"][0][name].as_str().map(str::to_owned);
        Ok(ToolResult {
            text: text("text").unwrap_or_default(),
            is_error: result["isError"].as_bool().unwrap_or_default(),
            facts: result["_meta"].get("paneglass/facts").cloned(),
            structured: result.get("structuredContent").cloned(),
        })
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let fail =
            |error: io::Error| format!("the server at {} is gone: {error}", self.path.display());
        writeln!(self.stream.get_mut(), "{request}").map_err(fail)?;
        loop {
            let mut line = String::new();
            let read = (&mut self.stream).take(ANSWER_BYTES).read_line(&mut line);
            if read.map_err(fail)? == 0 {
                return Err(fail(io::ErrorKind::UnexpectedEof.into()));
            }
            let mut answer: Value = serde_json::from_str(&line).map_err(|error| {
                format!(
                    "the server at {} answers what is no JSON: {error}",
                    self.path.display()
                )
            })?;
            if answer["id"] == id {
                return match answer["error"]["message"].as_str() {
                    Some(error) => Err(error.to_owned()),
                    None => Ok(answer["result"].take()),
                };
            }
        }
    }
}

/// `GET PATH` at the server that this configuration means. None when none runs.
pub fn get(config: &Config, path: &str) -> Option<Result<Value, String>> {
    let socket = socket(config)?;
    let stream = UnixStream::connect(&socket).ok()?;
    Some(get_by(stream, &socket, path))
}

fn get_by(mut stream: UnixStream, socket: &Path, path: &str) -> Result<Value, String> {
    let fail = |error: io::Error| {
        format!(
            "the server at {} does not answer: {error}",
            socket.display()
        )
    };
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    .map_err(fail)?;
    let mut answer = String::new();
    stream
        .take(ANSWER_BYTES)
        .read_to_string(&mut answer)
        .map_err(fail)?;
    let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let value: Value = serde_json::from_str(body).map_err(|error| fail(error.into()))?;
    match value["error"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => Ok(value),
    }
}
