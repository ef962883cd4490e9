//! A program's output by cursor: each byte once, the same at every asking, and waiting for it.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::programs_argv::{Programs, id};
use crate::util::skip::have;

/// Characters of a page.
const PAGE: usize = 24_000;

fn numbers(last: u32) -> String {
    (1..=last).map(|n| format!("{n}\n")).collect()
}

#[test]
fn pages_end_on_line_breaks() {
    if !have("pages_end_on_line_breaks", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let id = programs.begin_program(&["sh", "-c", "seq 20000; printf '%050000d' 7; exit 3"]);
    let wanted = numbers(20_000) + &"0".repeat(49_999) + "7";
    // Until it has ended: then no page is short for want of output.
    let (text, _) = programs.read_all(&id);
    assert!(text == wanted);
    let (mut cursor, mut pages) = (0, 0);
    let end = loop {
        let read = programs.read_from(&id, cursor as u64);
        let text = read["text"].as_str().expect("a text");
        assert!(wanted[cursor..].starts_with(text));
        cursor += text.len();
        assert_eq!(read["cursor"], cursor, "the text is ASCII");
        pages += 1;
        // Its end is known from the first page on; that all has been returned is not.
        assert_eq!(
            (&read["outcome"], &read["exitStatus"]),
            (&json!("completed"), &json!(3))
        );
        if read["ended"] == true {
            break read;
        }
        assert_eq!(read["outputComplete"], false);
        // The long line does not fit into the page of the last short ones.
        let whole = text.len() > PAGE - 7 || cursor == numbers(20_000).len();
        let full = text.len() == PAGE || text.ends_with('\n') && whole;
        assert!(full, "{} bytes at {cursor}", text.len());
    };
    assert_eq!(
        (cursor, &end["outputComplete"]),
        (wanted.len(), &json!(true))
    );
    assert_eq!(pages, 8, "5 pages of lines, then the long line");
    let few = json!({"programId": id, "cursor": 0, "maxLines": 7});
    let few = programs.record("read_program", few);
    assert_eq!(
        (&few["text"], &few["ended"]),
        (&json!(numbers(7)), &json!(false))
    );
}

/// Reads `last` lines one by one while they are printed. How many reads that took.
fn line_by_line(last: u32) -> u32 {
    let mut programs = Programs::new(&[]);
    let script = format!("i=0; while [ $i -lt {last} ]; do i=$((i+1)); echo $i; done; exit 9");
    let id = programs.begin_program(&["sh", "-c", &script]);
    let (mut text, mut cursor, mut reads) = (String::new(), 0, 0);
    loop {
        let arguments =
            json!({"programId": id, "cursor": cursor, "maxLines": 1, "timeoutMs": 60_000});
        // The answers are many: they are not kept for a transcript.
        let read = programs.record("read_program", arguments);
        text.push_str(read["text"].as_str().expect("a text"));
        cursor = read["cursor"].as_u64().expect("a number");
        reads += 1;
        if read["ended"] == true {
            assert_eq!(
                (&read["exitStatus"], &read["outputComplete"]),
                (&json!(9), &json!(true))
            );
            assert!(text == numbers(last), "lines are missing or doubled");
            return reads;
        }
    }
}

#[test]
fn many_short_reads_return_each_byte_once() {
    if !have("many_short_reads_return_each_byte_once", "tmux") {
        return;
    }
    assert!(line_by_line(5_000) >= 5_000);
}

#[test]
#[ignore = "takes minutes; run by hand with a release binary in PANEGLASS_BIN"]
fn a_million_short_reads_return_each_byte_once() {
    let begun = Instant::now();
    let reads = line_by_line(1_000_000);
    println!("{reads} reads in {:?}", begun.elapsed());
}

#[test]
fn the_same_cursor_gives_the_same_text_again() {
    if !have("the_same_cursor_gives_the_same_text_again", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let go = programs.home().join("go");
    let script = format!(
        r"for i in $(seq 3000); do printf '\033[1m%d é漢\033[m\r%d%%\n' $i $i; done; while ! [ -e {} ]; do sleep 0.01; done; echo after",
        go.display()
    );
    let id = programs.begin_program(&["sh", "-c", &script]);
    let wanted: String = (1..=3000).map(|n| format!("{n} é漢\n{n}%\n")).collect();
    let mut text = String::new();
    while text.len() < wanted.len() {
        let read = programs.read_from(&id, text.len() as u64);
        text.push_str(read["text"].as_str().expect("a text"));
    }
    assert!(text == wanted);
    let cursors = [0, 7, 24_000, 30_011, wanted.len() - 9, wanted.len()];
    let ask = |programs: &mut Programs| -> Vec<serde_json::Value> {
        let read = |cursor: &usize| {
            let arguments =
                json!({"programId": id, "cursor": cursor, "timeoutMs": 0, "maxLines": 300});
            programs.record("read_program", arguments)
        };
        let places = cursors.iter().filter(|at| wanted.is_char_boundary(**at));
        places.map(read).collect()
    };
    let before = ask(&mut programs);
    assert!(before.len() > 3);
    let mut programs = programs.restarted(|| {});
    assert_eq!(ask(&mut programs), before);
    let mut programs = programs.restarted(|| fs::write(&go, "").expect("the test's own"));
    let read = programs.read_from(&id, wanted.len() as u64);
    assert_eq!(read["text"], "after\n");
    let (again, end) = programs.read_all(&id);
    assert!(again == wanted + "after\n" && end["outputComplete"] == true);
}

#[test]
fn cursors_that_no_read_returned() {
    if !have("cursors_that_no_read_returned", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let program = programs.begin_program(&["printf", "é漢"]);
    assert_eq!(programs.read_all(&program).0, "é漢");
    for (cursor, reason) in [
        (
            json!(1),
            "cursor 1 is inside a character; the output ends at 5",
        ),
        (json!(4), "inside a character; the output ends at 5"),
        (json!(6), "cursor 6 is beyond the output, which ends at 5"),
        (
            json!(4_000_000_000_000u64),
            "beyond the output, which ends at 5",
        ),
        (json!(-1), "`cursor` must be a whole number from 0"),
        (json!("0"), "`cursor` must be a whole number from 0"),
    ] {
        let text = programs.refusal(
            "read_program",
            json!({"programId": program, "cursor": cursor}),
        );
        assert!(text.contains(reason), "{text}");
    }
    for (arguments, reason) in [
        (json!({}), "`programId` is required"),
        (
            json!({"programId": "x".repeat(65)}),
            "at most 64 characters",
        ),
        (json!({"programId": "p0"}), program.as_str()),
        (json!({"programId": program, "maxLines": 0}), "`maxLines`"),
    ] {
        let text = programs.refusal("read_program", arguments);
        assert!(text.contains(reason), "{text}");
    }
}

#[test]
fn a_read_waits_as_long_as_it_may() {
    if !have("a_read_waits_as_long_as_it_may", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[("PANEGLASS_WAIT_MAX_MS", "300")]);
    let go = programs.home().join("go");
    let script = "read line < \"$0\"; printf %s \"$line\"; cat \"$0\"";
    let made = std::process::Command::new("mkfifo").arg(&go).status();
    assert!(made.expect("mkfifo starts").success());
    let id = programs.begin_program(&["sh", "-c", script, go.to_str().expect("UTF-8")]);
    for (timeout, effective) in [
        (json!(0), 0),
        (json!(50), 50),
        (json!(1_000_000), 300),
        (json!(null), 300),
    ] {
        let begun = Instant::now();
        let read = programs.record(
            "read_program",
            json!({"programId": id, "timeoutMs": timeout}),
        );
        let waited = begun.elapsed();
        assert_eq!(
            (&read["effectiveTimeoutMs"], &read["text"], &read["cursor"]),
            (&json!(effective), &json!(""), &json!(0))
        );
        assert_eq!(
            (&read["outcome"], &read["ended"]),
            (&json!("running"), &json!(false))
        );
        assert!(waited >= Duration::from_millis(effective), "{waited:?}");
    }
    // New output ends a wait, also without a line break.
    let call = json!({"name": "read_program", "arguments": {"programId": id}});
    let waiting = programs.begin("tools/call", call);
    fs::write(&go, "one\n").expect("the fifo has a reader");
    let answer = programs.answer(waiting)["result"].clone();
    let mut read = programs.checked("read_program", &answer);
    // On a slow machine that wait was over first.
    while read["text"] == "" {
        read = programs.read_from(&id, 0);
    }
    assert_eq!(read["text"], "one");
}

#[test]
fn a_read_can_be_cancelled() {
    if !have("a_read_can_be_cancelled", "tmux") {
        return;
    }
    let mut programs = Programs::new(&[]);
    let started = programs.record("start_program", json!({"argv": ["cat"]}));
    let id = id(&started);
    let call =
        json!({"name": "read_program", "arguments": {"programId": id, "timeoutMs": 600_000}});
    let waiting = programs.begin("tools/call", call);
    programs.notify("notifications/cancelled", json!({"requestId": waiting}));
    // The next one gets what comes then; nothing is sent for the first any more.
    programs.tool(
        "send",
        json!({"session": "p1", "text": "hello\n", "wait_ms": 0}),
    );
    let read = programs.read_from(&id, 0);
    assert!(
        read["text"]
            .as_str()
            .expect("a text")
            .starts_with("hello\n"),
        "{read}"
    );
    programs.record("stop_program", json!({"programId": id, "signal": "KILL"}));
    programs.close_input();
    let late = programs.rest();
    assert!(
        late.iter().all(|message| message["id"] != waiting),
        "{late:?}"
    );
}
