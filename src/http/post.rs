//! `POST /mcp`: MCP's Streamable HTTP, for both eras at once. Must not know how bytes travel, nor what is called.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, at, bounded, never, select, unbounded};

use super::Refusal;
use super::answer::Answer;
use super::base64;
use super::exchange::Exchange;
use super::route::{Asked, Routes};
use super::sse::Events;
use crate::mcp::dispatch::{Connection, Outcome, Step};
use crate::mcp::era::{Headers, LEGACY};
use crate::mcp::error::{
    HEADER_MISMATCH, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, RpcError,
};
use crate::mcp::message::{Response, encode_batch};
use crate::mcp::{Kind, kind};

/// Clients and proxies give up over silence after 30 to 60 s: a call that takes longer than this begins its answer as
/// a stream, and says something as often.
const SILENCE: Duration = Duration::from_secs(15);

/// Progress that the client has not taken; more is dropped.
const NOTES: usize = 64;

/// What a legacy request without a version header is taken for (MCP 2025-11-25, Streamable HTTP).
const UNSAID_VERSION: &str = "2025-03-26";

/// The errors that MCP reserves for what HTTP and the envelope say.
const PROTOCOL_ERRORS: std::ops::RangeInclusive<i64> = -32029..=HEADER_MISMATCH;

const SESSION: &str = "Mcp-Session-Id";

/// The media types that a client can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Accepts {
    json: bool,
    events: bool,
}

/// Answers a request, for as long as its call takes.
pub fn carry_out(routes: &Routes, asked: Asked, exchange: &Exchange) {
    let (accepts, headers) = match (accepts(&asked), headers(&asked)) {
        (Ok(accepts), Ok(headers)) => (accepts, headers),
        (Err(refusal), _) | (_, Err(refusal)) => return asked.answer(refusal.into()),
    };
    let kind = kind(&asked.body, &headers);
    let connection = match connection(routes, &asked, kind, &headers, exchange) {
        Ok(connection) => connection,
        Err(answer) => return asked.answer(answer),
    };
    let outcome = routes
        .server
        .receive(&connection, &asked.body, Some(&headers));
    let session = match &outcome {
        Outcome::One(Step::Answer(Response { body: Ok(_), .. })) if kind == Kind::Initialize => {
            match routes.sessions.begin(Arc::clone(&connection)) {
                Ok(id) => vec![(SESSION, id)],
                Err(error) => return asked.answer(Refusal::new(503, error.to_string()).into()),
            }
        }
        _ => Vec::new(),
    };
    let mut calls = Calls::new(kind, connection);
    match outcome {
        Outcome::Nothing => return asked.answer(Answer::empty(202)),
        Outcome::One(step) => calls.take(routes, step),
        Outcome::Batch(steps) => {
            calls.batch = true;
            steps.into_iter().for_each(|step| calls.take(routes, step));
        }
    }
    let mut out = Out::new(asked, accepts, session);
    if calls.wait(routes, exchange, &mut out) {
        out.finish(calls.message());
    }
}

/// `DELETE /mcp`.
pub fn end_session(routes: &Routes, asked: &Asked, exchange: &Exchange) -> Result<Answer, Refusal> {
    let modern = |version: &str| !LEGACY.contains(&version);
    if asked.header("MCP-Protocol-Version").is_some_and(modern) {
        return Err(Refusal::allow("POST"));
    }
    let id = asked
        .header(SESSION)
        .ok_or_else(|| Refusal::new(400, format!("the header {SESSION} is missing")))?;
    match own(routes, id, exchange).is_some() && routes.sessions.end(id) {
        true => Ok(Answer::empty(204)),
        false => Err(no_session()),
    }
}

/// A session, for who began it: with another token it is none.
fn own(routes: &Routes, id: &str, exchange: &Exchange) -> Option<Arc<Connection>> {
    let connection = routes.sessions.get(id)?;
    (connection.scope() == exchange.scope.as_deref()).then_some(connection)
}

fn no_session() -> Refusal {
    Refusal::new(404, "there is no such session: begin one with initialize")
}

/// Whose request it is.
fn connection(
    routes: &Routes,
    asked: &Asked,
    kind: Kind,
    headers: &Headers,
    exchange: &Exchange,
) -> Result<Arc<Connection>, Answer> {
    let scope = exchange.scope.clone();
    let actor = asked.header("X-Terminal-Actor").map(str::to_owned);
    let version = match headers.protocol_version.as_deref() {
        _ if kind != Kind::Legacy => None,
        None => None,
        Some(said) => match LEGACY.into_iter().find(|known| *known == said) {
            Some(known) => Some(known),
            None => {
                let error = RpcError::invalid_request(format_args!(
                    "MCP-Protocol-Version is none of {}",
                    LEGACY.join(", ")
                ));
                let response = Response {
                    id: None,
                    body: Err(error),
                };
                return Err(Answer::json(400, response.encode()));
            }
        },
    };
    match (kind, asked.header(SESSION)) {
        (Kind::Modern, _) => Ok(Arc::new(routes.server.stateless(actor, None).scoped(scope))),
        (Kind::Initialize, _) => Ok(Arc::new(routes.server.connect(actor).scoped(scope))),
        (Kind::Legacy, Some(id)) => own(routes, id, exchange).ok_or_else(|| no_session().into()),
        (Kind::Legacy, None) => {
            let version = version.unwrap_or(UNSAID_VERSION);
            Ok(Arc::new(
                routes.server.stateless(actor, Some(version)).scoped(scope),
            ))
        }
    }
}

/// The calls that a request asks for, and their answers as they come.
struct Calls {
    kind: Kind,
    connection: Arc<Connection>,
    batch: bool,
    notes: (Sender<String>, Receiver<String>),
    answers: (Sender<Option<Response>>, Receiver<Option<Response>>),
    left: usize,
    ready: Vec<Response>,
}

impl Calls {
    fn new(kind: Kind, connection: Arc<Connection>) -> Calls {
        Calls {
            kind,
            connection,
            batch: false,
            notes: bounded(NOTES),
            answers: unbounded(),
            left: 0,
            ready: Vec::new(),
        }
    }

    fn take(&mut self, routes: &Routes, step: Step) {
        let call = match step {
            Step::Answer(response) => return self.ready.push(response),
            Step::Call(call) => call,
        };
        self.left += 1;
        let (notes, answers) = (self.notes.0.clone(), self.answers.0.clone());
        let notify = Arc::new(move |line| drop(notes.try_send(line)));
        // The session is in use for as long as the call is.
        let connection = Arc::clone(&self.connection);
        routes.server.start(call, notify, move |response| {
            drop(connection);
            // Nobody waits any more once the client has left.
            let _ = answers.send(response);
        });
    }

    /// Waits for the calls. False when nobody waits for their answers any more.
    fn wait(&mut self, routes: &Routes, exchange: &Exchange, out: &mut Out) -> bool {
        let (left, mut stop) = (exchange.left(), routes.stop.clone());
        let notes = match out.accepts.events {
            true => self.notes.1.clone(),
            false => never(),
        };
        let mut silence = out.silence();
        while self.left > 0 {
            let note = select! {
                recv(self.answers.1) -> answer => {
                    self.left -= 1;
                    self.ready.extend(answer.ok().flatten());
                    continue;
                }
                recv(stop) -> _ => {
                    // What waits is answered, however it stands.
                    self.connection.stop();
                    stop = never();
                    continue;
                }
                recv(left) -> _ => {
                    self.leave();
                    return false;
                }
                recv(notes) -> note => note.ok(),
                recv(silence) -> _ => None,
            };
            if out.say(note).is_err() {
                self.leave();
                return false;
            }
            silence = out.silence();
        }
        notes.try_iter().all(|note| out.say(Some(note)).is_ok())
    }

    /// The client has closed the connection. To a modern one that means to cancel, to a legacy one nothing.
    fn leave(&self) {
        if self.kind == Kind::Modern {
            self.connection.cancel();
        }
    }

    /// What answers the request, and with which status; none when the client has cancelled it.
    fn message(&self) -> Option<(u16, String)> {
        match self.ready.as_slice() {
            [] => None,
            all if self.batch => Some((200, encode_batch(all))),
            [one, ..] => Some((status(one, self.kind), one.encode())),
        }
    }
}

/// The answer to a request, whose form is open for as long as nothing was sent.
struct Out {
    /// None once it is a stream.
    asked: Option<Asked>,
    events: Option<Events>,
    accepts: Accepts,
    headers: Vec<(&'static str, String)>,
}

impl Out {
    fn new(asked: Asked, accepts: Accepts, headers: Vec<(&'static str, String)>) -> Out {
        Out {
            asked: Some(asked),
            events: None,
            accepts,
            headers,
        }
    }

    /// When something has to be said, if it has.
    fn silence(&self) -> Receiver<Instant> {
        match self.accepts.events {
            true => at(Instant::now() + SILENCE),
            false => never(),
        }
    }

    /// The answer is a stream from now on.
    fn stream(&mut self) -> io::Result<&mut Events> {
        if let Some(asked) = self.asked.take() {
            let events = Events::begin(asked.request.into_writer(), &self.headers)?;
            self.events = Some(events);
        }
        self.events
            .as_mut()
            .ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }

    /// Sends a message, or a sign of life.
    fn say(&mut self, message: Option<String>) -> io::Result<()> {
        match message {
            Some(message) => self.stream()?.message(&message),
            None => self.stream()?.comment(),
        }
    }

    fn finish(mut self, message: Option<(u16, String)>) {
        // That the client has left meanwhile is no error.
        let _ = match (message, self.asked.is_some()) {
            (Some((200, text)), streams) if !streams || !self.accepts.json => self.say(Some(text)),
            (message, _) => {
                if let Some(asked) = self.asked {
                    let (status, text) = message.unwrap_or((202, String::new()));
                    let mut answer = Answer::json(status, text);
                    answer.headers = self.headers;
                    asked.answer(answer);
                }
                Ok(())
            }
        };
    }
}

fn status(response: &Response, kind: Kind) -> u16 {
    let Err(error) = &response.body else {
        return 200;
    };
    match error.code {
        code if PROTOCOL_ERRORS.contains(&code) => 400,
        // What bears no id answers no request: there was none to be read.
        PARSE_ERROR | INVALID_REQUEST if response.id.is_none() => 400,
        PARSE_ERROR | INVALID_REQUEST | INVALID_PARAMS if kind == Kind::Modern => 400,
        METHOD_NOT_FOUND if kind == Kind::Modern => 404,
        _ => 200,
    }
}

/// Checks what the client sends, and finds out what it takes.
fn accepts(asked: &Asked) -> Result<Accepts, Refusal> {
    asked.expect_json()?;
    let accepts = parse_accept(asked.header("Accept").unwrap_or("*/*"));
    if !accepts.json && !accepts.events {
        return Err(Refusal::new(
            406,
            "answers are application/json or text/event-stream",
        ));
    }
    Ok(accepts)
}

fn parse_accept(text: &str) -> Accepts {
    let mut accepts = Accepts {
        json: false,
        events: false,
    };
    for range in text.split(',') {
        let mut parts = range
            .split(';')
            .map(|part| part.trim().to_ascii_lowercase());
        let media = parts.next().unwrap_or_default();
        let refused = |part: String| {
            let weight = part.strip_prefix("q=").map(str::parse::<f32>);
            matches!(weight, Some(Ok(weight)) if weight <= 0.0)
        };
        if parts.any(refused) {
            continue;
        }
        accepts.json |= matches!(media.as_str(), "*/*" | "application/*" | "application/json");
        accepts.events |= matches!(media.as_str(), "*/*" | "text/*" | "text/event-stream");
    }
    accepts
}

fn headers(asked: &Asked) -> Result<Headers, Refusal> {
    let value = |name| match asked.header(name).map(decode) {
        None => Ok(None),
        Some(Some(value)) => Ok(Some(value)),
        Some(None) => Err(Refusal::new(400, format!("{name} is wrongly encoded"))),
    };
    Ok(Headers {
        protocol_version: asked.header("MCP-Protocol-Version").map(str::to_owned),
        method: value("Mcp-Method")?,
        name: value("Mcp-Name")?,
    })
}

/// A value that may be wrapped as `=?base64?...?=`, since headers are ASCII and names are not.
fn decode(value: &str) -> Option<String> {
    let wrapped = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match wrapped {
        None => Some(value.to_owned()),
        Some(text) => String::from_utf8(base64::decode(text)?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_take() {
        let accepts = |text: &str| {
            let Accepts { json, events } = parse_accept(text);
            (json, events)
        };
        assert_eq!(accepts("application/json, text/event-stream"), (true, true));
        assert_eq!(accepts("Text/Event-Stream"), (false, true));
        assert_eq!(accepts("application/*;q=0.5"), (true, false));
        assert_eq!(accepts("*/*"), (true, true));
        assert_eq!(accepts("text/html, application/json;q=0"), (false, false));
        assert_eq!(accepts(""), (false, false));
    }

    #[test]
    fn names_in_base64() {
        assert_eq!(decode("run").as_deref(), Some("run"));
        assert_eq!(decode("=?base64?cnVu?=").as_deref(), Some("run"));
        assert_eq!(decode("=?base64?w6k=?=").as_deref(), Some("\u{e9}"));
        assert_eq!(decode("=?base64?w6kx?=").as_deref(), Some("\u{e9}1"));
        assert_eq!(decode("=?base64??=").as_deref(), Some(""));
        for bad in ["=?base64?w6k!?=", "=?base64?w?=", "=?base64?/w==?="] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }
}
