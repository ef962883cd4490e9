//! Another host: an sshd of its own on a port of 127.0.0.1, with its own keys and throw-away accounts, all gone again
//! when dropped. No file of the machine's own sshd or ssh is read or written.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::util::client::{Client, DEADLINE};
use crate::util::reply::Reply;
use crate::util::skip::have;

/// Accounts are made one after the other: useradd locks the user database.
static ACCOUNTS: Mutex<()> = Mutex::new(());

/// Folders that the far side may use for its files.
const SCRATCH: [&str; 3] = ["/tmp", "/dev/shm", "/var/tmp"];

pub struct Far {
    base: PathBuf,
    port: u16,
    sshd: Option<Child>,
    accounts: Vec<Account>,
    settings: String,
}

/// A throw-away account, by the short name of what it is for.
#[derive(Clone, Debug)]
pub struct Account {
    pub name: String,
    pub uid: u32,
    pub home: PathBuf,
}

/// True when a host can be made here: as root, with an sshd.
pub fn can(test: &str) -> bool {
    if !["ssh", "sshd", "ssh-keygen", "tmux"]
        .iter()
        .all(|program| have(test, program))
    {
        return false;
    }
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        return true;
    }
    let required = std::env::var("PANEGLASS_TEST_REQUIRE").unwrap_or_default();
    assert!(
        !required.split(',').any(|name| name == "root"),
        "{test} needs root"
    );
    println!("SKIP {test}: root");
    false
}

impl Far {
    /// A host with an account for each of these login shells: `bash` gets /bin/bash.
    pub fn with(shells: &[&str]) -> Far {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // Not below /tmp: a test puts something else there.
        let base = PathBuf::from(format!("/run/pgfar{}-{number}", std::process::id()));
        fs::create_dir_all(&base).unwrap();
        fs::set_permissions(&base, Permissions::from_mode(0o755)).unwrap();
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let mut far = Far {
            base,
            port,
            sshd: None,
            accounts: Vec::new(),
            settings: String::new(),
        };
        for key in ["host", "key", "wrong"] {
            let path = far.path(key);
            run(Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(path));
        }
        let host = fs::read_to_string(far.path("host.pub")).unwrap();
        fs::write(far.path("known"), format!("[127.0.0.1]:{port} {host}")).unwrap();
        fs::copy(far.path("key.pub"), far.path("authorized")).unwrap();
        fs::copy(crate::util::binary(), far.path("paneglass")).unwrap();
        let config = far.client_config(&far.path("key"), port);
        fs::write(far.path("config"), config).unwrap();
        for (at, shell) in shells.iter().enumerate() {
            far.add_account(
                &format!(
                    "pg{}x{number}{}",
                    std::process::id(),
                    char::from(b'a' + at as u8)
                ),
                shell,
            );
        }
        far
    }

    fn client_config(&self, key: &Path, port: u16) -> String {
        format!(
            "Host *\n Port {port}\n IdentityFile {}\n IdentitiesOnly yes\n UserKnownHostsFile {}\n GlobalKnownHostsFile /dev/null\n \
             StrictHostKeyChecking yes\n HostKeyAlias [127.0.0.1]:{}\n ConnectTimeout 30\n",
            key.display(),
            self.path("known").display(),
            self.port,
        )
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    fn add_account(&mut self, name: &str, shell: &str) {
        let home = self.base.join(name);
        let shell = fs::canonicalize("/bin").map_or("/bin".into(), |bin| bin.join(shell));
        let _one = ACCOUNTS.lock().unwrap_or_else(|error| error.into_inner());
        let deadline = Instant::now() + DEADLINE;
        let made = || {
            Command::new("useradd")
                .args(["-M", "-p", "*", "-d"])
                .arg(&home)
                .arg("-s")
                .arg(&shell)
                .arg(name)
                .stderr(Stdio::null())
                .status()
                .unwrap()
                .success()
        };
        // Another test run may hold the lock.
        while !made() {
            assert!(Instant::now() < deadline, "useradd {name}");
            std::thread::sleep(Duration::from_millis(50));
        }
        let out = Command::new("id")
            .args(["-u", name])
            .output()
            .unwrap()
            .stdout;
        let uid = String::from_utf8(out).unwrap().trim().parse().unwrap();
        fs::create_dir(&home).unwrap();
        let account = Account {
            name: name.into(),
            uid,
            home: home.clone(),
        };
        // Without one a new user's zsh asks questions.
        fs::write(home.join(".zshrc"), "").unwrap();
        fs::write(home.join(".bashrc"), "").unwrap();
        fs::write(home.join(".hushlogin"), "").unwrap();
        // Where it is missing, a new user's fish works for a minute to fill it.
        let completions = ".local/share/fish/generated_completions";
        fs::create_dir_all(home.join(completions)).unwrap();
        let fish = [".local", ".local/share", ".local/share/fish", completions];
        for file in ["", ".zshrc", ".bashrc", ".hushlogin"].iter().chain(&fish) {
            chown(account.home.join(file), Some(uid), Some(uid)).unwrap();
        }
        self.accounts.push(account);
    }

    /// Lines for sshd's configuration, before it is started.
    pub fn setting(&mut self, lines: &str) {
        self.settings.push_str(lines);
        self.settings.push('\n');
    }

    /// Starts sshd, after `before` has run in a mount namespace of its own.
    pub fn start_after(&mut self, before: &str) {
        let config = format!(
            "Port {}\nListenAddress 127.0.0.1\nHostKey {}\nPidFile none\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
             PermitRootLogin yes\nPrintLastLog no\nMaxStartups 100\n{}",
            self.port,
            self.path("host").display(),
            self.path("authorized").display(),
            self.settings,
        );
        fs::write(self.path("sshd_config"), config).unwrap();
        // Its own place for nobody, which systemd makes where it runs.
        fs::create_dir_all("/run/sshd").unwrap();
        let log = File::create(self.path("log")).unwrap();
        let script = format!(
            "{before}\nexec /usr/sbin/sshd -D -e -f {}",
            self.path("sshd_config").display()
        );
        let mut command = if before.is_empty() {
            Command::new("/bin/sh")
        } else {
            let mut command = Command::new("unshare");
            command.args(["-m", "/bin/sh"]);
            command
        };
        self.sshd = Some(
            command
                .args(["-ec", &script])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(log)
                .spawn()
                .unwrap(),
        );
        let deadline = Instant::now() + DEADLINE;
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(
                Instant::now() < deadline,
                "{}",
                fs::read_to_string(self.path("log")).unwrap()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn start(&mut self) {
        self.start_after("");
    }

    /// A started host with one account of each login shell.
    pub fn started(shells: &[&str]) -> Far {
        let mut far = Far::with(shells);
        far.start();
        far
    }

    pub fn account(&self, at: usize) -> &Account {
        &self.accounts[at]
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The processes that serve a connection each.
    pub fn connections(&self) -> Vec<String> {
        let pid = self.sshd.as_ref().expect("it was started").id();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        children.split_whitespace().map(String::from).collect()
    }

    /// Words after `ssh` that reach the host as the account at this place.
    pub fn words(&self, at: usize) -> String {
        format!(
            "-F {} {}@127.0.0.1",
            self.path("config").display(),
            self.accounts[at].name
        )
    }

    /// A client's configuration for another port or key of this host.
    pub fn config(&self, name: &str, key: &str, port: u16) -> String {
        let path = self.path(name);
        fs::write(&path, self.client_config(&self.path(key), port)).unwrap();
        path.display().to_string()
    }

    /// Gives an account a way to reach the host itself, as a second hop.
    pub fn allow_hop(&self, at: usize) {
        let account = &self.accounts[at];
        let key = account.home.join("key");
        fs::copy(self.path("key"), &key).unwrap();
        fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
        let config = account.home.join("config");
        fs::write(&config, self.client_config(&key, self.port)).unwrap();
        for file in [key, config] {
            chown(file, Some(account.uid), Some(account.uid)).unwrap();
        }
    }

    /// Where the account's integrated shell says that it is.
    pub fn place(&self, at: usize) -> String {
        format!("{}@{}", self.accounts[at].name, hostname())
    }

    /// Folders of ours that the account has left on the host.
    pub fn left(&self, at: usize) -> Vec<String> {
        let account = &self.accounts[at];
        let mut found: Vec<PathBuf> = Vec::new();
        for dir in SCRATCH
            .iter()
            .map(Path::new)
            .chain([account.home.as_path()])
        {
            let entries = fs::read_dir(dir).into_iter().flatten().flatten();
            found.extend(entries.map(|entry| entry.path()).filter(|path| {
                let ours = path
                    .file_name()
                    .is_some_and(|name| name.to_string_lossy().starts_with("paneglass."));
                ours && fs::metadata(path).is_ok_and(|there| there.uid() == account.uid)
            }));
        }
        found
            .iter()
            .map(|path| path.display().to_string())
            .collect()
    }

    /// The same, once the far side has had time to clean up.
    pub fn left_at_last(&self, at: usize) -> Vec<String> {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.left(at).is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.left(at)
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        if let Some(mut sshd) = self.sshd.take() {
            drop(sshd.kill());
            drop(sshd.wait());
        }
        let _one = ACCOUNTS.lock().unwrap_or_else(|error| error.into_inner());
        for account in &self.accounts {
            let deadline = Instant::now() + Duration::from_secs(10);
            // All that this user runs was started by the test.
            while Instant::now() < deadline {
                let left = processes(account.uid);
                if left.is_empty() {
                    break;
                }
                drop(Command::new("kill").arg("-9").args(left).output());
                std::thread::sleep(Duration::from_millis(20));
            }
            let gone = || {
                Command::new("userdel")
                    .args(["-f", &account.name])
                    .output()
                    .is_ok_and(|out| out.status.success())
            };
            while !gone() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        drop(fs::remove_dir_all(&self.base));
    }
}

fn processes(uid: u32) -> Vec<String> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.metadata().is_ok_and(|process| process.uid() == uid))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .collect()
}

fn run(command: &mut Command) {
    let out = command.output().unwrap();
    assert!(
        out.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
}

pub fn hostname() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname")
        .unwrap()
        .trim()
        .to_string()
}

/// Where the server itself is.
pub fn home() -> String {
    format!("root@{}", hostname())
}

/// A delaying link: what comes in on the returned port goes on to `port`, and back, each `delay` later.
pub fn slow_link(port: u16, delay: Duration) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    std::thread::Builder::new()
        .name("slow-link".into())
        .spawn(move || {
            // One connection, then no more: nobody waits for this thread.
            let Ok((near, _)) = listener.accept() else {
                return;
            };
            let far = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
            let back = (far.try_clone().unwrap(), near.try_clone().unwrap());
            let there = std::thread::Builder::new()
                .name("slow-there".into())
                .spawn(move || pass(near, far, delay))
                .unwrap();
            pass(back.0, back.1, delay);
            drop(there.join());
        })
        .unwrap();
    own
}

fn pass(mut from: std::net::TcpStream, mut to: std::net::TcpStream, delay: Duration) {
    let mut bytes = [0; 16_384];
    while let Ok(count @ 1..) = std::io::Read::read(&mut from, &mut bytes) {
        std::thread::sleep(delay);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    drop(to.shutdown(std::net::Shutdown::Both));
}

impl Client {
    /// Runs a line that may take long to come to a prompt, and must come to one.
    pub fn enter(&mut self, line: &str) -> Reply {
        let mut reply = self.run_with(line, json!({"timeout_s": 120, "settle_ms": 60_000}));
        // The shell reads, and its prompt is still on its way through a busy machine.
        if reply.status() == "waiting" && reply.facts["prompt"] == "" {
            let rest = self.tool("wait", json!({"session": "t1", "timeout_s": 60}));
            reply.text += &rest.text;
            reply.facts = rest.facts;
        }
        assert_eq!(reply.status(), "prompt", "{line}: {}", reply.text);
        reply
    }

    /// Runs a command in an integrated shell at this place (none: at home), which must end with this status there.
    #[track_caller]
    pub fn ends(&mut self, line: &str, status: i32, place: Option<&str>) -> Reply {
        let reply = self.run(line);
        assert_eq!(reply.facts["exit_code"], status, "{line}: {}", reply.text);
        assert_eq!(
            reply.facts["place"].as_str(),
            place,
            "{line}: {}",
            reply.text
        );
        let header = place.map_or(String::new(), |place| format!(" · on {place}]"));
        assert!(reply.header().ends_with(&header), "{line}: {}", reply.text);
        reply
    }

    /// Leaves a place for home.
    #[track_caller]
    pub fn leave(&mut self) {
        let reply = self.run("exit");
        assert!(
            reply.text.contains(&format!("[now back on {}]", home())),
            "{}",
            reply.text
        );
    }
}
