//! One program on a terminal of its own, with a private folder, ended whatever happens.

use std::cell::RefCell;
use std::io::{ErrorKind, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::proc::{Pid, Proc, Process, View};
use crate::sys::pty::{Pty, Size};
use crate::sys::signal;

use super::ssh::Listener;

/// How long a program may take to get where it is expected, on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// Between two looks at a program that is still starting.
const PAUSE: Duration = Duration::from_millis(5);

/// Where programs are looked for before the PATH of who runs the tests: wrappers of version switchers are not the
/// programs that the cases name.
const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const SIGKILL: i32 = 9;
const SIGSTOP: i32 = 19;

pub(super) struct Stage {
    child: RefCell<Child>,
    pty: Pty,
    dir: PathBuf,
    printed: Arc<Mutex<Vec<u8>>>,
    ssh: Option<Listener>,
}

impl Stage {
    /// Starts the program in a folder of its own. `{port}` and `{dir}` in its arguments are filled in; with
    /// `{port}` an SSH server listens there. `{user}` in front starts it as an ordinary user.
    pub fn new(argv: &[&str]) -> Self {
        let dir = private_dir();
        furnish(&dir);
        let ssh = argv
            .iter()
            .any(|argument| argument.contains("{port}"))
            .then(|| Listener::start(&dir));
        let port = ssh
            .as_ref()
            .map(|ssh| ssh.port.to_string())
            .unwrap_or_default();
        let fill = |argument: &&str| {
            argument
                .replace("{port}", &port)
                .replace("{dir}", &dir.display().to_string())
        };
        let (as_user, argv) = match argv {
            ["{user}", rest @ ..] => (is_root(), rest),
            _ => (false, argv),
        };
        let ordinary = as_user
            .then_some(["runuser", "-u", "nobody", "--"])
            .into_iter()
            .flatten()
            .map(str::to_owned);
        let argv: Vec<String> = ordinary.chain(argv.iter().map(fill)).collect();
        let mut command = Command::new("env");
        command.args(&argv).current_dir(&dir).env_clear();
        for (key, value) in environment(&dir) {
            command.env(key, value);
        }
        let pty = Pty::open(Size { cols: 80, rows: 24 }).unwrap();
        let child = pty.spawn(command).unwrap();
        let printed = Arc::new(Mutex::new(Vec::new()));
        collect(&pty, &printed);
        Self {
            child: RefCell::new(child),
            pty,
            dir,
            printed,
            ssh,
        }
    }

    pub fn look(&self, proc: &Proc) -> View {
        proc.look(self.pid(), self.pty.path())
    }

    pub fn tty(&self) -> &Path {
        self.pty.path()
    }

    pub fn types(&self, text: &str) {
        (&self.pty.master).write_all(text.as_bytes()).unwrap();
    }

    pub fn shows(&self, text: &str) -> bool {
        let printed = self.printed.lock().unwrap();
        printed
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    }

    /// Started processes of this kernel name.
    pub fn processes(&self, comm: &str) -> Vec<Process> {
        self.family()
            .into_iter()
            .filter(|process| process.comm == comm)
            .collect()
    }

    /// Looks again and again until it is so, or tells what was printed meanwhile.
    pub fn until(&self, what: &str, mut is_so: impl FnMut() -> bool) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        while !is_so() {
            let ended = self.child.borrow_mut().try_wait().unwrap();
            if let Some(status) = ended {
                return Err(format!(
                    "ended with {status} before: {what}; printed {:?}",
                    self.printed()
                ));
            }
            if Instant::now() > deadline {
                let view = self.look(&Proc::new("/proc"));
                return Err(format!(
                    "never so: {what}; {view:?}; printed {:?}",
                    self.printed()
                ));
            }
            // Nothing tells of a change of a process's state, so it is asked for at short intervals.
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn pid(&self) -> Pid {
        Pid(self.child.borrow().id() as i32)
    }

    fn printed(&self) -> String {
        String::from_utf8_lossy(&self.printed.lock().unwrap()).into_owned()
    }

    fn family(&self) -> Vec<Process> {
        family(self.pid())
    }
}

/// A process, what descends from it, and what else is in its session.
fn family(root: Pid) -> Vec<Process> {
    let tree = Proc::new("/proc").tree();
    let descendants: Vec<Pid> = tree
        .descendants([root])
        .iter()
        .map(|process| process.pid)
        .collect();
    let is_ours = |process: &&Process| {
        process.session == root || process.pid == root || descendants.contains(&process.pid)
    };
    tree.processes().iter().filter(is_ours).cloned().collect()
}

/// Ends and reaps a child, and ends its family.
pub(super) fn end(child: &mut Child) {
    let pid = Pid(child.id() as i32);
    // Stopped first, so that it starts nothing anew while the others are killed.
    let _ = signal::kill(pid.0, SIGSTOP);
    for process in family(pid).iter().filter(|process| process.pid != pid) {
        let _ = signal::kill(process.pid.0, SIGKILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A server that a nested tmux started descends from nobody here.
        let socket = self.dir.join("tmux.sock");
        if socket.exists() {
            let _ = Command::new("tmux")
                .arg("-S")
                .arg(&socket)
                .arg("kill-server")
                .status();
        }
        // Before the client goes: what runs at the far side would outlive the connection, and descend from nobody.
        drop(self.ssh.take());
        end(self.child.get_mut());
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// Keeps reading, so that no program stops for a full terminal. Ends when nothing holds the terminal any more.
fn collect(pty: &Pty, printed: &Arc<Mutex<Vec<u8>>>) {
    let mut master = pty.master.try_clone().unwrap();
    let printed = Arc::clone(printed);
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            match master.read(&mut buffer) {
                Ok(count) => printed.lock().unwrap().extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    });
}

/// True when every program is there. Prints `SKIP case: program` when one is not, and panics instead when
/// PANEGLASS_TEST_REQUIRE names it.
pub(super) fn has_all(case: &str, programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        if *program == "root" {
            return is_root() || skip(case, program);
        }
        std::env::split_paths(&path()).any(|dir| dir.join(program).is_file()) || skip(case, program)
    })
}

fn skip(case: &str, program: &str) -> bool {
    let required = std::env::var("PANEGLASS_TEST_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|name| name.trim() == program),
        "{case} needs {program}, which PANEGLASS_TEST_REQUIRE says is there"
    );
    println!("SKIP {case}: {program}");
    false
}

pub(super) fn is_root() -> bool {
    let own = Proc::new("/proc").status(Pid(std::process::id() as i32));
    own.is_some_and(|status| status.euid == 0)
}

fn path() -> String {
    format!(
        "{SYSTEM_PATH}:{}",
        std::env::var("PATH").unwrap_or_default()
    )
}

fn environment(dir: &Path) -> Vec<(&'static str, String)> {
    let home = std::env::var("HOME").unwrap_or_default();
    let tools =
        |key: &str, folder: &str| std::env::var(key).unwrap_or_else(|_| format!("{home}/{folder}"));
    vec![
        ("PATH", path()),
        ("HOME", dir.display().to_string()),
        ("TERM", "xterm-256color".into()),
        ("LC_ALL", "C.UTF-8".into()),
        ("SHELL", "/bin/sh".into()),
        ("PS1", "$ ".into()),
        // Only for the case in which cargo runs: its home is not the private one.
        ("CARGO_HOME", tools("CARGO_HOME", ".cargo")),
        ("RUSTUP_HOME", tools("RUSTUP_HOME", ".rustup")),
    ]
}

fn private_dir() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let dir = std::env::temp_dir().join(format!("pgcase.{}.{number}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Files that the cases name.
fn furnish(dir: &Path) {
    let lines: String = (1..2000).map(|number| format!("line {number}\n")).collect();
    let files = [
        ("long", lines.as_str()),
        (
            "Makefile",
            "all:\n\t@echo READY; sleep 1000 | cc -x c -c -o object -\n",
        ),
        (
            "test_slow.py",
            "import time\ndef test():\n    open('/dev/tty', 'w').write('READY')\n    time.sleep(1000)\n",
        ),
        (
            "slow/Cargo.toml",
            "[package]\nname = \"slow\"\nversion = \"0.0.0\"\nedition = \"2021\"\n",
        ),
        (
            "slow/src/lib.rs",
            "#[test]\nfn slow() {\n    println!(\"READY\");\n    std::thread::sleep(std::time::Duration::from_secs(1000));\n}\n",
        ),
    ];
    std::fs::create_dir_all(dir.join("slow/src")).unwrap();
    for (name, text) in files {
        std::fs::write(dir.join(name), text).unwrap();
    }
}
