//! Benchmarks, run by hand: `cargo bench --bench bench -- NAME [arguments]`. Ratios in one run are what counts;
//! nothing here is a test.

mod agents;
mod inputs;
mod latency;
mod peers;
mod pickup;
mod shell;
mod term;
#[path = "../util/mod.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod util;
mod waiting;

use std::process::ExitCode;

fn main() -> ExitCode {
    // cargo adds an argument of its own.
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    match args.next().as_deref() {
        Some("agents") => agents::run(),
        Some("latency") => latency::run(),
        Some("pickup") => pickup::run(args),
        Some("shell") => {
            shell::run();
            ExitCode::SUCCESS
        }
        Some("term") => term::run(args),
        Some("waiting") => waiting::run(args),
        _ => {
            eprintln!(
                "usage: cargo bench --bench bench -- agents | latency | pickup [MEGABYTES] | shell | term [MEGABYTES] | waiting [silence]"
            );
            ExitCode::from(2)
        }
    }
}
