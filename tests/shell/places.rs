//! Where a shell runs: terminals that are not the session's, other users, sandboxes; and what it may not do
//! anywhere.

use super::files::{self, Shell};
use super::harness::{Home, NONCE, Session};
use crate::util::skip::have;

pub fn own_pty(shell: Shell) {
    let program = shell.program();
    let mut session = Session::start(shell, "");
    let socket = session.home.path("");
    let socket = socket.file_name().unwrap().to_str().unwrap();
    let _server = Server(socket.into());
    let tmux = format!("tmux -L {socket} -f /dev/null");
    let cases = [
        ("script", format!("script -qc '{program}' /dev/null")),
        (
            "python3",
            format!("python3 -c 'import pty; pty.spawn(\"{program}\")'"),
        ),
        ("tmux", format!("{tmux} new-session {program}")),
    ];
    for (needed, typed) in cases {
        if !have("own_pty", needed) {
            continue;
        }
        session.press(&format!("{typed}\r"));
        session.wait_for_prompt();
        session.more("echo o''k\r");
        // A nested tmux may draw its whole screen again, each row with an erasure at its end.
        session.wait("ok", |session| session.seen().contains("ok\n"));
        session.more("exit\r");
        session.wait("the outer prompt", |session| {
            session.short().ends_with("D0(0) A B")
        });
        assert_eq!(
            (session.count('C'), session.count('A')),
            (1, 1),
            "{}",
            session.short()
        );
    }
}

/// A nested tmux server by its socket's name: it ends with its shell, or here when the test fails before that.
struct Server(String);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::process::Command::new("tmux")
            .args(["-L", &self.0, "kill-server"])
            .output();
    }
}

pub fn stripped(shell: Shell) {
    let program = shell.program();
    let mut session = Session::start(shell, "");
    let mut cases = vec![format!(
        "env -i PATH=\"$PATH\" HOME=\"$HOME\" TERM=xterm {program}"
    )];
    if session.output("id -u") == "0\n" {
        if have("stripped", "su") {
            cases.push("su -".into());
        }
        if have("stripped", "sudo") {
            cases.push("sudo -i".into());
        }
    }
    for typed in cases {
        session.press(&format!("{typed}\r"));
        session.wait_for_prompt();
        session.more("echo o''k; exit 3\r");
        session.wait("the outer prompt", |session| {
            session.short().ends_with("D3(3) A B")
        });
        assert!(session.seen().contains("ok\n"));
        assert_eq!((session.count('C'), session.count('A')), (1, 1), "{typed}");
    }
}

pub fn sudo(shell: Shell) {
    let mut session = Session::start(shell, "");
    if !have("sudo", "sudo") || session.output("id -u") != "0\n" {
        return;
    }
    session.press(&format!("sudo -E {}\r", shell.program()));
    session.wait_for_prompt();
    session.more("echo o''k; exit 3\r");
    session.wait("the outer prompt", |session| {
        session.short().ends_with("D3(3) A B")
    });
    assert!(session.seen().contains("ok\n"));
    assert!(!session.seen().contains("not found"));
}

/// In a sandbox with a /dev of its own, where the terminal has no path, a shell still knows it for the session's.
pub fn bwrap(shell: Shell) {
    if !have("bwrap", "bwrap") {
        return;
    }
    let mut session = Session::start(shell, "");
    let sandbox = "bwrap --bind / / --dev /dev --proc /proc --unshare-pid";
    if session.output(&format!("{sandbox} true && echo yes")) != "yes\n" {
        println!("SKIP bwrap: it may not make namespaces here");
        return;
    }
    // Of zsh only one that is started by name is integrated.
    session.press(&format!("{sandbox} bash\r"));
    session.wait("a nested prompt", |session| {
        session.count('P') == 1 && session.count('B') == 1
    });
    session.press("false\r");
    session.wait("an end", |session| {
        session.count('D') == 1 && session.count('B') == 1
    });
    // A terminal of its own inside the sandbox is not the session's.
    session.press(&format!("script -qc {} /dev/null\r", shell.program()));
    session.wait_for_prompt();
    session.more("echo o''k; exit 3\r");
    session.wait("an end", |session| {
        session.count('D') == 1 && session.count('B') == 1
    });
    assert_eq!(
        (session.count('C'), session.count('A')),
        (1, 1),
        "{}",
        session.text()
    );
    session.press("exit 4\r");
    session.wait("the outer prompt", |session| {
        session.count('D') == 1 && session.count('B') == 1
    });
    assert!(
        session.short().ends_with("D4(4) A B"),
        "{}",
        session.short()
    );
}

/// Without the nonce, or with one that is no nonce, the shell is a plain one.
pub fn no_nonce(shell: Shell) {
    for nonce in ["", "a b", "a;b", "$(x)"] {
        let home = Home::with_rc(shell, "");
        let launch = files::launch(shell, &home.integration(), nonce);
        let mut session = Session::spawn(&launch.argv, &launch.env, home);
        session.wait("a prompt", |session| session.seen().ends_with("$ "));
        session.press("false\r");
        session.wait("a prompt", |session| session.seen().ends_with("\n$ "));
        // fish 4 has markers of its own, without our keys.
        assert!(!String::from_utf8_lossy(session.all()).contains(";pid="));
    }
}

/// The shell starts no process for empty lines, builtins or moves.
pub fn no_forks(shell: Shell) {
    if !have("no_forks", "strace") {
        return;
    }
    let home = Home::with_rc(shell, "");
    let trace = home.path("trace");
    let launch = files::launch(shell, &home.integration(), NONCE);
    let strace = ["strace", "-f", "-qq", "-e", "trace=process,file", "-o"].map(String::from);
    let argv = [&strace[..], &[trace.to_str().unwrap().into()], &launch.argv].concat();
    let mut session = Session::spawn(&argv, &launch.env, home);
    session.expect("h A B");
    session.run("test -e /begin", "C D1(1) A B");
    for line in [
        "cd /usr",
        "",
        "true",
        "",
        "cd /usr/bin",
        "cd ../lib",
        "cd /tmp",
    ] {
        session.run(
            line,
            if line.is_empty() {
                "A B"
            } else {
                "C D0(0) A B"
            },
        );
    }
    session.run("test -e /end", "C D1(1) A B");
    let trace = std::fs::read_to_string(trace).unwrap();
    let lines: Vec<&str> = trace.lines().collect();
    let at = |path: &str| lines.iter().position(|line| line.contains(path)).unwrap();
    let between = lines[at("\"/begin\"")..at("\"/end\"")].iter();
    // Fish does things in the background, on threads and in a process that it started with.
    let shell = lines[0].split(' ').next().unwrap();
    let forks = |line: &&&str| {
        let thread = line.contains("CLONE_THREAD");
        let starts = line.contains("fork(") || line.contains("exec") || line.contains("clone");
        line.starts_with(shell) && starts && !thread && !line.contains("resumed>")
    };
    assert_eq!(
        between.filter(forks).collect::<Vec<_>>(),
        Vec::<&&str>::new()
    );
}

pub fn foreign(shell: Shell) {
    let mut session = Session::start(shell, "");
    // The output of `foreign` is its own, so that the harness leaves it in the text, as every reader must.
    session.run(
        r"printf '\033]133;D;0\007\033]133;D;0;n=other;pid=1\007'",
        "C D0(0) A B",
    );
}
