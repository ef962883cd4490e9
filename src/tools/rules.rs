//! The rules of an expect call, and what has been heard since the last answer.

use regex::Regex;

use crate::session::keys::{self, Key};
use crate::session::regions::Kind;
use crate::session::snapshot;
use crate::session::{Error, MarkId, Position, State};

use super::args::{Args, BadArgument, INPUT_MOST};
use super::outcome::Target;

/// Rules of one call.
const RULES_MOST: usize = 100;

/// Lines of a question: what stands further up is not what is asked.
const QUESTION_LINES: u64 = 60;

/// What a rule does.
#[derive(Clone, Debug)]
pub enum Answer {
    Send {
        text: String,
        keys: Vec<Key>,
        /// In words, for the transcript.
        shown: String,
    },
    Stop,
}

#[derive(Clone, Debug)]
pub struct Rule {
    pub pattern: Regex,
    pub answer: Answer,
    /// Answers at most so often.
    times: Option<u64>,
    pub fired: u64,
}

impl Rule {
    pub fn take(args: &mut Args) -> Result<Vec<Rule>, BadArgument> {
        let given = args.objects("respond", "expect: respond")?;
        if given.is_empty() || given.len() > RULES_MOST {
            return Err(format!(
                "expect: `respond` is required: 1 to {RULES_MOST} objects with `pattern` and one of `line`, `text`, `keys`, `stop`"
            ));
        }
        given.into_iter().map(Rule::one).collect()
    }

    fn one(mut args: Args) -> Result<Rule, BadArgument> {
        let pattern = args.regex("pattern")?;
        let line = args.string("line")?;
        let text = args.string("text")?;
        let keys = args.strings("keys")?;
        let stop = args.flag("stop")?;
        let times = args.number("times", 1, u64::MAX >> 12)?;
        args.done()?;
        let Some(pattern) = pattern else {
            return Err("expect: respond: `pattern` is required (a string)".into());
        };
        let ways = [line.is_some(), text.is_some(), !keys.is_empty(), stop];
        if ways.iter().filter(|way| **way).count() != 1 {
            return Err(format!(
                "expect: respond: the rule for {:?} needs exactly one of `line`, `text`, `keys`, `stop`",
                pattern.as_str()
            ));
        }
        if line
            .as_ref()
            .or(text.as_ref())
            .is_some_and(|text| text.len() > INPUT_MOST)
        {
            return Err(format!(
                "expect: respond: at most {INPUT_MOST} bytes are typed"
            ));
        }
        if let Some(line) = line.as_ref().filter(|line| line.contains(['\n', '\r'])) {
            return Err(format!(
                "expect: respond: `line` is one line, not {line:?}; `text` may hold several"
            ));
        }
        let answer = if stop {
            Answer::Stop
        } else if let Some(line) = line {
            let shown = format!("{line:?} and enter");
            let keys = vec![Key::Named("Enter".into())];
            Answer::Send {
                text: line,
                keys,
                shown,
            }
        } else if let Some(text) = text {
            let shown = format!("{text:?}");
            Answer::Send {
                text,
                keys: Vec::new(),
                shown,
            }
        } else {
            let parsed = keys.iter().map(|name| {
                keys::parse(name).ok_or_else(|| {
                    format!(
                        "expect: respond: there is no key {name:?}; known are {}",
                        keys::KNOWN
                    )
                })
            });
            Answer::Send {
                text: String::new(),
                keys: parsed.collect::<Result<_, _>>()?,
                shown: keys.join(" "),
            }
        };
        Ok(Rule {
            pattern,
            answer,
            times,
            fired: 0,
        })
    }

    /// A stop rule that matches this line.
    pub fn stops(&self, line: &str) -> bool {
        matches!(self.answer, Answer::Stop) && self.pattern.is_match(line)
    }

    fn answers(&self, line: &str) -> bool {
        matches!(self.answer, Answer::Send { .. })
            && self.times.is_none_or(|times| self.fired < times)
            && self.pattern.is_match(line)
    }
}

/// Where the text begins that no answer was given to yet, and what was typed there and may be echoed.
#[derive(Debug)]
pub struct Heard {
    from: MarkId,
    echo: String,
    /// Lines above the mark that count too.
    above: u64,
    /// Only its output is heard, never the line that started it.
    target: Option<Target>,
}

impl Heard {
    /// What a line prints that was typed at `from`.
    pub fn after(from: MarkId, target: Target) -> Heard {
        Heard {
            from,
            echo: String::new(),
            above: 0,
            target: Some(target),
        }
    }

    /// The question that stands there now: the cursor's line, or the one above an empty one.
    pub fn standing(state: &mut State) -> Heard {
        let empty = state.term.cursor_line().trim().is_empty();
        Heard {
            from: state.term.mark_line(),
            echo: String::new(),
            above: u64::from(empty),
            target: None,
        }
    }

    pub fn release(&self, state: &mut State) {
        state.term.release(self.from);
    }

    /// An answer is about to be typed: all that stands there has been heard.
    pub fn answered(&mut self, state: &mut State, text: &str) {
        state.term.release(self.from);
        self.from = state.term.mark();
        self.above = 0;
        self.echo = text.split('\n').next().unwrap_or_default().to_string();
    }

    /// Where what was not heard begins.
    pub fn position(&self, state: &State) -> Position {
        let here = state.term.cursor().position;
        let from = state.term.locate(self.from).map(|from| Position {
            line: from.line.saturating_sub(self.above),
            ..from
        });
        let region = match self.target {
            None => return from.unwrap_or(here),
            Some(Target::Region(id)) => state.regions.get(id),
            Some(Target::Command { after, .. }) => state
                .regions
                .all()
                .iter()
                .skip(after as usize)
                .find(|region| region.kind == Kind::Command),
        };
        match (region, from) {
            (Some(region), Some(from)) if !state.regions.echoing() => {
                from.max(state.regions.bounds(&state.term, region).0)
            }
            _ => here,
        }
    }

    /// A line of the log without what was heard before, and without the echo of an answer. None: all of it was.
    pub fn fresh<'a>(&self, at: Position, number: u64, line: &'a str) -> Option<&'a str> {
        if number != at.line {
            return (number > at.line).then_some(line);
        }
        let rest = line.get(at.byte.min(line.len())..).unwrap_or_default();
        Some(rest.strip_prefix(self.echo.as_str()).unwrap_or(rest))
    }

    /// The rule that answers what stands there: the first that matches the cursor's line, else the nearest line
    /// above it. With the text that matched.
    pub fn question(
        &self,
        state: &State,
        rules: &[Rule],
    ) -> Result<Option<(usize, String)>, Error> {
        for line in self.lines(state)?.iter().rev() {
            let found = rules.iter().position(|rule| rule.answers(line));
            if let Some(rule) = found {
                return Ok(Some((rule, line.clone())));
            }
        }
        Ok(None)
    }

    /// The stop rule that has matched.
    pub fn stop_rule(&self, state: &State, rules: &[Rule]) -> Option<usize> {
        let lines = self.lines(state).ok()?;
        rules
            .iter()
            .position(|rule| lines.iter().any(|line| rule.stops(line)))
    }

    /// The fresh lines, the last of them the cursor's.
    fn lines(&self, state: &State) -> Result<Vec<String>, Error> {
        let snapshot = state.snapshot()?;
        let at = self.position(state);
        let lines = snapshot.lines();
        let from = at.line.max(lines.saturating_sub(QUESTION_LINES));
        let start = Position {
            line: from,
            byte: 0,
        };
        let mut fresh = Vec::new();
        snapshot.each(snapshot::span(start, None, lines), |number, line| {
            let text = String::from_utf8_lossy(&line.bytes);
            fresh.extend(self.fresh(at, number, &text).map(String::from));
            true
        })?;
        Ok(fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn take(respond: Value) -> Result<Vec<Rule>, BadArgument> {
        let map = json!({ "respond": respond });
        Rule::take(&mut Args::new(
            "expect",
            map.as_object().cloned().unwrap_or_default(),
        ))
    }

    #[test]
    fn each_rule_has_one_answer() {
        let rules = take(json!([
            {"pattern": "a", "line": "x"}, {"pattern": "b", "text": ""}, {"pattern": "c", "keys": ["ctrl+d"]},
            {"pattern": "d", "stop": true, "times": 3}
        ]));
        assert_eq!(rules.unwrap().len(), 4);
        for (bad, says) in [
            (json!([]), "required"),
            (json!([{"pattern": "a"}]), "exactly one"),
            (
                json!([{"pattern": "a", "line": "x", "stop": true}]),
                "exactly one",
            ),
            (json!([{"line": "x"}]), "`pattern` is required"),
            (json!([{"pattern": "(", "line": "x"}]), "regular expression"),
            (json!([{"pattern": "a", "keys": ["hyper"]}]), "no key"),
            (json!([{"pattern": "a", "line": "x\ny"}]), "one line"),
            (json!([{"pattern": "a", "line": "x", "often": 1}]), "often"),
            (json!(["a"]), "array of objects"),
        ] {
            let error = take(bad.clone()).unwrap_err();
            assert!(error.contains(says), "{bad}: {error}");
        }
    }
}
