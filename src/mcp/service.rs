//! What MCP serves: the tools' types and the trait behind them. Must not know how any tool works.

use std::convert::Infallible;
use std::sync::Arc;

use crossbeam_channel::Receiver;
use serde_json::{Map, Value, json};

use super::pending::Progress;

/// What serves the tools; implemented elsewhere.
pub trait Service: Send + Sync + 'static {
    /// Who the server says it is, in every era.
    fn info(&self) -> ServerInfo;

    /// The tools in the order in which `tools/list` shows them. The order and the tools stay the same for the
    /// life of the service, and on every connection of one scope.
    fn tools(&self, scope: Option<&str>) -> &[Tool];

    /// Carries out one call of a tool from [`Service::tools`]; may block for as long as the call's own timeout.
    /// Bad arguments are a result with `is_error`. A panic is caught and answered by the caller.
    fn call(&self, call: Call) -> ToolResult;

    /// The name that the calls of a connection were made under; none before the first.
    fn agent(&self, connection: u64) -> Option<String>;

    /// A connection has ended: whatever is kept for it can go.
    fn left(&self, connection: u64);
}

/// The server as clients see it.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    pub name: String,
    pub version: String,
    pub title: String,
    /// What a model should know before its first call.
    pub instructions: String,
}

/// One tool as `tools/list` shows it.
#[derive(Debug, Clone)]
pub struct Tool {
    /// `[a-z_]{1,30}`.
    pub name: &'static str,
    pub title: &'static str,
    /// Under 2,048 characters: some clients cut there without a word.
    pub description: &'static str,
    /// Made with [`super::schema`].
    pub input_schema: Value,
    /// Declared only by tools whose results carry [`ToolResult::structured`].
    pub output_schema: Option<Value>,
    pub annotations: Annotations,
    /// Asks clients that load tools on demand to keep this one loaded.
    pub always_load: bool,
}

impl Tool {
    /// As `tools/list` shows it.
    pub fn listed(&self) -> Value {
        let hints = self.annotations;
        let mut object = json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "annotations": {
                // Where clients of 2025-03-26 look for it.
                "title": self.title,
                "readOnlyHint": hints.read_only,
                "destructiveHint": hints.destructive,
                "idempotentHint": hints.idempotent,
                "openWorldHint": hints.open_world,
            },
        });
        if let Some(schema) = &self.output_schema {
            object["outputSchema"] = schema.clone();
        }
        if self.always_load {
            object["_meta"] = json!({ "anthropic/alwaysLoad": true });
        }
        object
    }
}

/// The hints of MCP's ToolAnnotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Annotations {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
}

/// One `tools/call`.
#[derive(Debug)]
pub struct Call {
    /// The name of a tool that [`Service::tools`] lists.
    pub name: String,
    pub arguments: Map<String, Value>,
    pub client: Client,
    /// Disconnects when the client cancels the call or the server stops: select on it while waiting.
    pub cancel: Receiver<Infallible>,
    /// There only when the client asked for progress.
    pub progress: Option<Progress>,
}

/// The connection of requests that belong to none: nothing but the client's own name tells who makes them.
pub const STATELESS: u64 = 0;

/// Who calls, as far as is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Client {
    /// Unique among the connections of this process; [`STATELESS`] where each request stands for itself.
    pub connection: u64,
    /// The name that the client's user gave it. It stays the same over reconnects.
    pub actor: Option<String>,
    /// What it was called on an earlier connection, by its own word: to be called so again, where that is free.
    pub earlier: Option<String>,
    /// The folder that it works in, where a bridge has told it: the server's own is another.
    pub folder: Option<String>,
    /// `clientInfo.name`, as the client gave it.
    pub name: Option<String>,
    /// `clientInfo.version`, as the client gave it.
    pub version: Option<String>,
    /// What its token opens, where that is not all.
    pub scope: Option<Arc<str>>,
}

/// What a call came to.
#[derive(Debug, Clone, Default)]
pub struct ToolResult {
    /// The one text block. It must not parse as JSON, because a client may then show it as structured data.
    pub text: String,
    pub is_error: bool,
    /// Goes to `_meta["paneglass/facts"]`, which hosts keep from the model and scripts read.
    pub facts: Option<Value>,
    /// Goes to `structuredContent`.
    pub structured: Option<Value>,
}

impl ToolResult {
    /// A result that is only text.
    #[cfg(test)]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// A failure that the model can read and act on.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: true,
            ..Self::default()
        }
    }
}
