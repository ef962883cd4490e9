//! What the black-box tests share.

pub mod client;
pub mod cost;
pub mod dir;
pub mod mix;
pub mod oracle;
pub mod podman;
pub mod pty;
pub mod reply;
pub mod server;
pub mod skip;
pub mod stored;

/// The binary under test: PANEGLASS_BIN when a packager sets it, else the one cargo built.
pub fn binary() -> std::path::PathBuf {
    std::env::var_os("PANEGLASS_BIN")
        .map(Into::into)
        .unwrap_or_else(|| env!("CARGO_BIN_EXE_paneglass").into())
}
