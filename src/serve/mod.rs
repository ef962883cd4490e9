//! Wiring: what is served, to whom, and in which order it ends.
#![forbid(unsafe_code)]

mod api;
pub mod bridge;
pub mod direct;
pub mod remote;
pub mod shared;
mod socket;
pub mod stdio;
pub mod token;
pub mod unit;

use std::path::PathBuf;
use std::time::Duration;

use crate::config::Config;
use crate::session::registry::Settings;
use crate::tools::{Options, Tools};

/// The tools as a configuration wants them; `socket` is where they are served to many.
pub fn tools(config: &Config, socket: Option<PathBuf>) -> Tools {
    Tools::new(Options {
        settings: Settings {
            home: config.home.clone(),
            binary: binary(),
            tmux: config.tmux.clone(),
            tmux_socket: config.tmux_socket.clone(),
            log_limit: config.log_limit,
            attach_prefix: config.attach_prefix.clone(),
            // systemd sets it for the processes of a service (systemd.exec(5)).
            apart: socket.is_some() && std::env::var_os("INVOCATION_ID").is_some(),
            socket,
            keep_closed_days: config.keep_closed_days,
            // Standard error is what a client or systemd keeps as the server's log.
            log: |line| eprintln!("paneglass: {line}"),
        },
        read_only: config.read_only,
        toolsets: config.toolsets.clone(),
        wait_most: Duration::from_millis(config.wait_max_ms),
        summary: config.summary,
    })
}

/// Devices come by the socket and by TCP, so only a server of many clients has their tools. What is to be said of that
/// where another is asked for them; an error where it is asked for nothing else.
pub fn without_devices(config: &Config) -> Result<Option<&'static str>, String> {
    let devices = |name: &String| name == "devices";
    if !config.toolsets.iter().any(devices) {
        return Ok(None);
    }
    match config.toolsets.iter().all(devices) {
        true => Err("the toolsets name only devices, whose tools `paneglass serve --devices` alone has: start that, or name terminal or programs too".into()),
        false => Ok(Some("the tools for devices are left out: `paneglass serve --devices` alone has them")),
    }
}

/// Where this process was started, for a server that was started elsewhere.
fn folder() -> Option<String> {
    std::env::current_dir().ok()?.to_str().map(str::to_owned)
}

/// This program, for panes to start again. Without a /proc the name it was called by must do.
pub fn binary() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| {
        std::env::args_os()
            .next()
            .unwrap_or_else(|| "paneglass".into())
            .into()
    })
}
