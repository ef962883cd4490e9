//! Benchmarks, run by hand: `cargo bench --bench bench -- NAME [arguments]`. Ratios in one run are what counts;
//! nothing here is a test.

mod agents;
mod inputs;
mod latency;
mod peers;
mod term;
#[path = "../util/mod.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod util;

use std::process::ExitCode;

fn main() -> ExitCode {
    // cargo adds an argument of its own.
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    match args.next().as_deref() {
        Some("agents") => agents::run(),
        Some("latency") => latency::run(),
        Some("term") => term::run(args),
        _ => {
            eprintln!("usage: cargo bench --bench bench -- agents | latency | term [MEGABYTES]");
            ExitCode::from(2)
        }
    }
}
