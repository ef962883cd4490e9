//! A clipped reply leads with the failures in the part that it leaves out.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::util::client::Client;
use crate::util::skip::have;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/summaries")
}

/// The numbered lines of `text` whose number is in the range.
fn between(text: &str, first: u64, last: u64) -> Vec<String> {
    let number = |line: &&str| line.split(": ").next()?.parse::<u64>().ok();
    text.lines()
        .filter(|line| number(line).is_some_and(|n| (first..=last).contains(&n)))
        .map(str::to_owned)
        .collect()
}

#[test]
fn clipped_replies_lead_with_the_failure() {
    if !have("clipped_replies_lead_with_the_failure", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let mut led = 0;
    for entry in folder().read_dir().expect("the samples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|end| end != "txt") {
            continue;
        }
        client.run("clear");
        let reply = client.run_with(&format!("cat {}", path.display()), json!({"max_lines": 4}));
        let Some(omitted) = reply.facts["omitted"].as_array() else {
            continue;
        };
        // Lines of the log, to lines of the sample; a line that the terminal wraps is one all the same.
        let offset = reply.facts["first_line"].as_u64().expect("a number") - 1;
        let [first, last] = [0, 1].map(|at| omitted[at].as_u64().expect("a number"));
        let wanted = fs::read_to_string(path.with_extension("lead")).expect("what to lead with");
        // Such a line reads "3: text" here and "103: text" there.
        let wanted: Vec<String> = between(&wanted, first - offset, last - offset)
            .iter()
            .filter_map(|line| {
                let (number, text) = line.split_once(": ")?;
                let number = number.parse::<u64>().ok()? + offset;
                Some(format!("{number}: {}", text.replace('\t', " ")))
            })
            .collect();
        let Some((lead, output)) = reply.text.split_once("[the output:]\n") else {
            assert!(wanted.is_empty(), "{}: {}", path.display(), reply.text);
            continue;
        };
        led += 1;
        let lines: Vec<&str> = lead.lines().skip(1).collect();
        assert!(lines[0].contains("of the lines left out below, "), "{lead}");
        assert!(lines.len() <= 13, "{lead}");
        // A tab is blanks in the log.
        let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let told: Vec<String> = lines[1..].iter().map(|line| plain(line)).collect();
        for line in wanted.iter().map(|line| plain(line)) {
            assert!(told.contains(&line), "{line:?} is not in {lead}");
        }
        assert!(output.contains("lines omitted"), "{output}");
    }
    assert!(led > 25, "{led}");
}

#[test]
fn a_build_log_says_at_once_what_failed() {
    if !have("a_build_log_says_at_once_what_failed", "tmux") {
        return;
    }
    let script = "for n in $(seq 200); do echo \"cc -c part$n.c\"; done; echo 'part7.c:3:1: error: no such fruit'; \
                  for n in $(seq 200); do echo \"cc -c more$n.c\"; done";
    let mut client = Client::in_session();
    let reply = client.run(script);
    let lines: Vec<&str> = reply.text.lines().collect();
    let number = reply.facts["first_line"].as_u64().expect("a number") + 200;
    assert_eq!(
        lines[1..4],
        [
            "[of the lines left out below, those that tell of failures:]",
            &format!("{number}: part7.c:3:1: error: no such fruit"),
            "[the output:]",
        ],
        "{}",
        reply.text
    );
    // What is asked for is given as asked: no more.
    for more in [json!({"last_lines": 3}), json!({"show": "more200"})] {
        let asked = client.run_with(script, more);
        assert!(!asked.text.contains("no such fruit"), "{}", asked.text);
    }
    // An output that is shown whole needs no lead.
    let whole = client.run_with(script, json!({"max_lines": 1000}));
    assert!(!whole.text.contains("left out below"), "{}", whole.text);
    // wait tells the same way.
    let begun = client.run_with(&format!("{script}; read x"), json!({"until": "more200"}));
    assert!(begun.text.contains("[the output:]"), "{}", begun.text);
    drop(client);
    let mut client = Client::legacy_with(&[("PANEGLASS_SUMMARY", "0")]);
    client.open(json!({"name": "t1"}));
    let off = client.run(script);
    assert!(
        !off.text.contains("left out below") && off.text.contains("lines omitted"),
        "{}",
        off.text
    );
}
