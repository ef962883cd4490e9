//! tmux's recorded answers: small probes, and captures of real programs, for tmux 3.3a and 3.7c. Where we differ on
//! purpose, the deviation is named here.

use serde_json::Value;

use super::{cook, sized};
use crate::util::oracle::lines;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/term");

/// Which answers a deviation is about.
#[derive(PartialEq)]
enum In {
    Old,
    New,
    Both,
}
use In::{Both, New, Old};

/// A probe that we answer otherwise than tmux: its name, in which version, the deviation of the design, and our
/// lines.
const DEVIATIONS: [(&str, In, &str, &[&str]); 18] = [
    ("c1_raw_9b", Old, MALFORMED, &["a\u{FFFD}31mb"]),
    ("bad_lone_cont", Old, MALFORMED, &["a\u{FFFD}b"]),
    ("bad_trunc3_esc", Old, MALFORMED, &["a\u{FFFD}b"]),
    ("bad_trunc3_crlf", Old, MALFORMED, &["a\u{FFFD}", "b"]),
    ("bad_latin1", Old, MALFORMED, &["caf\u{FFFD} x"]),
    (
        "bad_latin1_pair",
        Both,
        MALFORMED,
        &["\u{FFFD}\u{FFFD}\u{FFFD} x"],
    ),
    ("bad_ff", Old, MALFORMED, &["a\u{FFFD}b"]),
    ("bad_restart", Both, MALFORMED, &["a\u{FFFD}你b"]),
    (
        "bad_f5",
        Old,
        MALFORMED,
        &["a\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}b"],
    ),
    (
        "esc_utf8_P",
        Both,
        "2: ESC before a character is left",
        &["x…POSIX Message", "yz"],
    ),
    (
        "ed3",
        Both,
        "5: the log does not forget",
        &["a", "b", "c", "d"],
    ),
    ("tab", New, TABS, &["a       b"]),
    ("tab_last", New, TABS, &["a                  b"]),
    (
        "hts_tbc",
        New,
        TABS,
        &["    x                                  y"],
    ),
    (
        "wide_overwrite_half2",
        Old,
        "7: half of a wide character takes the other along",
        &[" x文"],
    ),
    (
        "alt_1049",
        Both,
        NOTE,
        &["a", "[full-screen program]", "bc"],
    ),
    (
        "alt_1047",
        Both,
        NOTE,
        &["a", "[full-screen program]", "b   c"],
    ),
    ("vim", Both, NOTE, &["[full-screen program]"]),
];
const MALFORMED: &str = "1: one U+FFFD per maximal subpart";
const TABS: &str = "6: tabs become spaces";
const NOTE: &str = "a full-screen program is one line";

fn strings(value: &Value) -> Vec<String> {
    let array = value.as_array().expect("lines");
    array
        .iter()
        .map(|line| line.as_str().expect("a line").to_owned())
        .collect()
}

/// Compares both versions' answers to one input; returns what is wrong.
fn check(name: &str, bytes: &[u8], case: &Value) -> Vec<String> {
    let size = |key: &str| case[key].as_u64().expect("a size") as u16;
    let mut wrong = Vec::new();
    for (version, key, deviates) in [("3.3a", "tmux33a", Old), ("3.7c", "tmux37c", New)] {
        let args = sized(size("cols"), size("rows"), &["--tmux", version]);
        let ours = lines(&cook(bytes, &args));
        let theirs = strings(&case[key]["joined"]);
        let deviation = DEVIATIONS
            .iter()
            .find(|(deviant, at, ..)| *deviant == name && (*at == deviates || *at == Both));
        let expected = match deviation {
            Some((_, _, why, lines)) => {
                if *lines == theirs {
                    wrong.push(format!("{name}: {why}: is none any more"));
                }
                lines.iter().map(|line| line.to_string()).collect()
            }
            None => theirs,
        };
        if ours != expected {
            wrong.push(format!("{name} in {version}: {ours:?}, not {expected:?}"));
        }
        // The screen is the end of the rows.
        let args = sized(size("cols"), size("rows"), &["--tmux", version, "--screen"]);
        let ours = lines(&cook(bytes, &args));
        let rows = strings(&case[key]["rows"]);
        let history = case[key]["hist"].as_u64().expect("a number") as usize;
        let expected = rows.get(history.min(rows.len())..).unwrap_or_default();
        if deviation.is_none() && ours != expected {
            wrong.push(format!(
                "{name} in {version}: screen {ours:?}, not {expected:?}"
            ));
        }
    }
    wrong
}

#[test]
fn probes() {
    let text = std::fs::read_to_string(format!("{DATA}/probes.json")).expect("the probes");
    let probes: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let mut wrong = Vec::new();
    for probe in &probes {
        let name = probe["name"].as_str().expect("a name");
        // The bytes are written as Latin-1.
        let bytes: Vec<u8> = probe["bytes"]
            .as_str()
            .expect("bytes")
            .chars()
            .map(|c| c as u8)
            .collect();
        wrong.extend(check(name, &bytes, probe));
    }
    assert!(probes.len() > 70 && wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn captures_of_real_programs() {
    let text =
        std::fs::read_to_string(format!("{DATA}/captures/expected.json")).expect("the answers");
    let captures: Value = serde_json::from_str(&text).expect("JSON");
    let mut wrong = Vec::new();
    for (name, case) in captures.as_object().expect("captures") {
        let bytes = std::fs::read(format!("{DATA}/captures/{name}.raw")).expect("the capture");
        wrong.extend(check(name, &bytes, case));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
