//! One JSON-RPC message: from text to a request or a notification, and from an answer to text. Must not know which
//! methods there are, nor where the text comes from.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::error::{INTERNAL_ERROR, RpcError};
use super::scan::Scan;

/// How deep arrays and objects may nest in a message, the message itself counted; what serde_json's own recursion
/// limit allows below the message.
pub const DEPTH_LIMIT: u32 = 128;

/// The longest message that leaves, in bytes without its newline: clients hold a whole message in memory, and some
/// end the connection over larger ones.
pub const OUT_LIMIT: usize = 8 << 20;

/// How many messages a batch may hold, so that one line cannot ask for more answers than fit in one.
pub const BATCH_LIMIT: usize = 128;

/// The id of a request: a string, or an integer of any size.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Id {
    /// The digits as they came.
    Integer(String),
    Text(String),
}

impl Id {
    /// None when the JSON is neither a string nor an integer (`1.0` is one, as JSON Schema counts it).
    pub fn from_json(json: &str) -> Option<Self> {
        if json.starts_with('"') {
            return serde_json::from_str(json).ok().map(Self::Text);
        }
        let (digits, fraction) = json.split_once('.').unwrap_or((json, "0"));
        let digits = digits.strip_prefix('-').unwrap_or(digits);
        let integer = !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && (digits == "0" || !digits.starts_with('0'))
            && !fraction.is_empty()
            && fraction.bytes().all(|byte| byte == b'0');
        integer.then(|| Self::Integer(json.to_owned()))
    }

    pub fn to_json(&self) -> String {
        match self {
            Self::Integer(digits) => digits.clone(),
            Self::Text(text) => Value::from(text.as_str()).to_string(),
        }
    }
}

/// What a line holds.
#[derive(Debug)]
pub enum Body<'a> {
    One(&'a RawValue),
    Batch(Vec<&'a RawValue>),
}

/// One message of a client.
#[derive(Debug)]
pub enum Message {
    Request {
        id: Id,
        method: String,
        params: Params,
    },
    Notification {
        method: String,
        params: Params,
    },
    /// An answer. This server asks nothing, so it is nobody's.
    Answer,
}

/// The params object, and what of it has to keep its exact text.
#[derive(Debug, Default)]
pub struct Params {
    pub fields: Map<String, Value>,
    /// `_meta.progressToken` as JSON text: a string or a number.
    pub progress_token: Option<String>,
    /// `requestId` of a cancellation.
    pub request_id: Option<Id>,
}

impl Params {
    /// `_meta`, where it is an object.
    pub fn meta(&self) -> Option<&Map<String, Value>> {
        self.fields.get("_meta")?.as_object()
    }
}

/// A message that cannot be served: whom to answer, and how.
#[derive(Debug)]
pub struct Refusal {
    pub id: Option<Id>,
    pub error: RpcError,
}

/// Takes a line apart into its message or messages. Total: anything that is not JSON is a refusal.
pub fn body(line: &[u8]) -> Result<Body<'_>, Refusal> {
    let scan = Scan::line(line);
    if scan.deepest() > DEPTH_LIMIT {
        let error = RpcError::parse(format_args!("nesting is deeper than {DEPTH_LIMIT} levels"));
        return Err(Refusal {
            id: scan.id(),
            error,
        });
    }
    let refuse = |scan: Scan, reason: String| Refusal {
        id: scan.id(),
        error: RpcError::parse(reason),
    };
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => return Err(refuse(scan, error.to_string())),
    };
    let whole: &RawValue = match serde_json::from_str(text) {
        Ok(raw) => raw,
        Err(error) => return Err(refuse(scan, error.to_string())),
    };
    if whole.get().starts_with('[') {
        // The array has just been parsed; only its elements' bounds are asked for.
        serde_json::from_str(whole.get())
            .map(Body::Batch)
            .map_err(|error| refuse(scan, error.to_string()))
    } else {
        Ok(Body::One(whole))
    }
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Exact<'a> {
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<ExactMeta<'a>>,
    #[serde(borrow, default, rename = "requestId")]
    request_id: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ExactMeta<'a> {
    #[serde(borrow, default, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
}

/// Keeps a null apart from an absent field.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Reads one message.
pub fn message(raw: &RawValue) -> Result<Message, Refusal> {
    let refuse = |id: Option<Id>, error: RpcError| Refusal { id, error };
    if !raw.get().starts_with('{') {
        return Err(refuse(
            None,
            RpcError::invalid_request("a message is an object"),
        ));
    }
    let frame: Frame = serde_json::from_str(raw.get()).map_err(|error| {
        let id = Scan::line(raw.get().as_bytes()).id();
        match error.classify() {
            serde_json::error::Category::Data => refuse(id, RpcError::invalid_request(error)),
            _ => refuse(id, RpcError::parse(error)),
        }
    })?;
    let id = match frame.id {
        Some(raw) => match Id::from_json(raw.get()) {
            Some(id) => Some(id),
            None => {
                let error = RpcError::invalid_request("an id is a string or an integer");
                return Err(refuse(None, error));
            }
        },
        None => None,
    };
    if frame.jsonrpc.and_then(text).as_deref() != Some("2.0") {
        return Err(refuse(
            id,
            RpcError::invalid_request("jsonrpc is not \"2.0\""),
        ));
    }
    let Some(method) = frame.method else {
        if frame.result.is_some() || frame.error.is_some() {
            return Ok(Message::Answer);
        }
        return Err(refuse(id, RpcError::invalid_request("there is no method")));
    };
    let Some(method) = text(method) else {
        return Err(refuse(
            id,
            RpcError::invalid_request("a method is a string"),
        ));
    };
    match (id, params(frame.params)) {
        (Some(id), Ok(params)) => Ok(Message::Request { id, method, params }),
        (Some(id), Err(error)) => Err(refuse(Some(id), error)),
        (None, Ok(params)) => Ok(Message::Notification { method, params }),
        (None, Err(error)) => Err(refuse(None, error)),
    }
}

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

fn params(raw: Option<&RawValue>) -> Result<Params, RpcError> {
    let Some(raw) = raw else {
        return Ok(Params::default());
    };
    let fields = match serde_json::from_str(raw.get()).map_err(RpcError::parse)? {
        Value::Object(fields) => fields,
        Value::Null => Map::new(),
        _ => return Err(RpcError::invalid_params("params is an object")),
    };
    let mut params = Params {
        fields,
        ..Params::default()
    };
    if params.fields.contains_key("_meta") || params.fields.contains_key("requestId") {
        if let Ok(exact) = serde_json::from_str::<Exact>(raw.get()) {
            let token = exact
                .meta
                .and_then(|meta| meta.progress_token)
                .map(RawValue::get);
            params.progress_token = token
                .filter(|token| {
                    token.starts_with(['"', '-']) || token.starts_with(|c: char| c.is_ascii_digit())
                })
                .map(str::to_owned);
            params.request_id = exact.request_id.and_then(|raw| Id::from_json(raw.get()));
        }
    }
    Ok(params)
}

/// The answer to one request, or to a line that was none (then without an id).
#[derive(Debug, Clone)]
pub struct Response {
    pub id: Option<Id>,
    pub body: Result<Value, RpcError>,
}

impl From<Refusal> for Response {
    fn from(refusal: Refusal) -> Self {
        Self {
            id: refusal.id,
            body: Err(refusal.error),
        }
    }
}

impl Response {
    /// The message as one line without its newline, at most `OUT_LIMIT` bytes: an answer over it becomes an error.
    pub fn encode(&self) -> String {
        self.encode_within(OUT_LIMIT)
    }

    fn encode_within(&self, limit: usize) -> String {
        let id = self
            .id
            .as_ref()
            .map_or_else(|| "null".to_owned(), Id::to_json);
        let line = match &self.body {
            Ok(result) => line(&id, "result", result),
            Err(error) => line(&id, "error", &error.to_value()),
        };
        if line.len() <= limit {
            return line;
        }
        let error = RpcError::new(
            INTERNAL_ERROR,
            format!(
                "the answer is {} bytes long, over the limit of {limit}",
                line.len()
            ),
        );
        let short = self::line(&id, "error", &error.to_value());
        if short.len() <= limit {
            short
        } else {
            self::line("null", "error", &error.to_value())
        }
    }
}

fn line(id: &str, field: &str, value: &Value) -> String {
    one_line(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"{field}":{value}}}"#
    ))
}

/// The array that answers a batch, at most `OUT_LIMIT` bytes: each answer gets an even share of the room that those
/// before it left, and becomes an error when it needs more.
pub fn encode_batch(responses: &[Response]) -> String {
    let mut array = String::from("[");
    for (index, response) in responses.iter().enumerate() {
        let left = responses.len() - index;
        let room = (OUT_LIMIT - array.len() - left - 1) / left;
        if index > 0 {
            array.push(',');
        }
        array.push_str(&response.encode_within(room));
    }
    array.push(']');
    array
}

/// A notification as one line without its newline.
pub fn encode_notification(method: &str, params: &str) -> String {
    one_line(format!(
        r#"{{"jsonrpc":"2.0","method":{},"params":{params}}}"#,
        json!(method)
    ))
}

/// Some clients split their input at every line end that Unicode knows. Outside strings JSON has none of these.
fn one_line(json: String) -> String {
    const LINE_ENDS: [(char, &str); 3] = [
        ('\u{2028}', "\\u2028"),
        ('\u{2029}', "\\u2029"),
        ('\u{85}', "\\u0085"),
    ];
    if !json.contains(LINE_ENDS.map(|(end, _)| end)) {
        return json;
    }
    LINE_ENDS
        .iter()
        .fold(json, |json, (end, escape)| json.replace(*end, escape))
}

#[cfg(test)]
mod tests;
