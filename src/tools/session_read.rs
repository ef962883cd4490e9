//! session_read: a device session's output from a cursor on.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::{Tool, schema};
use crate::reply::Reply;

use super::args::Args;
use super::{Context, Failure, device};

/// The longest wait, in milliseconds.
const WAIT_MOST: u64 = 20_000;

/// Bytes of output in one reply: unless it is told, at least (the longest character), and at most.
const BYTES_DEFAULT: u64 = 16_384;
const BYTES_LEAST: u64 = 4;
const BYTES_MOST: u64 = 65_536;

pub fn tool() -> Tool {
    use schema::{boolean, integer, string};
    let [exit_code, timed_out, canceled, error] = device::end_properties();
    Tool {
        name: "session_read",
        title: "Read a device session",
        description: "Reads what a session of session_start printed, from `cursor` on; go on from `next_cursor`. With `wait_ms` it waits while there \
is nothing new. `done` comes with the end: exit_code, or why there is none. A device that was disconnected proves neither success nor \
cancellation. Only the last MiB is kept: `truncated` tells that older output was dropped before it was read.",
        input_schema: schema::object([
            device::token(),
            device::session(),
            integer("cursor", "A byte offset that was returned, or 0.")
                .min(0)
                .default(0),
            integer("wait_ms", "Wait so long for something new.")
                .min(0)
                .max(WAIT_MOST)
                .default(0),
            integer("max_bytes", "Return at most so much.")
                .min(BYTES_LEAST)
                .max(BYTES_MOST)
                .default(BYTES_DEFAULT),
        ]),
        output_schema: Some(schema::object([
            string("session_id", "The session.").required(),
            string(
                "output",
                "What it printed; control sequences are left as they are.",
            )
            .required(),
            integer("next_cursor", "To read on from.").required(),
            boolean("has_more", "There is more already.").required(),
            boolean("truncated", "Output at the cursor is no longer kept.").required(),
            boolean("done", "It has ended, and this was the last of it.").required(),
            exit_code,
            timed_out,
            canceled,
            error,
        ])),
        annotations: super::reads(),
        always_load: false,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let (hub, group) = device::group(&mut args, context)?;
    let id = args.required("session_id")?;
    let cursor = args.number("cursor", 0, u64::MAX)?.unwrap_or(0);
    let wait_ms = args.number("wait_ms", 0, WAIT_MOST)?.unwrap_or(0);
    let most = args.number("max_bytes", BYTES_LEAST, BYTES_MOST)?;
    let most = usize::try_from(most.unwrap_or(BYTES_DEFAULT)).unwrap_or(usize::MAX);
    args.done()?;
    let job = hub.session(&group, &id)?;
    // A cursor that is wrong stays so.
    job.read(cursor, most)?;
    let deadline = Instant::now() + Duration::from_millis(wait_ms);
    device::wait(&job.changes, deadline, context, || {
        job.range().1 > cursor || job.ended().is_some()
    });
    let (part, ended) = job.read(cursor, most)?;
    let ended = ended.filter(|_| !part.more);
    let header = match &ended {
        Some(ended) => format!("[{id} · {}]", device::end_text(&ended.end)),
        None => format!("[{id} · running]"),
    };
    let mut record = device::map(json!({
        "session_id": id,
        "output": part.text,
        "next_cursor": part.next,
        "has_more": part.more,
        "truncated": part.truncated,
        "done": ended.is_some(),
    }));
    if let Some(ended) = ended {
        device::tell_end(&mut record, &ended.end);
    }
    Ok(Reply::of_record(header, Value::Object(record)))
}
