//! What a transport with headers must know of a message before it is served: whose rules hold for it. Must not know
//! the transport, nor what becomes of the message.

use super::era::{self, Headers};
use super::message::{self, Body, Message};

/// Whose rules hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The handshake of a legacy revision.
    Initialize,
    /// Any other message of a legacy revision; also whatever cannot be read and bears no modern header.
    Legacy,
    /// A message of the modern revision, well formed or not.
    Modern,
}

/// Tells the kind of one message or batch. Total.
pub fn kind(text: &[u8], headers: &Headers) -> Kind {
    let by_header = if era::has_modern_version(Some(headers)) {
        Kind::Modern
    } else {
        Kind::Legacy
    };
    let Ok(Body::One(raw)) = message::body(text) else {
        return by_header;
    };
    match message::message(raw) {
        Ok(Message::Request { method, params, .. } | Message::Notification { method, params }) => {
            if era::is_modern(&method, &params, Some(headers)) {
                Kind::Modern
            } else if method == "initialize" {
                Kind::Initialize
            } else {
                Kind::Legacy
            }
        }
        Ok(Message::Answer) | Err(_) => by_header,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mcp::fake::{enveloped, request};

    #[test]
    fn the_body_decides_and_a_modern_header_can_add() {
        let none = Headers::default();
        let modern = Headers {
            protocol_version: Some("2026-07-28".into()),
            ..Headers::default()
        };
        for (text, without, with) in [
            (
                request("tools/list", &json!({})),
                Kind::Legacy,
                Kind::Modern,
            ),
            (
                request("initialize", &json!({})),
                Kind::Initialize,
                Kind::Initialize,
            ),
            (
                enveloped("tools/list", json!({})),
                Kind::Modern,
                Kind::Modern,
            ),
            (
                enveloped("initialize", json!({})),
                Kind::Modern,
                Kind::Modern,
            ),
            (
                request("server/discover", &json!({})),
                Kind::Modern,
                Kind::Modern,
            ),
            ("[]".into(), Kind::Legacy, Kind::Modern),
            ("{".into(), Kind::Legacy, Kind::Modern),
        ] {
            assert_eq!(kind(text.as_bytes(), &none), without, "{text}");
            assert_eq!(kind(text.as_bytes(), &modern), with, "{text}");
        }
    }
}
