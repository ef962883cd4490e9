//! One `tools/call` from its place among the calls in progress to its answer. Must not know which thread runs it,
//! nor what the tool does.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::era::SERVER_KEY;
use super::message::Response;
use super::pending::{Notify, Progress, Ticket};
use super::service::{Call, Client, Service, ToolResult};

/// A checked `tools/call`, entered among the calls in progress: to be run or refused.
#[derive(Debug)]
pub struct Prepared {
    pub ticket: Arc<Ticket>,
    pub name: String,
    pub arguments: Map<String, Value>,
    pub client: Client,
    /// JSON text.
    pub progress_token: Option<String>,
    /// `serverInfo` for the result of a modern call.
    pub identity: Option<Value>,
}

impl Prepared {
    /// Carries the call out on this thread, for as long as it takes. None when the client cancelled it. A panic in
    /// the service becomes a result that says so.
    pub fn run(self, service: &dyn Service, notify: Notify) -> Option<Response> {
        let Self {
            ticket,
            name,
            arguments,
            client,
            progress_token,
            identity,
        } = self;
        let progress =
            progress_token.map(|token| Progress::new(Arc::clone(&ticket), token, notify));
        let call = Call {
            name: name.clone(),
            arguments,
            client,
            cancel: ticket.cancelled(),
            progress: progress.clone(),
        };
        let result =
            catch_unwind(AssertUnwindSafe(|| service.call(call))).unwrap_or_else(|panic| {
                ToolResult::error(format!(
                    "{name} panicked inside the server: {}",
                    reason(&*panic)
                ))
            });
        if let Some(progress) = progress {
            progress.settle();
        }
        answer(&ticket, identity, result)
    }

    /// Answers the call without carrying it out.
    pub fn refuse(self, reason: impl fmt::Display) -> Option<Response> {
        answer(
            &self.ticket,
            self.identity,
            ToolResult::error(format!("{}: {reason}", self.name)),
        )
    }
}

fn answer(ticket: &Ticket, identity: Option<Value>, result: ToolResult) -> Option<Response> {
    let mut body = rendered(result);
    if let Some(identity) = identity {
        body = complete(body, identity);
    }
    ticket.finish().then(|| Response {
        id: Some(ticket.id().clone()),
        body: Ok(body),
    })
}

/// What a panic said.
fn reason(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given")
}

/// A result as `tools/call` returns it.
fn rendered(result: ToolResult) -> Value {
    let ToolResult {
        text,
        is_error,
        facts,
        structured,
    } = result;
    let mut object = json!({ "content": [{ "type": "text", "text": text }], "isError": is_error });
    if let Some(structured) = structured {
        object["structuredContent"] = structured;
    }
    if let Some(facts) = facts {
        object["_meta"] = json!({ "paneglass/facts": facts });
    }
    object
}

/// Makes a result a modern one.
pub fn complete(mut result: Value, identity: Value) -> Value {
    result["resultType"] = "complete".into();
    result["_meta"][SERVER_KEY] = identity;
    result
}

#[cfg(test)]
mod tests;
