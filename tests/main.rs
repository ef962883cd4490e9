//! The black-box suite: drives the real binary with real tmux and real shells.

mod bad_input;
mod cli;
mod people;
mod programs_argv;
mod programs_ends;
mod programs_panes;
mod programs_stop;
mod programs_text;
mod protocol;
mod questions;
mod readme;
mod reports;
mod restart;
mod run;
mod sessions;
mod shell;
mod shells;
mod term;
mod typing;
mod util;
