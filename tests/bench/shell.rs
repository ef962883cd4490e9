//! What the shell integration adds to a prompt: each shell with it beside the same shell without, line by line in
//! turn.

#[path = "../../src/place/files.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "of it only the files and how a shell starts are wanted here"
)]
mod files;

use crate::util::pty::Pty;
use files::Shell;

use std::path::Path;
use std::time::{Duration, Instant};

/// Lines typed to each shell, for each kind of line. Odd, so that there is a median.
const LINES: usize = 301;

/// Before each line, as nobody types in the very moment in which a prompt appears: fish is still at work then, and
/// draws what is typed into that in one go, or not, by chance (a millisecond in either table).
const PAUSE: Duration = Duration::from_millis(2);

/// How long a prompt may take before the run is given up.
const PATIENCE: Duration = Duration::from_secs(10);

/// Prints the table: the time until the prompt is back and the shell's CPU time, medians per prompt in milliseconds.
pub fn run() {
    println!("shell  line    plain: wall    cpu   integrated: wall    cpu   added: wall    cpu");
    let home = std::env::temp_dir().join(format!("pgb{}", std::process::id()));
    std::fs::create_dir_all(home.join(".config/fish"))
        .expect("the temporary directory is writable");
    std::fs::create_dir_all(home.join(".local/share/fish/generated_completions"))
        .expect("as above");
    files::write(&home.join("pg")).expect("as above");
    let rc = "PS1='@@ '\nHISTFILE=\n";
    let prompt = "function fish_prompt; echo '@@ '; end\nset -g fish_greeting\n";
    for (name, text) in [
        (".bash_profile", rc),
        (".zshrc", rc),
        (".config/fish/config.fish", prompt),
    ] {
        std::fs::write(home.join(name), text).expect("as above");
    }
    for (name, shell) in [
        ("bash", Shell::Bash),
        ("zsh", Shell::Zsh),
        ("fish", Shell::Fish),
    ] {
        let plain = (vec![name.to_string(), "-l".to_string()], Vec::new());
        let launch = files::launch(shell, &home.join("pg"), "bench");
        let (Some(mut plain), Some(mut marked)) = (
            Timed::start(plain, &home),
            Timed::start((launch.argv, launch.env), &home),
        ) else {
            println!("{name:<6} not here");
            continue;
        };
        for (kind, line) in [
            ("empty", "\r"),
            ("true", "true\r"),
            ("cd", "cd /usr/share/doc\rcd /\r"),
        ] {
            let prompts = line.matches('\r').count();
            let (mut without, mut with) = (Vec::new(), Vec::new());
            for _ in 0..LINES {
                without.push(plain.line(line, prompts));
                with.push(marked.line(line, prompts));
            }
            let per = |samples: &[(f64, f64)]| {
                let middle = |of: fn(&(f64, f64)) -> f64| {
                    let mut values: Vec<f64> = samples.iter().map(of).collect();
                    values.sort_by(f64::total_cmp);
                    values[LINES / 2] / prompts as f64
                };
                (middle(|sample| sample.0), middle(|sample| sample.1))
            };
            let (a, b) = (per(&without), per(&with));
            println!(
                "{name:<6} {kind:<6} {:>12.3} {:>6.3} {:>18.3} {:>6.3} {:>13.3} {:>6.3}",
                a.0,
                a.1,
                b.0,
                b.1,
                b.0 - a.0,
                b.1 - a.1
            );
        }
    }
    let _ = std::fs::remove_dir_all(&home);
}

/// A shell whose prompts are timed.
struct Timed {
    pty: Pty,
    end: &'static str,
    bytes: Vec<u8>,
}

impl Timed {
    /// Starts it and waits for its first prompt. None when there is no such program.
    fn start((argv, more): (Vec<String>, Vec<(String, String)>), home: &Path) -> Option<Timed> {
        let path = std::env::var("PATH").unwrap_or_default();
        let end = if more.is_empty() {
            "@@ "
        } else {
            "\x1b]133;B;n=bench"
        };
        let mut env: Vec<(String, String)> =
            [("TERM", "xterm"), ("LC_ALL", "C.UTF-8"), ("PATH", &path)]
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .to_vec();
        env.push(("HOME".into(), home.to_string_lossy().into_owned()));
        env.extend(more);
        let pty = Pty::spawn(&argv, &env, home, (80, 24)).ok()?;
        let mut shell = Timed {
            pty,
            end,
            bytes: Vec::new(),
        };
        shell.wait(1);
        Some(shell)
    }

    /// Types a line, waits for its prompts: the wall and CPU time that it took, in milliseconds.
    fn line(&mut self, line: &str, prompts: usize) -> (f64, f64) {
        self.bytes.clear();
        let begun = Instant::now();
        while begun.elapsed() < PAUSE {
            std::hint::spin_loop();
        }
        let (start, cpu) = (Instant::now(), self.cpu());
        self.pty.type_bytes(line.as_bytes());
        self.wait(prompts);
        (start.elapsed().as_secs_f64() * 1e3, self.cpu() - cpu)
    }

    fn wait(&mut self, prompts: usize) {
        let deadline = Instant::now() + PATIENCE;
        while String::from_utf8_lossy(&self.bytes)
            .matches(self.end)
            .count()
            < prompts
        {
            assert!(
                self.pty.read(&mut self.bytes, deadline),
                "no prompt in {:?}",
                self.bytes
            );
        }
    }

    /// CPU time of the shell's threads so far, in milliseconds.
    fn cpu(&self) -> f64 {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.pty.pid()));
        let spent = |task: std::fs::DirEntry| {
            let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<f64>().ok()
        };
        tasks.map_or(0.0, |tasks| {
            tasks.flatten().filter_map(spent).sum::<f64>() / 1e6
        })
    }
}
