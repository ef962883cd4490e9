//! What the server teaches a model: Markdown texts, each written once, and what is made from them.
//!
//! Must not know how any of it is delivered.
#![forbid(unsafe_code)]

use serde_json::json;

/// Sent once, at the start of a connection. Some clients cut it at 2,048 characters.
pub const INSTRUCTIONS: &str = include_str!("instructions.md");

/// A text of the guide, which is a file of the skill as well.
#[derive(Debug)]
pub struct Topic {
    pub name: &'static str,
    /// For lists of topics.
    pub summary: &'static str,
    pub text: &'static str,
}

/// In the order in which a model comes to need them.
pub const TOPICS: &[Topic] = &[
    Topic {
        name: "patterns",
        summary: "habits from one-shot shell calls (pipes, redirects, sleep, nohup, echo $?), and what to do here",
        text: include_str!("patterns.md"),
    },
    Topic {
        name: "programs",
        summary: "debuggers, REPLs, questions, passwords, shells without exit statuses, stopping what runs",
        text: include_str!("programs.md"),
    },
    Topic {
        name: "output",
        summary: "time limits, long output, finding lines, views, log files",
        text: include_str!("output.md"),
    },
    Topic {
        name: "fullscreen",
        summary: "vim, less, top: keys, their order, screens",
        text: include_str!("fullscreen.md"),
    },
    Topic {
        name: "sharing",
        summary: "beside a person or another agent, other machines, what lasts",
        text: include_str!("sharing.md"),
    },
];

/// The skill's name, and the folder that it must have.
const SKILL: &str = "terminal-sessions";

/// A file to be written, its path from the folder that the user named.
#[derive(Debug, PartialEq, Eq)]
pub struct File {
    pub path: String,
    pub text: String,
}

/// One line for each topic.
pub fn topics() -> String {
    let line = |topic: &Topic| format!("- {}: {}\n", topic.name, topic.summary);
    TOPICS.iter().map(line).collect()
}

/// The skill: the instructions and the first topic in SKILL.md, which a model reads at once; a file for each other
/// topic, for when it is needed.
pub fn skill() -> Vec<File> {
    let (first, others) = TOPICS.split_at(1);
    let mut text = String::from(include_str!("skill.md"));
    text.push_str(INSTRUCTIONS);
    for topic in first {
        text.push('\n');
        text.push_str(topic.text);
    }
    text.push_str("\n## More\n\n");
    let reference = |topic: &Topic| format!("references/{}.md", topic.name);
    for topic in others {
        let path = reference(topic);
        text.push_str(&format!("- [{path}]({path}): {}\n", topic.summary));
    }
    let mut files = vec![File {
        path: format!("{SKILL}/SKILL.md"),
        text,
    }];
    files.extend(others.iter().map(|topic| File {
        path: format!("{SKILL}/{}", reference(topic)),
        text: topic.text.into(),
    }));
    files
}

/// A plugin as Claude Code takes it: its manifest, the server's entry, and the skill.
pub fn plugin() -> Vec<File> {
    let manifest = json!({
        "name": "paneglass",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Real, lasting terminals that a person can watch and type into, and how to work in them.",
        "author": { "name": "paneglass" },
        "license": "MIT",
    });
    let server = json!({
        "mcpServers": { "paneglass": { "type": "stdio", "command": "paneglass", "args": [] } },
    });
    let mut files = vec![
        File {
            path: ".claude-plugin/plugin.json".into(),
            text: format!("{manifest:#}\n"),
        },
        File {
            path: ".mcp.json".into(),
            text: format!("{server:#}\n"),
        },
    ];
    files.extend(skill().into_iter().map(|file| File {
        path: format!("skills/{}", file.path),
        ..file
    }));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_fit_every_client() {
        assert!(INSTRUCTIONS.chars().count() < 2_048);
    }

    #[test]
    fn topics_are_short_and_start_with_their_title() {
        for topic in TOPICS {
            let length = topic.text.chars().count();
            assert!((500..6_000).contains(&length), "{}: {length}", topic.name);
            assert!(topic.text.starts_with("# "), "{}", topic.name);
            assert!(topics().contains(topic.summary));
        }
    }

    #[test]
    fn the_skill_says_what_the_guide_says() {
        let files = skill();
        let whole = &files[0].text;
        // A skill's description has at most 1,024 characters; its name is its folder's.
        let (front, body) = whole
            .strip_prefix("---\n")
            .and_then(|rest| rest.split_once("\n---\n"))
            .unwrap();
        let field = |name: &str| front.lines().find_map(|line| line.strip_prefix(name));
        assert_eq!(field("name: "), Some(SKILL));
        let description = field("description: ").unwrap();
        assert!((50..1_024).contains(&description.chars().count()));
        assert!(
            !description.contains(": "),
            "YAML would take it for a mapping"
        );
        assert!(body.contains(INSTRUCTIONS) && body.contains(TOPICS[0].text));
        assert_eq!(files.len(), TOPICS.len());
        for (file, topic) in files[1..].iter().zip(&TOPICS[1..]) {
            assert_eq!(file.text, topic.text);
            let link = file.path.strip_prefix("terminal-sessions/").unwrap();
            assert!(body.contains(&format!("]({link})")), "{link}");
        }
    }
}
