//! search: a regular expression over a session's lines, however many there are.

use regex::Regex;

use crate::mcp::{Tool, schema};
use crate::reply::Reply;
use crate::reply::clip::{self, CHARS_MOST};
use crate::reply::words;
use crate::session::snapshot::Span;
use crate::session::{RegionId, Snapshot, State};

use super::args::{self, Args};
use super::{Context, Failure};

const CONTEXT_DEFAULT: u64 = 2;
const CONTEXT_MOST: u64 = 100;
const RESULTS_DEFAULT: u64 = 20;
const RESULTS_MOST: u64 = 1_000;

pub fn tool() -> Tool {
    use schema::{boolean, integer, string};
    Tool {
        name: "search",
        title: "Search a session's log",
        description: "Finds lines of a session's log, or of one region, that match a regular expression (Rust syntax: no lookaround, no \
backreferences), with context. Gives the number of matching lines first, then hits in log order with their line numbers and region. Works while \
a command runs and on closed sessions. Use it in place of grep over a saved log and of running a build again with a filter; read more around a \
hit with `read` start=N.",
        input_schema: schema::object([
            string("session", "Name of a session, open or closed.").required(),
            string("pattern", "Regular expression, matched against each line.").required(),
            integer("region", "Only this region's output.").min(1),
            boolean("literal", "Take the pattern as plain text.").default(false),
            boolean("ignore_case", "Upper and lower case are alike.").default(false),
            integer("context", "Lines before and after each hit.")
                .default(CONTEXT_DEFAULT)
                .min(0)
                .max(CONTEXT_MOST),
            integer("max_results", "Hits to show.")
                .default(RESULTS_DEFAULT)
                .min(1)
                .max(RESULTS_MOST),
            integer(
                "skip",
                "Hits to pass over: goes on where an earlier search stopped.",
            )
            .default(0)
            .min(0),
        ]),
        output_schema: None,
        annotations: super::reads(),
        always_load: true,
    }
}

pub fn call(mut args: Args, context: &Context<'_>) -> Result<Reply, Failure> {
    let name = args.required("session")?;
    let pattern = args.required("pattern")?;
    let region = args.number("region", 1, u64::from(u32::MAX))?;
    let literal = args.flag("literal")?;
    let ignore_case = args.flag("ignore_case")?;
    let around = args
        .number("context", 0, CONTEXT_MOST)?
        .unwrap_or(CONTEXT_DEFAULT);
    let most = args
        .number("max_results", 1, RESULTS_MOST)?
        .unwrap_or(RESULTS_DEFAULT);
    let skip = args.number("skip", 0, u64::MAX >> 12)?.unwrap_or(0);
    args.done()?;
    let pattern = if literal {
        regex::escape(&pattern)
    } else {
        pattern
    };
    let finder =
        Finder::new(&pattern, ignore_case).map_err(|error| format!("search: `pattern` {error}"))?;
    let session = context.sessions.get(&name)?;
    let (snapshot, span, regions) = {
        let state = session.state();
        let snapshot = state.snapshot()?;
        let span = match region {
            None => snapshot.all(),
            Some(id) => match u32::try_from(id).ok().and_then(|id| state.regions.get(id)) {
                Some(region) => state.span(region, snapshot.lines()),
                None => {
                    return Err(Failure::from(format!(
                        "{name} has no region {id}; its regions are 1 to {}",
                        state.regions.last_id()
                    )));
                }
            },
        };
        let regions = spans(&state, snapshot.lines());
        (snapshot, span, regions)
    };
    let mut hits = Vec::new();
    let mut total = 0u64;
    finder.each(&snapshot, span, |number| {
        if total >= skip && (hits.len() as u64) < most {
            hits.push(number);
        }
        total += 1;
    })?;
    let mut reply = Reply::new(format!(
        "[{name} · {} of {}]",
        match total {
            1 => "1 matching line".to_string(),
            n => format!("{} matching lines", words::number(n)),
        },
        words::count(span.lines(), "line")
    ));
    reply.fact("session", name.as_str());
    reply.fact("total_matches", total);
    let shown = show(&snapshot, span, &hits, around, &regions, region.is_none())?;
    let next = skip + hits.len() as u64;
    let mut reply = reply.body(shown);
    reply.fact(
        "matches",
        hits.iter().map(|number| number + 1).collect::<Vec<u64>>(),
    );
    if next < total {
        reply.note(format!("more: skip={next}"));
    }
    Ok(reply)
}

/// Which lines belong to which region.
fn spans(state: &State, lines: u64) -> Vec<(RegionId, Span)> {
    state
        .regions
        .all()
        .iter()
        .map(|region| (region.id, state.span(region, lines)))
        .collect()
}

fn region_of(regions: &[(RegionId, Span)], number: u64) -> Option<RegionId> {
    // Regions begin in log order; an input region lies inside its program's command and comes after it, so the last
    // that holds it wins.
    let after = regions.partition_point(|(_, span)| span.first <= number);
    regions[..after]
        .iter()
        .rev()
        .find(|(_, span)| number < span.after)
        .map(|(id, _)| *id)
}

fn show(
    snapshot: &Snapshot,
    span: Span,
    hits: &[u64],
    around: u64,
    regions: &[(RegionId, Span)],
    with_regions: bool,
) -> Result<String, Failure> {
    let mut text = String::new();
    let mut printed: Option<u64> = None;
    let mut named: Option<RegionId> = None;
    for (at, &hit) in hits.iter().enumerate() {
        let from = hit
            .saturating_sub(around)
            .max(span.first)
            .max(printed.map_or(0, |last| last + 1));
        // Up to the next hit's own context: overlapping contexts are one.
        let to = (hit + around + 1)
            .min(span.after)
            .min(hits.get(at + 1).copied().unwrap_or(u64::MAX));
        if printed.is_some_and(|last| from > last + 1) {
            text.push_str("--\n");
        }
        let region = region_of(regions, hit).filter(|_| with_regions);
        if let Some(id) = region.filter(|id| named != Some(*id)) {
            text.push_str(&format!("#{id}:\n"));
            named = region;
        }
        for (number, line) in snapshot.take(span, from, (to.max(from) - from) as usize)? {
            let mark = if number == hit { ':' } else { '-' };
            let shown = clip::line(number + 1, &line.bytes, line.omitted);
            text.push_str(&format!("{}{mark} {}\n", number + 1, shown.text));
            printed = Some(number);
        }
        if text.len() > CHARS_MOST {
            text.push_str("[... the reply is full; ask for fewer results or less context ...]\n");
            break;
        }
    }
    Ok(text)
}

/// Finds matching lines: whole blocks are searched at once, and only a block's hits are looked at line by line.
struct Finder {
    /// `^` and `$` match at line breaks: any line that matches by itself is found at or before its start.
    block: Regex,
    line: Regex,
    /// The pattern asks for the text's own start or end, which a block has elsewhere than a line.
    anchored: bool,
}

impl Finder {
    fn new(pattern: &str, ignore_case: bool) -> Result<Finder, String> {
        let line = args::regex_of(pattern, ignore_case)?;
        let anchored = pattern.contains("\\A")
            || pattern.contains("\\z")
            || pattern.contains("\\Z")
            || pattern.contains("(?");
        Ok(Finder {
            block: args::regex_of(&format!("(?m:{pattern})"), ignore_case)?,
            line,
            anchored,
        })
    }

    fn each(
        &self,
        snapshot: &Snapshot,
        span: Span,
        mut hit: impl FnMut(u64),
    ) -> Result<(), Failure> {
        let (live_from, _) = snapshot.live();
        // A region may begin or end within a line: its first and last lines are looked at by themselves.
        let (first, last) = (span.first, span.after.saturating_sub(1));
        let single = |from: u64, to: u64, hit: &mut dyn FnMut(u64)| -> Result<(), Failure> {
            let mut failed = None;
            snapshot.each(span.from(from), |number, line| {
                if number >= to {
                    return false;
                }
                match snapshot.whole(number, line, span) {
                    Ok(line) if self.line.is_match(&String::from_utf8_lossy(&line.bytes)) => {
                        hit(number);
                    }
                    Ok(_) => {}
                    Err(error) => failed = Some(error),
                }
                failed.is_none() && number + 1 < to
            })?;
            failed.map_or(Ok(()), |error| Err(error.into()))
        };
        let end = last.min(live_from).max(first);
        if self.anchored || end <= first + 1 {
            return single(first, span.after, &mut hit);
        }
        single(first, first + 1, &mut hit)?;
        snapshot.each_block(first + 1, |number, block| {
            self.block(number, block, end, &mut hit);
            number + (block.iter().filter(|&&byte| byte == b'\n').count() as u64) < end
        })?;
        single(end, span.after, &mut hit)
    }

    /// The lines of one block that match, below line `end`.
    fn block(&self, first: u64, block: &[u8], end: u64, hit: &mut impl FnMut(u64)) {
        // The log is UTF-8; were it not, its lines are looked at one by one.
        let Ok(text) = std::str::from_utf8(block) else {
            for (at, line) in block.split(|&byte| byte == b'\n').enumerate() {
                if first + (at as u64) < end && self.line.is_match(&String::from_utf8_lossy(line)) {
                    hit(first + at as u64);
                }
            }
            return;
        };
        let (mut number, mut counted, mut from) = (first, 0, 0);
        while from < text.len() {
            let Some(found) = self.block.find_at(text, from) else {
                return;
            };
            let begin = text[..found.start()].rfind('\n').map_or(0, |at| at + 1);
            let after = text[begin..].find('\n').map_or(text.len(), |at| begin + at);
            number += text.as_bytes()[counted..begin]
                .iter()
                .filter(|&&byte| byte == b'\n')
                .count() as u64;
            counted = begin;
            if number >= end {
                return;
            }
            if self.line.is_match(&text[begin..after]) {
                hit(number);
            }
            from = after + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pattern: &str, text: &str) -> Vec<u64> {
        let finder = Finder::new(pattern, false).unwrap();
        let mut hits = Vec::new();
        finder.block(0, text.as_bytes(), u64::MAX, &mut |number| {
            hits.push(number)
        });
        hits
    }

    #[test]
    fn a_block_gives_what_its_lines_give() {
        let text = "one\ntwo x\n\nthree\nx\nend";
        for pattern in [
            "x",
            "^x$",
            "^$",
            "o",
            r"\s",
            "e$",
            r"[^a]",
            r"two\s+x",
            "n.*e",
            "",
            r"w[^q]*three",
        ] {
            let line = args::regex_of(pattern, false).unwrap();
            let want: Vec<u64> = (0u64..)
                .zip(text.split('\n'))
                .filter(|(_, text)| line.is_match(text))
                .map(|(at, _)| at)
                .collect();
            assert_eq!(lines(pattern, text), want, "{pattern:?}");
        }
    }
}
