//! The cooked log: deviations from tmux, regions, full-screen programs, prompts, marks.

use super::super::{Event, MarkerKind, Position};
use super::{Told, check, marker, options};

#[test]
fn lines_as_a_filter_gives_them() {
    check(10, 4, "", "");
    check(10, 4, "a", "a\n");
    check(10, 4, "a\r\n", "a\n");
    check(10, 4, "a\r\n\r\n\r\n", "a\n\n\n");
    check(10, 2, "a\r\n\r\n\r\n\r\nb", "a\n\n\n\nb\n");
    check(10, 4, "a  \r\n  b  ", "a\n  b\n");
    check(5, 2, "abc  defgh  ijk  \r\nx", "abc  defgh  ijk\nx\n");
    check(10, 4, "50%\r100%\r\r\n", "100%\n");
}

#[test]
fn deviations_on_purpose() {
    // 1. One U+FFFD per maximal subpart.
    check(
        20,
        4,
        b"a\xE4\xBD\x1b[1mb\xF0\x9F\x99\r\n\xFF",
        "a\u{FFFD}b\u{FFFD}\n\u{FFFD}\n",
    );
    // 2. An escape before a character is left.
    check(20, 4, "x\x1b…POSIX", "x…POSIX\n");
    // 4. Line drawing.
    check(20, 4, "\x1b(0lqk\x1b(B \x1b)0\x0ex\x0fx", "┌─┐ │x\n");
    // 5. The log does not forget.
    check(
        10,
        2,
        "a\r\nb\r\nc\x1b[3J\x1b[H\x1b[2J\x1b[3Jd",
        "a\nb\nc\nd\n",
    );
    // 6. Tabs become spaces.
    check(20, 4, "a\tb", "a       b\n");
    // 7. Half of a wide character takes the other half with it.
    check(20, 4, "漢字\x1b[2Gx", " x字\n");
    check(20, 4, "漢字\rx", "x 字\n");
    check(20, 4, "漢字\x1b[2G\x1b[P", " 字\n");
    check(20, 4, "漢字\x1b[2G\x1b[2X!", " !\n");
    check(5, 2, "ab漢\x1b[G\x1b[2@", "  ab\n");
    // 8. All combining marks are kept, to 64 bytes.
    let marks = "\u{301}".repeat(12);
    check(20, 4, format!("a{marks}b"), &format!("a{marks}b\n"));
    let many = "\u{301}".repeat(1000);
    check(
        20,
        4,
        format!("a{many}b"),
        &format!("a{}b\n", "\u{301}".repeat(31)),
    );
}

#[test]
fn strings_that_never_end() {
    // 3. Given up by the caller's clock.
    let mut told = Told::new(options(20, 4));
    told.feed("a\x1b]0;title\r\nnext");
    assert!(told.terminal.in_string());
    told.terminal.abandon_string(&mut told.out);
    told.feed("b\r\nc");
    assert_eq!(told.log(), "ab\nc\n");
    assert_eq!(told.out.events, [Event::Abandoned { offset: 16 }]);
    told.terminal.abandon_string(&mut told.out);
    assert_eq!(told.out.events.len(), 1, "nothing to give up");

    // Or after 16 MiB, at the same byte however it comes.
    for introducer in ["\x1b]0;", "\x1bP1;2q", "\x1b_G", "\x1bX"] {
        for chunk in [usize::MAX, 100_000] {
            let mut told = Told::new(options(20, 4));
            let mut bytes = introducer.as_bytes().to_vec();
            bytes.resize(16 << 20, b'x');
            bytes.extend_from_slice(b"xyz\r\nd");
            for part in bytes.chunks(chunk.min(bytes.len())) {
                told.feed(part);
            }
            assert_eq!(told.log(), "yz\nd\n", "{introducer:?}");
            assert_eq!(
                told.out.events,
                [Event::Abandoned {
                    offset: (16 << 20) + 1
                }]
            );
        }
    }
}

#[test]
fn markers_count_with_our_nonce_only() {
    let mut told = Told::new(options(40, 4));
    told.feed(marker("A"))
        .feed("\x1b]133;B\x07\x1b]133;B;n=y\x07$ ")
        .feed("\x1b]133;B;n=x\x1b\\");
    told.feed("ls\r\n\x1bPtmux;\x1b\x1b]133;C;n=x\x07\x1b\\out\r\n")
        .feed(marker("D;1;p=0,1"));
    let kinds = told.markers();
    let done = MarkerKind::Done {
        status: Some(1),
        pipestatus: vec![0, 1],
    };
    assert_eq!(
        kinds,
        [
            &MarkerKind::PromptStart,
            &MarkerKind::PromptEnd,
            &MarkerKind::OutputStart,
            &done
        ]
    );
    assert_eq!(told.log(), "$ ls\nout\n");

    // In a recording, the first marker's nonce is the log's own.
    let mut told = Told::new(super::Options {
        nonce: None,
        ..options(40, 4)
    });
    told.feed("\x1b]133;A\x07\x1b]133;A;n=q\x07\x1b]133;B;n=z\x07\x1b]133;B;n=q\x07");
    assert_eq!(
        told.markers(),
        [&MarkerKind::PromptStart, &MarkerKind::PromptEnd]
    );
}

#[test]
fn a_marker_says_where_it_stood() {
    let mut told = Told::new(options(10, 3));
    let bytes = format!(
        "$ {}ls\r\n{}out\x1b]133;D;0;n=x\x1b\\!",
        marker("B"),
        marker("C")
    );
    told.feed(&bytes);
    let mut seen = Vec::new();
    for event in &told.out.events {
        let Event::Marker {
            mark,
            start,
            offset,
            ..
        } = event
        else {
            panic!("{event:?}")
        };
        assert_eq!(bytes.as_bytes()[*start as usize], 0x1B);
        let after = &bytes[*offset as usize..];
        seen.push((
            told.terminal.locate(*mark).unwrap(),
            after.chars().next().unwrap(),
        ));
    }
    let at = |line, byte| Position { line, byte };
    assert_eq!(seen, [(at(0, 2), 'l'), (at(1, 0), 'o'), (at(1, 3), '!')]);
}

#[test]
fn the_command_is_read_from_the_grid() {
    let mut told = Told::new(options(20, 5));
    told.feed(marker("A")).feed("$ ").feed(marker("B"));
    // Typed, corrected, with a right prompt, over the margin.
    told.feed("ecko\x08\x08ho 'a  b'\x1b7\x1b[18Grp\x1b8 and more text\r\n")
        .feed(marker("C"));
    let marks = told.marks();
    assert_eq!(
        told.terminal.text_between(marks[1], marks[2]),
        "echo 'a  b' and more text"
    );
    told.feed("out put\r\nmore");
    assert_eq!(told.terminal.text_from(marks[2]), "out put\nmore");
    assert_eq!(told.terminal.cursor_line(), "more");
    assert_eq!(
        told.terminal.cursor().position,
        Position { line: 2, byte: 4 }
    );

    let mut told = Told::new(options(20, 5));
    told.feed(marker("A"))
        .feed("$ ")
        .feed(marker("B"))
        .feed("ls\x1b[15Gright\r\n")
        .feed(marker("C"));
    let Event::Marker { mark, .. } = told.out.events[1] else {
        panic!()
    };
    let Event::Marker { mark: end, .. } = told.out.events[2] else {
        panic!()
    };
    assert_eq!(told.terminal.text_between(mark, end), "ls");
}

#[test]
fn a_prompt_begins_a_line() {
    // The unfinished-line mark of zsh fills the row so that the prompt's row is linked to it.
    let unfinished = format!("foo%{}\r \r", " ".repeat(19));
    check(20, 5, format!("{unfinished}{}$ ", marker("A")), "foo%\n$\n");
    // Output that ends at the margin.
    check(
        5,
        5,
        format!("{}12345\r\n{}$ ", marker("C"), marker("A")),
        "12345\n$\n",
    );
    check(
        5,
        5,
        format!("{}1234567\r\x1b[K{}$ ", marker("C"), marker("A")),
        "12345\n$\n",
    );
}

#[test]
fn a_progress_bar_wider_than_the_pane() {
    // Each turn prints 11 columns on 10, and the next goes back to the start of the second row.
    let turns: String = (0..4).map(|i| format!("\r{i}23456789ab")).collect();
    check(10, 9, &turns, "023456789a123456789a223456789a323456789ab\n");
    let bytes = format!("{}{turns}\r\n{}", marker("C"), marker("D;0"));
    check(
        10,
        9,
        bytes,
        "023456789a\n123456789a\n223456789a\n323456789ab\n",
    );
    // At a prompt, the same bytes are a redraw of one line.
    let bytes = format!("{}$ {}01234567ab\rcd", marker("A"), marker("B"));
    check(10, 9, bytes, "$ 01234567cd\n");
}

/// A frame painted from home, on three rows.
fn frame(n: usize) -> String {
    format!("\x1b[Htop {n}\x1b[K\r\nload\x1b[K\r\n\x1b[K")
}

#[test]
fn a_screen_painted_from_home_is_one_line() {
    let mut told = Told::new(options(20, 6));
    told.feed("old\r\n")
        .feed(marker("A"))
        .feed("$ ")
        .feed(marker("B"))
        .feed("sudo /usr/bin/top -d1\r\n");
    told.terminal.clock(1000);
    told.feed(marker("C"));
    let frames: Vec<String> = (0..5).map(frame).collect();
    told.feed(&frames[0]).feed(&frames[1]).feed(&frames[2]);
    assert!(told.terminal.fullscreen() && !told.terminal.alternate());
    assert_eq!(
        told.log(),
        "old\n$ sudo /usr/bin/top -d1\n[full-screen program: top]\n"
    );
    told.feed(&frames[3]).feed(&frames[4]);
    assert_eq!(told.terminal.screen()[0], "top 4");
    told.terminal.clock(13_900);
    told.feed("\x1b[5H\r\n").feed(marker("D;0"));
    assert!(!told.terminal.fullscreen());
    told.feed(marker("A")).feed("$ ls");
    assert_eq!(
        told.log(),
        "old\n$ sudo /usr/bin/top -d1\n[full-screen program: top, 12 s]\n$ ls\n"
    );
    let on: Vec<bool> = told
        .out
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Fullscreen { on, .. } => Some(*on),
            _ => None,
        })
        .collect();
    assert_eq!(on, [true, false]);
}

#[test]
fn one_clear_is_no_full_screen_program() {
    let bytes = format!(
        "a\r\n{}\x1b[H\x1b[2Jone\r\ntwo\r\n\x1b[H\x1b[2Jthree\r\n",
        marker("C")
    );
    check(20, 6, bytes, "a\none\ntwo\nthree\n");
    // One home, printed over once.
    let bytes = format!(
        "{}one\r\ntwo\r\n\x1b[HONE\r\nTWO\r\n{}",
        marker("C"),
        marker("D;0")
    );
    check(20, 6, bytes, "ONE\nTWO\n");
    // Outside of a command's output nothing is known.
    let frames: String = (0..5).map(frame).collect();
    check(20, 6, frames, "top 4\nload\n");
}

#[test]
fn the_alternate_screen_is_one_line() {
    let mut told = Told::new(options(20, 4));
    told.feed(marker("A"))
        .feed("$ ")
        .feed(marker("B"))
        .feed("vim x\r\n")
        .feed(marker("C"));
    told.terminal.clock(0);
    told.feed("\x1b[?1049h\x1b[H~\r\n~");
    assert!(told.terminal.alternate() && told.terminal.fullscreen());
    assert_eq!(told.log(), "$ vim x\n[full-screen program: vim]\n");
    let mark = told.terminal.mark();
    assert_eq!(
        told.terminal.locate(mark),
        Some(Position { line: 2, byte: 0 })
    );
    told.terminal.clock(61_000);
    told.feed("\x1b[?1049l")
        .feed(marker("D;0"))
        .feed(marker("A"))
        .feed("$ ");
    assert_eq!(told.log(), "$ vim x\n[full-screen program: vim, 61 s]\n$\n");
    // In the middle of a wrapped line the note waits for its end.
    check(
        4,
        4,
        "abcdef\x1b[?1049hx\x1b[?1049lgh",
        "abcdefgh\n[full-screen program]\n",
    );
}

#[test]
fn a_resized_prompt_is_kept_once() {
    // zsh: prints the whole prompt again, lower, after the old one has re-flowed to more rows.
    let mut told = Told::new(options(20, 8));
    told.feed("out\r\n")
        .feed(marker("A"))
        .feed("user@host:~/src $ ")
        .feed(marker("B"))
        .feed("ls");
    told.terminal.resize(10, 8, &mut told.out);
    told.feed("\r\n")
        .feed(marker("A"))
        .feed("user@host:~/src $ ")
        .feed(marker("B"))
        .feed("ls");
    assert_eq!(told.log(), "out\nuser@host:~/src $ ls\n");
    // bash: prints the last line again without a start.
    told.terminal.resize(7, 8, &mut told.out);
    told.feed("\r\nuser@host:~/src $ ")
        .feed(marker("B"))
        .feed("ls");
    told.feed("\r\n").feed(marker("C")).feed("x\r\n");
    assert_eq!(told.log(), "out\nuser@host:~/src $ ls\nx\n");
}

#[test]
fn marks_stay_with_their_text() {
    let mut told = Told::new(super::Options {
        hold_back: 30,
        ..options(10, 4)
    });
    let mut marks = Vec::new();
    for i in 0..40 {
        told.feed(format!("line {i} "));
        marks.push((told.terminal.mark(), format!("<{i}> and some more")));
        told.feed(format!("{}\r\n", marks[i].1));
        if i % 7 == 3 {
            told.terminal
                .resize(8 + i as u16, 3 + (i % 5) as u16, &mut told.out);
        }
        if i % 10 == 9 {
            let log = told.log();
            let lines: Vec<&str> = log.split('\n').collect();
            for (mark, text) in &marks {
                let at = told.terminal.locate(*mark).unwrap();
                assert_eq!(lines[at.line as usize][at.byte..], text[..], "{at:?}");
            }
        }
    }
    told.terminal.release(marks[3].0);
    assert_eq!(told.terminal.locate(marks[3].0), None);
    told.terminal.finish(&mut told.out);
    let log = told.log();
    let lines: Vec<&str> = log.split('\n').collect();
    for (mark, text) in marks.iter().skip(4) {
        let at = told.terminal.locate(*mark).unwrap();
        assert_eq!(lines[at.line as usize][at.byte..], text[..]);
    }
}

#[test]
fn a_mark_in_trimmed_blanks_is_at_the_end() {
    let mut told = Told::new(options(10, 2));
    told.feed("$ ");
    let mark = told.terminal.mark();
    assert_eq!(
        told.terminal.locate(mark),
        Some(Position { line: 0, byte: 1 })
    );
    told.feed("x\r\n\r\n\r\n");
    assert_eq!(
        told.terminal.locate(mark),
        Some(Position { line: 0, byte: 2 })
    );
    told.feed("$ ");
    let mark = told.terminal.mark();
    told.feed("\r\n\r\n\r\n");
    assert_eq!(
        told.terminal.locate(mark),
        Some(Position { line: 3, byte: 1 })
    );
}

#[test]
fn the_alternate_screen_and_a_resize() {
    let mut told = Told::new(super::Options {
        hold_back: 20,
        ..options(10, 4)
    });
    told.feed("one\r\n0123456789ab\r\n\x1b[?1049h\x1b[Hvim");
    told.terminal.resize(6, 3, &mut told.out);
    told.feed("\x1b[2;1Hmore");
    assert_eq!(told.terminal.screen(), ["vim", "more", ""]);
    told.feed("\x1b[?1049lend");
    assert_eq!(
        told.log(),
        "one\n0123456789ab\n[full-screen program]\nend\n"
    );
    assert_eq!(told.terminal.screen(), ["012345", "6789ab", "end"]);
}

#[test]
fn one_column_keeps_wide_characters() {
    let mut told = Told::new(super::Options {
        hold_back: 20,
        ..options(4, 4)
    });
    told.feed("漢字");
    for (cols, rows) in [(1, 4), (4, 4), (1, 1), (3, 2)] {
        told.terminal.resize(cols, rows, &mut told.out);
    }
    told.feed("@");
    assert_eq!(told.terminal.screen(), ["漢", "字@"]);
    assert_eq!(told.log(), "漢字@\n");
}

#[test]
fn one_program_is_one_line_however_it_takes_the_screen() {
    // It repaints from home first, and then switches to the alternate screen: once it stood there twice.
    let mut told = Told::new(options(20, 4));
    told.feed("$ ").feed(marker("C"));
    for n in 0..5 {
        told.feed(format!("\x1b[Hframe {n}\r\nmore"));
    }
    told.feed("\x1b[?1049hedit\x1b[?1049l\r\n")
        .feed(marker("D;0"));
    told.feed(marker("A")).feed("$ ");
    assert_eq!(told.log(), "$\n[full-screen program]\n$\n");
    let on = |event: &Event| match event {
        Event::Fullscreen { on, .. } => Some(*on),
        _ => None,
    };
    let on: Vec<bool> = told.out.events.iter().filter_map(on).collect();
    assert_eq!(on, [true, false]);
    // A line of the caller's own shows while such a program runs, as at the log's end.
    told.feed(marker("C"))
        .feed("\x1b[Ha\r\nb\x1b[Ha\r\nb\x1b[Ha");
    told.terminal.note(String::from("[lost]"));
    let log = told.log();
    told.terminal.finish(&mut told.out);
    assert_eq!(String::from_utf8_lossy(&told.out.text), log);
    assert!(log.contains("[lost]"), "{log}");
}
