//! execute_command: one command on a device, to its end.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::devices::frame::End;
use crate::devices::job::COMMAND_KEPT;
use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::session::watch::Woken;

use super::args::Args;
use super::{Context, Failure, device};

/// How long a command may take unless it is told, in milliseconds.
const TIMEOUT_DEFAULT: u64 = 60_000;

/// Longer than any command may take: the device ends it before.
const EVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// A record of more characters is in the text only with its output cut, in characters: what is left of each stream. A
/// message of 8 MiB holds the record once with every character escaped, and this.
const TEXT_MOST: usize = 512 << 10;
const STREAM_SHOWN: usize = 20_000;

pub fn tool() -> Tool {
    use schema::{boolean, string};
    let [token, client, command, cwd, env] = device::command_properties();
    let [exit_code, timed_out, canceled, error] = device::end_properties();
    Tool {
        name: "execute_command",
        title: "Run a command on a device",
        description: "Runs one command on a remote device, in a fresh shell without a terminal, and returns when it has ended, with stdout and \
stderr apart (1 MiB of both together). Nothing of it lasts: use `cwd` and `env` rather than cd and export. For what asks questions, runs long or is \
to be watched use session_start. A non-zero exit, a timeout or a disconnected device makes the result an error; it is never tried again by \
itself, and after a disconnect nobody knows how far it came.",
        input_schema: schema::object([
            token,
            client,
            command,
            cwd,
            env,
            device::timeout(
                "After so long its whole process group is ended; 0: never.",
                TIMEOUT_DEFAULT,
            ),
        ]),
        output_schema: Some(schema::object([
            string("client_id", "Where it ran.").required(),
            string("stdout", "What it printed; what is no UTF-8 is replaced.").required(),
            string("stderr", "The same of its standard error.").required(),
            boolean("truncated", "More was printed, and discarded.").required(),
            exit_code.required(),
            timed_out.required(),
            canceled.required(),
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
    let (client, mut spec) = device::spec(&mut args, TIMEOUT_DEFAULT)?;
    args.done()?;
    spec.keep = Some(COMMAND_KEPT as u64);
    let job = hub.execute(&group, client.as_deref(), spec)?;
    let woken = device::wait(&job.changes, Instant::now() + EVER, context, || {
        job.ended().is_some()
    });
    let end = match job.ended() {
        Some(ended) => ended.end,
        None => {
            if woken == Woken::Cancelled {
                hub.cancel(&job);
            }
            End {
                canceled: true,
                ..End::failed("the call was cancelled; the device was asked to end the command")
            }
        }
    };
    let (out, err) = job.streams();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut record = device::map(json!({
        "client_id": job.client_id,
        "stdout": text(&out),
        "stderr": text(&err),
        "truncated": end.truncated,
    }));
    device::tell_end(&mut record, &end);
    let header = format!("[{} · {}]", job.client_id, device::end_text(&end));
    let reply = reply(header, Value::Object(record));
    match end.exit_code {
        0 => Ok(reply),
        _ => Err(Failure(Box::new(reply))),
    }
}

/// The record, in the text too; there without the middle of what is very long.
fn reply(header: String, record: Value) -> Reply {
    let text = record.to_string();
    if text.len() <= TEXT_MOST {
        return Reply::of_record(header, record);
    }
    let mut shown = record.clone();
    for name in ["stdout", "stderr"] {
        let stream = record[name].as_str().unwrap_or_default();
        shown[name] = cut(stream).into();
    }
    let mut reply = Reply::new(header).body(shown.to_string());
    reply.note("the middle of the output is only in structuredContent");
    reply.record = Some(device::map(record));
    reply
}

fn cut(text: &str) -> String {
    let count = text.chars().count();
    if count <= STREAM_SHOWN {
        return text.to_owned();
    }
    let half = STREAM_SHOWN / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head}\n... {} characters ...\n{tail}", count - 2 * half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_very_long_output_is_cut_and_the_record_is_whole() {
        // The worst: each byte takes six in JSON.
        let stdout = "\u{1}".repeat(COMMAND_KEPT);
        let record = json!({"stdout": stdout, "stderr": ""});
        let reply = reply("[x]".into(), record.clone());
        assert_eq!(reply.record, record.as_object().cloned());
        assert!(reply.text().len() < TEXT_MOST);
        let message = record.to_string().len() + json!(reply.text()).to_string().len();
        assert!(message < 8 << 20, "{message}");
        let short = json!({"stdout": "a", "stderr": "b"});
        assert!(
            super::reply("[x]".into(), short.clone())
                .text()
                .ends_with(&short.to_string())
        );
    }
}
