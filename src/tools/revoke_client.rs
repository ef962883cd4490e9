//! revoke_client: ends what a token opens, or one device of it.

use serde_json::json;

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::reply::words;

use super::args::Args;
use super::{Context, Failure, device};

pub fn tool() -> Tool {
    use schema::{string, strings};
    Tool {
        name: "revoke_client",
        title: "Revoke a device's access",
        description: "Disconnects the devices of a token, ends what runs on them, and makes the token, its invitation and the devices' own credentials \
useless at once. With `client_id` only that device; the token stays. Do this when the work on a machine is done.",
        input_schema: schema::object([device::token(), string("client_id", "Only this device.")]),
        output_schema: Some(schema::object([strings(
            "revoked",
            "The devices that were let in and are no longer.",
        )
        .required()])),
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
    let client = args.string("client_id")?;
    args.done()?;
    let revoked = hub.revoke(&group, client.as_deref())?;
    let header = format!(
        "[revoked: {}]",
        words::count(revoked.len() as u64, "device")
    );
    Ok(Reply::of_record(header, json!({ "revoked": revoked })))
}
