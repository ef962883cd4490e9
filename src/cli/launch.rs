//! `paneglass launch DIR`: the first program in a session's pane. Becomes the session's own program, with the exact arguments,
//! environment and folder that the server wrote down; so its process id and its end are the pane's.

use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::store::layout::SessionDir;
use crate::store::spawn::Spawn;
use crate::sys::{limits, stop};

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

pub fn run(mut args: lexopt::Parser) -> ExitCode {
    let Ok(dir) = args.value() else {
        eprintln!("paneglass launch: it is started by tmux for a session, as launch DIR");
        return ExitCode::from(2);
    };
    let spawn = match Spawn::take(
        &SessionDir {
            path: PathBuf::from(dir),
        }
        .spawn(),
    ) {
        Ok(spawn) => spawn,
        Err(error) => {
            eprintln!("paneglass launch: {error}");
            return ExitCode::from(NOT_EXECUTABLE);
        }
    };
    let Some((program, arguments)) = spawn.argv.split_first() else {
        eprintln!("paneglass launch: no program is named");
        return ExitCode::from(NOT_FOUND);
    };
    if let Err(error) = limits::set_descriptors(spawn.descriptors) {
        eprintln!("paneglass launch: cannot restore the limit on open files: {error}");
    }
    stop::reset_signals();
    let kept = FROM_TMUX
        .iter()
        .filter_map(|name| Some((*name, std::env::var_os(name)?)));
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(&spawn.cwd)
        .env_clear()
        .envs(kept)
        .envs(spawn.env);
    let error = command.exec();
    eprintln!(
        "paneglass: cannot start {program} in {}: {error}",
        spawn.cwd.display()
    );
    ExitCode::from(if error.kind() == ErrorKind::NotFound {
        NOT_FOUND
    } else {
        NOT_EXECUTABLE
    })
}
