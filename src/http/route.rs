//! From a path and a method to an answer. Must not know how requests come, nor what the answers are about.

use std::convert::Infallible;
use std::io::Read;
use std::sync::Arc;

use crossbeam_channel::Receiver;
use serde_json::Value;
use tiny_http::{Header, Request, Response, StatusCode};

use super::answer::Answer;
use super::body::BODY_LIMIT;
use super::exchange::Exchange;
use super::sessions::Sessions;
use super::vet::OPEN_PATH;
use super::{Api, Refusal, post};
use crate::mcp::dispatch::Server;

/// What the paths lead to.
pub struct Routes {
    pub server: Arc<Server>,
    pub sessions: Sessions,
    /// Disconnects when the server stops.
    pub stop: Receiver<Infallible>,
    api: Arc<dyn Api>,
}

/// A request, as far as the routes look at it.
pub struct Asked {
    pub request: Request,
    pub body: Vec<u8>,
}

impl Asked {
    /// A header's value. The gate has joined or refused what came twice.
    pub fn header(&self, name: &'static str) -> Option<&str> {
        let mut headers = self.request.headers().iter();
        headers
            .find(|header| header.field.equiv(name))
            .map(|header| header.value.as_str())
    }

    /// Refuses a body that is not said to be JSON.
    pub fn expect_json(&self) -> Result<(), Refusal> {
        let sent = self.header("Content-Type").unwrap_or_default();
        let sent = sent.split(';').next().unwrap_or_default().trim();
        match sent.eq_ignore_ascii_case("application/json") {
            true => Ok(()),
            false => Err(Refusal::new(
                415,
                "the Content-Type must be application/json",
            )),
        }
    }

    /// The body as JSON.
    fn json(&self) -> Result<Value, Refusal> {
        self.expect_json()?;
        serde_json::from_slice(&self.body)
            .map_err(|error| Refusal::new(400, format!("the body is not JSON: {error}")))
    }

    /// Sends an answer. That the gate no longer waits for it is no error.
    pub fn answer(self, answer: Answer) {
        let mut response = Response::from_data(answer.body.clone().into_bytes())
            .with_status_code(StatusCode(answer.status))
            .with_chunked_threshold(usize::MAX);
        let json = (!answer.body.is_empty()).then(|| ("Content-Type", "application/json".into()));
        for (name, value) in answer.headers.iter().cloned().chain(json) {
            if let Ok(header) = Header::from_bytes(name, value) {
                response.add_header(header);
            }
        }
        let _ = self.request.respond(response);
    }
}

impl Routes {
    pub fn new(server: Arc<Server>, api: Arc<dyn Api>, stop: Receiver<Infallible>) -> Routes {
        Routes {
            server,
            sessions: Sessions::default(),
            stop,
            api,
        }
    }

    /// Answers one request, for as long as that takes.
    pub fn answer(&self, mut request: Request, exchange: &Exchange) {
        let mut body = Vec::new();
        let whole = request.body_length().unwrap_or(0);
        let mut reader = request.as_reader().take(BODY_LIMIT as u64);
        let read = reader.read_to_end(&mut body);
        let asked = Asked { request, body };
        if read.is_err() || asked.body.len() != whole {
            return asked.answer(Refusal::new(400, "the body broke off").into());
        }
        match self.path(&asked, exchange) {
            Ok(Some(answer)) => asked.answer(answer),
            Ok(None) => post::carry_out(self, asked, exchange),
            Err(refusal) => asked.answer(refusal.into()),
        }
    }

    /// The answer of a path, none for `POST /mcp`.
    fn path(&self, asked: &Asked, exchange: &Exchange) -> Result<Option<Answer>, Refusal> {
        let method = asked.request.method().as_str();
        let url = asked.request.url();
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let only = |known: &str| match method == known {
            true => Ok(()),
            false => Err(Refusal::allow(known)),
        };
        let told = match path {
            "/mcp" => {
                return match method {
                    "POST" => Ok(None),
                    "DELETE" => post::end_session(self, asked, exchange).map(Some),
                    _ => Err(Refusal::allow("POST, DELETE")),
                };
            }
            OPEN_PATH => {
                only("GET")?;
                self.api.health()
            }
            "/api/sessions" => {
                only("GET")?;
                self.api.sessions()?
            }
            "/api/sweep" => {
                only("POST")?;
                self.api.sweep(dry_run(query, &asked.body)?)?
            }
            _ => match path.strip_prefix("/api/sessions/").map(name_and_part) {
                Some((name, None)) if !name.is_empty() => {
                    only("GET")?;
                    self.api.session(name)?
                }
                Some((name, Some("logs"))) if !name.is_empty() => {
                    only("POST")?;
                    let actor = asked.header("X-Terminal-Actor");
                    self.api.set_logs(name, asked.json()?, actor)?
                }
                _ => return Err(Refusal::new(404, "there is nothing at this path")),
            },
        };
        Ok(Some(Answer::json(200, told.to_string())))
    }
}

/// What follows /api/sessions/: a session's name, and which part of the session is meant where that is said.
fn name_and_part(rest: &str) -> (&str, Option<&str>) {
    match rest.split_once('/') {
        Some((name, part)) => (name, Some(part)),
        None => (rest, None),
    }
}

/// Whether a sweep is to tell alone. What is not understood is refused: it may have been meant to delete nothing.
fn dry_run(query: &str, body: &[u8]) -> Result<bool, Refusal> {
    match query {
        _ if !body.is_empty() => Err(Refusal::new(
            400,
            "a sweep has no body: `dry_run=1` goes into the query",
        )),
        "dry_run=1" | "dry_run=true" => Ok(true),
        "" | "dry_run=0" | "dry_run=false" => Ok(false),
        _ => Err(Refusal::new(
            400,
            "the query of a sweep is `dry_run=1`, or none",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_that_is_not_understood_deletes_nothing() {
        let asked = |query, body: &str| dry_run(query, body.as_bytes()).ok();
        for query in ["dry_run=1", "dry_run=true"] {
            assert_eq!(asked(query, ""), Some(true), "{query}");
        }
        for query in ["", "dry_run=0", "dry_run=false"] {
            assert_eq!(asked(query, ""), Some(false), "{query}");
        }
        for query in [
            "dry-run=1",
            "dry_run",
            "dry_run=",
            "dry_run=yes",
            "dry_run=1&x",
            "x=1&dry_run=1",
        ] {
            assert_eq!(asked(query, ""), None, "{query}");
        }
        assert_eq!(asked("", "{\"dry_run\": true}"), None);
    }
}
