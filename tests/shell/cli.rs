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
        "fish/share/fish/vendor_conf.d/paneglass.fish",
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

/// What was ever installed under a version is one text: another text is another version.
#[test]
fn the_version_rises_with_the_text() {
    let list = include_str!("../data/shell/versions");
    let mut text = Vec::new();
    for name in ["bash", "zsh", "fish"] {
        text.extend(shell(&[name]).stdout);
    }
    let home = Home::new();
    for name in [
        "bash/rc",
        "zsh/.zshenv",
        "fish/share/fish/vendor_conf.d/paneglass.fish",
    ] {
        text.extend(std::fs::read(home.path("pg").join(name)).unwrap());
    }
    let line = format!("{} {:016x}", files::VERSION, fnv(&text));
    let lines: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(
        lines.last(),
        Some(&line.as_str()),
        "the shell integration has changed: raise VERSION in src/place/files.rs, unless it is raised since the last \
         release, and let that line be the last of tests/data/shell/versions"
    );
    let numbers: Vec<u32> = lines
        .iter()
        .map(|line| line.split(' ').next().unwrap().parse().unwrap())
        .collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
}

/// FNV-1a, 64 bits: enough to tell a changed text.
fn fnv(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
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
        ("fish", &["-n", "fish/vendor.fish"]),
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
