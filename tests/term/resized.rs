//! Changes of size that once made something else than in tmux, reduced, with what tmux 3.3a answered.

use super::{cook, sized};
use crate::util::oracle::{Case, Oracle, Step, lines};
use crate::util::skip;

/// What the case is about, columns and rows, what is done, the lines and the screen.
type Resized = (&'static str, (u16, u16), &'static [Do], Lines, Lines);
type Lines = &'static [&'static str];

/// A step of a case.
enum Do {
    Feed(&'static str),
    To(u16, u16),
}
use Do::{Feed, To};

const RESIZED: [Resized; 6] = [
    (
        "a line's rest keeps its link to an empty row, though rows were joined before it",
        (19, 3),
        &[
            // RI at the top drops the last row: the one above it keeps a link to nothing.
            Feed("345678901234567890123456789012345678901\x1b[1d\x1bM"),
            To(5, 7),
            Feed("\n\n\n"),
            To(16, 6),
            Feed("a"),
        ],
        &["", "3456789012345678901", "2345678901234567890a"],
        &["901", "2345678901234567", "890", "a"],
    ),
    (
        "a row loses its link when the rest of its line is joined to it and an empty row follows",
        (17, 3),
        &[
            Feed("2345678901234"),
            To(6, 8),
            // The region's top row goes to the history: the line goes on in an empty row there.
            Feed("\x1b[4;8r\x1b[999E\n"),
            To(9, 8),
            To(8, 4),
        ],
        &["234567890123", "", "4"],
        &[],
    ),
    (
        "rows that a wide character makes are pulled back",
        (19, 2),
        &[
            Feed("❤한글Ａ█▏AABCDEF🇯🇵한👍🏽a01é│─┼👩a한글한글éx한\n"),
            To(23, 2),
            To(23, 6),
        ],
        &["❤한글Ａ█▏AABCDEF🇯🇵한👍🏽a01é│─┼👩a한글한글éx한"],
        &["❤한글Ａ█▏AABCDEF🇯🇵한👍", "🏽a01é│─┼👩a한글한글éx", "한"],
    ),
    (
        "rows of odd and even widths",
        (18, 3),
        &[Feed("🙂xｱ\u{ad}  e👩💻x█▏klm"), To(9, 3), To(6, 5)],
        &["🙂xｱ\u{ad}  e👩💻x█▏klm"],
        &["🙂xｱ\u{ad}", " e👩💻", "x█▏klm"],
    ),
    (
        "a line of wide characters that is longer than eight screens",
        (13, 1),
        &[
            Feed("  ABk"),
            To(6, 1),
            Feed("漢字か漢字かな🇯🇵x❤e한글漢字かなk🙂ｱéx│─┼👍🏽ｱx1한글👍🏽678"),
            To(12, 1),
        ],
        &["  ABk漢字か漢字かな🇯🇵x❤e한글漢字かなk🙂ｱéx│─┼👍🏽ｱx1한글👍🏽678"],
        &["👍🏽678"],
    ),
    (
        "a wide character that does not fit in breaks the line before it, if rows were joined there; the cursor, \
         found by counting lines, is in the first of them",
        (5, 4),
        &[Feed("abcdefghi漢"), To(10, 4), Feed("@")],
        &["abcdefghi@", "漢"],
        &["abcdefghi@", "漢"],
    ),
];

#[test]
fn recorded_resizes() {
    let (mut wrong, mut cases, mut recorded) = (Vec::new(), Vec::new(), Vec::new());
    for (about, (cols, rows), steps, log, screen) in &RESIZED {
        let mut input = Vec::new();
        let mut args = sized(*cols, *rows, &["--tmux=3.3a"]);
        let mut case = Case {
            cols: *cols,
            rows: *rows,
            steps: Vec::new(),
        };
        for step in *steps {
            case.steps.push(match step {
                Feed(text) => {
                    input.extend_from_slice(text.as_bytes());
                    Step::Feed(text.as_bytes().to_vec())
                }
                To(cols, rows) => {
                    args.push(format!("--resize={}:{cols}x{rows}", input.len()));
                    Step::Resize(*cols, *rows)
                }
            });
        }
        let got = lines(&cook(&input, &args));
        args.push(String::from("--screen"));
        let shown = lines(&cook(&input, &args));
        if got != *log || shown != *screen {
            wrong.push(format!("{about}: {got:?}, on the screen {shown:?}"));
        }
        cases.push(case);
        recorded.push((about, log, screen));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // The answers are one version's: another wraps anew in its own way.
    if !skip::have("term", "tmux") {
        return;
    }
    let mut oracle = Oracle::start();
    if oracle.version().trim() != "tmux 3.3a" {
        return;
    }
    for ((about, log, screen), answer) in recorded.iter().zip(oracle.ask(&cases)) {
        assert_eq!(answer.joined, **log, "{about}");
        assert_eq!(answer.rows, **screen, "{about}");
    }
}

#[test]
fn a_line_longer_than_what_is_held_back() {
    if !skip::have("term", "tmux") {
        return;
    }
    let text = "0123456789".repeat(120);
    let mut oracle = Oracle::start();
    let version = format!("--tmux={}", oracle.version().trim());
    for cols in [2, 3, 7, 9, 30] {
        // All of it leaves a screen of four columns, but for two of its 300 rows.
        let mut args = sized(4, 2, &[&version]);
        args.push(format!("--resize={}:{cols}x2", text.len()));
        args.push(format!("--resize={}:5x3", text.len() + 1));
        let text = format!("{text}@");
        let case = Case {
            cols: 4,
            rows: 2,
            steps: vec![
                Step::Feed(text.as_bytes()[..text.len() - 1].to_vec()),
                Step::Resize(cols, 2),
                Step::Feed(b"@".to_vec()),
                Step::Resize(5, 3),
            ],
        };
        let answer = oracle.ask(&[case]).remove(0);
        assert_eq!(lines(&cook(text.as_bytes(), &args)), answer.joined);
        args.push(String::from("--screen"));
        assert_eq!(lines(&cook(text.as_bytes(), &args)), answer.rows, "{cols}");
    }
}
