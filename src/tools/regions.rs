//! regions: what ran in a session, one line each.

use crate::mcp::{Tool, schema};
use crate::reply::Reply;
use crate::reply::header::exit_text;
use crate::reply::words;
use crate::session::now_ms;
use crate::session::regions::{Kind, Region, Status};

use super::args::Args;
use super::{Context, Failure};

const LAST_DEFAULT: u64 = 20;
const LAST_MOST: u64 = 1_000;

pub fn tool() -> Tool {
    use schema::{integer, string};
    Tool {
        name: "regions",
        title: "List what ran in a session",
        description: "Lists the last commands of a session, and lines given to programs, one line each: number, exit status, who ran \
it, how long it took, which lines it printed, and the command. Use it to find a command of before (yours, a person's or another agent's) in place \
of running it again; read its output with `read` region=N.",
        input_schema: schema::object([
            string("session", "Name of a session, open or closed.").required(),
            integer("last", "How many.")
                .default(LAST_DEFAULT)
                .min(1)
                .max(LAST_MOST),
        ]),
        output_schema: None,
        annotations: super::reads(),
        always_load: true,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let name = args.required("session")?;
    let last = args.number("last", 1, LAST_MOST)?.unwrap_or(LAST_DEFAULT) as usize;
    args.done()?;
    let session = context.sessions.get(&name)?;
    let state = session.state();
    let lines = state.snapshot()?.lines();
    let all = state.regions.all();
    let shown = &all[all.len().saturating_sub(last)..];
    let text: Vec<String> = shown
        .iter()
        .map(|region| line(region, state.span(region, lines)))
        .collect();
    let mut reply = Reply::new(format!(
        "[{name} · {} of {}]",
        words::number(shown.len() as u64),
        words::count(all.len() as u64, "region")
    ))
    .body(text.join("\n"));
    reply.fact("session", name.as_str());
    reply.fact(
        "regions",
        shown.iter().map(|region| region.id).collect::<Vec<_>>(),
    );
    Ok(reply)
}

fn line(region: &Region, span: crate::session::snapshot::Span) -> String {
    let status = match region.status {
        Status::Running => "running".to_string(),
        Status::Done if region.kind == Kind::Input => "answered".to_string(),
        Status::Done | Status::Lost => exit_text(region.exit, &region.pipestatus),
    };
    let duration = words::duration(
        region
            .ended
            .unwrap_or_else(now_ms)
            .saturating_sub(region.started),
    );
    let lines = match span.lines() {
        0 => "no output".to_string(),
        1 => format!("line {}", span.first + 1),
        _ => format!("lines {}-{}", span.first + 1, span.after),
    };
    let who = region.who.as_deref().unwrap_or("person");
    let place = region
        .place
        .as_ref()
        .map_or(String::new(), |place| format!("on {place} · "));
    format!(
        "#{} · {status} · {who} · {duration} · {lines} · {place}{}",
        region.id,
        words::one_line(&region.label, 120)
    )
}
