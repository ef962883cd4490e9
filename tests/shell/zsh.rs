//! Behaviours of zsh alone: its options, its line editor, and how its themes treat the prompt.

use super::files::{self, Shell};
use super::harness::{Home, NONCE, Session};
use crate::util::skip::have;

/// Job notices while the line editor waits: the text, and the prompt drawn again.
pub fn idle_notice(shell: Shell) {
    let mut session = Session::start(shell, "setopt notify");
    session.run("mkfifo ~/fifo", "C D0(0) A B");
    session.press("cat ~/fifo &\r");
    session.wait("an end", |session| session.short().ends_with(" D0(0) A B"));
    session.press("ec");
    session.wait_for("c");
    drop(
        std::fs::OpenOptions::new()
            .write(true)
            .open(session.home.path("fifo"))
            .unwrap(),
    );
    session.wait_for("done");
    session.wait("the prompt again", |session| {
        session.short() == "A B" && session.seen().ends_with("$ ec")
    });
    session.keys("ho hi\r", r#"C "hi\n" D0(0) A B"#);
}

pub fn options(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("set -x", "C D0(0) A B");
    session.run("true", r#"C "+zsh:2> true\n" D0(0) A B"#);
    assert_eq!(session.seen(), "true\n+zsh:2> true\n$ ");
    session.press("set +x\r");
    session.wait("an end", |session| session.short().ends_with("D0(0) A B"));
    session.run("set -u", "C D0(0) A B");
    session.run("true", "C D0(0) A B");
    assert_eq!(session.seen(), "true\n$ ");
    session.run("set -e; ! true", "C D1 A B");
    session.run("", "A B");
    session.run("echo ok", r#"C "ok\n" D0(0) A B"#);

    let rc = "
        setopt ksh_arrays sh_word_split glob_subst no_unset err_return warn_create_global ksh_glob sh_glob null_glob
        setopt csh_null_glob no_multi_os no_clobber bash_rematch posix_builtins no_short_loops ignore_braces all_export
        IFS=_a; alias print='echo a' typeset='echo b' local='echo c' builtin='echo d' setopt='echo e' '[['='echo f'
        alias -g g=x; alias -g '>|=x'
        print() { echo stolen } 2>/dev/null; shift() { echo stolen }
    ";
    let mut session = Session::start(shell, rc);
    session.run("false | true", "C D0(1,0) A B");
    assert_eq!(session.seen(), "false | true\n$ ");
    session.run("cd /", "C D0(0) A B");
    assert_eq!(
        (session.key('A', "cwd").unwrap(), session.seen()),
        ("/".into(), "cd /\n$ ".into())
    );
}

pub fn prompt_functions(shell: Shell) {
    // Each sees the command's status; what it prints is no output of the command.
    let rc = r#"
        precmd() { echo "0:$? $pipestatus" }
        one() { echo "1:$? $pipestatus"; return 9 }
        precmd_functions+=(one)
        two() { echo "pre<$1>" }
        preexec_functions+=(two)
    "#;
    let mut session = Session::start(shell, rc);
    session.run("false | true", "C D0(1,0) A B");
    assert_eq!(
        session.seen(),
        "false | true\npre<false | true>\n0:0 1 0\n1:0 1 0\n$ "
    );
    session.run("(exit 7)", "C D7(7) A B");
    // Dropped live: prompts still come, the status is not known, and the hooks are back with the next line.
    session.press("precmd_functions=() preexec_functions=()\r");
    session.wait("a prompt", |session| session.short().ends_with("A B"));
    session.press("true\r");
    session.wait("a prompt", |session| session.short().ends_with("A B"));
    session.run("(exit 7)", "C D7(7) A B");
}

pub fn prompt_rebuilt(shell: Shell) {
    let rc = "setopt prompt_subst; theme() { PS1='<$?%?> ' }; precmd_functions+=(theme)";
    let mut session = Session::start(shell, rc);
    session.run("false", "C D1(1) A B");
    assert_eq!(session.seen(), "false\n<11> ");
    assert_eq!((session.count('A'), session.count('B')), (1, 1));

    let mut session = Session::start(shell, "");
    for (typed, prompt) in [
        (r#"PS1="x$PS1""#, "x$ "),
        (r#"PS1="$PS1. ""#, "x$ . "),
        ("PS1='%'", "%"),
        ("PS1='%%'", "%"),
        ("PS1='a%%%'", "a%%"),
        ("PS1=$'$(\\nprint x)> '; setopt prompt_subst", "x> "),
        ("PS1=", ""),
        ("PS1='$ '", "$ "),
    ] {
        session.run(typed, "C D0(0) A B");
        for _ in 0..2 {
            session.run("true", "C D0(0) A B");
            assert_eq!(session.seen(), format!("true\n{prompt}"), "{typed}");
            assert_eq!((session.count('A'), session.count('B')), (1, 1));
        }
    }
    session.run(
        "print -r -- \"$PS1$PS2$PROMPT\"",
        r#"C "$ %_> $\n" D0(0) A B"#,
    );
}

pub fn editing(shell: Shell) {
    let mut session = Session::start(
        shell,
        "boo() { zle -I; echo boo; false }; zle -N boo; bindkey '^G' boo",
    );
    session.keys("\x0c", "A B");
    session.press("\x07");
    session.wait_for("boo\r\n");
    session.wait("the prompt again", |session| session.short() == "A B");
    session.keys("echo hi\r", r#"C "hi\n" D0(0) A B"#);
    session.press("\x12");
    session.wait_for("bck-i-search");
    session.wait_reading();
    session.press("\x03");
    session.more("echo hi\r");
    session.wait("an end", |session| {
        session.short().ends_with(r#"C "hi\n" D0(0) A B"#)
    });
    assert_eq!((session.count('C'), session.count('D')), (1, 1));
    session.run("bindkey -v", "C D0(0) A B");
    session.press("abc\x1b");
    session.wait_for("abc");
    session.more("ddi");
    session.more("echo hi\r");
    session.wait("an end", |session| {
        session.short().ends_with(r#"C "hi\n" D0(0) A B"#)
    });
}

pub fn nested(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.press("zsh\r");
    session.wait("a nested prompt", |session| {
        session.short().ends_with("h' A' B'")
    });
    session.run("false", "C' D1(1)' A' B'");
    session.run(
        "echo ${ZDOTDIR-none}; env | grep -c ZDOTDIR",
        r#"C' "none\n0\n" D1(0,1)' A' B'"#,
    );
    session.run("exit 3", "C' D3(3) A B");
    session.run("echo ${ZDOTDIR-none}", r#"C "none\n" D0(0) A B"#);
    session.run("bash", "C h'' A'' B''");
    session.run("false", "C'' D1(1)'' A'' B''");
    session.run("exit 3", r#"C'' "exit\n" D3(3) A B"#);
    // What else is started sees the user's ZDOTDIR.
    session.run("sh -c 'echo ${ZDOTDIR-none}'", r#"C "none\n" D0(0) A B"#);
    session.run("zsh -c 'echo ${ZDOTDIR-none}'", r#"C "none\n" D0(0) A B"#);
    session.run(
        "ZDOTDIR=~; zsh -c 'echo ${ZDOTDIR-none}'",
        r#"C "none\n" D0(0) A B"#,
    );
    session.run("export ZDOTDIR", "C D0(0) A B");
    let home = session.home.path("");
    let home = home.to_str().unwrap().trim_end_matches('/');
    let expected = format!("C \"{home}\\n\" D0(0) A B");
    session.run("command zsh -c 'echo ${ZDOTDIR-none}'", &expected);
    session.run("echo $ZDOTDIR", &expected);
}

pub fn exec(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.press("exec zsh\r");
    session.wait("a prompt", |session| session.short().ends_with(" h A B"));
    assert_eq!(session.count('D'), 0);
    session.run("false", "C D1(1) A B");
}

pub fn history_expansion(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("echo hi", r#"C "hi\n" D0(0) A B"#);
    session.run("echo !!", r#"C "echo hi\n" D0(0) A B"#);
}

pub fn right_prompt(shell: Shell) {
    let mut session = Session::start(shell, "RPROMPT='R%?'; setopt transient_rprompt");
    // It is drawn after B, and taken off again before C: the text between begins with the line itself.
    session.run("false", "C D1(1) A B");
    session.run("echo hi", r#"C "hi\n" D0(0) A B"#);
    assert_eq!((session.count('A'), session.count('B')), (1, 1));
}

/// An instant prompt before the rc file is done, a prompt that is set after all other precmd functions, and one
/// that becomes short when the line is entered.
const P10K: &str = r#"
    print -n 'instant> '
    power_precmd() {
        print -n '\r\e[J'
        if [[ $precmd_functions[-1] != power_precmd ]]; then
            precmd_functions=(${precmd_functions:#power_precmd} power_precmd)
        fi
        PROMPT='${(%):-%~} > '
        RPROMPT='%?'
    }
    setopt prompt_subst
    precmd_functions+=(power_precmd)
    power_finish() {
        PROMPT='> ' RPROMPT=
        zle reset-prompt
    }
    zle -N zle-line-finish power_finish
    power_init() { power_ready=1 }
    zle -N zle-line-init power_init
"#;

pub fn powerlevel(shell: Shell) {
    let mut session = Session::launch(shell, Home::with_rc(shell, P10K), &[]);
    session.wait("the first prompt", |session| session.short() == "h A B");
    for _ in 0..5 {
        session.press("(exit 3)\r");
        session.wait("an end", |session| session.short().ends_with("C D3(3) A B"));
        assert_eq!((session.count('C'), session.count('D')), (1, 1));
    }
    session.press("echo hi $power_ready\r");
    session.wait("an end", |session| {
        session.short().ends_with(r#"C "hi 1\n" D0(0) A B"#)
    });
}

pub fn percent_off(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.run("setopt no_prompt_percent; PS1='% '", "C D0(0) A B");
    session.run("false", "C D1(1) A B");
    assert_eq!(session.seen(), "false\n% ");
    session.run("setopt prompt_percent; PS1='$ '", "C D0(0) A B");
    session.run("setopt ignore_eof", "C D0(0) A B");
    session.press("\x04");
    session.wait_for("to logout.");
    session.press("echo hi\r");
    session.wait("an end", |session| {
        session.short().ends_with(r#"C "hi\n" D0(0) A B"#)
    });
    assert_eq!(session.count('D'), 1);
    // An end-of-line mark of the user's own, and none.
    for (set, mark) in [("PROMPT_EOL_MARK=@", "@"), ("PROMPT_EOL_MARK=", "")] {
        // This one command ends with the mark just set, without ours.
        session.press(&format!("{set}\r"));
        session.wait("an end", |session| session.short().ends_with("D0(0) A B"));
        session.run("printf foo", r#"C "foo" D0(0) A B"#);
        assert_eq!(
            session.seen().trim_end_matches("$ ").trim_end(),
            format!("printf foo\nfoo{mark}"),
            "{set}"
        );
    }
    session.run("setopt no_prompt_sp", "C D0(0) A B");
    session.run("printf foo", r#"C "foo" D0(0) A B"#);
}

/// The user's .zshenv moves his other files; variables and history are as in a shell without the integration.
pub fn same_files(shell: Shell) {
    for zshenv in [
        "",
        "ZDOTDIR=~/conf",
        "export ZDOTDIR=~/conf; return 3",
        "setopt no_global_rcs",
    ] {
        let names = |integrated: bool| {
            let home = Home::with_rc(shell, "");
            home.write(".zshenv", &format!("read_files=(env)\n{zshenv}\n"));
            for dir in ["", "conf/"] {
                for (name, tag) in [
                    (".zprofile", "profile"),
                    (".zshrc", "rc"),
                    (".zlogin", "login"),
                ] {
                    home.write(
                        &format!("{dir}{name}"),
                        &format!("read_files+=({dir}{tag}); PS1='$ '\n"),
                    );
                }
            }
            let launch = files::launch(shell, &home.integration(), NONCE);
            let mut session = if integrated {
                Session::spawn(&launch.argv, &launch.env, home)
            } else {
                Session::spawn(&launch.argv, &[], home)
            };
            session.wait("a prompt", |session| session.seen().ends_with("$ "));
            let line = "print -l $read_files ${ZDOTDIR-none} ${HISTFILE-none} ${(t)ZDOTDIR} $SAVEHIST >~/said";
            for line in [
                line,
                "(typeset +; print -l ${(k)functions}; ls -A ~) >~/names",
                "history",
                "exit",
            ] {
                session.press(&format!("{line}\r"));
                if line != "exit" {
                    session.wait(line, |session| session.seen().ends_with("\n$ "));
                }
            }
            session.end();
            let said = std::fs::read_to_string(session.home.path("said")).unwrap();
            let dir = session.home.path("").to_str().unwrap().to_string();
            let names = std::fs::read_to_string(session.home.path("names")).unwrap();
            let ours = |name: &str| {
                let name = name.to_lowercase();
                // The hooks' arrays and the mark are zsh's own names, as are the modules that the hooks look into.
                [
                    "__paneglass_",
                    "precmd_functions",
                    "preexec_functions",
                    "zshaddhistory_functions",
                    "prompt_eol_mark",
                    " functions",
                    " widgets",
                    "prompt_command",
                ]
                .iter()
                .any(|ours| name.contains(ours))
            };
            let names: Vec<String> = names
                .lines()
                .filter(|name| !name.is_empty() && !ours(name))
                .map(String::from)
                .collect();
            (said.replace(&dir, "~/"), names)
        };
        let (integrated, plain) = (names(true), names(false));
        assert_eq!(integrated.0, plain.0, "{zshenv}");
        let more: Vec<_> = integrated
            .1
            .iter()
            .filter(|name| !plain.1.contains(name))
            .collect();
        let less: Vec<_> = plain
            .1
            .iter()
            .filter(|name| !integrated.1.contains(name))
            .collect();
        assert!(
            more.is_empty() && less.is_empty(),
            "{zshenv}: more {more:?}, less {less:?}"
        );
    }
    // The user's own ZDOTDIR from the environment.
    let home = Home::with_rc(shell, "");
    home.write("mine/.zshrc", "PS1='mine$ '\n");
    let mine = home.path("mine").to_str().unwrap().to_string();
    let mut session = Session::launch(shell, home, &[("__PANEGLASS_ZDOTDIR", &mine)]);
    session.expect("h A B");
    assert!(session.seen().ends_with("mine$ "));
}

pub fn exported_prompt(shell: Shell) {
    let mut session = Session::start(shell, "export PS1 PS2");
    for typed in ["dash", "busybox sh"] {
        if !have("exported_prompt", typed.split(' ').next().unwrap()) {
            continue;
        }
        session.press(&format!("{typed}\r"));
        session.wait_for_prompt();
        session.more("echo o''k\rexit\r");
        session.wait("the outer prompt", |session| {
            session.short().ends_with("D0(0) A B")
        });
        assert!(
            session.seen().contains("ok\n") && !session.seen().contains("133"),
            "{}",
            session.text()
        );
        assert_eq!((session.count('A'), session.count('B')), (1, 1));
    }
}
