//! run: types a line and waits for what it comes to.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::mcp::{Annotations, Tool, schema};
use crate::reply::Reply;
use crate::reply::header::{self, Status};
use crate::reply::words;
use crate::session::MarkId;
use crate::session::front::{self, Front};
use crate::session::regions;
use crate::session::snapshot::{self, Span};
use crate::session::{Position, RegionId, Session};

use super::args::{Args, INPUT_MOST, TIMEOUT_DEFAULT, TIMEOUT_MOST};
use super::human::Human;
use super::outcome::{self, Goal, Outcome};
use super::report::{Show, Told};
use super::saving::Saving;
use super::screen::{self, Part};
use super::type_line::{Line, Typed, type_line};
use super::{Context, Failure};
use super::{human, paste};

pub const SETTLE_DEFAULT: u64 = 3_000;
pub const SETTLE_MOST: u64 = 60_000;

pub fn tool() -> Tool {
    use schema::{boolean, integer, number, record, string};
    Tool {
        name: "run",
        title: "Run a command in a session",
        description: "Types a line and Enter into a session and returns what it came to. At a shell prompt: waits until the command has \
ended and returns its output and exact exit status (of every stage of a pipeline). In a program (python, gdb, psql, ...): returns at its \
next prompt. A command that starts a program returns at the program's first prompt or screen, and the next run types into it. \
Use it in place of a one-shot shell call; do not pipe into head, tail or grep and do not redirect output to read it later: long output comes \
back with its first and last lines, every other line stays readable with `read` and `search`, and `show`, `last_lines` filter without \
touching the command. Do not add `; echo $?` or `&`: the status is in the header, and what outlasts timeout_s runs on (status running) for \
`wait`. Several lines in `input` are run one after the other, each when the one before is back at a prompt; a line that asks a question, \
times out or ends the shell stops the rest. Refused, with nothing typed: while a command works in front (see `wait`, or `send` to stop it), \
and while another's unsubmitted text is on the prompt line. For single keys and full-screen programs use `send`.",
        input_schema: schema::object([
            string("session", "Name of an open session.").required(),
            string("input", "The line to type, or several lines. Enter is pressed after each. Typed as it is: no shell quoting of yours is needed.")
                .required(),
            integer("timeout_s", "Seconds to wait for the end. What runs longer goes on and is waited for with `wait`.")
                .default(TIMEOUT_DEFAULT)
                .min(0)
                .max(TIMEOUT_MOST),
            integer("max_lines", "Lines of output in the reply: the first and last ones, round a marker that names the rest.").default(80).min(1).max(10_000),
            string("show", "Regular expression (Rust syntax): only matching lines of the output, numbered, then the last ones."),
            integer("show_after", "With show: so many lines after each match.").default(0).min(0).max(1_000),
            integer("last_lines", "Only the last N lines of the output (with show: how many last lines follow the matches, default 3).").min(0).max(10_000),
            string("until", "Regular expression: return as soon as a line of the output matches, while the command runs on."),
            integer("settle_ms", "Output quiet for so long, while something waits for input in a way that is not known, counts as waiting.")
                .default(SETTLE_DEFAULT)
                .min(0)
                .max(SETTLE_MOST),
            string("prompt_pattern", "Regular expression for the prompt of a program whose prompt is not known: the call returns as soon as it stands there. A reply offers one where it fits."),
            string("save_to", "File that gets the output as `> FILE 2>&1` would, kept up to date while it runs, on this machine; relative to the session's directory."),
            record("typing", "Type as a person does, for a demonstration.", [
                number("wps", "Words per second.").default(2).min(0.2).max(100),
                number("mistakes", "Chance of a mistake, put right, at each letter.").default(0).min(0).max(0.5),
                integer("seed", "The same seed types the same way.").default(1).min(0),
            ]),
            boolean("force", "Clear unsubmitted text of another off the prompt line first.").default(false),
        ]),
        output_schema: None,
        annotations: Annotations { destructive: true, open_world: true, ..Annotations::default() },
        always_load: true,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let name = args.required("session")?;
    let input = args.required("input")?;
    let timeout = args
        .number("timeout_s", 0, TIMEOUT_MOST)?
        .unwrap_or(TIMEOUT_DEFAULT);
    let show = Show::take(&mut args)?;
    let until = args.matcher("until")?;
    let settle = args
        .number("settle_ms", 0, SETTLE_MOST)?
        .unwrap_or(SETTLE_DEFAULT);
    let prompt = args.regex("prompt_pattern")?;
    let save_to = args.string("save_to")?;
    let human = Human::take(&mut args)?;
    let force = args.flag("force")?;
    args.done()?;
    let mut lines = lines_of(&input)?;
    if human.is_some() && input.chars().count() > human::TYPED_MOST {
        return Err(Failure::from(format!(
            "run: `typing` types at most {} characters in a call; nothing was typed",
            words::number(human::TYPED_MOST as u64)
        )));
    }
    let session = context.sessions.get_live(&name)?;
    let _typist = session.typist(context.agent, "run", context.cancel)?;
    let mut enters = 1;
    if lines.len() > 1 && human.is_none() && takes_pastes(context, &session) {
        (lines, enters) = pasted(&session, &lines);
    }
    let mut saving = Saving::prepare(context, &session, save_to.as_deref())?;
    let deadline = Instant::now() + Duration::from_secs(timeout);
    let mut told: Vec<Reply> = Vec::new();
    let last = lines.len() - 1;
    for (at, line) in lines.iter().enumerate() {
        let line = Line {
            text: line,
            enters,
            human,
            force,
        };
        let typed = match type_line(context, &session, &line) {
            Ok(typed) => typed,
            // The first refusal is the answer; a later one stops the rest.
            Err(failure) if at == 0 => return Err(failure),
            Err(Failure(mut reply)) => {
                unsent(&mut reply, &lines[at..]);
                told.push(*reply);
                break;
            }
        };
        saving.begin(context, &session, typed.target)?;
        // Of several pasted lines all but the first are echoed among the output.
        let prompts = session.state().prompts.clone();
        let text = line.text;
        let ends = until.as_ref().map(|until| {
            let prompts = &prompts;
            move |shown: &str| until(shown) && !(text.contains('\n') && prompts.echoes(text, shown))
        });
        let goal = Goal {
            target: typed.target,
            until: ends.as_ref().map(|ends| ends as &dyn Fn(&str) -> bool),
            heard: None,
            deadline,
            typed: Some(typed.at),
            settle: Duration::from_millis(settle),
            prompt: prompt.as_ref(),
            asks: None,
            patient: false,
            cancel: context.cancel,
            progress: context.progress,
        };
        let outcome = outcome::wait(context.sessions, &session, &goal)?;
        saving.came(outcome.region);
        let goes_on = matches!(
            outcome.status,
            Status::Done { .. }
                | Status::NoCommand { .. }
                | Status::DoneWith { .. }
                | Status::Prompt { .. }
                | Status::Continuation
        );
        let mut reply = tell(context, &session, &typed, &outcome, &show, line.text)?;
        if at < last && !goes_on {
            unsent(&mut reply, &lines[at + 1..]);
        }
        // The lines of one unfinished command are one command: only its end is told.
        if !(at < last && matches!(outcome.status, Status::Continuation)) {
            told.push(reply);
        }
        if !goes_on {
            break;
        }
    }
    let mut reply = join(told);
    saving.tell(context, &session, &mut reply);
    Ok(reply)
}

/// A Python or IPython prompt takes several lines as one paste.
fn takes_pastes(context: &Context<'_>, session: &Arc<Session>) -> bool {
    let Front::Prompt { line, typed, .. } = context.sessions.front(session) else {
        return false;
    };
    let program = session.state().prompts.matches(&line);
    typed.is_empty() && matches!(program, Some("python" | "ipython"))
}

/// Several lines as one text, and how often Enter follows.
fn pasted(session: &Session, lines: &[String]) -> (Vec<String>, usize) {
    let plain = paste::for_plain_prompt(lines);
    if !session.state().term.bracketed_paste() {
        return (vec![plain.join("\n")], 1);
    }
    // What is pasted in one piece keeps its blank lines; a block at the end wants a second Enter.
    let block = plain.last().is_some_and(String::is_empty);
    let text = lines.join("\n");
    (vec![text.trim_end().to_string()], if block { 2 } else { 1 })
}

/// The lines to type, one at a time. One trailing newline is the Enter that is pressed anyway.
pub fn lines_of(input: &str) -> Result<Vec<String>, String> {
    if input.len() > INPUT_MOST {
        return Err(format!(
            "run: `input` is {} bytes long; at most {INPUT_MOST} are typed in one call",
            input.len()
        ));
    }
    let input = input.replace("\r\n", "\n");
    if let Some(control) = input
        .chars()
        .find(|&c| c.is_control() && c != '\n' && c != '\t')
    {
        return Err(format!(
            "run: `input` holds the control character U+{:04X}, which would act as a key; press keys with `send` (keys=[\"ctrl+c\"]) instead",
            u32::from(control)
        ));
    }
    let body = input.strip_suffix('\n').unwrap_or(&input);
    Ok(body.split('\n').map(String::from).collect())
}

fn unsent(reply: &mut Reply, rest: &[String]) {
    reply.note(format!(
        "not sent: {}",
        rest.iter()
            .map(|line| words::one_line(line, 60))
            .collect::<Vec<_>>()
            .join(" ⏎ ")
    ));
    reply.fact("unsent", rest.to_vec());
}

/// What one line came to.
pub fn tell(
    context: &Context<'_>,
    session: &Arc<Session>,
    typed: &Typed,
    outcome: &Outcome,
    show: &Show,
    input: &str,
) -> Result<Reply, Failure> {
    let mut state = session.state();
    let snapshot = state.snapshot()?;
    let lines = snapshot.lines();
    let region = outcome.region.and_then(|id| state.regions.get(id)).cloned();
    let span = match &region {
        Some(region) => {
            let (start, end) = state.regions.bounds(&state.term, region);
            snapshot::span(start, before_question(&state, &outcome.status, end), lines)
        }
        None => no_command(&state, typed.mark, lines),
    };
    let mark = typed.mark;
    state.term.release(mark);
    let last = snapshot.last_of(span)?;
    remember(&mut state, context.agent, outcome, span, last);
    let continues = matches!(outcome.status, Status::Continuation);
    let left_over = state.term.alternate() && matches!(outcome.status, Status::Done { .. });
    let trouble = state.trouble.clone();
    let prompts = state.prompts.clone();
    drop(state);
    // Only what is pasted is echoed among its output; a second Enter is an empty line of it.
    let pasted = format!("{input}\n");
    let echo = |line: &str| prompts.echoes(&pasted, line);
    let told = Told {
        session,
        status: &outcome.status,
        region: region.as_ref(),
        span,
        snapshot: &snapshot,
        echo: input
            .contains('\n')
            .then_some(&echo as &dyn Fn(&str) -> bool),
    };
    let mut reply = told.reply(show)?;
    if matches!(outcome.status, Status::Settled) {
        // A full-screen program has come up: its screen is what it has to say.
        reply = screen::reply(context, session, Part::Full)?;
        notes(context, session, &mut reply, outcome);
        reply.fact("region", outcome.region);
        return Ok(reply);
    }
    notes(context, session, &mut reply, outcome);
    if matches!(&outcome.status, Status::Done { exit: None, .. })
        && region
            .as_ref()
            .is_some_and(|region| region.status == regions::Status::Lost)
    {
        reply.note("its shell did not say how it ended: the shell was replaced, or its PROMPT_COMMAND was; a new session tells statuses again");
    }
    if let Some(cleared) = &typed.cleared {
        reply.note(format!(
            "cleared from the line first, your own and not submitted: {:?}",
            words::one_line(cleared, 120)
        ));
    }
    if continues {
        reply.note("the shell wants the rest (an open quote, heredoc or block): send it with `run`, or press ctrl+c with `send`");
    }
    if left_over {
        reply.note("a program has left the terminal on its alternate screen, which no log keeps: `run` tput rmcup ends that");
    }
    if let Some(trouble) = trouble {
        reply.note(trouble);
    }
    Ok(reply)
}

/// The line that a program stands at is in the header: the output of one that runs on ends before it.
pub fn quoted(state: &crate::session::State, status: &Status) -> Option<Position> {
    let Position { line, .. } = state.term.cursor().position;
    match status {
        Status::Prompt { .. } => Some(Position { line, byte: 0 }),
        Status::Waiting { at, .. } | Status::Unanswered { at, .. }
            if at.chars().count() <= header::AT_MOST =>
        {
            Some(Position { line, byte: 0 })
        }
        Status::Settled => Some(Position { line, byte: 0 }),
        _ => None,
    }
}

/// Where the output of a region ends, when it is known to: before the line that the header quotes.
pub fn before_question(
    state: &crate::session::State,
    status: &Status,
    end: Option<Position>,
) -> Option<Position> {
    match (end, quoted(state, status)) {
        (Some(end), Some(question)) => Some(end.min(question)),
        (end, question) => end.or(question),
    }
}

/// What to do about a question whose answer is not shown.
pub const SECRET: &str =
    "it reads without echo, as for a password: leave that to the user, at the attach command";

/// Output that has paused for so long is told as silence.
const SILENT: Duration = Duration::from_secs(2);

/// What the reader should do next, where the header alone does not say.
pub fn notes(context: &Context<'_>, session: &Session, reply: &mut Reply, outcome: &Outcome) {
    let name = outcome.view.as_ref().map(front::name);
    match &outcome.status {
        Status::Running => {
            let name = name.unwrap_or_else(|| front::name(&context.sessions.look(session)));
            let quiet = session.state().last_output.elapsed();
            let silent = if quiet >= SILENT {
                let quiet = u64::try_from(quiet.as_millis()).unwrap_or(u64::MAX);
                format!(", silent for {}", words::duration(quiet))
            } else {
                String::new()
            };
            let unclear = outcome.view.as_ref().is_some_and(front::unclear);
            reply.note(match unclear {
                true => format!(
                    "{name} runs{silent}; whether it works or waits for input cannot be told from here: `wait` goes on waiting for it"
                ),
                false => format!("{name} works{silent}; `wait` goes on waiting for it"),
            });
            if session.state().term.fullscreen() {
                reply.note("it has the whole screen: `read` with view=\"screen\" shows it");
            }
        }
        Status::Until | Status::Stopped => {
            reply.note("the command runs on; `wait` goes on waiting for it")
        }
        Status::Cancelled => reply.note("the wait was cancelled; the command runs on"),
        Status::Waiting { secret: true, .. } => reply.note(SECRET),
        Status::Waiting { at, hedged, .. } => {
            let name = name.unwrap_or_else(|| "a program".into());
            reply.note(match *hedged && at.trim().is_empty() {
                true => format!(
                    "{name} runs, and has been silent: if it works, `wait` goes on waiting for it; if it asks, answer with `run` (a line) or `send` (keys)"
                ),
                false => format!(
                    "{name} waits for input: answer with `run` (a line) or `send` (keys)"
                ),
            });
            if let Some(pattern) = &outcome.offer {
                reply.note(format!(
                    "if that is its prompt, prompt_pattern={pattern:?} makes the next call return as soon as it is there"
                ));
            }
        }
        Status::Settled => {
            let name = name.unwrap_or_else(|| "a program".into());
            reply.note(format!("{name} has the whole screen: `send` keys to it"));
        }
        _ => {}
    }
}

/// Output of a line that was no command: what came after the line itself, up to the prompt.
fn no_command(state: &crate::session::State, mark: MarkId, lines: u64) -> Span {
    let here = state.term.cursor().position;
    match state.term.locate(mark) {
        Some(start) if start.line + 1 < here.line => {
            let begin = Position {
                line: start.line + 1,
                byte: 0,
            };
            snapshot::span(begin, Some(Position { byte: 0, ..here }), lines)
        }
        _ => {
            let none = Position { byte: 0, ..here };
            snapshot::span(none, Some(none), lines)
        }
    }
}

/// What this agent has now seen of what it left running.
fn remember(
    state: &mut crate::session::State,
    agent: &str,
    outcome: &Outcome,
    span: Span,
    last: Option<u64>,
) {
    let told = state.regions.last_id();
    // What a shell has kept in its editor is this agent's own line.
    let typed = matches!(outcome.status, Status::Continuation)
        .then(|| state.typed())
        .flatten();
    let running = outcome.region.filter(|id| {
        state
            .regions
            .get(*id)
            .is_some_and(|region| region.running())
    });
    let entry = state.agents.entry(agent.to_string()).or_default();
    entry.left = running;
    (entry.shown, entry.shown_last) = (span.after, last);
    (entry.seen, entry.seen_last) = (span.after, last);
    entry.told = told;
    entry.unfinished = matches!(outcome.status, Status::Continuation);
    entry.unsubmitted = typed.unwrap_or_default();
    entry.ahead.clear();
}

/// One reply out of several, each with its own header; the facts are those of the last, with all regions.
pub fn join(mut told: Vec<Reply>) -> Reply {
    if told.len() == 1 {
        return told.remove(0);
    }
    let text: Vec<String> = told.iter().map(Reply::text).collect();
    let regions: Vec<RegionId> = told
        .iter()
        .filter_map(|reply| reply.facts.get("region")?.as_u64())
        .filter_map(|id| RegionId::try_from(id).ok())
        .collect();
    let mut reply = Reply::new(text.join("\n"));
    if let Some(last) = told.pop() {
        reply.facts = last.facts;
    }
    reply.fact("regions", regions);
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_one_at_a_time() {
        assert_eq!(lines_of("a\nb\n").unwrap(), ["a", "b"]);
        assert_eq!(lines_of("").unwrap(), [""]);
        assert_eq!(lines_of("a\r\n\r\nb").unwrap(), ["a", "", "b"]);
        assert!(lines_of("a\tb").is_ok());
        assert!(lines_of("\u{3}").unwrap_err().contains("U+0003"));
        assert!(lines_of(&"x".repeat(INPUT_MOST + 1)).is_err());
    }
}
