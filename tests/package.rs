//! What a package of paneglass has in it: completions that are the program's own, and a Debian package that can be
//! installed, run and removed.

use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use crate::util::binary;
use crate::util::client::{Client, DEADLINE, SOCKET};
use crate::util::dir::Dir;
use crate::util::skip::have;

const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "paneglass.bash"),
    ("zsh", "_paneglass"),
    ("fish", "paneglass.fish"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_completions_are_what_the_program_prints() {
    let dir = Dir::new();
    for (shell, file) in COMPLETIONS {
        let path = root().join("shell/completions").join(file);
        let kept = fs::read_to_string(&path).expect("completions are committed");
        let printed = dir.run(&["completions", shell]);
        assert_eq!(
            printed.good(),
            kept,
            "write it anew: paneglass completions {shell} > shell/completions/{file}"
        );
    }
}

/// Asks a shell what it offers after a line.
fn offered(dir: &Dir, shell: &str, script: &str) -> Vec<String> {
    let folder = dir.path().join("bin");
    if !folder.exists() {
        fs::create_dir(&folder).expect("the test's own directory");
        std::os::unix::fs::symlink(binary(), folder.join("paneglass")).expect("just made");
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = dir.command(shell);
    command
        .args(["-c", script])
        .env("PATH", format!("{}:{path}", folder.display()));
    let ran = dir.end(command, script);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let words = ran.out.lines().filter_map(|line| line.split('\t').next());
    words.map(|word| word.trim().to_owned()).collect()
}

/// Command lines, each with something that is offered and something that is not.
const LINES: [(&str, &str, &str); 6] = [
    ("paneglass s", "serve", "list"),
    ("paneglass serve --", "--socket", "--json"),
    ("paneglass shell ", "fish", "serve"),
    ("paneglass attach ", "build", "attach"),
    ("paneglass list --j", "--json", "--help"),
    ("paneglass --no", "--no-bridge", "--version"),
];

#[test]
fn bash_and_fish_complete_commands_options_and_sessions() {
    let test = "bash_and_fish_complete_commands_options_and_sessions";
    if !have(test, "tmux") {
        return;
    }
    let dir = Dir::new();
    dir.run(&["call", "session_create", "name=build"]).good();
    let files = root().join("shell/completions").display().to_string();
    for (line, there, not) in LINES {
        let words = offered(
            &dir,
            "bash",
            &format!(
                "compopt() {{ :; }}; . {files}/paneglass.bash; line='{line}'; read -ra COMP_WORDS <<<\"$line\"; \
                 [[ $line == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _paneglass; \
                 printf '%s\\n' \"${{COMPREPLY[@]}}\""
            ),
        );
        assert!(
            words.iter().any(|word| word == there),
            "bash: {line}: {words:?}"
        );
        assert!(
            !words.iter().any(|word| word == not),
            "bash: {line}: {words:?}"
        );
    }
    if have(test, "fish") {
        for (line, there, not) in LINES {
            let script = format!("source {files}/paneglass.fish; complete -C '{line}'");
            let words = offered(&dir, "fish", &script);
            assert!(
                words.iter().any(|word| word == there),
                "fish: {line}: {words:?}"
            );
            assert!(
                !words.iter().any(|word| word == not),
                "fish: {line}: {words:?}"
            );
        }
    }
}

/// zsh completes only at its line editor, so it is asked there: in a session.
#[test]
fn zsh_completes_commands_options_and_sessions() {
    let test = "zsh_completes_commands_options_and_sessions";
    if !have(test, "tmux") || !have(test, "zsh") {
        return;
    }
    let mut client = Client::legacy_with(&[]);
    client.open(json!({ "name": "build" }));
    let folder = client.home().join("bin");
    let path = std::env::var("PATH").unwrap_or_default();
    fs::create_dir(&folder).expect("the test's own directory");
    std::os::unix::fs::symlink(binary(), folder.join("paneglass")).expect("just made");
    let path = format!("{}:{path}", folder.display());
    client.open(json!({ "name": "z", "command": "zsh", "env": { "PATH": path } }));
    let files = root().join("shell/completions").display().to_string();
    // Sessions are not told where the server keeps its state.
    let state = client.home().join("state").display().to_string();
    let setup = format!(
        "export PATH={path} PANEGLASS_HOME={state} PANEGLASS_SOCKET={SOCKET}; fpath=({files} $fpath); autoload -Uz compinit; compinit -u -D; \
         setopt noautomenu"
    );
    client.text("run", json!({ "session": "z", "input": setup }));
    for (line, there, not) in LINES {
        client.text("run", json!({ "session": "z", "input": "clear" }));
        let keys = json!({ "session": "z", "text": line, "keys": ["tab"] });
        client.text("send", keys);
        let deadline = Instant::now() + DEADLINE;
        let shown = loop {
            let screen = json!({ "session": "z", "view": "screen" });
            let shown = client.text("read", screen);
            let words = || shown.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
            if words().any(|word| word == there) {
                break words().map(String::from).collect::<Vec<String>>();
            }
            assert!(Instant::now() < deadline, "{line}: {shown}");
            client.text("wait", json!({ "session": "z", "timeout_s": 0 }));
        };
        let not_there = line.contains(not) || !shown.iter().any(|word| word == not);
        assert!(not_there, "{line}: {shown:?}");
        client.text("send", json!({ "session": "z", "keys": ["ctrl+u"] }));
    }
}

#[test]
fn a_debian_package_is_made_installed_run_and_removed() {
    let test = "a_debian_package_is_made_installed_run_and_removed";
    for program in ["tmux", "dpkg-deb", "dpkg", "readelf"] {
        if !have(test, program) {
            return;
        }
    }
    let dir = Dir::new();
    let mut script = dir.command("bash");
    script
        .arg(root().join("tests/package/deb.sh"))
        .arg(binary())
        .env_remove("TMUX_TMPDIR");
    let ran = dir.end(script, "deb.sh");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("installed, run and removed"), "{ran:?}");
}
