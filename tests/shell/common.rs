//! Behaviours that more than one shell has.

use super::files::Shell;
use super::harness::{Home, NONCE, Session};
use crate::util::skip::have;

/// Prints `up` from the foreground job, then echoes lines until a signal ends it.
const WAITER: &str = "sh -c 'echo up; exec cat'";

pub fn first_prompt(shell: Shell) {
    let home = Home::new();
    let dir = home.work();
    let mut session = Session::launch(shell, home, &[]);
    session.expect("h A B");
    assert_eq!(session.key('P', "sh").unwrap(), shell.program());
    assert!(session.key('P', "v").unwrap().contains('.'));
    assert_eq!(session.key('A', "cwd").unwrap(), dir.to_str().unwrap());
    assert!(!session.key('A', "host").unwrap().is_empty());
    assert!(!session.key('A', "user").unwrap().is_empty());
    for letter in ['P', 'A', 'B'] {
        assert_eq!(session.key(letter, "n").unwrap(), NONCE);
        assert_eq!(
            session.key(letter, "pid").unwrap(),
            session.pid().to_string()
        );
    }
    assert_eq!(session.seen(), "$ ");
    // Directories with characters of several bytes, spaces and signs; up again; a sibling.
    for name in ["é 漢;'$(x)", "..", "a.b", "../é 漢;'$(x)"] {
        let made = session.home.work().join("é 漢;'$(x)");
        std::fs::create_dir_all(&made).unwrap();
        std::fs::create_dir_all(session.home.work().join("a.b")).unwrap();
        session.run(
            &format!("cd '{}'", name.replace('\'', r"'\''")),
            "C D0(0) A B",
        );
        let here = std::fs::read_link(format!("/proc/{}/cwd", session.pid())).unwrap();
        assert_eq!(session.key('A', "cwd").unwrap(), here.to_str().unwrap());
    }
}

pub fn simple(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("echo hi", r#"C "hi\n" D0(0) A B"#);
    // The editor of fish writes its line by columns, and this step begins in the midst of one.
    if shell != Shell::Fish {
        assert_eq!(session.seen(), "echo hi\nhi\n$ ");
    }
}

pub fn failure(shell: Shell) {
    Session::start(shell, "").run("false", "C D1(1) A B");
}

pub fn pipeline(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("false | true | sh -c 'exit 3'", "C D3(1,0,3) A B");
    let asked = match shell {
        Shell::Bash => "echo $? ${PIPESTATUS[@]}",
        Shell::Zsh => "echo $? $pipestatus",
        Shell::Fish => "echo $status $pipestatus",
    };
    session.run(asked, r#"C "3 1 0 3\n" D0(0) A B"#);
}

pub fn pipefail(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("set -o pipefail", "C D0(0) A B");
    session.run("false | true", "C D1(1,0) A B");
    session.run("true | sh -c 'exit 4' | false | true", "C D1(0,4,1,0) A B");
}

pub fn negation(shell: Shell) {
    let mut session = Session::start(shell, "");
    let (typed, expected) = match shell {
        Shell::Bash | Shell::Zsh => ("! true", "C D1 A B"),
        Shell::Fish => ("not true", "C D1 A B"),
    };
    session.run(typed, expected);
}

pub fn empty(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("", "A B");
    session.run("false", "C D1(1) A B");
    session.run("", "A B");
    session.run("", "A B");
}

pub fn comment(shell: Shell) {
    let mut session = Session::start(shell, "");
    if shell == Shell::Fish {
        session.run("   ", "C D0(0) A B");
    } else {
        session.run("   ", "A B");
    }
    match shell {
        Shell::Bash => session.run("# c", "A B"),
        // A comment only with interactive_comments.
        Shell::Zsh => {
            session.run("# c", r#"C "zsh: command not found: #\n" D127(127) A B"#);
            session.run("setopt interactive_comments", "C D0(0) A B");
            session.run("# c", "A B");
        }
        Shell::Fish => session.run("# c", "C D0(0) A B"),
    }
}

pub fn interrupt_prompt(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.press("abc");
    session.wait_for("abc");
    if shell == Shell::Fish {
        // It colours the line first, since there is no such command.
        // The red of the version.
        session.wait("a colour", |session| session.text().contains("1mabc"));
    }
    // Readline of bash 5.2 can lose the signal while it is not reading.
    session.wait_reading();
    if shell == Shell::Fish {
        // fish 3.6 loses one that comes while it draws, without us too: it is pressed until it is taken, as a
        // person would.
        // fish 4 takes the text back in place, with no new prompt.
        session.press("\x03");
        for _ in 0..20 {
            let back = ["\x08\x08\x08", "\x1b[3D"].map(|back| format!("{back}\x1b[K"));
            if back.iter().any(|taken| session.text().contains(taken)) {
                return;
            }
            if session.within_a_second(|session| session.short() == "A B") {
                break;
            }
            session.more("\x03");
        }
        // Each one that was taken has drawn the prompt anew.
        session.wait("a new prompt", |session| {
            session.short().starts_with("A B") && session.short().ends_with("A B")
        });
    } else {
        session.keys("\x03", "A B");
        session.run("echo $?", r#"C "130\n" D0(0) A B"#);
    }
}

pub fn interrupt_running(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.press(&format!("{WAITER}\r"));
    session.wait_for("up\r\n");
    session.more("\x03");
    session.wait("an end with 130", |session| {
        let short = session.short();
        short.starts_with(r#"C "up\n^C"#) && short.ends_with("D130(130) A B")
    });
}

pub fn syntax_error(shell: Shell) {
    let mut session = Session::start(shell, "");
    let (expected, message) = match shell {
        Shell::Bash => ("D2(2) A B", "syntax error"),
        Shell::Zsh => ("D1 A B", "parse error"),
        // The line stays in the editor.
        Shell::Fish => {
            session.press("echo )\r");
            session.wait_for("Unexpected");
            session.wait("the line again", |session| {
                session.seen().ends_with("$ echo )")
            });
            assert_eq!((session.count('C'), session.count('D')), (0, 0));
            return;
        }
    };
    for _ in 0..2 {
        session.run("echo )", expected);
        assert!(session.seen().contains(message));
    }
}

pub fn continuation(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("echo \"a", "P B");
    session.run("b\"", r#"C "a\nb\n" D0(0) A B"#);
}

pub fn interrupt_continuation(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("for i in 1; do", "P B");
    session.wait_reading();
    session.keys("\x03", "A B");
}

pub fn heredoc(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("cat <<E", "P B");
    session.run("x", "P B");
    session.run("E", r#"C "x\n" D0(0) A B"#);
}

pub fn paste(shell: Shell) {
    let mut session = Session::start(shell, "");
    let expected = match shell {
        Shell::Bash => r#"C "1\n" C "2\n" D0(0) A B"#,
        // The line editor of zsh takes both as one.
        Shell::Zsh | Shell::Fish => r#"C "1\n2\n" D0(0) A B"#,
    };
    session.run("\x1b[200~echo 1\necho 2\x1b[201~", expected);
}

pub fn no_newline(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("printf foo", r#"C "foo" D0(0) A B"#);
    if shell == Shell::Bash {
        assert_eq!(session.seen(), "printf foo\nfoo$ ");
    }
}

pub fn background(shell: Shell) {
    let mut session = Session::start(shell, "");
    let fifo = session.home.path("fifo");
    session.run("mkfifo ~/fifo", "C D0(0) A B");
    session.press("cat ~/fifo &\r");
    session.wait("an end", |session| session.short().ends_with("D0(0) A B"));
    // Fish does not number it.
    assert!(shell == Shell::Fish || session.short().starts_with("C \"[1] "));
    drop(std::fs::OpenOptions::new().write(true).open(fifo).unwrap());
    // The notice comes with a prompt after the end is noticed, or at once; then the prompt is drawn again.
    let mut told = false;
    for _ in 0..200 {
        session.press("true\r");
        session.wait("an end", |session| session.short().ends_with("D0(0) A B"));
        let seen = session.seen();
        told = ["done", "Done", "has ended"]
            .iter()
            .any(|word| seen.contains(word));
        if told {
            // fish, and bash 5.3, tell it before the next command is done.
            let old_bash =
                shell == Shell::Bash && session.text().contains("Done") && !newest(&session);
            assert!(
                !old_bash || session.short() == "C D0(0) A B",
                "{}",
                session.short()
            );
            break;
        }
    }
    assert!(told);
}

/// bash 5.3 or newer.
fn newest(session: &Session) -> bool {
    let all = String::from_utf8_lossy(session.all());
    let version = all
        .split("v=5.")
        .nth(1)
        .and_then(|rest| rest.chars().next());
    version.is_some_and(|minor| minor >= '3')
}

pub fn stop(shell: Shell) {
    let mut session = Session::start(shell, "");
    stopped(shell, &mut session);
}

fn stopped(shell: Shell, session: &mut Session) {
    session.press(&format!("{WAITER}\r"));
    session.wait_for("up\r\n");
    session.more("\x1a");
    let expected = match shell {
        // It leaves PIPESTATUS as it was: no stages.
        Shell::Bash => " D148 A B",
        Shell::Zsh => " D148(148) A B",
        Shell::Fish => " D0(0) A B",
    };
    session.wait(expected, |session| session.short().ends_with(expected));
    assert_eq!(session.count('C'), 1);
}

pub fn foreground(shell: Shell) {
    let mut session = Session::start(shell, "");
    stopped(shell, &mut session);
    session.press("fg\r");
    session.wait("C", |session| session.count('C') == 1);
    // Each line is echoed by the terminal, and also by cat once it has the terminal. What was typed before that may
    // stay in the terminal, which has just changed its mode, until more comes.
    for sent in 1.. {
        session.more("on\n");
        session.wait("on", |session| {
            session.text().matches("on\r\n").count() >= sent
        });
        if session.text().matches("on\r\n").count() > sent {
            break;
        }
        assert!(sent < 10_000);
    }
    session.more("\x03");
    let expected = match shell {
        Shell::Bash | Shell::Zsh => "D130(130) A B",
        Shell::Fish => "D0(0) A B",
    };
    session.wait(expected, |session| session.short().ends_with(expected));
    assert!(session.short().starts_with("C "));
}

pub fn signal(shell: Shell) {
    let mut session = Session::start(shell, "");
    let expected = match shell {
        Shell::Bash => {
            session.press("sh -c 'kill -9 $$'\r");
            session.wait("137", |session| session.short().ends_with("D137(137) A B"));
            // bash 5.3 names the command after it.
            assert!(session.short().starts_with(r#"C "Killed"#));
            return;
        }
        Shell::Zsh => r#"C "zsh: killed     sh -c 'kill -9 $$'\n" D137(137) A B"#,
        Shell::Fish => {
            session.press("sh -c 'kill -9 $$'\r");
            session.wait("137", |session| session.short().ends_with("D137(137) A B"));
            return;
        }
    };
    session.run("sh -c 'kill -9 $$'", expected);
}

pub fn not_found(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.press("nosuch\r");
    session.wait("an end with 127", |session| {
        session.short().ends_with("D127(127) A B")
    });
    assert!(session.short().starts_with("C \""));
}

pub fn subshell(shell: Shell) {
    let typed = match shell {
        Shell::Bash | Shell::Zsh => "(exit 7)",
        Shell::Fish => "sh -c 'exit 7'",
    };
    Session::start(shell, "").run(typed, "C D7(7) A B");
}

pub fn venv(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.home.write(
        "activate",
        "_OLD_VIRTUAL_PS1=\"$PS1\"\nPS1=\"(venv) $PS1\"\nexport PS1\ndeactivate() { PS1=$_OLD_VIRTUAL_PS1; export PS1; }\n",
    );
    session.run(". ~/activate", "C D0(0) A B");
    for _ in 0..2 {
        session.run("cd ..", "C D0(0) A B");
        assert!(
            session.text().contains("\x07(venv) $ \x1b]133;B;"),
            "{:?}",
            session.text()
        );
        assert_eq!((session.count('A'), session.count('B')), (1, 1));
    }
    session.run("deactivate", "C D0(0) A B");
    session.run("true", "C D0(0) A B");
    assert_eq!(session.seen(), "true\n$ ");
    assert_eq!((session.count('A'), session.count('B')), (1, 1));
}

pub fn redirected(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("exec >~/out", "C D0(0) A B");
    session.run("false", "C D1(1) A B");
    session.run("echo text", "C D0(0) A B");
    session.run("exec >/dev/tty", "C D0(0) A B");
    // A line editor may print there, as Debian's zshrc has it.
    let out = std::fs::read_to_string(session.home.path("out")).unwrap();
    assert!(out.contains("text\n") && !out.contains("133;"), "{out:?}");
    session.run("echo hi", r#"C "hi\n" D0(0) A B"#);
}

pub fn screen_programs(shell: Shell) {
    let mut session = Session::start(shell, "");
    for (program, keys) in [("clear", ""), ("reset", ""), ("vim", ":q!\r")] {
        if !have("screen_programs", program) {
            continue;
        }
        session.press(&format!("{program}\r"));
        if !keys.is_empty() {
            session.wait_for("\x1b[?1049h");
            session.more(keys);
        }
        session.wait(program, |session| session.short().ends_with("D0(0) A B"));
        assert_eq!(
            (session.count('C'), session.count('D')),
            (1, 1),
            "{program}"
        );
    }
}

pub fn type_ahead(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.press("echo 1; false\recho 2\r");
    session.wait("two ends", |session| {
        session.count('D') == 2 && session.short().ends_with('B')
    });
    let short = session.short();
    let order: Vec<&str> = short
        .split(' ')
        .filter(|word| word.starts_with(['C', 'D']))
        .collect();
    assert_eq!(order, ["C", "D1(1)", "C", "D0(0)"]);
}

/// Output that ends within a control string: a reader that waits for the string's end has it before the end marker.
pub fn unfinished_string(shell: Shell) {
    let mut session = Session::start(shell, "");
    for typed in [
        r"printf '\033Pq'",
        r"printf '\033_x'",
        r"printf '\033'",
        "true",
    ] {
        session.press(&format!("{typed}\r"));
        session.wait("an end", |session| session.short().ends_with("D0(0) A B"));
        assert!(
            session.text().contains("\x1b\\\x1b]133;D;0;"),
            "{}",
            session.text()
        );
    }
}

/// The history's file holds what was typed, as without us, and nothing was written elsewhere.
pub fn history(shell: Shell) {
    let kept = |integrated: bool| {
        let home = match shell {
            Shell::Bash => Home::with_rc(shell, "HISTFILE=~/.history"),
            Shell::Zsh => Home::with_rc(shell, "HISTFILE=~/.history SAVEHIST=99"),
            Shell::Fish => Home::with_rc(shell, ""),
        };
        let mut session = if integrated {
            Session::launch(shell, home, &[])
        } else {
            Session::spawn(&[shell.program().into(), "-l".into()], &[], home)
        };
        session.wait("a prompt", |session| session.seen().ends_with("$ "));
        for line in ["true", "cd ..", "", "false | true", "cd w", "exit"] {
            session.press(&format!("{line}\r"));
            if line != "exit" {
                session.wait(line, |session| session.seen().ends_with("\n$ "));
            }
        }
        session.end();
        let file = match shell {
            Shell::Bash | Shell::Zsh => ".history",
            Shell::Fish => ".local/share/fish/fish_history",
        };
        let text = std::fs::read_to_string(session.home.path(file)).unwrap();
        let lines: Vec<String> = text
            .lines()
            .filter(|line| !line.trim().starts_with("when:"))
            .map(String::from)
            .collect();
        assert!(lines.iter().any(|line| line.contains("false | true")));
        let mut files = std::process::Command::new("find");
        let files = files
            .args([".", "-type", "f"])
            .current_dir(session.home.path(""));
        let mut files: Vec<String> = String::from_utf8(files.output().unwrap().stdout)
            .unwrap()
            .lines()
            .map(String::from)
            .collect();
        files.sort();
        (lines, files)
    };
    assert_eq!(kept(true), kept(false));
}

pub fn exit(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.press("exit 5\r");
    assert_eq!(session.end().code(), Some(5));
    match shell {
        Shell::Bash | Shell::Zsh => assert_eq!((session.count('C'), session.count('D')), (1, 0)),
        Shell::Fish => assert_eq!(session.short(), "C D5(5)"),
    }
}
