//! The manual says what the program says: its commands, options and variables, and the tools with every argument,
//! range and default.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::{Value, json};

use crate::util::dir::Dir;
use crate::util::server::Server;
use crate::util::skip::have;

/// A terminal of the usual width shows a page without wrapping.
const COLUMNS: usize = 80;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages, by name.
fn pages() -> BTreeMap<String, String> {
    let entries = fs::read_dir(root().join("man")).expect("the manual");
    let page = |path: PathBuf| {
        let name = path.file_name().expect("a file").to_string_lossy();
        let text = fs::read_to_string(&path).expect("a page");
        (name.into_owned(), text)
    };
    let pages: BTreeMap<String, String> = entries
        .map(|entry| page(entry.expect("a page").path()))
        .collect();
    assert!(pages.len() >= 7, "{:?}", pages.keys());
    pages
}

/// The parts of a page under headings of a level (`Sh`, `Ss`), by heading; a part ends where any heading comes.
fn parts<'a>(page: &'a str, level: &str) -> Vec<(&'a str, &'a str)> {
    let heading = Regex::new(r"(?m)^\.(Sh|Ss) (.*)\n").expect("a valid pattern");
    let all: Vec<_> = heading.captures_iter(page).collect();
    let end = |at: usize| {
        all.get(at + 1)
            .map_or(page.len(), |next| next.get(0).unwrap().start())
    };
    let parts = all
        .iter()
        .enumerate()
        .filter(|(_, found)| &found[1] == level);
    parts
        .map(|(at, found)| {
            let title = found.get(2).unwrap().as_str();
            (title, &page[found.get(0).unwrap().end()..end(at)])
        })
        .collect()
}

fn section<'a>(page: &'a str, title: &str) -> &'a str {
    let mut found = parts(page, "Sh").into_iter();
    found
        .find(|(name, _)| *name == title)
        .unwrap_or_else(|| panic!("no section {title}"))
        .1
}

/// `.It Fl -tcp Op Ar PORT` as a help text has it: `--tcp [PORT]`.
fn option(item: &str) -> String {
    let mut text = String::new();
    let mut words = item.split(' ');
    let mut optional = false;
    while let Some(word) = words.next() {
        match word {
            "Fl" => text.push_str(&format!("-{}", words.next().expect("an option"))),
            "Op" => optional = true,
            "Ar" => text.push(' '),
            "," => text.push_str(", "),
            word if optional => {
                optional = false;
                text.push_str(&format!("[{word}]"));
            }
            "..." => text.push_str(" ..."),
            word => text.push_str(word),
        }
    }
    text
}

/// The options that a part of a page lists.
fn options_of_page(part: &str) -> BTreeSet<String> {
    let items = part.lines().filter_map(|line| line.strip_prefix(".It "));
    items
        .filter(|item| item.starts_with("Fl "))
        .map(option)
        .collect()
}

/// The options of a help text, without --help, which every command has.
fn options_of_help(help: &str) -> BTreeSet<String> {
    let line =
        Regex::new(r"(?m)^  +((?:-\w, )?--[a-z-]+(?: [A-Z\[][A-Za-z:\]]*(?: \.\.\.)?)?)(?:  +|$)")
            .expect("a valid pattern");
    let listed = help
        .split("\nOptions:\n")
        .nth(1)
        .expect("a list of options");
    let listed = listed.split("\n\n").next().unwrap_or(listed);
    line.captures_iter(listed)
        .map(|found| found[1].to_owned())
        .filter(|option| option != "-h, --help")
        .collect()
}

/// The commands that the help lists, with their help.
fn commands(dir: &Dir) -> BTreeMap<String, String> {
    let help = dir.run(&["--help"]);
    let listed = help.good().split("Commands:\n").nth(1).expect("a list");
    let names = listed.lines().take_while(|line| !line.is_empty());
    let names = names.filter_map(|line| line.split_whitespace().next());
    let text = |name: &str| dir.run(&[name, "--help"]).good().to_owned();
    let commands: BTreeMap<String, String> =
        names.map(|name| (name.to_owned(), text(name))).collect();
    assert!(commands.len() > 10, "{:?}", commands.keys());
    commands
}

#[test]
fn every_command_and_option_is_in_the_manual_and_no_other() {
    let dir = Dir::new();
    let pages = pages();
    let mut described: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, page) in pages.iter().filter(|(name, _)| name.ends_with(".1")) {
        for (command, part) in parts(page, "Ss") {
            let old = described.insert(command, options_of_page(part));
            assert!(
                old.is_none(),
                "{command} is in two pages, one of them {name}"
            );
        }
    }
    let commands = commands(&dir);
    let names: BTreeSet<&str> = commands.keys().map(String::as_str).collect();
    assert_eq!(described.keys().copied().collect::<BTreeSet<_>>(), names);
    for (command, help) in &commands {
        assert_eq!(
            described[command.as_str()],
            options_of_help(help),
            "options of {command}: in the manual, in the help"
        );
    }
    let help = dir.run(&["--help"]);
    let mut general = options_of_page(section(&pages["paneglass.1"], "OPTIONS"));
    assert!(general.remove("-h, --help"));
    assert_eq!(general, options_of_help(help.good()));
}

#[test]
fn the_synopsis_names_every_option() {
    for (name, page) in pages().iter().filter(|(name, _)| name.ends_with(".1")) {
        // paneglass.1 has one synopsis, and each of its commands begins with its own.
        let within = name == "paneglass.1";
        for (command, part) in parts(page, "Ss") {
            let synopsis = match within {
                true => part.split(".Pp\n").next().expect("a synopsis"),
                false => section(page, "SYNOPSIS"),
            };
            for option in options_of_page(part) {
                let long = option.split("--").nth(1).expect("a long option");
                let long = long.split(' ').next().unwrap_or(long);
                assert!(
                    synopsis.contains(&format!("Fl -{long}")),
                    "{name}: the synopsis of {command} lacks --{long}"
                );
            }
        }
    }
}

/// Names in capitals with our prefix.
fn variables(text: &str) -> BTreeSet<String> {
    let name = Regex::new(r"\bPANEGLASS_[A-Z][A-Z_]*[A-Z]\b").expect("a valid pattern");
    let found = name.find_iter(text);
    found.map(|found| found.as_str().to_owned()).collect()
}

#[test]
fn code_help_and_manual_have_the_same_variables() {
    let dir = Dir::new();
    let help = dir.run(&["--help"]);
    let listed = help.good().split("Environment:\n").nth(1).expect("a list");
    let listed: BTreeSet<String> = listed
        .lines()
        .filter(|line| line.starts_with("  PANEGLASS_"))
        .map(|line| line.trim().to_owned())
        .collect();
    let page = &pages()["paneglass.1"];
    let item = Regex::new(r"(?m)^\.It Ev (PANEGLASS_\w+)$").expect("a valid pattern");
    let described: BTreeSet<String> = item
        .captures_iter(section(page, "ENVIRONMENT"))
        .map(|found| found[1].to_owned())
        .collect();
    assert_eq!(described, listed, "in the manual, in the help");
    // What the program reads is what it lists; tests of it may set more.
    let mut read = BTreeSet::new();
    for path in sources(&root().join("src")) {
        let text = fs::read_to_string(&path).expect("a source");
        let code = text.split("#[cfg(test)]").next().unwrap_or(&text);
        read.extend(variables(code));
    }
    assert_eq!(read, listed, "in the code, in the help");
    for (name, page) in pages() {
        let named = variables(&page);
        assert!(named.is_subset(&listed), "{name} names {named:?}");
    }
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("a directory of sources");
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        match path.extension().and_then(|extension| extension.to_str()) {
            // Nothing but tests.
            None if path.ends_with("cases") => {}
            None if path.is_dir() => found.extend(sources(&path)),
            Some("rs") if !path.ends_with("tests.rs") => found.push(path),
            _ => {}
        }
    }
    found
}

/// What an item of paneglass-tools.7 has in its parentheses.
fn facts(schema: &Value, required: bool) -> String {
    let kind = schema["type"].as_str().expect("a type");
    let mut facts = vec![match kind {
        "array" => format!(
            "array of {}s",
            schema["items"]["type"].as_str().expect("a type")
        ),
        "object" if schema.get("properties").is_none() => "object of strings".to_owned(),
        kind => kind.to_owned(),
    }];
    if required {
        facts.push("required".to_owned());
    }
    if let Some(choice) = schema["enum"].as_array() {
        let names: Vec<&str> = choice.iter().filter_map(Value::as_str).collect();
        facts.push(format!("one of {}", names.join(" ")));
    }
    match (&schema["minimum"], &schema["maximum"]) {
        (Value::Null, Value::Null) => {}
        (least, Value::Null) => facts.push(format!("at least {least}")),
        (Value::Null, most) => facts.push(format!("at most {most}")),
        (least, most) => facts.push(format!("{least} to {most}")),
    }
    match &schema["default"] {
        Value::Null => {}
        Value::String(text) => facts.push(format!("default {text}")),
        other => facts.push(format!("default {other}")),
    }
    facts.join(", ")
}

/// The items that describe a schema's properties, and those of the objects in it.
fn items(schema: &Value, prefix: &str, mark: &str, into: &mut Vec<String>) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().expect("properties");
    for (name, property) in properties {
        // Whether a result always has a field is of no use to a reader.
        let must = mark == "Cm" && required.contains(&json!(name));
        into.push(format!(
            ".It {mark} {prefix}{name} Pq {}",
            facts(property, must)
        ));
        let (inner, joint) = match property["type"].as_str() {
            Some("array") => (&property["items"], "[]."),
            _ => (property, "."),
        };
        if inner.get("properties").is_some() {
            items(inner, &format!("{prefix}{name}{joint}"), mark, into);
        }
    }
}

fn items_of_tool(tool: &Value) -> Vec<String> {
    let mut want = Vec::new();
    items(&tool["inputSchema"], "", "Cm", &mut want);
    if let Some(result) = tool.get("outputSchema") {
        items(result, "", "Va", &mut want);
    }
    want
}

#[test]
fn every_tool_argument_and_limit_is_in_the_manual() {
    let page = &pages()["paneglass-tools.7"];
    let described: BTreeMap<&str, &str> = parts(page, "Ss").into_iter().collect();
    let server = Server::with(&["--devices"], None);
    let mut client = server.bridge(&[]);
    let list = client.request("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().expect("a list");
    assert!(tools.len() > 20, "{} tools", tools.len());
    let mut faults = String::new();
    for tool in tools {
        let name = tool["name"].as_str().expect("a name");
        let part = described.get(name).copied().unwrap_or_default();
        let have: Vec<&str> = part
            .lines()
            .filter(|line| line.starts_with(".It "))
            .collect();
        let want = items_of_tool(tool);
        if part.is_empty() || have != want {
            faults.push_str(&format!(
                "{name} needs\n{}\nbut has\n{}\n",
                want.join("\n"),
                have.join("\n")
            ));
        }
    }
    assert!(faults.is_empty(), "{faults}");
    let names: BTreeSet<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let extra: Vec<&&str> = described
        .keys()
        .filter(|name| **name != "Facts" && !names.contains(**name))
        .collect();
    assert!(extra.is_empty(), "no tools: {extra:?}");
}

#[test]
fn every_page_is_clean_and_fits_a_terminal() {
    if !have("every_page_is_clean_and_fits_a_terminal", "mandoc") {
        return;
    }
    let pages = pages();
    let bold = Regex::new(".\u{8}").expect("a valid pattern");
    let reference = Regex::new(r"(?m)^\.(?:Pq )?Xr (paneglass\S*) (\d)").expect("a valid pattern");
    for name in pages.keys() {
        let path = root().join("man").join(name);
        let run = |arguments: &[&str]| {
            let mut mandoc = Command::new("mandoc");
            let output = mandoc.args(arguments).arg(&path).output();
            let output = output.expect("mandoc is there");
            String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr)
        };
        assert_eq!(run(&["-T", "lint", "-W", "warning"]), "", "{name}");
        let shown = run(&["-T", "utf8", "-O", "width=78"]);
        for line in shown.lines() {
            let line = bold.replace_all(line, "");
            assert!(line.chars().count() <= COLUMNS, "{name}: {line}");
        }
        // A page that another names is there, unless it is another program's.
        for found in reference.captures_iter(&pages[name]) {
            let other = format!("{}.{}", &found[1], &found[2]);
            assert!(pages.contains_key(&other), "{name} refers to {other}");
        }
        // Every page leads on.
        assert!(pages[name].contains("\n.Sh SEE ALSO\n"), "{name}");
    }
}

#[test]
fn the_file_page_names_every_file_of_the_layout() {
    let layout = fs::read_to_string(root().join("src/store/layout.rs")).expect("the layout");
    let code = layout.split("#[cfg(test)]").next().unwrap_or(&layout);
    let name = Regex::new(r#"\.join\("([a-z.0-9-]+)"\)"#).expect("a valid pattern");
    let names: BTreeSet<String> = name
        .captures_iter(code)
        .map(|found| found[1].to_owned())
        .collect();
    assert!(names.len() > 15, "{names:?}");
    let page = &pages()["paneglass-log.5"];
    for name in names {
        let described = page
            .lines()
            .filter_map(|line| line.strip_prefix(".It Pa "))
            .flat_map(|line| line.split([' ', ',', '/']))
            .any(|word| word == name);
        assert!(described, "paneglass-log.5 lacks {name}");
    }
}

#[test]
fn examples_of_the_manual_name_commands_that_are_there() {
    let dir = Dir::new();
    let names: BTreeSet<String> = commands(&dir).into_keys().collect();
    let word =
        Regex::new(r"(?m)^(?:\.Dl |\.Ic |\.Ql )?paneglass ([a-z]+)\b").expect("a valid pattern");
    let mut count = 0;
    for (page, text) in pages() {
        for found in word.captures_iter(&text) {
            assert!(names.contains(&found[1]), "{page}: paneglass {}", &found[1]);
            count += 1;
        }
    }
    assert!(count > 15, "{count} commands");
}
