//! Behaviours of bash alone: what the user may have set, and how bash prompts.

use super::files::Shell;
use super::harness::{Home, Session};
use crate::util::skip::have;

pub fn errexit(shell: Shell) {
    let mut session = Session::start(shell, "PROMPT_COMMAND='true; false || :'");
    session.run("set -e; ! true", "C D1 A B");
    session.run("", "A B");
    session.run("echo ok", r#"C "ok\n" D0(0) A B"#);
    session.run("false || (exit 3) || echo ok", r#"C "ok\n" D0(0) A B"#);
}

pub fn nounset(shell: Shell) {
    // All the more when the hook's own commands come first.
    let mut session = Session::start(shell, "set -u; unset PROMPT_COMMAND PS2");
    session.run("set -u", "C D0(0) A B");
    session.run("true", "C D0(0) A B");
    assert_eq!(session.seen(), "true\n$ ");
}

pub fn xtrace(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("set -x", "C D0(0) A B");
    session.run("true", r#"C "+ true\n" D0(0) A B"#);
    assert_eq!(session.seen(), "true\n+ true\n$ ");
    session.run("cd /", r#"C "+ cd /\n" D0(0) A B"#);
    assert_eq!(session.seen(), "cd /\n+ cd /\n$ ");
}

pub fn promptvars(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("shopt -u promptvars", "C D0(0) A B");
    session.run("true", "C D0(0) A B");
    assert_eq!(session.seen(), "true\n$ ");
}

pub fn posix(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("set -o posix", "C D0(0) A B");
    session.run("false | true", "C D0(1,0) A B");
    session.run("cd /", "C D0(0) A B");
    assert_eq!(session.seen(), "cd /\n$ ");
}

pub fn debug_trap(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.press("trap 'echo T' DEBUG\r");
    session.wait("a prompt", |session| session.short().ends_with("D0(0) A B"));
    session.run("echo a", r#"C "T\na\nT\n" D0(0) A B"#);
    session.run("", "A B");
    assert_eq!(session.seen(), "\nT\n$ ");
    session.run("false", r#"C "T\nT\n" D1(1) A B"#);
    // Its status is the user's to see.
    session.press("trap 'echo \"<$?>\"' DEBUG\r");
    session.wait("a prompt", |session| session.short().ends_with("D0(0) A B"));
    session.run("false", r#"C "<0>\n<1>\n" D1(1) A B"#);
}

pub fn prompt_command(shell: Shell) {
    let asks = r#"PROMPT_COMMAND='echo "[$? ${PIPESTATUS[@]} $_]"'"#;
    let mut session = Session::start(shell, asks);
    session.run("false | true", "C D0(1,0) A B");
    assert!(session.seen().contains("[0 1 0 "), "{}", session.seen());
    session.run("true x y", "C D0(0) A B");
    assert!(session.seen().contains("[0 0 y]\n"), "{}", session.seen());
    session.run("(exit 7)", "C D7(7) A B");
    assert!(session.seen().contains("[7 7 "), "{}", session.seen());
    session.run("false | (exit 3) | true | (exit 4)", "C D4(1,3,0,4) A B");
    assert!(session.seen().contains("[4 1 3 0 4 "), "{}", session.seen());
    // Put before and after the hook while the shell runs, as frameworks do. Re-read files do not run it twice.
    for _ in 0..2 {
        // What was put before the hook hides the command's status from it, once.
        session.press("PROMPT_COMMAND=\"echo before; $PROMPT_COMMAND\"\r");
        session.wait("a prompt", |session| session.short().ends_with("A B"));
        assert_eq!(session.count('D'), 0);
        session.run(r#"PROMPT_COMMAND+=";echo after""#, "C D0(0) A B");
    }
    session.run("true", "C D0(0) A B");
    session.run("(exit 7)", "C D7(7) A B");
    let seen = session.seen();
    assert!(seen.starts_with("(exit 7)\nbefore\n[0 0 "), "{seen}");
    assert_eq!(
        (
            seen.matches("\nbefore\n").count(),
            seen.matches("\nafter\n").count()
        ),
        (1, 1),
        "{seen}"
    );
}

pub fn prompt_command_array(shell: Shell) {
    let asks =
        r#"PROMPT_COMMAND=('echo "1:$?"; (exit 9)' 'echo "2:$? ${PIPESTATUS[@]}"' 'echo "3:$?"')"#;
    let mut session = Session::start(shell, asks);
    session.run("false | (exit 4)", "C D4(1,4) A B");
    assert_eq!(session.seen(), "false | (exit 4)\n1:4\n2:4 1 4\n3:4\n$ ");
    session.run(r#"PROMPT_COMMAND+=('echo "4:$?"')"#, "C D0(0) A B");
    for _ in 0..3 {
        session.run("(exit 5)", "C D5(5) A B");
        assert_eq!(session.seen(), "(exit 5)\n1:5\n2:5 5\n3:5\n4:5\n$ ");
    }
}

pub fn prompt_command_replaced(shell: Shell) {
    let mut session = Session::start(shell, "");
    // No end: the status is not to be known from here on, and the next prompt says so by coming.
    session.run("PROMPT_COMMAND='echo m'", r#"C "m\n" A B"#);
    session.run("false", r#"C "m\n" A B"#);
    // Sourcing the integration again brings it back.
    let file = session.home.integration().join("bash/integration.bash");
    session.run(&format!(". {}", file.display()), "C D0(0) A B");
    session.run("false", "C D1(1) A B");
    assert_eq!(session.seen(), "false\nm\n$ ");
}

pub fn prompt_rebuilt(shell: Shell) {
    let mut session = Session::start(shell, r#"PROMPT_COMMAND='PS1="<$?> "'"#);
    session.run("false", "C D1(1) A B");
    assert_eq!(session.seen(), "false\n<1> ");
    assert_eq!((session.count('A'), session.count('B')), (1, 1));
}

pub fn prompt_substitution(shell: Shell) {
    let mut session = Session::start(shell, "PS1=$'$(\\nprintf x)> '");
    session.run("true", "C D0(0) A B");
    assert_eq!(session.seen(), "true\nx> ");
}

/// Prompt strings with text added at either end, with backslashes at their end, and none at all.
pub fn prompt_edited(shell: Shell) {
    let mut session = Session::start(shell, "");
    for (typed, prompt) in [
        (r#"PS1="x$PS1""#, "x$ "),
        (r#"PS1="$PS1. ""#, "x$ . "),
        (r"PS1='a\'", "a\\"),
        (r"PS1='a\\'", "a\\"),
        ("PS1='$'", "$"),
        ("PS1=", ""),
        ("unset PS1", ""),
        ("PS1='$ '", "$ "),
    ] {
        session.run(typed, "C D0(0) A B");
        for _ in 0..2 {
            session.run("true", "C D0(0) A B");
            assert_eq!(session.seen(), format!("true\n{prompt}"), "{typed}");
            assert_eq!((session.count('A'), session.count('B')), (1, 1));
        }
    }
    // What the user reads or copies is no live escape sequence.
    session.press("echo \"$PS1$PS0\"\r");
    session.wait("an end", |session| session.short().ends_with("D0(0) A B"));
    assert_eq!(session.count('C'), 1);
}

pub fn editing(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.keys("\x0c", "A B");
    session.press("\x12");
    session.wait_for("reverse-i-search");
    session.wait_reading();
    // The search may draw the prompt once more as it ends: the new one begins with bracketed paste.
    session.press("\x03");
    session.wait("a new prompt", |session| {
        let text = session.text();
        let new = text.rsplit_once("\x1b[?2004h");
        new.is_some_and(|(_, prompt)| prompt.contains("]133;B;"))
    });
    session.press("ech\t\t");
    session.wait_for("echo ");
    session.more("hi\r");
    session.expect(r#"C "hi\n" D0(0) A B"#);
    std::fs::write(session.home.work().join("aa1"), "").unwrap();
    std::fs::write(session.home.work().join("aa2"), "").unwrap();
    session.press("cat aa\t\t");
    session.wait_for("aa1");
    session.wait("the line again", |session| {
        session.seen().ends_with("\n$ cat aa")
    });
    session.wait_reading();
    session.press("\x03");
    session.wait("a prompt", |session| session.short() == "A B");
    session.run("set -o vi", "C D0(0) A B");
    session.press("abc\x1b0");
    session.wait_for("abc\x08\x08\x08");
    session.wait_reading();
    session.keys("\x03", "A B");
}

pub fn bound_command(shell: Shell) {
    let mut session = Session::start(shell, r#"bind -x '"\C-g": "echo boo; false"'"#);
    session.press("\x07");
    session.wait_for("boo\r\n");
    session.more("echo hi\r");
    session.wait("a command", |session| {
        session.short().ends_with(r#"C "hi\n" D0(0) A B"#)
    });
    assert_eq!(session.count('C'), 1);
}

pub fn edit_and_execute(shell: Shell) {
    let mut session = Session::start(shell, "export VISUAL=~/edit");
    session
        .home
        .write("edit", "#!/bin/sh\necho 'echo x; (exit 4)' >\"$1\"\n");
    session.run("chmod +x ~/edit", "C D0(0) A B");
    session.press("\x18\x05");
    session.wait("a prompt", |session| session.short().ends_with("A B"));
    assert!(session.text().contains("\nx\r\n"), "{}", session.text());
    assert_eq!(session.count('C'), 0);
}

pub fn exported_prompt(shell: Shell) {
    let mut session = Session::start(shell, "export PS1 PS2 PS0");
    for typed in ["dash", "busybox sh"] {
        if !have("exported_prompt", typed.split(' ').next().unwrap()) {
            continue;
        }
        session.press(&format!("{typed}\r"));
        session.wait_for_prompt();
        // busybox throws away what is typed before it has set up the terminal.
        for _ in 0..20 {
            session.more("echo o''k\r");
            if session.within_a_second(|session| session.seen().contains("ok\n")) {
                break;
            }
        }
        session.more("exit\r");
        session.wait("the outer prompt", |session| {
            session.short().ends_with("D0(0) A B")
        });
        assert!(session.seen().contains("ok\n"));
        assert!(!session.seen().contains("133"), "{}", session.text());
        assert_eq!((session.count('A'), session.count('B')), (1, 1));
    }
}

pub fn nested(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("bash", "C h' A' B'");
    session.run("false | true", "C' D0(1,0)' A' B'");
    session.run("false", "C' D1(1)' A' B'");
    session.run("exit 3", r#"C' "exit\n" D3(3) A B"#);
    // A nested shell whose rc file puts its own command before, after, or in an array.
    for (rc, seen) in [
        (
            r#"PROMPT_COMMAND="echo m\$?; $PROMPT_COMMAND""#,
            "false\nm1\n$ ",
        ),
        (r#"PROMPT_COMMAND+=$'\necho m$?'"#, "false\nm1\n$ "),
        ("PROMPT_COMMAND+=('echo m$?')", "false\nm1\n$ "),
    ] {
        session
            .home
            .write(".bashrc", &format!("PS1='$ '\nHISTFILE=\n{rc}\n"));
        let steps = [
            ("bash", "C h A B"),
            ("true", "C A B"),
            ("true", "C A B"),
            ("true", "C D0(0) A B"),
            ("false", "C D1(1) A B"),
        ];
        for (line, expected) in steps {
            session.press(&format!("{line}\r"));
            // Whose, and what the rc file's own commands print meanwhile, is not the matter here.
            session.wait(expected, |session| {
                let short = session.short().replace('\'', "").replace("\"m0\\n\" ", "");
                short == expected || expected == "C A B" && short == "C D0(0) A B"
            });
        }
        assert_eq!(session.seen(), seen, "{rc}");
        session.press("exit 3\r");
        session.wait("the outer prompt", |session| {
            session.short().ends_with("D3(3) A B")
        });
    }
}

pub fn nested_through_sh(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("sh -c bash", "C h' A' B'");
    session.run("false", "C' D1(1)' A' B'");
    session.run("exit 3", r#"C' "exit\n" D3(3) A B"#);
    // Without the files it is plain.
    session.run("mv ~/pg ~/gone", "C D0(0) A B");
    session.press("bash\r");
    session.wait_for_prompt();
    session.more("false\rexit 4\r");
    session.wait("the outer prompt", |session| {
        session.short().ends_with("D4(4) A B")
    });
    assert!(!session.seen().contains("not found"), "{}", session.seen());
    assert_eq!(session.count('C'), 1);
}

pub fn norc(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("bash --norc", "C h' A' B'");
    session.press("false|true\r");
    session.wait("an end", |session| session.short().ends_with("A' B'"));
    let short = session.short();
    assert!(
        short == "C' D0' A' B'" || short == "C' D0(1,0)' A' B'",
        "{short}"
    );
}

pub fn exec(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("exec bash", "C h A B");
    session.run("false", "C D1(1) A B");
}

pub fn history_expansion(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("echo hi", r#"C "hi\n" D0(0) A B"#);
    session.run("echo !!", r#"C "echo hi\n" D0(0) A B"#);
    assert!(
        session
            .seen()
            .starts_with("echo !!\necho echo hi\necho hi\n")
    );
}

/// Nothing of ours in the history, the files, or the names of variables and functions beyond our prefix.
pub fn no_traces(shell: Shell) {
    let names = |integrated: bool| {
        let home = Home::with_rc(
            shell,
            "PS2='> '; PS0=; PROMPT_COMMAND=true; HISTFILE=~/.history",
        );
        let mut session = if integrated {
            Session::launch(shell, home, &[])
        } else {
            Session::spawn(&["bash".into(), "-l".into()], &[], home)
        };
        session.wait_for("$ ");
        for line in [
            "cd /",
            "false",
            "history",
            "(compgen -v; compgen -A function; ls -A ~) >~/names",
            "exit",
        ] {
            session.press(&format!("{line}\r"));
            if line != "exit" {
                session.wait(line, |session| session.seen().ends_with("$ "));
            }
        }
        session.end();
        let names = std::fs::read_to_string(session.home.path("names")).unwrap();
        let names = names
            .lines()
            .filter(|name| !name.to_lowercase().starts_with("__paneglass_"));
        let history = std::fs::read_to_string(session.home.path(".history")).unwrap();
        let left = std::fs::read_dir(session.home.path("pg/bash"))
            .unwrap()
            .count();
        (names.map(String::from).collect::<Vec<_>>(), history, left)
    };
    assert_eq!(names(true), names(false));
}

/// With stderr in a file the prompt goes there too: it must be clean, and so must the prompt strings afterwards. That
/// there is a prompt, and how commands ended, is told all the same.
pub fn stderr_elsewhere(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("exec 2>~/err", "C D0(0) A B");
    session.run("false | true", "D0(1,0) A B");
    session.run("cd /", "D0(0) A B");
    session.run("", "A B");
    session.run("exec 2>/dev/null", "D0(0) A B");
    session.run("(exit 7)", "D7(7) A B");
    session.run("exec 2>/dev/tty", "D0(0) A B");
    let error = std::fs::read_to_string(session.home.path("err")).unwrap();
    assert!(error.contains("$ ") && !error.contains("133"), "{error:?}");
    session.run("false", "C D1(1) A B");
    // A name for the same terminal, which shells below inherit.
    session.run("bash", "C h' A' B'");
    session.run("exit 3", r#"C' "exit\n" D3(3) A B"#);
    if have("stderr_elsewhere", "fish") {
        session.run("fish", "C h'' A'' B''");
        session.press("exit 3\r");
        session.wait("an end", |session| session.short().ends_with("D3(3) A B"));
    }
}

/// The files are about to be removed, as after a login over ssh: nested shells get the text.
pub fn nested_without_files(shell: Shell) {
    let mut session = Session::start(shell, "");
    let file = session.home.integration().join("bash/integration.bash");
    let line = format!("__paneglass_whole=1; . {}; rm -r ~/pg", file.display());
    session.run(&line, "C D0(0) A B");
    for nested in ["bash", "sh -c bash"] {
        session.press(&format!("{nested}\r"));
        session.wait("a nested prompt", |session| {
            session.count('P') == 1 && session.count('B') == 1
        });
        session.press("false | true\r");
        session.wait("an end", |session| {
            session.short().contains("D0(1,0)'") && session.count('B') == 1
        });
        session.press("exit 3\r");
        session.wait("the outer prompt", |session| {
            session.short().ends_with("D3(3) A B")
        });
    }
}

/// A session's bash is no login shell to bash, but reads ~/.bash_logout as one, unless the user traps its exit
/// himself.
pub fn logout(shell: Shell) {
    for (rc, left) in [
        ("", "logout\n"),
        ("trap 'echo mine >>~/left' EXIT", "mine\n"),
    ] {
        let mut session = Session::start(shell, rc);
        session.home.write(".bash_logout", "echo logout >>~/left\n");
        session.run("(exit 4)", "C D4(4) A B");
        session.press("exit 6\r");
        assert_eq!(session.end().code(), Some(6));
        assert_eq!(
            std::fs::read_to_string(session.home.path("left")).unwrap(),
            left
        );
    }
}
