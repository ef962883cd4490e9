//! session_logs: how long a session's logs stay.

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::session::retention::Action;

use super::args::Args;
use super::{Context, Failure};

pub fn tool() -> Tool {
    use schema::string;
    Tool {
        name: "session_logs",
        title: "Keep or delete a session's logs",
        description: "Decides how long a session's logs stay; nothing is typed. Left alone, the logs of a closed session go some days (3 \
unless set otherwise) after they were last read, so there is nothing to clean up. keep: they stay until someone says otherwise. default: takes \
keep and delete_on_close back. delete_on_close: they go when the session closes; of a closed one within a minute. delete: they go now, for good; \
refused while the session is open. Works on open and closed sessions and on the earlier logs of a name (build.1). To end a session use \
`session_close`.",
        input_schema: schema::object([
            string("session", "Name of a session, open or closed.").required(),
            string("action", "What is to become of the logs.")
                .one_of(&Action::ALL.map(Action::name))
                .required(),
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
    let word = args.required("action")?;
    args.done()?;
    let action = Action::named(&word).map_err(|error| format!("session_logs: {error}"))?;
    let outcome = context.sessions.set_logs(&name, action, context.agent)?;
    let mut reply = Reply::new(format!("[{name} · {outcome}]"));
    reply.fact("session", name);
    Ok(reply)
}
