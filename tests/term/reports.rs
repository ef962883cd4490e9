//! What people have reported of tools that read terminals: each case, and the kind it stands for.

use super::{cook, sized};

#[track_caller]
fn check(cols: u16, rows: u16, bytes: impl AsRef<[u8]>, expected: &str) {
    let log = cook(bytes.as_ref(), &sized(cols, rows, &[]));
    assert_eq!(log, expected);
}

#[test]
fn progress_bars() {
    // Pasted over: only the last state is left, and what is longer is not cut.
    let mut bar = String::from("start\r\n");
    for percent in 0..=3000 {
        bar.push_str(&format!(
            "\r{:3}% {}",
            percent / 30,
            "#".repeat(percent / 100)
        ));
    }
    bar.push_str("\r\nend\r\n");
    check(
        80,
        24,
        &bar,
        &format!("start\n100% {}\nend\n", "#".repeat(30)),
    );
    // CR without an erase: a shorter text leaves the longer one's end, as on a screen.
    check(80, 24, "downloading 100%\rdone\r\n", "doneloading 100%\n");
    check(80, 24, "downloading 100%\r\x1b[Kdone\r\n", "done\n");
    check(80, 24, "downloading 100%\r\x1b[2Kdone\r\n", "done\n");
    check(80, 24, "12%\x08\x08\x08100%\r\n", "100%\n");
    check(
        80,
        24,
        "wait... |\x08/\x08-\x08\\\x08 \x08ok\r\n",
        "wait... ok\n",
    );
    // CR CR LF from a doubled translation.
    check(80, 24, "a\r\r\nb\r\r\r\nc\n", "a\nb\nc\n");
    // Backspaces over longer text, as a shell's line editor does.
    check(80, 24, "$ git statsu \x08\x08\x08us\r\n", "$ git status\n");
    check(
        80,
        24,
        "$ long command\x08\x1b[K\x08\x1b[K\x08\x1b[K\r\n",
        "$ long comm\n",
    );
}

#[test]
fn several_lines_of_progress() {
    // docker pull: up, erase, rewrite, down.
    let mut bytes = String::from("a: waiting\r\nb: waiting\r\nc: waiting\r\n");
    for i in 0..50 {
        let up = 3 - i % 3;
        let name = ['a', 'b', 'c'][i % 3];
        bytes.push_str(&format!("\x1b[{up}A\x1b[2K\r{name}: {i} kB\x1b[{up}B\r"));
    }
    bytes.push_str("done\r\n");
    check(80, 24, &bytes, "a: 48 kB\nb: 49 kB\nc: 47 kB\ndone\n");
    // More lines than the screen has: the top cannot be reached, and stays as it was.
    let mut bytes: String = (0..6).map(|i| format!("l{i}\r\n")).collect();
    bytes.push_str("\x1b[6A\x1b[2Kx\r\n");
    check(80, 4, &bytes, "l0\nl1\nl2\nx\nl4\nl5\n");
}

#[test]
fn shells() {
    // readline at the margin: wraps, goes back over it, redraws.
    let line = "0123456789".repeat(3);
    check(
        20,
        5,
        format!("$ {line}\r\nout\r\n"),
        &format!("$ {line}\nout\n"),
    );
    check(
        20,
        5,
        format!("$ {}\r\r\n", "x".repeat(18)),
        &format!("$ {}\n", "x".repeat(18)),
    );
    check(
        20,
        5,
        format!("$ {}a \rb\x08\r\n", "x".repeat(17)),
        &format!("$ {}ab\n", "x".repeat(17)),
    );
    check(
        20,
        5,
        format!("$ {}yz\x1b[A\x1b[10G!\r\n", "x".repeat(18)),
        &format!("$ {}!{}yz\n", "x".repeat(7), "x".repeat(10)),
    );
    // zsh's and fish's mark for output without a line break, at the margin or not.
    for (output, mark) in [("foo", "%"), ("", "%"), ("foo", "⏎")] {
        let blanks = " ".repeat(19);
        let bytes = format!("{output}\x1b[7m{mark}\x1b[27m{blanks}\r \r\x1b[K$ ls\r\n");
        let expected = if output.is_empty() {
            String::from("$ ls\n")
        } else {
            format!("{output}{mark}\n$ ls\n")
        };
        check(20, 5, bytes, &expected);
    }
}

#[test]
fn strings_and_links() {
    for end in ["\x07", "\x1b\\", "\x18", "\x1a", "\x1b[m"] {
        check(40, 4, format!("a\x1b]0;some title{end}b\r\n"), "ab\n");
        check(
            40,
            4,
            format!("see \x1b]8;id=1;https://example.org/x?y=1;2{end}the page\x1b]8;;{end}.\r\n"),
            "see the page.\n",
        );
    }
    // 0x9C inside of a title is part of a character.
    check(40, 4, "a\x1b]0;\u{15C}ü\x07b\r\n", "ab\n");
    check(
        40,
        4,
        "a\x1bP+q544e\x1b\\b\x1b_Gf=24;AAAA\x1b\\c\x1b^x\x1b\\d\x1bXy\x1b\\e\x1bktitle\x1b\\f\r\n",
        "abcdef\n",
    );
    check(40, 4, "a\x1bPq#0;2;0;0;0#0~~@@vv$-\x1b\\b\r\n", "ab\n");
    // One that never ends takes what follows, as on the screen; the lines before are kept.
    check(40, 4, "a\r\n\x1b]0;no end\r\nb\r\n", "a\n");
}

#[test]
fn characters() {
    check(
        40,
        4,
        "caf\u{e9} 漢字 🙂 e\u{301} 👩\u{200D}💻 🇯🇵\r\n",
        "caf\u{e9} 漢字 🙂 e\u{301} 👩\u{200D}💻 🇯🇵\n",
    );
    // Cut by a read: the filter reads again.
    check(
        40,
        4,
        "\x1b(0lqk\x1b(B\r\n\x1b(0mqj\x1b(B\r\n",
        "┌─┐\n└─┘\n",
    );
    // A wide character that does not fit at the edge leaves no blank in the line.
    let wide = "漢字かな".repeat(30);
    for cols in [2, 3, 5, 9, 10, 79, 80] {
        check(cols, 5, format!("{wide}\r\nx\r\n"), &format!("{wide}\nx\n"));
    }
}

#[test]
fn clear_in_the_middle() {
    for clear in [
        "\x1b[H\x1b[2J\x1b[3J",
        "\x1b[H\x1b[J",
        "\x1b[2J\x1b[H",
        "\x1bc",
        "\x1b[H\x1b[2J",
    ] {
        check(
            40,
            6,
            format!("make\r\nerror: x\r\n{clear}second\r\n"),
            "make\nerror: x\nsecond\n",
        );
    }
    check(40, 6, "\x1b[H\x1b[2Jfirst\r\n", "first\n");
}
