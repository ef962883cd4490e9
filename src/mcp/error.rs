//! What can go wrong: the transport's own errors, and the errors that are answered to a client.
//! Must not know which message was at fault.

use std::{fmt, io};

use serde_json::{Value, json};

/// A connection that ended other than by its end of input, by the server's stop or by the client leaving.
#[derive(Debug)]
pub enum Error {
    /// The input could not be read.
    Read(io::Error),
    /// The output could not be written, for another reason than a client that left.
    Write(io::Error),
    /// A thread of the connection could not be started.
    Thread(&'static str, io::Error),
    /// A thread of the connection panicked.
    Panic(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "cannot read from the client: {error}"),
            Self::Write(error) => write!(f, "cannot write to the client: {error}"),
            Self::Thread(name, error) => write!(f, "cannot start thread {name}: {error}"),
            Self::Panic(name) => write!(f, "thread {name} panicked"),
        }
    }
}

impl std::error::Error for Error {}

/// JSON-RPC 2.0, section 5.1: the text is not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// JSON-RPC 2.0, section 5.1: JSON, but not a message.
pub const INVALID_REQUEST: i64 = -32600;
/// JSON-RPC 2.0, section 5.1.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC 2.0, section 5.1.
pub const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC 2.0, section 5.1.
pub const INTERNAL_ERROR: i64 = -32603;
/// MCP 2026-07-28: HTTP headers and body say different things.
pub const HEADER_MISMATCH: i64 = -32020;
/// MCP 2026-07-28: the envelope names a revision that is not served.
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// Text from a client is quoted in an error up to this many characters, enough to recognise it.
const QUOTED_CHARS: usize = 64;

/// A JSON-RPC error object.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    pub code: i64,
    pub message: String,
    pub data: Option<Box<Value>>,
}

impl RpcError {
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    pub fn parse(message: impl fmt::Display) -> Self {
        Self::new(PARSE_ERROR, format!("parse error: {message}"))
    }

    pub fn invalid_request(message: impl fmt::Display) -> Self {
        Self::new(INVALID_REQUEST, format!("invalid request: {message}"))
    }

    pub fn invalid_params(message: impl fmt::Display) -> Self {
        Self::new(INVALID_PARAMS, format!("invalid params: {message}"))
    }

    pub fn method_not_found(method: &str) -> Self {
        Self::new(
            METHOD_NOT_FOUND,
            format!("method not found: {}", quoted(method)),
        )
    }

    pub fn header_mismatch(message: impl fmt::Display) -> Self {
        Self::new(HEADER_MISMATCH, format!("header mismatch: {message}"))
    }

    pub fn unsupported_version(requested: &str, supported: &[&str]) -> Self {
        let requested = quoted(requested);
        Self {
            code: UNSUPPORTED_VERSION,
            message: format!("unsupported protocol version: {requested}"),
            data: Some(Box::new(
                json!({ "supported": supported, "requested": requested }),
            )),
        }
    }

    /// The error object as JSON.
    pub fn to_value(&self) -> Value {
        let mut object = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            object["data"] = Value::clone(data);
        }
        object
    }
}

/// A client's text, short enough to stand in an error.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
