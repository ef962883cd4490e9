//! session_close: ends a session's terminal; its logs stay.

use std::sync::Arc;

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::reply::header::Status;
use crate::session::Session;
use crate::session::front::Front;

use super::args::Args;
use super::{Context, Failure, report};

pub fn tool() -> Tool {
    use schema::{boolean, string};
    Tool {
        name: "session_close",
        title: "Close a session",
        description: "Ends a session's terminal and whatever runs in it. Its log can still be read and searched. Refused while a person is \
attached, and for another agent's session while a command runs there. Close what you opened when the task is done; to stop only a command use \
`send` keys=[\"ctrl+c\"].",
        input_schema: schema::object([
            string("session", "Name of the session.").required(),
            boolean(
                "window",
                "Close every session of its window too (session_split, a person's splits).",
            )
            .default(false),
        ]),
        output_schema: None,
        annotations: Annotations {
            destructive: true,
            idempotent: true,
            ..Annotations::default()
        },
        always_load: true,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let name = args.required("session")?;
    let window = args.flag("window")?;
    args.done()?;
    let session = context.sessions.get(&name)?;
    let info = context.sessions.pane(&session)?;
    let Some(info) = info else {
        return Err(Failure::from(format!(
            "session {name:?} is closed already; its log can still be read and searched"
        )));
    };
    let people = context.sessions.people()?;
    let attached = session.presence(Some(&info), &people).attached;
    if attached > 0 {
        let people = if attached == 1 {
            "a person is"
        } else {
            "people are"
        };
        return Err(Failure::from(format!(
            "{people} attached to {name}; it stays open. Ask the user to close it, or to detach first"
        )));
    }
    let mut others = Vec::new();
    if window {
        others = context.sessions.beside(&session, &info)?;
    }
    // All are looked at before the first is closed.
    for session in std::iter::once(&session).chain(&others) {
        may_close(context, session)?;
    }
    for session in std::iter::once(&session).chain(&others) {
        context.sessions.close(session)?;
    }
    let status = Status::Closed {
        how: "session closed".into(),
        exit: None,
    };
    let mut reply = Reply::new(format!("[{name} · closed]"));
    report::facts(&mut reply, &session, &status);
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(|other| other.name.as_str()).collect();
        reply.note(format!("closed with it: {}", names.join(", ")));
    }
    match !session.dir.path.exists() {
        true => reply.note("its logs were deleted, as they were meant to be"),
        false => reply.note(format!(
            "its log stays in {} and can be read and searched",
            session.dir.path.display()
        )),
    }
    Ok(reply)
}

fn may_close(context: &Context<'_>, session: &Arc<Session>) -> Result<(), Failure> {
    let front = context.sessions.front(session);
    let busy =
        session.state().regions.running().is_some() || matches!(front, Front::Working { .. });
    if session.meta.agent == context.agent || !busy {
        return Ok(());
    }
    Err(Failure::from(format!(
        "{} opened {}, and {} runs there; it stays open",
        session.meta.agent,
        session.name,
        front.name()
    )))
}
