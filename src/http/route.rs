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
        let path = url.split('?').next().unwrap_or_default();
        let get = |answer: &dyn Fn() -> Result<Value, Refusal>| match method {
            "GET" => Ok(Some(Answer::json(200, answer()?.to_string()))),
            _ => Err(Refusal::allow("GET")),
        };
        let failed = |error: String| Refusal::new(503, error);
        match path {
            "/mcp" => match method {
                "POST" => Ok(None),
                "DELETE" => post::end_session(self, asked, exchange).map(Some),
                _ => Err(Refusal::allow("POST, DELETE")),
            },
            OPEN_PATH => get(&|| Ok(self.api.health())),
            "/api/sessions" => get(&|| self.api.sessions().map_err(failed)),
            _ => match path.strip_prefix("/api/sessions/") {
                Some(name) if !name.is_empty() && !name.contains('/') => get(&|| {
                    let session = self.api.session(name).map_err(failed)?;
                    session.ok_or_else(|| Refusal::new(404, "there is no session of this name"))
                }),
                _ => Err(Refusal::new(404, "there is nothing at this path")),
            },
        }
    }
}
