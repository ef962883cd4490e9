//! session_close: ends a session's terminal; its logs stay.

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::reply::header::Status;
use crate::session::front::Front;

use super::args::Args;
use super::{Context, Failure, report};

pub fn tool() -> Tool {
    use schema::string;
    Tool {
        name: "session_close",
        title: "Close a session",
        description: "Ends a session's terminal and whatever runs in it. Its log can still be read and searched. Refused while a person is \
attached, and for another agent's session while a command runs there. Close what you opened when the task is done; to stop only a command use \
`send` keys=[\"ctrl+c\"].",
        input_schema: schema::object([string("session", "Name of the session.").required()]),
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
    args.done()?;
    let session = context.sessions.get(&name)?;
    let info = context.sessions.pane(&session)?;
    let Some(info) = info else {
        return Err(Failure::from(format!(
            "session {name:?} is closed already; its log can still be read and searched"
        )));
    };
    if info.attached > 0 {
        let people = if info.attached == 1 {
            "a person is"
        } else {
            "people are"
        };
        return Err(Failure::from(format!(
            "{people} attached to {name}; it stays open. Ask the user to close it, or to detach first"
        )));
    }
    let front = context.sessions.front(&session);
    let busy =
        session.state().regions.running().is_some() || matches!(front, Front::Working { .. });
    if session.meta.agent != context.agent && busy {
        return Err(Failure::from(format!(
            "{} opened {name}, and {} runs there; it stays open",
            session.meta.agent,
            front.name()
        )));
    }
    context.sessions.close(&session)?;
    let status = Status::Closed {
        how: "session closed".into(),
        exit: None,
    };
    let mut reply = Reply::new(format!("[{name} · closed]"));
    report::facts(&mut reply, &session, &status);
    match !session.dir.path.exists() {
        true => reply.note("its logs were deleted, as they were meant to be"),
        false => reply.note(format!(
            "its log stays in {} and can be read and searched",
            session.dir.path.display()
        )),
    }
    Ok(reply)
}
