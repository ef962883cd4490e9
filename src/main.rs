//! paneglass: real, lasting terminals for AI agents, over MCP.
//!
//! Modules in reading order; src/README.md is the map.

mod cli;
mod config;

mod serve;

mod http;

mod devices;
mod guide;
mod mcp;
mod reply;
mod tools;

mod programs;
mod session;

mod place;
mod proc;
mod store;
mod sys;
mod term;
mod tmux;

fn main() -> std::process::ExitCode {
    cli::main()
}
