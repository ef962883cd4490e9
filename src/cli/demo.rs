//! `paneglass demo`: the main job in front of the user, in a state directory and a tmux server of its own.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use super::flags::{Parsed, Syntax};
use crate::config::Config;
use crate::serve::direct::Direct;
use crate::store::dir;
use crate::sys::random;
use crate::tmux::Tmux;

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass demo",
    about: "\
Shows the main job in a private session: opens it, runs a failing build, finds
the error, mends it, builds again, answers a question. Prints what an agent
would see. Needs only tmux and bash; leaves nothing behind.",
    words: "",
    flags: &[],
    notes: "",
    examples: &["paneglass demo | less"],
};

/// A build that needs no compiler: a hundred steps, one of which fails until a file has the right word in it.
const BUILD: &str = r#"#!/bin/sh
i=1
while [ $i -le 100 ]; do
    echo "[$i/100] compiling part$i.c"
    if [ $i = 57 ] && ! grep -q 'return 0;' part57.c; then
        echo "part57.c:3:12: error: expected expression before ';' token" >&2
        echo "    3 |     return ;" >&2
        bad=1
    fi
    i=$((i + 1))
done
[ -z "$bad" ] && echo "build ok" || { echo "build failed" >&2; exit 2; }
"#;

const PART: &str = "int main(void)\n{\n    return ;\n}\n";

pub fn run(_args: &Parsed) -> ExitCode {
    super::finish("paneglass demo", demo())
}

/// Removes what the demo made, however it ends.
struct Stage {
    root: PathBuf,
    tmux: Tmux,
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.tmux.kill_server();
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

fn demo() -> Result<(), String> {
    let name = format!(
        "paneglass-demo-{}",
        random::hex(4).map_err(|error| error.to_string())?
    );
    let base = super::config()?;
    let root = std::env::temp_dir().join(&name);
    dir::private(&root).map_err(|error| error.to_string())?;
    let config = Config {
        home: root.join("state"),
        tmux_socket: name,
        attach_prefix: Vec::new(),
        toolsets: vec!["terminal".into()],
        ..base
    };
    let stage = Stage {
        root: root.clone(),
        tmux: Tmux::new(config.tmux.clone(), config.tmux_socket.clone()),
    };
    write(&root.join("build.sh"), BUILD)?;
    write(&root.join("part57.c"), PART)?;
    let direct = Direct::new(&config, "demo");
    let act = |title: &str, tool: &str, arguments: Value, want: fn(&Map<String, Value>) -> bool| {
        step(&direct, title, tool, arguments, want)
    };
    act(
        "An agent opens a session.",
        "session_create",
        // What it types is not for the user's history.
        json!({ "name": "demo", "cwd": root, "env": { "HISTFILE": "" } }),
        |_| true,
    )?;
    act(
        "It builds. The status is exact; a long output comes back with its middle left out, led by the failure in it.",
        "run",
        json!({ "session": "demo", "input": "sh build.sh", "max_lines": 8 }),
        |facts| facts.get("exit_code") == Some(&json!(2)),
    )?;
    act(
        "Every line is still there: it finds the error.",
        "search",
        json!({ "session": "demo", "pattern": "error:", "context": 1 }),
        |facts| facts.get("total_matches") == Some(&json!(1)),
    )?;
    act(
        "It mends the file and builds again, only the last line shown.",
        "run",
        json!({ "session": "demo", "input": "sed -i 's/return ;/return 0;/' part57.c && sh build.sh", "last_lines": 1 }),
        |facts| facts.get("exit_code") == Some(&json!(0)),
    )?;
    act(
        "A command asks a question: it says so instead of hanging.",
        "run",
        json!({ "session": "demo", "input": "read -p 'Install? [y/N] ' answer && echo \"answer: $answer\"" }),
        |facts| facts.get("status") == Some(&json!("waiting")),
    )?;
    act(
        "The agent answers.",
        "run",
        json!({ "session": "demo", "input": "y" }),
        |facts| facts.get("status") == Some(&json!("done")),
    )?;
    act(
        "A pipeline tells the status of every stage.",
        "run",
        json!({ "session": "demo", "input": "false | true" }),
        |facts| facts.get("pipestatus") == Some(&json!([1, 0])),
    )?;
    act(
        "The session goes; outside a demo its log would stay.",
        "session_close",
        json!({ "session": "demo" }),
        |_| true,
    )?;
    drop(direct);
    drop(stage);
    super::print(
        "All of that was real. Register paneglass with your MCP client: see the README.\n",
    );
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Makes one call, prints it and its reply, and checks that it came to what the demo says.
fn step(
    direct: &Direct,
    title: &str,
    tool: &str,
    arguments: Value,
    want: fn(&Map<String, Value>) -> bool,
) -> Result<(), String> {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let shown = Value::Object(arguments.clone());
    super::print(&format!("{title}\n> {tool} {shown}\n"));
    let result = direct.call(tool, arguments);
    let reply: String = super::clean(&result.text)
        .lines()
        .map(|line| format!("  {line}\n"))
        .collect();
    super::print(&format!("{reply}\n"));
    let facts = result
        .facts
        .as_ref()
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    if result.is_error {
        return Err(format!("{tool} failed: {}", result.text));
    }
    if !want(&facts) {
        return Err(format!(
            "{tool} did not come to what it should; paneglass doctor may say why. Facts: {}",
            Value::Object(facts)
        ));
    }
    Ok(())
}
