//! session_control: types into a device session, interrupts it, ends its input, or ends it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::devices::frame::Action;
use crate::devices::job::Job;
use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;

use super::args::{Args, INPUT_MOST};
use super::{Context, Failure, device};

/// What can be done.
const ACTIONS: [&str; 4] = ["input", "interrupt", "eof", "stop"];

/// How long `stop` waits for the end, in milliseconds: unless it is told, and at most.
const WAIT_DEFAULT: u64 = 1_000;
const WAIT_MOST: u64 = 20_000;

pub fn tool() -> Tool {
    use schema::{boolean, integer, string};
    let [exit_code, timed_out, canceled, error] = device::end_properties();
    Tool {
        name: "session_control",
        title: "Control a device session",
        description: "Acts on a session of session_start. `input` types text as it is (end a line with \\n). `interrupt` sends SIGINT to what runs in \
front. `eof` types the end-of-file character, and is refused where the program has no such thing. `stop` ends the session, whatever it does, and waits \
`wait_ms` for that. What was typed shows in session_read.",
        input_schema: schema::object([
            device::token(),
            device::session(),
            string("action", "What to do.").one_of(&ACTIONS).required(),
            string("input", "For input alone: the text."),
            integer("wait_ms", "For stop alone: how long to wait for the end.")
                .min(0)
                .max(WAIT_MOST)
                .default(WAIT_DEFAULT),
        ]),
        output_schema: Some(schema::object([
            string("action", "What was done.")
                .one_of(&ACTIONS)
                .required(),
            string("session_id", "The session.").required(),
            boolean(
                "accepted",
                "input: the device has it; stop: it will be ended.",
            ),
            boolean("delivered", "interrupt and eof: the device has done it."),
            boolean("done", "stop: the session has ended."),
            string("status", "stop: what came of it.").one_of(&["stopping", "stopped", "finished"]),
            boolean("already_done", "stop: it had ended before."),
            exit_code,
            timed_out,
            canceled,
            error,
        ])),
        annotations: Annotations {
            destructive: true,
            open_world: true,
            ..Annotations::default()
        },
        always_load: false,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let (hub, group) = device::group(&mut args, context)?;
    let id = args.required("session_id")?;
    let given = args.required("action")?;
    let action = ACTIONS.into_iter().find(|known| *known == given);
    let action = action.ok_or_else(|| {
        format!(
            "session_control: `action` must be one of {}",
            ACTIONS.join(", ")
        )
    })?;
    let input = args.string("input")?;
    let wait_ms = args.number("wait_ms", 0, WAIT_MOST)?;
    args.done()?;
    if input.is_some() != (action == "input") {
        return Err(Failure::from(
            "session_control: `input` goes with `action` input, and with no other".to_string(),
        ));
    }
    if wait_ms.is_some() && action != "stop" {
        return Err(Failure::from(
            "session_control: `wait_ms` goes with `action` stop alone".to_string(),
        ));
    }
    let job = hub.session(&group, &id)?;
    let mut record = device::map(json!({ "action": action, "session_id": id }));
    if action == "stop" {
        return stop(&job, wait_ms.unwrap_or(WAIT_DEFAULT), context, record);
    }
    match input {
        Some(text) if text.is_empty() || text.len() > INPUT_MOST => {
            return Err(Failure::from(format!(
                "session_control: `input` must have 1 to {INPUT_MOST} bytes, not {}",
                text.len()
            )));
        }
        Some(text) => {
            hub.input(&job, &text)?;
            record.insert("accepted".into(), true.into());
        }
        None => {
            let what = match action {
                "eof" => Action::Eof,
                _ => Action::Interrupt,
            };
            hub.control(&job, what)?;
            record.insert("delivered".into(), true.into());
        }
    }
    Ok(Reply::of_record(
        format!("[{id} · {action}]"),
        Value::Object(record),
    ))
}

fn stop(
    job: &Arc<Job>,
    wait_ms: u64,
    context: &Context<'_>,
    mut record: serde_json::Map<String, Value>,
) -> Result<Reply, Failure> {
    let already = job.ended().is_some();
    // Asked once; who asks again only waits for the same.
    if !already && job.stop() {
        if let Some(devices) = context.devices {
            devices.hub.cancel(job);
        }
    }
    let deadline = Instant::now() + Duration::from_millis(wait_ms);
    device::wait(&job.changes, deadline, context, || job.ended().is_some());
    let ended = job.ended();
    let status = match &ended {
        None => "stopping",
        Some(ended) if ended.end.canceled => "stopped",
        Some(_) => "finished",
    };
    record.insert("accepted".into(), (!already).into());
    record.insert("done".into(), ended.is_some().into());
    record.insert("status".into(), status.into());
    record.insert("already_done".into(), already.into());
    if let Some(ended) = &ended {
        device::tell_end(&mut record, &ended.end);
    }
    Ok(Reply::of_record(
        format!("[{} · {status}]", job.id),
        Value::Object(record),
    ))
}
