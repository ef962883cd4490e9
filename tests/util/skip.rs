//! Tests that need a program which is not there say so, or fail where PANEGLASS_TEST_REQUIRE names it.

use std::path::PathBuf;

/// True when `program` is on the PATH. Prints `SKIP test: program` when it is not, and panics instead when
/// PANEGLASS_TEST_REQUIRE (comma separated) names the program: CI must never skip what it installed.
pub fn have(test: &str, program: &str) -> bool {
    find(test, program, &[]).is_some()
}

/// The same for a program that may stand in one of these folders too, which no PATH names: where it is.
pub fn find(test: &str, program: &str, also: &[PathBuf]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut dirs = std::env::split_paths(&path).chain(also.iter().cloned());
    if let Some(dir) = dirs.find(|dir| dir.join(program).is_file()) {
        return Some(dir.join(program));
    }
    let required = std::env::var("PANEGLASS_TEST_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|name| name.trim() == program),
        "{test} needs {program}, which PANEGLASS_TEST_REQUIRE says is there"
    );
    println!("SKIP {test}: {program}");
    None
}
