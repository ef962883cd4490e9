//! The black-box suite: drives the real binary with real tmux and real shells.

mod advice;
mod bad_input;
mod cli;
mod guide;
mod people;
mod protocol;
mod questions;
mod readme;
mod reports;
mod restart;
mod retention;
mod run;
mod sessions;
mod shell;
mod shells;
mod summaries;
mod term;
mod typing;
mod util;
