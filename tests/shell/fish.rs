//! Behaviours of fish alone: its editor, its job notices, and functions that make the prompt.

use super::files::Shell;
use super::harness::{Home, Session};

/// Open quotes and blocks stay in the editor: no continuation prompt, and one command at the end.
pub fn continuation(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.press("echo \"a\r");
    session.wait_for("\"a");
    session.more("b\"\r");
    session.wait("an end", |session| {
        session.short().ends_with(r#"C "a\nb\n" D0(0) A B"#)
    });
    assert_eq!(session.count('C'), 1);
}

pub fn idle_notice(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("mkfifo ~/fifo", "C D0(0) A B");
    session.press("cat ~/fifo &\r");
    session.wait("an end", |session| session.short().ends_with("D0(0) A B"));
    session.press("ec");
    session.wait_for("c");
    drop(
        std::fs::OpenOptions::new()
            .write(true)
            .open(session.home.path("fifo"))
            .unwrap(),
    );
    session.wait_for("has ended");
    // With what it suggests after them.
    session.wait("the prompt again", |session| {
        session.seen().contains("\n$ ec")
    });
    assert_eq!((session.count('C'), session.count('D')), (0, 0));
    session.press("ho hi\r");
    session.wait("an end", |session| {
        session.short().ends_with(r#"C "hi\n" D0(0) A B"#)
    });
}

/// The user's prompt sees $status and $pipestatus; one that ends in a newline, in none, or prints nothing is shown
/// as it is.
pub fn prompt_rebuilt(shell: Shell) {
    let mut session = Session::start(
        shell,
        "function fish_prompt; echo -s $status '|' $pipestatus '> '; end",
    );
    session.run("false | true | sh -c 'exit 3'", "C D3(1,0,3) A B");
    assert!(session.seen().ends_with("\n3|103> "), "{}", session.seen());
    for (body, prompt) in [
        ("echo one; echo -n 'two> '", "one\ntwo> "),
        ("echo one; echo 'two> '", "one\ntwo> "),
        ("", ""),
        ("fish_default_mode_prompt; echo 'x> '", "x> "),
        ("fish_mode_prompt; echo 'y> '", "y> "),
    ] {
        session.run(&format!("function fish_prompt; {body}; end"), "C D0(0) A B");
        for _ in 0..2 {
            session.run("true", "C D0(0) A B");
            assert!(
                session.seen().ends_with(&format!("\n{prompt}")),
                "{body}: {:?}",
                session.seen()
            );
            assert_eq!(session.count('A'), session.count('B'));
        }
    }
}

pub fn editing(shell: Shell) {
    let mut session = Session::start(
        shell,
        "function boo; echo boo; commandline -f repaint; end; bind \\cg boo",
    );
    session.press("\x0c");
    session.wait("the prompt again", |session| session.count('B') > 0);
    session.press("\x07");
    session.wait_for("boo");
    session.wait("the prompt again", |session| session.count('B') > 0);
    session.press("echo hi\r");
    session.wait("an end", |session| {
        session.short().ends_with(r#"C "hi\n" D0(0) A B"#)
    });
    assert_eq!((session.count('C'), session.count('D')), (1, 1));
}

/// As activate.fish and its deactivate do it.
pub fn venv(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.home.write(
        "activate",
        "functions -c fish_prompt _old_fish_prompt
         function fish_prompt
             set -l old_status $status
             printf '(venv) '
             echo \"exit $old_status\" | .
             _old_fish_prompt
         end
         function deactivate
             functions -e fish_prompt
             functions -c _old_fish_prompt fish_prompt
             functions -e _old_fish_prompt
         end\n",
    );
    // A prompt that was put back is not wrapped once more, however often that happens.
    let which = "functions -Dv fish_prompt | tail -n 1";
    let first = "C \"__paneglass_user_prompt_1\\n\" D0(0,0) A B";
    session.run(which, first);
    for _ in 0..2 {
        session.run(". ~/activate", "C D0(0) A B");
        for _ in 0..2 {
            session.run("false", "C D1(1) A B");
            assert!(
                session.seen().ends_with("\n(venv) $ "),
                "{:?}",
                session.seen()
            );
            assert_eq!((session.count('A'), session.count('B')), (1, 1));
        }
        session.run("deactivate", "C D0(0) A B");
        session.run("true", "C D0(0) A B");
        assert!(session.seen().ends_with("\n$ "));
        assert_eq!((session.count('A'), session.count('B')), (1, 1));
        session.run(which, first);
    }
}

pub fn nested(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("bash", "C h' A' B'");
    session.run("false | true", "C' D0(1,0)' A' B'");
    session.run("exit 3", r#"C' "exit\n" D3(3) A B"#);
}

pub fn exec(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("exec bash", "C h A B");
    session.run("false", "C D1(1) A B");
}

pub fn vi_mode(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.press("fish_vi_key_bindings\r");
    session.wait("a prompt", |session| {
        session.short().ends_with("D0(0) A B") && session.seen().ends_with("[I] $ ")
    });
    session.press("function fish_prompt; echo 'new> '; end\r");
    session.wait("a prompt", |session| {
        session.short().ends_with("D0(0) A B") && session.seen().ends_with("[I] new> ")
    });
    let text = session.text();
    let (_, prompt) = text.rsplit_once("\x1b]133;A;").unwrap();
    assert!(
        prompt.contains("[I]") && prompt.contains("\x1b]133;B;"),
        "{text:?}"
    );
    session.press("\x1b");
    session.wait_for("[N]");
    session.press("i");
    session.wait_for("[I]");
    session.press("echo hi\r");
    session.wait("an end", |session| {
        session.short().ends_with(r#"C "hi\n" D0(0) A B"#)
    });
    // The mode's function redefined: A comes from the prompt then, and from both places afterwards.
    for _ in 0..2 {
        session.press("function fish_mode_prompt; echo -n '<m> '; end\r");
        session.wait("a prompt", |session| {
            session.short().ends_with("D0(0) A B") && session.seen().ends_with("<m> new> ")
        });
    }
    session.press("true\r");
    session.wait("a prompt", |session| {
        session.short().ends_with("D0(0) A B") && session.seen().ends_with("<m> new> ")
    });
}

/// Variables and functions of ours begin with our prefix; the history has what was typed.
pub fn same_names(shell: Shell) {
    let names = |integrated: bool| {
        let home = Home::with_rc(shell, "");
        let mut session = if integrated {
            Session::launch(shell, home, &[])
        } else {
            Session::spawn(&["fish".into(), "-l".into()], &[], home)
        };
        session.wait("a prompt", |session| session.seen().ends_with("$ "));
        for line in [
            "true",
            "begin; set -n; functions -an; history; ls -A ~; end >~/names",
            "exit",
        ] {
            session.press(&format!("{line}\r"));
            if line != "exit" {
                session.wait(line, |session| session.seen().ends_with("\n$ "));
            }
        }
        session.end();
        let names = std::fs::read_to_string(session.home.path("names")).unwrap();
        let mut names: Vec<String> = names
            .split([',', '\n'])
            .map(|name| name.trim().to_string())
            .collect();
        names.retain(|name| !name.to_lowercase().starts_with("__paneglass_"));
        names.sort();
        names.dedup();
        names
    };
    let (integrated, plain) = (names(true), names(false));
    let more: Vec<_> = integrated
        .iter()
        .filter(|name| !plain.contains(name))
        .collect();
    // A bash below this one is integrated through it.
    assert_eq!(more, ["PROMPT_COMMAND"]);
    assert!(plain.iter().all(|name| integrated.contains(name)));
}
