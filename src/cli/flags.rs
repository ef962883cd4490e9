//! What a command takes on its command line, as data: from it come the parsing and the help text. Must not know what
//! any command does.

use std::fmt::Write;

use lexopt::Arg;

/// The columns of a help text stay below those of a usual terminal.
const INDENT: usize = 2;

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Without its dashes.
    pub long: &'static str,
    pub short: Option<char>,
    pub takes: Takes,
    /// For the help text: lines that fit beside the option.
    pub help: &'static str,
}

/// What follows an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// A value, by this name in the help text.
    Value(&'static str),
    /// The same, but only when it is a number: `--tcp` and `--tcp 8766`.
    Number(&'static str),
}

/// What a command takes.
#[derive(Clone, Copy, Debug)]
pub struct Syntax {
    /// `paneglass list`.
    pub command: &'static str,
    /// What the help says first: lines.
    pub about: &'static str,
    /// What follows the options, such as `TOOL [NAME=VALUE ...]`; empty for nothing.
    pub words: &'static str,
    pub flags: &'static [Flag],
    /// What the help says after the options: paragraphs.
    pub notes: &'static str,
    /// Command lines.
    pub examples: &'static [&'static str],
}

/// A command line that was understood.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    pub words: Vec<String>,
    flags: Vec<(&'static str, Option<String>)>,
}

/// What a command line came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Asked {
    Run(Parsed),
    Help,
    /// Wrong usage: one line.
    Wrong(String),
}

const HELP: Flag = Flag {
    long: "help",
    short: Some('h'),
    takes: Takes::Nothing,
    help: "this text",
};

impl Flag {
    pub const fn new(long: &'static str, takes: Takes, help: &'static str) -> Flag {
        Flag {
            long,
            short: None,
            takes,
            help,
        }
    }

    /// As the help shows it.
    fn shown(&self) -> String {
        let short = match self.short {
            Some(short) => format!("-{short}, "),
            None => "    ".into(),
        };
        let value = match self.takes {
            Takes::Nothing => String::new(),
            Takes::Value(name) => format!(" {name}"),
            Takes::Number(name) => format!(" [{name}]"),
        };
        format!("{short}--{}{value}", self.long)
    }

    fn is(&self, arg: &Arg<'_>) -> bool {
        match arg {
            Arg::Long(name) => *name == self.long,
            Arg::Short(name) => Some(*name) == self.short,
            Arg::Value(_) => false,
        }
    }
}

impl Parsed {
    /// Whether an option was given.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|(name, _)| *name == flag)
    }

    /// An option's value; of several the last.
    pub fn value(&self, flag: &str) -> Option<&str> {
        let mut given = self.flags.iter().rev();
        given.find(|(name, _)| *name == flag)?.1.as_deref()
    }
}

impl Syntax {
    /// Understands a command line.
    pub fn parse(&self, parser: lexopt::Parser) -> Asked {
        match self.take(parser) {
            Ok(asked) => asked,
            Err(error) => Asked::Wrong(error.to_string()),
        }
    }

    fn take(&self, mut parser: lexopt::Parser) -> Result<Asked, lexopt::Error> {
        let mut parsed = Parsed::default();
        while let Some(arg) = parser.next()? {
            if HELP.is(&arg) {
                return Ok(Asked::Help);
            }
            let Some(flag) = self.flags.iter().find(|flag| flag.is(&arg)) else {
                match arg {
                    Arg::Value(word) if !self.words.is_empty() => {
                        parsed.words.push(word.to_string_lossy().into_owned());
                        continue;
                    }
                    other => return Err(other.unexpected()),
                }
            };
            let value = match flag.takes {
                Takes::Nothing => None,
                Takes::Value(_) => Some(parser.value()?),
                Takes::Number(_) => number(&mut parser),
            };
            let value = value.map(|value| value.to_string_lossy().into_owned());
            parsed.flags.push((flag.long, value));
        }
        Ok(Asked::Run(parsed))
    }

    pub fn help(&self) -> String {
        let mut text = format!("{}\n\nUsage:\n  {}", self.about, self.command);
        if !self.flags.is_empty() {
            text.push_str(" [OPTIONS]");
        }
        if !self.words.is_empty() {
            text.push_str(&format!(" {}", self.words));
        }
        text.push_str("\n\nOptions:\n");
        text.push_str(&options(self.flags));
        if !self.notes.is_empty() {
            text.push_str(&format!("\n{}\n", self.notes));
        }
        if !self.examples.is_empty() {
            text.push_str("\nExamples:\n");
            for example in self.examples {
                text.push_str(&format!("  {example}\n"));
            }
        }
        text
    }
}

/// The options as the help lists them, --help last.
pub fn options(flags: &[Flag]) -> String {
    let all = || flags.iter().chain([&HELP]);
    let width = all().map(|flag| flag.shown().len()).max().unwrap_or(0);
    let mut text = String::new();
    for flag in all() {
        let mut shown = flag.shown();
        for line in flag.help.lines() {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{:INDENT$}{shown:<width$}   {line}", "");
            shown.clear();
        }
    }
    text
}

/// The value in `--tcp=8766`, or the next argument when it is a number.
fn number(parser: &mut lexopt::Parser) -> Option<std::ffi::OsString> {
    if let Some(value) = parser.optional_value() {
        return Some(value);
    }
    let mut rest = parser.try_raw_args()?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let next = rest.peek()?.to_str().is_some_and(is_number);
    next.then(|| rest.next()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNTAX: Syntax = Syntax {
        command: "paneglass x",
        about: "Does it.",
        words: "NAME",
        flags: &[
            Flag {
                short: Some('v'),
                ..Flag::new("verbose", Takes::Nothing, "say more")
            },
            Flag::new("host", Takes::Value("HOST"), "where"),
            Flag::new("tcp", Takes::Number("PORT"), "also\nthere"),
        ],
        notes: "",
        examples: &["paneglass x y"],
    };

    fn parse(args: &[&str]) -> Asked {
        SYNTAX.parse(lexopt::Parser::from_args(args))
    }

    #[test]
    fn options_and_words() {
        let Asked::Run(parsed) = parse(&["a", "-v", "--host", "h", "--host=i", "--tcp", "b"])
        else {
            panic!("it is not understood");
        };
        assert_eq!(parsed.words, ["a", "b"]);
        assert!(parsed.has("verbose") && parsed.has("tcp") && !parsed.has("x"));
        assert_eq!(
            (parsed.value("host"), parsed.value("tcp")),
            (Some("i"), None)
        );
        for args in [
            &["--tcp", "80", "a"][..],
            &["--tcp=80", "a"],
            &["a", "--tcp", "80"],
        ] {
            let Asked::Run(parsed) = parse(args) else {
                panic!("{args:?}");
            };
            assert_eq!((parsed.value("tcp"), parsed.words.len()), (Some("80"), 1));
        }
        assert_eq!(parse(&["a", "--help", "--nonsense"]), Asked::Help);
        for args in [&["--nonsense"][..], &["--host"], &["-x"], &["--verbose=1"]] {
            assert!(matches!(parse(args), Asked::Wrong(_)), "{args:?}");
        }
    }

    #[test]
    fn the_help_lists_what_is_parsed() {
        assert_eq!(
            SYNTAX.help(),
            "Does it.\n\nUsage:\n  paneglass x [OPTIONS] NAME\n\nOptions:\n  \
             -v, --verbose      say more\n      --host HOST    where\n      --tcp [PORT]   also\n                     \
             there\n  -h, --help         this text\n\nExamples:\n  paneglass x y\n"
        );
    }
}
