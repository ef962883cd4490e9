//! `paneglass shell`: prints a script of the shell integration, or writes all its files.

use super::flags::{Flag, Syntax, Takes};
use crate::place::files::{self, Shell};
use lexopt::prelude::*;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass shell",
    about: "\
Prints the script of the shell integration that a running shell sources, or
writes all its files.",
    words: "bash|zsh|fish",
    flags: &[Flag::new(
        "dir",
        Takes::Value("DIR"),
        "write all files there, in place of printing one; made\nwhen it is not there",
    )],
    notes: "\
The integration marks prompts, commands and their exit status for paneglass. It
prints nothing unless the variable __PANEGLASS_NONCE is set and the shell runs
on the session's own terminal.",
    examples: &[
        "paneglass shell bash | less",
        "paneglass shell --dir ~/.local/share/paneglass/v1",
    ],
};

enum Job {
    Help,
    Print(Shell),
    Write(PathBuf),
}

/// Runs the command: exit code 0, 1 when the files could not be written, 2 on wrong usage.
pub fn run(args: lexopt::Parser) -> ExitCode {
    let done = match parse(args) {
        Ok(Job::Help) => print(&SYNTAX.help()),
        Ok(Job::Print(Shell::Bash)) => print(files::bash()),
        Ok(Job::Print(Shell::Zsh)) => print(files::zsh()),
        Ok(Job::Print(Shell::Fish)) => print(files::fish()),
        Ok(Job::Write(dir)) => match files::write(&dir) {
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        },
        Err(error) => {
            eprintln!("paneglass shell: {error}; see paneglass shell --help");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("paneglass shell: {error}");
            ExitCode::FAILURE
        }
    }
}

fn print(text: &str) -> Result<(), String> {
    match io::stdout().write_all(text.as_bytes()) {
        // `paneglass shell bash | head` has what it wants.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        done => done.map_err(|error| format!("cannot write to standard output: {error}")),
    }
}

fn parse(mut args: lexopt::Parser) -> Result<Job, lexopt::Error> {
    let mut job = None;
    while let Some(arg) = args.next()? {
        let next = match arg {
            Short('h') | Long("help") => return Ok(Job::Help),
            Long("dir") => Job::Write(args.value()?.into()),
            Value(name) => Job::Print(shell(name)?),
            _ => return Err(arg.unexpected()),
        };
        if job.replace(next).is_some() {
            return Err("give one shell, or --dir".into());
        }
    }
    job.ok_or_else(|| "name a shell (bash, zsh or fish), or give --dir".into())
}

fn shell(name: OsString) -> Result<Shell, lexopt::Error> {
    let name = name.string()?;
    Shell::named(&name).ok_or_else(|| {
        format!("no integration for {name:?}; there are those for bash, zsh and fish").into()
    })
}
