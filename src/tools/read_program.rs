//! read_program: what a program printed after a cursor, and how it ended.

use std::time::Duration;

use serde_json::json;

use crate::mcp::{Tool, schema};
use crate::programs::{CHARS, Outcome};
use crate::reply::Reply;
use crate::reply::words;

use super::args::{Args, LINES_MOST};
use super::{Context, Failure, program};

const TIMEOUT_DEFAULT_MS: u64 = 30_000;

pub fn tool() -> Tool {
    use schema::{boolean, integer, string};
    let [outcome, status, signal] = program::end_properties();
    Tool {
        name: "read_program",
        title: "Read a program's output",
        description: "Returns what a program of `start_program` printed after `cursor`, waiting for it up to `timeoutMs`, and how it ended. Call it \
again with the returned cursor until `ended` is true: then every byte has been returned. A read that times out returns no text and the same \
cursor; the same cursor always gives the same text. Escape sequences are left out, and each state of a progress line is a line. To search a long \
output use `search` on its session.",
        input_schema: schema::object([
            program::id_property(),
            integer("cursor", "Where to begin: 0, or the cursor of the last read.").default(0).min(0),
            integer(
                "timeoutMs",
                "How long to wait when nothing new is there; 0 returns at once. The server's ceiling may shorten it.",
            )
            .default(TIMEOUT_DEFAULT_MS)
            .min(0),
            integer("maxLines", "Return at most so many lines; the rest comes with the next call.")
                .min(1)
                .max(LINES_MOST),
        ]),
        output_schema: Some(schema::object([
            string("programId", "As given.").required(),
            string(
                "text",
                "What was printed: at most about 24,000 characters, to a line break when one fits.",
            )
            .required(),
            integer("cursor", "Pass it back.").required(),
            integer("effectiveTimeoutMs", "How long this read would have waited.").required(),
            boolean("ended", "It has ended and all its output has been returned. Until then call again.").required(),
            outcome,
            status,
            signal,
            boolean(
                "outputCut",
                "Some output was not kept: the log's limit was reached, the disk was full, or the process that writes the log was killed.",
            )
            .required(),
            boolean("lostEnd", "Its pane went before the end of its output was read.").required(),
            boolean("outputComplete", "It has ended, and nothing is missing.").required(),
        ])),
        annotations: super::reads(),
        always_load: false,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let id = program::id(&mut args)?;
    let cursor = args.number("cursor", 0, u64::MAX >> 12)?.unwrap_or(0);
    let timeout = args.number("timeoutMs", 0, u64::MAX >> 12)?;
    // No page holds as many lines as it may have characters.
    let lines = args
        .number("maxLines", 1, LINES_MOST)?
        .unwrap_or(CHARS as u64);
    args.done()?;
    let timeout =
        Duration::from_millis(timeout.unwrap_or(TIMEOUT_DEFAULT_MS)).min(context.wait_most);
    let tell = || {
        if let Some(progress) = context.progress {
            progress.send(&format!("program {id} prints nothing new"));
        }
    };
    let read = context
        .programs
        .read(&id, cursor, lines as usize, timeout, context.cancel, tell)?;
    let facts = &read.facts;
    let missing = facts.output_cut || facts.lost_end;
    let record = json!({
        "programId": id,
        "text": read.page.text,
        "cursor": read.page.cursor,
        "effectiveTimeoutMs": timeout.as_millis() as u64,
        "ended": read.ended,
    });
    let record = program::joined(record, program::end_values(facts));
    let record = program::joined(
        record,
        json!({
            "outputCut": facts.output_cut,
            "lostEnd": facts.lost_end,
            "outputComplete": read.ended && !missing,
        }),
    );
    let end = match (read.ended, facts.outcome) {
        (false, Outcome::Running) => String::new(),
        (false, _) => " · more to read".into(),
        (true, _) if missing => " · ended · output is missing".into(),
        (true, _) => " · ended".into(),
    };
    let size = words::count(read.page.cursor - cursor, "byte");
    let header = format!("[{id} · {}{end} · {size}]", program::end_text(facts));
    let mut reply = Reply::of_record(header, record);
    reply.fact("status", facts.outcome.name());
    Ok(reply)
}
