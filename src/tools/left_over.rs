//! Text that stands on a line and was not submitted: whose it is, how it is cleared, and the refusal to type into it.

use std::sync::Arc;

use crate::reply::header::Status;
use crate::reply::words;
use crate::session::Session;
use crate::session::front::Front;

use super::line_keys::{clear_line, kill_line};
use super::outcome::unsure;
use super::{Context, Failure};

/// The unfinished command at the prompt is this agent's.
pub fn began(context: &Context<'_>, session: &Session) -> bool {
    session
        .state()
        .agents
        .get(context.agent)
        .is_some_and(|agent| agent.unfinished)
}

/// What is in front reads keys one by one and edits no line, as far as can be told: it has taken what was typed.
pub fn reads_keys(session: &Session, front: &Front) -> bool {
    let Front::Waiting { view, .. } = front else {
        return false;
    };
    !view.canonical && !session.state().term.bracketed_paste()
}

/// Clears the line: a terminal that reads whole lines has a key for it, and takes the editors' other for text.
pub fn clear(context: &Context<'_>, session: &Session, front: &Front) -> Result<(), Failure> {
    let canonical = match front {
        Front::Prompt { view, .. } | Front::Waiting { view, .. } => view.canonical,
        _ => false,
    };
    if canonical {
        kill_line(context, session)?;
    } else {
        clear_line(context, session)?;
    }
    Ok(())
}

/// Nothing was typed, since text of another is there.
pub fn protected(session: &Session, front: &Front) -> Failure {
    let (line, doubt) = match front {
        Front::Waiting { line, .. } | Front::Unclear { line, .. } => (
            line.as_str(),
            format!(", also if {} has printed it itself", front.name()),
        ),
        _ => ("", String::new()),
    };
    let after = match line.trim() {
        "" => String::new(),
        line => format!(" after {:?}", words::one_line(line, 80)),
    };
    Failure::from(format!(
        "someone's unsubmitted text is on the prompt line of {}: {:?}{after}; nothing was typed. Wait for it to go with `wait`, use a session of your own, or clear it with force=true{doubt}",
        session.name,
        words::one_line(front.typed().unwrap_or_default(), 120)
    ))
}

/// Text of others on the line that is read in front.
pub struct OfOthers {
    pub typed: String,
    /// Of a program: its line in the log, and how it stands there. A shell tells by markers.
    pub program: Option<(u64, Status)>,
}

/// While it stands on the line that is read in front.
pub fn of_others(context: &Context<'_>, session: &Arc<Session>) -> Option<OfOthers> {
    let front = context.sessions.front(session);
    let typed = front.typed()?.to_string();
    let mut state = session.state();
    if typed.is_empty() {
        // What it had sent was read by something else, or is gone.
        if let Some(agent) = state.agents.get_mut(context.agent) {
            agent.ahead.clear();
        }
    }
    if state.owns(context.agent, &typed) {
        return None;
    }
    let at = |line: &str| format!("{line}{typed}");
    let status = match &front {
        Front::Prompt { line, .. } => Some(Status::Prompt { at: at(line) }),
        Front::Waiting { line, view, .. } | Front::Unclear { line, view, .. } => {
            Some(Status::Waiting {
                at: at(line),
                secret: false,
                hedged: unsure(view),
            })
        }
        _ => None,
    };
    let line = state.term.cursor().position.line;
    Some(OfOthers {
        program: status.map(|status| (line, status)),
        typed,
    })
}

/// That it is there, for people.
pub fn told(typed: &str) -> String {
    format!(
        "unsubmitted text is on the prompt line: {:?}",
        words::one_line(typed, 120)
    )
}
