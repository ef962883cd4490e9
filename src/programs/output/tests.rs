//! Any stretch of an output can be read again, and is the same however it was come to.

use std::io::Write;

use super::*;
use crate::store::tests::Scratch;

/// A small generator (xorshift), so that a failure can be repeated by its seed.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// A session's logs on disk.
struct Logs {
    _scratch: Scratch,
    dir: SessionDir,
}

impl Logs {
    fn new(raw: &[u8], times: &str) -> Logs {
        let scratch = Scratch::new();
        let dir = SessionDir {
            path: scratch.path().to_path_buf(),
        };
        std::fs::write(dir.raw(), raw).unwrap();
        std::fs::write(dir.times(), times).unwrap();
        Logs {
            _scratch: scratch,
            dir,
        }
    }

    fn files(&self) -> Files {
        Files::open(&self.dir).unwrap()
    }

    fn add(&self, raw: &[u8]) {
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(self.dir.raw())
            .unwrap();
        file.write_all(raw).unwrap();
    }

    /// Everything from `cursor` on, page by page, by a reader that knows nothing yet.
    fn rest(&self, cursor: u64) -> String {
        let (mut output, files) = (Output::default(), self.files());
        let (mut text, mut cursor) = (String::new(), cursor);
        loop {
            let page = output.page(&files, cursor, usize::MAX, true).unwrap();
            text.push_str(&page.text);
            cursor = page.cursor;
            if !page.more {
                return text;
            }
        }
    }
}

/// What a chatty, careless program prints.
fn noise(seeded: &mut Seeded, length: usize) -> Vec<u8> {
    const PARTS: [&[u8]; 16] = [
        b"plain text ",
        b"\r\n",
        b"\n",
        b"\r",
        b"\x1b[1;31m",
        b"\x1b]0;title\x07",
        "é漢🙂".as_bytes(),
        b"\xff",
        b"\xe6\xbc",
        b"\x1b[2K",
        b"\t",
        b"\x08",
        b"\x1bP1\x1b\\",
        b"50%",
        b"\r\r\n",
        b"x",
    ];
    let mut bytes = Vec::new();
    while bytes.len() < length {
        bytes.extend_from_slice(PARTS[seeded.below(16) as usize]);
    }
    bytes
}

#[test]
fn any_page_again() {
    let mut seeded = Seeded(0x9e37_79b9_7f4a_7c15);
    println!("seed {}", seeded.0);
    let raw = noise(&mut seeded, 200_000);
    let logs = Logs::new(&raw, "1 0 tap 9\n1 0\n5 150000 stop limit\n");
    let (mut plain, mut whole) = (Plain::default(), String::new());
    plain.feed(&raw, &mut whole);
    plain.end(&mut whole);
    assert_eq!(logs.rest(0), whole);
    let (mut output, files) = (Output::default(), logs.files());
    for round in 0..100 {
        let cursor = seeded.below(whole.len() as u64 + 3);
        let lines = 1 + seeded.below(50) as usize;
        let page = output.page(&files, cursor, lines, true);
        let Some(rest) = whole.get(cursor as usize..) else {
            let error = page.unwrap_err().to_string();
            let place = if cursor > whole.len() as u64 {
                "beyond"
            } else {
                "inside"
            };
            assert!(
                error.contains(place) && error.contains(&whole.len().to_string()),
                "{error}"
            );
            continue;
        };
        let page = page.unwrap();
        assert!(
            rest.starts_with(&page.text),
            "round {round}, cursor {cursor}"
        );
        assert_eq!(page.cursor, cursor + page.text.len() as u64);
        assert_eq!(page.more, page.text.len() < rest.len());
        let breaks = page.text.matches('\n').count();
        let chars = page.text.chars().count();
        assert!(breaks <= lines && chars <= CHARS);
        assert!(
            !page.more || page.text.ends_with('\n'),
            "round {round}, cursor {cursor}"
        );
        assert!(
            !page.more || breaks == lines || chars > CHARS / 2,
            "a short page"
        );
    }
    assert!(output.is_cut());
}

#[test]
fn a_long_line_is_cut_within() {
    let raw = "漢".repeat(CHARS + 10);
    let logs = Logs::new(raw.as_bytes(), "");
    let (mut output, files) = (Output::default(), logs.files());
    let page = output.page(&files, 0, 9, false).unwrap();
    assert_eq!((page.text.chars().count(), page.more), (CHARS, true));
    let page = output.page(&files, page.cursor, 9, false).unwrap();
    assert_eq!((page.text.chars().count(), page.more), (10, false));
}

#[test]
fn what_is_cut_is_awaited_while_it_runs() {
    let logs = Logs::new(b"a\xe6\xbc", "");
    let (mut output, files) = (Output::default(), logs.files());
    let mut next = |cursor, ended| {
        let page = output.page(&files, cursor, 9, ended).unwrap();
        (page.text, page.cursor)
    };
    assert_eq!(next(0, false), ("a".into(), 1));
    assert_eq!(next(1, false), (String::new(), 1));
    logs.add(b"\xa2\r");
    assert_eq!(next(1, false), ("漢".into(), 4));
    logs.add(b"b\xf0\x9f");
    assert_eq!(next(4, false), ("\nb".into(), 6));
    assert_eq!(next(6, true), ("\u{fffd}".into(), 9));
    assert_eq!(next(4, true), ("\nb\u{fffd}".into(), 9));
}

#[test]
fn a_string_that_never_ends_is_given_up_everywhere_the_same() {
    // 5 s after it was opened the bytes are text again, also for who reads from later on and for who reads twice.
    let raw = [b"one\n\x1b]0;never ends".as_slice(), b" two\nthree\n"].concat();
    let times = "1000 0 tap 9\n1000 0\n3000 10\n7000 19\n";
    let logs = Logs::new(&raw, times);
    assert_eq!(logs.rest(0), "one\ntwo\nthree\n");
    let (mut output, files) = (Output::default(), logs.files());
    for cursor in [4, 0, 4, 9] {
        let page = output.page(&files, cursor, 99, true).unwrap();
        assert_eq!(page.text, &"one\ntwo\nthree\n"[cursor as usize..]);
    }
}

#[test]
fn a_second_tap_means_that_something_may_be_missing() {
    let logs = Logs::new(b"a\nb\n", "1 0 tap 9\n1 0\n2 2 tap 10\n2 4 end\n");
    let (mut output, files) = (Output::default(), logs.files());
    output.page(&files, 0, 9, true).unwrap();
    assert!(output.is_cut());
}
