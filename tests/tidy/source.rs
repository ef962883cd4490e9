//! A Rust file as the checks see it: its code without comments and literals, and which lines are only for tests.
//!
//! Reads just enough of the language for that. Must not know the rules.

use regex::Regex;

/// One source file.
pub struct Source {
    /// Relative to the package, with `/`.
    pub path: String,
    /// As it stands in the file.
    pub text: String,
    /// The text with every comment, and what is between quotes, overwritten by spaces. Line breaks stay.
    pub code: String,
    /// The comments of each line, empty where there are none.
    pub comments: Vec<String>,
    /// For each line, whether only a test build has it.
    pub test_lines: Vec<bool>,
    /// The files of the modules that only a test build has.
    pub test_modules: Vec<String>,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Source {
        let (code, comments) = split(text);
        let mut source = Source {
            path: path.into(),
            text: text.into(),
            test_lines: vec![false; comments.len()],
            code,
            comments,
            test_modules: Vec::new(),
        };
        source.find_tests();
        source
    }

    /// The lines of code, each with its number from 1 and whether only a test build has it.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str, bool)> {
        let tests = self.test_lines.iter().copied();
        let numbered = self.code.lines().zip(tests).enumerate();
        numbered.map(|(index, (line, test))| (index + 1, line, test))
    }

    /// The number, from 1, of the line in which the byte at `offset` is.
    pub fn line_at(&self, offset: usize) -> usize {
        self.code[..offset].matches('\n').count() + 1
    }

    /// What is written beside the statement that `line` (from 1) is part of: on the line, or right above the
    /// statement.
    pub fn remark(&self, line: usize) -> String {
        let codes: Vec<&str> = self.code.lines().map(str::trim).collect();
        let mut remark = self.comments[line - 1].clone();
        for above in (0..line - 1).rev() {
            if codes[above].is_empty() && self.comments[above].is_empty() {
                break;
            }
            let before = codes[above];
            if before.ends_with([';', '{', '}']) || before.contains("=>") {
                break;
            }
            if before.is_empty() {
                remark = format!("{}\n{remark}", self.comments[above]);
                // Further code above belongs to another statement.
                if above == 0 || !codes[above - 1].is_empty() {
                    break;
                }
            }
        }
        remark
    }

    /// The modules that the code declares with a file of their own.
    pub fn modules(&self) -> Vec<String> {
        declared(&self.code)
    }

    /// The file or folder that the file's own modules are in.
    pub fn folder(&self) -> &str {
        let stem = self.path.trim_end_matches(".rs");
        let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
        match name {
            "mod" | "main" | "lib" => folder,
            _ => stem,
        }
    }

    /// How many modules the byte at `offset` is within, the crate's root not counted.
    pub fn depth_at(&self, offset: usize) -> usize {
        let folder = self.folder().split('/').skip(1).count();
        let inline = Regex::new(r"\bmod\s+\w+\s*$").expect("a valid pattern");
        let mut open = Vec::new();
        for (at, byte) in self.code.bytes().enumerate().take(offset) {
            match byte {
                b'{' => open.push(inline.is_match(&self.code[..at])),
                b'}' => drop(open.pop()),
                _ => {}
            }
        }
        folder + open.into_iter().filter(|&module| module).count()
    }

    /// Every path in the code that starts with `root`, such as `crate` or `std`: where it is, and its next segment.
    /// A group counts as one path for each member.
    pub fn paths(&self, root: &str) -> Vec<(usize, String)> {
        let start = Regex::new(&format!(r"\b{root}\s*::\s*")).expect("a valid pattern");
        let mut paths = Vec::new();
        for found in start.find_iter(&self.code) {
            let before = self.code[..found.start()].trim_end();
            // A segment of a longer path, or a macro's own `$crate`.
            let inner = before.strip_suffix("::").is_some_and(|path| {
                path.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '>'))
            });
            if inner || before.ends_with('$') {
                continue;
            }
            let rest = &self.code[found.end()..];
            let segments = match rest.strip_prefix('{') {
                Some(group) => members(group),
                None => vec![segment(rest)],
            };
            paths.extend(segments.into_iter().map(|next| (found.start(), next)));
        }
        paths
    }

    fn find_tests(&mut self) {
        let attribute =
            Regex::new(r"#!?\[cfg\(\s*(?:all\(\s*)?test\b[^\]]*\]").expect("a valid pattern");
        for found in attribute.find_iter(&self.code) {
            let end = if found.as_str().starts_with("#!") {
                self.code.len()
            } else {
                found.end() + item(&self.code[found.end()..])
            };
            let (first, last) = (self.line_at(found.start()), self.line_at(end));
            let last = last.min(self.test_lines.len());
            self.test_lines[first - 1..last].fill(true);
            for name in declared(&self.code[found.end()..end]) {
                let module = format!("{}/{name}", self.folder());
                self.test_modules.push(module);
            }
        }
    }
}

/// The names in `mod name;` declarations.
fn declared(code: &str) -> Vec<String> {
    let pattern = Regex::new(r"\bmod\s+(\w+)\s*;").expect("a valid pattern");
    pattern
        .captures_iter(code)
        .map(|found| found[1].into())
        .collect()
}

/// The identifier, or the `*`, that `code` starts with.
fn segment(code: &str) -> String {
    let code = code.trim_start();
    let end = code.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '*');
    code[..end.unwrap_or(code.len())].into()
}

/// The first segments of a group's members, `group` starting after its brace.
fn members(group: &str) -> Vec<String> {
    let mut found = vec![segment(group)];
    let mut depth = 0;
    for (at, byte) in group.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => break,
            b'}' => depth -= 1,
            b',' if depth == 0 => found.push(segment(&group[at + 1..])),
            _ => {}
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

/// The length of the item that follows an attribute: to its `;`, its `,` or the end of its braces.
fn item(code: &str) -> usize {
    let (mut braces, mut brackets) = (0, 0);
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets -= 1,
            b'{' => braces += 1,
            b'}' if braces <= 1 => return at + 1,
            b'}' => braces -= 1,
            b';' | b',' if braces == 0 && brackets == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// What the byte being read is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    LineComment,
    /// Block comments nest.
    BlockComment(u32),
    /// With the quote that ends it.
    Quoted(u8),
    /// With the number of `#` after the quote that ends it.
    Raw(usize),
}

/// The code with comments and literals overwritten, and the comments of each line.
fn split(text: &str) -> (String, Vec<String>) {
    let bytes = text.as_bytes();
    let mut code = Vec::with_capacity(bytes.len());
    let mut comments = vec![Vec::new()];
    let mut part = Part::Code;
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let (taken, next) = match part {
            Part::Code => code_step(rest, code.last().copied()),
            Part::LineComment if rest[0] == b'\n' => (1, Part::Code),
            Part::LineComment => (1, part),
            Part::BlockComment(depth) if rest.starts_with(b"/*") => {
                (2, Part::BlockComment(depth + 1))
            }
            Part::BlockComment(1) if rest.starts_with(b"*/") => (2, Part::Code),
            Part::BlockComment(depth) if rest.starts_with(b"*/") => {
                (2, Part::BlockComment(depth - 1))
            }
            Part::BlockComment(_) => (1, part),
            Part::Quoted(_) if rest[0] == b'\\' => (rest.len().min(2), part),
            Part::Quoted(quote) if rest[0] == quote => (1, Part::Code),
            Part::Quoted(_) => (1, part),
            Part::Raw(hashes) if closes(rest, hashes) => (1 + hashes, Part::Code),
            Part::Raw(_) => (1, part),
        };
        for &byte in &rest[..taken] {
            let comment = [part, next]
                .iter()
                .any(|part| matches!(part, Part::LineComment | Part::BlockComment(_)));
            let quote = part != next && byte == b'"';
            let shown = byte == b'\n' || (part == Part::Code && next == Part::Code) || quote;
            code.push(if shown { byte } else { b' ' });
            if byte == b'\n' {
                comments.push(Vec::new());
            } else if comment && let Some(line) = comments.last_mut() {
                line.push(byte);
            }
        }
        part = next;
        at += taken;
    }
    if text.ends_with('\n') {
        comments.pop();
    }
    let line = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (
        String::from_utf8_lossy(&code).into_owned(),
        comments.into_iter().map(line).collect(),
    )
}

/// How many bytes of code come next, and what follows them.
fn code_step(rest: &[u8], before: Option<u8>) -> (usize, Part) {
    let word = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match rest {
        [b'/', b'/', ..] => (2, Part::LineComment),
        [b'/', b'*', ..] => (2, Part::BlockComment(1)),
        [b'"', ..] => (1, Part::Quoted(b'"')),
        // A character, or a lifetime: only a character has its quote after one character or an escape.
        [b'\'', b'\\', ..] => (1, Part::Quoted(b'\'')),
        [b'\'', first, tail @ ..] => {
            let more = match first {
                0xF0.. => 3,
                0xE0.. => 2,
                0xC0.. => 1,
                _ => 0,
            };
            match tail.get(more) {
                Some(b'\'') => (1, Part::Quoted(b'\'')),
                _ => (1, Part::Code),
            }
        }
        [b'r' | b'b' | b'c', ..] if !word => raw(rest).unwrap_or((1, Part::Code)),
        _ => (1, Part::Code),
    }
}

/// The start of a raw string: `r"`, `br#"` and the like.
fn raw(rest: &[u8]) -> Option<(usize, Part)> {
    let prefix = if rest[0] == b'r' { 1 } else { 2 };
    if rest.get(prefix - 1) != Some(&b'r') {
        return None;
    }
    let hashes = rest[prefix..]
        .iter()
        .take_while(|&&byte| byte == b'#')
        .count();
    let quote = prefix + hashes;
    (rest.get(quote) == Some(&b'"')).then_some((quote + 1, Part::Raw(hashes)))
}

fn closes(rest: &[u8], hashes: usize) -> bool {
    rest[0] == b'"' && rest.len() > hashes && rest[1..=hashes].iter().all(|&byte| byte == b'#')
}

#[test]
fn comments_and_literals_are_not_code() {
    let text = r####"let a = "x // y \" z"; // one
let b = r#"raw " /* "#; /* two /* nested */ still */ let c = '"'; let d: &'static str = "";
let e = b'\''; let f = 'é'; let bar = br"q"; "####;
    let source = Source::new("src/x.rs", text);
    let squeezed: Vec<String> = source
        .code
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        squeezed,
        [
            "let a = \" \";",
            "let b = \" \" ; let c = ; let d: &'static str = \"\";",
            "let e = b ; let f = ; let bar = \" \";",
        ]
    );
    assert_eq!(source.comments[0], "// one");
    assert_eq!(source.comments[1], "/* two /* nested */ still */");
    assert_eq!(source.code.len(), text.len());
}

#[test]
fn test_code_is_told_apart() {
    let text = "use a;\n#[cfg(test)]\nmod fake;\nfn f() {}\n#[cfg(test)]\n#[rustfmt::skip]\nmod tests {\n    fn g() { }\n}\nfn h() {}\n";
    let source = Source::new("src/mcp/mod.rs", text);
    let tests: Vec<usize> = source
        .lines()
        .filter_map(|(number, _, test)| test.then_some(number))
        .collect();
    assert_eq!(tests, [2, 3, 5, 6, 7, 8, 9]);
    assert_eq!(source.test_modules, ["src/mcp/fake"]);
    // A test build has it, but not only a test build.
    let both = Source::new("src/x.rs", "#[cfg(any(unix, test))]\nfn f() {}\n");
    assert!(!both.test_lines.contains(&true));
}

#[test]
fn paths_are_read_through_groups_and_lines() {
    let text = "use crate::{store::{a, b}, tmux};\nfn f() { crate :: sys\n::x(); $crate::no; a::crate::no }";
    let source = Source::new("src/x.rs", text);
    let names: Vec<String> = source
        .paths("crate")
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    assert_eq!(names, ["store", "tmux", "sys"]);
}

#[test]
fn a_remark_belongs_to_its_statement() {
    let text = "// one\nlet a =\n    unsafe { 1 };\nlet b = unsafe { 2 }; // two\nlet c = 3;\n\n// four\n\nlet d = 4;\n";
    let source = Source::new("src/x.rs", text);
    assert!(source.remark(3).contains("one"));
    assert!(source.remark(4).contains("two") && !source.remark(4).contains("one"));
    for line in [5, 9] {
        assert_eq!(source.remark(line), "", "{line}");
    }
}

#[test]
fn depth_counts_files_and_inline_modules() {
    let text = "mod tests { x }";
    for (path, depth) in [
        ("src/a.rs", 1),
        ("src/a/mod.rs", 1),
        ("src/a/b.rs", 2),
        ("src/a/b/c.rs", 3),
    ] {
        let source = Source::new(path, text);
        assert_eq!(source.depth_at(0), depth, "{path}");
        assert_eq!(source.depth_at(13), depth + 1, "{path}");
    }
}
