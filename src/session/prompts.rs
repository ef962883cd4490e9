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
    prompt("python", r"^\.\.\. ", "... "),
    prompt("ipython", r"^In \[\d+\]: $", "In [12]: "),
    prompt("ipython", r"^ +\.\.\.: ", "    ...: "),
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
        r"^irb\(.*\):\d+(?::\d+)?[>*\x22'`/] ?$",
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
    own: Option<Regex>,
}

impl Prompts {
    pub fn new(own: Option<Regex>) -> Prompts {
        Prompts { own }
    }

    /// The program whose prompt the line before the cursor is; "prompt_pattern" for the session's own.
    pub fn matches(&self, line: &str) -> Option<&'static str> {
        if let Some(own) = &self.own {
            if own.is_match(line) || own.is_match(line.trim_end()) {
                return Some("prompt_pattern");
            }
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
        program == SHELL || self.own.is_some() && program == "prompt_pattern"
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
    fn a_sessions_own_pattern_comes_first() {
        let prompts = Prompts::new(Some(Regex::new(r"^ready\? $").unwrap()));
        assert_eq!(prompts.matches("ready? "), Some("prompt_pattern"));
        assert_eq!(prompts.matches(">>> "), Some("python"));
    }
}
