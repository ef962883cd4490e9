//! create_client: a new token, and the invitation for the machines that are to be under it.

use serde_json::json;

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::reply::words;

use super::args::Args;
use super::device::Ways;
use super::{Context, Failure, device};

/// An invitation lasts so long unless it is told, in seconds.
const TIMEOUT_DEFAULT: u64 = 300;

/// The longest, in seconds: what nanoseconds in 63 bits hold, some 292 years.
const TIMEOUT_MOST: u64 = 9_223_372_036;

pub fn tool() -> Tool {
    use schema::{boolean, integer, string};
    Tool {
        name: "create_client",
        title: "Invite a remote device",
        description: "Makes a client token for remote machines, and an invitation by which one joins. Give the user the returned command to run \
on the machine (paneglass must be installed there; it dials out, so it may stand behind NAT), then wait with `list_clients`. The token is the \
only key to the devices that join by it: every other device tool takes it, and nobody is told it again. For a machine that you can reach by \
ssh yourself, a terminal session with ssh is simpler.",
        input_schema: schema::object([
            boolean(
                "multi_device",
                "The invitation lets in any number of machines until it expires; default: one, once.",
            )
            .default(false),
            integer(
                "timeout_seconds",
                "How long the invitation is good. What has joined stays joined.",
            )
            .min(1)
            .max(TIMEOUT_MOST)
            .default(TIMEOUT_DEFAULT),
        ]),
        output_schema: Some(schema::object([
            string("client_token", "For the other device tools. Keep it secret.").required(),
            boolean("multi_device", "For several machines.").required(),
            string("invitation", "What lets a machine in. Keep it secret.").required(),
            string("expires_at", "When the invitation ends (RFC 3339, UTC).").required(),
            string("macos_linux_command", "To be run on the machine.").required(),
            string("windows_powershell_command", "The same, in PowerShell.").required(),
            string("display_text", "All of it, to be shown to the user.").required(),
        ])),
        annotations: Annotations {
            open_world: true,
            ..Annotations::default()
        },
        always_load: false,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let multi = args.flag("multi_device")?;
    let seconds = args.number("timeout_seconds", 1, TIMEOUT_MOST)?;
    args.done()?;
    let devices = context.devices.ok_or_else(|| {
        Failure::from(
            "devices are for a server that `paneglass serve --devices` has started".to_string(),
        )
    })?;
    let invited = devices
        .hub
        .invite(multi, seconds.unwrap_or(TIMEOUT_DEFAULT))?;
    let (token, invitation) = (invited.token.text(), invited.invitation.text());
    let Ways { near, far } = &devices.ways;
    let command = |way: &str| format!("paneglass join {way} --invitation {invitation}");
    let command_near = command(near.as_ref().unwrap_or(far));
    let expires = words::rfc3339(invited.expires);
    let whom = match invited.multi {
        true => "several devices",
        false => "one device",
    };
    let header = format!("Invitation for {whom}, good until {expires}");
    let mut text = format!(
        "\nClient token (secret: it is the only key to what joins):\n{token}\n\n\
         Run on the device, on Linux or macOS:\n{command_near}\n\n\
         Run on the device, in PowerShell on Windows:\n{command_near}\n"
    );
    if near.is_some() {
        text.push_str(&format!(
            "\nWhere that address is not this server's, by ssh:\n{}\n",
            command(far)
        ));
    }
    text.push_str("\nThen wait for it with list_clients.");
    let mut reply = Reply::new(header).body(text);
    let record = json!({
        "client_token": token,
        "multi_device": invited.multi,
        "invitation": invitation,
        "expires_at": expires,
        "macos_linux_command": command_near,
        "windows_powershell_command": command_near,
        "display_text": reply.text(),
    });
    reply.record = Some(device::map(record));
    Ok(reply)
}
