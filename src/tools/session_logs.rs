//! session_logs: how long a session's logs stay.

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::session::date;
use crate::session::retention::{Action, Fate, Outcome};

use super::args::Args;
use super::{Context, Failure};

/// The spellings of `action`, in the order of the schema.
const ACTIONS: [(&str, Action); 4] = [
    ("keep", Action::Keep),
    ("default", Action::Default),
    ("delete_on_close", Action::DeleteOnClose),
    ("delete", Action::Delete),
];

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
                .one_of(&["keep", "default", "delete_on_close", "delete"])
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
    let Some((_, action)) = ACTIONS.iter().find(|(known, _)| *known == word) else {
        let known = ACTIONS.map(|(known, _)| known).join(", ");
        return Err(Failure::from(format!(
            "session_logs: `action` must be one of {known}, not {word:?}"
        )));
    };
    let outcome = context.sessions.set_logs(&name, *action, context.agent)?;
    let what = match &outcome {
        Outcome::Removed(_) => "its logs are deleted".to_string(),
        Outcome::Marked(fate) => text(fate),
    };
    let mut reply = Reply::new(format!("[{name} · {what}]"));
    reply.fact("session", name);
    Ok(reply)
}

/// What becomes of a session's logs, in words.
pub fn text(fate: &Fate) -> String {
    match fate {
        Fate::Open { on_close: true } => "open; its logs go when it closes".into(),
        Fate::Open { on_close: false } => "open; its logs stay".into(),
        Fate::Elsewhere => "another host's or tmux socket's; its logs stay".into(),
        Fate::Kept => "its logs are kept".into(),
        Fate::Forever => "its logs stay".into(),
        Fate::Until(ms) => format!("its logs stay until {}", date::utc(*ms)),
        Fate::Due(_) => "its logs are about to be deleted".into(),
    }
}
