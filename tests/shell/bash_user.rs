//! What a user of bash may have in his rc file, and the prompt frameworks, as stand-ins that do what those do to
//! the shell.

use super::files::Shell;
use super::harness::{Home, Session};

/// Options, aliases and functions that break careless code.
pub fn hostile(shell: Shell) {
    let rc = r#"
        shopt -s failglob nullglob extglob nocasematch dotglob localvar_inherit expand_aliases
        shopt -s extdebug
        set -efu -o pipefail
        IFS=_a; GLOBIGNORE=*; FIGNORE=.; GREP_OPTIONS=x; LC_COLLATE=C
        s=1 p=2 n=3 i=4 e=5 f=6 t=7 a=8 o=9 v=10 r=11 all=12 x=13 z=14
        printf() { echo stolen; }; export() { echo stolen; }; set() { echo stolen; }
        unset() { echo stolen; }; local() { echo stolen; }; eval() { echo stolen; }; read() { echo stolen; }
        return() { echo stolen; }; declare() { echo stolen; }; :() { echo stolen; }; true() { echo stolen; }
        alias printf='echo a' local='echo b' builtin='echo c' export='echo d' return='echo e' .='echo f'
    "#;
    let mut session = Session::start(shell, rc);
    session.run("echo hi", r#"C "hi\n" D0(0) A B"#);
    assert_eq!(session.seen(), "echo hi\nhi\n$ ");
    session.run("cd /", "C D0(0) A B");
    assert_eq!(
        (session.key('A', "cwd").unwrap(), session.seen()),
        ("/".into(), "cd /\n$ ".into())
    );
    session.run(
        "false | command true || echo ${PIPESTATUS[0]}",
        r#"C "1\n" D0(0) A B"#,
    );
    // The user's own variables and settings are as he left them.
    session.run(
        r#"echo $s $p $n $i $e $f $t "${IFS@Q}" $- $LC_ALL"#,
        r#"C "1 2 3 4 5 6 7 '_a' efhimuBEHTs C.UTF-8\n" D0(0) A B"#,
    );
    session.run("[[ abc =~ b ]]", "C D0(0) A B");
    session.run("echo ${BASH_REMATCH[@]}", r#"C "b\n" D0(0) A B"#);
    session.run("bash", "C h' A' B'");
    session.run("echo hi", r#"C' "hi\n" D0(0)' A' B'"#);
}

pub fn readonly(shell: Shell) {
    // Each of these makes markers impossible: then the shell is plain, and whole.
    for name in ["PROMPT_COMMAND=true", "PS1='$ '", "PS0="] {
        let home = Home::with_rc(shell, &format!("readonly {name}"));
        let mut session = Session::launch(shell, home, &[]);
        session.wait("a prompt", |session| session.seen().ends_with("$ "));
        session.press("false\r");
        session.wait("a prompt", |session| session.seen().ends_with("$ "));
        assert_eq!(
            (session.seen(), session.short()),
            ("false\n$ ".into(), String::new()),
            "{name}"
        );
    }
    // Made readonly later: what is there goes on.
    let mut session = Session::start(shell, "PROMPT_COMMAND='echo m'");
    for name in ["PROMPT_COMMAND", "PS1", "PS2", "PS0"] {
        session.run(&format!("readonly {name}"), "C D0(0) A B");
        session.run("(exit 3)", "C D3(3) A B");
        assert_eq!(session.seen(), "(exit 3)\nm\n$ ");
    }
    let mut session = Session::start(
        shell,
        "readonly IFS LC_ALL HOME; readonly -f ll 2>/dev/null",
    );
    session.run("false | true", "C D0(1,0) A B");
    session.run("cd /tmp", "C D0(0) A B");
    assert_eq!(session.key('A', "cwd").unwrap(), "/tmp");
    // A restricted shell allows no redirection.
    let mut session = Session::start(shell, "");
    session.press("bash -r\r");
    session.wait_for_prompt();
    session.more("echo o''k; exit 3\r");
    session.wait("an end", |session| session.short().ends_with("D3(3) A B"));
    assert!(session.seen().contains("ok\n"));
}

/// Puts its installer into PROMPT_COMMAND, which at the first prompt replaces itself by a first and a last command,
/// and tells commands from prompt commands by comparing BASH_COMMAND with the lines of PROMPT_COMMAND.
const PREEXEC: &str = r#"
    on=
    note() {
        local line
        [[ $on ]] || return 0
        on=
        while read -r line; do
            [[ $line != "$BASH_COMMAND" ]] || return 0
        done <<<"${PROMPT_COMMAND[*]}"
        echo "pre<$BASH_COMMAND>"
    }
    first() { local status=$?; echo "first<$status>"; return "$status"; }
    last() { on=1; }
    install() {
        [[ ${PROMPT_COMMAND[*]} != *first* ]] || return 0
        trap 'note "$_"' DEBUG
        local old=${PROMPT_COMMAND-}
        old=${old//"$installer"/:}
        PROMPT_COMMAND=first
        PROMPT_COMMAND+=${old:+$'\n'$old}
        PROMPT_COMMAND+=('last')
    }
    installer=$'trap - DEBUG\ninstall'
    PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}$installer
"#;

pub fn preexec(shell: Shell) {
    let mut session = Session::start(shell, PREEXEC);
    // The first prompt after an installation may count the rest of that prompt's own commands.
    session.press("true\r");
    session.wait("an end", |session| session.short().ends_with("D0(0) A B"));
    for _ in 0..2 {
        session.run("false || sh -c 'exit 4'", r#"C "pre<false>\n" D4(4) A B"#);
        assert!(
            session.seen().ends_with("\nfirst<4>\n$ "),
            "{}",
            session.seen()
        );
        session.run("", "A B");
        assert_eq!(session.seen(), "\nfirst<4>\n$ ");
    }
    // In a nested shell, whose PROMPT_COMMAND has the hook before its installer.
    session.press("bash\r");
    session.wait("a nested prompt", |session| {
        session.short().ends_with("h' A' B'")
    });
    for line in ["true", "true", "true"] {
        session.press(&format!("{line}\r"));
        session.wait("a prompt", |session| session.short().ends_with("A' B'"));
    }
    for _ in 0..2 {
        session.run(
            "false || sh -c 'exit 4'",
            r#"C' "pre<false>\n" D4(4)' A' B'"#,
        );
        assert!(
            session.seen().ends_with("\nfirst<4>\n$ "),
            "{}",
            session.seen()
        );
    }
}

/// Takes PROMPT_COMMAND over, runs what was there in the midst of its own, and sets PS1 last.
const STARSHIP: &str = r#"
    star() {
        local status=$? stages=("${PIPESTATUS[@]}")
        return_status() { return "${1-}"; }
        return_status "$status"
        eval "${star_old-}"
        PS1="<$status ${stages[@]}> "
    }
    if [[ ${PROMPT_COMMAND-} != *star* ]]; then
        star_old=${PROMPT_COMMAND-}
        PROMPT_COMMAND=star
    fi
    trap 'star_time=1' DEBUG
"#;

pub fn starship(shell: Shell) {
    let check = |session: &mut Session| {
        session.run("false | true", "C D0(1,0) A B");
        assert!(session.seen().ends_with("\n<0 1 0> "), "{}", session.seen());
        session.run("(exit 3)", "C D3(3) A B");
        assert!(session.seen().ends_with("\n<3 3> "), "{}", session.seen());
        assert_eq!((session.count('A'), session.count('B')), (1, 1));
    };
    check(&mut Session::start(shell, STARSHIP));
    check(&mut Session::start(
        shell,
        &format!("PROMPT_COMMAND=true; {STARSHIP}"),
    ));
    // Started live, where the hook ends up in the midst of it.
    let mut session = Session::start(shell, "");
    session.home.write("star", STARSHIP);
    session.run(". ~/star", "C D0(0) A B");
    session.run("true", "C D0(0) A B");
    check(&mut session);
    // In a nested shell the same.
    let mut session = Session::start(shell, "");
    session
        .home
        .write(".bashrc", &format!("HISTFILE=; {STARSHIP}"));
    session.press("bash\r");
    session.wait("a nested prompt", |session| {
        session.short().ends_with("h' A' B'")
    });
    session.run("true", "C' D0(0)' A' B'");
    session.run("false | true", "C' D0(1,0)' A' B'");
    assert!(session.seen().ends_with("\n<0 1 0> "), "{}", session.seen());
    assert_eq!((session.count('A'), session.count('B')), (1, 1));
}

pub fn direnv(shell: Shell) {
    let rc = r#"
        dir_hook() {
            local status=$?
            trap -- '' SIGINT
            eval "$(echo "dir_count=$((${dir_count-0} + 1))")"
            trap - SIGINT
            return $status
        }
        if [[ ";${PROMPT_COMMAND[*]:-};" != *";dir_hook;"* ]]; then
            PROMPT_COMMAND="dir_hook${PROMPT_COMMAND:+;$PROMPT_COMMAND}"
        fi
    "#;
    let mut session = Session::start(shell, rc);
    session.run("false", "C D1(1) A B");
    session.press(". ~/.bashrc\r");
    session.wait("a prompt", |session| session.short().ends_with("A B"));
    session.run("dir_count=0", "C D0(0) A B");
    session.run("false", "C D1(1) A B");
    session.run("echo $dir_count", r#"C "2\n" D0(0) A B"#);
}

/// Ctrl-C while a prompt command runs: bash drops the rest, and the next prompt is whole again.
pub fn interrupted(shell: Shell) {
    let mut session = Session::start(
        shell,
        "PROMPT_COMMAND='[[ ! $wait ]] || { echo up; sleep 9; }'",
    );
    session.press("wait=1\r");
    session.wait_for("up\r\n");
    session.more("\x03");
    session.wait("a prompt", |session| session.short().ends_with("A B"));
    session.press("wait=\r");
    session.wait("a prompt", |session| session.short().ends_with("A B"));
    session.run("false", "C D1(1) A B");
    assert_eq!(session.seen(), "false\n$ ");
}
