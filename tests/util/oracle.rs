//! tmux as an oracle: bytes in, what tmux's own grid holds afterwards. Its panes have no process; tmux parses what
//! is forwarded to them exactly as what a program prints.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Something done to a terminal.
#[derive(Clone, Debug)]
pub enum Step {
    Feed(Vec<u8>),
    Resize(u16, u16),
}

/// A terminal and what is done to it.
#[derive(Clone, Debug)]
pub struct Case {
    pub cols: u16,
    pub rows: u16,
    pub steps: Vec<Step>,
}

/// What tmux holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// History and screen as logical lines, without trailing blanks and trailing empty lines.
    pub joined: Vec<String>,
    /// The screen's rows, the same way.
    pub rows: Vec<String>,
    pub cursor: (u16, u16),
    pub history: u32,
}

/// A tmux server of our own, on a private socket.
pub struct Oracle {
    dir: PathBuf,
    next: u32,
}

/// Asked about in one go: tmux reads them in one connection.
const BATCH: usize = 40;
/// Between two answers in one output. No case prints it.
const BOUNDARY: &str = "=-=-=";

impl Oracle {
    pub fn start() -> Oracle {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "pg-oracle-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir(&dir).expect("a folder for the socket");
        let oracle = Oracle { dir, next: 0 };
        // Wide enough for a pane to be split off and moved to a window of its own.
        oracle.tmux(
            &[
                "new-session",
                "-d",
                "-s",
                "k",
                "-x",
                "200",
                "-y",
                "60",
                "exec sleep 3600",
            ],
            None,
        );
        oracle.tmux(&["set", "-g", "history-limit", "100000"], None);
        oracle
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command
            .arg("-S")
            .arg(self.dir.join("s"))
            .args(["-u", "-f", "/dev/null"]);
        command
            .env_remove("TMUX")
            .env("LC_ALL", "C.UTF-8")
            .env("HOME", &self.dir);
        command
    }

    fn tmux(&self, args: &[&str], input: Option<&[u8]>) -> String {
        let mut command = self.command();
        command.args(args).stdin(if input.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        });
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("tmux starts");
        if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
            stdin.write_all(input).expect("tmux reads");
        }
        let output = child.wait_with_output().expect("tmux ends");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tmux {args:?}: {error}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The version of tmux, as `tmux -V` prints it.
    pub fn version(&self) -> String {
        self.tmux(&["-V"], None)
    }

    /// What tmux holds after each case.
    pub fn ask(&mut self, cases: &[Case]) -> Vec<Answer> {
        cases
            .chunks(BATCH)
            .flat_map(|batch| self.ask_batch(batch))
            .collect()
    }

    fn ask_batch(&mut self, cases: &[Case]) -> Vec<Answer> {
        let names: Vec<String> = cases.iter().map(|_| self.window()).collect();
        let mut make = Vec::new();
        for (name, case) in names.iter().zip(cases) {
            make.extend(words(&format!(
                "split-window -d -t k:0 {{}} ; break-pane -d -s k:0.1 -n {name} ;"
            )));
            make.extend(words(&format!(
                "resize-window -t k:{name} -x {} -y {} ;",
                case.cols, case.rows
            )));
        }
        self.run(&make, None);
        for (name, case) in names.iter().zip(cases) {
            // A pane without a process takes LF for CR LF until it is reset.
            self.tmux(
                &["display-message", "-I", "-t", &format!("k:{name}")],
                Some(b"\x1bc"),
            );
            for step in &case.steps {
                match step {
                    Step::Feed(bytes) if bytes.is_empty() => {}
                    Step::Feed(bytes) => {
                        self.tmux(
                            &["display-message", "-I", "-t", &format!("k:{name}")],
                            Some(bytes),
                        );
                    }
                    Step::Resize(cols, rows) => {
                        self.run(
                            &words(&format!("resize-window -t k:{name} -x {cols} -y {rows}")),
                            None,
                        );
                    }
                }
            }
        }
        let mut read = Vec::new();
        for name in &names {
            read.extend(words(&format!(
                "capture-pane -p -J -t k:{name} -S - -E - ; display -p {BOUNDARY} ;"
            )));
            read.extend(words(&format!(
                "capture-pane -p -t k:{name} ; display -p {BOUNDARY} ;"
            )));
            read.extend(words(&format!(
                "display -p -t k:{name} #{{cursor_x}}/#{{cursor_y}}/#{{history_size}} ;"
            )));
            read.extend(words(&format!(
                "display -p {BOUNDARY} ; kill-window -t k:{name} ;"
            )));
        }
        let text = self.run(&read, None);
        let boundary = format!("{BOUNDARY}\n");
        let mut parts = text.split(boundary.as_str());
        let mut next = || parts.next().expect("an answer to each case");
        let mut answers = Vec::new();
        for _ in cases {
            let (joined, rows, rest) = (next(), next(), next());
            let mut numbers = rest
                .trim()
                .split('/')
                .map(|number| number.parse::<u32>().expect("a number"));
            let mut number = || numbers.next().expect("three numbers");
            answers.push(Answer {
                joined: lines(joined),
                rows: lines(rows),
                cursor: (number() as u16, number() as u16),
                history: number(),
            });
        }
        answers
    }

    fn window(&mut self) -> String {
        self.next += 1;
        format!("c{}", self.next)
    }

    fn run(&self, args: &[String], input: Option<&[u8]>) -> String {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.tmux(&args, input)
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // The server ends with its last session; the socket goes with the folder.
        let _ = self
            .command()
            .args(["kill-server"])
            .stderr(Stdio::null())
            .status();
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Splits at spaces; `{}` is an empty word.
fn words(text: &str) -> Vec<String> {
    text.split(' ')
        .map(|word| {
            if word == "{}" {
                String::new()
            } else {
                word.to_owned()
            }
        })
        .collect()
}

/// Lines without trailing blanks and trailing empty lines.
pub fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text
        .split('\n')
        .map(|line| line.trim_end_matches(' ').to_owned())
        .collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}
