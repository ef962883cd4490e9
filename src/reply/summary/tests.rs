//! Each recogniser on a sample of its tool's output; see tests/data/summaries/README.md.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::*;

/// Every sample: its name, its text, and the lines that are to be lifted when all of it is left out.
fn samples() -> Vec<(String, String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/summaries");
    let mut samples = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "txt") {
            let text = std::fs::read_to_string(&path).unwrap();
            let wanted = std::fs::read_to_string(path.with_extension("lead")).unwrap();
            samples.push((path.display().to_string(), text, wanted));
        }
    }
    assert!(samples.len() > 30);
    samples
}

fn look<'a>(recognisers: &'a Recognisers, text: &str, omitted: (u64, u64)) -> Search<'a> {
    let mut search = recognisers.search(omitted);
    for (number, line) in (1..).zip(text.lines()) {
        search.line(number, line);
    }
    search
}

#[test]
fn every_sample_tells_what_failed() {
    let recognisers = Recognisers::new();
    for (name, text, wanted) in samples() {
        let (lines, _) = look(&recognisers, &text, (1, u64::MAX)).finish();
        let told: String = lines
            .iter()
            .map(|line| format!("{}: {}\n", line.number, line.text))
            .collect();
        assert_eq!(told, wanted, "{name}");
        assert!((1..=LINES_MOST).contains(&lines.len()), "{name}");
        for line in &lines {
            // Nothing is invented: it stands there, under that number.
            let there = text.lines().nth(line.number as usize - 1).unwrap();
            assert_eq!(line.text, there.trim_end(), "{name}");
        }
    }
}

#[test]
fn every_recogniser_has_a_sample() {
    let recognisers = Recognisers::new();
    let mut met = BTreeSet::new();
    for (_, text, _) in samples() {
        let search = look(&recognisers, &text, (1, u64::MAX));
        let signs = &search.signs;
        let counted = search.found.iter().map(|found| found.recogniser);
        met.extend(counted.filter(|&row| table::TABLE[row].sign.is_none() || signs[row]));
    }
    for (row, recogniser) in table::TABLE.iter().enumerate() {
        assert!(met.contains(&row), "{} is in no sample", recogniser.tool);
    }
}

#[test]
fn the_table_is_sound() {
    let recognisers = Recognisers::new();
    assert_eq!(recognisers.set.len(), recognisers.meanings.len());
    for rule in table::TABLE.iter().flat_map(|row| row.rules) {
        let patterns = match rule {
            Rule::After(pattern, next) => vec![pattern, next],
            Rule::Failure(pattern)
            | Rule::Detail(pattern)
            | Rule::Last(pattern)
            | Rule::PassOver(pattern) => vec![pattern],
        };
        for pattern in patterns {
            assert!(Regex::new(pattern).is_ok(), "{pattern}");
        }
    }
}

#[test]
fn only_what_is_left_out_and_not_too_much_of_it() {
    let recognisers = Recognisers::new();
    let check = |text: &str, omitted, wanted: &[u64], all| {
        let (lines, found) = look(&recognisers, text, omitted).finish();
        let numbers: Vec<u64> = lines.iter().map(|line| line.number).collect();
        assert_eq!((numbers.as_slice(), found), (wanted, all), "{text}");
    };
    let errors: String = (1..=40)
        .map(|n| format!("a.c:{n}: error: number {n}\n"))
        .chain(["make: *** [a.o] Error 1\n".into()])
        .collect();
    check(&errors, (3, 5), &[3, 4, 5], 3);
    check(
        &errors,
        (1, 41),
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 41],
        41,
    );
    check("a.c:1: error: x\n".repeat(5).as_str(), (1, 5), &[1], 1);
    // What a source, a log or a document says of errors is none of a runner's.
    let quiet =
        "  return error;\nlog: error happened\n1) first\n# fail\nERROR\nprintf(\"FAILED\");\n";
    check(quiet, (1, 9), &[], 0);
    check("✖ not a runner's\n   1) no runner\n", (1, 9), &[], 0);
    // A detail tells nothing without a failure.
    check("E   assert x\n", (1, 9), &[], 0);
    let long = format!("a.c:1: error: {}\n", "é".repeat(5_000));
    let (lines, _) = look(&recognisers, &long, (1, 1)).finish();
    assert_eq!(lines[0].text.chars().count(), LINE_CHARS + 1);
    assert_eq!(
        lead(&lines[..1], 7).lines().next(),
        Some("[of the lines left out below, 1 of 7 that tell of failures:]")
    );
}
