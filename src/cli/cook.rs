//! `paneglass cook`: the terminal engine as a filter.

use std::process::ExitCode;

pub fn run(_args: lexopt::Parser) -> ExitCode {
    ExitCode::from(2)
}
