//! From one message to what is to be done about it, for every transport: answers that are ready, and calls for a
//! worker. Must not know how bytes travel, nor how a tool works.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::call::{Prepared, complete};
use super::era::{self, Era, Headers, Implementation, MODERN};
use super::error::{RpcError, quoted};
use super::message::{self, BATCH_LIMIT, Body, Id, Message, Params, Response};
use super::pending::{Notify, Pending};
use super::service::{Client, STATELESS, ServerInfo, Service, Tool};
use super::workers::{CALL_LIMIT, Workers};

/// How long a client may keep what it learned of the server, in milliseconds. Neither the tools nor the
/// instructions change while a server runs; this is about how soon an upgraded one should be noticed.
const TTL_MS: u64 = 300_000;

/// Who may share a cached answer. Settings of one user decide which tools are listed.
const CACHE_SCOPE: &str = "private";

/// What a bridge asks on a line transport: `actor`, `agent` and `folder` say who its client is and where, as [`Client`] has them
/// (`agent` is its `earlier`); the
/// answer's `agent` is the name that the connection's calls are made under, once there was one.
pub const HELLO: &str = "paneglass/hello";

/// What all connections share: the service and the threads that run its calls.
pub struct Server {
    service: Arc<dyn Service>,
    info: ServerInfo,
    workers: Workers,
    connections: AtomicU64,
}

/// One client's connection, or on HTTP one session or one request.
pub struct Connection {
    id: u64,
    service: Arc<dyn Service>,
    pending: Arc<Pending>,
    handshake: Mutex<Handshake>,
    introduction: Mutex<Introduction>,
    scope: Option<Arc<str>>,
}

/// What is known of a client beside what it says itself.
#[derive(Debug, Clone, Default)]
struct Introduction {
    actor: Option<String>,
    earlier: Option<String>,
    folder: Option<String>,
}

/// What a legacy client said in `initialize`.
#[derive(Debug, Default)]
struct Handshake {
    version: Option<&'static str>,
    client: Implementation,
}

/// What a line comes to.
#[derive(Debug)]
pub enum Outcome {
    /// A notification, or an answer to nothing.
    Nothing,
    One(Step),
    /// The answers go into one array, in any order.
    Batch(Vec<Step>),
}

/// What a request comes to.
#[derive(Debug)]
pub enum Step {
    Answer(Response),
    /// Goes to [`Server::start`].
    Call(Box<Prepared>),
}

impl Server {
    pub fn new(service: Arc<dyn Service>) -> Self {
        let info = service.info();
        Self {
            service,
            info,
            workers: Workers::new(CALL_LIMIT),
            connections: AtomicU64::new(0),
        }
    }

    /// A new connection, with an identity of its own. `actor` is the name that its user gave the client.
    pub fn connect(&self, actor: Option<String>) -> Connection {
        let id = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
        self.connection(id, actor, None)
    }

    /// A connection for one request, which bears all that is to be known: a modern one, or a legacy one of this
    /// version that belongs to no session.
    pub fn stateless(&self, actor: Option<String>, version: Option<&'static str>) -> Connection {
        self.connection(STATELESS, actor, version)
    }

    fn connection(
        &self,
        id: u64,
        actor: Option<String>,
        version: Option<&'static str>,
    ) -> Connection {
        Connection {
            id,
            service: Arc::clone(&self.service),
            pending: Arc::default(),
            handshake: Mutex::new(Handshake {
                version,
                client: Implementation::default(),
            }),
            introduction: Mutex::new(Introduction {
                actor,
                ..Introduction::default()
            }),
            scope: None,
        }
    }

    /// Decides what one message (or batch) asks for. Total: junk is answered like anything else.
    pub fn receive(
        &self,
        connection: &Connection,
        text: &[u8],
        headers: Option<&Headers>,
    ) -> Outcome {
        let refuse = |error| {
            Outcome::One(Step::Answer(Response {
                id: None,
                body: Err(error),
            }))
        };
        match message::body(text) {
            Err(refusal) => Outcome::One(Step::Answer(refusal.into())),
            Ok(Body::One(raw)) => {
                let step = match message::message(raw) {
                    Ok(message) => self.message(connection, message, headers),
                    Err(refusal) => Some(Step::Answer(refusal.into())),
                };
                step.map_or(Outcome::Nothing, Outcome::One)
            }
            Ok(Body::Batch(_)) if !era::has_batches(connection.handshake().version) => refuse(
                RpcError::invalid_request("batches belong to revision 2025-03-26 alone"),
            ),
            Ok(Body::Batch(raws)) if raws.is_empty() => {
                refuse(RpcError::invalid_request("the batch is empty"))
            }
            Ok(Body::Batch(raws)) if raws.len() > BATCH_LIMIT => refuse(RpcError::invalid_request(
                format_args!("a batch holds at most {BATCH_LIMIT} messages"),
            )),
            Ok(Body::Batch(raws)) => {
                let steps: Vec<_> = raws
                    .into_iter()
                    .filter_map(|raw| match message::message(raw) {
                        Ok(message) => self.batched(connection, message, headers),
                        Err(refusal) => Some(Step::Answer(refusal.into())),
                    })
                    .collect();
                if steps.is_empty() {
                    Outcome::Nothing
                } else {
                    Outcome::Batch(steps)
                }
            }
        }
    }

    /// Runs a call on a worker. `answer` gets its response, or None when the client cancelled it; where there is no
    /// room for the call, at once and on this thread.
    pub fn start(
        &self,
        call: Box<Prepared>,
        notify: Notify,
        answer: impl FnOnce(Option<Response>) + Send + 'static,
    ) {
        match self.workers.reserve() {
            Ok(slot) => {
                let service = Arc::clone(&self.service);
                slot.run(move || answer(call.run(&*service, notify)));
            }
            Err(refused) => answer(call.refuse(refused)),
        }
    }

    /// Takes no more calls and waits for those in progress, at most until `deadline`. True when all have ended.
    pub fn finish(&self, deadline: Instant) -> bool {
        self.workers.finish(deadline)
    }

    fn message(
        &self,
        connection: &Connection,
        message: Message,
        headers: Option<&Headers>,
    ) -> Option<Step> {
        match message {
            Message::Request { id, method, params } => {
                Some(self.request(connection, id, &method, params, headers))
            }
            Message::Notification { method, params } => {
                if let ("notifications/cancelled", Some(id)) = (method.as_str(), &params.request_id)
                {
                    connection.pending.cancel(id);
                }
                None
            }
            Message::Answer => None,
        }
    }

    fn batched(
        &self,
        connection: &Connection,
        message: Message,
        headers: Option<&Headers>,
    ) -> Option<Step> {
        match message {
            Message::Request { id, method, params }
                if method == "initialize"
                    || era::decide(&method, &params, headers) != Ok(Era::Legacy) =>
            {
                let error = RpcError::invalid_request(format_args!(
                    "{} cannot be in a batch",
                    quoted(&method)
                ));
                Some(Step::Answer(Response {
                    id: Some(id),
                    body: Err(error),
                }))
            }
            message => self.message(connection, message, headers),
        }
    }

    fn request(
        &self,
        connection: &Connection,
        id: Id,
        method: &str,
        params: Params,
        headers: Option<&Headers>,
    ) -> Step {
        let era = match era::decide(method, &params, headers) {
            Ok(era) => era,
            Err(error) => {
                return Step::Answer(Response {
                    id: Some(id),
                    body: Err(error),
                });
            }
        };
        if method == "tools/call" {
            return match self.prepare(connection, &id, era, params) {
                Ok(call) => Step::Call(Box::new(call)),
                Err(error) => Step::Answer(Response {
                    id: Some(id),
                    body: Err(error),
                }),
            };
        }
        let body = match era {
            Era::Legacy if method == HELLO && headers.is_none() => {
                Ok(self.introduce(connection, &params))
            }
            Era::Legacy => self.legacy(connection, method, &params),
            Era::Modern { .. } => self
                .modern(connection, method, &params)
                .map(|result| complete(result, self.identity())),
        };
        Step::Answer(Response { id: Some(id), body })
    }

    fn legacy(
        &self,
        connection: &Connection,
        method: &str,
        params: &Params,
    ) -> Result<Value, RpcError> {
        match method {
            "initialize" => Ok(self.initialize(connection, params)),
            // Logging is not declared, but clients set its level all the same and give up over an error.
            "ping" | "logging/setLevel" => Ok(json!({})),
            "tools/list" => self
                .list(connection, params)
                .map(|tools| json!({ "tools": tools })),
            _ => Err(RpcError::method_not_found(method)),
        }
    }

    fn modern(
        &self,
        connection: &Connection,
        method: &str,
        params: &Params,
    ) -> Result<Value, RpcError> {
        match method {
            "server/discover" => Ok(json!({
                "supportedVersions": MODERN,
                "capabilities": { "tools": {} },
                "instructions": self.info.instructions,
                "ttlMs": TTL_MS,
                "cacheScope": CACHE_SCOPE,
            })),
            "tools/list" => self
                .list(connection, params)
                .map(|tools| json!({ "tools": tools, "ttlMs": TTL_MS, "cacheScope": CACHE_SCOPE })),
            _ => Err(RpcError::method_not_found(method)),
        }
    }

    fn initialize(&self, connection: &Connection, params: &Params) -> Value {
        let version = era::negotiate(params.fields.get("protocolVersion").and_then(Value::as_str));
        let client = params
            .fields
            .get("clientInfo")
            .map(Implementation::from_value)
            .unwrap_or_default();
        *connection.handshake() = Handshake {
            version: Some(version),
            client,
        };
        json!({
            "protocolVersion": version,
            "capabilities": { "tools": {} },
            "serverInfo": self.identity(),
            "instructions": self.info.instructions,
        })
    }

    fn introduce(&self, connection: &Connection, params: &Params) -> Value {
        let text = |field: &str| Some(params.fields.get(field)?.as_str()?.to_owned());
        *connection.introduction() = Introduction {
            actor: text("actor"),
            earlier: text("agent"),
            folder: text("folder"),
        };
        json!({ "agent": self.service.agent(connection.id) })
    }

    fn list(&self, connection: &Connection, params: &Params) -> Result<Vec<Value>, RpcError> {
        match params.fields.get("cursor") {
            None | Some(Value::Null) => Ok(self
                .service
                .tools(connection.scope())
                .iter()
                .map(Tool::listed)
                .collect()),
            Some(_) => Err(RpcError::invalid_params(
                "unknown cursor: the list has one page",
            )),
        }
    }

    fn prepare(
        &self,
        connection: &Connection,
        id: &Id,
        era: Era,
        params: Params,
    ) -> Result<Prepared, RpcError> {
        let Params {
            mut fields,
            progress_token,
            ..
        } = params;
        let Some(Value::String(name)) = fields.remove("name") else {
            return Err(RpcError::invalid_params("name must be a string"));
        };
        let arguments = match fields.remove("arguments") {
            Some(Value::Object(arguments)) => arguments,
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(RpcError::invalid_params("arguments must be an object")),
        };
        let tools = self.service.tools(connection.scope());
        if !tools.iter().any(|tool| tool.name == name) {
            return Err(RpcError::invalid_params(format_args!(
                "unknown tool: {}",
                quoted(&name)
            )));
        }
        let Some(ticket) = connection.pending.begin(id) else {
            return Err(RpcError::invalid_request(
                "a call with this id is in progress",
            ));
        };
        let (client, identity) = match era {
            Era::Legacy => (connection.handshake().client.clone(), None),
            Era::Modern { client } => (client.unwrap_or_default(), Some(self.identity())),
        };
        let Introduction {
            actor,
            earlier,
            folder,
        } = connection.introduction().clone();
        let client = Client {
            scope: connection.scope.clone(),
            connection: connection.id,
            actor,
            earlier,
            folder,
            name: client.name,
            version: client.version,
        };
        Ok(Prepared {
            ticket: Arc::new(ticket),
            name,
            arguments,
            client,
            progress_token,
            identity,
        })
    }

    /// `serverInfo`.
    fn identity(&self) -> Value {
        json!({ "name": self.info.name, "version": self.info.version, "title": self.info.title })
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

impl Connection {
    /// The same, for a client whose token opens only a part of what is served: which, only the service knows.
    pub fn scoped(mut self, scope: Option<Arc<str>>) -> Connection {
        self.scope = scope;
        self
    }

    /// What its client's token opens, where that is not all.
    pub fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }

    /// Ends the waits of the connection's calls, also of those that begin later. They are still answered.
    pub fn stop(&self) {
        self.pending.stop();
    }

    /// Cancels the connection's calls on the client's word: their waits end and nothing more is sent for them.
    pub fn cancel(&self) {
        self.pending.cancel_all();
    }

    fn handshake(&self) -> MutexGuard<'_, Handshake> {
        self.handshake
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn introduction(&self) -> MutexGuard<'_, Introduction> {
        self.introduction
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.id != STATELESS {
            self.service.left(self.id);
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("id", &self.id)
            .field("handshake", &self.handshake)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
