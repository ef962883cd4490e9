//! What is known of a call, for the advice that goes with its reply.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::reply::advice::{self, Situation, Stuck, parse};
use crate::reply::{Reply, words};
use crate::session::front::Front;
use crate::session::regions::{Kind, Region};
use crate::session::{RegionId, Session};

use super::Context;

/// Silence of so long, while a call waits, is worth a look at what the job waits for.
const SILENT: Duration = Duration::from_secs(5);

/// Shells, and what leads to one elsewhere: their prompts look like a shell's.
const SHELLS: &[&str] = &[
    "sh", "dash", "ash", "busybox", "bash", "zsh", "fish", "ksh", "mksh", "ssh", "su", "sudo",
    "docker", "podman", "kubectl",
];

/// What a caller asked for, before the tool has taken it apart, and how things stood.
pub struct Asked {
    tool: &'static str,
    input: String,
    chosen: bool,
    interrupted: bool,
    partial: bool,
    /// Regions up to this one the agent had been told of.
    told: RegionId,
    place: Option<String>,
}

impl Asked {
    pub fn new(
        tool: &'static str,
        arguments: &Map<String, Value>,
        session: &Session,
        agent: &str,
    ) -> Asked {
        let given = |name: &str| arguments.get(name).is_some_and(|value| !value.is_null());
        let keys = arguments.get("keys").and_then(Value::as_array);
        let interrupt = |key: &Value| {
            let name = key.as_str().unwrap_or_default().to_lowercase();
            matches!(name.as_str(), "ctrl+c" | "c-c" | "^c" | "ctrl-c")
        };
        let screen = arguments.get("screen").and_then(Value::as_str);
        let state = session.state();
        let known = state.agents.get(agent);
        Asked {
            tool,
            input: arguments
                .get("input")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_string(),
            chosen: ["show", "last_lines", "until", "save_to"]
                .into_iter()
                .any(given),
            interrupted: keys.is_some_and(|keys| keys.iter().any(interrupt)),
            partial: screen.is_some_and(|screen| screen != "full"),
            told: known.map_or(state.regions.last_id(), |agent| agent.told),
            place: known
                .map(|agent| agent.place.clone())
                .filter(|place| !place.is_empty()),
        }
    }
}

/// Adds to the reply what helps now, and remembers that it was said.
pub fn add(context: &Context<'_>, session: &Arc<Session>, asked: &Asked, reply: &mut Reply) {
    if !matches!(asked.tool, "run" | "wait" | "send" | "expect") {
        return;
    }
    let situation = situation(context, session, asked, reply);
    let mut state = session.state();
    let agent = state.agents.entry(context.agent.to_string()).or_default();
    let advice = advice::advise(&situation, &agent.advised);
    agent
        .advised
        .extend(advice.iter().map(|(name, _)| name.to_string()));
    drop(state);
    if !advice.is_empty() {
        let names: Vec<&str> = advice.iter().map(|(name, _)| *name).collect();
        reply.fact("advice", names);
    }
    advice.into_iter().for_each(|(_, text)| reply.note(text));
}

fn fact(reply: &Reply, name: &str) -> Option<String> {
    Some(reply.facts.get(name)?.as_str()?.to_string())
}

fn situation(
    context: &Context<'_>,
    session: &Arc<Session>,
    asked: &Asked,
    reply: &Reply,
) -> Situation {
    let status = fact(reply, "status").unwrap_or_default();
    let region = {
        let state = session.state();
        let id = reply.facts.get("region").and_then(Value::as_u64);
        let region = id.and_then(|id| state.regions.get(RegionId::try_from(id).ok()?));
        region.cloned()
    };
    let command = region
        .as_ref()
        .is_none_or(|region| region.kind == Kind::Command);
    let line = if command {
        parse(&asked.input)
    } else {
        Vec::new()
    };
    let first_word = asked.input.split_whitespace().next().map(String::from);
    let mut situation = Situation {
        tool: asked.tool.into(),
        word: first_word.filter(|_| !command && status == "prompt"),
        chosen: asked.chosen,
        interrupted: asked.interrupted,
        partial: asked.partial,
        duration_ms: reply
            .facts
            .get("duration_ms")
            .and_then(Value::as_u64)
            .unwrap_or(0),
        attach: context.sessions.attach(&session.meta),
        fullscreen: reply
            .facts
            .get("screen")
            .is_some_and(|screen| screen["fullscreen"] == true),
        // A line that ended a shell or another program is told of together with that one's end.
        left: status == "done"
            && region
                .as_ref()
                .is_some_and(|region| leaves(session, region)),
        ended: status == "closed"
            && session.meta.integrated.is_some()
            && session.state().ending.is_some(),
        company: company(context, session, asked),
        place: moved(asked.place.clone(), fact(reply, "place")),
        line,
        status,
        ..Situation::default()
    };
    if !matches!(situation.status.as_str(), "done" | "closed") {
        look(context, session, &mut situation, region.as_ref());
    }
    situation
}

/// What is in front, where something other than the session's shell may be.
fn look(
    context: &Context<'_>,
    session: &Arc<Session>,
    situation: &mut Situation,
    region: Option<&Region>,
) {
    let front = context.sessions.front(session);
    if matches!(front, Front::Shell { .. } | Front::Between | Front::Over(_)) {
        return;
    }
    let name = words::one_line(&front.name(), 60);
    let program = name.split(' ').next().unwrap_or_default().to_string();
    if let Front::Waiting { view, .. } = &front {
        situation.secret = view.secret && situation.status == "waiting";
    }
    situation.working = matches!(front, Front::Working { .. });
    if let Front::Prompt { line, .. } = &front {
        let shell =
            line.trim_end().ends_with(['$', '#', '%']) && SHELLS.contains(&program.as_str());
        let input = region.is_some_and(|region| region.kind == Kind::Input);
        situation.plain_shell = shell && input && situation.status == "prompt";
        situation.elsewhere = elsewhere(context, session, situation, &program);
    }
    if situation.status == "running" && situation.working && situation.tool != "send" {
        let quiet = session.state().last_output.elapsed();
        if quiet >= SILENT {
            situation.stuck = context.sessions.idle(session).map(|idle| Stuck {
                name: words::one_line(&idle.name, 40),
                pid: idle.pid,
                what: idle.what,
                seconds: quiet.as_secs(),
            });
        }
    }
    situation.front = Some(name);
}

/// Another session of this agent in which the program just started is at its prompt already.
fn elsewhere(
    context: &Context<'_>,
    session: &Arc<Session>,
    situation: &Situation,
    program: &str,
) -> Option<(String, String, String)> {
    let started = situation
        .line
        .iter()
        .any(|pipeline| advice::starts(&pipeline.stages[0], program));
    if !started {
        return None;
    }
    let others = context.sessions.all().into_iter();
    let mut others = others.filter(|other| {
        other.name != session.name
            && other.meta.agent == context.agent
            && other.state().ending.is_none()
    });
    others.find_map(|other| match context.sessions.front(&other) {
        front @ Front::Prompt { .. } if front.name().split(' ').next() == Some(program) => {
            let Front::Prompt { line, .. } = &front else {
                return None;
            };
            Some((
                program.to_string(),
                other.name.clone(),
                words::one_line(line, 40),
            ))
        }
        _ => None,
    })
}

/// The line was the last of a shell within the session's own.
fn leaves(session: &Session, region: &Region) -> bool {
    let line = region
        .label
        .rsplit(['$', '#', '%', '>'])
        .next()
        .unwrap_or_default();
    let word = line.split_whitespace().next().unwrap_or_default();
    let within = session.state().regions.all().iter().any(|other| {
        other.kind == Kind::Command
            && other.id < region.id
            && other.end_offset.is_some()
            && other.end_offset == region.end_offset
            && parse(&other.label)
                .iter()
                .any(|pipeline| SHELLS.contains(&pipeline.stages[0].program()))
    });
    within && matches!(word, "exit" | "logout" | "return" | "")
}

/// Who has run something in the session since the agent was last told.
fn company(context: &Context<'_>, session: &Session, asked: &Asked) -> Option<String> {
    // `wait` tells of each by itself.
    if asked.tool == "wait" {
        return None;
    }
    let state = session.state();
    let regions = state.regions.all().iter().skip(asked.told as usize);
    let mut others = regions.filter(|region| {
        region.kind == Kind::Command && region.who.as_deref() != Some(context.agent)
    });
    let first = others.next()?;
    let who = first.who.as_deref().unwrap_or("a person");
    let what = words::one_line(&first.label, 60);
    let more = match others.count() {
        0 => String::new(),
        n => format!(" and {}", words::count(n as u64, "more command")),
    };
    Some(format!(
        "{} ran #{} ({what}){more}",
        words::one_line(who, 40),
        first.id
    ))
}

/// Where lines go now, when that has changed to elsewhere.
fn moved(before: Option<String>, now: Option<String>) -> Option<String> {
    now.filter(|now| before.as_ref() != Some(now))
        .map(|now| words::one_line(&now, 80))
}
