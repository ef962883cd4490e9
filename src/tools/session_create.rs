//! session_create: a new terminal.

use std::sync::Arc;
use std::time::Duration;

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::session::Session;
use crate::session::create::{ENV_MOST, Request, first_prompt_deadline};
use crate::session::front::{self, Front};
use crate::session::watch::Woken;

use super::args::{self, Args};
use super::{Context, Failure, report};

pub(super) const COLS_DEFAULT: u64 = 120;
pub(super) const ROWS_DEFAULT: u64 = 40;
/// tmux takes no window larger than this (WINDOW_MAXIMUM).
pub(super) const SIZE_MOST: u64 = 10_000;

pub fn tool() -> Tool {
    use schema::{boolean, integer, string, string_map};
    Tool {
        name: "session_create",
        title: "Open a session",
        description: "Opens a terminal that lasts: a shell (bash unless `command` says otherwise) whose folder, variables and programs stay \
between calls, which a person can watch and type into. Open one at the start of a task and do the task's shell work in it with `run`, in \
place of one-shot shell calls. Tell the user the attach command from the reply. Returns when the first prompt is there. Another program as \
`command` runs as the session itself, and the session is over when it ends. Refused: a name in use, a folder or program that is not there.",
        input_schema: schema::object([
            string(
                "name",
                "Letters, digits, _ and -, at most 64. Default t1, t2, ... A closed session's name may be used again.",
            ),
            string(
                "command",
                "bash (the default), zsh or fish: that shell, with exact exit statuses. Any other command line runs as the session itself.",
            ),
            string(
                "cwd",
                "Folder to start in: an absolute path, or ~/... Default: the server's.",
            ),
            string_map("env", "Variables to add to the environment."),
            integer("cols", "Columns.")
                .default(COLS_DEFAULT)
                .min(10)
                .max(SIZE_MOST),
            integer("rows", "Rows.")
                .default(ROWS_DEFAULT)
                .min(2)
                .max(SIZE_MOST),
            boolean(
                "fixed_size",
                "Keep the size when a person attaches with a window of another size.",
            )
            .default(false),
            string(
                "prompt_pattern",
                "Regular expression that the prompt line of the session's program matches, up to the cursor.",
            ),
            boolean(
                "delete_logs_on_close",
                "Delete the logs when the session is closed.",
            )
            .default(false),
        ]),
        output_schema: None,
        annotations: Annotations {
            open_world: true,
            ..Annotations::default()
        },
        always_load: true,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let name = args.string("name")?;
    let command = args.string("command")?;
    let cwd = args.string("cwd")?;
    let env = args.pairs("env")?;
    let cols = args.number("cols", 10, SIZE_MOST)?.unwrap_or(COLS_DEFAULT);
    let rows = args.number("rows", 2, SIZE_MOST)?.unwrap_or(ROWS_DEFAULT);
    let fixed_size = args.flag("fixed_size")?;
    let prompt_pattern = args.string("prompt_pattern")?;
    let delete_logs_on_close = args.flag("delete_logs_on_close")?;
    args.done()?;
    check_env("session_create", &env)?;
    check_command("session_create", command.as_deref())?;
    if let Some(pattern) = &prompt_pattern {
        args::regex_of(pattern, false)
            .map_err(|error| format!("session_create: `prompt_pattern` {error}"))?;
    }
    let session = context.sessions.create(&Request {
        name,
        command,
        cwd: cwd.or(context.folder.map(str::to_owned)).map(Into::into),
        env,
        cols: cols as u16,
        rows: rows as u16,
        fixed_size,
        prompt_pattern,
        delete_logs_on_close,
        agent: context.agent.to_string(),
        ..Request::default()
    })?;
    opened(context, &session)
}

/// What is said of a session that has just been made.
pub(super) fn opened(context: &Context<'_>, session: &Arc<Session>) -> Result<Reply, Failure> {
    session.meet(context.agent);
    let first = first_prompt(context, session);
    let (cols, rows) = (session.meta.cols, session.meta.rows);
    let attach = context.sessions.attach(&session.meta);
    let mut reply = Reply::new(format!(
        "[{} · {} · {cols}x{rows} · {}]",
        session.name,
        crate::reply::words::one_line(&session.meta.command, 80),
        session.meta.cwd.display()
    ))
    .body(format!(
        "Attach with:\n{attach}\nLogs: {}",
        session.dir.path.display()
    ));
    report::facts(&mut reply, session, &crate::reply::header::Status::Settled);
    reply.fact("attach", attach);
    match first {
        First::Prompt => {
            reply.fact("status", "prompt");
            reply.note("the prompt is there; tell the user the attach command, which lets them watch and type along");
        }
        First::Program(text) => reply.note(text),
        First::Ended(text) => {
            reply.fact("status", "closed");
            reply.note(text);
        }
    }
    // `paneglass into`: the program became a shell with markers.
    let marked = session.state().regions.integrated;
    if session.meta.integrated.is_none() && !marked && session.state().ending.is_none() {
        reply.note("a program or plain shell: lines typed with `run` are matched by prompts, without exit statuses");
    }
    super::place::tell(context, session, "session_create", &mut reply);
    Ok(reply)
}

/// A command is typed by nobody: control characters in it are a mistake.
pub(super) fn check_command(tool: &str, command: Option<&str>) -> Result<(), String> {
    let control = |c: &char| c.is_control() && *c != '\n' && *c != '\t';
    match command.and_then(|text| text.chars().find(control)) {
        None => Ok(()),
        Some(control) => Err(format!(
            "{tool}: `command` holds the control character U+{:04X}",
            u32::from(control)
        )),
    }
}

/// Names as the environment takes them.
pub(super) fn check_env(tool: &str, env: &[(String, String)]) -> Result<(), String> {
    let size: usize = env
        .iter()
        .map(|(name, value)| name.len() + value.len() + 2)
        .sum();
    if size > ENV_MOST {
        return Err(format!(
            "{tool}: `env` is {size} bytes; at most {ENV_MOST} are taken"
        ));
    }
    let bad = env.iter().find(|(name, value)| {
        name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
    });
    match bad {
        Some((name, _)) => Err(format!(
            "{tool}: `env` has a name or value that no environment holds: {name:?}"
        )),
        None => Ok(()),
    }
}

enum First {
    Prompt,
    /// What was there instead, when 5 s had passed or a program had settled.
    Program(String),
    Ended(String),
}

/// Output of a program that prints no known prompt has settled when it was quiet for so long.
const QUIET: Duration = Duration::from_millis(500);

fn first_prompt(context: &Context<'_>, session: &Arc<Session>) -> First {
    let watch = session.watch();
    let deadline = first_prompt_deadline();
    let integrated = session.meta.integrated.is_some();
    loop {
        let quiet = session.state().last_output.elapsed();
        let printed = session.state().offset() > 0;
        match context.sessions.front(session) {
            Front::Shell { .. } => return First::Prompt,
            Front::Over(ending) => return First::Ended(report::ending_text(&ending)),
            Front::Prompt { .. } if !integrated && printed => return First::Prompt,
            Front::Fullscreen { view } if quiet >= QUIET => {
                return First::Program(format!("{} has drawn its screen", front::name(&view)));
            }
            Front::Waiting { line, view, .. } if !integrated && quiet >= QUIET => {
                let at = crate::reply::words::one_line(&line, 80);
                return First::Program(format!("{} waits for input at {at:?}", front::name(&view)));
            }
            other if std::time::Instant::now() >= deadline => {
                return First::Program(match integrated {
                    true => format!(
                        "no prompt within 5 s: {} is in front; `read` view=screen shows it",
                        other.name()
                    ),
                    false => format!("{} works", other.name()),
                });
            }
            _ => {}
        }
        // Woken by output; where none comes, the kernel is asked again.
        let look = std::time::Instant::now()
            + if integrated {
                Duration::from_secs(5)
            } else {
                Duration::from_millis(100)
            };
        if watch.wait(look.min(deadline), context.cancel) == Woken::Cancelled {
            return First::Program(
                "the call was cancelled while the first prompt was awaited".into(),
            );
        }
    }
}
