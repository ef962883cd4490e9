//! Prompts of shells and programs that print no markers, told by the text before the cursor.
//!
//! Text alone never decides that something waits: the caller asks the kernel too, wherever it can be asked.

use std::sync::OnceLock;

use regex::Regex;

/// One prompt of the table: what prints it, the pattern (matched against the cursor's line, whole, trailing blanks
/// kept), a sample.
pub struct Prompt {
    pub program: &'static str,
    pub pattern: &'static str,
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "it says what the pattern is for, and the test tries it"
        )
    )]
    pub sample: &'static str,
}

const fn prompt(program: &'static str, pattern: &'static str, sample: &'static str) -> Prompt {
    Prompt {
        program,
        pattern,
        sample,
    }
}

/// Shells without markers.
const SHELL: &str = "a shell";

/// Programs first, since "> " alone says least.
pub const TABLE: &[Prompt] = &[
    prompt("python", r"^>>> $", ">>> "),
    prompt("python", r"^\.\.\. +$", "... "),
    prompt("ipython", r"^In \[\d+\]: $", "In [12]: "),
    prompt("ipython", r"^ +\.\.\.: +$", "    ...: "),
    prompt("pdb", r"^\((?:[iI])?[pP]db(?:\+\+)?\) $", "(Pdb) "),
    prompt("pdb", r"^ipdb> $", "ipdb> "),
    prompt("gdb", r"^\(gdb\) $", "(gdb) "),
    prompt("gdb", r"^>+ ?$", ">"),
    prompt("lldb", r"^\(lldb\) $", "(lldb) "),
    prompt("rust-gdb, rr", r"^\(rr\) $", "(rr) "),
    prompt("dlv", r"^\(dlv\) $", "(dlv) "),
    prompt("sqlite3", r"^sqlite> $", "sqlite> "),
    prompt("sqlite3", r"^   \.\.\.> $", "   ...> "),
    prompt("psql", r#"^[\w.@:\[\]/-]+[=^!@-][>#] $"#, "postgres=# "),
    prompt("psql", r#"^[\w.@:\[\]/-]+[-('"$*][>#] $"#, "postgres-# "),
    prompt(
        "mysql",
        r"^(?:mysql|MariaDB \[[^\]]*\])> $",
        "MariaDB [(none)]> ",
    ),
    prompt("mysql", r#"^ +(?:-|'|"|`|/\*)> $"#, "    -> "),
    prompt(
        "redis-cli",
        r"^(?:[\w.-]+:\d+(?:\[\d+\])?|not connected)> $",
        "127.0.0.1:6379> ",
    ),
    prompt(
        "irb",
        r"^irb\(.*\):\d+(?::\d+)?[>*\x22'`/] *$",
        "irb(main):001:0> ",
    ),
    prompt("pry", r"^\[\d+\] pry\(.*\)> $", "[1] pry(main)> "),
    prompt(
        "ghci",
        r"^(?:ghci|Prelude|[\w.*]+(?: [\w.*]+)*)[>|] $",
        "ghci> ",
    ),
    prompt(
        "guile",
        r"^scheme@\(.*\)(?: \[\d+\])?> $",
        "scheme@(guile-user)> ",
    ),
    prompt("perl -de", r"^ *DB<+\d+>+ $", "  DB<1> "),
    prompt("R", r"^[>+] $", "> "),
    prompt("node", r"^(?:> |\.\.\. |\| )$", "> "),
    prompt("lua", r"^>>? $", ">> "),
    prompt("julia", r"^julia> $", "julia> "),
    prompt(
        "ftp, sftp, bc",
        r"^(?:ftp|sftp|lftp .*|telnet)> ?$",
        "sftp> ",
    ),
    prompt(SHELL, r"(?:\$|#|%|>|❯|➜|λ) $", "user@host:~$ "),
];

/// What a session's prompts look like: its own pattern, if it was given one, and the table.
#[derive(Clone, Debug, Default)]
pub struct Prompts {
    own: Vec<Regex>,
}

/// What `matches` calls a pattern that a caller gave.
pub const OWN: &str = "prompt_pattern";

impl Prompts {
    pub fn new(own: Option<Regex>) -> Prompts {
        Prompts {
            own: own.into_iter().collect(),
        }
    }

    /// The same with one pattern more, for a call.
    pub fn with(&self, pattern: Option<&Regex>) -> Prompts {
        Prompts {
            own: pattern.into_iter().chain(&self.own).cloned().collect(),
        }
    }

    /// A line of output that only repeats one of the lines of `typed`, after a prompt.
    pub fn echoes(&self, typed: &str, line: &str) -> bool {
        // The log keeps no blanks at a line's end, which most prompts have.
        let prompt = |prompt: &str| {
            self.matches(prompt).is_some()
                || !prompt.ends_with(' ') && self.matches(&format!("{prompt} ")).is_some()
        };
        typed
            .split('\n')
            .any(|typed| line.strip_suffix(typed.trim_end()).is_some_and(prompt))
    }

    /// The program whose prompt the line before the cursor is; "prompt_pattern" for the session's own.
    pub fn matches(&self, line: &str) -> Option<&'static str> {
        let own = |own: &Regex| own.is_match(line) || own.is_match(line.trim_end());
        if self.own.iter().any(own) {
            return Some(OWN);
        }
        compiled()
            .iter()
            .find(|(_, regex)| regex.is_match(line))
            .map(|(program, _)| *program)
    }
}

impl Prompts {
    /// Whether the line before the cursor is a bare shell's prompt, by its looks.
    pub fn at_shell(&self, line: &str) -> bool {
        self.matches(line) == Some(SHELL)
    }

    /// Whether what `matches` has named may be a shell: one, or whatever the session's own pattern is for.
    pub fn is_shells(&self, program: &str) -> bool {
        program == SHELL || !self.own.is_empty() && program == "prompt_pattern"
    }

    /// A line that is a known program's prompt with text after it: the prompt, and the text. The bare shells'
    /// pattern does not count: a question may hold what looks like one.
    pub fn typed_after<'a>(&self, line: &'a str) -> Option<(&'a str, &'a str)> {
        if self.matches(line).is_some() {
            return None;
        }
        let programs = compiled()
            .iter()
            .filter(|(program, _)| *program != SHELL)
            .map(|(_, regex)| regex);
        let patterns: Vec<&Regex> = self.own.iter().chain(programs).collect();
        let ends = line
            .char_indices()
            .filter(|(_, c)| matches!(c, ' ' | '>'))
            .map(|(at, _)| at + 1)
            .take(PROMPT_WORDS);
        let found = ends.filter(|&end| patterns.iter().any(|regex| regex.is_match(&line[..end])));
        // The longest: "> " is the end of ">>> ".
        found
            .filter(|&end| !line[end..].trim().is_empty())
            .last()
            .map(|end| line.split_at(end))
    }
}

/// A pattern that would match this line as a prompt: numbers and paths stand for any others.
pub fn pattern_for(line: &str) -> Option<String> {
    let line = line.trim_end();
    // What ends like a question is one.
    if line.is_empty() || line.ends_with(['?', ':']) || line.chars().count() > OFFERED_MOST {
        return None;
    }
    let changing = CHANGING.get_or_init(|| Regex::new(r"[~/][\w./~-]*|\d+|\w+").ok());
    let mut pattern = String::from("^");
    let mut done = 0;
    for found in changing.as_ref()?.find_iter(line) {
        let text = found.as_str();
        let general = match text.chars().next() {
            Some('~' | '/') => r"[~/]\S*".to_string(),
            Some(c) if c.is_ascii_digit() && text.bytes().all(|b| b.is_ascii_digit()) => {
                r"\d+".to_string()
            }
            _ => digits_general(text),
        };
        pattern.push_str(&regex::escape(&line[done..found.start()]));
        pattern.push_str(&general);
        done = found.end();
    }
    pattern.push_str(&regex::escape(&line[done..]));
    Some(pattern + " ?$")
}

/// A word: numbers in it may change, its letters do not.
fn digits_general(word: &str) -> String {
    let mut pattern = String::new();
    let mut digits = false;
    for c in word.chars() {
        if c.is_ascii_digit() {
            if !digits {
                pattern.push_str(r"\d+");
            }
            digits = true;
        } else {
            digits = false;
            pattern.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
        }
    }
    pattern
}

/// A longer line is no prompt.
const OFFERED_MOST: usize = 80;

static CHANGING: OnceLock<Option<Regex>> = OnceLock::new();

/// How a program at this prompt is left, for people.
pub fn way_out(line: &str) -> &'static str {
    match Prompts::default().matches(line) {
        Some("python" | "ipython") => "exit() or ctrl+d",
        Some("pdb") => "q or ctrl+d",
        Some("gdb" | "lldb" | "rust-gdb, rr" | "dlv" | "mysql" | "redis-cli") => "quit or ctrl+d",
        Some("sqlite3") => ".quit or ctrl+d",
        Some("psql") => "\\q or ctrl+d",
        Some("ghci") => ":quit or ctrl+d",
        Some("perl -de") => "q",
        Some("guile") => ",q or ctrl+d",
        _ => "exit, quit or ctrl+d",
    }
}

/// Prompts have at most so many blanks in them.
const PROMPT_WORDS: usize = 8;

fn compiled() -> &'static [(&'static str, Regex)] {
    static COMPILED: OnceLock<Vec<(&'static str, Regex)>> = OnceLock::new();
    COMPILED.get_or_init(|| {
        // The patterns are constants; the test below compiles each of them.
        TABLE
            .iter()
            .filter_map(|prompt| Some((prompt.program, Regex::new(prompt.pattern).ok()?)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_matches_its_own_pattern() {
        assert_eq!(compiled().len(), TABLE.len());
        for prompt in TABLE {
            assert!(
                Regex::new(prompt.pattern).unwrap().is_match(prompt.sample),
                "{}: {:?}",
                prompt.program,
                prompt.sample
            );
            assert!(Prompts::default().matches(prompt.sample).is_some());
        }
    }

    #[test]
    fn ordinary_lines_are_no_prompts() {
        for line in [
            "",
            "$",
            "Compiling foo v1.0",
            "100%",
            "a > b",
            "Continue? [y/N] ",
            "Password: ",
            "make: ***",
        ] {
            assert_eq!(Prompts::default().matches(line), None, "{line:?}");
        }
    }

    #[test]
    fn half_typed_text_after_a_prompt() {
        let prompts = Prompts::default();
        assert_eq!(prompts.typed_after(">>> x = 5"), Some((">>> ", "x = 5")));
        assert_eq!(
            prompts.typed_after("(gdb) break main"),
            Some(("(gdb) ", "break main"))
        );
        assert_eq!(
            prompts.typed_after("postgres=# select 1"),
            Some(("postgres=# ", "select 1"))
        );
        for line in [
            ">>> ",
            "Value (a > b): ",
            "user@host:~$ ls",
            "Go on? [y/N] ",
            "",
        ] {
            assert_eq!(prompts.typed_after(line), None, "{line:?}");
        }
    }

    #[test]
    fn an_offered_pattern_matches_later_prompts_too() {
        for (seen, later, other) in [
            ("calc[1]> ", "calc[27]> ", "tool[1]> "),
            (
                "app1 ~/src 12:30 => ",
                "app1 /etc/x 9:05 => ",
                "app1 ~ done",
            ),
            ("{db} ", "{db} ", "{tb} "),
            ("(x86_64) # ", "(x86_64) # ", "x86_64"),
        ] {
            let pattern = pattern_for(seen).unwrap();
            let prompts = Prompts::new(Some(Regex::new(&pattern).unwrap()));
            assert_eq!(prompts.matches(seen), Some(OWN), "{pattern}");
            assert_eq!(prompts.matches(later), Some(OWN), "{pattern}");
            assert_ne!(prompts.matches(other), Some(OWN), "{pattern}");
        }
        assert_eq!(pattern_for("  "), None);
    }

    #[test]
    fn typed_lines_are_told_from_output() {
        let prompts = Prompts::default();
        let typed = "for i in 1, 2:\n    print(i)\n";
        for echo in [">>> for i in 1, 2:", "...     print(i)", "..."] {
            assert!(prompts.echoes(typed, echo), "{echo}");
        }
        for output in ["1", "for i in 1, 2:", "", ">>> other"] {
            assert!(!prompts.echoes(typed, output), "{output}");
        }
    }

    #[test]
    fn a_sessions_own_pattern_comes_first() {
        let prompts = Prompts::new(Some(Regex::new(r"^ready\? $").unwrap()));
        assert_eq!(prompts.matches("ready? "), Some(OWN));
        assert_eq!(prompts.matches(">>> "), Some("python"));
    }
}
