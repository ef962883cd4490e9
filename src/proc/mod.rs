//! /proc: parses bytes; must not know where they come from.
#![forbid(unsafe_code)]
