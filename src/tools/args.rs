//! Typed extraction of a call's arguments. Every error is one sentence that says what was wrong and what is
//! accepted.

use serde_json::{Map, Value};

/// The error of a bad argument, to be answered as it is.
pub type BadArgument = String;

/// Whether a line of output matches.
pub type Matcher = Box<dyn Fn(&str) -> bool>;

/// The arguments of one call. Each is taken out by its name; `done` refuses what is left.
pub struct Args {
    tool: &'static str,
    map: Map<String, Value>,
    /// Names asked for so far: the accepted ones.
    known: Vec<&'static str>,
    /// Clipped output begins with the failures in its middle: the server's setting, not the caller's.
    pub summary: bool,
}

/// `run` may wait for so long: clients lose patience first, and say so.
pub const TIMEOUT_MOST: u64 = 1500;
pub const TIMEOUT_DEFAULT: u64 = 30;

/// Lines a reply shows when the caller names no number.
pub const LINES_DEFAULT: u64 = 80;
pub const LINES_MOST: u64 = 10_000;

/// Text to type in one call: tmux holds it twice while it is pasted.
pub const INPUT_MOST: usize = 1024 * 1024;

/// Characters of a pattern that an error repeats.
const PATTERN_SHOWN: usize = 100;

/// The compiled size of a pattern, in bytes: keeps one call from taking the memory that sessions need.
pub const REGEX_MOST: usize = 1024 * 1024;

impl Args {
    pub fn new(tool: &'static str, map: Map<String, Value>) -> Args {
        Args {
            tool,
            map,
            known: Vec::new(),
            summary: true,
        }
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        // An explicit null is an absent argument: some clients send every property.
        self.map.remove(name).filter(|value| !value.is_null())
    }

    fn bad(&self, name: &str, value: &Value, wanted: &str) -> BadArgument {
        let mut shown = value.to_string();
        if shown.len() > 60 {
            shown = shown.chars().take(57).collect::<String>() + "...";
        }
        format!("{}: `{name}` must be {wanted}, not {shown}", self.tool)
    }

    pub fn string(&mut self, name: &'static str) -> Result<Option<String>, BadArgument> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.bad(name, &other, "a string")),
        }
    }

    pub fn required(&mut self, name: &'static str) -> Result<String, BadArgument> {
        match self.string(name)? {
            Some(text) => Ok(text),
            None => Err(format!("{}: `{name}` is required (a string)", self.tool)),
        }
    }

    /// A whole number from `least` to `most`.
    pub fn number(
        &mut self,
        name: &'static str,
        least: u64,
        most: u64,
    ) -> Result<Option<u64>, BadArgument> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        // 30.0 is 30: JSON has one kind of number.
        let float = value
            .as_f64()
            .filter(|float| float.fract() == 0.0 && *float >= 0.0 && *float < 9e15);
        let whole = value.as_u64().or_else(|| Some(float? as u64));
        match whole.filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(self.bad(
                name,
                &value,
                &format!("a whole number from {least} to {most}"),
            )),
        }
    }

    /// A whole number from `least` to `most`, which may be below 0.
    pub fn integer(
        &mut self,
        name: &'static str,
        least: i64,
        most: i64,
    ) -> Result<Option<i64>, BadArgument> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let float = value
            .as_f64()
            .filter(|float| float.fract() == 0.0 && float.abs() < 9e15);
        let whole = value.as_i64().or_else(|| Some(float? as i64));
        match whole.filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(self.bad(
                name,
                &value,
                &format!("a whole number from {least} to {most}"),
            )),
        }
    }

    /// A number from `least` to `most`, whole or not.
    pub fn float(
        &mut self,
        name: &'static str,
        least: f64,
        most: f64,
    ) -> Result<Option<f64>, BadArgument> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        match value
            .as_f64()
            .filter(|number| (least..=most).contains(number))
        {
            Some(number) => Ok(Some(number)),
            None => Err(self.bad(name, &value, &format!("a number from {least} to {most}"))),
        }
    }

    /// An object, whose own arguments are named after `tool`.
    pub fn object(
        &mut self,
        name: &'static str,
        tool: &'static str,
    ) -> Result<Option<Args>, BadArgument> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Args::new(tool, map))),
            Some(other) => Err(self.bad(name, &other, "an object")),
        }
    }

    /// An array of objects, whose own arguments are named after `tool`.
    pub fn objects(
        &mut self,
        name: &'static str,
        tool: &'static str,
    ) -> Result<Vec<Args>, BadArgument> {
        let Some(value) = self.take(name) else {
            return Ok(Vec::new());
        };
        let objects = value.as_array().map(|list| {
            list.iter()
                .map(|item| Some(Args::new(tool, item.as_object()?.clone())))
                .collect::<Option<Vec<_>>>()
        });
        match objects {
            Some(Some(objects)) => Ok(objects),
            _ => Err(self.bad(name, &value, "an array of objects")),
        }
    }

    pub fn flag(&mut self, name: &'static str) -> Result<bool, BadArgument> {
        Ok(self.optional_flag(name)?.unwrap_or(false))
    }

    pub fn optional_flag(&mut self, name: &'static str) -> Result<Option<bool>, BadArgument> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(self.bad(name, &other, "true or false")),
        }
    }

    pub fn strings(&mut self, name: &'static str) -> Result<Vec<String>, BadArgument> {
        let Some(value) = self.take(name) else {
            return Ok(Vec::new());
        };
        let texts = value.as_array().map(|list| {
            list.iter()
                .map(|item| item.as_str().map(String::from))
                .collect::<Option<Vec<_>>>()
        });
        match texts {
            Some(Some(texts)) => Ok(texts),
            _ => Err(self.bad(name, &value, "an array of strings")),
        }
    }

    /// An object of strings.
    pub fn pairs(&mut self, name: &'static str) -> Result<Vec<(String, String)>, BadArgument> {
        let Some(value) = self.take(name) else {
            return Ok(Vec::new());
        };
        let pair =
            |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_string()));
        match value
            .as_object()
            .map(|object| object.iter().map(pair).collect::<Option<Vec<_>>>())
        {
            Some(Some(pairs)) => Ok(pairs),
            _ => Err(self.bad(name, &value, "an object whose values are strings")),
        }
    }

    /// One of a few words; the first is the default.
    pub fn word(
        &mut self,
        name: &'static str,
        words: &[&'static str],
    ) -> Result<&'static str, BadArgument> {
        Ok(self.word_if(name, words)?.unwrap_or(words[0]))
    }

    /// One of a few words, if any.
    pub fn word_if(
        &mut self,
        name: &'static str,
        words: &[&'static str],
    ) -> Result<Option<&'static str>, BadArgument> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let found = value
            .as_str()
            .and_then(|text| words.iter().find(|word| **word == text));
        match found {
            Some(word) => Ok(Some(word)),
            None => Err(self.bad(name, &value, &format!("one of {}", words.join(", ")))),
        }
    }

    pub fn regex(&mut self, name: &'static str) -> Result<Option<regex::Regex>, BadArgument> {
        match self.string(name)? {
            None => Ok(None),
            Some(pattern) => regex_of(&pattern, false)
                .map(Some)
                .map_err(|error| format!("{}: `{name}` {error}", self.tool)),
        }
    }

    /// A pattern, as the question whether a line matches it.
    pub fn matcher(&mut self, name: &'static str) -> Result<Option<Matcher>, BadArgument> {
        let regex = self.regex(name)?;
        Ok(regex.map(|regex| Box::new(move |line: &str| regex.is_match(line)) as Matcher))
    }

    /// Nothing else may have been given.
    pub fn done(self) -> Result<(), BadArgument> {
        match self.map.keys().next() {
            None => Ok(()),
            Some(unknown) => Err(format!(
                "{} has no argument `{unknown}`; it takes {}",
                self.tool,
                self.known.join(", ")
            )),
        }
    }
}

/// A pattern in Rust's syntax; common Python spellings that differ only in form are taken too.
pub fn regex_of(pattern: &str, ignore_case: bool) -> Result<regex::Regex, String> {
    let spelled = respell(pattern);
    let shown: String = pattern.chars().take(PATTERN_SHOWN).collect();
    if wants_line_break(pattern) {
        return Err(format!(
            "holds a line break, and is matched within one line at a time: {shown:?}"
        ));
    }
    regex::RegexBuilder::new(&spelled).size_limit(REGEX_MOST).case_insensitive(ignore_case).build().map_err(|error| {
        match error {
            regex::Error::CompiledTooBig(_) => format!("is too large a pattern: {shown:?} compiles to over {} KiB", REGEX_MOST / 1024),
            other => {
                let reason = other.to_string();
                let reason = reason.lines().last().unwrap_or("").trim_start_matches("error: ").to_string();
                format!("is not a regular expression (Rust syntax; no lookaround, no backreferences): {shown:?}: {reason}")
            }
        }
    })
}

/// A line break that the pattern asks for, literally or as `\n`: no line holds one. In a class it is only one of
/// several characters.
fn wants_line_break(pattern: &str) -> bool {
    let (mut chars, mut class) = (pattern.chars(), false);
    while let Some(c) = chars.next() {
        match c {
            '\n' => return true,
            '[' => class = true,
            ']' => class = false,
            '\\' if chars.next() == Some('n') && !class => return true,
            _ => {}
        }
    }
    false
}

/// `\Z` is `\z`. `(?P<n>...)` needs nothing. Escaped backslashes are passed over.
fn respell(pattern: &str) -> String {
    let mut spelled = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        spelled.push(c);
        if c == '\\' {
            match chars.next() {
                Some('Z') => spelled.push('z'),
                Some(other) => spelled.push(other),
                None => {}
            }
        }
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn args(value: Value) -> Args {
        Args::new("run", value.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn each_kind_of_bad_input_gets_a_sentence() {
        let mut given = args(
            json!({"a": 5, "n": -1, "f": 1.5, "b": "yes", "s": [1], "o": {"k": 1}, "r": "(", "big": "(a{1000}){1000}"}),
        );
        let errors = [
            given.string("a").unwrap_err(),
            given.required("missing").unwrap_err(),
            given.number("n", 0, 9).unwrap_err(),
            given.number("f", 0, 9).unwrap_err(),
            given.flag("b").unwrap_err(),
            given.strings("s").unwrap_err(),
            given.pairs("o").unwrap_err(),
            given.regex("r").unwrap_err(),
            given.regex("big").unwrap_err(),
        ];
        for error in &errors {
            assert!(
                error.starts_with("run: `") && !error.contains('\n'),
                "{error}"
            );
        }
        assert_eq!(
            errors[2],
            "run: `n` must be a whole number from 0 to 9, not -1"
        );
        assert!(given.done().is_ok());
        let mut given = args(json!({"inptu": "x"}));
        given.string("input").unwrap();
        assert_eq!(
            given.done().unwrap_err(),
            "run has no argument `inptu`; it takes input"
        );
    }

    #[test]
    fn good_values() {
        let mut given = args(json!({"n": 30.0, "null": null, "w": "screen", "r": r"(?P<n>a)\Z"}));
        assert_eq!(given.number("n", 0, 1500), Ok(Some(30)));
        assert_eq!(given.string("null"), Ok(None));
        assert_eq!(given.word("w", &["cooked", "screen"]), Ok("screen"));
        assert_eq!(given.word("absent", &["cooked", "screen"]), Ok("cooked"));
        assert!(given.regex("r").unwrap().unwrap().is_match("ba"));
        assert!(regex_of(r"a[^\n]*b|\\n", false).is_ok());
        assert!(regex_of("a\nb", false).is_err() && regex_of(r"a\nb", false).is_err());
        assert!(regex_of(r"\\Z", false).unwrap().is_match(r"\Z"));
    }
}
