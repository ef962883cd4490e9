//! `paneglass call`: one tool call from a shell or a script.

use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::flags::{Flag, Parsed, Syntax, Takes};
use crate::config::Config;
use crate::mcp::ToolResult;
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
A value is JSON when it reads as JSON, else a string.

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
    /// There is no such tool; these are there.
    Unknown(Vec<String>),
}

pub fn run(args: &Parsed) -> ExitCode {
    let Some((tool, pairs)) = args.words.split_first() else {
        return super::wrong(SYNTAX.command, "name a tool");
    };
    let mut arguments = Map::new();
    for pair in pairs {
        let Some((name, value)) = pair.split_once('=') else {
            return super::wrong(SYNTAX.command, format!("{pair:?} is not NAME=VALUE"));
        };
        arguments.insert(
            name.into(),
            serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.into())),
        );
    }
    let result = match super::config().and_then(|config| call(&config, tool, arguments)) {
        Ok(Called::Result(result)) => result,
        Ok(Called::Unknown(names)) => {
            let names = names.join(", ");
            return super::wrong(
                SYNTAX.command,
                format!("there is no tool {tool:?}; there are {names}"),
            );
        }
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

fn call(config: &Config, tool: &str, arguments: Map<String, Value>) -> Result<Called, String> {
    if let Some(mut remote) = Remote::find(config, AGENT) {
        let names = remote.tools()?;
        if !names.iter().any(|name| name == tool) {
            return Ok(Called::Unknown(names));
        }
        return remote.call(tool, arguments).map(Called::Result);
    }
    let direct = Direct::new(config, AGENT);
    let names = direct.tools().iter().map(|known| known.name.to_owned());
    if !direct.tools().iter().any(|known| known.name == tool) {
        return Ok(Called::Unknown(names.collect()));
    }
    Ok(Called::Result(direct.call(tool, arguments)))
}
