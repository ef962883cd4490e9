//! Typing one line, if what is in front takes lines and nobody else is in the middle of one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::proc::Verdict;
use crate::session::front::Front;
use crate::session::keys::Key;
use crate::session::typing::Keys;
use crate::session::watch::Woken;
use crate::session::{MarkId, RegionId, Session};

use super::human::{self, Human};
use super::left_over::{began, clear, protected, reads_keys};
use super::line_keys::{interrupt, quoted_tabs};
use super::outcome::Target;
use super::{Context, Failure};

/// A terminal in canonical mode takes at most so many bytes of a line (N_TTY_BUF_SIZE - 1 in drivers/tty/n_tty.c).
const CANONICAL_MOST: usize = 4_095;

/// A line on its way.
pub struct Typed {
    pub target: Target,
    /// Where the cursor stood before: what a line that is no command prints comes after it.
    pub mark: MarkId,
    /// When it was typed.
    pub at: Instant,
    /// What this agent had left on the line, which was cleared first.
    pub cleared: Option<String>,
}

/// What is to be typed.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// One line; several when they are pasted.
    pub text: &'a str,
    /// How often Enter is pressed after it: a pasted block may want a second.
    pub enters: usize,
    /// As a person types.
    pub human: Option<Human>,
    /// Clears another's text off the line first.
    pub force: bool,
}

/// Types one line and Enter, or says why not; then nothing was typed.
pub fn type_line(
    context: &Context<'_>,
    session: &Arc<Session>,
    line: &Line<'_>,
) -> Result<Typed, Failure> {
    let force = line.force;
    if let Some(reason) = session.state().stopped.clone().filter(|_| !force) {
        return Err(Failure::from(format!(
            "nothing that is printed in {} is kept any more ({reason}), so no answer would be seen; nothing was typed. Open another session, or make room where {} is",
            session.name,
            session.dir.path.display()
        )));
    }
    let watch = session.watch();
    let begun = Instant::now();
    let mut cleared: Option<Instant> = None;
    let mut own_cleared: Option<String> = None;
    let mut whole = false;
    let type_now = |front: &Front, cleared: &Option<String>| {
        let typed = type_once(context, session, line, front, begun)?;
        Ok::<_, Failure>(typed.map(|typed| Typed {
            cleared: cleared.clone(),
            ..typed
        }))
    };
    loop {
        if begun.elapsed() >= MOVING {
            return Err(moving(session));
        }
        let front = settled_front(context, session);
        if let Front::Shell {
            continuation: true, ..
        } = front
        {
            if force && cleared.is_none() && !began(context, session) {
                cleared = Some(Instant::now());
                interrupt(context, session)?;
                context
                    .sessions
                    .catch_up(&watch, Instant::now(), context.cancel);
                continue;
            }
        }
        let refused = line
            .text
            .split('\n')
            .try_for_each(|line| refuse(context, session, &front, line, force));
        if let Err(refusal) = refused {
            let quiet_at = session.state().last_output + FRESH;
            if Instant::now() >= quiet_at || begun.elapsed() >= FRESH_MOST {
                return Err(refusal);
            }
            if watch.wait(quiet_at, context.cancel) == Woken::Cancelled {
                return Err(refusal);
            }
            continue;
        }
        if let Some(typed) = front.typed() {
            if !typed.is_empty() {
                let own = session.state().owns(context.agent, typed);
                if own && (began(context, session) || reads_keys(session, &front)) {
                    // The rest of a line that the shell has kept: it goes on where that ends. And who reads keys
                    // one by one has read them.
                    if let Some(typed) = type_now(&front, &None)? {
                        return Ok(typed);
                    }
                }
                let in_vain = cleared.is_some_and(|at| at.elapsed() >= CLEARED);
                if !own && !force || in_vain && whole {
                    return Err(protected(session, &front));
                }
                if in_vain {
                    // No key takes it away: the program itself has printed it, unless its prompt says otherwise.
                    whole = true;
                    session.state().stands_whole();
                    continue;
                }
                if cleared.is_none() {
                    cleared = Some(Instant::now());
                    own_cleared = own.then(|| typed.to_string());
                    clear(context, session, &front)?;
                }
                context
                    .sessions
                    .catch_up(&watch, Instant::now(), context.cancel);
                continue;
            }
        }
        if let Some(typed) = type_now(&front, &own_cleared)? {
            return Ok(typed);
        }
        context
            .sessions
            .catch_up(&watch, Instant::now(), context.cancel);
    }
}

/// What has printed so lately may be about to read: a question just asked, a prompt about to be drawn. A refusal is
/// thought over until it has been quiet for so long, or the other time has passed.
const FRESH: Duration = Duration::from_millis(250);
const FRESH_MOST: Duration = Duration::from_secs(1);

/// A line that its program has been told to clear is gone within so long, or never.
const CLEARED: Duration = Duration::from_secs(3);

/// Types the line if nobody has moved the cursor since `front` was seen.
fn type_once(
    context: &Context<'_>,
    session: &Session,
    line: &Line<'_>,
    front: &Front,
    begun: Instant,
) -> Result<Option<Typed>, Failure> {
    let tentative = begin(context, session, line.text, front);
    let typed = press(context, session, line, front, begun);
    match typed {
        Ok(true) => session.state().stands_anew(),
        _ => withdraw(session, &tentative),
    }
    // What came since it was begun is its answer; what a person's typing echoes is not.
    let at = match line.human {
        Some(_) => Instant::now(),
        None => tentative.at,
    };
    Ok(typed?.then_some(Typed { at, ..tentative }))
}

fn moving(session: &Session) -> Failure {
    Failure::from(format!(
        "the line of {} changed while this one was about to be typed: a person may be typing there; nothing was typed. Try again, or use a session of your own",
        session.name
    ))
}

/// So long a line that somebody else changes is looked at again.
const MOVING: Duration = Duration::from_secs(8);

/// Types the line where the cursor is as the log has it.
fn press(
    context: &Context<'_>,
    session: &Session,
    line: &Line<'_>,
    front: &Front,
    begun: Instant,
) -> Result<bool, Failure> {
    // fish keeps earlier lines in its editor, and escapes these where a quote is open there and they are pasted.
    let kept = matches!(front, Front::Shell { typed, .. } if !typed.is_empty());
    let escaped = line.text.contains(['\'', '\\']) && !line.text.contains('\t');
    let bracketed = session.state().term.bracketed_paste() && !(kept && escaped);
    let enters = std::iter::repeat_n(enter(), line.enters);
    if let Some(human) = line.human {
        return slowly(context, session, line, &human, front, begun);
    }
    let tabs = matches!(front, Front::Shell { .. }) && line.text.contains('\t') && !bracketed;
    let list: Vec<Key> = if tabs {
        quoted_tabs(line.text).into_iter().chain(enters).collect()
    } else {
        enters.collect()
    };
    let keys = Keys {
        text: if tabs { "" } else { line.text },
        bracketed,
        keys: &list,
    };
    press_at(context, session, keys, front, begun)
}

/// Presses keys if the cursor is where it was seen. A moment after the call began, tmux's own text of the line may
/// stand in for the cursor's place.
fn press_at(
    context: &Context<'_>,
    session: &Session,
    keys: Keys<'_>,
    front: &Front,
    begun: Instant,
) -> Result<bool, Failure> {
    if matches!(front, Front::Fullscreen { .. } | Front::Working { .. }) {
        context.sessions.press(session, keys)?;
        return Ok(true);
    }
    if context.sessions.press_here(session, keys)? {
        return Ok(true);
    }
    Ok(begun.elapsed() >= Duration::from_millis(500)
        && context.sessions.press_on_this_line(session, keys)?)
}

fn enter() -> Key {
    Key::Named("Enter".into())
}

/// Types key by key, with a person's pauses.
fn slowly(
    context: &Context<'_>,
    session: &Session,
    line: &Line<'_>,
    human: &Human,
    front: &Front,
    begun: Instant,
) -> Result<bool, Failure> {
    let mut typed = String::new();
    for (at, stroke) in human.strokes(line.text).iter().enumerate() {
        let list = match stroke.key {
            human::Key::Backspace => vec![Key::Named("BSpace".into())],
            human::Key::Char('\t') if matches!(front, Front::Shell { .. }) => quoted_tabs("\t"),
            human::Key::Char(c) => vec![Key::Text(c.into())],
        };
        let keys = Keys {
            text: "",
            bracketed: false,
            keys: &list,
        };
        if at > 0 {
            context.sessions.press(session, keys)?;
        } else if !press_at(context, session, keys, front, begun)? {
            return Ok(false);
        }
        match stroke.key {
            human::Key::Backspace => drop(typed.pop()),
            human::Key::Char(c) => typed.push(c),
        }
        let paused = context.cancel.recv_timeout(stroke.pause);
        if paused.is_err_and(|error| error.is_disconnected()) {
            let mut state = session.state();
            let agent = state.agents.entry(context.agent.to_string()).or_default();
            agent.unsubmitted = typed;
            return Err(Failure::from(
                "cancelled while typing: what was typed stands on the line, not submitted"
                    .to_string(),
            ));
        }
    }
    let enter = [enter()];
    let keys = Keys {
        text: "",
        bracketed: false,
        keys: &enter,
    };
    if line.text.is_empty() {
        return press_at(context, session, keys, front, begun);
    }
    context.sessions.press(session, keys)?;
    Ok(true)
}

/// What takes no line.
fn refuse(
    context: &Context<'_>,
    session: &Session,
    front: &Front,
    line: &str,
    force: bool,
) -> Result<(), Failure> {
    match front {
        Front::Shell {
            continuation: true, ..
        } if !force && !began(context, session) => Err(Failure::from(format!(
            "somebody's unfinished command waits for its rest in {} (a continuation prompt); nothing was typed. Leave it to them, or give it up with `send` keys=[\"ctrl+c\"] force=true",
            session.name
        ))),
        Front::Shell { .. } | Front::Unclear { .. } => Ok(()),
        Front::Prompt { .. } | Front::Waiting { .. } => fits(front, line),
        Front::Between => Err(Failure::from(format!(
            "the shell of {} has not drawn its prompt yet (something runs before it); nothing was typed. Try again in a moment",
            session.name
        ))),
        // A moment ago it lived.
        Front::Over(_) => Err(context
            .sessions
            .get_live(&session.name)
            .map_or_else(Failure::from, |_| working(session, front))),
        Front::Fullscreen { .. } | Front::Working { .. } if force => Ok(()),
        Front::Fullscreen { .. } => Err(Failure::from(format!(
            "{} has the whole screen of {}; nothing was typed. Press keys with `send` (it shows the screen)",
            front.name(),
            session.name
        ))),
        Front::Working { .. } => Err(working(session, front)),
    }
}

/// Refuses a line that the terminal would cut off.
pub fn fits(front: &Front, line: &str) -> Result<(), Failure> {
    let (Front::Prompt { view, .. } | Front::Waiting { view, .. } | Front::Working { view }) =
        front
    else {
        return Ok(());
    };
    if !view.canonical || line.len() <= CANONICAL_MOST {
        return Ok(());
    }
    Err(Failure::from(format!(
        "the line is {} bytes long, and {} reads whole lines of at most {CANONICAL_MOST} bytes: the rest would be lost; nothing was typed. Write it in shorter lines, or put it into a file",
        line.len(),
        front.name()
    )))
}

/// A shell that draws its prompt right now is waited for so long.
const PROMPT_PATIENCE: Duration = Duration::from_secs(5);

/// A program that has drawn its prompt and does not read yet is looked at again for so long, so often.
const DRAWN_PATIENCE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The cursor stands after a prompt that is known.
fn at_prompt(session: &Session) -> bool {
    let state = session.state();
    let line = state.term.cursor_line();
    state.prompts.matches(&line).is_some()
}

/// What is in front, once a shell that is about to draw its prompt has drawn it.
fn settled_front(context: &Context<'_>, session: &Arc<Session>) -> Front {
    let watch = session.watch();
    let deadline = Instant::now() + PROMPT_PATIENCE;
    let drawn = Instant::now() + DRAWN_PATIENCE;
    loop {
        match context.sessions.front(session) {
            // It has drawn its prompt, and will read in a moment.
            Front::Working { view } if view.verdict == Verdict::Working && at_prompt(session) => {
                let now = Instant::now();
                if now >= drawn
                    || watch.wait(drawn.min(now + LOOK_AGAIN), context.cancel) == Woken::Cancelled
                {
                    return Front::Working { view };
                }
            }
            Front::Between if watch.wait(deadline, context.cancel) == Woken::Changed => {}
            front => return front,
        }
    }
}

/// Notes where the log stands before the line is typed, and whose line comes next.
fn begin(context: &Context<'_>, session: &Session, line: &str, front: &Front) -> Typed {
    let place = context.sessions.place(session);
    let mut state = session.state();
    let at = state.moment();
    let state = &mut *state;
    let mark = state.term.mark();
    let who = context.agent.to_string();
    state.regions.expected_place = place.map(|place| place.to_string());
    let target = match front {
        Front::Shell { .. } => {
            state.regions.expected = Some(who);
            state.regions.expected_more = 0;
            state.regions.expected_line = Some(line.trim().to_string());
            state.record_typed(context.agent, line.trim());
            Target::Command {
                after: state.regions.last_id(),
                offset: at.offset,
            }
        }
        front => {
            let prompt = match front {
                Front::Prompt { line, .. }
                | Front::Waiting { line, .. }
                | Front::Unclear { line, .. } => line.as_str(),
                _ => "",
            };
            let secret = match front {
                Front::Waiting { view, .. } => view.secret,
                // Whether the far side echoes cannot be seen from here.
                Front::Unclear { line, .. } => asks_for_secret(line),
                _ => false,
            };
            // What is typed where nothing is echoed is written down nowhere.
            let label = if secret {
                format!("{prompt}•••")
            } else {
                format!("{prompt}{line}")
            };
            let start = state.term.mark();
            let id = state
                .regions
                .input(&mut state.term, label, Some(who), start, at);
            if secret {
                state.regions.never_echoed();
            }
            Target::Region(id)
        }
    };
    Typed {
        target,
        mark,
        at: Instant::now(),
        cleared: None,
    }
}

/// A question for what should not be shown, as sudo, su, ssh and the like word it.
fn asks_for_secret(question: &str) -> bool {
    let question = question.to_lowercase();
    let asks = [
        "password",
        "passphrase",
        "passcode",
        "passwort",
        "secret",
        "pin ",
        "pin:",
        "verification code",
        "token",
    ];
    asks.iter().any(|word| question.contains(word))
}

/// Nothing was typed after all.
fn withdraw(session: &Session, typed: &Typed) {
    let mut state = session.state();
    let state = &mut *state;
    state.term.release(typed.mark);
    state.regions.expected = None;
    state.regions.expected_line = None;
    if let Target::Region(id) = typed.target {
        let id: RegionId = id;
        state.regions.withdraw(&mut state.term, id);
    }
}

fn working(session: &Session, front: &Front) -> Failure {
    if matches!(front, Front::Working { view } if view.verdict == Verdict::Stopped) {
        return Failure::from(format!(
            "{} is stopped in the foreground of {} and reads nothing; nothing was typed",
            front.name(),
            session.name
        ));
    }
    Failure::from(format!(
        "{} works in the foreground of {} and does not read input; nothing was typed. Wait for it with `wait`, stop it with `send` keys=[\"ctrl+c\"], or use another session",
        front.name(),
        session.name
    ))
}
