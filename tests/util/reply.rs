//! Tools as a test calls them: the reply's text and facts, and a session to run commands in.

use serde_json::{Value, json};

use super::client::Client;

/// A tool's answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub text: String,
    pub facts: Value,
    pub is_error: bool,
}

impl Reply {
    /// The first line.
    pub fn header(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// What stands between the header and the notes.
    pub fn body(&self) -> String {
        let note =
            |line: &&str| line.starts_with('[') && line.ends_with(']') && !line.starts_with("[...");
        self.text
            .lines()
            .skip(1)
            .filter(|line| !note(line))
            .collect::<Vec<_>>()
            .join("\n")
    }

    pub fn status(&self) -> &str {
        self.facts["status"].as_str().unwrap_or_default()
    }
}

impl Client {
    /// A client with the handshake done and the session `t1` open in it.
    pub fn in_session() -> Client {
        let mut client = Client::legacy("2025-11-25");
        client.open(json!({"name": "t1"}));
        client
    }

    /// A client with more environment and the handshake done.
    pub fn legacy_with(environment: &[(&str, &str)]) -> Client {
        let mut client = Client::start_with(environment);
        client.shake_hands("2025-11-25");
        client
    }

    /// Calls a tool, which may answer with an error.
    pub fn tool(&mut self, tool: &str, arguments: Value) -> Reply {
        let result = self.call(tool, arguments);
        Reply {
            text: result["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            facts: result["_meta"]["paneglass/facts"].clone(),
            is_error: result["isError"].as_bool().unwrap_or_default(),
        }
    }

    /// Opens a session, which must work.
    pub fn open(&mut self, arguments: Value) -> Reply {
        let reply = self.tool("session_create", arguments);
        assert!(!reply.is_error, "{}", reply.text);
        reply
    }

    /// Runs a line in the session `t1`.
    pub fn run(&mut self, input: &str) -> Reply {
        self.run_with(input, json!({}))
    }

    /// The same with more arguments.
    pub fn run_with(&mut self, input: &str, more: Value) -> Reply {
        let mut arguments = json!({"session": "t1", "input": input, "timeout_s": 60});
        for (name, value) in more.as_object().into_iter().flatten() {
            arguments[name] = value.clone();
        }
        self.tool("run", arguments)
    }
}
