//! Environment and flags into one Config. No statics.
#![forbid(unsafe_code)]
