//! `paneglass cook` as a filter in a pipe, and what its options change.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use super::{cook, sized};
use crate::util::binary;
use crate::util::dir::Running;

fn filter() -> Child {
    Command::new(binary())
        .arg("cook")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("paneglass starts")
}

#[test]
fn lines_come_while_the_recording_grows() {
    let mut running = Running(filter());
    let mut input = running.0.stdin.take().expect("a pipe");
    let mut output = BufReader::new(running.0.stdout.take().expect("a pipe"));
    for round in 0..3 {
        let lines: String = (0..100)
            .map(|n| format!("round {round} line {n}\r\n"))
            .collect();
        input.write_all(lines.as_bytes()).expect("it reads");
        let mut line = String::new();
        // What a screen of 24 rows can still change has not come yet.
        while line != format!("round {round} line 60\n") {
            line.clear();
            assert!(output.read_line(&mut line).expect("it writes") > 0);
        }
    }
    drop(input);
    assert!(running.0.wait().expect("our child").success());
    let last = output.lines().last().expect("the rest").expect("text");
    assert_eq!(last, "round 2 line 99");
}

#[test]
fn a_reader_that_has_enough_ends_it_quietly() {
    let mut running = Running(filter());
    let mut input = running.0.stdin.take().expect("a pipe");
    let mut output = BufReader::new(running.0.stdout.take().expect("a pipe"));
    let lines = "a line\r\n".repeat(10_000);
    input
        .write_all(&lines.as_bytes()[..1_000])
        .expect("it reads");
    output.read_line(&mut String::new()).expect("it writes");
    drop(output);
    while input.write_all(lines.as_bytes()).is_ok() {}
    assert!(running.0.wait().expect("our child").success());
}

#[test]
fn characters_as_a_tmux_of_that_version_has_them() {
    // A heart with VS16 is one column up to 3.3a and two from 3.4, so that the line wraps elsewhere.
    let bytes = "\u{2764}\u{FE0F}abc\x1b[1;4Hx".as_bytes();
    for (version, expected) in [
        ("3.3a", "\u{2764}\u{FE0F}abx\n"),
        ("3.4", "\u{2764}\u{FE0F}axc\n"),
    ] {
        for word in [version.to_owned(), format!("tmux {version}")] {
            assert_eq!(
                cook(bytes, &sized(20, 3, &["--tmux", &word])),
                expected,
                "{word}"
            );
        }
    }
}

#[test]
fn a_size_from_a_byte_on() {
    let bytes = b"0123456789abcde\r\nsecond";
    let narrow = sized(10, 4, &["--screen"]);
    assert_eq!(cook(bytes, &narrow), "0123456789\nabcde\nsecond\n");
    let wider = sized(10, 4, &["--screen", "--resize=17:40x4"]);
    assert_eq!(cook(bytes, &wider), "0123456789abcde\nsecond\n");
    // In the order of their bytes, however they are given. As in tmux, the rows that a narrower screen needs push the
    // first ones out of it, also where there are blank ones below.
    let twice = sized(10, 4, &["--screen", "--resize=17:8x4", "--resize=12:40x4"]);
    assert_eq!(cook(bytes, &twice), "89abcde\nsecond\n");
}
