//! Constant memory and linear time, whatever comes.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::util::binary;

/// The address space that `cook` gets here: the program itself, and a few MB of data. 3 million lines, or one line
/// of 100 MB, do not fit.
const LIMIT_KB: u32 = 40 << 10;

/// What `cook` makes of `pieces`, written one after the other: its length, and its end.
fn bounded<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (u64, Vec<u8>) {
    // The shell sets the limit and becomes the program.
    let script = format!("ulimit -v {LIMIT_KB} && exec \"$0\" cook");
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .arg(binary())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sh starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    let reader = std::thread::spawn(move || {
        let (mut length, mut end, mut buffer) = (0, Vec::new(), vec![0; 1 << 16]);
        loop {
            let count = std::io::Read::read(&mut stdout, &mut buffer).expect("output");
            if count == 0 {
                return (length, end);
            }
            length += count as u64;
            end.extend_from_slice(&buffer[..count]);
            let extra = end.len().saturating_sub(200);
            end.drain(..extra);
        }
    });
    let mut stdin = child.stdin.take().expect("a pipe");
    for piece in pieces {
        if stdin.write_all(piece).is_err() {
            break;
        }
    }
    drop(stdin);
    let status = child.wait().expect("an end");
    assert!(status.success(), "within {LIMIT_KB} KB: {status}");
    reader.join().expect("the reader")
}

fn ends_with(got: (u64, Vec<u8>), length: u64, end: &str) {
    assert_eq!(got.0, length);
    assert!(
        got.1.ends_with(end.as_bytes()),
        "{:?}",
        String::from_utf8_lossy(&got.1)
    );
}

#[test]
fn many_lines() {
    let lines: String = (0..1000)
        .map(|i| format!("\x1b[32mline {i:03}\x1b[m\r\n"))
        .collect();
    ends_with(
        bounded((0..1000).map(|_| lines.as_bytes())),
        9 * 1_000_000,
        "line 999\n",
    );
}

#[test]
fn one_line() {
    let part = "0123456789".repeat(1000);
    ends_with(
        bounded((0..2000).map(|_| part.as_bytes())),
        20_000_001,
        "789\n",
    );
    // Blanks that may be the line's last are counted, not kept.
    let blanks = " ".repeat(10_000);
    let pieces = (0..1000).map(|_| blanks.as_bytes());
    ends_with(bounded(pieces.chain([b"x".as_slice()])), 10_000_002, " x\n");
}

#[test]
fn one_cell() {
    let marks = "\u{301}".repeat(1000);
    let pieces = [b"e".as_slice()]
        .into_iter()
        .chain((0..1000).map(|_| marks.as_bytes()));
    ends_with(bounded(pieces), 1 + 2 * 31 + 1, "\u{301}\n");
    // Clusters that are overwritten leave nothing behind.
    let over = "\rx\u{301}y\u{302}z".repeat(1000);
    ends_with(
        bounded((0..500).map(|_| over.as_bytes())),
        8,
        "x\u{301}y\u{302}z\n",
    );
}

#[test]
fn one_string() {
    let part = "x".repeat(100_000);
    for (begin, end) in [
        ("a\x1b]0;", "\x07b"),
        ("a\x1bPq", "\x1b\\b"),
        ("a\x1b_", "\x1b\\b"),
    ] {
        let pieces = [begin.as_bytes()].into_iter();
        let pieces = pieces
            .chain((0..100).map(|_| part.as_bytes()))
            .chain([end.as_bytes()]);
        ends_with(bounded(pieces), 3, "ab\n");
    }
    let parameters = "1;".repeat(50_000);
    let pieces = [b"a\x1b[".as_slice()].into_iter();
    ends_with(
        bounded(
            pieces
                .chain((0..50).map(|_| parameters.as_bytes()))
                .chain([b"mb".as_slice()]),
        ),
        3,
        "ab\n",
    );
}
