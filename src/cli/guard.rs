//! `paneglass guard`: what `join` starts beside itself, to end what it would leave behind.

use std::process::ExitCode;

use crate::devices::device::guard;

pub fn run(_: lexopt::Parser) -> ExitCode {
    guard::run(std::io::stdin().lock());
    ExitCode::SUCCESS
}
