//! `paneglass call`: one tool call from a shell or a script.

use std::process::ExitCode;

use serde_json::{Map, Value, json};

use crate::serve::direct::Direct;

const HELP: &str = "\
Calls one tool and prints its reply.

Usage:
  paneglass call [--json] TOOL [NAME=VALUE ...]

A value is JSON when it reads as JSON, else a string.

Options:
      --json      print the whole result as JSON, with the facts beside the text
  -h, --help      this text

Exit status: 0, 1 when the tool answers with an error, 2 on wrong usage.

Examples:
  paneglass call session_create name=build
  paneglass call run session=build input='make -j4' timeout_s=600
  paneglass call search session=build pattern='error:' context=3
  paneglass call --json run session=build input='false | true'
";

pub fn run(mut args: lexopt::Parser) -> ExitCode {
    let mut words = Vec::new();
    let mut as_json = false;
    loop {
        match args.next() {
            Ok(None) => break,
            Ok(Some(lexopt::Arg::Long("json"))) => as_json = true,
            Ok(Some(lexopt::Arg::Short('h') | lexopt::Arg::Long("help"))) => {
                return super::print(HELP);
            }
            Ok(Some(lexopt::Arg::Value(word))) => words.push(word.to_string_lossy().into_owned()),
            Ok(Some(other)) => return super::wrong("paneglass call", other.unexpected()),
            Err(error) => return super::wrong("paneglass call", error),
        }
    }
    let Some((tool, pairs)) = words.split_first() else {
        return super::wrong("paneglass call", "name a tool");
    };
    let mut arguments = Map::new();
    for pair in pairs {
        let Some((name, value)) = pair.split_once('=') else {
            return super::wrong("paneglass call", format!("{pair:?} is not NAME=VALUE"));
        };
        arguments.insert(
            name.into(),
            serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.into())),
        );
    }
    let config = match super::config() {
        Ok(config) => config,
        Err(error) => return super::finish("paneglass call", Err(error)),
    };
    let direct = Direct::new(&config, "call");
    if !direct.tools().iter().any(|known| known.name == tool) {
        let names: Vec<&str> = direct.tools().iter().map(|tool| tool.name).collect();
        return super::wrong(
            "paneglass call",
            format!("there is no tool {tool:?}; there are {}", names.join(", ")),
        );
    }
    let result = direct.call(tool, arguments);
    let text = if as_json {
        let whole =
            json!({ "text": result.text, "isError": result.is_error, "facts": result.facts });
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
