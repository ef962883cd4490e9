//! The checks of the package as a whole: lengths, hosts and paths, dependencies.

use crate::{CRATES, DATA_TABLES, FILE_LINES};

/// Files that are too long to be read.
pub fn long(files: &[(String, Vec<u8>)]) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, bytes) in files {
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
        let made = path.starts_with("tests/data/") || path == "Cargo.lock";
        if DATA_TABLES.contains(&path.as_str()) {
            let text = String::from_utf8_lossy(bytes);
            if text
                .lines()
                .any(|line| line.starts_with("impl ") || line.starts_with("fn "))
            {
                faults.push(format!("{path}: a data table with code in it"));
            }
        } else if lines > FILE_LINES && !made {
            faults.push(format!("{path}: {lines} lines, over {FILE_LINES}"));
        }
    }
    faults
}

/// Hosts of package registries and paths of a developer's machine. Spelled apart, since this file is read as well.
fn forbidden() -> Vec<String> {
    let hosts = [
        ["crates", "io"],
        ["pypi", "org"],
        ["pythonhosted", "org"],
        ["npmjs", "org"],
        ["npmjs", "com"],
        ["debian", "org"],
        ["golang", "org"],
    ];
    let paths = ["work", "root", "home"];
    hosts
        .iter()
        .map(|parts| parts.join("."))
        .chain(paths.iter().map(|name| format!("/{name}/")))
        .collect()
}

/// Lines that name a package registry's host or a path of somebody's machine.
pub fn hosts_and_paths(files: &[(String, Vec<u8>)]) -> Vec<String> {
    let forbidden = forbidden();
    let mut faults = Vec::new();
    for (path, bytes) in files {
        let text = String::from_utf8_lossy(bytes);
        for (index, line) in text.lines().enumerate() {
            let source = path == "Cargo.lock" && line.starts_with("source = ");
            for name in forbidden.iter().filter(|name| !source && names(line, name)) {
                faults.push(format!("{path}:{}: names {name}", index + 1));
            }
        }
    }
    faults
}

/// Whether a line has the name, and not only as the end of a longer path.
fn names(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let inner = line[..at].ends_with(|c: char| c.is_alphanumeric() || "_}])*".contains(c));
        !(name.starts_with('/') && inner)
    })
}

/// Faults of Cargo.toml: dependencies that are not allowed, and whatever runs code while building.
pub fn manifest(text: &str) -> Vec<String> {
    let allowed = |name: &str| {
        let name = name.trim().trim_matches('"').replace('-', "_");
        CRATES.iter().any(|(known, _)| *known == name)
    };
    let mut faults = Vec::new();
    let mut section = "";
    for line in text.lines().map(str::trim) {
        let header = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let key = line.split_once('=').map(|(key, _)| key.trim());
        if let Some(header) = header {
            section = header.trim_matches(['[', ']']);
            if section.contains("build-dependencies") || section.starts_with("target.") {
                faults.push(format!("Cargo.toml: [{section}]"));
            }
        }
        let named = match (section, header, key) {
            ("dependencies" | "dev-dependencies", None, Some(key)) if !line.starts_with('#') => {
                key.split('.').next()
            }
            (_, Some(header), _) => header
                .strip_prefix("dependencies.")
                .or_else(|| header.strip_prefix("dev-dependencies.")),
            _ => None,
        };
        faults.extend(
            named
                .filter(|name| !allowed(name))
                .map(|name| format!("Cargo.toml: {name} is not an allowed crate")),
        );
        if section == "package" && matches!(key, Some("build" | "links")) {
            faults.push(format!("Cargo.toml: {line}"));
        }
    }
    for needed in [
        "edition = \"2024\"",
        "rust-version = \"1.85\"",
        "autotests = false",
    ] {
        if !text.lines().any(|line| line == needed) {
            faults.push(format!("Cargo.toml: {needed} is missing"));
        }
    }
    faults
}

/// Packages of Cargo.lock that come from anywhere but the registry.
pub fn lock(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.strip_prefix("source = "))
        .filter(|source| !source.starts_with("\"registry+"))
        .map(|source| format!("Cargo.lock: {source} is no registry"))
        .collect()
}
