//! capture_pane: what a pane shows now, and the rows above it.

use serde_json::json;

use crate::mcp::{Tool, schema};
use crate::programs::CHARS;
use crate::reply::Reply;
use crate::session::PaneId;

use super::args::{Args, BadArgument};
use super::{Context, Failure};

/// More rows than tmux keeps in its history.
const ROWS_MOST: u64 = 20_000;

pub fn tool() -> Tool {
    use schema::{boolean, integer, string};
    Tool {
        name: "capture_pane",
        title: "Show a pane's screen",
        description: "Shows a terminal pane as a person sees it now, with its size and cursor: what a progress line or a full-screen program of \
`start_program` looks like while it runs. `start` goes back into the history. For a program's output as a stream use `read_program`.",
        input_schema: schema::object([
            string("paneId", "A pane's id such as %3 (start_program returns it), or a session's name.").required(),
            integer(
                "start",
                "First row: 0 is the top of the screen, -1 the row above it in the history, and so on.",
            )
            .default(0)
            .min(-(ROWS_MOST as i64))
            .max(ROWS_MOST),
            integer("maxRows", "Rows to show. Default: to the end of the screen.").min(1).max(ROWS_MOST),
        ]),
        output_schema: Some(schema::object([
            string("paneId", "The pane's id.").required(),
            string("text", "The rows, without trailing blanks, a newline between them.").required(),
            integer("start", "The first row shown, counted as in the request.").required(),
            integer("shownRows", "How many rows text has.").required(),
            integer("cols", "Columns of the pane.").required(),
            integer("rows", "Rows of the pane.").required(),
            integer("historyRows", "Rows above the screen.").required(),
            integer("cursorRow", "The cursor's row on the screen, from 0.").required(),
            integer("cursorColumn", "The cursor's column, from 0.").required(),
            boolean("fullscreen", "A full-screen program has the screen.").required(),
            boolean("dead", "The pane's program has ended; this is its last screen.").required(),
        ])),
        annotations: super::reads(),
        always_load: false,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let name = args.required("paneId")?;
    let start = args
        .integer("start", -(ROWS_MOST as i64), ROWS_MOST as i64)?
        .unwrap_or(0);
    let most = args.number("maxRows", 1, ROWS_MOST)?;
    args.done()?;
    let pane = pane("capture_pane", "paneId", &name, context)?;
    let gone = || Failure::from(format!("capture_pane: the pane {pane} is gone"));
    // The whole of it, as far as there is any: where it begins is then known too.
    let Some(capture) = context.sessions.capture(&pane, start, ROWS_MOST * 2)? else {
        return Err(gone());
    };
    let (cols, rows) = capture.size;
    let first = start.max(-(capture.history as i64));
    if first >= rows as i64 {
        return Err(Failure::from(format!(
            "capture_pane: row {start} is below the screen, whose rows are 0 to {}; the history begins at {}",
            rows.saturating_sub(1),
            -(capture.history as i64)
        )));
    }
    let most = most.unwrap_or(ROWS_MOST * 2) as usize;
    let mut chars = 0;
    let fits = capture.rows.iter().take(most).take_while(|row| {
        chars += row.chars().count() + 1;
        chars <= CHARS
    });
    let shown = fits.count();
    let record = json!({
        "paneId": pane.0,
        "text": capture.rows[..shown].join("\n"),
        "start": first,
        "shownRows": shown,
        "cols": cols,
        "rows": rows,
        "historyRows": capture.history,
        "cursorRow": capture.cursor.1,
        "cursorColumn": capture.cursor.0,
        "fullscreen": capture.alternate,
        "dead": capture.dead,
    });
    Ok(Reply::of_record(
        format!(
            "[{pane} · {cols}x{rows} · rows {first} to {} · cursor row {} column {}]",
            first + shown as i64 - 1,
            capture.cursor.1,
            capture.cursor.0
        ),
        record,
    ))
}

/// The pane that an argument means: by its id, or as the pane of the session of that name.
pub fn pane(
    tool: &str,
    argument: &str,
    name: &str,
    context: &Context<'_>,
) -> Result<PaneId, Failure> {
    let digits = name.strip_prefix('%');
    if digits.is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())) {
        let panes = context.sessions.panes()?;
        if panes.iter().any(|info| info.pane.0 == name) {
            return Ok(PaneId(name.to_string()));
        }
        let ids: Vec<String> = panes.into_iter().map(|info| info.pane.0).collect();
        return Err(no_pane(tool, argument, name, &ids).into());
    }
    let session = context.sessions.get(name)?;
    match context.sessions.pane(&session)? {
        Some(info) => Ok(info.pane),
        None => Err(Failure::from(format!(
            "{tool}: session {name:?} has no pane any more; `read` shows its log"
        ))),
    }
}

fn no_pane(tool: &str, argument: &str, name: &str, ids: &[String]) -> BadArgument {
    let known = match ids {
        [] => "there is none".to_string(),
        ids => format!("there are {}", ids.join(", ")),
    };
    format!("{tool}: `{argument}` names no pane: {name:?}; {known}")
}
