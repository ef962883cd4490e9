//! send: text and keys as they are, and what appears.

use std::time::{Duration, Instant};

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::reply::header::Status;
use crate::session::front::Front;
use crate::session::keys::{self, Key};
use crate::session::regions::Kind;
use crate::session::screen::Screen;
use crate::session::snapshot;
use crate::session::typing::Keys;
use crate::session::watch::Woken;
use crate::session::{MarkId, RegionId};

use super::args::{Args, INPUT_MOST};
use super::report::{self, Show, Told};
use super::{Context, Failure, type_line};

const WAIT_DEFAULT: u64 = 5_000;
const WAIT_MOST: u64 = 60_000;
const SETTLE_DEFAULT: u64 = 300;

pub fn tool() -> Tool {
    use schema::{boolean, integer, string, strings};
    Tool {
        name: "send",
        title: "Send text and keys",
        description: "Types text literally and then presses keys, and returns what appeared once output pauses; while a full-screen program \
(vim, less, top) runs, the screen with the cursor. Use it for single keys, for ctrl+c to stop a command, for answers without Enter, and for \
full-screen programs. Nothing to send: shows what is new. Keys: ctrl+a to ctrl+z, enter, tab, shift+tab, escape, backspace, delete, up, down, \
left, right, home, end, pageup, pagedown, space, f1 to f12, alt+x, or any single character. To run a command and have its exit \
status use `run`.",
        input_schema: schema::object([
            string("session", "Name of an open session.").required(),
            string(
                "text",
                "Text to type as it is; a newline is Enter. No Enter is added.",
            ),
            strings(
                "keys",
                "Keys to press in order, after the text: [\"escape\", \":\", \"w\", \"enter\"].",
            ),
            integer("wait_ms", "Wait at most so long for output to pause.")
                .default(WAIT_DEFAULT)
                .min(0)
                .max(WAIT_MOST),
            integer("settle_ms", "Output quiet for so long is a pause.")
                .default(SETTLE_DEFAULT)
                .min(0)
                .max(WAIT_MOST),
            integer("max_lines", "Lines of output in the reply.")
                .default(80)
                .min(1)
                .max(10_000),
            boolean(
                "force",
                "Type even where another's unsubmitted text is on the prompt line.",
            )
            .default(false),
        ]),
        output_schema: None,
        annotations: Annotations {
            destructive: true,
            open_world: true,
            ..Annotations::default()
        },
        always_load: true,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let name = args.required("session")?;
    let text = args.string("text")?.unwrap_or_default();
    let names = args.strings("keys")?;
    let wait = args
        .number("wait_ms", 0, WAIT_MOST)?
        .unwrap_or(WAIT_DEFAULT);
    let settle = args
        .number("settle_ms", 0, WAIT_MOST)?
        .unwrap_or(SETTLE_DEFAULT);
    let show = Show::take(&mut args)?;
    let force = args.flag("force")?;
    args.done()?;
    if text.len() > INPUT_MOST {
        return Err(Failure::from(format!(
            "send: `text` is {} bytes long; at most {INPUT_MOST} are typed in one call",
            text.len()
        )));
    }
    let keys = keys_of(&names)?;
    let session = context.sessions.get_live(&name)?;
    let _typist = session.typist(context.agent, "send", context.cancel)?;
    let front = context.sessions.front(&session);
    let nothing = text.is_empty() && keys.is_empty();
    let mut own = true;
    if let Front::Shell { typed, .. } | Front::Prompt { typed, .. } = &front {
        own = session.state().owns(context.agent, typed);
        if !own && !force && !nothing {
            return Err(type_line::protected(&session, typed));
        }
    }
    let watch = session.watch();
    let before = {
        let mut state = session.state();
        let state = &mut *state;
        state.regions.expected = Some(context.agent.to_string()).filter(|_| !nothing);
        // Marks on the alternate screen go with it.
        let line = state.term.cursor().position.line;
        let mark = (!state.term.alternate()).then(|| state.term.mark_line());
        Before {
            line,
            mark,
            regions: state.regions.last_id(),
            open: state.regions.open_commands(),
            own,
            nothing,
            entered: text.contains('\n') || keys.contains(&Key::Named("Enter".into())),
        }
    };
    if !nothing {
        // Not as a paste: vim takes pasted text for text, whatever its mode.
        let typing = Keys {
            text: &text,
            bracketed: false,
            keys: &keys,
        };
        let begun = Instant::now();
        let guarded = !force && matches!(front, Front::Shell { .. });
        while guarded && !context.sessions.press_here(&session, typing)? {
            // The log may only lag behind; a line that a person has begun shows when it has caught up.
            let more = context.sessions.catch_up(&watch, begun, context.cancel);
            if let Front::Shell { typed, .. } = context.sessions.front(&session) {
                if !session.state().owns(context.agent, &typed) {
                    return Err(type_line::protected(&session, &typed));
                }
            }
            if !more {
                if context.sessions.press_on_this_line(&session, typing)? {
                    break;
                }
                return Err(Failure::from(format!(
                    "the line of {name} changed while keys were about to be typed; nothing was typed. Try again"
                )));
            }
        }
        if !guarded {
            context.sessions.press(&session, typing)?;
        }
    }
    settle_down(&session, &watch, context, wait, settle, nothing);
    tell(context, &session, &before, &show)
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

/// Waits until something has come and then nothing for `settle` ms, at most `wait` ms.
fn settle_down(
    session: &crate::session::Session,
    watch: &crate::session::watch::Watch,
    context: &Context<'_>,
    wait: u64,
    settle: u64,
    nothing: bool,
) {
    let begun = Instant::now();
    let deadline = begun + Duration::from_millis(wait);
    let settle = Duration::from_millis(settle);
    loop {
        let last = session.state().last_output;
        // Quiet counts from the typing, or from the last output since.
        let quiet_at = last.max(begun) + settle;
        let now = Instant::now();
        if now >= deadline || now >= quiet_at || nothing && last < begun {
            return;
        }
        if watch.wait(deadline.min(quiet_at), context.cancel) == Woken::Cancelled {
            return;
        }
    }
}

/// How things stood before anything was typed.
struct Before {
    /// The cursor's line, and a mark at its start.
    line: u64,
    mark: Option<MarkId>,
    regions: RegionId,
    /// Commands that ran.
    open: Vec<RegionId>,
    /// What is on the prompt line, if anything, is this agent's.
    own: bool,
    /// Nothing is to be typed.
    nothing: bool,
    /// A line is submitted: the command that it becomes may come later.
    entered: bool,
}

fn tell(
    context: &Context<'_>,
    session: &std::sync::Arc<crate::session::Session>,
    before: &Before,
    show: &Show,
) -> Result<Reply, Failure> {
    let front = context.sessions.front(session);
    let mut state = session.state();
    if !before.entered {
        state.regions.expected = None;
    }
    let snapshot = state.snapshot()?;
    let lines = snapshot.lines();
    let start = before
        .mark
        .and_then(|mark| state.term.locate(mark))
        .map_or(before.line, |start| start.line);
    before
        .mark
        .into_iter()
        .for_each(|mark| state.term.release(mark));
    let fullscreen = state.term.fullscreen();
    let typed = match &front {
        Front::Prompt { typed, .. } => Some(typed.clone()),
        _ => state.typed(),
    };
    let new = state.regions.all().iter().skip(before.regions as usize);
    let earlier = before.open.iter().filter_map(|id| state.regions.get(*id));
    let finished: Vec<_> = earlier
        .chain(new)
        .filter(|region| region.kind == Kind::Command && !region.running())
        .cloned()
        .collect();
    let running = state.regions.running().map(|region| region.id);
    let last = state.regions.last_id();
    let agent = state.agents.entry(context.agent.to_string()).or_default();
    let from = if before.nothing { agent.seen } else { start };
    // Text of another that was forced past is still that other's.
    if matches!(
        front,
        Front::Shell {
            continuation: true,
            ..
        }
    ) && running.is_none()
        && before.own
        && !before.nothing
    {
        agent.unfinished = true;
    }
    if before.own && !before.nothing {
        agent.unsubmitted = typed.unwrap_or_default();
    }
    agent.seen = lines;
    agent.told = last;
    // What it started with Enter is its own to wait for.
    if running.is_some_and(|id| id > before.regions) {
        agent.left = running;
        agent.shown = lines;
    }
    drop(state);
    let status = match &front {
        Front::Over(ending) => super::report::closed(ending),
        Front::Shell {
            continuation: true, ..
        } => Status::Continuation,
        Front::Shell { .. } | Front::Between | Front::Fullscreen { .. } => Status::Settled,
        Front::Prompt { line, .. } => Status::Prompt { at: line.clone() },
        Front::Waiting { line, view } => Status::Waiting {
            at: line.clone(),
            secret: view.secret,
            hedged: view.hedged,
        },
        Front::Unclear { line, .. } => Status::Waiting {
            at: line.clone(),
            secret: false,
            hedged: true,
        },
        Front::Working { .. } => Status::Running,
    };
    if fullscreen && !matches!(front, Front::Over(_)) {
        return screen(context, session);
    }
    let span = snapshot::span(
        crate::session::Position {
            line: from.min(lines),
            byte: 0,
        },
        None,
        lines,
    );
    let mut reply = Told {
        session,
        status: &status,
        region: None,
        span,
        snapshot: &snapshot,
    }
    .reply(show)?;
    for region in &finished {
        let exit = crate::reply::header::exit_text(region.exit, &region.pipestatus);
        reply.note(format!(
            "#{} ended: {} · {exit}",
            region.id,
            crate::reply::words::one_line(&region.label, 80)
        ));
        reply.fact("region", region.id);
        reply.fact("exit_code", region.exit);
    }
    match &front {
        Front::Working { .. } => reply.note(format!(
            "{} works in the foreground; `wait` waits for it",
            front.name()
        )),
        Front::Waiting { view, .. } if view.secret => {
            reply.note("it reads without echo, as for a password: leave that to the user, at the attach command");
        }
        _ => {}
    }
    Ok(reply)
}

/// The screen as tmux shows it, with the cursor.
pub fn screen(context: &Context<'_>, session: &crate::session::Session) -> Result<Reply, Failure> {
    let Screen {
        rows,
        cursor: (column, row),
    } = context.sessions.screen(session)?;
    let (cols, height, fullscreen) = {
        let state = session.state();
        let (cols, rows) = state.term.size();
        (cols, rows, state.term.fullscreen())
    };
    let kind = if fullscreen {
        " · full-screen program"
    } else {
        ""
    };
    let mut reply = Reply::new(format!(
        "[{} · screen {cols}x{height} · cursor row {} column {}{kind}]",
        session.name,
        row + 1,
        column + 1
    ))
    .body(rows.join("\n"));
    report::facts(&mut reply, session, &Status::Settled);
    reply.fact(
        "screen",
        serde_json::json!({ "cols": cols, "rows": height, "cursor": { "row": row + 1, "column": column + 1 }, "fullscreen": fullscreen }),
    );
    if !fullscreen {
        return Ok(reply);
    }
    reply.note(format!(
        "a full-screen program is in front of {}: `send` keys to it",
        session.name
    ));
    Ok(reply)
}
