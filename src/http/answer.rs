//! An answer that is whole before it is sent. Must not know what it answers.

use std::fmt::Write as _;

use serde_json::json;

/// Why a request is not served: the status and one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub status: u16,
    pub reason: String,
    /// A header that belongs to the status: what is allowed, or how to be let in.
    pub header: Option<(&'static str, String)>,
}

impl Refusal {
    pub fn new(status: u16, reason: impl Into<String>) -> Refusal {
        let header =
            (status == 401).then(|| ("WWW-Authenticate", "Bearer realm=\"paneglass\"".to_string()));
        Refusal {
            status,
            reason: reason.into(),
            header,
        }
    }

    /// The methods that a path knows instead.
    pub fn allow(methods: &str) -> Refusal {
        Refusal {
            header: Some(("Allow", methods.into())),
            ..Refusal::new(405, format!("only {methods} here"))
        }
    }
}

/// A status, headers, and a body that is JSON or nothing.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    /// JSON text; empty for none.
    pub body: String,
}

impl Answer {
    pub fn json(status: u16, body: impl Into<String>) -> Answer {
        Answer {
            status,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    pub fn empty(status: u16) -> Answer {
        Answer::json(status, "")
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Answer {
        self.headers.push((name, value.into()));
        self
    }

    /// The whole message, as the gate sends it when it answers by itself.
    pub fn message(&self, keep_alive: bool) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, phrase(self.status));
        let mut field = |name: &str, value: &str| {
            // Writing to a String cannot fail.
            let _ = write!(head, "{name}: {value}\r\n");
        };
        for (name, value) in &self.headers {
            field(name, value);
        }
        if !self.body.is_empty() {
            field("Content-Type", "application/json");
        }
        field("Content-Length", &self.body.len().to_string());
        field(
            "Connection",
            if keep_alive { "keep-alive" } else { "close" },
        );
        head.push_str("\r\n");
        head.push_str(&self.body);
        head.into_bytes()
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Answer {
        let body = json!({ "error": refusal.reason }).to_string();
        let answer = Answer::json(refusal.status, body);
        match refusal.header {
            Some((name, value)) => answer.with(name, value),
            None => answer,
        }
    }
}

/// The reason phrase, for people who read along.
pub fn phrase(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        417 => "Expectation Failed",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Error",
    }
}
