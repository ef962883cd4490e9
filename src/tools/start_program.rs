//! start_program: one program by its exact argv, in a pane of its own.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::mcp::{Annotations, Tool, schema};
use crate::programs::{LIFETIME_DEFAULT, LIFETIME_MOST, Start};
use crate::reply::Reply;
use crate::session::Session;
use crate::session::create::{Beside, Request};

use super::args::Args;
use super::session_create::{COLS_DEFAULT, ROWS_DEFAULT, SIZE_MOST, check_env};
use super::{Context, Failure, capture_pane};

pub fn tool() -> Tool {
    use schema::{integer, string, string_map, strings};
    let [default, most] = [LIFETIME_DEFAULT, LIFETIME_MOST].map(|time| time.as_millis() as u64);
    Tool {
        name: "start_program",
        title: "Start a program",
        description: "Starts one program by its exact argv, without a shell: spaces, quotes, newlines and empty strings arrive as they are. It \
runs in a terminal pane that a person can watch. Returns at once; read its output and how it ended with `read_program`, end it and let its output \
go with `stop_program`. Use it for a single program whose exact exit matters; for a shell whose folder and variables last use `session_create` and \
`run`. A program that cannot be started is no error here: `read_program` tells it as the outcome not_started.",
        input_schema: schema::object([
            strings(
                "argv",
                "The program, looked up on the PATH unless it has a slash, and its arguments.",
            )
            .required(),
            string(
                "startDirectory",
                "Folder to start in: an absolute path, or ~/... Default: the server's.",
            ),
            string_map("env", "Variables to add to the environment."),
            integer(
                "lifetimeMs",
                "It is ended when it has run so long; more than 24 hours is taken for 24 hours.",
            )
            .default(default)
            .min(1),
            string(
                "fromPaneId",
                "Open it beside this pane (an id such as %3, or a session's name), so that who watches that sees both.",
            ),
            string(
                "name",
                "Name of its session: letters, digits, _ and -, at most 64. Default p1, p2, ...",
            ),
            integer("cols", "Columns.")
                .default(COLS_DEFAULT)
                .min(10)
                .max(SIZE_MOST),
            integer("rows", "Rows.")
                .default(ROWS_DEFAULT)
                .min(2)
                .max(SIZE_MOST),
        ]),
        output_schema: Some(schema::object([
            string("programId", "Pass it to read_program and stop_program.").required(),
            string("paneId", "Its pane, for capture_pane.").required(),
            string("session", "Its session, for the terminal tools.").required(),
            string(
                "attach",
                "The command with which a person joins; tell it to the user.",
            )
            .required(),
            integer(
                "cursor",
                "Where its output begins: pass it to read_program.",
            )
            .required(),
            integer("effectiveLifetimeMs", "It is ended after so long.")
                .min(1)
                .max(most)
                .required(),
        ])),
        annotations: Annotations {
            open_world: true,
            ..Annotations::default()
        },
        always_load: false,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let argv = args.strings("argv")?;
    let cwd = args.string("startDirectory")?;
    let env = args.pairs("env")?;
    let lifetime = args.number("lifetimeMs", 1, u64::MAX >> 12)?;
    let from = args.string("fromPaneId")?;
    let name = args.string("name")?;
    let cols = args.number("cols", 10, SIZE_MOST)?.unwrap_or(COLS_DEFAULT);
    let rows = args.number("rows", 2, SIZE_MOST)?.unwrap_or(ROWS_DEFAULT);
    args.done()?;
    if argv.is_empty() {
        return Err(Failure::from(
            "start_program: `argv` is required: an array of strings, the program first".to_string(),
        ));
    }
    if let Some(at) = argv.iter().position(|word| word.contains('\0')) {
        return Err(Failure::from(format!(
            "start_program: `argv`[{at}] holds a NUL character, which no argument can hold"
        )));
    }
    check_env("start_program", &env)?;
    let beside = match from {
        None => None,
        Some(pane) => Some(Beside {
            session: session_with(&pane, context)?,
            below: false,
            size: None,
        }),
    };
    let lifetime = lifetime
        .map_or(LIFETIME_DEFAULT, Duration::from_millis)
        .min(LIFETIME_MOST);
    let program = context.programs.start(Start {
        argv,
        lifetime,
        session: Request {
            name,
            cwd: cwd.or(context.folder.map(str::to_owned)).map(Into::into),
            env,
            cols: cols as u16,
            rows: rows as u16,
            agent: context.agent.to_string(),
            beside,
            ..Request::default()
        },
    })?;
    let session = &program.session;
    session.meet(context.agent);
    let record = json!({
        "programId": program.id,
        "paneId": session.pane.0,
        "session": session.name,
        "attach": context.sessions.attach(&session.meta),
        "cursor": 0,
        "effectiveLifetimeMs": lifetime.as_millis() as u64,
    });
    let mut reply = Reply::of_record(format!("[{} · started]", program.id), record);
    reply.fact("session", session.name.as_str());
    Ok(reply)
}

/// The session that `fromPaneId` means: by its name, or by its pane's id.
fn session_with(pane: &str, context: &Context<'_>) -> Result<Arc<Session>, Failure> {
    let id = capture_pane::pane("start_program", "fromPaneId", pane, context)?;
    let sessions = context.sessions;
    for meta in sessions.metas().iter().filter(|meta| meta.pane == id.0) {
        let session = sessions.get(&meta.name)?;
        // The id may be another pane's by now.
        if sessions.pane(&session)?.is_some() {
            return Ok(session);
        }
    }
    Err(Failure::from(format!(
        "start_program: `fromPaneId` names pane {id}, which belongs to no session"
    )))
}
