//! `paneglass shell`: prints the shell integration.

use std::process::ExitCode;

pub fn run(_args: lexopt::Parser) -> ExitCode {
    ExitCode::from(2)
}
