//! session_list: every session, its state and how to attach.

use std::collections::BTreeMap;

use serde_json::json;

use crate::mcp::{Tool, schema};
use crate::reply::Reply;
use crate::reply::words;
use crate::session::front::Front;
use crate::session::screen::Info;
use crate::session::{Meta, Session, now_ms};

use super::args::Args;
use super::{Context, Failure, report};

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

pub fn call(args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    args.done()?;
    // Without an answer from tmux the rest is known all the same.
    let (panes, silent) = match context.sessions.panes() {
        Ok(panes) => (panes, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let all = context.sessions.all();
    let open = all
        .iter()
        .filter(|session| session.state().ending.is_none())
        .count();
    let mut found = BTreeMap::new();
    for session in &all {
        let pane = panes
            .iter()
            .find(|info| info.pane == session.pane && info.tag == session.meta.nonce);
        found.insert(session.name.clone(), describe(context, session, pane));
    }
    // Of those that no one has asked for, no log is read: there may be hundreds.
    for (name, meta) in context.sessions.closed().iter() {
        let last = context.sessions.last_output_ms(meta);
        let state = meta
            .end
            .as_ref()
            .map(report::ending_text)
            .unwrap_or_default();
        let text = line(meta, &state, (meta.cols, meta.rows), last);
        found.insert(name.clone(), (text, state));
    }
    let count = found.len() as u64;
    let (mut lines, mut facts) = (Vec::new(), Vec::new());
    for (name, (text, state)) in found {
        lines.push(text);
        let attach = context.sessions.attach(&name);
        facts.push(json!({ "session": name, "state": state, "attach": attach }));
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
    pane: Option<&Info>,
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
    let mut text = line(&session.meta, &state, size, last);
    match pane.map_or(0, |info| info.attached) {
        0 => {}
        1 => text.push_str(" · 1 person attached"),
        n => text.push_str(&format!(" · {n} people attached")),
    }
    if !matches!(front, Front::Over(_)) {
        text.push_str(&format!(
            "\n  attach: {}",
            context.sessions.attach(&session.name)
        ));
    }
    (text, state)
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
