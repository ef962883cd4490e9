//! stop_program: ends a program with its process group, and lets its output go.

use std::time::Duration;

use serde_json::{Value, json};

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::session::group;

use super::args::Args;
use super::{Context, Failure, program};

const GRACE_DEFAULT_MS: u64 = 2_000;
/// What takes longer to end in order is better asked to by other means, and waited for with read_program.
const GRACE_MOST_MS: u64 = 60_000;

pub fn tool() -> Tool {
    use schema::{boolean, integer, objects, string};
    let [outcome, status, signal] = program::end_properties();
    Tool {
        name: "stop_program",
        title: "Stop a program",
        description: "Ends a program of `start_program` and its whole process group: by `signal`, and after `graceMs` by SIGKILL. Tells how it ended, \
closes its pane and forgets its output, so read first what you want to keep. One that has ended is just let go: do that with every program \
that you have read to its end. A read that waits meanwhile returns the last output.",
        input_schema: schema::object([
            program::id_property(),
            string("signal", "The signal to end it with: TERM, INT, HUP, QUIT, KILL, ...").default("TERM"),
            integer("graceMs", "How long it has to end before SIGKILL.")
                .default(GRACE_DEFAULT_MS)
                .min(0)
                .max(GRACE_MOST_MS),
        ]),
        output_schema: Some(schema::object([
            string("programId", "As given; it means nothing any more.").required(),
            outcome,
            status,
            signal,
            boolean("killed", "It, or part of its group, did not end in time and was ended by SIGKILL.").required(),
            objects(
                "stillRunning",
                "Processes that it started, that have left its process group and so were not ended.",
                [
                    integer("pid", "The process id.").required(),
                    string("command", "Its command line.").required(),
                ],
            )
            .required(),
        ])),
        annotations: Annotations {
            destructive: true,
            ..Annotations::default()
        },
        always_load: false,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let id = program::id(&mut args)?;
    let name = args.string("signal")?.unwrap_or_else(|| "TERM".into());
    let grace = args
        .number("graceMs", 0, GRACE_MOST_MS)?
        .unwrap_or(GRACE_DEFAULT_MS);
    args.done()?;
    let Some(signal) = group::number(&name) else {
        return Err(Failure::from(format!(
            "stop_program: `signal` must be a signal's name such as TERM, INT, HUP, QUIT or KILL, not {name:?}"
        )));
    };
    let grace = Duration::from_millis(grace);
    let stopped = context.programs.stop(&id, signal, grace, context.cancel)?;
    let left: Vec<Value> = stopped
        .left
        .iter()
        .map(|process| json!({ "pid": process.pid, "command": process.command }))
        .collect();
    let mut header = format!("[{id} · {}", program::end_text(&stopped.facts));
    if stopped.killed {
        header.push_str(" · it did not end in time, so SIGKILL was sent");
    }
    if !left.is_empty() {
        header.push_str(" · processes that left its group go on");
    }
    header.push(']');
    let record = program::joined(
        json!({ "programId": id }),
        program::end_values(&stopped.facts),
    );
    let rest = json!({ "killed": stopped.killed, "stillRunning": left });
    let mut reply = Reply::of_record(header, program::joined(record, rest));
    reply.fact("status", stopped.facts.outcome.name());
    Ok(reply)
}
