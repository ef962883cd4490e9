//! list_clients: the devices of a token that are online.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::devices::Client;
use crate::mcp::{Tool, schema};
use crate::reply::Reply;
use crate::reply::words;

use super::args::Args;
use super::{Context, Failure, device};

/// The longest wait, in milliseconds: clients lose patience after it.
const WAIT_MOST: u64 = 60_000;

pub fn tool() -> Tool {
    use schema::{integer, objects, record, string, strings};
    Tool {
        name: "list_clients",
        title: "List devices online",
        description: "Lists the devices of a token that are online, with what they are and how fast they answer. With `wait_ms` it waits while none \
is: use that after create_client rather than asking again and again. A device that is not listed may be asleep or without network; it comes \
back by itself.",
        input_schema: schema::object([
            device::token(),
            integer("wait_ms", "Wait so long for the first device.")
                .min(0)
                .max(WAIT_MOST)
                .default(0),
        ]),
        output_schema: Some(schema::object([
            string("status", "Whether any device is online.")
                .one_of(&["waiting", "connected"])
                .required(),
            objects(
                "clients",
                "The devices online.",
                [
                    string("client_id", "For the other device tools.").required(),
                    record(
                        "client_info",
                        "What the device says of itself.",
                        [
                            string("hostname", "Its name.").required(),
                            string("platform", "linux, macos or windows.").required(),
                            string("arch", "Its processor.").required(),
                            string("shell", "What runs its commands.").required(),
                            string("default_cwd", "Where they run.").required(),
                            string("client_version", "Of paneglass there.").required(),
                            strings("session_controls", "What session_control can do there.")
                                .required(),
                        ],
                    )
                    .required(),
                    string("connected_at", "Since when (RFC 3339, UTC).").required(),
                    string("status", "And its last round-trip time.").required(),
                ],
            )
            .required(),
        ])),
        annotations: super::reads(),
        always_load: false,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let (hub, group) = device::group(&mut args, context)?;
    let wait_ms = args.number("wait_ms", 0, WAIT_MOST)?.unwrap_or(0);
    args.done()?;
    let deadline = Instant::now() + Duration::from_millis(wait_ms);
    device::wait(&hub.changes, deadline, context, || {
        !hub.clients(&group).is_empty()
    });
    let clients = hub.clients(&group);
    let status = match clients.is_empty() {
        true => "waiting",
        false => "connected",
    };
    let header = match clients.is_empty() {
        true => "[no device is online]".to_owned(),
        false => format!("[{} online]", words::count(clients.len() as u64, "device")),
    };
    let record = json!({
        "status": status,
        "clients": clients.iter().map(tell).collect::<Vec<_>>(),
    });
    Ok(Reply::of_record(header, record))
}

fn tell(client: &Client) -> Value {
    let status = match client.round_trip {
        Some(time) => format!("Connected · {}ms", time.as_millis()),
        None => "Connected".into(),
    };
    json!({
        "client_id": client.client_id,
        "client_info": client.info,
        "connected_at": words::rfc3339(client.connected / 1_000),
        "status": status,
    })
}
