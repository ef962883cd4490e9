//! An SSH server on loopback for the cases of ssh: one sshd per connection, as inetd would start it.

use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use super::stage::{end, is_root};

pub(super) struct Listener {
    pub port: u16,
    servers: Arc<Mutex<Vec<Child>>>,
}

impl Listener {
    /// Makes keys in `dir` and takes connections. Who holds the key `user` may log in.
    pub fn start(dir: &Path) -> Self {
        for key in ["host", "user"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", key])
                .current_dir(dir)
                .status();
            assert!(made.unwrap().success());
        }
        let dir = dir.display();
        let config = format!(
            "HostKey {dir}/host\nAuthorizedKeysFile {dir}/user.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n\
             PasswordAuthentication yes\nPidFile none\n"
        );
        std::fs::write(format!("{dir}/sshd_config"), config).unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let servers = Arc::new(Mutex::new(Vec::new()));
        let started = Arc::clone(&servers);
        let config = format!("{dir}/sshd_config");
        // The thread ends with the tests: nothing but a connection wakes it.
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let socket = OwnedFd::from(connection);
                let mut command = sshd(&config);
                command
                    .stdin(socket.try_clone().unwrap())
                    .stdout(socket)
                    .stderr(Stdio::null());
                started.lock().unwrap().push(command.spawn().unwrap());
            }
        });
        Self { port, servers }
    }
}

/// As root sshd wants an empty folder below /run, which a sandbox gives it without touching the machine's.
fn sshd(config: &str) -> Command {
    let mut command = if is_root() {
        let mut command = Command::new("bwrap");
        command.args([
            "--dev-bind",
            "/",
            "/",
            "--tmpfs",
            "/run",
            "--dir",
            "/run/sshd",
            "--die-with-parent",
        ]);
        command.arg("/usr/sbin/sshd");
        command
    } else {
        Command::new("/usr/sbin/sshd")
    };
    command.args(["-i", "-f", config]);
    command
}

impl Drop for Listener {
    fn drop(&mut self) {
        for server in self.servers.lock().unwrap().iter_mut() {
            end(server);
        }
    }
}
