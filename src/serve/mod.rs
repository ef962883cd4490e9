//! Wiring: what is served, to whom, and in which order it ends.
#![forbid(unsafe_code)]

pub mod direct;
pub mod stdio;

use std::path::PathBuf;

use crate::config::Config;
use crate::session::registry::Settings;
use crate::tools::{Options, Tools};

/// The tools as a configuration wants them.
pub fn tools(config: &Config) -> Tools {
    Tools::new(Options {
        settings: Settings {
            home: config.home.clone(),
            binary: binary(),
            tmux: config.tmux.clone(),
            tmux_socket: config.tmux_socket.clone(),
            log_limit: config.log_limit,
            attach_prefix: config.attach_prefix.clone(),
            keep_closed_days: config.keep_closed_days,
            // Standard error is what a client or systemd keeps as the server's log.
            log: |line| eprintln!("paneglass: {line}"),
        },
        read_only: config.read_only,
        summary: config.summary,
    })
}

/// This program, for panes to start again. Without a /proc the name it was called by must do.
fn binary() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| {
        std::env::args_os()
            .next()
            .unwrap_or_else(|| "paneglass".into())
            .into()
    })
}
