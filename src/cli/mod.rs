//! The command line. Knows flags and words; must not know how a tool works.
#![forbid(unsafe_code)]

mod cook;
mod launch;
mod shell;
mod tap;

use std::process::ExitCode;

/// Runs the command that the arguments name and returns its exit code (0, 1 failure, 2 usage).
pub fn main() -> ExitCode {
    let mut parser = lexopt::Parser::from_env();
    let command = match parser.next() {
        Ok(Some(lexopt::Arg::Value(value))) => value.to_string_lossy().into_owned(),
        _ => String::new(),
    };
    match command.as_str() {
        "cook" => cook::run(parser),
        "launch" => launch::run(parser),
        "tap" => tap::run(parser),
        "shell" => shell::run(parser),
        _ => {
            eprintln!("paneglass: no command");
            ExitCode::from(2)
        }
    }
}
