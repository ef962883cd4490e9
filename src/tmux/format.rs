//! Words, formats and shell strings for tmux, quoted so that nothing in a name or a path is taken for syntax.

/// A word of a tmux command line: tmux takes a word that ends in `;` for the end of a command.
pub fn word(text: &str) -> String {
    match text.strip_suffix(';') {
        Some(head) => format!("{head}\\;"),
        None => text.to_string(),
    }
}

/// Text that stands where tmux expands formats (`#{...}`, `#(...)`) and strftime sequences, as in pipe-pane's
/// command.
pub fn literal(text: &str) -> String {
    text.replace('#', "##").replace('%', "%%")
}

/// One word for a POSIX shell.
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@,+%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_string();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A line for a POSIX shell from words.
pub fn shell_line<S: AsRef<str>>(words: &[S]) -> String {
    words
        .iter()
        .map(|word| shell_word(word.as_ref()))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for text in [
            "",
            "a b",
            "it's",
            "$(x)`y`",
            "new\nline",
            "\\",
            "*?",
            "plain-1.0/x",
        ] {
            let out = std::process::Command::new("sh")
                .arg("-c")
                .arg(format!("printf %s {}", shell_word(text)))
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(out.stdout).unwrap(), text);
        }
    }

    #[test]
    fn tmux_syntax_is_escaped() {
        assert_eq!(word("a;"), "a\\;");
        assert_eq!(word("a;b"), "a;b");
        assert_eq!(literal("/tmp/#{x}%H"), "/tmp/##{x}%%H");
    }
}
