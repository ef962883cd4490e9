//! The black-box suite: drives the real binary with real tmux and real shells.

mod bad_input;
mod cases;
mod cli;
mod expect;
mod fullscreen;
mod lines;
mod people;
mod programs;
mod protocol;
mod questions;
mod readme;
mod reports;
mod restart;
mod run;
mod save;
mod send;
mod sessions;
mod shell;
mod shells;
mod term;
mod typing;
mod util;
mod windows;
