//! From a region to a reply: the one way in which run, wait and send tell of a command.

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::reply::Reply;
use crate::reply::clip::{self, CHARS_DEFAULT, CHARS_MOST, Clipped, Ends, Shown};
use crate::reply::header::{Header, Status};
use crate::reply::summary::{self, Recognisers};
use crate::reply::words;
use crate::session::exit;
use crate::session::regions::Region;
use crate::session::snapshot::{Line, Span};
use crate::session::{Ending, Error, How, Session, Snapshot, now_ms};

use super::args::{Args, BadArgument, LINES_DEFAULT, LINES_MOST};

/// What a caller wants to see of an output.
#[derive(Debug)]
pub struct Show {
    pub max_lines: usize,
    pub chars: usize,
    /// Only lines that match, with so many after each, then the last ones.
    pub filter: Option<(regex::Regex, usize)>,
    pub last_lines: Option<usize>,
    /// A clipped output begins with the failures in the part left out.
    pub summary: bool,
}

/// With `show`, so many last lines follow when the caller names no number.
const LAST_AFTER_SHOW: usize = 3;

impl Show {
    /// Only how many lines.
    pub fn lines(args: &mut Args) -> Result<Show, BadArgument> {
        let max_lines = args.number("max_lines", 1, LINES_MOST)?;
        Ok(Show {
            max_lines: max_lines.unwrap_or(LINES_DEFAULT) as usize,
            chars: if max_lines.is_some_and(|n| n > LINES_DEFAULT) {
                CHARS_MOST
            } else {
                CHARS_DEFAULT
            },
            filter: None,
            last_lines: None,
            summary: args.summary,
        })
    }

    pub fn take(args: &mut Args) -> Result<Show, BadArgument> {
        let lines = Show::lines(args)?;
        let show = args.regex("show")?;
        let after = args.number("show_after", 0, 1_000)?;
        let last_lines = args
            .number("last_lines", 0, LINES_MOST)?
            .map(|n| n as usize);
        Ok(Show {
            filter: show.map(|regex| (regex, after.unwrap_or(0) as usize)),
            last_lines,
            ..lines
        })
    }
}

/// A clipped stretch of output and what the facts say of it.
pub struct Output {
    pub clipped: Clipped,
    pub matches: Option<u64>,
}

/// The lines of `span` as `show` wants them.
fn output(
    snapshot: &Snapshot,
    span: Span,
    show: &Show,
    echo: Option<&dyn Fn(&str) -> bool>,
) -> Result<Output, Error> {
    if let Some((regex, after)) = &show.filter {
        return filtered(snapshot, span, show, regex, *after);
    }
    let lines = |found: Vec<(u64, Line)>| {
        let mut shown = lines(found);
        shown.retain(|line| echo.is_none_or(|echo| !echo(&line.text)));
        shown
    };
    let most = show.last_lines.unwrap_or(show.max_lines);
    let (head, tail) = match show.last_lines {
        Some(_) => (0, most),
        None => Ends::split(span.lines(), most),
    };
    let ends = if tail == 0 && show.last_lines.is_none() {
        Ends {
            head: lines(snapshot.take(span, span.first, head)?),
            tail: Vec::new(),
        }
    } else {
        let from = span.after.saturating_sub(tail as u64).max(span.first);
        Ends {
            head: lines(snapshot.take(span, span.first, head)?),
            tail: lines(snapshot.take(span, from, tail)?),
        }
    };
    Ok(Output {
        clipped: ends.clip(show.chars, |line| line.text.clone()),
        matches: None,
    })
}

fn filtered(
    snapshot: &Snapshot,
    span: Span,
    show: &Show,
    regex: &regex::Regex,
    after: usize,
) -> Result<Output, Error> {
    let last = show.last_lines.unwrap_or(LAST_AFTER_SHOW) as u64;
    let last_from = span.after.saturating_sub(last).max(span.first);
    let mut head: Vec<(char, Shown)> = Vec::new();
    let (mut matches, mut follow, mut chars) = (0u64, 0usize, 0usize);
    snapshot.each(span, |number, line| {
        let shown = clip::line(number + 1, &line.bytes, line.omitted);
        let hit = regex.is_match(&String::from_utf8_lossy(&line.bytes));
        if hit {
            matches += 1;
            follow = after;
        }
        let tail = number >= last_from;
        let context = !hit && follow > 0;
        if context {
            follow -= 1;
        }
        if hit || context || tail {
            let room = head.len() < show.max_lines && chars < show.chars;
            if room || tail {
                chars += shown.text.len() + 8;
                head.push((
                    if hit {
                        ':'
                    } else if context {
                        '-'
                    } else {
                        ' '
                    },
                    shown,
                ));
            }
        }
        true
    })?;
    let shown_hits = head.iter().filter(|(mark, _)| *mark == ':').count() as u64;
    let mut text: Vec<String> = head
        .iter()
        .map(|(mark, line)| match mark {
            ' ' => line.text.clone(),
            mark => format!("{}{mark} {}", line.number, line.text),
        })
        .collect();
    if shown_hits < matches {
        text.push(format!(
            "[... {} more matching ...]",
            words::count(matches - shown_hits, "line")
        ));
    }
    Ok(Output {
        clipped: Clipped {
            text: text.join("\n"),
            omitted: None,
        },
        matches: Some(matches),
    })
}

/// A longer output is looked through from so many lines before its end: runners sum up last, and 100,000 lines take
/// some 20 ms.
const LOOKED_THROUGH: u64 = 300_000;

static RECOGNISERS: LazyLock<Recognisers> = LazyLock::new(Recognisers::new);

/// What the lines left out tell of failures; empty when nothing.
fn lead(snapshot: &Snapshot, span: Span, omitted: (u64, u64)) -> Result<String, Error> {
    let mut search = RECOGNISERS.search(omitted);
    let from = span.after.saturating_sub(LOOKED_THROUGH).max(span.first);
    snapshot.each(span.from(from), |number, line| {
        search.line(number + 1, &String::from_utf8_lossy(&line.bytes));
        true
    })?;
    let (lines, all) = search.finish();
    Ok(if lines.is_empty() {
        String::new()
    } else {
        summary::lead(&lines, all)
    })
}

pub fn lines(lines: Vec<(u64, Line)>) -> Vec<Shown> {
    lines
        .into_iter()
        .map(|(number, line)| clip::line(number + 1, &line.bytes, line.omitted))
        .collect()
}

/// Everything a reply says of one region (or of a stretch of output that is none).
pub struct Told<'a> {
    pub session: &'a Session,
    pub status: &'a Status,
    pub region: Option<&'a Region>,
    /// Which lines: the whole region's, or those not shown before.
    pub span: Span,
    pub snapshot: &'a Snapshot,
    /// True for lines that only repeat what was typed: they are left out.
    pub echo: Option<&'a dyn Fn(&str) -> bool>,
}

impl Told<'_> {
    pub fn reply(&self, show: &Show) -> Result<Reply, Error> {
        let region = self.region;
        let duration = region.map(|region| {
            region
                .ended
                .unwrap_or_else(now_ms)
                .saturating_sub(region.started)
        });
        let lines = (self.span.lines() > 0).then_some((self.span.first + 1, self.span.after));
        let header = Header {
            session: &self.session.name,
            region: region.map(|region| region.id),
            status: self.status,
            duration_ms: duration,
            lines,
            place: region.and_then(|region| region.place.as_deref()),
        };
        let output = output(self.snapshot, self.span, show, self.echo)?;
        let lead = match output.clipped.omitted.filter(|_| show.summary) {
            Some(omitted) => lead(self.snapshot, self.span, omitted)?,
            None => String::new(),
        };
        let mut reply = Reply::new(header.to_string()).body(lead + &output.clipped.text);
        facts(&mut reply, self.session, self.status);
        if let Some(region) = region {
            reply.fact("region", region.id);
            reply.fact("duration_ms", duration);
            reply.fact("place", region.place.clone());
        }
        if let Status::Done { exit, pipestatus }
        | Status::DoneWith {
            exit, pipestatus, ..
        } = self.status
        {
            reply.fact("exit_code", *exit);
            reply.fact("signal", exit.and_then(exit::signal_of));
            if pipestatus.len() > 1 {
                reply.fact("pipestatus", pipestatus.clone());
            }
        }
        if let Status::NoCommand { exit } | Status::Closed { exit, .. } = self.status {
            reply.fact("exit_code", *exit);
        }
        if let (Some(region), Status::DoneWith { command, .. }) = (region, self.status) {
            reply.fact("regions", vec![*command, region.id]);
        }
        if let Some((first, last)) = lines {
            reply.fact("first_line", first);
            reply.fact("last_line", last);
        }
        reply.fact("total_lines", self.span.lines());
        reply.fact(
            "omitted",
            output
                .clipped
                .omitted
                .map_or(Value::Null, |(first, last)| json!([first, last])),
        );
        reply.fact("matches", output.matches);
        Ok(reply)
    }
}

/// What every reply about a session says.
pub fn facts(reply: &mut Reply, session: &Session, status: &Status) {
    reply.fact("session", session.name.as_str());
    reply.fact("status", status.name());
    match status {
        Status::Waiting { at, .. } | Status::Unanswered { at, .. } | Status::Prompt { at } => {
            reply.fact("prompt", words::one_line(at, 200))
        }
        _ => {}
    }
}

/// The status of a session that has ended.
pub fn closed(ending: &Ending) -> Status {
    Status::Closed {
        how: ending_text(ending),
        exit: ending.status,
    }
}

/// How a session ended, for a header.
pub fn ending_text(ending: &Ending) -> String {
    match (ending.how, ending.status, ending.signal) {
        (How::Closed, ..) => "session closed".into(),
        (How::Gone, ..) => "session gone: its pane was removed from outside".into(),
        (How::Exited, Some(status), _) => {
            format!("session over: its program ended with exit status {status}")
        }
        (How::Exited, _, Some(signal)) => match exit::signal_name(signal) {
            Some(name) => format!("session over: its program was killed by {name}"),
            None => format!("session over: its program was killed by signal {signal}"),
        },
        (How::Exited, ..) => "session over: its program ended, status unknown".into(),
    }
}
