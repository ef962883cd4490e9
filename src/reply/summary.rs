//! What a long output says of its failures, lifted out of the part that a reply leaves out.
//!
//! Only lines that are there are lifted, as they are. Must not know where the lines come from.

use std::collections::HashSet;

use regex::{Regex, RegexSet};

mod table;

/// Lines that a reply leads with.
pub const LINES_MOST: usize = 12;

/// Of them, so many that sum up: the last ones.
const LAST_MOST: usize = 3;

/// Characters of one such line; a linker's may have thousands.
const LINE_CHARS: usize = 300;

/// Lines remembered while looking: what comes after so many failures adds nothing to twelve.
const REMEMBERED: usize = 1_000;

/// What one tool prints of failures.
struct Recogniser {
    /// For people who read the table, and for tests.
    #[cfg_attr(not(test), expect(dead_code, reason = "names the row"))]
    tool: &'static str,
    /// The rules count only where a line of the output matches this: they are too common by themselves.
    sign: Option<&'static str>,
    rules: &'static [Rule],
}

/// Regular expressions for one line. Of two rules that match a line the first counts.
enum Rule {
    /// Something that failed. The first ones are the most telling.
    Failure(&'static str),
    /// Why, when there is room.
    Detail(&'static str),
    /// None of what the rules after it match.
    PassOver(&'static str),
    /// A line at the end that sums up. The last ones are.
    Last(&'static str),
    /// After a line that matches the first, the next that matches the second says what failed.
    After(&'static str, &'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    Failure,
    Detail,
    Last,
}

/// What a match in the set means.
#[derive(Clone, Copy)]
enum Meaning {
    Sign,
    /// `None`: it is passed over.
    Counts(Option<Weight>),
    /// Arms the follower of this number.
    Arms(usize),
}

/// The table, compiled.
pub struct Recognisers {
    set: RegexSet,
    /// By number in the set: whose it is, and what it means.
    meanings: Vec<(usize, Meaning)>,
    /// What follows an arming line, and whose it is.
    followers: Vec<(usize, Regex)>,
}

/// A lifted line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifted {
    pub number: u64,
    pub text: String,
}

struct Found {
    recogniser: usize,
    weight: Weight,
    line: Lifted,
}

/// Looks at an output line by line.
pub struct Search<'a> {
    recognisers: &'a Recognisers,
    /// The lines left out, first and last: only these are lifted.
    omitted: (u64, u64),
    signs: Vec<bool>,
    armed: Vec<bool>,
    found: Vec<Found>,
}

impl Recognisers {
    pub fn new() -> Recognisers {
        let (mut patterns, mut meanings, mut followers) = (Vec::new(), Vec::new(), Vec::new());
        for (row, recogniser) in table::TABLE.iter().enumerate() {
            let mut add = |pattern, meaning| {
                patterns.push(pattern);
                meanings.push((row, meaning));
            };
            if let Some(sign) = recogniser.sign {
                add(sign, Meaning::Sign);
            }
            for rule in recogniser.rules {
                match *rule {
                    Rule::Failure(pattern) => add(pattern, Meaning::Counts(Some(Weight::Failure))),
                    Rule::Detail(pattern) => add(pattern, Meaning::Counts(Some(Weight::Detail))),
                    Rule::Last(pattern) => add(pattern, Meaning::Counts(Some(Weight::Last))),
                    Rule::PassOver(pattern) => add(pattern, Meaning::Counts(None)),
                    Rule::After(pattern, next) => {
                        // A wrong pattern in the table is left out here and found by a test.
                        if let Ok(next) = Regex::new(next) {
                            add(pattern, Meaning::Arms(followers.len()));
                            followers.push((row, next));
                        }
                    }
                }
            }
        }
        Recognisers {
            set: RegexSet::new(patterns).unwrap_or_else(|_| RegexSet::empty()),
            meanings,
            followers,
        }
    }

    pub fn search(&self, omitted: (u64, u64)) -> Search<'_> {
        Search {
            recognisers: self,
            omitted,
            signs: vec![false; table::TABLE.len()],
            armed: vec![false; self.followers.len()],
            found: Vec::new(),
        }
    }
}

impl Search<'_> {
    /// Looks at the next line, numbered as replies do.
    pub fn line(&mut self, number: u64, text: &str) {
        let text = text.trim_end();
        // Each recogniser's word, by its first rule that matches. Whose counts is known at the end: a sign may
        // still come.
        let mut words: Vec<(usize, Option<Weight>)> = Vec::new();
        for (armed, (row, pattern)) in self.armed.iter_mut().zip(&self.recognisers.followers) {
            if *armed && pattern.is_match(text) {
                *armed = false;
                words.push((*row, Some(Weight::Failure)));
            }
        }
        // Nearly all lines match nothing, and asking only whether is twice as fast as asking what.
        let matched = self.recognisers.set.is_match(text);
        let matched = matched.then(|| self.recognisers.set.matches(text));
        for index in matched.iter().flatten() {
            let (row, meaning) = self.recognisers.meanings[index];
            match meaning {
                Meaning::Sign => self.signs[row] = true,
                Meaning::Arms(follower) => self.armed[follower] = true,
                Meaning::Counts(_) if words.iter().any(|(other, _)| *other == row) => {}
                Meaning::Counts(weight) => words.push((row, weight)),
            }
        }
        if !(self.omitted.0..=self.omitted.1).contains(&number) {
            return;
        }
        for (recogniser, weight) in words {
            let Some(weight) = weight else { continue };
            if weight == Weight::Last || self.found.len() < REMEMBERED {
                let text = match text.char_indices().nth(LINE_CHARS) {
                    Some((end, _)) => format!("{}…", &text[..end]),
                    None => text.to_string(),
                };
                let line = Lifted { number, text };
                self.found.push(Found {
                    recogniser,
                    weight,
                    line,
                });
            }
        }
    }

    /// The lines that tell most, in order, and how many there were in all.
    pub fn finish(self) -> (Vec<Lifted>, usize) {
        let mut seen = HashSet::new();
        let signs = &self.signs;
        let found: Vec<Found> = self
            .found
            .into_iter()
            .filter(|found| {
                table::TABLE[found.recogniser].sign.is_none() || signs[found.recogniser]
            })
            // A runner that repeats its failures at the end says each once.
            .filter(|found| seen.insert(found.line.text.trim().to_string()))
            .collect();
        let of = |weight| found.iter().filter(move |found| found.weight == weight);
        let all = of(Weight::Failure).count() + of(Weight::Last).count();
        let mut lines: Vec<&Lifted> = of(Weight::Last)
            .rev()
            .take(LAST_MOST)
            .map(|found| &found.line)
            .collect();
        for weight in [Weight::Failure, Weight::Detail] {
            let room = LINES_MOST - lines.len();
            lines.extend(of(weight).take(room).map(|found| &found.line));
        }
        // Details alone say nothing of a failure.
        if all == 0 {
            lines.clear();
        }
        lines.sort_by_key(|line| line.number);
        (lines.into_iter().cloned().collect(), all)
    }
}

/// What stands before the output that the lines were lifted from.
pub fn lead(lines: &[Lifted], all: usize) -> String {
    let many = if all > lines.len() {
        format!("{} of {all} that tell", lines.len())
    } else {
        "those that tell".into()
    };
    let mut text = format!("[of the lines left out below, {many} of failures:]\n");
    for line in lines {
        text.push_str(&format!("{}: {}\n", line.number, line.text));
    }
    text.push_str("[the output:]\n");
    text
}

#[cfg(test)]
mod tests;
