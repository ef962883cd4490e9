//! wait: goes on waiting for what runs, and tells only what is new.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::reply::header::Status;
use crate::reply::words;
use crate::session::exit;
use crate::session::front::Front;
use crate::session::regions::{Kind, Region};
use crate::session::snapshot;
use crate::session::watch::Woken;
use crate::session::{RegionId, Session};

use super::args::{Args, TIMEOUT_DEFAULT, TIMEOUT_MOST};
use super::left_over::{self, OfOthers};
use super::outcome::{self, Goal, Outcome, Target};
use super::report::{Show, Told};
use super::run::{self, SETTLE_DEFAULT};
use super::saving::Saving;
use super::screen::{self, Part};
use super::{Context, Failure};

pub fn tool() -> Tool {
    use schema::{integer, string};
    Tool {
        name: "wait",
        title: "Wait for a running command",
        description: "Goes on waiting for what your last call left running in a session, else for a command that a person or another \
agent runs there. Returns only lines that you have not been shown, with the exit status when it has ended. Commands of others that ended since \
your last call are told at once. With nothing running it says so and what is in front. Use it in place of `sleep`, polling loops and \
starting a command again; it types nothing. To stop what runs use `send` keys=[\"ctrl+c\"].",
        input_schema: schema::object([
            string("session", "Name of an open session.").required(),
            integer("timeout_s", "Seconds to wait. What runs longer goes on.").default(TIMEOUT_DEFAULT).min(0).max(TIMEOUT_MOST),
            integer("max_lines", "Lines of output in the reply.").default(80).min(1).max(10_000),
            string("show", "Regular expression: only matching lines of the new output, numbered, then the last ones."),
            integer("show_after", "With show: so many lines after each match.").default(0).min(0).max(1_000),
            integer("last_lines", "Only the last N new lines (with show: how many last lines follow the matches, default 3).").min(0).max(10_000),
            string("until", "Regular expression: return as soon as a line of the output matches, also one printed before."),
            string("save_to", "File that gets the whole output of what is waited for, kept up to date while it runs; relative to the session's directory."),
        ]),
        output_schema: None,
        annotations: Annotations { idempotent: true, ..Annotations::default() },
        always_load: true,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let name = args.required("session")?;
    let timeout = args
        .number("timeout_s", 0, TIMEOUT_MOST)?
        .unwrap_or(TIMEOUT_DEFAULT);
    let show = Show::take(&mut args)?;
    let until = args.matcher("until")?;
    let save_to = args.string("save_to")?;
    args.done()?;
    let session = context.sessions.get(&name)?;
    let deadline = Instant::now() + Duration::from_secs(timeout);
    let text = text_goes(context, &session, deadline);
    let went = match &text {
        Text::Went(went) => Some(went.clone()),
        _ => None,
    };
    let (target, shown, others) = {
        let state = session.state();
        let agent = state.agents.get(context.agent).cloned().unwrap_or_default();
        // Its own command that ended while no server ran.
        let untold = state
            .regions
            .all()
            .iter()
            .rev()
            .take_while(|region| region.id > agent.told);
        let untold = untold
            .into_iter()
            .find(|region| region.who.as_deref() == Some(context.agent))
            .map(|region| region.id);
        let open = state
            .regions
            .open_input()
            .or_else(|| state.regions.running())
            .map(|region| region.id);
        let target = agent.left.or(open).or(untold);
        let mine = |region: &Region| {
            region.id <= agent.told && region.who.as_deref() == Some(context.agent)
        };
        let shown = if agent.left.is_some() && target == agent.left {
            (agent.shown, agent.shown_last)
        } else if target.is_some_and(|id| state.regions.get(id).is_some_and(mine)) {
            // The program that it talks with.
            (agent.seen, agent.seen_last)
        } else {
            (0, None)
        };
        // Only what others ran: the agent's own calls have told theirs.
        let others: Vec<Region> = state.regions.all()
            [(agent.told as usize).min(state.regions.all().len())..]
            .iter()
            .filter(|region| {
                !region.running()
                    && Some(region.id) != target
                    && region.who.as_deref() != Some(context.agent)
            })
            .cloned()
            .collect();
        (target, shown, others)
    };
    let mut saving = Saving::prepare(context, &session, save_to.as_deref())?;
    let Some(id) = target else {
        let mut reply = nothing_runs(context, &session, &others, &show)?;
        if save_to.is_some() {
            reply.note("save_to: nothing was saved, since nothing runs");
        }
        went.into_iter().for_each(|went| reply.note(went));
        return Ok(reply);
    };
    let goal = Goal {
        target: Target::Region(id),
        until: until.as_deref(),
        heard: None,
        deadline,
        typed: None,
        settle: Duration::from_millis(SETTLE_DEFAULT),
        prompt: None,
        asks: None,
        patient: true,
        cancel: context.cancel,
        progress: context.progress,
    };
    saving.begin(context, &session, goal.target)?;
    let outcome = match &text {
        // What is in front waits for a line, and another has begun that: nothing more will come.
        Text::Stays(_, status) => Outcome {
            status: status.clone(),
            region: Some(id),
            view: None,
            offer: None,
        },
        _ => outcome::wait(context.sessions, &session, &goal)?,
    };
    let mut state = session.state();
    let snapshot = state.snapshot()?;
    let Some(region) = state.regions.get(id).cloned() else {
        return Err(Failure::from(format!("region {id} is not known")));
    };
    let (start, end) = state.regions.bounds(&state.term, &region);
    let whole = snapshot::span(
        start,
        run::before_question(&state, &outcome.status, end),
        snapshot.lines(),
    );
    let (shown, shown_last) = shown;
    let span = whole.from(snapshot.new_from(whole, shown, shown_last)?);
    let shown_last = snapshot.last_of(whole)?;
    let running = region.running();
    let last = state.regions.last_id();
    let agent = state.agents.entry(context.agent.to_string()).or_default();
    agent.left = running.then_some(id);
    (agent.shown, agent.shown_last) = (span.after, shown_last);
    (agent.seen, agent.seen_last) = (span.after, shown_last);
    agent.told = last;
    drop(state);
    if matches!(outcome.status, Status::Settled) {
        let mut reply = screen::reply(context, &session, Part::Full)?;
        reply.fact("region", id);
        run::notes(context, &session, &mut reply, &outcome);
        saving.tell(context, &session, &mut reply);
        return Ok(reply);
    }
    let told = Told {
        session: &session,
        status: &outcome.status,
        region: Some(&region),
        span,
        snapshot: &snapshot,
        echo: None,
    };
    let mut reply = told.reply(&show)?;
    match &text {
        Text::Stays(held, _) => reply.note(left_over::told(&held.typed)),
        _ => run::notes(context, &session, &mut reply, &outcome),
    }
    if region.who.as_deref() != Some(context.agent) {
        let who = region.who.as_deref().unwrap_or("a person");
        reply.note(format!(
            "{who} ran it: {}",
            words::one_line(&region.label, 80)
        ));
    }
    saving.tell(context, &session, &mut reply);
    tell_others(&mut reply, &others);
    went.into_iter().for_each(|went| reply.note(went));
    Ok(reply)
}

/// What became of another's unsubmitted text.
enum Text {
    None,
    /// In words, which way it went.
    Went(String),
    /// It still stands on a program's line.
    Stays(OfOthers, Status),
}

/// While another's unsubmitted text holds the line that is read in front: waits for that to go. At a shell's prompt
/// only if nothing of this agent's runs.
fn text_goes(context: &Context<'_>, session: &Arc<Session>, deadline: Instant) -> Text {
    let watch = session.watch();
    let before = session.state().regions.last_id();
    let Some(first) = left_over::of_others(context, session) else {
        return Text::None;
    };
    let left = session
        .state()
        .agents
        .get(context.agent)
        .and_then(|agent| agent.left);
    if first.program.is_none() && left.is_some() {
        return Text::None;
    }
    let mut held = first;
    loop {
        let woken = watch.wait(deadline, context.cancel);
        match left_over::of_others(context, session) {
            Some(now) => held = now,
            None => break,
        }
        if woken != Woken::Changed {
            // It is still there: what is in front says so.
            return match held.program.clone() {
                Some((_, status)) => Text::Stays(held, status),
                None => Text::None,
            };
        }
    }
    let shown = words::one_line(&held.typed, 80);
    let state = session.state();
    let submitted = match held.program {
        Some((line, _)) => state.term.cursor().position.line > line,
        None => state.regions.last_id() > before,
    };
    Text::Went(if submitted {
        format!("the unsubmitted text was submitted: {shown:?}")
    } else {
        format!("the unsubmitted text is gone: {shown:?}")
    })
}

fn nothing_runs(
    context: &Context<'_>,
    session: &Arc<Session>,
    others: &[Region],
    show: &Show,
) -> Result<Reply, Failure> {
    let front = context.sessions.front(session);
    let mut state = session.state();
    let snapshot = state.snapshot()?;
    let last = state.regions.last_id();
    let lines = snapshot.lines();
    let own = |region: &&Region| {
        region.kind == Kind::Command && region.who.as_deref() == Some(context.agent)
    };
    let latest = state.regions.all().iter().rev().find(own).cloned();
    let agent = state.agents.entry(context.agent.to_string()).or_default();
    agent.told = last;
    (agent.seen, agent.seen_last) = (lines, None);
    drop(state);
    let status = match &front {
        Front::Over(ending) => super::report::closed(ending),
        Front::Shell {
            continuation: true, ..
        } => Status::Continuation,
        Front::Prompt { line, .. } => Status::Prompt { at: line.clone() },
        Front::Waiting { line, typed, view } => Status::Waiting {
            at: format!("{line}{typed}"),
            secret: view.secret,
            hedged: view.hedged,
        },
        _ => Status::Idle,
    };
    let none = crate::session::snapshot::span(
        crate::session::Position {
            line: lines,
            byte: 0,
        },
        None,
        lines,
    );
    let told = Told {
        session,
        status: &status,
        region: None,
        span: none,
        snapshot: &snapshot,
        echo: None,
    };
    let mut reply = told.reply(show)?;
    match &front {
        front if front.typed().is_some_and(|typed| !typed.is_empty()) => {
            reply.note(left_over::told(front.typed().unwrap_or_default()));
        }
        Front::Shell { .. } => {
            reply.note("the shell is at its prompt");
            // send may have told of it: whoever waits for it all the same is told again.
            if let Some(latest) = &latest {
                reply.note(format!("your last command was {}", ended(latest)));
                reply.fact("region", latest.id);
                reply.fact("exit_code", latest.exit);
                reply.fact("signal", latest.exit.and_then(exit::signal_of));
            }
        }
        Front::Working { .. } => reply.note(format!(
            "{} is in front; nothing that you started is unfinished",
            front.name()
        )),
        _ => {}
    }
    tell_others(&mut reply, others);
    Ok(reply)
}

/// A command that has ended, in a few words.
fn ended(region: &Region) -> String {
    let exit = crate::reply::header::exit_text(region.exit, &region.pipestatus);
    let label = words::one_line(&region.label, 80);
    format!("#{}: {label} · {exit}", region.id)
}

/// At most so many of others' commands are told by name.
const OTHERS_TOLD: usize = 10;

fn tell_others(reply: &mut Reply, others: &[Region]) {
    for region in others.iter().rev().take(OTHERS_TOLD).rev() {
        let who = region.who.as_deref().unwrap_or("a person");
        reply.note(format!("meanwhile {who} ran {}", ended(region)));
    }
    if !others.is_empty() {
        reply.fact(
            "regions",
            others
                .iter()
                .map(|region| region.id)
                .collect::<Vec<RegionId>>(),
        );
    }
}
