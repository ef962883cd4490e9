//! The panes of programs, as a person and capture_pane see them.

use serde_json::json;

use crate::programs_argv::{Programs, id};
use crate::util::skip::have;

#[test]
fn a_running_programs_screen() {
    if !have("a_running_programs_screen", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let script = r"seq 100; printf '10%%\r20%%\r30%%'; read x";
    let started = programs.record(
        "start_program",
        json!({"argv": ["sh", "-c", script], "cols": 40, "rows": 10}),
    );
    let (id, mut text) = (id(&started), String::new());
    while !text.ends_with("30%") {
        let read = programs.read_from(&id, text.len() as u64);
        text.push_str(read["text"].as_str().expect("a text"));
    }
    let screen = programs.record("capture_pane", json!({"paneId": started["paneId"]}));
    let rows: Vec<&str> = screen["text"]
        .as_str()
        .expect("a text")
        .split('\n')
        .collect();
    assert_eq!(
        (rows.len(), rows[0], rows[9]),
        (10, "92", "30%"),
        "{screen}"
    );
    for (name, value) in [
        ("cols", 40),
        ("rows", 10),
        ("historyRows", 91),
        ("cursorRow", 9),
        ("cursorColumn", 3),
        ("start", 0),
    ] {
        assert_eq!(screen[name], value, "{name}: {screen}");
    }
    let above = programs.record(
        "capture_pane",
        json!({"paneId": "p1", "start": -91, "maxRows": 3}),
    );
    assert_eq!(
        (&above["text"], &above["shownRows"]),
        (&json!("1\n2\n3"), &json!(3))
    );
    let above = programs.record(
        "capture_pane",
        json!({"paneId": "p1", "start": -5000, "maxRows": 1}),
    );
    assert_eq!(
        (&above["text"], &above["start"]),
        (&json!("1"), &json!(-91))
    );
    for (arguments, reason) in [
        (
            json!({"paneId": "p1", "start": 10}),
            "below the screen, whose rows are 0 to 9",
        ),
        (json!({"paneId": "%4711"}), "names no pane"),
        (json!({"paneId": "nobody"}), "there is no session"),
        (json!({"paneId": "p1", "start": 0.5}), "a whole number"),
    ] {
        let text = programs.refusal("capture_pane", arguments);
        assert!(text.contains(reason), "{text}");
    }
    // A tmux without sessions is one that is about to end; here it stays so.
    programs.tmux(&["set-option", "-g", "exit-empty", "off"]);
    programs.record("stop_program", json!({"programId": id}));
    let text = programs.refusal("capture_pane", json!({"paneId": started["paneId"]}));
    assert!(text.contains("names no pane"), "{text}");
}

#[test]
fn beside_another_pane() {
    if !have("beside_another_pane", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    programs.open(json!({"name": "t1"}));
    let front = programs.tmux(&["display-message", "-p", "-t", "=t1:", "#{pane_id}"]);
    let started = programs.record(
        "start_program",
        json!({"argv": ["sh", "-c", "echo first byte; exit 4"], "fromPaneId": "t1"}),
    );
    let attach = format!(
        "attach -t =t1 ';' select-pane -t {}",
        started["paneId"].as_str().expect("an id")
    );
    assert!(
        started["attach"]
            .as_str()
            .expect("a command")
            .ends_with(&attach),
        "{started}"
    );
    let (text, end) = programs.read_all(&id(&started));
    assert_eq!(
        (text.as_str(), &end["exitStatus"]),
        ("first byte\n", &json!(4))
    );
    // It is kept open for who watches, and what was in front still is.
    let panes = |programs: &Programs| {
        programs.tmux(&[
            "list-panes",
            "-t",
            "=t1:",
            "-F",
            "#{pane_id} #{pane_active}",
        ])
    };
    let seen = format!(
        "{} 1\n{} 0\n",
        front.trim(),
        started["paneId"].as_str().expect("an id")
    );
    assert_eq!(panes(&programs), seen);
    let mut programs = programs.restarted(|| {});
    let (_, end) = programs.read_all(&id(&started));
    assert_eq!(end["exitStatus"], 4);
    programs.record("stop_program", json!({"programId": started["programId"]}));
    assert_eq!(panes(&programs), format!("{} 1\n", front.trim()));
    assert_eq!(programs.run("echo on").body(), "on");
}
