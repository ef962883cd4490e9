//! Bytes to lines and screens. Pure: no time, files or threads.
#![forbid(unsafe_code)]
