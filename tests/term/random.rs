//! The tmux of this machine is asked about seeded random mixes of all sequences. PANEGLASS_TEST_MIXES sets how
//! many, PANEGLASS_TEST_SEED the first, PANEGLASS_TEST_SHOW how many differences are printed.

use super::{cook, sized, without_notes};
use crate::util::mix::{Kind, Random, mix};
use crate::util::oracle::{Answer, Case, Oracle, Step, lines};
use crate::util::skip;

/// DEC line drawing as tmux gives it back: as letters (deviation 4).
fn letters(text: &str) -> String {
    const BOXES: &str = "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";
    text.chars()
        .map(|c| match BOXES.chars().position(|drawn| drawn == c) {
            Some(index) => (0x60 + index as u8) as char,
            None => c,
        })
        .collect()
}

/// What we make of a case: the log's lines and the screen's rows.
fn ours(case: &Case, more: &[&str], kind: Kind) -> (Vec<String>, Vec<String>) {
    let plain = |text: String| {
        if kind != Kind::Characters {
            letters(&text)
        } else {
            text
        }
    };
    let mut input = Vec::new();
    let mut args = sized(case.cols, case.rows, more);
    for step in &case.steps {
        match step {
            Step::Feed(bytes) => input.extend_from_slice(bytes),
            Step::Resize(cols, rows) => {
                args.push(format!("--resize={}:{cols}x{rows}", input.len()))
            }
        }
    }
    let log = lines(&without_notes(&plain(cook(&input, &args))));
    args.push(String::from("--screen"));
    (log, lines(&plain(cook(&input, &args))))
}

/// Prints a case and what it makes, here and in tmux.
fn show(case: &Case, (log, rows): &(Vec<String>, Vec<String>), answer: &Answer) {
    println!("{}x{}", case.cols, case.rows);
    for step in &case.steps {
        match step {
            Step::Feed(bytes) => println!("  feed {:?}", String::from_utf8_lossy(bytes)),
            Step::Resize(cols, rows) => println!("  resize {cols}x{rows}"),
        }
    }
    println!("  log    {log:?}\n  tmux   {:?}", answer.joined);
    println!("  screen {rows:?}\n  tmux   {:?}", answer.rows);
}

/// The least of a case that still `differs`: without what makes no difference, in ever smaller pieces.
fn reduced(case: &Case, mut differs: impl FnMut(&Case) -> bool) -> Case {
    // No sequence is taken apart: half of one asks another question.
    let mut steps = Vec::new();
    for step in &case.steps {
        match step {
            Step::Feed(bytes) => {
                let pieces = pieces(bytes);
                steps.extend(pieces.map(|piece| Step::Feed(piece.to_vec())));
            }
            resize => steps.push(resize.clone()),
        }
    }
    let with = |steps: &[Step]| {
        let mut whole: Vec<Step> = Vec::new();
        for step in steps {
            match (whole.last_mut(), step) {
                (Some(Step::Feed(bytes)), Step::Feed(more)) => bytes.extend(more),
                _ => whole.push(step.clone()),
            }
        }
        Case {
            steps: whole,
            ..*case
        }
    };
    let mut length = steps.len().next_power_of_two() / 2;
    while length > 0 {
        let before = steps.len();
        let mut at = 0;
        while at < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(at..steps.len().min(at + length));
            if differs(&with(&fewer)) {
                steps = fewer;
            } else {
                at += length;
            }
        }
        if length > 1 || steps.len() == before {
            length /= 2;
        }
    }
    with(&steps)
}

/// Characters and sequences.
fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let sequence = rest.starts_with(b"\x1b[");
        let last = |byte: &u8| {
            if sequence {
                (b'@'..=b'~').contains(byte)
            } else {
                true
            }
        };
        let from = if sequence { 2 } else { 0 };
        let end = rest.iter().skip(from).position(last)? + from + 1;
        let more = rest[end..].iter().take_while(|&&byte| byte & 0xC0 == 0x80);
        let (piece, after) = rest.split_at(end + more.count());
        rest = after;
        Some(piece)
    })
}

/// Asks tmux about `count` random cases and compares.
fn agree(kind: Kind, seed: u64, count: usize, make: impl Fn(&mut Random) -> Case) {
    if !skip::have("term", "tmux") {
        return;
    }
    let count = std::env::var("PANEGLASS_TEST_MIXES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(count);
    let seed = std::env::var("PANEGLASS_TEST_SEED")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(seed);
    let mut oracle = Oracle::start();
    let version = oracle.version();
    let version = format!("--tmux={}", version.trim());
    let cases: Vec<(u64, Case)> = (seed..seed + count as u64)
        .map(|seed| (seed, make(&mut Random::new(seed))))
        .collect();
    let asked: Vec<Case> = cases.iter().map(|(_, case)| case.clone()).collect();
    let shown = std::env::var("PANEGLASS_TEST_SHOW")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(3);
    let mut wrong = 0;
    let answers = oracle.ask(&asked);
    for ((seed, case), answer) in cases.iter().zip(answers) {
        let (log, rows) = ours(case, &[&version], kind);
        if log == answer.joined && rows == answer.rows {
            continue;
        }
        wrong += 1;
        if wrong <= shown {
            print!("seed {seed}: ");
            show(case, &(log, rows), &answer);
            let mut differs = |case: &Case| {
                let answer = oracle.ask(std::slice::from_ref(case)).remove(0);
                let ours = ours(case, &[&version], kind);
                (ours.0 != answer.joined || ours.1 != answer.rows).then_some((ours, answer))
            };
            let case = reduced(case, |case| differs(case).is_some());
            if let Some((ours, answer)) = differs(&case) {
                print!("reduced: ");
                show(&case, &ours, &answer);
            }
        }
    }
    assert_eq!(wrong, 0, "of {count} cases from seed {seed}");
}

/// Back to ground, to the normal screen, and a character where the cursor is. (An `ESC \` may be taken for a
/// doubled ESC of a DCS.)
const END: &[u8] = b"\x1b\\\x1b\\\x18\x1b[?1047l@";

#[test]
fn random_sequences_as_tmux() {
    agree(Kind::Sequences, 1, 1200, |random| {
        // Small screens meet their edges often; now and then one of the usual size.
        let usual = random.one_in(10);
        let (cols, rows) = if usual {
            (80, 24)
        } else {
            (1 + random.below(25), 1 + random.below(8))
        };
        let mut bytes = mix(
            random,
            Kind::Sequences,
            cols,
            rows,
            if usual { 200 } else { 40 },
        );
        bytes.extend_from_slice(END);
        Case {
            cols: cols as u16,
            rows: rows as u16,
            steps: vec![Step::Feed(bytes)],
        }
    });
}

#[test]
fn random_odd_sequences_as_tmux() {
    agree(Kind::Odd, 1, 600, |random| {
        let (cols, rows) = (1 + random.below(25), 1 + random.below(8));
        let mut bytes = mix(random, Kind::Odd, cols, rows, 30);
        bytes.extend_from_slice(END);
        Case {
            cols: cols as u16,
            rows: rows as u16,
            steps: vec![Step::Feed(bytes)],
        }
    });
}

#[test]
fn random_characters_as_tmux() {
    agree(Kind::Characters, 1, 400, |random| {
        let (cols, rows) = (2 + random.below(24), 1 + random.below(8));
        let mut bytes = mix(random, Kind::Characters, cols, rows, 30);
        bytes.push(b'@');
        Case {
            cols: cols as u16,
            rows: rows as u16,
            steps: vec![Step::Feed(bytes)],
        }
    });
}

/// A case that changes its size a few times.
fn resizes(random: &mut Random, kind: Kind) -> Case {
    let (cols, rows) = (2 + random.below(20), 1 + random.below(8));
    let mut case = Case {
        cols: cols as u16,
        rows: rows as u16,
        steps: Vec::new(),
    };
    let (mut cols, mut rows) = (cols, rows);
    for _ in 0..1 + random.below(4) {
        // tmux up to 3.3a loses history when the alternate screen has changed its size: nothing to agree with.
        let alternate = |bytes: &[u8]| {
            bytes
                .windows(4)
                .any(|four| matches!(four, b"?104" | b"?47h"))
        };
        let mut mixes = (0..100).map(|_| mix(random, kind, cols, rows, 12));
        let bytes = mixes.find(|bytes| !alternate(bytes)).unwrap_or_default();
        case.steps.push(Step::Feed(bytes));
        if random.one_in(2) {
            cols = 2 + random.below(20);
        }
        if random.one_in(2) {
            rows = 1 + random.below(8);
        }
        case.steps.push(Step::Resize(cols as u16, rows as u16));
    }
    // Characters leave nothing open, and END may step back into a wide one (deviation 7).
    let end = if kind == Kind::Characters { b"@" } else { END };
    case.steps.push(Step::Feed(end.to_vec()));
    case
}

#[test]
fn random_resizes_as_tmux() {
    agree(Kind::Sequences, 1, 400, |random| {
        resizes(random, Kind::Sequences)
    });
}

#[test]
fn random_resizes_of_characters_as_tmux() {
    agree(Kind::Characters, 1, 200, |random| {
        resizes(random, Kind::Characters)
    });
}

#[test]
fn random_resizes_of_odd_sequences_as_tmux() {
    agree(Kind::Odd, 1, 200, |random| resizes(random, Kind::Odd));
}

#[test]
fn junk_makes_lines() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let (cols, rows) = (1 + random.below(24), 1 + random.below(8));
        let bytes = mix(&mut random, Kind::Junk, cols, rows, 200);
        // `cook` checks that it ends well, in UTF-8.
        let log = cook(&bytes, &sized(cols as u16, rows as u16, &[]));
        assert!(
            log.is_empty() || log.ends_with('\n'),
            "seed {seed}: {log:?}"
        );
        let controls = |c: char| c.is_control() && c != '\n';
        assert!(!log.contains(controls), "seed {seed}: {log:?}");
    }
}
