//! Which revision of MCP a request speaks. Two eras are served at once: the legacy revisions, which begin with a
//! handshake, and the modern one, whose every request bears an envelope in `_meta`. Must not know what methods do.

use serde_json::{Map, Value};

use super::error::RpcError;
use super::message::Params;

/// The legacy revisions, oldest first.
pub const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// What a client that asks for an unknown revision is offered.
const LATEST_LEGACY: &str = "2025-11-25";

/// The modern revisions.
pub const MODERN: [&str; 1] = ["2026-07-28"];

/// The one revision with JSON-RPC batches.
const WITH_BATCHES: &str = "2025-03-26";

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";
/// Where a modern result says whose it is.
pub const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// What the HTTP headers say beside a message; there are none on a line transport. Decoded and trimmed, duplicates
/// already refused.
#[derive(Debug, Clone, Default)]
pub struct Headers {
    /// `MCP-Protocol-Version`.
    pub protocol_version: Option<String>,
    /// `Mcp-Method`.
    pub method: Option<String>,
    /// `Mcp-Name`.
    pub name: Option<String>,
}

/// How a request is to be served.
#[derive(Debug, PartialEq, Eq)]
pub enum Era {
    Legacy,
    Modern {
        /// The envelope's `clientInfo`.
        client: Option<Implementation>,
    },
}

/// Name and version of a client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Implementation {
    pub name: Option<String>,
    pub version: Option<String>,
}

impl Implementation {
    /// Takes what is there: a client is served however it introduces itself.
    pub fn from_value(value: &Value) -> Self {
        let text = |field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
        Self {
            name: text("name"),
            version: text("version"),
        }
    }
}

/// The revision that answers a legacy `initialize`.
pub fn negotiate(requested: Option<&str>) -> &'static str {
    LEGACY
        .into_iter()
        .find(|known| requested == Some(known))
        .unwrap_or(LATEST_LEGACY)
}

/// True when the negotiated revision has batches.
pub fn has_batches(negotiated: Option<&str>) -> bool {
    negotiated == Some(WITH_BATCHES)
}

/// True when the version header names a modern revision.
pub fn has_modern_version(headers: Option<&Headers>) -> bool {
    headers
        .and_then(|headers| headers.protocol_version.as_deref())
        .is_some_and(|version| MODERN.contains(&version))
}

/// True when the rules of the modern revisions hold for a message, well formed or not.
pub fn is_modern(method: &str, params: &Params, headers: Option<&Headers>) -> bool {
    let enveloped = params
        .meta()
        .is_some_and(|meta| meta.contains_key(VERSION_KEY));
    match method {
        "initialize" => enveloped,
        "server/discover" => true,
        _ => enveloped || has_modern_version(headers),
    }
}

/// Decides a request's era. The body decides; a modern version header can only make a request modern that has no
/// envelope, and so in error.
///
/// # Errors
/// In the order in which they are looked for: -32602 for an envelope that is missing or incomplete, -32020 for
/// headers that do not say what the body says, -32022 for a revision that is not served.
pub fn decide(method: &str, params: &Params, headers: Option<&Headers>) -> Result<Era, RpcError> {
    if !is_modern(method, params, headers) {
        return if method == "initialize" && has_modern_version(headers) {
            Err(RpcError::header_mismatch(
                "initialize belongs to revisions before 2026-07-28",
            ))
        } else {
            Ok(Era::Legacy)
        };
    }
    let (version, client) = envelope(params.meta())?;
    if let Some(headers) = headers {
        check_headers(headers, version, method, params)?;
    }
    if !MODERN.contains(&version) {
        return Err(RpcError::unsupported_version(version, &MODERN));
    }
    Ok(Era::Modern { client })
}

fn envelope(meta: Option<&Map<String, Value>>) -> Result<(&str, Option<Implementation>), RpcError> {
    let field = |key: &str| meta.and_then(|meta| meta.get(key));
    let wrong = |key: &str, what: &str| {
        RpcError::invalid_params(format_args!("params._meta[\"{key}\"] must be {what}"))
    };
    let version = field(VERSION_KEY)
        .and_then(Value::as_str)
        .ok_or_else(|| wrong(VERSION_KEY, "a string"))?;
    if !field(CAPABILITIES_KEY).is_some_and(Value::is_object) {
        return Err(wrong(CAPABILITIES_KEY, "an object"));
    }
    Ok((version, field(CLIENT_KEY).map(Implementation::from_value)))
}

fn check_headers(
    headers: &Headers,
    version: &str,
    method: &str,
    params: &Params,
) -> Result<(), RpcError> {
    let check = |header: &str, said: &Option<String>, body: &str| match said {
        Some(said) if said == body => Ok(()),
        Some(_) => Err(RpcError::header_mismatch(format_args!(
            "{header} differs from the body"
        ))),
        None => Err(RpcError::header_mismatch(format_args!(
            "{header} is missing"
        ))),
    };
    check("MCP-Protocol-Version", &headers.protocol_version, version)?;
    check("Mcp-Method", &headers.method, method)?;
    match params.fields.get("name").and_then(Value::as_str) {
        Some(name) if method == "tools/call" => check("Mcp-Name", &headers.name, name),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
