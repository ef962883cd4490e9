//! session_start: a command on a device's terminal, which runs on by itself.

use serde_json::json;

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::reply::words;

use super::args::Args;
use super::{Context, Failure, device};

pub fn tool() -> Tool {
    use schema::{integer, string};
    let [token, client, command, cwd, env] = device::command_properties();
    Tool {
        name: "session_start",
        title: "Start a session on a device",
        description: "Starts a command on a terminal of a remote device and returns at once. Read what it prints with session_read from cursor 0, \
type into it with session_control. For a lasting shell start `bash`. Six sessions are kept per token: a seventh takes the place of the one that \
ended first, or is refused while all run. The session ends when the link to the device is cut or the server is restarted.",
        input_schema: schema::object([
            token,
            client,
            command,
            cwd,
            env,
            device::timeout("After so long it is ended; 0: never.", 0),
        ]),
        output_schema: Some(schema::object([
            string("session_id", "For session_read and session_control.").required(),
            string("client_id", "Where it runs.").required(),
            integer("cursor", "Where its output begins.").required(),
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
    let (client, mut spec) = device::spec(&mut args, 0)?;
    args.done()?;
    spec.terminal = Some(device::TERMINAL);
    let job = hub.start(&group, client.as_deref(), spec)?;
    let header = format!(
        "[{} on {} · {}]",
        job.id,
        job.client_id,
        words::one_line(&job.command, 60)
    );
    let record = json!({ "session_id": job.id, "client_id": job.client_id, "cursor": 0 });
    Ok(Reply::of_record(header, record))
}
