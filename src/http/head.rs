//! The head of an HTTP/1.1 message, from bytes to fields: pure, and strict, since whatever two readers could take in
//! two ways is refused (RFC 9112). Must not know what the fields mean, but for those that frame the message.

use super::Refusal;

/// The longest head that is read, in bytes; the headers of real clients have one or two KB.
pub const HEAD_LIMIT: usize = 16 << 10;

/// Fields that decide something here: of two of them nobody could say which counts.
const SINGLE: [&str; 13] = [
    "authorization",
    "content-length",
    "content-type",
    "expect",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "origin",
    "transfer-encoding",
    "x-terminal-actor",
];

/// What a request says before its body.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    pub method: String,
    /// As it came: a path, and maybe a query.
    pub target: String,
    /// The 1 of HTTP/1.1.
    pub minor: u8,
    fields: Fields,
}

/// How much body follows a head.
#[derive(Debug, PartialEq, Eq)]
pub enum Length {
    Bytes(u64),
    Chunked,
}

impl Head {
    /// Reads a request's head; `bytes` end with the empty line.
    pub fn parse(bytes: &[u8]) -> Result<Head, Refusal> {
        let (line, fields) = split(bytes)?;
        let bad = || Refusal::new(400, "the request line is malformed");
        let mut parts = line.split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(bad());
        };
        if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(bad());
        }
        if !target.starts_with('/') || !target.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(bad());
        }
        let minor = match version {
            "HTTP/1.1" => 1,
            "HTTP/1.0" => 0,
            other if other.starts_with("HTTP/") => {
                return Err(Refusal::new(505, "only HTTP/1.1 is spoken here"));
            }
            _ => return Err(bad()),
        };
        if let Some(name) = SINGLE.iter().find(|name| fields.count(name) > 1) {
            return Err(Refusal::new(400, format!("the header {name} comes twice")));
        }
        if minor == 1 && fields.get("host").is_none() {
            return Err(Refusal::new(400, "the Host header is missing"));
        }
        Ok(Head {
            method: method.into(),
            target: target.into(),
            minor,
            fields,
        })
    }

    /// A field's value, without blanks round it; several of one name are joined by commas.
    pub fn get(&self, name: &str) -> Option<String> {
        self.fields.get(name)
    }

    /// The path without its query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// How much body follows.
    pub fn length(&self) -> Result<Length, Refusal> {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        match (self.get("transfer-encoding"), self.get("content-length")) {
            (None, None) => Ok(Length::Bytes(0)),
            (Some(_), Some(_)) => Err(Refusal::new(
                400,
                "Content-Length and Transfer-Encoding exclude each other",
            )),
            (Some(coding), None) if self.minor == 1 && coding.eq_ignore_ascii_case("chunked") => {
                Ok(Length::Chunked)
            }
            (Some(_), None) => Err(Refusal::new(
                501,
                "only the transfer coding chunked is known",
            )),
            (None, Some(length)) if digits(&length) => {
                // A number that no counter holds is over every limit.
                Ok(Length::Bytes(length.parse().unwrap_or(u64::MAX)))
            }
            (None, Some(_)) => Err(Refusal::new(400, "Content-Length is not a number")),
        }
    }

    /// Whether the client means to send another request on the connection.
    pub fn keeps_alive(&self) -> bool {
        let said = self.get("connection").unwrap_or_default();
        let says = |word: &str| {
            said.split(',')
                .any(|part| part.trim().eq_ignore_ascii_case(word))
        };
        !says("close") && (self.minor == 1 || says("keep-alive"))
    }
}

/// Field lines in order, names in lower case.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    pub fn get(&self, name: &str) -> Option<String> {
        let mut values = self.iter().filter(|(other, _)| *other == name);
        let first = values.next()?.1.to_string();
        Some(values.fold(first, |all, (_, value)| format!("{all}, {value}")))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    fn count(&self, name: &str) -> usize {
        self.iter().filter(|(other, _)| *other == name).count()
    }
}

/// Where a head ends in `bytes`: behind the first empty line.
pub fn end(bytes: &[u8]) -> Option<usize> {
    let at = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    Some(at + 4)
}

/// The first line and the fields of a message's head, which ends with the empty line.
pub fn split(bytes: &[u8]) -> Result<(&str, Fields), Refusal> {
    let bad = |what: &str| Refusal::new(400, format!("{what} in the head of the request"));
    let printable =
        |byte: u8| byte == b'\t' || byte == b'\r' || byte == b'\n' || (32..127).contains(&byte);
    if !bytes.iter().all(|&byte| printable(byte)) {
        return Err(bad("a byte that is not printable ASCII"));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| bad("text that is not ASCII"))?;
    let text = text.strip_suffix("\r\n\r\n").ok_or_else(|| bad("no end"))?;
    let mut lines = text.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let mut fields = Vec::new();
    for line in lines.clone().chain([first]) {
        if line.contains(['\r', '\n']) {
            return Err(bad("a bare line end"));
        }
    }
    for line in lines {
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| bad("a line without a colon"))?;
        // A blank before the colon, or at the start of a folded line, is no part of a name.
        if name.is_empty() || !name.bytes().all(in_name) {
            return Err(bad("a malformed field name"));
        }
        fields.push((
            name.to_ascii_lowercase(),
            value.trim_matches([' ', '\t']).to_string(),
        ));
    }
    Ok((first, Fields(fields)))
}

/// `tchar` of RFC 9110, section 5.6.2.
fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
