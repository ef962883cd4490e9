//! The black-box suite: drives the real binary with real tmux and real shells.

mod bad_input;
mod bridge;
mod cli;
mod devices;
mod gate;
mod http;
mod people;
mod protocol;
mod questions;
mod readme;
mod reports;
mod restart;
mod run;
mod serve;
mod sessions;
mod shell;
mod shells;
mod term;
mod typing;
mod util;
mod windows;
