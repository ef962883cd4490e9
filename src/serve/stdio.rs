//! One client over standard input and output.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::Arc;

use crate::config::Config;
use crate::mcp;
use crate::sys::fd;
use crate::sys::poll::{Interest, poll};
use crate::sys::stop::StopSignals;

/// Serves until the input ends or a signal asks to stop. Sessions live on in tmux.
pub fn serve(config: &Config) -> Result<(), String> {
    let fail = |error: io::Error| format!("cannot start: {error}");
    let signals = StopSignals::catch().map_err(fail)?;
    let output = fd::take_stdout().map_err(fail)?;
    let input = io::stdin().as_fd().try_clone_to_owned().map_err(fail)?;
    let reader = UntilStopped {
        input: File::from(input),
        signals,
    };
    let tools = Arc::new(super::tools(config));
    let (_stop, never) = crossbeam_channel::bounded(0);
    let served = mcp::serve_lines(reader, output, tools, &never);
    served.map(drop).map_err(|error| error.to_string())
}

/// Standard input, which ends early when the process is asked to stop.
struct UntilStopped {
    input: File,
    signals: StopSignals,
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
