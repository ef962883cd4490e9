//! session_list: every session, its state and how to attach.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::devices::Hub;
use crate::devices::job::Job;
use crate::mcp::{Tool, schema};
use crate::reply::Reply;
use crate::reply::words;
use crate::session::front::Front;
use crate::session::people::Presence;
use crate::session::{Meta, Session, now_ms};

use super::args::Args;
use super::{Context, Failure, device, report};

pub fn tool() -> Tool {
    Tool {
        name: "session_list",
        title: "List sessions",
        description: "Lists every session, open and closed, also of earlier servers: what runs in it, its size, who opened it, how many people \
are attached, when it last printed something, and the attach command. Use it to find a session again before opening a new one.",
        input_schema: schema::object([]),
        output_schema: None,
        annotations: super::reads(),
        always_load: true,
    }
}

/// The same where there are devices too.
pub fn of_both() -> Tool {
    Tool {
        description: "Lists every session, open and closed, also of earlier servers: what runs in it, its size, who opened it, how many people \
are attached, when it last printed something, and the attach command. Use it to find a session again before opening a new one. With \
`client_token` it lists the sessions of session_start on that token's devices instead, also while a device is offline.",
        input_schema: schema::object([schema::string(
            "client_token",
            "The token that create_client returned: its device sessions.",
        )]),
        ..tool()
    }
}

/// The same for those who see devices alone.
pub fn of_devices() -> Tool {
    use schema::{boolean, integer, objects, string};
    let [exit_code, timed_out, canceled, error] = device::end_properties();
    Tool {
        title: "List device sessions",
        description: "Lists the sessions of session_start by their start, also while a device is offline.",
        input_schema: schema::object([device::token()]),
        output_schema: Some(schema::object([objects(
            "sessions",
            "By their start.",
            [
                string("session_id", "For session_read and session_control.").required(),
                string("client_id", "Where it runs.").required(),
                boolean("online", "Whether the device is.").required(),
                string("command", "What was started.").required(),
                string("started_at", "RFC 3339, UTC.").required(),
                string("ended_at", "The same, of the end."),
                string("status", "Where it stands.")
                    .one_of(&["running", "stopping", "ended"])
                    .required(),
                integer("output_start_cursor", "The earliest output that is kept.").required(),
                integer("output_end_cursor", "Its end.").required(),
                exit_code,
                timed_out,
                canceled,
                error,
            ],
        )
        .required()])),
        always_load: false,
        ..tool()
    }
}

fn devices_sessions(hub: &Hub, group: &str) -> Reply {
    let online: Vec<String> = hub
        .clients(group)
        .into_iter()
        .map(|client| client.client_id)
        .collect();
    let sessions = hub.sessions(group);
    let told: Vec<Value> = sessions
        .iter()
        .map(|job| Value::Object(device_session(job, online.contains(&job.client_id))))
        .collect();
    let header = format!("[{}]", words::count(told.len() as u64, "device session"));
    Reply::of_record(header, json!({ "sessions": told }))
}

fn device_session(job: &Job, online: bool) -> Map<String, Value> {
    let (start, end) = job.range();
    let ended = job.ended();
    let status = match &ended {
        Some(_) => "ended",
        None if job.is_stopping() => "stopping",
        None => "running",
    };
    let mut record = device::map(json!({
        "session_id": job.id,
        "client_id": job.client_id,
        "online": online,
        "command": job.command,
        "started_at": words::rfc3339(job.started / 1_000),
        "status": status,
        "output_start_cursor": start,
        "output_end_cursor": end,
    }));
    if let Some(ended) = &ended {
        record.insert("ended_at".into(), words::rfc3339(ended.at / 1_000).into());
        device::tell_end(&mut record, &ended.end);
    }
    record
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    if let Some(devices) = context.devices {
        let group = match (context.scope, args.string("client_token")?) {
            (Some(scope), None) => Some(scope.to_owned()),
            (Some(_), Some(_)) => {
                return Err(Failure::from(
                    "session_list has no argument `client_token` for those who show it with every request".to_string(),
                ));
            }
            (None, Some(token)) => Some(devices.hub.group(&token)?),
            (None, None) => None,
        };
        if let Some(group) = group {
            args.done()?;
            return Ok(devices_sessions(&devices.hub, &group));
        }
    }
    args.done()?;
    // Without an answer from tmux the rest is known all the same.
    let (panes, silent) = match context.sessions.panes() {
        Ok(panes) => (panes, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    context.sessions.take_over_panes(&panes);
    let people = context.sessions.people().unwrap_or_default();
    let all = context.sessions.all();
    let open = all
        .iter()
        .filter(|session| session.state().ending.is_none())
        .count();
    // Without an answer from tmux nothing is known of them, and nothing is deleted either.
    let stored = context.sessions.retention().stored().unwrap_or_default();
    let fate = |name: &str| {
        let stored = stored.iter().find(|stored| stored.folder == name);
        stored.map(|stored| stored.fate.to_string())
    };
    let mut found = BTreeMap::new();
    for session in &all {
        let pane = panes
            .iter()
            .find(|info| info.pane == session.pane && info.tag == session.meta.nonce);
        let presence = session.presence(pane, &people);
        let (mut text, state) = describe(context, session, &presence);
        if let Some(fate) = fate(&session.name).filter(|_| session.state().ending.is_some()) {
            text.push_str(&format!(" · {fate}"));
        }
        let fact = json!({
            "session": session.name, "state": state, "attach": context.sessions.attach(&session.meta),
            "attached": presence.attached, "window": session.window(),
        });
        found.insert(session.name.clone(), (text, fact));
    }
    // Of those that no one has asked for, no log is read: there may be hundreds.
    for (name, meta) in context.sessions.still_closed().iter() {
        let last = context.sessions.last_output_ms(meta);
        let state = meta
            .end
            .as_ref()
            .map(report::ending_text)
            .unwrap_or_default();
        let mut text = line(meta, &state, (meta.cols, meta.rows), last);
        if let Some(fate) = fate(name) {
            text.push_str(&format!(" · {fate}"));
        }
        found.insert(
            name.clone(),
            (text, json!({ "session": name, "state": state })),
        );
    }
    let count = found.len() as u64;
    let (mut lines, mut facts) = (Vec::new(), Vec::new());
    for (text, fact) in found.into_values() {
        lines.push(text);
        facts.push(fact);
    }
    let mut reply = Reply::new(format!("[{}, {open} open]", words::count(count, "session")))
        .body(lines.join("\n"));
    reply.fact("sessions", facts);
    silent.into_iter().for_each(|error| reply.note(error));
    for (name, error) in context.sessions.unreadable().iter() {
        reply.note(format!(
            "session {name} of an earlier server cannot be read: {error}"
        ));
    }
    if count == 0 {
        reply.note("`session_create` opens one");
    }
    Ok(reply)
}

fn describe(
    context: &Context<'_>,
    session: &std::sync::Arc<Session>,
    presence: &Presence,
) -> (String, String) {
    let front = context.sessions.front(session);
    let state = match &front {
        Front::Over(ending) => report::ending_text(ending),
        Front::Shell { typed, .. } if !typed.is_empty() => format!(
            "at its prompt, with unsubmitted text {:?}",
            words::one_line(typed, 60)
        ),
        Front::Shell {
            continuation: true, ..
        } => "at a continuation prompt".into(),
        Front::Shell { .. } => match session.state().regions.folder() {
            Some(folder) => format!("at its prompt in {}", words::one_line(folder, 80)),
            None => "at its prompt".into(),
        },
        Front::Between => "at its prompt in a moment".into(),
        front if front.typed().is_some_and(|typed| !typed.is_empty()) => format!(
            "{} in front, with unsubmitted text {:?}",
            front.name(),
            words::one_line(front.typed().unwrap_or_default(), 60)
        ),
        Front::Prompt { line, .. } => format!(
            "{} at its prompt {:?}",
            front.name(),
            words::one_line(line, 40)
        ),
        Front::Waiting { line, .. } => format!(
            "{} waits for input at {:?}",
            front.name(),
            words::one_line(line, 60)
        ),
        Front::Fullscreen { .. } => format!("{} has the screen", front.name()),
        Front::Working { .. } => format!("{} works", front.name()),
        Front::Unclear { .. } => format!("{} is in front", front.name()),
    };
    let (size, last) = {
        let inner = session.state();
        (inner.term.size(), inner.last_output_ms)
    };
    let place = context
        .sessions
        .place(session)
        .map_or(String::new(), |place| format!(" on {place}"));
    let mut text = line(&session.meta, &format!("{state}{place}"), size, last);
    text.push_str(&told(presence, context.agent));
    if !matches!(front, Front::Over(_)) {
        text.push_str(&format!(
            "\n  attach: {}",
            context.sessions.attach(&session.meta)
        ));
    }
    (text, state)
}

/// Who else is there, each with when they were last heard of.
fn told(presence: &Presence, agent: &str) -> String {
    let now = now_ms() / 1_000;
    let ago = |at: u64| words::duration(now.saturating_sub(at) * 1_000);
    let mut text = String::new();
    match presence.attached {
        0 => {}
        1 => text.push_str(" · 1 person attached"),
        n => text.push_str(&format!(" · {n} people attached")),
    }
    match (presence.attached, presence.watching) {
        (0, _) | (_, 0) => {}
        (all, watching) if all == watching => text.push_str(" (only watching)"),
        (_, watching) => text.push_str(&format!(" ({watching} only watching)")),
    }
    if let Some(at) = presence.human_input {
        text.push_str(&format!(", last active {} ago", ago(at)));
    }
    for (name, at) in &presence.agents_typed {
        let name = if name == agent { "you" } else { name };
        text.push_str(&format!(" · {name} typed {} ago", ago(*at)));
    }
    if let Some((name, tool)) = presence
        .typing_now
        .as_ref()
        .filter(|(name, _)| name != agent)
    {
        text.push_str(&format!(" · {name} is typing ({tool})"));
    }
    text
}

/// What there is to say of any session, open or not.
fn line(meta: &Meta, state: &str, size: (u16, u16), last_output_ms: u64) -> String {
    format!(
        "{} · {state} · {} · {}x{} · opened by {} · last output {} ago",
        meta.name,
        words::one_line(&meta.command, 60),
        size.0,
        size.1,
        meta.agent,
        words::duration(now_ms().saturating_sub(last_output_ms)),
    )
}
