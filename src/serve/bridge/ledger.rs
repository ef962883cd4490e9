//! What a bridge knows of its client: how it introduced itself, and which requests are not answered. From it comes
//! what a new connection is told, and what becomes of the calls that a lost one has taken with it. Pure.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::mcp::dispatch::HELLO;
use crate::mcp::message::{self, Body, Id, Message, Params, Response};

/// The ids of the bridge's own requests.
const HELLO_ID: &str = "paneglass-bridge-hello";
const INITIALIZE_ID: &str = "paneglass-bridge-initialize";

/// Where a modern request says its revision; without it no answer needs to.
const ENVELOPE: &str = "io.modelcontextprotocol/protocolVersion";

/// A request that is not answered.
#[derive(Debug)]
struct Open {
    id: Id,
    method: String,
    params: Params,
    /// It came in this batch, whose answers go together.
    batch: Option<u64>,
    /// It went out on the connection that there is or was.
    sent: bool,
}

#[derive(Debug, Default)]
pub struct Ledger {
    /// The client's `initialize`, as it is to be sent again.
    initialize: Option<String>,
    open: Vec<Open>,
    batches: u64,
    actor: Option<String>,
    folder: Option<String>,
    /// What the server calls our client.
    agent: Option<String>,
    /// The server has been asked, on this connection, what it calls our client.
    asked: bool,
}

/// What a line of the server is.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    /// It goes to the client.
    Passed,
    /// The same, and the server has just given our client a name: it is to be asked for it.
    PassedAndNamed,
    /// It answers the bridge.
    Kept,
}

/// What is to be done on a new connection: lines for the server, and lines for the client.
#[derive(Debug, Default)]
pub struct Resumed {
    pub server: Vec<String>,
    pub client: Vec<String>,
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
}

impl Frame<'_> {
    /// The id that is answered.
    fn answers(&self) -> Option<Id> {
        match self.method {
            None => Id::from_json(self.id?.get()),
            Some(_) => None,
        }
    }
}

impl Ledger {
    pub fn new(actor: Option<String>, folder: Option<String>) -> Ledger {
        Ledger {
            actor,
            folder,
            ..Ledger::default()
        }
    }

    /// The bridge's own first line on a connection.
    pub fn hello(&self) -> String {
        let mut params = Map::new();
        let mut add = |name: &str, value: &Option<String>| {
            if let Some(value) = value {
                params.insert(name.into(), value.as_str().into());
            }
        };
        add("actor", &self.actor);
        add("agent", &self.agent);
        add("folder", &self.folder);
        json!({ "jsonrpc": "2.0", "id": HELLO_ID, "method": HELLO, "params": params }).to_string()
    }

    /// Takes note of a line of the client. `sent`: it goes out now.
    pub fn client(&mut self, line: &[u8], sent: bool) {
        match message::body(line) {
            Ok(Body::One(raw)) => self.one(raw, None, sent),
            Ok(Body::Batch(raws)) => {
                self.batches += 1;
                let batch = Some(self.batches);
                raws.into_iter().for_each(|raw| self.one(raw, batch, sent));
            }
            // The server will say what is wrong with it.
            Err(_) => {}
        }
    }

    fn one(&mut self, raw: &RawValue, batch: Option<u64>, sent: bool) {
        match message::message(raw) {
            Ok(Message::Request { id, method, params }) => {
                if method == "initialize" {
                    self.initialize = Some(request(INITIALIZE_JSON, &method, &params));
                }
                self.open.push(Open {
                    id,
                    method,
                    params,
                    batch,
                    sent,
                });
            }
            Ok(Message::Notification { method, params }) if method == "notifications/cancelled" => {
                self.open
                    .retain(|open| params.request_id.as_ref() != Some(&open.id));
            }
            _ => {}
        }
    }

    /// Takes note of a line of the server.
    pub fn server(&mut self, line: &str) -> Said {
        let frames = match serde_json::from_str::<Frame>(line) {
            Ok(frame) => vec![frame],
            Err(_) => serde_json::from_str::<Vec<Frame>>(line).unwrap_or_default(),
        };
        let mut named = false;
        for frame in frames {
            match frame.answers() {
                Some(Id::Text(id)) if id == HELLO_ID => {
                    self.learn(&frame);
                    return Said::Kept;
                }
                Some(Id::Text(id)) if id == INITIALIZE_ID => return Said::Kept,
                Some(id) => {
                    if let Some(at) = self.open.iter().position(|open| open.id == id) {
                        named |= self.open.remove(at).method == "tools/call";
                    }
                }
                None => {}
            }
        }
        match named && !self.asked && self.actor.is_none() {
            true => {
                self.asked = true;
                Said::PassedAndNamed
            }
            false => Said::Passed,
        }
    }

    fn learn(&mut self, frame: &Frame<'_>) {
        let told = frame
            .result
            .and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
        if let Some(agent) = told.as_ref().and_then(|told| told["agent"].as_str()) {
            self.agent = Some(agent.to_owned());
        }
    }

    /// A line that was kept while there was no connection goes out now.
    pub fn all_sent(&mut self) {
        self.open.iter_mut().for_each(|open| open.sent = true);
    }

    /// There is a new connection. What can be asked again without harm is; the rest is answered with what is known.
    pub fn resume(&mut self, harmless: impl Fn(&str) -> bool) -> Resumed {
        self.asked = false;
        let mut resumed = Resumed::default();
        resumed.server.push(self.hello());
        let initializing = self.open.iter().any(|open| open.method == "initialize");
        if let Some(initialize) = self.initialize.as_ref().filter(|_| !initializing) {
            resumed.server.push(initialize.clone());
        }
        let mut batches: Vec<(u64, Vec<Response>)> = Vec::new();
        let mut kept = Vec::new();
        for open in std::mem::take(&mut self.open) {
            let again = open.method != "tools/call" || open.tool().is_some_and(&harmless);
            match open.batch {
                _ if !open.sent => kept.push(open),
                None if again => {
                    resumed.server.push(open.again());
                    kept.push(open);
                }
                None => resumed.client.push(open.interrupted().encode()),
                Some(batch) => match batches.iter_mut().find(|(other, _)| *other == batch) {
                    Some((_, answers)) => answers.push(open.interrupted()),
                    None => batches.push((batch, vec![open.interrupted()])),
                },
            }
        }
        self.open = kept;
        let answers = batches.iter();
        resumed
            .client
            .extend(answers.map(|(_, answers)| message::encode_batch(answers)));
        resumed
    }

    /// There will be no new connection.
    pub fn give_up(&mut self) -> Vec<String> {
        let open = std::mem::take(&mut self.open);
        open.iter()
            .map(|open| open.interrupted().encode())
            .collect()
    }
}

/// The bridge's id as JSON.
const INITIALIZE_JSON: &str = "\"paneglass-bridge-initialize\"";

/// A request without a progress token: progress of a second connection would not go on where the first one's ended.
fn request(id: &str, method: &str, params: &Params) -> String {
    let mut fields = params.fields.clone();
    if let Some(Value::Object(meta)) = fields.get_mut("_meta") {
        meta.remove("progressToken");
    }
    let (method, params) = (Value::from(method), Value::Object(fields));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
}

impl Open {
    fn again(&self) -> String {
        request(&self.id.to_json(), &self.method, &self.params)
    }

    fn tool(&self) -> Option<&str> {
        self.params.fields.get("name")?.as_str()
    }

    /// The answer to a request that was lost with its connection: nobody knows how far it came.
    fn interrupted(&self) -> Response {
        let tool = self.tool().unwrap_or(&self.method);
        let arguments = self.params.fields.get("arguments");
        let session = arguments.and_then(|arguments| arguments["session"].as_str());
        // What was typed goes on by itself, and can be waited for like anything else.
        let typed = matches!(tool, "run" | "send");
        let advice = match session {
            Some(session) if typed => {
                format!("`wait` with session={session} goes on with what runs there")
            }
            _ => "`session_list` shows how things stand".into(),
        };
        let text = format!(
            "[{tool} · interrupted]\n[the paneglass server was restarted during this call; it was sent once and is not sent again; {advice}]"
        );
        let mut facts = json!({ "status": "interrupted" });
        if let Some(session) = session {
            facts["session"] = session.into();
        }
        let mut result = json!({
            "content": [{ "type": "text", "text": text }],
            "isError": !typed,
            "_meta": { "paneglass/facts": facts },
        });
        let modern = self
            .params
            .meta()
            .is_some_and(|meta| meta.contains_key(ENVELOPE));
        if modern {
            result["resultType"] = "complete".into();
        }
        Response {
            id: Some(self.id.clone()),
            body: Ok(result),
        }
    }
}

#[cfg(test)]
mod tests;
