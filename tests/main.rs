//! The black-box suite: drives the real binary with real tmux and real shells.

mod protocol;
mod restart;
mod run;
mod sessions;
mod shell;
mod term;
mod util;
