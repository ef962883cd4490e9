//! What every reply of a tool that types or waits says of the place: when it has changed since the agent's last one.

use crate::reply::Reply;
use crate::session::Session;
use crate::session::place::home;

use super::Context;

/// Tools whose reply says where the session stands after them.
const TELLING: [&str; 6] = [
    "session_create",
    "run",
    "wait",
    "send",
    "expect",
    "shell_integrate",
];

/// Adds a note when the session is in another place than this agent was last told.
pub fn tell(context: &Context<'_>, session: &Session, tool: &str, reply: &mut Reply) {
    if !TELLING.contains(&tool) || session.state().ending.is_some() {
        return;
    }
    let place = context
        .sessions
        .place(session)
        .map_or(String::new(), |place| place.to_string());
    let mut state = session.state();
    let at_shell = state.prompts.at_shell(&state.term.cursor_line());
    let plain = at_shell
        && state.regions.prompt().is_none()
        && reply.facts.get("status") == Some(&"prompt".into());
    let agent = state.agents.entry(context.agent.to_string()).or_default();
    if agent.place == place {
        return;
    }
    reply.note(if place.is_empty() {
        format!("now back on {}", home())
    } else {
        format!("now on {place}")
    });
    if plain && !place.is_empty() {
        reply.note("the shell there is plain: exit statuses are not known; `shell_integrate` may change that");
    }
    agent.place = place;
}
