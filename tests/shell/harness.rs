//! A shell on a terminal, started as paneglass starts it, and what it prints as a list of markers and output.

use super::files::{self, Shell};
use super::marks::{Item, items, plain, short};
use crate::util::pty::Pty;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The session's nonce in all tests.
pub const NONCE: &str = "n0nce";

/// How long an event may take. Only a failing test ever waits so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// A private home with the integration's files in it, removed with this value.
pub struct Home {
    dir: PathBuf,
}

impl Home {
    pub fn new() -> Home {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("pgs{}-{count}", std::process::id()));
        std::fs::create_dir_all(dir.join("w")).unwrap();
        files::write(&dir.join("pg")).unwrap();
        let home = Home { dir };
        // Else fish reads all man pages at its first start.
        std::fs::create_dir_all(home.path(".local/share/fish/generated_completions")).unwrap();
        home.write(".bash_profile", ". ~/.bashrc\n");
        home.rc(Shell::Bash, "");
        home.rc(Shell::Zsh, "");
        home.rc(Shell::Fish, "");
        home
    }

    /// A home whose shells read `text` at their start, after setting a plain prompt.
    pub fn with_rc(shell: Shell, text: &str) -> Home {
        let home = Home::new();
        home.rc(shell, text);
        home
    }

    fn rc(&self, shell: Shell, text: &str) {
        match shell {
            Shell::Bash => {
                // Debian's /etc/profile sets another PATH.
                let path = std::env::var("PATH").unwrap().replace('\'', r"'\''");
                self.write(
                    ".bashrc",
                    &format!("PATH='{path}'\nPS1='$ '\nHISTFILE=\n{text}\n"),
                );
            }
            Shell::Zsh => self.write(".zshrc", &format!("PS1='$ '\nHISTFILE=\n{text}\n")),
            Shell::Fish => {
                let plain = "function fish_prompt; echo '$ '; end\nset -g fish_greeting\n";
                self.write(".config/fish/config.fish", &format!("{plain}{text}\n"));
            }
        }
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Where the integration's files are.
    pub fn integration(&self) -> PathBuf {
        self.path("pg")
    }

    /// Where shells start.
    pub fn work(&self) -> PathBuf {
        self.path("w")
    }

    /// The environment of every shell, before the integration's own.
    pub fn env(&self) -> Vec<(String, String)> {
        [
            ("HOME", self.dir.to_str().unwrap()),
            ("PATH", &std::env::var("PATH").unwrap()),
            ("TERM", "xterm"),
            ("LC_ALL", "C.UTF-8"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// A running shell.
pub struct Session {
    pty: Pty,
    bytes: Vec<u8>,
    /// Where the present step began.
    step: usize,
    pub home: Home,
}

impl Session {
    /// An integrated shell whose rc file ends with `rc`, at its first prompt.
    pub fn start(shell: Shell, rc: &str) -> Session {
        let mut session = Session::launch(shell, Home::with_rc(shell, rc), &[]);
        session.expect("h A B");
        session
    }

    /// The same, with more in its environment and nothing waited for.
    pub fn launch(shell: Shell, home: Home, env: &[(&str, &str)]) -> Session {
        let launch = files::launch(shell, &home.integration(), NONCE);
        let more = env
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()));
        let env: Vec<_> = launch.env.into_iter().chain(more).collect();
        Session::spawn(&launch.argv, &env, home)
    }

    /// Any program, in an 80 x 24 terminal.
    pub fn spawn(argv: &[String], env: &[(String, String)], home: Home) -> Session {
        let env = [home.env(), env.to_vec()].concat();
        let pty = Pty::spawn(argv, &env, &home.work(), (80, 24)).unwrap();
        Session {
            pty,
            bytes: Vec::new(),
            step: 0,
            home,
        }
    }

    /// The shell's process id.
    pub fn pid(&self) -> u32 {
        self.pty.pid()
    }

    /// Types a line and Enter, and waits until the step in short is `expected`.
    #[track_caller]
    pub fn run(&mut self, line: &str, expected: &str) {
        self.keys(&format!("{line}\r"), expected);
    }

    /// Types keys and waits until the step in short is `expected`.
    #[track_caller]
    pub fn keys(&mut self, keys: &str, expected: &str) {
        self.press(keys);
        self.expect(expected);
    }

    /// Types keys, and begins a step.
    pub fn press(&mut self, keys: &str) {
        self.step = self.bytes.len();
        self.pty.type_bytes(keys.as_bytes());
    }

    /// Types more keys in the same step.
    pub fn more(&mut self, keys: &str) {
        self.pty.type_bytes(keys.as_bytes());
    }

    /// Reads what comes next, and answers what any terminal answers: fish 4 asks what this one is (DA1, ECMA-48) and
    /// waits for that.
    fn read(&mut self, deadline: Instant) -> bool {
        let before = self.bytes.len();
        let some = self.pty.read(&mut self.bytes, deadline);
        // The question may come in two pieces.
        let new = &self.bytes[before.saturating_sub(3)..];
        let asked = |question: &[u8]| new.windows(question.len()).any(|bytes| bytes == question);
        if asked(b"\x1b[c") || asked(b"\x1b[0c") {
            self.pty.type_bytes(b"\x1b[?6c");
        }
        some
    }

    /// Reads for at most a second; true when `wanted` holds by then.
    pub fn within_a_second(&mut self, wanted: impl Fn(&Session) -> bool) -> bool {
        let deadline = Instant::now() + Duration::from_secs(1);
        while !wanted(self) {
            if !self.read(deadline) {
                return false;
            }
        }
        true
    }

    /// Waits until the step in short is `expected`.
    #[track_caller]
    pub fn expect(&mut self, expected: &str) {
        self.wait(expected, |session| session.short() == expected);
    }

    /// Waits until the step has `text` in it, as printed.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        self.wait(text, |session| session.text().contains(text));
    }

    /// Waits until some shell, integrated or not, prompts with `$ ` or `# ` on a new line.
    #[track_caller]
    pub fn wait_for_prompt(&mut self) {
        self.wait("a prompt", |session| {
            let seen = session.seen();
            let mut lines = seen.lines().skip(1);
            lines.any(|line| line.trim_end().ends_with(['$', '#']))
                // In tmux, which moves about the screen.
                || session.text().contains("$ \x1b[K")
        });
    }

    /// Waits until the shell sleeps. When it has shown the effect of all keys, that is where it reads the terminal.
    pub fn wait_reading(&self) {
        let stat = format!("/proc/{}/stat", self.pid());
        let deadline = Instant::now() + PATIENCE;
        loop {
            let stat = std::fs::read_to_string(&stat).unwrap();
            let sleeps = stat.rsplit(')').next().unwrap().starts_with(" S");
            if sleeps {
                return;
            }
            assert!(Instant::now() < deadline, "the shell never waits: {stat}");
            std::thread::yield_now();
        }
    }

    /// Waits until `done`. Panics with the transcript at the deadline.
    #[track_caller]
    pub fn wait(&mut self, wanted: &str, done: impl Fn(&Session) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !done(self) {
            if !self.read(deadline) {
                panic!(
                    "wanted: {wanted}\n   got: {}\n bytes: {}\nbefore: {}",
                    self.short(),
                    self.text().escape_debug(),
                    String::from_utf8_lossy(&self.bytes[..self.step]).escape_debug(),
                );
            }
        }
    }

    /// The shell's end and its exit status. The step holds its last words.
    #[track_caller]
    pub fn end(&mut self) -> std::process::ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        self.pty.wait(&mut self.bytes, deadline).unwrap()
    }

    /// The step in short.
    pub fn short(&self) -> String {
        let mut pids = Vec::new();
        for item in items(&self.bytes) {
            if let Item::Mark(mark) = item {
                let pid = mark.keys.get("pid").expect("every marker has a pid");
                if !pids.contains(pid) {
                    pids.push(pid.clone());
                }
            }
        }
        short(&self.items(), &pids)
    }

    /// The step without escape sequences: what was typed, printed and prompted.
    pub fn seen(&self) -> String {
        plain(&self.bytes[self.step..])
    }

    /// How many markers of this letter the step has, redrawn ones too.
    pub fn count(&self, letter: char) -> usize {
        let ours = |item: &Item| matches!(item, Item::Mark(mark) if mark.letter == letter);
        self.items().iter().filter(|item| ours(item)).count()
    }

    pub fn items(&self) -> Vec<Item> {
        items(&self.bytes[self.step..])
    }

    /// The step as printed.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes[self.step..]).into_owned()
    }

    /// Everything since the start.
    pub fn all(&self) -> &[u8] {
        &self.bytes
    }

    /// The value of `key` in the step's last marker of this letter.
    pub fn key(&self, letter: char, key: &str) -> Option<String> {
        self.items().into_iter().rev().find_map(|item| match item {
            Item::Mark(mark) if mark.letter == letter => mark.keys.get(key).cloned(),
            _ => None,
        })
    }

    /// Types a line and returns what it printed, for checks inside the shell.
    #[track_caller]
    pub fn output(&mut self, line: &str) -> String {
        self.press(&format!("{line}\r"));
        self.wait("a command's end and a prompt", |session| {
            let short = session.short();
            short.contains(" D") && short.ends_with('B')
        });
        let items = self.items();
        let start = items
            .iter()
            .position(|item| matches!(item, Item::Mark(mark) if mark.letter == 'C'));
        match items.get(start.unwrap() + 1) {
            Some(Item::Text(text)) => plain(text),
            _ => String::new(),
        }
    }
}
