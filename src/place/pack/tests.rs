//! What is packed comes out again, in every awk that is here.

use std::io::Write;
use std::process::{Command, Stdio};

use super::*;

/// What an awk of this machine makes of it.
fn unpacked(awk: &[&str], packed: &str) -> String {
    let mut child = Command::new(awk[0])
        .args(&awk[1..])
        .arg(unpacker())
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
    let long = include_str!("../../../shell/bash/integration.bash");
    let texts = [
        "",
        "a",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
        "x='it'\\''s' \"q\" ! ~ \n\n",
        long,
    ];
    let awks: [&[&str]; 4] = [&["awk"], &["mawk"], &["gawk"], &["busybox", "awk"]];
    for awk in awks.iter().filter(|awk| there(awk[0])) {
        for text in texts {
            let packed = pack(text).unwrap();
            assert_eq!(unpacked(awk, &packed), text, "{awk:?}");
            assert!(packed.chars().all(|c| !"'\"\\!\n".contains(c)));
        }
    }
    assert!(pack(long).unwrap().len() < long.len() / 2);
}

#[test]
fn only_what_can_be_written() {
    assert_eq!(pack("é"), None);
    assert_eq!(pack("\t"), None);
}

#[test]
fn buckets_count_on_without_a_gap() {
    let mut last = (0, 0, 0);
    for value in 1..70_000 {
        let (code, bits, extra) = bucket(value);
        let follows = (code, extra) == (last.0, last.2 + 1)
            || code == last.0 + 1 && extra == 0 && last.2 + 1 == 1 << last.1;
        assert!(follows || value == 1, "{value}");
        last = (code, bits, extra);
    }
}
