//! paneglass: real, lasting terminals for AI agents, over MCP.
//!
//! Modules in reading order; src/README.md is the map.

mod cli;
mod config;

mod mcp;
mod place;
mod proc;
mod sys;
mod term;

fn main() -> std::process::ExitCode {
    cli::main()
}
