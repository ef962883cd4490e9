//! The README says what is so: its commands run, its snippets parse, its tables and its transcript are the
//! program's own.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;
use serde_json::{Value, json};

use crate::util::binary;
use crate::util::client::Client;
use crate::util::dir::{Dir, Ran};
use crate::util::skip::have;

const README: &str = include_str!("../README.md");
const MAP: &str = include_str!("../src/README.md");

/// The fenced blocks of a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("\n```{language}\n");
    let found: Vec<&str> = README
        .split(fence.as_str())
        .skip(1)
        .map(|rest| rest.split("\n```").next().unwrap_or(rest))
        .collect();
    assert!(!found.is_empty(), "no block of {language}");
    found
}

/// The first cells of the table under a heading that starts so.
fn table(heading: &str) -> Vec<String> {
    let section = README.split("\n## ").find(|part| part.starts_with(heading));
    let cell = |row: &str| {
        let cell = row.strip_prefix("| `")?.split('`').next()?;
        Some(cell.to_owned())
    };
    let cells: Vec<String> = section
        .unwrap_or_else(|| panic!("no section {heading}"))
        .lines()
        .filter_map(cell)
        .collect();
    assert!(!cells.is_empty(), "no table under {heading}");
    cells
}

/// Commands that the test runs itself: those of the program.
fn is_ours(command: &str) -> bool {
    command.starts_with("paneglass ")
}

/// Runs a line as a reader would: with `paneglass` on the PATH and nothing set.
fn type_line(dir: &Dir, line: &str) -> Ran {
    let folder = dir.path().join("bin");
    if !folder.exists() {
        fs::create_dir(&folder).expect("the test's own directory");
        std::os::unix::fs::symlink(binary(), folder.join("paneglass")).expect("just made");
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = dir.command("sh");
    shell
        .args(["-c", line])
        .env("PATH", format!("{}:{path}", folder.display()))
        .env_remove("PANEGLASS_HOME");
    dir.end(shell, line)
}

#[test]
fn every_command_is_run_by_ci_or_here() {
    let commands: Vec<&str> = blocks("sh").into_iter().flat_map(str::lines).collect();
    // A package does not have it.
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/run");
    let Ok(script) = fs::read_to_string(script) else {
        println!("SKIP every_command_is_run_by_ci_or_here: .ci/run");
        return;
    };
    for command in commands.iter().filter(|command| !is_ours(command)) {
        assert!(
            script.lines().any(|line| line == *command),
            "nothing runs {command}"
        );
    }
}

#[test]
fn the_programs_commands_work_in_order() {
    if !have("the_programs_commands_work_in_order", "tmux") {
        return;
    }
    let dir = Dir::new();
    let commands: Vec<&str> = blocks("sh")
        .into_iter()
        .flat_map(str::lines)
        .filter(|command| is_ours(command))
        .collect();
    assert!(commands.len() > 5, "{commands:?}");
    for command in commands {
        type_line(&dir, command).good();
    }
    // The last one deletes what the others made.
    assert_eq!(type_line(&dir, "paneglass list").good(), "no sessions\n");
}

#[test]
fn commands_in_the_text_exist() {
    let dir = Dir::new();
    let inline = Regex::new("`paneglass ([a-z]+)[^`]*`").expect("a valid pattern");
    let named: BTreeSet<&str> = inline
        .captures_iter(README)
        .map(|found| found.extract::<1>().1[0])
        .collect();
    assert!(named.len() > 4, "{named:?}");
    for name in named {
        dir.run(&[name, "--help"]).good();
    }
}

#[test]
fn snippets_name_the_binary() {
    let entry = |servers: &Value| {
        let server = &servers["paneglass"];
        assert_eq!(server["command"], "paneglass", "{servers}");
        assert_eq!(server["args"], json!([]), "{servers}");
    };
    for block in blocks("json") {
        let value: Value =
            serde_json::from_str(block).unwrap_or_else(|error| panic!("{error}: {block}"));
        let servers = value.get("mcpServers").or_else(|| value.get("servers"));
        entry(servers.unwrap_or_else(|| panic!("no servers in {block}")));
    }
    for block in blocks("toml") {
        // One table of plain values, which TOML spells as JSON does.
        let mut lines = block.lines();
        assert_eq!(lines.next(), Some("[mcp_servers.paneglass]"));
        let mut server = json!({});
        for line in lines {
            let (key, value) = line.split_once(" = ").expect("key = value");
            server[key] = serde_json::from_str(value).expect("a plain value");
        }
        entry(&json!({ "paneglass": server }));
    }
    for block in blocks("yaml") {
        for line in [
            "  paneglass:",
            "    cmd: paneglass",
            "    args: []",
            "    type: stdio",
        ] {
            assert!(
                block.lines().any(|found| found == line),
                "{line} in {block}"
            );
        }
    }
}

#[test]
fn the_table_of_tools_is_the_list_of_tools() {
    let mut client = Client::start();
    let list = client.request("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().expect("a list").iter();
    let names: Vec<String> = tools
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect();
    assert_eq!(table("Tools"), names);
}

#[test]
fn the_table_of_variables_is_the_helps() {
    let dir = Dir::new();
    let help = dir.run(&["--help"]);
    let listed = help.good().split("Environment:\n").nth(1).expect("a list");
    let names: Vec<&str> = listed
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("PANEGLASS_") && !line.contains(' '))
        .collect();
    assert_eq!(table("Environment variables"), names);
}

#[test]
fn the_table_of_files_names_every_file() {
    if !have("the_table_of_files_names_every_file", "tmux") {
        return;
    }
    let dir = Dir::new();
    for line in [
        "paneglass call session_create name=build",
        // Enough for a checkpoint.
        "paneglass call run session=build input='seq 1 20000'",
        "paneglass call session_close session=build",
        "paneglass token",
        "paneglass logs keep build",
        "paneglass call session_create name=gone",
        "paneglass call session_close session=gone",
        "paneglass logs delete gone",
        "paneglass call session_create name=open delete_logs_on_close=true",
    ] {
        type_line(&dir, line).good();
    }
    let root = dir.path().join(".local/state/paneglass");
    let named = table("What is stored where");
    let mut left = vec![root.clone()];
    let mut seen = BTreeSet::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a directory of the state");
            left.extend(entries.map(|entry| entry.expect("an entry").path()));
            continue;
        }
        let name = path.strip_prefix(&root).expect("within the state");
        let name = name
            .display()
            .to_string()
            .replace("sessions/build/", "sessions/NAME/")
            .replace("sessions/open/", "sessions/NAME/");
        let row = named
            .iter()
            .find(|row| **row == name || (row.ends_with('/') && name.starts_with(*row)));
        seen.insert(row.unwrap_or_else(|| panic!("{name} is in no row of {named:?}")));
    }
    assert_eq!(seen.len(), named.len(), "{seen:?} are there of {named:?}");
}

#[test]
fn the_transcript_is_what_demo_prints() {
    if !have("the_transcript_is_what_demo_prints", "tmux") {
        return;
    }
    let steady = |text: &str| {
        let name = Regex::new("paneglass-demo-[0-9a-f]{8}").expect("a valid pattern");
        let time = Regex::new(r"· \d+\.\d+ s").expect("a valid pattern");
        let text = name.replace_all(text, "paneglass-demo-NAME");
        time.replace_all(&text, "· TIME").into_owned()
    };
    let dir = Dir::new();
    let mut demo = dir.command(binary());
    // As for a reader: the attach line names what of this is set.
    demo.arg("demo")
        .env_remove("TMUX_TMPDIR")
        .env_remove("PANEGLASS_SOCKET");
    let shown = dir.end(demo, "paneglass demo");
    let shown = steady(shown.good());
    for step in blocks("text")[0].split("\n\n") {
        let step = steady(step);
        assert!(
            shown.contains(&format!("{step}\n")),
            "paste what `paneglass demo` prints: it no longer says\n{step}\nbut\n{shown}"
        );
    }
}

#[test]
fn links_and_the_map_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let link = Regex::new(r"\]\(([^)#:]+)\)").expect("a valid pattern");
    for found in link.captures_iter(README) {
        assert!(root.join(&found[1]).exists(), "{}", &found[1]);
    }
    // A path of the map is relative to src, or to the package when it starts so.
    let path = Regex::new(r"`([a-z_./-]*(?:/|\.rs|\.md))`").expect("a valid pattern");
    let mut count = 0;
    for found in path.captures_iter(MAP) {
        let name = &found[1];
        assert!(
            root.join("src").join(name).exists() || root.join(name).exists(),
            "src/README.md names {name}"
        );
        count += 1;
    }
    assert!(count > 20, "{count} paths in the map");
    // Each top module has its place in the map.
    let main = fs::read_to_string(root.join("src/main.rs")).expect("the crate's root");
    let module = Regex::new(r"(?m)^mod (\w+);").expect("a valid pattern");
    for found in module.captures_iter(&main) {
        let name = &found[1];
        assert!(
            MAP.contains(&format!("`{name}/`")) || MAP.contains(&format!("`{name}.rs`")),
            "{name} is not in src/README.md"
        );
    }
}
