//! What appeared after keys were sent: the output of commands that ended meanwhile, what is new since, and what is
//! in front now. Neither a prompt nor a typed line that was echoed is repeated.

use std::sync::Arc;

use crate::reply::Reply;
use crate::reply::header::Status;
use crate::reply::words;
use crate::session::front::Front;
use crate::session::keys::Key;
use crate::session::prompts;
use crate::session::regions::{Kind, Region};
use crate::session::snapshot::{self, Snapshot};
use crate::session::{MarkId, Position, RegionId, Session, State};

use super::left_over;
use super::report::{self, Show, Told};
use super::screen::{self, Part};
use super::{Context, Failure, outcome, run};

/// How things stood before anything was typed.
pub struct Before {
    /// Where the cursor was. None on the alternate screen, whose marks go with it.
    mark: Option<MarkId>,
    line: u64,
    last: RegionId,
    /// Commands, and the line given to a program, that ran.
    open: Vec<RegionId>,
    /// A prompt stood before the cursor.
    at_prompt: bool,
    /// What is on the prompt line, if anything, is this agent's.
    own: bool,
    pub sent: Sent,
}

/// What is sent.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    pub text: String,
    pub keys: Vec<Key>,
    pub signal: bool,
}

impl Sent {
    pub fn nothing(&self) -> bool {
        self.text.is_empty() && self.keys.is_empty() && !self.signal
    }
}

impl Before {
    pub fn look(state: &mut State, front: &Front, own: bool, sent: Sent) -> Before {
        let mark = (!state.term.alternate()).then(|| state.term.mark());
        let mut open = state.regions.open_commands();
        open.extend(state.regions.open_input().map(|region| region.id));
        Before {
            mark,
            line: state.term.cursor().position.line,
            last: state.regions.last_id(),
            open,
            at_prompt: matches!(front, Front::Shell { .. } | Front::Prompt { .. }),
            own,
            sent,
        }
    }

    /// A line was submitted.
    fn entered(&self) -> bool {
        self.sent.text.contains('\n') || self.pressed("Enter")
    }

    fn pressed(&self, name: &str) -> bool {
        self.sent.keys.contains(&Key::Named(name.into()))
    }

    /// What was started or signalled has ended, and its shell is back at its prompt: nothing more will come.
    pub fn answered(&self, state: &State) -> bool {
        let lines = self.sent.text.matches('\n').count() + usize::from(self.pressed("Enter"));
        let new = &state.regions.all()[self.last as usize..];
        let over = match self.sent.signal {
            true => true,
            false => lines == 1 && !new.is_empty() && !new.iter().any(Region::running),
        };
        over && state.regions.prompt().is_some()
    }
}

/// The reply to keys that were sent, or to nothing sent: a look at what is new.
pub fn tell(
    context: &Context<'_>,
    session: &Arc<Session>,
    before: &Before,
    show: &Show,
    part: Part,
) -> Result<Reply, Failure> {
    let mut front = context.sessions.front(session);
    if before.own && !before.sent.nothing() && left_over::reads_keys(session, &front) {
        // It has read the keys, and what it has printed on the line since is its own.
        session.state().stands_whole();
        front = context.sessions.front(session);
    }
    if let Front::Prompt { line, typed, .. } = &front {
        if typed.is_empty() {
            close_answered(session, line);
        }
    }
    let mut state = session.state();
    let snapshot = state.snapshot()?;
    let from = start(&mut state, before, &snapshot, context.agent)?;
    let finished = finished(&state, before);
    let running = state
        .regions
        .open_input()
        .or_else(|| state.regions.running())
        .cloned();
    let status = status(&front);
    let end = match front {
        Front::Shell { .. } | Front::Between => Some(cursor_line(&state)),
        _ => run::quoted(&state, &status),
    };
    let spans: Vec<_> = finished
        .iter()
        .map(|region| clipped(&state, region, from, snapshot.lines()))
        .collect();
    let begun = running
        .as_ref()
        .map_or(from, |region| state.regions.bounds(&state.term, region).0);
    let fullscreen = state.term.fullscreen() && !matches!(front, Front::Over(_));
    let known = state.prompts.clone();
    let typed = typed(&state, &front);
    remember(
        &mut state,
        context.agent,
        before,
        &front,
        typed.clone(),
        &Looked {
            from: from.line,
            lines: snapshot.lines(),
            last: snapshot.last_of(snapshot.all())?,
        },
    );
    drop(state);

    let mut told = Vec::new();
    for (region, span) in finished.iter().zip(spans) {
        let status = Status::Done {
            exit: region.exit,
            pipestatus: region.pipestatus.clone(),
        };
        let mut reply = Told {
            session,
            status: &status,
            region: Some(region),
            span,
            snapshot: &snapshot,
            echo: None,
        }
        .reply(show)?;
        if before.open.contains(&region.id) {
            let label = words::one_line(&region.label, 80);
            reply.note(format!("#{} was: {label}", region.id));
        }
        told.push(reply);
    }
    let at_prompt = matches!(front, Front::Shell { .. } | Front::Between);
    if fullscreen {
        let mut reply = screen::reply(context, session, part)?;
        reply.note(format!(
            "{} has the whole screen: `send` keys to it",
            front.name()
        ));
        told.push(reply);
    } else if told.is_empty() || !at_prompt {
        // At a program's prompt what ran before says nothing about the line just given.
        let region = running.filter(|region| {
            !at_prompt && (region.id > before.last || !matches!(front, Front::Prompt { .. }))
        });
        let from = if region.is_some() {
            from.max(begun)
        } else {
            from
        };
        let echo = |line: &str| known.echoes(&before.sent.text, line);
        told.push(
            Told {
                session,
                status: &status,
                region: region.as_ref(),
                span: snapshot::span(from, end, snapshot.lines()),
                snapshot: &snapshot,
                echo: Some(&echo),
            }
            .reply(show)?,
        );
    }
    let mut reply = run::join(told);
    notes(&mut reply, &front, before, typed.as_deref());
    Ok(reply)
}

/// A line given to a program earlier is answered when the program is back at its prompt.
fn close_answered(session: &Session, line: &str) {
    let open = session.state().regions.open_input().map(|region| region.id);
    if let Some(id) = open {
        outcome::close_input(session, id, &Status::Prompt { at: line.into() });
    }
}

/// Where what is new begins: after the cursor's place and what was echoed there.
fn start(
    state: &mut State,
    before: &Before,
    snapshot: &Snapshot,
    agent: &str,
) -> Result<Position, Failure> {
    let line = |line| Position { line, byte: 0 };
    let lines = snapshot.lines();
    let mark = before.mark.map(|mark| {
        let at = state.term.locate(mark);
        state.term.release(mark);
        at.unwrap_or(line(before.line))
    });
    if before.sent.nothing() {
        let agent = state.agents.get(agent);
        let (seen, last) = agent.map_or((0, None), |agent| (agent.seen, agent.seen_last));
        let from = snapshot.new_from(snapshot.all(), seen.min(lines), last)?;
        return Ok(line(from));
    }
    let at = mark.unwrap_or(line(before.line));
    if at.line >= lines {
        return Ok(line(lines));
    }
    // The prompt, and what is typed at it, are on one line of the log however long they are.
    if before.at_prompt {
        return Ok(line(at.line + 1));
    }
    let typed = before.sent.text.split('\n').next().unwrap_or_default();
    let whole = snapshot::span(line(at.line), Some(line(at.line + 1)), lines);
    let shown = snapshot.take(whole, at.line, 1)?;
    let rest = shown
        .first()
        .and_then(|(_, line)| line.bytes.get(at.byte..));
    let rest = rest.unwrap_or_default();
    let echo = if rest.starts_with(typed.as_bytes()) {
        typed.len()
    } else {
        0
    };
    Ok(if rest[echo..].trim_ascii().is_empty() {
        line(at.line + 1)
    } else {
        Position {
            byte: at.byte + echo,
            ..at
        }
    })
}

/// What ended since, commands and lines given to programs, in order.
fn finished(state: &State, before: &Before) -> Vec<Region> {
    let earlier = before.open.iter().filter_map(|id| state.regions.get(*id));
    let new = state
        .regions
        .all()
        .iter()
        .skip(before.last as usize)
        .filter(|region| region.kind == Kind::Command);
    earlier
        .chain(new)
        .filter(|region| !region.running())
        // A line given to a program tells no status: what it printed is told with what is in front.
        .filter(|region| region.kind == Kind::Command)
        .cloned()
        .collect()
}

/// The part of a region that came after `from`.
fn clipped(state: &State, region: &Region, from: Position, lines: u64) -> snapshot::Span {
    let (start, end) = state.regions.bounds(&state.term, region);
    let start = start.max(from);
    snapshot::span(start, end.map(|end| end.max(start)), lines)
}

fn cursor_line(state: &State) -> Position {
    Position {
        byte: 0,
        ..state.term.cursor().position
    }
}

/// What stands on the prompt line, not submitted.
fn typed(state: &State, front: &Front) -> Option<String> {
    match front {
        Front::Shell { .. } => state.typed(),
        front => front.typed().map(String::from),
    }
}

fn status(front: &Front) -> Status {
    match front {
        Front::Over(ending) => report::closed(ending),
        Front::Shell {
            continuation: true, ..
        } => Status::Continuation,
        Front::Shell { .. } => Status::Shell,
        Front::Between | Front::Fullscreen { .. } => Status::Settled,
        Front::Prompt { line, .. } => Status::Prompt { at: line.clone() },
        Front::Waiting { line, typed, view } => Status::Waiting {
            at: format!("{line}{typed}"),
            secret: view.secret,
            hedged: view.hedged,
        },
        Front::Unclear { line, typed, .. } => Status::Waiting {
            at: format!("{line}{typed}"),
            secret: false,
            hedged: true,
        },
        Front::Working { .. } => Status::Running,
    }
}

/// Which lines of the log a reply shows: from one on, all there are, of which the last is like `last`.
struct Looked {
    from: u64,
    lines: u64,
    last: Option<u64>,
}

/// What this agent has now been told, and what it has left.
fn remember(
    state: &mut State,
    agent: &str,
    before: &Before,
    front: &Front,
    typed: Option<String>,
    looked: &Looked,
) {
    if !before.entered() {
        state.regions.expected = None;
    }
    let running = state.regions.running().map(|region| region.id);
    let last = state.regions.last_id();
    let ended = |id: &RegionId| {
        state
            .regions
            .get(*id)
            .is_none_or(|region| !region.running())
    };
    let ended: Vec<RegionId> = before.open.iter().copied().filter(ended).collect();
    let continuation = matches!(
        front,
        Front::Shell {
            continuation: true,
            ..
        }
    );
    let agent = state.agents.entry(agent.to_string()).or_default();
    // Text of another that was forced past is still that other's.
    if before.own && !before.sent.nothing() {
        agent.unfinished |= continuation && running.is_none();
        agent.unsubmitted = typed.unwrap_or_default();
    }
    agent.left = agent.left.filter(|left| !ended.contains(left));
    (agent.seen, agent.seen_last) = (looked.lines, looked.last);
    agent.told = last;
    // What it started with Enter is its own to wait for.
    let started = running.is_some_and(|id| id > before.last);
    if started {
        agent.left = running;
    }
    // Lines that came before these, and were told of nowhere, are still new to `wait`.
    if started || looked.from <= agent.shown {
        (agent.shown, agent.shown_last) = (looked.lines, looked.last);
    }
}

/// What is in front, and what to do about it.
fn notes(reply: &mut Reply, front: &Front, before: &Before, typed: Option<&str>) {
    let name = front.name();
    if let Some(typed) = typed.filter(|typed| !typed.is_empty()) {
        reply.note(format!(
            "on the prompt line, not submitted: {}",
            words::one_line(typed, 120)
        ));
    }
    match front {
        Front::Working { .. } if !before.pressed("C-c") => reply.note(format!(
            "{name} works in the foreground and reads nothing; `wait` waits for it"
        )),
        Front::Waiting { view, .. } if view.secret => reply.note(run::SECRET),
        Front::Waiting { .. } if !before.pressed("C-c") => {
            reply.note(format!("{name} waits for input"));
        }
        Front::Unclear { .. } => reply.note(format!(
            "{name} is in front; whether it works or waits cannot be told from here"
        )),
        _ => {}
    }
    if before.pressed("C-c") {
        if let Some(next) = after_interrupt(front, &name) {
            reply.note(next);
        }
    }
}

/// A program that is still there after ctrl+c: what to try next.
fn after_interrupt(front: &Front, name: &str) -> Option<String> {
    let own =
        |view: &crate::session::front::View| view.foreground.as_ref().is_some_and(|job| job.own);
    Some(match front {
        Front::Prompt { line, view, .. } if !own(view) => format!(
            "{name} is at its prompt, and stays there after ctrl+c: {} leaves it",
            prompts::way_out(line)
        ),
        Front::Waiting { .. } | Front::Unclear { .. } => format!(
            "{name} is still in front after ctrl+c: answer it, press ctrl+d, or `send` signal=TERM"
        ),
        Front::Working { .. } => format!(
            "{name} is still in front after ctrl+c: it may be cleaning up (`wait`), or ignore it: press ctrl+c again or ctrl+\\, then `send` signal=TERM, at last KILL"
        ),
        Front::Fullscreen { .. } => format!(
            "{name} is still in front after ctrl+c: leave it by its own keys (q in less and top, escape and :q! in vim, ctrl+x in nano), or `send` signal=TERM"
        ),
        _ => return None,
    })
}
