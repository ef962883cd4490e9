//! Seeded random mixes: how the input is split, and where a terminal is stopped and taken up, changes nothing.

use super::super::{Event, Output, Terminal, width::Rules};
use super::mix::{self, Kind, Random};
use super::{Told, marker, options};

const CASES: u64 = 400;

/// A mix with markers in it.
fn bytes(random: &mut Random, cols: usize, rows: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..1 + random.below(6) {
        let kinds = [Kind::Sequences, Kind::Characters, Kind::Odd, Kind::Junk];
        let kind = kinds[random.below(4)];
        bytes.extend(mix::mix(random, kind, cols, rows, 20));
        let markers = ["A", "B", "C", "D;0;p=0", "P;k=s", "P;k=h;sh=bash;v=5", "C"];
        bytes.extend_from_slice(marker(random.pick(&markers)).as_bytes());
        if random.one_in(4) {
            bytes.extend_from_slice("\x1b[Hframe\r\nframe".repeat(4).as_bytes());
        }
    }
    bytes
}

/// Everything that can be seen of a terminal.
fn seen(told: &Told) -> (String, Vec<Event>, Vec<String>, String, String) {
    let terminal = &told.terminal;
    let places: Vec<_> = told
        .out
        .events
        .iter()
        .map(|event| match event {
            Event::Marker { mark, .. } => terminal.locate(*mark),
            _ => None,
        })
        .collect();
    let state = format!(
        "{:?} {:?} {} {} {} {} {places:?}",
        terminal.cursor(),
        terminal.size(),
        terminal.offset(),
        terminal.final_lines(),
        terminal.fullscreen(),
        terminal.in_string(),
    );
    (
        told.log(),
        told.out.events.clone(),
        terminal.screen(),
        terminal.cursor_line(),
        state,
    )
}

fn case(seed: u64) -> (Random, Told, Vec<u8>) {
    let mut random = Random::new(seed);
    let (cols, rows) = (1 + random.below(20), 1 + random.below(6));
    let mut options = options(cols as u16, rows as u16);
    options.hold_back = random.below(3) as u16 * 4;
    if random.one_in(2) {
        options.rules = Rules::for_version(random.pick(&["3.5", "3.6", "3.7"]));
    }
    let bytes = bytes(&mut random, cols, rows);
    (random, Told::new(options), bytes)
}

#[test]
fn how_the_input_is_split_changes_nothing() {
    for seed in 0..CASES {
        let (mut random, mut whole, bytes) = case(seed);
        whole.feed(&bytes);
        let (_, mut parts, _) = case(seed);
        let mut rest = &bytes[..];
        let most = 1 + random.below(12);
        while !rest.is_empty() {
            let (part, after) = rest.split_at((1 + random.below(most)).min(rest.len()));
            parts.feed(part);
            rest = after;
        }
        assert_eq!(seen(&whole), seen(&parts), "seed {seed}");
    }
}

#[test]
fn stopping_and_taking_up_changes_nothing() {
    for seed in 0..CASES {
        let (mut random, mut through, bytes) = case(seed);
        let (_, mut stopped, _) = case(seed);
        let mut made = options(1, 1);
        (made.hold_back, made.rules) = {
            let mut random = Random::new(seed);
            random.below(20);
            random.below(6);
            let hold_back = random.below(3) as u16 * 4;
            let rules = if random.one_in(2) {
                Rules::for_version(random.pick(&["3.5", "3.6", "3.7"]))
            } else {
                Rules::default()
            };
            (hold_back, rules)
        };
        let resize = (1 + random.below(20) as u16, 1 + random.below(6) as u16);
        let (first, second) = bytes.split_at(random.below(bytes.len()));
        for told in [&mut through, &mut stopped] {
            told.feed(first);
        }
        let state = stopped.terminal.checkpoint();
        stopped.terminal = Terminal::restore(&state, made).expect("a state that was saved");
        assert_eq!(stopped.terminal.checkpoint(), state, "seed {seed}");
        for told in [&mut through, &mut stopped] {
            let (before, after) = second.split_at(second.len() / 2);
            told.feed(before);
            told.terminal.resize(resize.0, resize.1, &mut told.out);
            told.feed(after);
        }
        assert_eq!(seen(&through), seen(&stopped), "seed {seed}");
    }
}

#[test]
fn junk_is_no_state() {
    assert!(Terminal::restore(b"", options(80, 24)).is_none());
    for seed in 0..CASES {
        let (mut random, mut told, bytes) = case(seed);
        told.feed(&bytes);
        let state = told.terminal.checkpoint();
        assert!(
            Terminal::restore(&state[..random.below(state.len())], options(80, 24)).is_none(),
            "torn"
        );
        // With a sum that is right, junk may be a state, but then one that can go on.
        let mut junk = state[..state.len() - 8].to_vec();
        for _ in 0..1 + random.below(3) {
            let at = 21 + random.below(junk.len() - 21);
            junk[at] = [random.next() as u8, 0, 1, 0x7F, 0xFF][random.below(5)];
        }
        let sum = super::super::codec::checksum(&junk);
        junk.extend_from_slice(&sum.to_le_bytes());
        if let Some(mut terminal) = Terminal::restore(&junk, options(80, 24)) {
            let mut out = Output::default();
            terminal.feed(&bytes, &mut out);
            terminal.live_text();
            terminal.resize(7, 3, &mut out);
            terminal.feed(&bytes, &mut out);
            terminal.finish(&mut out);
        }
    }
}

#[test]
fn final_and_live_text_are_the_whole_log() {
    for seed in 0..CASES {
        let (mut random, mut told, bytes) = case(seed);
        let mut before = 0;
        for part in bytes.chunks(1 + random.below(40)) {
            told.feed(part);
            assert!(
                told.out.text.len() >= before,
                "final text is never taken back"
            );
            before = told.out.text.len();
            let lines = told.out.text.iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(told.terminal.final_lines(), lines as u64, "seed {seed}");
            if random.one_in(8) {
                let size = (1 + random.below(20) as u16, 1 + random.below(6) as u16);
                told.terminal.resize(size.0, size.1, &mut told.out);
            }
        }
        // The end shows what is not complete yet, and leaves the alternate screen.
        told.feed("\x1b\\\x1b\\\x18\x1b[?1047l");
        let log = told.log();
        told.terminal.finish(&mut told.out);
        assert_eq!(String::from_utf8_lossy(&told.out.text), log, "seed {seed}");
    }
}
