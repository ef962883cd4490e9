//! The recipes for sandboxes that the README has do the main job, or say in one line which setting makes it work.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::util::binary;
use crate::util::client::Client;
use crate::util::dir::Dir;
use crate::util::podman::Podman;
use crate::util::skip::{find, have};

const README: &str = include_str!("../README.md");

/// A user that no database of this machine knows.
const NOBODY: &str = "--uid 48213 --gid 48213";

/// The recipe of the README that runs this program, on one line.
fn recipe(program: &str) -> String {
    let blocks = README.split("\n```bash\n").skip(1);
    let mut blocks = blocks.filter_map(|rest| rest.split("\n```").next());
    blocks
        .find(|block| block.starts_with(program))
        .unwrap_or_else(|| panic!("no recipe with {program}"))
        .replace("\\\n", " ")
}

/// A folder with the binary that a sandbox with a /tmp of its own sees too; none when all of the package is in /tmp.
struct Bin {
    folder: PathBuf,
}

impl Bin {
    fn new(test: &str) -> Option<Bin> {
        let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
        if tmp.starts_with("/tmp") {
            println!("SKIP {test}: a target directory outside of /tmp");
            return None;
        }
        let folder = tmp.join(format!("{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("cargo made the directory for this");
        let program = folder.join("paneglass");
        fs::copy(binary(), &program).expect("room for the binary");
        // Whoever runs in the sandbox may start it.
        for path in [&folder, &program] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("just made");
        }
        Some(Bin { folder })
    }

    fn path(&self) -> String {
        let path = std::env::var("PATH").unwrap_or_default();
        format!("{}:{path}", self.folder.display())
    }
}

impl Drop for Bin {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Whether this machine lets a process make namespaces, which takes more than having the program.
fn can_make_namespaces(test: &str) -> bool {
    if !have(test, "bwrap") || !have(test, "tmux") {
        return false;
    }
    let mut bwrap = Command::new("bwrap");
    let tried = bwrap.args(["--unshare-all", "--ro-bind", "/", "/", "true"]);
    let works = tried.output().is_ok_and(|output| output.status.success());
    if !works {
        println!("SKIP {test}: a system that lets bwrap make namespaces");
    }
    works
}

/// As on a machine where nothing but the PATH is known: tmux keeps its socket in the sandbox's own /tmp.
fn environment<'a>(path: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&[("PATH", path), ("TMUX_TMPDIR", "")], more].concat()
}

/// Opens a session, reads every status of a pipeline, and gets non-ASCII text through.
fn main_job(client: &mut Client) {
    client.shake_hands("2025-06-18");
    client.text("session_create", json!({ "name": "box" }));
    let piped = client.tool("run", json!({ "session": "box", "input": "false | true" }));
    assert_eq!(piped.facts["pipestatus"], json!([1, 0]), "{piped:?}");
    let said = client.text(
        "run",
        json!({ "session": "box", "input": "echo 'é漢字🙂'" }),
    );
    assert!(said.contains("\né漢字🙂"), "{said}");
}

#[test]
fn the_bubblewrap_recipe_does_the_main_job() {
    let test = "the_bubblewrap_recipe_does_the_main_job";
    let (true, Some(bin)) = (can_make_namespaces(test), Bin::new(test)) else {
        return;
    };
    let path = bin.path();
    let mut client = Client::by(&recipe("bwrap"), &environment(&path, &[]));
    main_job(&mut client);
    let asked = json!({ "session": "box", "input": "read -p 'Sure? ' x; echo \"said $x\"" });
    let asked = client.tool("run", asked);
    assert_eq!(asked.status(), "waiting", "{asked:?}");
    let answered = client.text("run", json!({ "session": "box", "input": "yes" }));
    assert!(answered.contains("said yes"), "{answered}");
    // What the recipe says is so.
    let tried = client.text(
        "run",
        json!({ "session": "box", "input": "touch /usr/x; echo interfaces: $(tail -n +3 /proc/net/dev | cut -d: -f1); echo processes: $(ls -d /proc/[0-9]* | wc -l)" }),
    );
    assert!(tried.contains("Read-only file system"), "{tried}");
    assert!(tried.contains("\ninterfaces: lo\n"), "{tried}");
    let count = tried.split("processes: ").nth(1).expect("a count");
    let count: u32 = count
        .lines()
        .next()
        .unwrap_or_default()
        .parse()
        .expect("a number");
    assert!(count < 30, "the host's processes are to be seen: {count}");
}

#[test]
fn it_works_for_a_user_without_an_entry_a_home_a_locale_or_a_runtime_directory() {
    let test = "it_works_for_a_user_without_an_entry_a_home_a_locale_or_a_runtime_directory";
    let (true, Some(bin)) = (can_make_namespaces(test), Bin::new(test)) else {
        return;
    };
    let path = bin.path();
    let bare = [
        ("HOME", ""),
        ("SHELL", ""),
        ("LC_ALL", ""),
        ("XDG_RUNTIME_DIR", ""),
        ("PANEGLASS_SOCKET", ""),
    ];
    let line = recipe("bwrap").replacen("bwrap ", &format!("bwrap {NOBODY} "), 1);
    main_job(&mut Client::by(&line, &environment(&path, &bare)));
}

#[test]
fn it_works_without_proc() {
    let test = "it_works_without_proc";
    let (true, Some(bin)) = (can_make_namespaces(test), Bin::new(test)) else {
        return;
    };
    let line = recipe("bwrap").replacen("--proc /proc", "--tmpfs /proc", 1);
    assert!(line.contains("--tmpfs /proc"), "{line}");
    let path = bin.path();
    main_job(&mut Client::by(&line, &environment(&path, &[])));
}

#[test]
fn it_works_with_a_tmux_that_no_path_names() {
    let test = "it_works_with_a_tmux_that_no_path_names";
    let (true, Some(bin)) = (can_make_namespaces(test), Bin::new(test)) else {
        return;
    };
    let tmux = find(test, "tmux", &[]).expect("it was found before");
    let hidden = bin.folder.join("other");
    fs::create_dir(&hidden).expect("just made");
    let other = hidden.join("tmux-of-another-name");
    fs::copy(&tmux, &other).expect("room for tmux");
    // A PATH without tmux, but with what a shell needs.
    let tools = bin.folder.join("tools");
    fs::create_dir(&tools).expect("just made");
    for name in ["bash", "sh", "ls", "bwrap"] {
        if let Some(found) = find(test, name, &[]) {
            std::os::unix::fs::symlink(found, tools.join(name)).expect("just made");
        }
    }
    let path = format!("{}:{}", bin.folder.display(), tools.display());
    let other = other.display().to_string();
    let line = recipe("bwrap");
    main_job(&mut Client::by(
        &line,
        &environment(&path, &[("PANEGLASS_TMUX", &other)]),
    ));
}

#[test]
fn a_home_that_cannot_be_used_is_told_with_the_setting_that_helps() {
    let test = "a_home_that_cannot_be_used_is_told_with_the_setting_that_helps";
    let (true, Some(bin)) = (can_make_namespaces(test), Bin::new(test)) else {
        return;
    };
    let line = recipe("bwrap").replacen("--setenv PANEGLASS_HOME /tmp/paneglass", "", 1);
    assert!(!line.contains("PANEGLASS_HOME"), "{line}");
    let path = bin.path();
    // A home that is read-only.
    let homeless = [("HOME", "/usr"), ("PANEGLASS_HOME", "")];
    let mut client = Client::by(&line, &environment(&path, &homeless));
    client.shake_hands("2025-06-18");
    let failed = client.tool("session_create", json!({}));
    let text = failed.text.as_str();
    assert!(failed.is_error, "{text}");
    assert!(
        text.contains("Read-only file system") && text.contains("set PANEGLASS_HOME"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1, "{text}");
    // None at all, and no entry to take one from.
    let nobody = line.replacen("bwrap ", &format!("bwrap {NOBODY} "), 1);
    let homeless = [("HOME", ""), ("PANEGLASS_HOME", "")];
    let mut client = Client::by(&nobody, &environment(&path, &homeless));
    assert_eq!(client.exit().code(), Some(1));
    let told = client.stderr();
    assert!(told.contains("set PANEGLASS_HOME"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn the_podman_recipe_does_the_main_job() {
    let test = "the_podman_recipe_does_the_main_job";
    if !have(test, "tmux") {
        return;
    }
    let (Some(podman), Some(bin)) = (Podman::here(test), Bin::new(test)) else {
        return;
    };
    let program = bin.folder.join("paneglass").display().to_string();
    let line = recipe("podman").replacen("IMAGE paneglass", &format!("IMAGE {program}"), 1);
    let path = bin.path();
    main_job(&mut Client::by(
        &podman.line(&line),
        &environment(&path, &[]),
    ));
}

/// What doctor says under a name.
fn fact(dir: &Dir, name: &str, environment: &[(&str, &str)]) -> Value {
    let ran = dir.run_with(&["doctor", "--json"], environment);
    let facts: Value = serde_json::from_str(&ran.out).expect("JSON");
    let mut facts = facts.as_array().expect("an array").iter();
    let fact = facts.find(|fact| fact["name"] == name);
    fact.unwrap_or_else(|| panic!("no fact {name}")).clone()
}

#[test]
fn doctor_names_the_setting_that_helps() {
    if !have("doctor_names_the_setting_that_helps", "tmux") {
        return;
    }
    let dir = Dir::new();
    let open = dir.path().join("open");
    fs::create_dir(&open).expect("the test's own directory");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).expect("just made");
    let in_open = open.join("s.sock").display().to_string();
    let absent = dir.path().join("absent").display().to_string();
    let file = dir.path().join("file");
    fs::write(&file, "").expect("the test's own directory");
    let in_file = file.join("state").display().to_string();
    let long = format!("/tmp/{}", "x".repeat(120));
    let long_socket = format!("{long}/s.sock");
    for (name, variable, value, state, remedy) in [
        ("tmux-socket", "TMUX_TMPDIR", &absent, "BAD", "TMUX_TMPDIR"),
        ("tmux-socket", "TMUX_TMPDIR", &long, "BAD", "TMUX_TMPDIR"),
        (
            "socket",
            "PANEGLASS_SOCKET_PATH",
            &in_open,
            "less",
            "chmod 700",
        ),
        (
            "socket",
            "PANEGLASS_SOCKET_PATH",
            &long_socket,
            "less",
            "shorter",
        ),
        ("state", "PANEGLASS_HOME", &in_file, "BAD", "PANEGLASS_HOME"),
    ] {
        let told = fact(&dir, name, &[(variable, value)]);
        assert_eq!(told["state"], state, "{told}");
        let text = told["remedy"].as_str().expect("a remedy");
        assert!(text.contains(remedy), "{told}");
    }
    for name in ["room", "tmux-socket", "socket", "state"] {
        let told = fact(&dir, name, &[]);
        assert_eq!(told["state"], "ok", "{told}");
    }
}

#[test]
fn demo_and_doctor_stay_out_of_the_history() {
    if !have("demo_and_doctor_stay_out_of_the_history", "tmux") {
        return;
    }
    let dir = Dir::new();
    for command in ["demo", "doctor"] {
        dir.run(&[command]).good();
        let history = dir.path().join(".bash_history");
        assert!(
            !history.exists(),
            "{command}: {:?}",
            fs::read_to_string(history)
        );
    }
}
