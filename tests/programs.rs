//! Each program of the table of prompts, the real one: its first prompt, a line and its answer, an error, a question
//! inside it, and its end.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::util::client::{Client, DEADLINE, private_dir};
use crate::util::dir::Running;
use crate::util::skip::{find, have};

/// A line, the status and the line that the reply says it stands at, and a part of the output.
type Step<'a> = (&'a str, &'a str, &'a str, &'a str);

/// Goes through a program's steps in a client's session: the first starts it; then `quit` ends it.
fn check(client: &mut Client, steps: &[Step<'_>], quit: &str) {
    let mut prompt = "";
    for (line, status, at, output) in steps {
        let reply = client.run(line);
        let stands = reply.facts["prompt"].as_str().unwrap_or_default();
        assert_eq!(
            (reply.status(), stands),
            (*status, *at),
            "{line}: {}",
            reply.text
        );
        assert!(reply.body().contains(output), "{line}: {}", reply.text);
        // Neither the prompt nor the line is repeated.
        let repeated = format!("{prompt} {line}");
        assert!(
            prompt.is_empty() || !reply.body().lines().any(|shown| shown.ends_with(&repeated)),
            "{line}: {}",
            reply.text
        );
        prompt = at;
        assert!(reply.facts["exit_code"].is_null(), "{line}: {}", reply.text);
    }
    let end = client.run(quit);
    // sqlite3 ends with 1 when a line of it was wrong.
    let exit = i32::from(quit == ".quit");
    assert_eq!(
        (end.status(), &end.facts["exit_code"]),
        ("done", &Value::from(exit)),
        "{}",
        end.text
    );
    assert!(
        end.header()
            .contains(&format!("exit {exit} (the end of #1: ")),
        "{}",
        end.text
    );
}

fn check_all(name: &str, program: &str, steps: &[Step<'_>], quit: &str) {
    if have(name, "tmux") && have(name, program) {
        check(&mut Client::in_session(), steps, quit);
    }
}

/// A program with debugging information that asks for a name.
fn debuggee(client: &Client) {
    let source = "#include <stdio.h>\nint main() {\n  int x = 41;\n  char name[9];\n  printf(\"name? \");\n  fflush(stdout);\n  \
                  if (fgets(name, 9, stdin)) printf(\"hi %s\", name);\n  return x > 99;\n}\n";
    let file = client.home().join("a.c");
    fs::write(&file, source).expect("a file of the test's own");
    let built = Command::new("cc")
        .args(["-g", "-O0", "-o"])
        .arg(client.home().join("a.out"))
        .arg(file)
        .status();
    assert!(built.expect("cc runs").success());
}

#[test]
fn gdb() {
    if !have("gdb", "tmux") || !have("gdb", "gdb") || !have("gdb", "cc") {
        return;
    }
    let mut client = Client::in_session();
    debuggee(&client);
    let steps = [
        ("gdb -q -nx ./a.out", "prompt", "(gdb)", "Reading symbols"),
        ("break 5", "prompt", "(gdb)", "Breakpoint 1 at"),
        ("run", "prompt", "(gdb)", "Breakpoint 1, main"),
        ("print x + 1", "prompt", "(gdb)", "$1 = 42"),
        ("print nonsense", "prompt", "(gdb)", "No symbol"),
        ("continue", "waiting", "name?", "Continuing."),
        ("me", "prompt", "(gdb)", "hi me"),
        ("delete", "waiting", "Delete all breakpoints? (y or n)", ""),
        ("y", "prompt", "(gdb)", ""),
    ];
    check(&mut client, &steps, "quit");
}

#[test]
fn lldb() {
    if !have("lldb", "tmux") || !have("lldb", "lldb") || !have("lldb", "cc") {
        return;
    }
    let mut client = Client::in_session();
    debuggee(&client);
    let steps = [
        ("lldb -x ./a.out", "prompt", "(lldb)", "a.out"),
        (
            "breakpoint set -l 5 -f a.c",
            "prompt",
            "(lldb)",
            "Breakpoint 1",
        ),
        ("run", "prompt", "(lldb)", "stop reason = breakpoint"),
        ("print x + 1", "prompt", "(lldb)", "42"),
        ("print nonsense", "prompt", "(lldb)", "error:"),
        ("continue", "waiting", "name?", "resuming"),
        ("me", "prompt", "(lldb)", "hi me"),
    ];
    check(&mut client, &steps, "quit");
}

#[test]
fn python() {
    let steps = [
        ("python3 -q", "prompt", ">>>", ""),
        ("40 + 2", "prompt", ">>>", "42"),
        ("1/0", "prompt", ">>>", "ZeroDivisionError"),
        ("for i in 1, 2:", "prompt", "...", ""),
        ("    print(i * 3)", "prompt", "...", ""),
        ("", "prompt", ">>>", "3\n6"),
        ("x = input('Who? ')", "waiting", "Who?", ""),
        ("me", "prompt", ">>>", ""),
        ("print(x)", "prompt", ">>>", "me"),
    ];
    check_all("python", "python3", &steps, "exit()");
}

#[test]
fn pdb() {
    if !have("pdb", "tmux") || !have("pdb", "python3") {
        return;
    }
    let mut client = Client::in_session();
    fs::write(
        client.home().join("p.py"),
        "x = 41\ny = input('Who? ')\nprint(y)\n",
    )
    .expect("a file");
    let steps = [
        ("python3 -m pdb p.py", "prompt", "(Pdb)", "-> x = 41"),
        ("next", "prompt", "(Pdb)", "-> y = input"),
        ("p x + 1", "prompt", "(Pdb)", "42"),
        ("p nonsense", "prompt", "(Pdb)", "NameError"),
        ("next", "waiting", "Who?", ""),
        ("me", "prompt", "(Pdb)", "-> print(y)"),
    ];
    check(&mut client, &steps, "q");
}

#[test]
fn ipython() {
    let steps = [
        ("ipython3 --no-banner", "prompt", "In [1]:", ""),
        ("40 + 2", "prompt", "In [2]:", "Out[1]: 42"),
        ("1/0", "prompt", "In [3]:", "ZeroDivisionError"),
        ("x = input('Who? ')", "waiting", "Who?", ""),
        ("me", "prompt", "In [4]:", ""),
        ("print(x * 2)", "prompt", "In [5]:", "meme"),
    ];
    check_all("ipython", "ipython3", &steps, "exit");
}

#[test]
fn node() {
    let ask = "require('child_process').execSync(\"stty sane; read -p 'Who? ' x; echo got $x; stty raw -echo\", {stdio: 'inherit', shell: '/bin/bash'})";
    let steps = [
        ("node", "prompt", ">", ""),
        ("40 + 2", "prompt", ">", "42"),
        ("nonsense", "prompt", ">", "ReferenceError"),
        ("function f() {", "prompt", "...", ""),
        ("return 7}", "prompt", ">", "undefined"),
        ("f() + 1", "prompt", ">", "8"),
        (ask, "waiting", "Who?", ""),
        ("me", "prompt", ">", "got me"),
    ];
    check_all("node", "node", &steps, ".exit");
}

#[test]
fn sqlite3() {
    let steps = [
        ("sqlite3", "prompt", "sqlite>", "SQLite version"),
        ("select 40 + 2;", "prompt", "sqlite>", "42"),
        ("select", "prompt", "...>", ""),
        ("'more';", "prompt", "sqlite>", "more"),
        ("nonsense;", "prompt", "sqlite>", "syntax error"),
        (
            ".shell printf 'Who? '; read x; echo got $x",
            "waiting",
            "Who?",
            "",
        ),
        ("me", "prompt", "sqlite>", "got me"),
    ];
    check_all("sqlite3", "sqlite3", &steps, ".quit");
}

#[test]
fn bc() {
    // It prints no prompt: the kernel alone tells that it waits.
    let steps = [
        ("bc -q", "waiting", "", ""),
        ("40 + 2", "waiting", "", "42"),
        ("nonsense(", "waiting", "", "syntax error"),
        ("x = read()", "waiting", "", ""),
        ("7", "waiting", "", ""),
        ("x * 2", "waiting", "", "14"),
    ];
    check_all("bc", "bc", &steps, "quit");
}

#[test]
fn guile() {
    let steps = [
        ("guile -q", "prompt", "scheme@(guile-user)>", "GNU Guile"),
        ("(+ 40 2)", "prompt", "scheme@(guile-user)>", "$1 = 42"),
        (
            "(nonsense)",
            "prompt",
            "scheme@(guile-user) [1]>",
            "Unbound variable",
        ),
        (",q", "prompt", "scheme@(guile-user)>", ""),
        (
            "(use-modules (ice-9 rdelim))",
            "prompt",
            "scheme@(guile-user)>",
            "",
        ),
        ("(read-line)", "waiting", "", ""),
        ("me", "prompt", "scheme@(guile-user)>", "$2 = \"me\""),
    ];
    check_all("guile", "guile", &steps, ",q");
}

#[test]
fn irb() {
    let steps = [
        ("irb -f", "prompt", "irb(main):001:0>", ""),
        ("40 + 2", "prompt", "irb(main):002:0>", "=> 42"),
        ("nonsense", "prompt", "irb(main):003:0>", "NameError"),
        ("def f", "prompt", "irb(main):004:1*", ""),
        ("7", "prompt", "irb(main):005:1*", ""),
        ("end", "prompt", "irb(main):006:0>", "=> :f"),
        ("gets", "waiting", "", ""),
        ("me", "prompt", "irb(main):007:0>", "=> \"me\\n\""),
    ];
    check_all("irb", "irb", &steps, "exit");
}

#[test]
fn perl_debugger() {
    let steps = [
        ("perl -de 1", "prompt", "DB<1>", "main::(-e:1)"),
        ("print 40 + 2", "prompt", "DB<2>", "42"),
        ("nonsense(", "prompt", "DB<3>", "syntax error"),
        ("$x = <STDIN>", "waiting", "", ""),
        ("me", "prompt", "DB<4>", ""),
        ("print $x . $x", "prompt", "DB<5>", "me\nme"),
    ];
    if have("perl_debugger", "perl")
        && find("perl_debugger", "perl5db.pl", &perl_folders()).is_some()
    {
        check_all("perl_debugger", "perl", &steps, "q");
    }
}

/// Where perl looks for its files: a minimal system has perl without its debugger.
fn perl_folders() -> Vec<PathBuf> {
    let asked = Command::new("perl")
        .args(["-e", "print join qq(\\n), @INC"])
        .output()
        .expect("perl starts");
    let folders = String::from_utf8_lossy(&asked.stdout).into_owned();
    folders.lines().map(PathBuf::from).collect()
}

/// A server of a test's own on a Unix socket in a folder of its own; ended and reaped when dropped.
struct Server {
    _running: Running,
    dir: PathBuf,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.dir));
    }
}

impl Server {
    fn start(mut command: Command, dir: PathBuf, socket: &str) -> Server {
        let log = fs::File::create(dir.join("log")).expect("a file of the test's own");
        let errors = log.try_clone().expect("a descriptor");
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        let child = command.spawn().expect("the server starts");
        let server = Server {
            _running: Running(child),
            dir,
        };
        let deadline = Instant::now() + DEADLINE;
        while !server.dir.join(socket).exists() {
            let log = fs::read_to_string(server.dir.join("log")).unwrap_or_default();
            assert!(
                Instant::now() < deadline,
                "the server does not come up: {log}"
            );
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        server
    }
}

#[test]
fn mysql() {
    let name = "mysql";
    let also = [PathBuf::from("/usr/sbin")];
    let Some(mariadbd) = find(name, "mariadbd", &also) else {
        return;
    };
    if !have(name, "tmux") || !have(name, "mariadb") {
        return;
    }
    let dir = private_dir();
    fs::create_dir(dir.join("data")).expect("a folder of the test's own");
    let option = |name: &str, file: &str| format!("--{name}={}", dir.join(file).display());
    let mut command = Command::new(mariadbd);
    command
        .args([
            "--no-defaults",
            "--user=root",
            "--skip-grant-tables",
            "--skip-networking",
        ])
        .args(["--innodb-log-file-size=4M", "--innodb-buffer-pool-size=8M"])
        .args([
            option("datadir", "data"),
            option("socket", "s"),
            option("pid-file", "pid"),
        ]);
    let server = Server::start(command, dir, "s");
    let mut client = Client::in_session();
    let start = format!(
        "mariadb --no-defaults -S {}",
        server.dir.join("s").display()
    );
    let steps = [
        (start.as_str(), "prompt", "MariaDB [(none)]>", "Welcome"),
        ("select 40 + 2;", "prompt", "MariaDB [(none)]>", "42"),
        ("select", "prompt", "->", ""),
        ("'more';", "prompt", "MariaDB [(none)]>", "more"),
        ("nonsense;", "prompt", "MariaDB [(none)]>", "ERROR 1064"),
        (
            "\\! read -p 'Who? ' x && echo got $x",
            "waiting",
            "Who?",
            "",
        ),
        ("me", "prompt", "MariaDB [(none)]>", "got me"),
    ];
    check(&mut client, &steps, "quit");
}

#[test]
fn psql() {
    let name = "psql";
    let installed = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let also: Vec<PathBuf> = installed
        .map(|version| version.path().join("bin"))
        .collect();
    let (Some(initdb), Some(postgres)) =
        (find(name, "initdb", &also), find(name, "postgres", &also))
    else {
        return;
    };
    if !have(name, "tmux") || !have(name, "psql") {
        return;
    }
    let dir = private_dir();
    // It refuses to run as root: then as the user whom its package has made.
    let root = fs::metadata("/proc/self").map(|own| std::os::unix::fs::MetadataExt::uid(&own));
    let as_user = |program: PathBuf| {
        let mut command = Command::new("setpriv");
        match root {
            Ok(0) => command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]),
            _ => command.arg("--"),
        };
        command
            .arg(program)
            .current_dir("/")
            .env("LC_ALL", "C.UTF-8");
        command
    };
    if matches!(root, Ok(0)) {
        let owned = Command::new("chown").arg("postgres").arg(&dir).status();
        assert!(owned.expect("chown runs").success());
    }
    let made = as_user(initdb)
        .args(["--no-sync", "-A", "trust", "-U", "me", "-D"])
        .arg(dir.join("data"))
        .output()
        .expect("initdb runs");
    assert!(made.status.success(), "{made:?}");
    let mut command = as_user(postgres);
    command
        .args(["-F", "-c", "listen_addresses=", "-k"])
        .arg(&dir)
        .arg("-D")
        .arg(dir.join("data"));
    let server = Server::start(command, dir, ".s.PGSQL.5432");
    let mut client = Client::in_session();
    let start = format!("psql -X -h {} -U me postgres", server.dir.display());
    let deadline = Instant::now() + DEADLINE;
    // The socket is there before connections are taken.
    while !client.run(&format!("{start} -c 'select 1'")).facts["exit_code"].eq(&Value::from(0)) {
        assert!(Instant::now() < deadline, "the server takes no connection");
    }
    client.tool("session_close", serde_json::json!({"session": "t1"}));
    client.open(serde_json::json!({"name": "t1"}));
    let steps = [
        (
            start.as_str(),
            "prompt",
            "postgres=#",
            "Type \"help\" for help.",
        ),
        ("select 40 + 2;", "prompt", "postgres=#", "42"),
        ("select", "prompt", "postgres-#", ""),
        ("'more';", "prompt", "postgres=#", "more"),
        ("nonsense;", "prompt", "postgres=#", "ERROR:  syntax error"),
        ("\\prompt 'Who? ' x", "waiting", "Who?", ""),
        ("me", "prompt", "postgres=#", ""),
        ("\\echo :x", "prompt", "postgres=#", "me"),
    ];
    check(&mut client, &steps, "\\q");
}
