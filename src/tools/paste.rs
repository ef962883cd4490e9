//! Several lines for a Python prompt, as one paste.
//!
//! Python's plain prompt ends a block at a blank line and wants one before what follows the block; a file has it the
//! other way. IPython and newer Pythons take a paste as it is.

/// Lines as the plain prompt wants them: no blank line within a block, one after it.
pub fn for_plain_prompt(lines: &[String]) -> Vec<String> {
    let mut typed = Vec::new();
    let mut scan = Scan::default();
    let mut block = false;
    let mut decorated = false;
    for line in lines {
        if scan.inside() {
            // Within a string, brackets or after a backslash everything is text.
            scan.line(line);
            typed.push(line.clone());
            continue;
        }
        let text = line.trim();
        if text.is_empty() {
            continue;
        }
        let indented = line.starts_with([' ', '\t']);
        if block && !indented && !decorated && !goes_on(text) && !text.starts_with('#') {
            typed.push(String::new());
            block = false;
        }
        let ends_in_colon = scan.line(line);
        if !text.starts_with('#') {
            decorated = text.starts_with('@') && !indented;
            block |= indented || ends_in_colon || decorated || begins_block(text);
        }
        typed.push(line.clone());
    }
    if block {
        typed.push(String::new());
    }
    typed
}

fn first_word(text: &str) -> &str {
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    &text[..end]
}

/// What belongs to the block before it.
fn goes_on(text: &str) -> bool {
    matches!(first_word(text), "else" | "elif" | "except" | "finally")
}

/// Also on one line (`if x: y`) the prompt asks whether more comes.
fn begins_block(text: &str) -> bool {
    let words = ["if", "for", "while", "def", "class", "with", "try", "async"];
    words.contains(&first_word(text))
}

/// What is open at the end of a line.
#[derive(Default)]
struct Scan {
    /// The quotes of a string over several lines.
    string: Option<&'static str>,
    brackets: usize,
    backslash: bool,
}

impl Scan {
    fn inside(&self) -> bool {
        self.string.is_some() || self.brackets > 0 || self.backslash
    }

    /// Reads a line. True when its code ends in a colon.
    fn line(&mut self, line: &str) -> bool {
        let bytes = line.as_bytes();
        let mut colon = false;
        let mut at = 0;
        self.backslash = false;
        while at < bytes.len() {
            let rest = &line.as_bytes()[at..];
            if let Some(quotes) = self.string {
                if rest.starts_with(quotes.as_bytes()) {
                    self.string = None;
                    at += quotes.len();
                } else {
                    at += if rest[0] == b'\\' { 2 } else { 1 };
                }
                continue;
            }
            let quotes = ["\"\"\"", "'''", "\"", "'"]
                .into_iter()
                .find(|quotes| rest.starts_with(quotes.as_bytes()));
            if let Some(quotes) = quotes {
                self.string = Some(quotes);
                colon = false;
                at += quotes.len();
                continue;
            }
            match rest[0] {
                b'#' => break,
                b'(' | b'[' | b'{' => self.brackets += 1,
                b')' | b']' | b'}' => self.brackets = self.brackets.saturating_sub(1),
                b'\\' if rest.len() == 1 => self.backslash = true,
                _ => {}
            }
            if !rest[0].is_ascii_whitespace() {
                colon = rest[0] == b':';
            }
            at += 1;
        }
        // A string in single quotes ends with its line, or is a mistake.
        if self.string.is_some_and(|quotes| quotes.len() == 1) {
            self.string = None;
        }
        colon && !self.inside()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &str, want: &str) {
        let lines: Vec<String> = lines.split('\n').map(String::from).collect();
        assert_eq!(for_plain_prompt(&lines).join("\n"), want);
    }

    #[test]
    fn blocks_end_at_a_blank_line_and_only_there() {
        check("x = 1\nprint(x)", "x = 1\nprint(x)");
        check(
            "def f():\n    a = 1\n\n    return a\nf()",
            "def f():\n    a = 1\n    return a\n\nf()",
        );
        check(
            "for i in 1, 2:\n    print(i)",
            "for i in 1, 2:\n    print(i)\n",
        );
        check(
            "if x:\n    a\nelse:\n    b\n\ntry:\n    c\nfinally:\n    d",
            "if x:\n    a\nelse:\n    b\n\ntry:\n    c\nfinally:\n    d\n",
        );
        check("if x: y\nz", "if x: y\n\nz");
        check(
            "@cache\ndef f():\n  pass\nf",
            "@cache\ndef f():\n  pass\n\nf",
        );
        check("if x: # why\n  y\n# end\nz", "if x: # why\n  y\n# end\n\nz");
    }

    #[test]
    fn what_is_within_brackets_and_strings_is_left_alone() {
        check("x = [\n\n1,\n]\ny", "x = [\n\n1,\n]\ny");
        check("s = '''a\n\n  b:\n'''\ny", "s = '''a\n\n  b:\n'''\ny");
        check("x = 1 + \\\n\n2", "x = 1 + \\\n\n2");
        check(
            "d = {'a': 1}\nprint('#:', \"it's\")",
            "d = {'a': 1}\nprint('#:', \"it's\")",
        );
        check(
            "match x:\n  case 1:\n    y\nz",
            "match x:\n  case 1:\n    y\n\nz",
        );
    }
}
