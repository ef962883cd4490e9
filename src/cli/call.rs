//! `paneglass call`: one tool call from a shell or a script.

use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::flags::{Flag, Parsed, Syntax, Takes};
use crate::config::Config;
use crate::mcp::ToolResult;
use crate::serve;
use crate::serve::direct::Direct;
use crate::serve::remote::Remote;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass call",
    about: "\
Calls one tool and prints its reply: through the server that runs (paneglass
serve), else by itself.",
    words: "TOOL [NAME=VALUE ...]",
    flags: &[Flag::new(
        "json",
        Takes::Nothing,
        "print the whole result as JSON, with the facts beside the text",
    )],
    notes: "\
Where the tool takes a string, a value is that string as it stands; else it is
JSON when it reads as JSON, and a string when it does not.

Exit status: 0, 1 when the tool answers with an error, 2 on wrong usage.",
    examples: &[
        "paneglass call session_create name=build",
        "paneglass call run session=build input='make -j4' timeout_s=600",
        "paneglass call search session=build pattern='error:' context=3",
        "paneglass call --json run session=build input='false | true'",
    ],
};

/// Who calls, as sessions name their agents.
const AGENT: &str = "call";

/// What came of a call.
enum Called {
    Result(ToolResult),
    /// There is no such tool: a sentence that says which there are.
    Unknown(String),
}

pub fn run(args: &Parsed) -> ExitCode {
    let Some((tool, pairs)) = args.words.split_first() else {
        return super::wrong(SYNTAX.command, "name a tool");
    };
    let mut words = Vec::new();
    for pair in pairs {
        let Some((name, value)) = pair.split_once('=') else {
            return super::wrong(SYNTAX.command, format!("{pair:?} is not NAME=VALUE"));
        };
        words.push((name, value));
    }
    let result = match super::config().and_then(|config| call(&config, tool, &words)) {
        Ok(Called::Result(result)) => result,
        Ok(Called::Unknown(error)) => return super::wrong(SYNTAX.command, error),
        Err(error) => return super::finish(SYNTAX.command, Err(error)),
    };
    let text = if args.has("json") {
        let mut whole = json!({ "text": result.text, "isError": result.is_error });
        let beside = [("facts", result.facts), ("record", result.structured)];
        for (name, value) in beside {
            if let Some(value) = value {
                whole[name] = value;
            }
        }
        format!("{whole}\n")
    } else {
        format!("{}\n", super::clean(&result.text))
    };
    let printed = super::print(&text);
    if result.is_error {
        ExitCode::FAILURE
    } else {
        printed
    }
}

fn call(config: &Config, tool: &str, words: &[(&str, &str)]) -> Result<Called, String> {
    if let Some(mut remote) = Remote::find(config, AGENT) {
        let tools = remote.tools()?;
        return match tools.iter().find(|(name, _)| name == tool) {
            Some((_, schema)) => remote
                .call(tool, arguments(words, schema))
                .map(Called::Result),
            None => {
                let names = tools.iter().map(|(name, _)| name.as_str());
                Ok(Called::Unknown(unknown(tool, names)))
            }
        };
    }
    let elsewhere = serve::without_devices(config)?;
    let direct = Direct::new(config, AGENT);
    let tools = direct.tools();
    if let Some(known) = tools.iter().find(|known| known.name == tool) {
        let arguments = arguments(words, &known.input_schema);
        return Ok(Called::Result(direct.call(tool, arguments)));
    }
    let names = tools.iter().map(|known| known.name);
    let error = unknown(tool, names);
    Ok(Called::Unknown(match elsewhere {
        Some(line) => format!("{error}; {line}"),
        None => error,
    }))
}

fn unknown<'a>(tool: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    format!("there is no tool {tool:?}; there are {}", names.join(", "))
}

/// The words of the command line as a tool takes them that has this schema.
fn arguments(words: &[(&str, &str)], schema: &Value) -> Map<String, Value> {
    let value = |name: &str, word: &str| match schema["properties"][name]["type"] == "string" {
        true => Value::String(word.into()),
        false => serde_json::from_str(word).unwrap_or_else(|_| Value::String(word.into())),
    };
    let pairs = words.iter();
    pairs
        .map(|&(name, word)| (name.to_owned(), value(name, word)))
        .collect()
}
