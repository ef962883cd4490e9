//! Bytes to lines and screens: a terminal that keeps what it showed as plain lines. Pure: no time, files or
//! threads.
//!
//! [`Terminal`] takes the bytes that a pane printed. Rows that can no longer change leave it as text, line by line
//! (the cooked log); the rest is its screen. tmux is the reference for both: what tmux's grid would hold is right.
#![forbid(unsafe_code)]

mod checkpoint;
pub(crate) mod codec;
mod cooked;
mod edit;
mod flow;
mod fullscreen;
mod grid;
pub mod keys;
mod markers;
mod marks;
mod params;
mod parser;
mod perform;
mod plain;
mod print;
mod reading;
mod reflow;
mod row;
mod scan;
mod screen;
mod sequences;
mod step;
mod terminal;
#[cfg(test)]
pub(crate) mod tests;
mod utf8;
pub mod width;
mod width_table;
mod zones;

pub use cooked::Position;
pub use markers::{Marker, MarkerKind};
pub use marks::MarkId;
pub use plain::Plain;
pub use terminal::{Event, Options, Output, Terminal};
