//! Lines that grow, by the rule.

use super::*;

fn here(line: u64, text: &str, after: &str) -> Here {
    Here {
        line: Some(line),
        text: text.into(),
        after: after.into(),
    }
}

fn view(canonical: bool) -> View {
    View {
        verdict: Verdict::Waiting,
        hedged: false,
        waits_by: None,
        alone: true,
        foreground: None,
        process: None,
        relays: 0,
        secret: false,
        canonical,
        echo: canonical,
        unread: 0,
        running: false,
        cpu_ticks: 0,
    }
}

fn told(text: &str, prompt: bool) -> Standing {
    Standing {
        told: Some(Stood {
            here: here(7, text, ""),
            reader: Some(reader(&view(false))),
            prompt,
        }),
        ..Standing::default()
    }
}

fn typed(standing: &Standing, here: &Here, is_prompt: bool) -> Option<String> {
    let grown = standing.grown(here, &view(false), is_prompt);
    grown.map(|grown| grown.typed)
}

#[test]
fn what_grows_where_something_waits_was_typed() {
    let question = told("Delete? ", false);
    assert_eq!(
        typed(&question, &here(7, "Delete? no ", ""), false).as_deref(),
        Some("no")
    );
    for (line, text, is_prompt) in [
        (7, "Delete?   ", false),
        (7, "Deleted", false),
        (8, "Delete? no", false),
        // The program has ended, on the same line.
        (7, "Delete? ~ $ ", true),
    ] {
        assert_eq!(
            typed(&question, &here(line, text, ""), is_prompt),
            None,
            "{text}"
        );
    }
}

#[test]
fn a_prompt_is_known_wherever_it_is_drawn() {
    let prompt = told("~ # ", true);
    for (here, is_prompt) in [
        (here(7, "~ # ls", ""), false),
        (here(9, "~ # ls", ""), false),
        (here(7, "~ # ", "ls"), true),
        (here(9, "~ # ", "ls"), true),
    ] {
        assert_eq!(
            typed(&prompt, &here, is_prompt).as_deref(),
            Some("ls"),
            "{here:?}"
        );
    }
    // What was typed may look like a prompt; a longer prompt on a line of its own is one.
    assert!(typed(&prompt, &here(7, "~ # echo $ ", ""), true).is_some());
    assert!(typed(&prompt, &here(9, "~ # sub # ", ""), true).is_none());
    // Another reads there: the question of a command.
    let asks = prompt.grown(&here(9, "~ # of files", ""), &view(true), false);
    assert_eq!(asks, None);
}

#[test]
fn a_pause_counts_unless_the_job_worked_in_it() {
    let mut standing = Standing::default();
    standing.paused(here(3, "Delete? ", ""), 10);
    assert_eq!(
        typed(&standing, &here(3, "Delete? n", ""), false).as_deref(),
        Some("n")
    );
    // Later pauses, between a person's keys, change nothing.
    standing.paused(here(3, "Delete? n", ""), 11);
    assert_eq!(
        typed(&standing, &here(3, "Delete? no", ""), false).as_deref(),
        Some("no")
    );
    standing.works(12);
    assert_eq!(typed(&standing, &here(3, "Delete? no", ""), false), None);
    standing.paused(here(4, "Are you ", ""), 12);
    assert_eq!(typed(&standing, &here(4, "Are you in", ""), false), None);
    standing.paused(here(5, "Are you ", ""), 13);
    assert_eq!(
        typed(&standing, &here(5, "Are you sure? ", ""), false),
        None
    );
    // Where nothing stands, what comes first is the program's.
    standing.paused(here(6, "", ""), 14);
    assert_eq!(typed(&standing, &here(6, "Name", ""), false), None);
}
