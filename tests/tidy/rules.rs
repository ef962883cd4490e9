//! The checks of one source file. Each returns its faults, one line each, with the file and the line.

use regex::Regex;

use crate::source::Source;
use crate::{CRATES, EMPTY_NAMES, LAYERS, MUST_NOT_KNOW, PRINTS, TEST_LINES, UNSAFE, UNSAFE_TESTS};

/// Marks the files of modules that only a test build has, and those of the modules in them.
pub fn mark_test_files(sources: &mut [Source]) {
    let mut left: Vec<String> = sources
        .iter()
        .flat_map(|source| source.test_modules.clone())
        .collect();
    while let Some(module) = left.pop() {
        let files = [format!("{module}.rs"), format!("{module}/mod.rs")];
        let Some(source) = sources
            .iter_mut()
            .find(|source| files.contains(&source.path))
        else {
            continue;
        };
        source.test_lines.fill(true);
        let folder = source.folder().to_string();
        left.extend(
            source
                .modules()
                .iter()
                .map(|name| format!("{folder}/{name}")),
        );
    }
}

/// The top module that a file of src belongs to; `main` for the crate's root; none for other files.
fn module(source: &Source) -> Option<&str> {
    let path = source.path.strip_prefix("src/")?.trim_end_matches(".rs");
    path.split('/').next()
}

/// The value of a table's row.
fn row<'a>(table: &'a [(&str, &'a [&'a str])], name: &str) -> &'a [&'a str] {
    table
        .iter()
        .find(|(row, _)| *row == name)
        .map_or(&[], |(_, value)| value)
}

fn fault(source: &Source, line: usize, text: impl std::fmt::Display) -> String {
    format!("{}:{line}: {text}", source.path)
}

/// Imports that the table does not allow.
pub fn layers(source: &Source) -> Vec<String> {
    let Some(name) = module(source) else {
        return Vec::new();
    };
    let allowed = row(LAYERS, name);
    let mut used = source.paths("crate");
    if name == "main" {
        // The root's paths need no `crate::`.
        for module in source.modules() {
            let path = Regex::new(&format!(r"\b{module}::")).expect("a valid pattern");
            used.extend(
                path.find_iter(&source.code)
                    .map(|found| (found.start(), module.clone())),
            );
        }
    }
    let mut faults: Vec<String> = used
        .into_iter()
        .filter(|(_, used)| used != name && !allowed.contains(&used.as_str()))
        .map(|(at, used)| {
            fault(
                source,
                source.line_at(at),
                format!("{name} must not import {used}"),
            )
        })
        .collect();
    let chain = Regex::new(r"\bsuper(\s*::\s*super)*").expect("a valid pattern");
    for found in chain.find_iter(&source.code) {
        let levels = found.as_str().matches("super").count();
        if levels >= source.depth_at(found.start()) {
            let line = source.line_at(found.start());
            faults.push(fault(
                source,
                line,
                "super reaches another module; spell it crate::",
            ));
        }
    }
    faults
}

/// Crates named where the table does not allow it.
pub fn crates(source: &Source) -> Vec<String> {
    let mut faults = Vec::new();
    for (name, allowed) in CRATES {
        let Some(module) = module(source).filter(|module| !allowed.contains(module)) else {
            continue;
        };
        let uses = Regex::new(&format!(
            r"\b{name}\s*::|\b(?:use|extern\s+crate)\s+{name}\b"
        ))
        .expect("a valid pattern");
        for found in uses.find_iter(&source.code) {
            let line = source.line_at(found.start());
            faults.push(fault(
                source,
                line,
                format!("{module} must not name {name}"),
            ));
        }
    }
    faults
}

/// Parts of the standard library that a module must not know.
pub fn outside(source: &Source) -> Vec<String> {
    let Some(name) = module(source) else {
        return Vec::new();
    };
    let forbidden = row(MUST_NOT_KNOW, name);
    let paths = source.paths("std").into_iter();
    paths
        .map(|(at, part)| (source.line_at(at), part))
        .filter(|(line, part)| forbidden.contains(&part.as_str()) && !source.test_lines[line - 1])
        .map(|(line, part)| fault(source, line, format!("{name} must not know std::{part}")))
        .collect()
}

/// Unsafe code outside its module, and inside it without a reason.
pub fn unsafe_code(source: &Source) -> Vec<String> {
    let keyword = Regex::new(r"\bunsafe\b").expect("a valid pattern");
    let allowed = module(source) == Some(UNSAFE) || source.path == UNSAFE_TESTS;
    let mut faults = Vec::new();
    for (line, code, _) in source.lines() {
        if !keyword.is_match(code) {
            continue;
        }
        // An unsafe function says what its callers owe it, under the heading that rustdoc shows.
        let reason = if code.contains("unsafe fn") {
            "# Safety"
        } else {
            "SAFETY: "
        };
        if !allowed {
            faults.push(fault(source, line, format!("unsafe code outside {UNSAFE}")));
        } else if !source.remark(line).contains(reason) {
            faults.push(fault(source, line, format!("unsafe code without {reason}")));
        }
    }
    faults
}

/// A top module's root that does not forbid unsafe code.
pub fn forbids_unsafe(source: &Source) -> Vec<String> {
    let root = module(source)
        .filter(|&name| name != "main" && name != UNSAFE)
        .filter(|name| {
            source.path == format!("src/{name}.rs") || source.path == format!("src/{name}/mod.rs")
        });
    match root {
        Some(_) if !source.code.contains("#![forbid(unsafe_code)]") => {
            vec![fault(source, 1, "no #![forbid(unsafe_code)]")]
        }
        _ => Vec::new(),
    }
}

/// Lines of src, those of tests only left out, that match.
fn matching(source: &Source, pattern: &str, text: &str) -> Vec<String> {
    let pattern = Regex::new(pattern).expect("a valid pattern");
    source
        .lines()
        .filter(|(_, code, test)| module(source).is_some() && !test && pattern.is_match(code))
        .map(|(line, ..)| fault(source, line, text))
        .collect()
}

/// Printing outside its module. Only sys may take hold of the descriptor itself, to keep others from it.
pub fn prints(source: &Source) -> Vec<String> {
    match module(source) {
        Some(PRINTS) => Vec::new(),
        Some(UNSAFE) => matching(source, r"\bprint(ln)?!", "only cli prints"),
        _ => matching(source, r"\bprint(ln)?!|\bio::stdout\b", "only cli prints"),
    }
}

pub fn threads(source: &Source) -> Vec<String> {
    matching(
        source,
        r"\bthread::spawn\b",
        "a thread without a name; use thread::Builder",
    )
}

/// Results unwrapped without a comment that proves that it cannot fail.
pub fn unwraps(source: &Source) -> Vec<String> {
    let call = Regex::new(r"\.(unwrap|unwrap_err|expect|expect_err)\(").expect("a valid pattern");
    source
        .lines()
        .filter(|(_, code, test)| module(source).is_some() && !test && call.is_match(code))
        .filter(|(line, ..)| source.remark(*line).is_empty())
        .map(|(line, ..)| fault(source, line, "unwrapped without a comment that proves it"))
        .collect()
}

/// What is only for the time of writing, in tests too.
pub fn leftovers(source: &Source) -> Vec<String> {
    let macros = Regex::new(r"\b(todo|unimplemented|dbg)!").expect("a valid pattern");
    let left = |(line, code, _)| {
        let found: regex::Match = macros.find(code)?;
        Some(fault(source, line, format!("{} is left", found.as_str())))
    };
    source.lines().filter_map(left).collect()
}

/// A file that does not start with what it is.
pub fn headers(source: &Source) -> Vec<String> {
    if source.text.starts_with("//! ") {
        return Vec::new();
    }
    vec![fault(source, 1, "no //! line that says what this is")]
}

/// Names that say nothing.
pub fn names(source: &Source) -> Vec<String> {
    let types = Regex::new(r"\b(?:struct|enum|trait|type)\s+(\w+)").expect("a valid pattern");
    let mut names: Vec<(usize, String)> = types
        .captures_iter(&source.code)
        .map(|found| {
            (
                source.line_at(found.get(0).map_or(0, |all| all.start())),
                found[1].into(),
            )
        })
        .collect();
    if module(source).is_some() {
        // tests/util is the one exception.
        names.extend(source.path.split(['/', '.']).map(|part| (1, part.into())));
    }
    let empty = |name: &str| {
        EMPTY_NAMES
            .iter()
            .any(|word| name.ends_with(word) || name.trim_end_matches('s') == word.to_lowercase())
    };
    names
        .into_iter()
        .filter(|(_, name)| empty(name))
        .map(|(line, name)| fault(source, line, format!("{name} names no thing")))
        .collect()
}

/// Unit tests that belong in a file of their own.
pub fn inline_tests(source: &Source) -> Vec<String> {
    let tests = source.test_lines.iter().filter(|&&test| test).count();
    if module(source).is_none() || tests == source.test_lines.len() || tests <= TEST_LINES {
        return Vec::new();
    }
    vec![format!(
        "{}: {tests} lines of tests; over {TEST_LINES} go to a file of their own",
        source.path
    )]
}
