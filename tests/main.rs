//! The black-box suite: drives the real binary with real tmux and real shells.

mod cli;
mod protocol;
mod readme;
mod util;
