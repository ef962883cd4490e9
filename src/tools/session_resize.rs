//! session_resize: another size, kept or followed.

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;

use super::args::Args;
use super::session_create::SIZE_MOST;
use super::{Context, Failure};

pub fn tool() -> Tool {
    use schema::{boolean, integer, string};
    Tool {
        name: "session_resize",
        title: "Resize a session",
        description: "Gives a session's terminal another size: wider for a program that cuts its lines, higher for one with the full screen. \
The size then stays when a person attaches with another window, unless `fixed` is false: then it follows theirs again. Lines of the log are whole \
at any width, so `run` and `read` need no resizing.",
        input_schema: schema::object([
            string("session", "Name of the session.").required(),
            integer("cols", "Columns. Default: as they are.")
                .min(10)
                .max(SIZE_MOST),
            integer("rows", "Rows. Default: as they are.")
                .min(2)
                .max(SIZE_MOST),
            boolean(
                "fixed",
                "Keep the size when people attach; false: follow their window again.",
            )
            .default(true),
        ]),
        output_schema: None,
        annotations: Annotations {
            idempotent: true,
            ..Annotations::default()
        },
        always_load: true,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let name = args.required("session")?;
    let cols = args.number("cols", 10, SIZE_MOST)?;
    let rows = args.number("rows", 2, SIZE_MOST)?;
    let fixed = args.optional_flag("fixed")?;
    args.done()?;
    if fixed.is_none() && cols.is_none() && rows.is_none() {
        return Err(Failure::from(
            "session_resize: give `cols`, `rows` or both, or `fixed`: true to keep the size that it has, false to follow an attached window again".to_string(),
        ));
    }
    let fixed = fixed.unwrap_or(true);
    let session = context.sessions.get_live(&name)?;
    let (width, height) = session.state().term.size();
    let wanted = (cols.is_some() || rows.is_some()).then(|| {
        (
            cols.map_or(width, |cols| cols as u16),
            rows.map_or(height, |rows| rows as u16),
        )
    });
    let size = context.sessions.resize(&session, wanted, fixed)?;
    let mut reply = Reply::new(format!(
        "[{name} · {}x{} · {}]",
        size.0,
        size.1,
        if fixed {
            "fixed"
        } else {
            "follows an attached window"
        }
    ));
    reply.fact("session", name);
    reply.fact(
        "screen",
        serde_json::json!({ "cols": size.0, "rows": size.1 }),
    );
    if wanted.is_some_and(|wanted| wanted != size) {
        reply.note("the window it stands in has no room for more");
    }
    Ok(reply)
}
