//! `paneglass launch DIR`: the first process in a session's pane. Starts the session's own program with the exact arguments,
//! environment and folder that the server wrote down, and ends as it ends, once the terminal has taken in all that
//! was printed.

use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::Duration;

use crate::store::atomic;
use crate::store::end::End;
use crate::store::layout::SessionDir;
use crate::store::spawn::Spawn;
use crate::sys::{limits, parent, stop};

/// What tmux has set for this very pane and the program must keep.
const FROM_TMUX: [&str; 5] = [
    "TERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TMUX",
    "TMUX_PANE",
];

/// As a shell would report it: not found, and found but not executable.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;

/// tmux answers in milliseconds, however much it has to draw first: it takes in over 30 MB a second.
const PATIENCE: Duration = Duration::from_secs(5);

pub fn run(mut args: lexopt::Parser) -> ExitCode {
    let Ok(dir) = args.value() else {
        eprintln!("paneglass launch: it is started by tmux for a session, as launch DIR");
        return ExitCode::from(2);
    };
    let dir = SessionDir {
        path: PathBuf::from(dir),
    };
    let code = match Spawn::take(&dir.spawn()) {
        Ok(spawn) => launch(&dir, spawn),
        Err(error) => {
            eprintln!("paneglass launch: {error}");
            ExitCode::from(NOT_EXECUTABLE)
        }
    };
    // A terminal that cannot be asked has gone, and its log has ended with it.
    let _ = parent::wait_until_shown(PATIENCE);
    code
}

fn launch(dir: &SessionDir, spawn: Spawn) -> ExitCode {
    let Some((program, arguments)) = spawn.argv.split_first() else {
        eprintln!("paneglass launch: no program is named");
        return not_started(dir, NOT_FOUND);
    };
    if let Err(error) = limits::set_descriptors(spawn.descriptors) {
        eprintln!("paneglass launch: cannot restore the limit on open files: {error}");
    }
    stop::reset_signals();
    if spawn.adopt {
        if let Err(error) = parent::adopt_orphans() {
            eprintln!("paneglass launch: cannot keep track of processes left behind: {error}");
        }
    }
    if let Err(error) = std::env::set_current_dir(&spawn.cwd) {
        eprintln!("paneglass: cannot enter {}: {error}", spawn.cwd.display());
        return not_started(dir, NOT_EXECUTABLE);
    }
    let kept = FROM_TMUX
        .iter()
        .filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(kept)
        .envs(spawn.env);
    let started = command.spawn();
    // A folder in use keeps its file system from being unmounted.
    let _ = std::env::set_current_dir("/");
    let id = match started {
        Ok(child) => child.id(),
        Err(error) => {
            eprintln!(
                "paneglass: cannot start {program} in {}: {error}",
                spawn.cwd.display()
            );
            let missing = error.kind() == ErrorKind::NotFound;
            return not_started(dir, if missing { NOT_FOUND } else { NOT_EXECUTABLE });
        }
    };
    let passed_on = parent::step_back(id);
    let written = atomic::replace(&dir.program(), id.to_string().as_bytes());
    for error in [
        passed_on.err().map(|error| error.to_string()),
        written.err().map(|error| error.to_string()),
    ]
    .into_iter()
    .flatten()
    {
        eprintln!("paneglass launch: {error}");
    }
    match parent::wait(id) {
        Ok(status) => {
            if let Some(end) = end_of(status) {
                record(dir, end);
            }
            end_as(status)
        }
        Err(error) => {
            eprintln!("paneglass launch: cannot wait for {program}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn not_started(dir: &SessionDir, status: u8) -> ExitCode {
    record(dir, End::NotStarted(status.into()));
    ExitCode::from(status)
}

fn end_of(status: ExitStatus) -> Option<End> {
    let exited = status.code().map(End::Exited);
    exited.or(status.signal().map(End::Signalled))
}

/// Writes down how the program ended. Not when its terminal was taken from it: then that is how it ended.
fn record(dir: &SessionDir, end: End) {
    if !parent::hung_up() {
        // tmux tells the end as well.
        let _ = end.write(&dir.end());
    }
}

fn end_as(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        let _ = parent::wait_until_shown(PATIENCE);
        parent::end_by(signal);
    }
    ExitCode::from(
        status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .unwrap_or(1),
    )
}
