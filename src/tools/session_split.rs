//! session_split: one more terminal in a session's window.

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::session::create::{Beside, Request};

use super::args::{self, Args};
use super::session_create::{self, check_command, check_env};
use super::{Context, Failure};

pub fn tool() -> Tool {
    use schema::{boolean, string, string_map};
    Tool {
        name: "session_split",
        title: "Split a session's window",
        description: "Opens one more terminal in the window of a session, beside it or below, so that a person who watches sees both at once: \
a server and its client, a build and its log. It is a session of its own in everything else. For a terminal that nobody needs to see beside \
this one use `session_create`. Refused when the window has no room.",
        input_schema: schema::object([
            string("session", "Name of the session whose window is split.").required(),
            string(
                "name",
                "Letters, digits, _ and -, at most 64. Default: the window's name with +1, +2, ...",
            ),
            string(
                "command",
                "bash (the default), zsh or fish: that shell, with exact exit statuses. Any other command line runs as the session itself.",
            ),
            string_map("env", "Variables to add to the environment."),
            boolean("below", "Below the session; else to its right.").default(false),
            string(
                "size",
                "Columns (rows with `below`) of the new terminal, as \"40\", or a share, as \"30%\". Default: half.",
            ),
            string(
                "prompt_pattern",
                "Regular expression that the prompt line of the session's program matches, up to the cursor.",
            ),
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
    let session = args.required("session")?;
    let name = args.string("name")?;
    let command = args.string("command")?;
    let env = args.pairs("env")?;
    let below = args.flag("below")?;
    let size = args.string("size")?;
    let prompt_pattern = args.string("prompt_pattern")?;
    args.done()?;
    check_env("session_split", &env)?;
    check_command("session_split", command.as_deref())?;
    if let Some(pattern) = &prompt_pattern {
        args::regex_of(pattern, false)
            .map_err(|error| format!("session_split: `prompt_pattern` {error}"))?;
    }
    let size = size.map(|text| checked_size(&text)).transpose()?;
    let beside = context.sessions.get_live(&session)?;
    let made = context.sessions.create(&Request {
        name,
        command,
        cwd: Some(beside.folder(&context.sessions.proc)),
        env,
        prompt_pattern,
        agent: context.agent.to_string(),
        beside: Some(Beside {
            session: beside,
            below,
            size,
        }),
        ..Request::default()
    })?;
    session_create::opened(context, &made)
}

/// A whole number above 0, or a share of 1 to 99 %.
fn checked_size(text: &str) -> Result<String, String> {
    let text = text.trim();
    let (digits, most) = match text.strip_suffix('%') {
        Some(digits) => (digits, 99),
        None => (text, 10_000),
    };
    let number: Option<u32> = digits.parse().ok();
    match number.filter(|number| (1..=most).contains(number)) {
        Some(_) => Ok(text.to_string()),
        None => Err(format!(
            "session_split: `size` must be a number of columns or rows, as \"40\", or a share, as \"30%\", not {text:?}"
        )),
    }
}
