//! The guide, the skill and the plugin are the same texts, name only what is there, and fit every client.

mod claims;

use std::collections::BTreeSet;
use std::fs;

use regex::Regex;
use serde_json::{Value, json};

use crate::util::client::Client;
use crate::util::dir::Dir;

const TOPICS: [&str; 5] = ["patterns", "programs", "output", "fullscreen", "sharing"];

/// Tools and parameters that the texts speak of and this tree may not have yet.
const LATER: [&str; 9] = [
    "expect",
    "respond",
    "save_to",
    "signal",
    "screen",
    "prompt_pattern",
    "shell_integrate",
    "ssh",
    "typing",
];

/// What the server says at the start of a connection.
fn instructions(client: &mut Client) -> String {
    let client_info = json!({"name": "black-box", "version": "1"});
    let hello =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client_info});
    let server = client.request("initialize", hello);
    let text = server["result"]["instructions"].as_str();
    text.expect("instructions").to_owned()
}

#[test]
fn the_tool_gives_what_the_skill_has() {
    let mut client = Client::start();
    let instructions = instructions(&mut client);
    let list = client.text("guide", json!({}));
    let dir = Dir::new();
    let written = dir.run(&["skill", "skills"]);
    assert_eq!(written.good().lines().count(), TOPICS.len());
    let root = dir.path().join("skills/terminal-sessions");
    let skill = fs::read_to_string(root.join("SKILL.md")).expect("the skill");
    for topic in TOPICS {
        let text = client.text("guide", json!({"topic": topic}));
        assert!(list.contains(&format!("- {topic}: ")), "{list}");
        if topic == "patterns" {
            assert!(skill.contains(&text), "{topic}");
        } else {
            let file = root.join(format!("references/{topic}.md"));
            assert_eq!(
                fs::read_to_string(file).expect("a reference").trim_end(),
                text
            );
        }
    }
    assert!(skill.contains(&instructions));
    let unknown = client.tool("guide", json!({"topic": "cooking"}));
    assert!(
        unknown.is_error && unknown.text.contains("must be one of patterns, programs"),
        "{}",
        unknown.text
    );
}

#[test]
fn texts_are_under_the_limits_of_clients() {
    // The limit on the whole is the terminal tools'.
    let mut client = Client::start_with(&[("PANEGLASS_TOOLSETS", "terminal")]);
    let instructions = instructions(&mut client);
    assert!(instructions.chars().count() < 2_048);
    let list = client.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in list.as_array().expect("a list") {
        let description = tool["description"].as_str().expect("a description");
        assert!(
            (50..2_048).contains(&description.chars().count()),
            "{}",
            tool["name"]
        );
        for (name, property) in tool["inputSchema"]["properties"]
            .as_object()
            .expect("properties")
        {
            assert!(
                property["description"].is_string(),
                "{}: {name}",
                tool["name"]
            );
        }
    }
    assert!(
        list.to_string().len() < 24 * 1024,
        "{}",
        list.to_string().len()
    );
}

/// Every tool, parameter and command that the texts name is there.
#[test]
fn texts_name_only_what_is_there() {
    let mut client = Client::legacy("2025-11-25");
    let list = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let mut known: BTreeSet<String> = LATER.iter().map(|name| (*name).to_owned()).collect();
    for tool in list.as_array().expect("a list") {
        known.insert(tool["name"].as_str().unwrap_or_default().to_owned());
        let properties = tool["inputSchema"]["properties"]
            .as_object()
            .expect("properties");
        known.extend(properties.keys().cloned());
    }
    let parameter = Regex::new(r"\b([a-z_]+)=").expect("a valid pattern");
    let tool = Regex::new(r"`([a-z]+_[a-z_]+|run|wait|send|read|search|regions|expect|guide)`")
        .expect("a valid pattern");
    let command = Regex::new(r"`paneglass ([a-z]+)").expect("a valid pattern");
    let code = Regex::new("`[^`]+`").expect("a valid pattern");
    let commands = Dir::new().run(&["--help"]).good().to_owned();
    for topic in TOPICS {
        let text = client.text("guide", json!({"topic": topic}));
        for code in code.find_iter(&text).map(|found| found.as_str()) {
            for name in parameter
                .captures_iter(code)
                .map(|found| found[1].to_owned())
            {
                assert!(known.contains(&name), "{topic}: {name} in {code}");
            }
        }
        for name in tool.captures_iter(&text).map(|found| found[1].to_owned()) {
            assert!(known.contains(&name), "{topic}: {name}");
        }
        for name in command
            .captures_iter(&text)
            .map(|found| found[1].to_owned())
        {
            let there =
                commands.contains(&format!("\n  {name} ")) || LATER.contains(&name.as_str());
            assert!(there, "{topic}: paneglass {name}");
        }
    }
}

#[test]
fn the_plugin_is_laid_out_as_documented() {
    let dir = Dir::new();
    dir.run(&["skill", "plugin", "--plugin"]).good();
    let root = dir.path().join("plugin");
    let json = |path: &str| -> Value {
        let text = fs::read_to_string(root.join(path)).expect("a file of the plugin");
        serde_json::from_str(&text).expect("JSON")
    };
    let manifest = json(".claude-plugin/plugin.json");
    assert_eq!(manifest["name"], "paneglass");
    let version = manifest["version"].as_str().expect("a version");
    assert!(
        version.split('.').count() == 3
            && version.split('.').all(|part| part.parse::<u32>().is_ok())
    );
    assert!(manifest["description"].is_string() && manifest["author"]["name"].is_string());
    // Only the manifest is in that folder; the rest stands beside it.
    assert_eq!(
        fs::read_dir(root.join(".claude-plugin"))
            .expect("a folder")
            .count(),
        1
    );
    let server = &json(".mcp.json")["mcpServers"]["paneglass"];
    assert_eq!(
        (&server["command"], &server["args"]),
        (&json!("paneglass"), &json!([]))
    );
    let skill = root.join("skills/terminal-sessions/SKILL.md");
    let text = fs::read_to_string(&skill).expect("the skill");
    assert!(text.starts_with("---\nname: terminal-sessions\ndescription: "));
    let link = Regex::new(r"\]\(([^)]+)\)").expect("a valid pattern");
    let links: Vec<String> = link
        .captures_iter(&text)
        .map(|found| found[1].to_owned())
        .collect();
    assert_eq!(links.len(), TOPICS.len() - 1);
    for link in links {
        assert!(skill.with_file_name("").join(&link).exists(), "{link}");
    }
    // Written again, it is the same; a place that cannot be written to is said in one line.
    dir.run(&["skill", "plugin", "--plugin"]).good();
    assert!(
        dir.run(&["skill", "/proc/none"])
            .bad(1)
            .contains("cannot write /proc/none/")
    );
    assert!(dir.run(&["skill"]).bad(2).contains("name one directory"));
}
