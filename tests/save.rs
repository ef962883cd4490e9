//! save_to: a file that gets what a command prints, as a redirection would have it.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::time::Instant;

use serde_json::json;

use crate::util::client::{Client, DEADLINE};
use crate::util::skip::have;

#[test]
fn as_a_redirection_would_have_it() {
    if !have("as_a_redirection_would_have_it", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let home = client.home().to_owned();
    fs::create_dir(home.join("sub")).expect("a folder of the test's own");
    client.run("cd sub");
    // Tabs, blanks at the end, a missing last line break, long lines, both outputs, colours, carriage returns.
    for line in [
        r"printf 'a\tb  \n\n  c'",
        "seq 100000",
        "head -c 300000 /dev/zero | tr '\\0' x; echo",
        "echo out; echo err >&2",
        r"printf '\033[31mred\033[0m\n1 %%\r2 %%\rdone\ndos\r\n'",
        "true",
    ] {
        let saved = client.run_with(line, json!({"save_to": "out.txt"}));
        let path = home.join("sub/out.txt");
        assert_eq!(saved.facts["saved_to"], path.to_str().unwrap(), "{line}");
        let redirected = client.run(&format!("{{ {line}\n}} > want.txt 2>&1"));
        assert_eq!(redirected.facts["exit_code"], 0, "{}", redirected.text);
        let (got, want) = (
            fs::read(&path).expect("the file"),
            fs::read(home.join("sub/want.txt")),
        );
        let want = want.expect("the file");
        let same = got.iter().zip(&want).take_while(|(a, b)| a == b).count();
        let shown = |bytes: &[u8]| {
            let near = &bytes[same.saturating_sub(100)..bytes.len().min(same + 200)];
            String::from_utf8_lossy(near).into_owned()
        };
        assert!(
            got == want,
            "{line}: after {same} bytes {:?} for {:?}",
            shown(&got),
            shown(&want)
        );
        let size = saved
            .text
            .rsplit(": ")
            .next()
            .unwrap_or_default()
            .replace(',', "");
        assert!(
            size.starts_with(&format!("{} byte", got.len())),
            "{}",
            saved.text
        );
    }
    // Several lines: one after the other. A link is written through, and what was there before is gone.
    symlink("sub/out.txt", home.join("link")).expect("a link");
    let several = client.run_with("echo one\nfalse\necho two", json!({"save_to": "../link"}));
    assert_eq!(several.facts["regions"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        fs::read_to_string(home.join("sub/out.txt")).expect("the file"),
        "one\ntwo\n"
    );
    assert!(
        fs::symlink_metadata(home.join("link"))
            .expect("the link")
            .is_symlink()
    );
    // No temporary file is left.
    let names: Vec<_> = fs::read_dir(home.join("sub"))
        .expect("a folder")
        .flatten()
        .map(|file| file.file_name())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn it_is_kept_up_to_date_while_the_command_runs() {
    if !have("it_is_kept_up_to_date_while_the_command_runs", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let home = client.home().to_owned();
    client.run("mkfifo go");
    let line = "echo one; cat go; echo two; cat go; echo three";
    let begun = client.run_with(line, json!({"save_to": "out", "timeout_s": 1}));
    assert_eq!(begun.status(), "running", "{}", begun.text);
    assert!(begun.text.contains("4 bytes so far"), "{}", begun.text);
    let holds = |text: &str| {
        let deadline = Instant::now() + DEADLINE;
        while fs::read_to_string(home.join("out")).expect("the file") != text {
            assert!(
                Instant::now() < deadline,
                "{:?}",
                fs::read_to_string(home.join("out"))
            );
            std::thread::yield_now();
        }
    };
    holds("one\n");
    let inode = fs::metadata(home.join("out")).expect("the file").ino();
    // No call waits, and it grows all the same: `tail -f` may follow it.
    fs::write(home.join("go"), "").expect("the fifo has a reader");
    holds("one\ntwo\n");
    // Another copy begins with what was printed before.
    let waited = client.begin(
        "tools/call",
        json!({"name": "wait", "arguments": {"session": "t1", "save_to": "again", "timeout_s": 60}}),
    );
    fs::write(home.join("go"), "").expect("the fifo has a reader");
    client.answer(waited);
    holds("one\ntwo\nthree\n");
    assert_eq!(
        fs::metadata(home.join("out")).expect("the file").ino(),
        inode
    );
    assert_eq!(
        fs::read_to_string(home.join("again")).expect("the file"),
        "one\ntwo\nthree\n"
    );
    let idle = client.tool("wait", json!({"session": "t1", "save_to": "none"}));
    assert!(idle.text.contains("nothing was saved"), "{}", idle.text);
    assert!(!home.join("none").exists());
}

#[test]
fn a_file_that_cannot_be_written_types_nothing() {
    if !have("a_file_that_cannot_be_written_types_nothing", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let home = client.home().to_owned();
    for path in ["/nonexistent/x", "/dev/null", ".", ""] {
        let refused = client.run_with("echo typed", json!({"save_to": path}));
        assert!(
            refused.is_error && refused.text.contains("nothing was typed"),
            "{path}: {}",
            refused.text
        );
    }
    // A line that is refused leaves the file as it was.
    fs::write(home.join("kept"), "before").expect("a file of the test's own");
    client.run_with("sleep 600", json!({"timeout_s": 0}));
    let refused = client.run_with("echo typed", json!({"save_to": "kept"}));
    assert!(refused.is_error, "{}", refused.text);
    assert_eq!(
        fs::read_to_string(home.join("kept")).expect("the file"),
        "before"
    );
    let regions = client.tool("regions", json!({"session": "t1"}));
    assert_eq!(regions.body().lines().count(), 1, "{}", regions.text);
}

#[test]
fn the_answer_of_a_program_without_its_prompt() {
    let name = "the_answer_of_a_program_without_its_prompt";
    if !have(name, "tmux") || !have(name, "python3") {
        return;
    }
    let mut client = Client::in_session();
    let home = client.home().to_owned();
    client.run("python3 -q");
    client.run_with("print('a\\nb')", json!({"save_to": "out"}));
    assert_eq!(
        fs::read_to_string(home.join("out")).expect("the file"),
        "a\nb\n"
    );
}

/// What the command itself, or anybody else, has removed or replaced is not said to be there.
#[test]
fn a_file_that_has_gone_meanwhile_is_not_called_saved() {
    if !have("a_file_that_has_gone_meanwhile_is_not_called_saved", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    // It gets its name in the moment in which the line is typed.
    let named = "until [ -e out ]; do sleep 0.01; done";
    for line in ["rm out", "mv out other; echo x > out"] {
        let ran = client.run_with(&format!("{named}; {line}"), json!({"save_to": "out"}));
        assert!(
            ran.text.contains("removed or replaced meanwhile") && !ran.text.contains("saved to"),
            "{}",
            ran.text
        );
    }
    let ran = client.run_with("echo x; cat out", json!({"save_to": "out"}));
    assert!(ran.text.contains("saved to"), "{}", ran.text);
}

/// A copy ends with the server that makes it, and the next one says so, once.
#[test]
fn a_copy_that_was_cut_off_is_told() {
    if !have("a_copy_that_was_cut_off_is_told", "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let home = client.home().to_owned();
    client.run("mkfifo go");
    let run =
        json!({"session": "t1", "input": "echo one; cat go; echo two; cat go", "save_to": "out"});
    client.begin("tools/call", json!({"name": "run", "arguments": run}));
    let deadline = Instant::now() + DEADLINE;
    while fs::read_to_string(home.join("out")).unwrap_or_default() != "one\n" {
        assert!(Instant::now() < deadline, "it is not filled");
    }
    let mut client = client.killed_and_restarted(|| {
        fs::write(home.join("go"), "").expect("the fifo has a reader");
    });
    let still = client.tool("wait", json!({"session": "t1", "timeout_s": 1}));
    let told = format!("save_to {} holds only", home.join("out").display());
    assert!(still.text.contains(&told), "{}", still.text);
    fs::write(home.join("go"), "").expect("the fifo has a reader");
    let end = client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
    assert_eq!(end.facts["exit_code"], 0, "{}", end.text);
    assert!(!end.text.contains("save_to"), "{}", end.text);
    // One that goes on in the same server is not cut off.
    let begun = client.run_with(
        "echo one; cat go",
        json!({"save_to": "out", "timeout_s": 1}),
    );
    assert!(begun.text.contains("so far"), "{}", begun.text);
    fs::write(home.join("go"), "").expect("the fifo has a reader");
    let end = client.tool("wait", json!({"session": "t1", "timeout_s": 60}));
    assert!(
        end.text.contains("exit 0") && !end.text.contains("save_to"),
        "{}",
        end.text
    );
}
