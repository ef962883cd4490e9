//! `paneglass version`.

use std::process::ExitCode;

use crate::mcp::era;
use crate::term::width;
use crate::tmux::Tmux;

const HELP: &str = "\
Prints the version.

Usage:
  paneglass version [--verbose]

Examples:
  paneglass version --verbose

Options:
  -v, --verbose   also the protocol revisions and the tmux that is found
  -h, --help      this text
";

pub fn run(mut args: lexopt::Parser) -> ExitCode {
    let mut verbose = false;
    loop {
        match args.next() {
            Ok(None) => break,
            Ok(Some(lexopt::Arg::Short('v') | lexopt::Arg::Long("verbose"))) => verbose = true,
            Ok(Some(lexopt::Arg::Short('h') | lexopt::Arg::Long("help"))) => {
                return super::print(HELP);
            }
            Ok(Some(other)) => return super::wrong("paneglass version", other.unexpected()),
            Err(error) => return super::wrong("paneglass version", error),
        }
    }
    let mut text = format!("paneglass {}\n", env!("CARGO_PKG_VERSION"));
    if verbose {
        text.push_str(&format!(
            "MCP {}\n",
            era::LEGACY
                .iter()
                .chain(&era::MODERN)
                .copied()
                .collect::<Vec<_>>()
                .join(", ")
        ));
        let tmux = super::config().map(|config| Tmux::new(config.tmux, config.tmux_socket));
        let found = tmux.and_then(|tmux| tmux.version_text().map_err(|error| error.to_string()));
        text.push_str(&format!("{}\n", found.unwrap_or_else(|error| error)));
        text.push_str(&format!("Unicode {}\n", width::UNICODE));
    }
    super::print(&text)
}
