//! `paneglass cook`: the terminal engine as people meet it.

mod filter;
mod limits;
mod random;
mod recorded;
mod reports;
mod resized;

use std::io::Write;
use std::process::{Command, Stdio};

use crate::util::binary;

/// The engine's answer: bytes through `paneglass cook`.
pub fn cook(input: &[u8], args: &[String]) -> String {
    let mut command = Command::new(binary());
    command
        .arg("cook")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("paneglass starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // Both pipes may fill: write from a thread.
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("paneglass ends");
    let _ = writer.join();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "cook {args:?}: {} {error}",
        output.status
    );
    String::from_utf8(output.stdout).expect("UTF-8")
}

pub fn sized(cols: u16, rows: u16, more: &[&str]) -> Vec<String> {
    let mut args = vec![format!("--cols={cols}"), format!("--rows={rows}")];
    args.extend(more.iter().map(|arg| arg.to_string()));
    args
}

/// Without the lines that the log has and tmux's grid cannot have.
pub fn without_notes(text: &str) -> String {
    text.split('\n')
        .filter(|line| !line.starts_with("[full-screen program"))
        .collect::<Vec<_>>()
        .join("\n")
}
