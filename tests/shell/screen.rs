//! What a person sees: the screen of an integrated shell beside that of the same shell without the integration,
//! both in tmux.

use super::files::{self, Shell};
use super::harness::{Home, NONCE};
use crate::util::skip::have;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// How long a screen may take. Only a failing test waits so long.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often a window is resized before what differs is no chance.
const RESIZES: usize = 4;

/// A private tmux server with one pane, ended with this value.
struct Tmux {
    home: Home,
}

impl Tmux {
    fn start(argv: &[String], env: &[(String, String)], home: Home, size: (u16, u16)) -> Tmux {
        let tmux = Tmux { home };
        let (columns, rows) = (size.0.to_string(), size.1.to_string());
        let start = [
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            &columns,
            "-y",
            &rows,
        ];
        let mut command = tmux.command();
        command.args(start);
        for (name, value) in env {
            command.arg("-e").arg(format!("{name}={value}"));
        }
        command.arg("--").args(argv);
        done(command.output().unwrap());
        tmux
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command
            .arg("-u")
            .arg("-S")
            .arg(self.home.path("t"))
            .env_clear();
        command.envs(self.home.env()).current_dir(self.home.work());
        command
    }

    fn keys(&self, keys: &[&str]) {
        done(self.command().arg("send-keys").args(keys).output().unwrap());
    }

    /// Resizes the window, and waits until the shell has woken for it and sleeps again: a key that came in between
    /// would be drawn at another moment.
    fn resize(&self, columns: u16) {
        let pid = done(
            self.command()
                .args(["display-message", "-p", "#{pane_pid}"])
                .output()
                .unwrap(),
        );
        let wakes = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", pid.trim())).unwrap();
            let field = |name: &str| {
                status
                    .lines()
                    .find_map(|line| line.strip_prefix(name))
                    .unwrap()
                    .trim()
                    .to_string()
            };
            let sleeps = field("State:").starts_with('S');
            sleeps.then(|| field("voluntary_ctxt_switches:").parse::<u64>().unwrap())
        };
        let deadline = Instant::now() + PATIENCE;
        let wait = |done: &dyn Fn(u64) -> bool| loop {
            match wakes() {
                Some(count) if done(count) => return count,
                _ => assert!(Instant::now() < deadline, "the shell does not come to rest"),
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let before = wait(&|_| true);
        let columns = columns.to_string();
        done(
            self.command()
                .args(["resize-window", "-x", &columns])
                .output()
                .unwrap(),
        );
        wait(&|count| count > before);
    }

    /// The screen and where the cursor is on it.
    fn screen(&self) -> String {
        let cursor = ["display-message", "-p", "#{cursor_x},#{cursor_y}"];
        let capture = ["capture-pane", "-p", "-S", "-100", ";"];
        done(self.command().args(capture).args(cursor).output().unwrap())
    }

    /// The same with the colours and attributes of each cell.
    fn cells(&self) -> String {
        let capture = ["capture-pane", "-e", "-p", "-S", "-100"];
        done(self.command().args(capture).output().unwrap())
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command().arg("kill-server").output();
    }
}

fn done(output: Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// fish colours a line a while after it is typed, and suggests the rest: at another time in each of the two.
const FISH_AT_ONCE: &str = "set -g fish_autosuggestion_enabled 0
    for part in command keyword quote redirection end error param option comment operator escape valid_path
        set -g fish_color_$part normal
    end";

/// Two shells of a kind, one of them integrated.
struct Pair {
    plain: Tmux,
    integrated: Tmux,
}

impl Pair {
    fn start(shell: Shell, rc: &str, size: (u16, u16)) -> Pair {
        let plain: Vec<String> = match shell {
            Shell::Bash => ["bash", "-l"].map(String::from).to_vec(),
            Shell::Zsh => ["zsh", "-l"].map(String::from).to_vec(),
            Shell::Fish => ["fish", "-l"].map(String::from).to_vec(),
        };
        let rc = &match shell {
            Shell::Bash | Shell::Zsh => rc.to_string(),
            Shell::Fish => format!("{FISH_AT_ONCE}\n{rc}"),
        };
        let home = Home::with_rc(shell, rc);
        let plain = Tmux::start(&plain, &home.env(), home, size);
        let home = Home::with_rc(shell, rc);
        let launch = files::launch(shell, &home.integration(), NONCE);
        let env = [home.env(), launch.env].concat();
        let integrated = Tmux::start(&launch.argv, &env, home, size);
        Pair { plain, integrated }
    }

    fn keys(&self, keys: &[&str]) {
        self.plain.keys(keys);
        self.integrated.keys(keys);
    }

    fn resize(&self, columns: u16) {
        self.plain.resize(columns);
        self.integrated.resize(columns);
    }

    /// Presses Enter, and waits until both shells prompt again on screens that are the same.
    #[track_caller]
    fn enter(&self) {
        self.keys(&["Enter"]);
        self.prompt();
    }

    /// Waits until nothing stands after both shells' prompts, and the screens are the same.
    #[track_caller]
    fn prompt(&self) {
        self.wait("$", |screen| {
            let (screen, _cursor) = screen.trim_end().rsplit_once('\n').unwrap_or_default();
            let line = screen.trim_end().rsplit('\n').next().unwrap_or_default();
            // Only a prompt at the right may come after it.
            line.rsplit_once('$')
                .is_some_and(|(_, rest)| rest.trim().is_empty() || rest.trim().starts_with('<'))
        });
    }

    /// Waits until both screens show `text`, wrapped or not, and are the same.
    #[track_caller]
    fn agree(&self, text: &str) {
        self.wait(text, |screen| screen.replace('\n', "").contains(text));
    }

    #[track_caller]
    fn wait(&self, text: &str, wanted: impl Fn(&str) -> bool) {
        if let Err(difference) = self.alike(text, wanted) {
            panic!("{difference}");
        }
    }

    /// The difference, where they do not become the same.
    fn alike(&self, text: &str, wanted: impl Fn(&str) -> bool) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let (plain, integrated) = (self.plain.screen(), self.integrated.screen());
            let cells = [self.plain.cells(), self.integrated.cells()];
            if plain == integrated && wanted(&plain) && cells[0] == cells[1] {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(format!(
                    "wanted {text:?}\nplain:\n{plain}\nintegrated:\n{integrated}\ncells: {cells:?}"
                ));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A prompt of two lines that is as wide as the window, or wider, resized with text on it.
pub fn resize(shell: Shell) {
    if !have("resize", "tmux") {
        return;
    }
    let rule = "-".repeat(70);
    let rc = match shell {
        Shell::Bash => format!(r"PS1='\[\e[32m\]{rule}\[\e[0m\]\n\[\e[1m\]\w\[\e[0m\] $ '; cd /"),
        Shell::Zsh => format!("PS1=$'%F{{2}}{rule}%f\\n%B%~%b $ '; cd /"),
        Shell::Fish => format!(
            "function fish_prompt; set_color green; echo {rule}; set_color normal; echo (pwd) '$ '; end; cd /"
        ),
    };
    // A shell may draw once or twice, as the signal comes before or after it has looked at the size by itself, and what
    // it drew the first time stays above. What the integration changed would be another at every try.
    let tries = (0..RESIZES).map(|_| resized(shell, &rc));
    let differences: Vec<String> = tries.map_while(Result::err).collect();
    assert!(
        differences.len() < RESIZES,
        "{}",
        differences.join("\n\nagain:\n")
    );
}

fn resized(shell: Shell, rc: &str) -> Result<(), String> {
    let pair = Pair::start(shell, rc, (80, 24));
    let shows = |text: &'static str| move |screen: &str| screen.replace('\n', "").contains(text);
    pair.agree("$");
    pair.keys(&["echo one two three four five six seven eight nine ten eleven"]);
    pair.agree("eleven");
    for columns in [40, 90, 20, 80] {
        pair.resize(columns);
        pair.alike("eleven", shows("eleven"))?;
        pair.keys(&["x"]);
        pair.alike("x", shows("x"))?;
    }
    pair.enter();
    pair.alike("elevenxxxx", shows("elevenxxxx"))
}

/// A line longer than the window is wide: edited in the middle, recalled from the history, searched for.
pub fn long_line(shell: Shell) {
    if !have("long_line", "tmux") {
        return;
    }
    let pair = Pair::start(shell, "cd /", (60, 24));
    pair.agree("$");
    let long = "0123456789".repeat(14);
    pair.keys(&["echo ", &long]);
    pair.agree("6789");
    for _ in 0..75 {
        pair.keys(&["Left"]);
    }
    pair.keys(&["MID", "BSpace", "C-a", "X", "C-d", "C-e", "ZZZ"]);
    pair.agree("ZZZ");
    pair.keys(&["C-u", "echo short"]);
    pair.enter();
    pair.agree("echo shortshort");
    pair.keys(&["echo ", &long]);
    pair.enter();
    pair.keys(&["Up", "Up", "Up", "Down"]);
    pair.agree("6789");
    pair.keys(&["C-u", "echo DONE"]);
    pair.enter();
    pair.agree("echo DONEDONE");
    if shell == Shell::Fish {
        // Its search is its own affair, and has no key of its own in 3.6.
        return;
    }
    pair.keys(&["C-r", "678"]);
    pair.agree("678");
    pair.keys(&["C-e"]);
    pair.enter();
    pair.keys(&["echo LAST"]);
    pair.enter();
    pair.agree("echo LASTLAST");
}

/// What a person has set up and does all day: a coloured prompt and one at the right, completion, history, vi keys,
/// continuation lines, output without a newline, Ctrl-C.
pub fn person(shell: Shell) {
    if !have("person", "tmux") {
        return;
    }
    let rc = match shell {
        Shell::Bash => {
            r"PS1='\[\e[32m\]\u \[\e[1;34m\]\W\[\e[0m\] $? $ '; PROMPT_COMMAND='history -a'; HISTFILE=~/.history"
        }
        Shell::Zsh => {
            "PS1='%F{2}%n %B%F{4}%1~%f%b %? $ '; RPROMPT='%F{3}<%?>%f'; PS2='%_ more> '; HISTFILE=~/.history SAVEHIST=9
             setopt share_history; autoload -Uz compinit; compinit -D; zstyle ':completion:*' menu select"
        }
        Shell::Fish => {
            "function fish_prompt; set -l s $status; set_color green; echo -n $USER; set_color -o blue
                 echo -n ' '(basename $PWD); set_color normal; echo \" $s \"'$ '; end
             function fish_right_prompt; set_color yellow; echo \"<$status>\"; set_color normal; end"
        }
    };
    let pair = Pair::start(shell, rc, (70, 24));
    pair.agree("0 $");
    for side in [&pair.plain, &pair.integrated] {
        for name in ["alpha-one", "alpha-two", "beta"] {
            side.home.write(&format!("w/{name}"), "");
        }
    }
    pair.keys(&["false"]);
    pair.enter();
    pair.agree("w 1 $");
    // One completion, and a list of them.
    pair.keys(&["echo be", "Tab"]);
    pair.agree("echo beta");
    pair.enter();
    pair.keys(&["echo al", "Tab"]);
    pair.agree("echo alpha-");
    pair.keys(&["Tab", "Tab"]);
    pair.agree("alpha-two");
    pair.keys(&["C-c"]);
    match shell {
        // fish 4 takes the line away, 3 begins a new one.
        Shell::Fish => pair.prompt(),
        _ => pair.agree("alpha"),
    }
    pair.keys(&["C-u", "C-l"]);
    pair.agree("$");
    // History: upwards, and by its expansion.
    pair.keys(&["echo one"]);
    pair.enter();
    pair.keys(&["echo two"]);
    pair.enter();
    pair.keys(&["Up", "Up"]);
    pair.agree("$ echo one");
    pair.keys(&["C-u", "printf foo"]);
    pair.enter();
    if shell != Shell::Fish {
        pair.keys(&["echo !!"]);
        pair.enter();
        pair.keys(&["history"]);
        pair.enter();
    }
    pair.keys(&["echo \"open", "Enter"]);
    pair.agree("open");
    pair.keys(&["close\""]);
    pair.enter();
    pair.keys(&[match shell {
        Shell::Bash => "set -o vi",
        Shell::Zsh => "bindkey -v",
        Shell::Fish => "fish_vi_key_bindings",
    }]);
    pair.enter();
    pair.keys(&["echo abc", "Escape"]);
    pair.agree("echo abc");
    // Escape and a letter at once would be Alt.
    for key in ["0", "w", "x", "A"] {
        std::thread::sleep(Duration::from_millis(50));
        pair.keys(&[key]);
    }
    pair.agree("echo bc");
    pair.keys(&["d"]);
    pair.enter();
    pair.agree("echo bcd");
}
