//! session_list: every session, its state and how to attach.

use serde_json::json;

use crate::mcp::{Tool, schema};
use crate::reply::Reply;
use crate::reply::words;
use crate::session::front::Front;
use crate::session::retention::Fate;
use crate::session::screen::Info;
use crate::session::{Session, now_ms};

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
    // Without an answer from tmux nothing is known of them, and nothing is deleted either.
    let stored = context.sessions.retention().stored().unwrap_or_default();
    let mut lines = Vec::new();
    let mut facts = Vec::new();
    for session in &all {
        let pane = panes
            .iter()
            .find(|info| info.pane == session.pane && info.tag == session.meta.nonce);
        let stored = stored.iter().find(|stored| stored.folder == session.name);
        let fate = stored.map(|stored| &stored.fate);
        let (text, state) = describe(context, session, pane, fate);
        lines.push(text);
        facts.push(json!({ "session": session.name, "state": state, "attach": context.sessions.attach(session) }));
    }
    let mut reply = Reply::new(format!(
        "[{}, {open} open]",
        words::count(all.len() as u64, "session")
    ))
    .body(lines.join("\n"));
    reply.fact("sessions", facts);
    silent.into_iter().for_each(|error| reply.note(error));
    for (name, error) in context.sessions.unreadable().iter() {
        reply.note(format!(
            "session {name} of an earlier server cannot be read: {error}"
        ));
    }
    if all.is_empty() {
        reply.note("`session_create` opens one");
    }
    Ok(reply)
}

fn describe(
    context: &Context<'_>,
    session: &std::sync::Arc<Session>,
    pane: Option<&Info>,
    fate: Option<&Fate>,
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
    let (age, size) = {
        let inner = session.state();
        (
            words::duration(now_ms().saturating_sub(inner.last_output_ms)),
            inner.term.size(),
        )
    };
    let people = pane.map_or(String::new(), |info| match info.attached {
        0 => String::new(),
        1 => " · 1 person attached".into(),
        n => format!(" · {n} people attached"),
    });
    let command = words::one_line(&session.meta.command, 60);
    let mut text = format!(
        "{} · {state} · {command} · {}x{} · opened by {} · last output {age} ago{people}",
        session.name, size.0, size.1, session.meta.agent
    );
    if let Some(fate) = fate.filter(|_| matches!(front, Front::Over(_))) {
        text.push_str(&format!(" · {}", super::session_logs::text(fate)));
    }
    if !matches!(front, Front::Over(_)) {
        text.push_str(&format!("\n  attach: {}", context.sessions.attach(session)));
    }
    (text, state)
}
