//! A directory of a test's own, and the binary's commands run in it to their end.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::client::{DEADLINE, SOCKET, end_tmux, private_dir};

/// Dropped, it goes, together with the tmux server whose socket is in it.
pub struct Dir {
    path: PathBuf,
}

/// How a command ended, and what it printed.
#[derive(Debug)]
pub struct Ran {
    /// The command line: what a failure's message says first.
    #[expect(dead_code, reason = "read by the derived Debug only")]
    line: String,
    /// None when a signal ended it.
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Dir {
    pub fn new() -> Dir {
        Dir {
            path: private_dir(),
        }
    }

    /// The directory: HOME, with `state` (PANEGLASS_HOME), `run` and `tmux` in it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A command in the directory, with nothing of the user's own in its environment and no standard input.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.path)
            .env("SHELL", "/bin/bash")
            .env("LC_ALL", "C.UTF-8")
            .env("XDG_RUNTIME_DIR", self.path.join("run"))
            .env("TMUX_TMPDIR", self.path.join("tmux"))
            .env("PANEGLASS_HOME", self.path.join("state"))
            .env("PANEGLASS_SOCKET", SOCKET)
            .current_dir(&self.path)
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary with these arguments to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, &[])
    }

    /// The same with more environment variables.
    pub fn run_with(&self, args: &[&str], environment: &[(&str, &str)]) -> Ran {
        let mut command = self.command(super::binary());
        command.args(args).envs(environment.iter().copied());
        self.end(command, &format!("paneglass {}", args.join(" ")))
    }

    /// Runs a command to its end, which must come.
    pub fn end(&self, mut command: Command, line: &str) -> Ran {
        let files = ["out", "err"].map(|name| self.path.join(name));
        // Files rather than pipes: whatever the command leaves running cannot keep the test waiting for their end.
        let [out, err] = files
            .each_ref()
            .map(|path| File::create(path).expect("a file of the test's own"));
        let mut child = Running(
            command
                .stdout(out)
                .stderr(err)
                .spawn()
                .unwrap_or_else(|error| panic!("{line} does not start: {error}")),
        );
        let deadline = Instant::now() + DEADLINE;
        let code = loop {
            if let Some(status) = child.0.try_wait().expect("the command is our child") {
                break status.code();
            }
            assert!(Instant::now() < deadline, "{line} does not end");
            std::thread::sleep(Duration::from_millis(2));
        };
        let [out, err] = files.map(|path| {
            let bytes = fs::read(path).expect("a file of the test's own");
            String::from_utf8(bytes).expect("what is printed is UTF-8")
        });
        Ran {
            line: line.into(),
            code,
            out,
            err,
        }
    }
}

impl Ran {
    /// What it printed, when it ended well and complained of nothing.
    pub fn good(&self) -> &str {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self:?}");
        &self.out
    }

    /// The one line on stderr, when it failed with this code and printed nothing else.
    pub fn bad(&self, code: i32) -> &str {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{self:?}");
        let line = self.err.strip_suffix('\n').unwrap_or_default();
        assert!(!line.is_empty() && !line.contains('\n'), "{self:?}");
        assert!(line.starts_with("paneglass"), "{self:?}");
        line
    }
}

/// A child that is ended and reaped when a test gives up on it.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only when it has ended, which is what is wanted.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        end_tmux(&self.path.join("tmux"));
        drop(fs::remove_dir_all(&self.path));
    }
}
