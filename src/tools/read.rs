//! read: the log by line, the screen, the bytes.

use crate::mcp::{Tool, schema};
use crate::reply::Reply;
use crate::reply::clip::{CHARS_MOST, Ends};
use crate::reply::header::Status;
use crate::reply::words;
use crate::session::Session;

use super::args::{Args, LINES_MOST};
use super::screen::{self, Part};
use super::{Context, Failure, report};

const LIMIT_DEFAULT: u64 = 200;
const RAW_DEFAULT: u64 = 4_096;
/// Spelled-out bytes take up to four characters each: the reply stays within its size.
const RAW_MOST: u64 = 10_000;

pub fn tool() -> Tool {
    use schema::{integer, string};
    Tool {
        name: "read",
        title: "Read a session's log or screen",
        description: "Reads lines of a session's log by number: view cooked (the default) gives plain lines with their numbers, the last \
ones unless `start` says where; with `region`, that command's output. view screen gives the rows as the terminal shows them now, with the \
cursor. view raw gives the bytes, escapes spelled out. Works while a command runs and on closed sessions. Use it to see the lines that a reply \
left out; to find a line use `search`.",
        input_schema: schema::object([
            string("session", "Name of a session, open or closed.").required(),
            string(
                "view",
                "cooked: lines of the log. screen: the rows shown now. raw: bytes.",
            )
            .one_of(&["cooked", "screen", "raw"])
            .default("cooked"),
            integer(
                "region",
                "Only this region's output (its number is in reply headers: #12).",
            )
            .min(1),
            integer(
                "start",
                "First line (cooked, from 1) or byte offset (raw). Without it: the last lines.",
            )
            .min(0),
            integer("limit", "Lines to read.")
                .default(LIMIT_DEFAULT)
                .min(1)
                .max(LINES_MOST),
            integer("max_bytes", "Bytes to read (raw).")
                .default(RAW_DEFAULT)
                .min(1)
                .max(RAW_MOST),
        ]),
        output_schema: None,
        annotations: super::reads(),
        always_load: true,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let name = args.required("session")?;
    let view = args.word("view", &["cooked", "screen", "raw"])?;
    let region = args.number("region", 1, u64::from(u32::MAX))?;
    let start = args.number("start", 0, u64::MAX >> 12)?;
    let limit = args
        .number("limit", 1, LINES_MOST)?
        .unwrap_or(LIMIT_DEFAULT);
    let max_bytes = args
        .number("max_bytes", 1, RAW_MOST)?
        .unwrap_or(RAW_DEFAULT);
    args.done()?;
    let session = context.sessions.get(&name)?;
    match view {
        "screen" => screen(context, &session),
        "raw" => raw(&session, start, max_bytes),
        _ => cooked(&session, region, start, limit),
    }
}

fn screen(context: &Context<'_>, session: &Session) -> Result<Reply, Failure> {
    match screen::reply(context, session, Part::Verbatim) {
        Ok(reply) => Ok(reply),
        // The pane is gone: the recorded log still knows its last screen.
        Err(failure) if session.state().ending.is_none() => Err(failure),
        Err(_) => {
            let rows = session.state().term.screen();
            let mut reply = Reply::new(format!(
                "[{} · last screen of an ended session]",
                session.name
            ))
            .body(rows.join("\n"));
            report::facts(&mut reply, session, &Status::Settled);
            Ok(reply)
        }
    }
}

fn cooked(
    session: &Session,
    region: Option<u64>,
    start: Option<u64>,
    limit: u64,
) -> Result<Reply, Failure> {
    let state = session.state();
    let snapshot = state.snapshot()?;
    let span = match region {
        None => snapshot.all(),
        Some(id) => {
            let found = u32::try_from(id).ok().and_then(|id| state.regions.get(id));
            let Some(region) = found else {
                return Err(Failure::from(format!(
                    "{} has no region {id}; its regions are 1 to {} (see `regions`)",
                    session.name,
                    state.regions.last_id()
                )));
            };
            state.span(region, snapshot.lines())
        }
    };
    drop(state);
    let total = span.lines();
    let first = match start {
        None => span.after.saturating_sub(limit).max(span.first),
        Some(start) => {
            let first = start.max(1) - 1;
            if first >= span.after && total > 0
                || first < span.first && region.is_some() && start > 0
            {
                return Err(Failure::from(format!(
                    "line {start} is outside: {} has lines {} to {}",
                    region.map_or(session.name.clone(), |id| format!("region {id}")),
                    span.first + 1,
                    span.after
                )));
            }
            first.max(span.first)
        }
    };
    let lines = report::lines(snapshot.take(span, first, limit as usize)?);
    let (shown_first, shown_last) = (
        lines.first().map(|line| line.number),
        lines.last().map(|line| line.number),
    );
    let clipped = Ends {
        head: lines,
        tail: Vec::new(),
    }
    .clip(CHARS_MOST, |line| format!("{}: {}", line.number, line.text));
    let whole = match region {
        None => words::number(total),
        Some(_) => format!("{}-{}", span.first + 1, span.after),
    };
    let range = match (shown_first, shown_last) {
        (Some(first), Some(last)) if region.is_some() && last + 1 - first == total => {
            lines_text(first, last)
        }
        (Some(first), Some(last)) => format!("{} of {whole}", lines_text(first, last)),
        _ => "no lines".into(),
    };
    let region_text = region.map_or(String::new(), |id| format!(" #{id}"));
    let mut reply =
        Reply::new(format!("[{}{region_text} · {range}]", session.name)).body(clipped.text);
    if let (Some(first), Some(last)) = (shown_first, shown_last) {
        let (before, after) = (first - 1 - span.first, span.after - last);
        if before > 0 || after > 0 {
            reply.note(format!(
                "{} before, {} after",
                words::count(before, "line"),
                words::count(after, "line")
            ));
        }
        reply.fact("first_line", first);
        reply.fact("last_line", last);
    }
    reply.fact("session", session.name.as_str());
    reply.fact("total_lines", total);
    reply.fact("region", region);
    if let Some((from, to)) = clipped.omitted {
        reply.fact("omitted", vec![from, to]);
    }
    Ok(reply)
}

fn lines_text(first: u64, last: u64) -> String {
    if first == last {
        format!("line {first}")
    } else {
        format!("lines {first}-{last}")
    }
}

fn raw(session: &Session, start: Option<u64>, most: u64) -> Result<Reply, Failure> {
    let raw = session.raw_bytes(start, most as usize)?;
    let (start, length) = (raw.start, raw.length);
    if start > length {
        return Err(Failure::from(format!(
            "offset {start} is beyond the end: {} has {length} bytes",
            session.name
        )));
    }
    let next = start + raw.bytes.len() as u64;
    let mut reply = Reply::new(format!(
        "[{} · raw bytes {start}-{next} of {length} · next offset {next}]",
        session.name
    ))
    .body(spell(&raw.bytes));
    reply.fact("session", session.name.as_str());
    reply.fact("next_offset", next);
    Ok(reply)
}

/// Control characters spelled out, and a line break after each `\n`.
fn spell(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\x1b' => text.push_str("\\e"),
                '\r' => text.push_str("\\r"),
                '\n' => text.push_str("\\n\n"),
                '\t' => text.push_str("\\t"),
                '\\' => text.push_str("\\\\"),
                c if c.is_control() => text.push_str(&format!("\\x{:02x}", u32::from(c))),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_spelled() {
        assert_eq!(
            spell(b"a\x1b[1m\r\nb\x07\xff\xc3\xa9\\"),
            "a\\e[1m\\r\\n\nb\\x07\\xffé\\\\"
        );
    }
}
