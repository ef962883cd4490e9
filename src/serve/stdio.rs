//! One client over standard input and output.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::Arc;

use super::bridge::Bridge;
use super::shared;
use crate::config::Config;
use crate::mcp;
use crate::sys::fd;
use crate::sys::poll::{Interest, poll};
use crate::sys::stop::StopSignals;

/// Serves until the input ends or a signal asks to stop. Sessions live on in tmux. Where a server of many clients has
/// the state directory already, the client is carried to it, of which `say` is told; without `bridge` that is an
/// error. `toolsets` stand in place of the configuration's, where this serves them itself.
pub fn serve(
    mut config: Config,
    toolsets: Option<Vec<String>>,
    bridge: bool,
    say: impl Fn(&str),
) -> Result<(), String> {
    if let Some(socket) = shared::running(&config) {
        if !bridge {
            return Err(format!(
                "a server has the state directory {} and serves {}; without --no-bridge this becomes a bridge to it",
                config.home.display(),
                socket.display()
            ));
        }
        say(&format!(
            "a server of many clients runs: this is a bridge to it, at {}",
            socket.display()
        ));
        if toolsets.is_some() {
            say("--toolsets has no effect: that server has tools of its own");
        }
        return Bridge::new(socket, None).run(say);
    }
    config.toolsets = toolsets.unwrap_or(config.toolsets);
    if let Some(line) = super::without_devices(&config)? {
        say(line);
    }
    let fail = |error: io::Error| format!("cannot start: {error}");
    let output = fd::take_stdout().map_err(fail)?;
    let reader = UntilStopped::stdin().map_err(fail)?;
    let tools = Arc::new(super::tools(&config, None));
    let (_stop, never) = crossbeam_channel::bounded(0);
    let served = mcp::serve_lines(reader, output, tools, &never);
    served.map(drop).map_err(|error| error.to_string())
}

/// Standard input, which ends early when the process is asked to stop.
pub struct UntilStopped {
    input: File,
    signals: StopSignals,
}

impl UntilStopped {
    /// To be called once: from then on the signals are caught.
    pub fn stdin() -> io::Result<UntilStopped> {
        let signals = StopSignals::catch()?;
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(UntilStopped {
            input: File::from(input),
            signals,
        })
    }
}

impl Read for UntilStopped {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let watched = [
            (self.signals.as_fd(), Interest::Read),
            (self.input.as_fd(), Interest::Read),
        ];
        match poll(&watched, None)?.as_slice() {
            [true, ..] => Ok(0),
            _ => self.input.read(buffer),
        }
    }
}
