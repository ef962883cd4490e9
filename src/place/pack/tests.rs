//! What is packed comes out again, in every awk that is here.

use std::io::Write;
use std::process::{Command, Stdio};

use super::*;

/// What an awk of this machine makes of the first sections.
fn unpacked(awk: &[&str], sections: usize, packed: &str) -> String {
    let mut child = Command::new(awk[0])
        .args(&awk[1..])
        .args(["-v", &format!("g={sections}"), &unpacker()])
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(packed.as_bytes())
        .unwrap();
    let out = child.wait_with_output().unwrap();
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn awk_makes_the_text_again() {
    let there = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|dir| dir.join(name).exists())
    };
    let rc = include_str!("../../../shell/bash/rc");
    let texts = [
        "aaaaaaaaaaaaaaaaaaaa\n",
        "",
        "x='it'\\''s' \"q\" ! ~ \n\n",
        rc,
    ];
    let packed = pack(&texts).unwrap();
    assert!(packed.chars().all(|c| !"'\"\\!\n".contains(c)));
    let awks: [&[&str]; 5] = [
        &["awk"],
        &["mawk"],
        &["gawk"],
        &["original-awk"],
        &["busybox", "awk"],
    ];
    for awk in awks.iter().filter(|awk| there(awk[0])) {
        for sections in 1..=texts.len() {
            let want = texts[..sections].concat();
            assert_eq!(unpacked(awk, sections, &packed), want, "{awk:?}");
        }
    }
}

#[test]
fn scripts_become_less_than_half() {
    let script = include_str!("../../../shell/bash/integration.bash");
    assert!(pack(&[script]).unwrap().len() < script.len() * 45 / 100);
}

#[test]
fn only_what_can_be_written() {
    assert_eq!(pack(&["é"]), None);
    assert_eq!(pack(&["\t"]), None);
    assert!(pack(&[]).is_some());
}
