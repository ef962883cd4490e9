//! `paneglass shell`.

use super::files;
use super::harness::Home;
use crate::util::binary;
use std::process::{Command, Output};

fn shell(args: &[&str]) -> Output {
    Command::new(binary())
        .arg("shell")
        .args(args)
        .output()
        .unwrap()
}

#[test]
fn prints_each_script() {
    for (name, text) in [
        ("bash", files::bash()),
        ("zsh", files::zsh()),
        ("fish", files::fish()),
    ] {
        let output = shell(&[name]);
        assert!(output.status.success());
        assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
    }
}

#[test]
fn writes_all_files() {
    let home = Home::new();
    let dir = home.path("a/b");
    assert!(shell(&["--dir", dir.to_str().unwrap()]).status.success());
    for name in [
        "bash/rc",
        "bash/integration.bash",
        "zsh/.zshenv",
        "zsh/integration.zsh",
        "fish/integration.fish",
    ] {
        assert!(dir.join(name).is_file(), "{name}");
    }
    let output = shell(&["--dir", "/proc/none"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .starts_with("paneglass shell: cannot write /proc/none/")
    );
}

#[test]
fn usage() {
    assert!(String::from_utf8_lossy(&shell(&["--help"]).stdout).contains("Examples:"));
    for args in [
        &[][..],
        &["tcsh"],
        &["bash", "zsh"],
        &["--dir"],
        &["--nonsense"],
    ] {
        let output = shell(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1);
    }
}

/// The scripts pass their own shells' syntax checks, and shellcheck where it knows the language.
#[test]
fn scripts_are_clean() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("shell");
    for (program, args) in [
        ("shellcheck", &["bash/rc", "bash/integration.bash"][..]),
        ("zsh", &["-n", "zsh/zshenv"]),
        ("zsh", &["-n", "zsh/integration.zsh"]),
        ("fish", &["-n", "fish/integration.fish"]),
    ] {
        if crate::util::skip::have("scripts_are_clean", program) {
            let output = Command::new(program)
                .args(args)
                .current_dir(&root)
                .output()
                .unwrap();
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(
                output.status.success() && said.is_empty(),
                "{program} {args:?}: {said}"
            );
        }
    }
}
