//! send: text and keys as they are, or a signal, and what appears.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::session::Session;
use crate::session::front::Front;
use crate::session::keys::{self, Key};
use crate::session::signals;
use crate::session::typing::Keys;
use crate::session::watch::{Watch, Woken};

use super::appeared::{self, Before, Sent};
use super::args::{Args, INPUT_MOST};
use super::left_over::{protected, reads_keys};
use super::report::Show;
use super::screen::Part;
use super::{Context, Failure, type_line};

const WAIT_DEFAULT: u64 = 5_000;
const WAIT_MOST: u64 = 60_000;
const SETTLE_DEFAULT: u64 = 300;

pub fn tool() -> Tool {
    use schema::{boolean, integer, string, strings};
    Tool {
        name: "send",
        title: "Send text, keys or a signal",
        description: "Types text literally and then presses keys, and returns what appeared once output pauses; while a full-screen program \
(vim, less, top) runs, the screen with the cursor. Use it for single keys, for ctrl+c to stop a command, for answers without Enter, and for \
full-screen programs. Nothing to send: shows what is new. Keys: ctrl+a to ctrl+z, enter, tab, shift+tab, escape, backspace, delete, insert, \
up, down, left, right, home, end, pageup, pagedown, space, f1 to f12, alt+x, ctrl, shift and alt with those, or any single character; C-c and ^C \
are understood. `signal` goes to the job in front in place of keys, never to the session's own shell. Refused while another's unsubmitted \
text is on the prompt line. To run a command and have its exit status use `run`; to answer questions that you foresee use `expect`.",
        input_schema: schema::object([
            string("session", "Name of an open session.").required(),
            string("text", "Text to type as it is; a newline is Enter. No Enter is added."),
            strings("keys", "Keys to press in order, after the text: [\"escape\", \":\", \"w\", \"enter\"]."),
            string("signal", "In place of text and keys: a signal for the job in front. The reply says whether it ended.")
                .one_of(&signals::NAMES),
            integer("wait_ms", "Wait at most so long for output to pause, or for a signalled job to end.")
                .default(WAIT_DEFAULT)
                .min(0)
                .max(WAIT_MOST),
            integer("settle_ms", "Output quiet for so long is a pause.").default(SETTLE_DEFAULT).min(0).max(WAIT_MOST),
            string("screen", "Of a full-screen program: the whole screen, only the rows changed since you last saw it, or the rows round the cursor.")
                .one_of(&Part::NAMES)
                .default("full"),
            integer("max_lines", "Lines of output in the reply.").default(80).min(1).max(10_000),
            boolean("force", "Type even where another's unsubmitted text is on the prompt line; signal ssh all the same.").default(false),
        ]),
        output_schema: None,
        annotations: Annotations { destructive: true, open_world: true, ..Annotations::default() },
        always_load: true,
    }
}

/// How long is waited, and for what.
#[derive(Clone, Copy)]
struct Pause {
    wait: Duration,
    settle: Duration,
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let name = args.required("session")?;
    let text = args.string("text")?.unwrap_or_default();
    let names = args.strings("keys")?;
    let signal = args.word_if("signal", &signals::NAMES)?;
    let wait = args.number("wait_ms", 0, WAIT_MOST)?;
    let settle = args.number("settle_ms", 0, WAIT_MOST)?;
    let part = Part::named(args.word("screen", &Part::NAMES)?);
    let show = Show::lines(&mut args)?;
    let force = args.flag("force")?;
    args.done()?;
    if text.len() > INPUT_MOST {
        return Err(Failure::from(format!(
            "send: `text` is {} bytes long; at most {INPUT_MOST} are typed in one call",
            text.len()
        )));
    }
    let keys = keys_of(&names)?;
    if signal.is_some() && !(text.is_empty() && keys.is_empty()) {
        return Err(Failure::from(
            "send: `signal` goes in place of `text` and `keys`, not with them; nothing was sent"
                .to_string(),
        ));
    }
    let pause = Pause {
        wait: Duration::from_millis(wait.unwrap_or(WAIT_DEFAULT)),
        settle: Duration::from_millis(settle.unwrap_or(SETTLE_DEFAULT)),
    };
    let session = context.sessions.get_live(&name)?;
    let _typist = session.typist(context.agent, "send", context.cancel)?;
    let front = context.sessions.front(&session);
    let watch = session.watch();
    if let Some(signal) = signal {
        return signalled(context, &session, &watch, signal, force, pause, &show, part);
    }
    let nothing = text.is_empty() && keys.is_empty();
    let mut own = true;
    // Who reads keys one by one, and edits no line, may have printed what stands there.
    if let Some(typed) = front.typed().filter(|_| !reads_keys(&session, &front)) {
        own = session.state().owns(context.agent, typed);
        if !own && !force && !nothing {
            return Err(protected(&session, &front));
        }
    }
    for line in text.split('\n') {
        type_line::fits(&front, line)?;
    }
    let lines = text.matches('\n').count()
        + keys
            .iter()
            .filter(|key| **key == Key::Named("Enter".into()))
            .count();
    let before = {
        let mut state = session.state();
        state.regions.expected = Some(context.agent.to_string()).filter(|_| !nothing);
        state.regions.expected_more = lines.saturating_sub(1);
        let sent = Sent {
            text: text.clone(),
            keys: keys.clone(),
            signal: false,
        };
        Before::look(&mut state, &front, own, sent)
    };
    if !nothing {
        // Not as a paste: vim takes pasted text for text, whatever its mode.
        let typing = Keys {
            text: &text,
            bracketed: false,
            keys: &keys,
        };
        let guarded = !force && matches!(front, Front::Shell { .. });
        if guarded {
            press_guarded(context, &session, &watch, typing)?;
        } else {
            context.sessions.press(&session, typing)?;
        }
        sent(context, &session, &front, own, lines > 0, typing);
    }
    settle_down(&session, &watch, context, pause, &before);
    appeared::tell(context, &session, &before, &show, part)
}

/// Remembers what an agent has typed, so that it is its own where it shows late: as an echo, or at the next prompt.
fn sent(
    context: &Context<'_>,
    session: &Session,
    front: &Front,
    own: bool,
    entered: bool,
    typing: Keys<'_>,
) {
    let mut state = session.state();
    if entered {
        state.stands_anew();
    }
    let agent = state.agents.entry(context.agent.to_string()).or_default();
    if front.typed() == Some("") || !own {
        agent.ahead.clear();
    }
    // A full-screen program takes each key.
    if own && !matches!(front, Front::Fullscreen { .. }) {
        agent.sends(typing.text, typing.keys);
    }
}

/// Types only where the log has the cursor: a person may begin a line at any moment.
fn press_guarded(
    context: &Context<'_>,
    session: &Arc<Session>,
    watch: &Watch,
    typing: Keys<'_>,
) -> Result<(), Failure> {
    let begun = Instant::now();
    while !context.sessions.press_here(session, typing)? {
        // The log may only lag behind; a line that a person has begun shows when it has caught up.
        let more = context.sessions.catch_up(watch, begun, context.cancel);
        let front = context.sessions.front(session);
        if let Front::Shell { typed, .. } = &front {
            if !session.state().owns(context.agent, typed) {
                return Err(protected(session, &front));
            }
        }
        if !more {
            if context.sessions.press_on_this_line(session, typing)? {
                break;
            }
            return Err(Failure::from(format!(
                "the line of {} changed while keys were about to be typed; nothing was typed. Try again",
                session.name
            )));
        }
    }
    Ok(())
}

/// Sends a signal to the job in front, and says whether it ended.
#[allow(clippy::too_many_arguments, reason = "what call has taken apart")]
fn signalled(
    context: &Context<'_>,
    session: &Arc<Session>,
    watch: &Watch,
    signal: &str,
    force: bool,
    pause: Pause,
    show: &Show,
    part: Part,
) -> Result<Reply, Failure> {
    let before = {
        let front = context.sessions.front(session);
        let mut state = session.state();
        let sent = Sent {
            signal: true,
            ..Sent::default()
        };
        Before::look(&mut state, &front, true, sent)
    };
    let begun = Instant::now();
    let job = context.sessions.signal(session, signal, force)?;
    let deadline = begun + pause.wait;
    let ended = context
        .sessions
        .group_ends(job.pgrp, watch, deadline, context.cancel);
    // The shell tells of the end, and draws its prompt.
    settle_down(session, watch, context, pause, &before);
    let mut reply = appeared::tell(context, session, &before, show, part)?;
    reply.note(if ended {
        format!("SIG{signal} was sent to {}, and it has ended", job.name)
    } else if signal == "KILL" {
        format!(
            "SIGKILL was sent to {}, and it has not ended within {} ms: it hangs in the kernel",
            job.name,
            begun.elapsed().as_millis()
        )
    } else {
        format!(
            "SIG{signal} was sent to {}, and it has not ended: it may be cleaning up (`wait`); KILL cannot be ignored",
            job.name
        )
    });
    Ok(reply)
}

fn keys_of(names: &[String]) -> Result<Vec<Key>, String> {
    let unknown = |name: &String| {
        format!(
            "send: there is no key {name:?}; known are {}. Nothing was typed",
            keys::KNOWN
        )
    };
    names
        .iter()
        .map(|name| keys::parse(name).ok_or_else(|| unknown(name)))
        .collect()
}

/// Waits until something has come and then nothing for a while, or a submitted command is over.
fn settle_down(
    session: &Session,
    watch: &Watch,
    context: &Context<'_>,
    pause: Pause,
    before: &Before,
) {
    let begun = Instant::now();
    let deadline = begun + pause.wait;
    loop {
        let last = {
            let state = session.state();
            if before.answered(&state) || state.ending.is_some() {
                return;
            }
            state.last_output
        };
        // Quiet counts from the typing, or from the last output since.
        let quiet_at = last.max(begun) + pause.settle;
        let now = Instant::now();
        if now >= deadline || now >= quiet_at || before.sent.nothing() && last < begun {
            return;
        }
        if watch.wait(deadline.min(quiet_at), context.cancel) == Woken::Cancelled {
            return;
        }
    }
}
