//! Sessions' folders. Time passes by dating files back.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::client::DEADLINE;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub fn folder(home: &Path, name: &str) -> PathBuf {
    home.join("state/sessions").join(name)
}

/// As if nobody had used the session for so many days. What a server makes again at its start keeps its date.
pub fn age(home: &Path, name: &str, days: u32) {
    let then = SystemTime::now() - DAY * days;
    for entry in fs::read_dir(folder(home, name)).expect("a session's folder") {
        let path = entry.expect("an entry").path();
        if path.file_name().is_some_and(|name| name != "session.txt") {
            let file = fs::File::options().append(true).open(&path);
            file.and_then(|file| file.set_modified(then))
                .expect("a file of the test's own");
        }
    }
}

/// Waits until the folder has gone.
pub fn goes(path: &Path) {
    let deadline = Instant::now() + DEADLINE;
    while path.exists() {
        assert!(Instant::now() < deadline, "{} stays", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}
