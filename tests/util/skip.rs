//! Tests that need a program which is not there say so, or fail where PANEGLASS_TEST_REQUIRE names it.

/// True when `program` is on the PATH. Prints `SKIP test: program` when it is not, and panics instead when
/// PANEGLASS_TEST_REQUIRE (comma separated) names the program: CI must never skip what it installed.
pub fn have(test: &str, program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|dir| dir.join(program).is_file()) {
        return true;
    }
    let required = std::env::var("PANEGLASS_TEST_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|name| name.trim() == program),
        "{test} needs {program}, which PANEGLASS_TEST_REQUIRE says is there"
    );
    println!("SKIP {test}: {program}");
    false
}
