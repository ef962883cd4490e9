//! Shells below an integrated shell: every kind below every kind, what the outer one keeps, and what is loaded twice.

use super::files::{self, Shell};
use super::harness::{Home, NONCE, Session};
use crate::util::skip::have;

const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// Prints what a program sees of the variables by which shells below are reached.
const SEES: &str = "echo ${ZDOTDIR-none} ${XDG_DATA_DIRS-none} ${__PANEGLASS_NESTED-none}\n";

/// Some shell is at its prompt.
fn prompts(session: &Session) -> bool {
    session.short().trim_end_matches('\'').ends_with('B')
}

/// Starts a shell of each kind below this one and another below that, and asks each for a status.
pub fn every_kind(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.home.write("sees", SEES);
    for inner in SHELLS {
        if !have("every_kind", inner.program()) {
            continue;
        }
        session.press(&format!("{}\r", inner.program()));
        session.wait("a nested prompt", |session| {
            session.count('P') == 1 && prompts(session)
        });
        assert_eq!(session.key('P', "sh").unwrap(), inner.program());
        let pid = session.key('A', "pid").unwrap();
        session.press("false | true\r");
        session.wait("its end", |session| {
            session.short().contains("D0(1,0)'") && prompts(session)
        });
        assert_eq!(session.key('D', "pid").unwrap(), pid);
        // It has what a plain one has.
        session.press("sh ~/sees\r");
        session.wait("what it sees", |session| {
            session.seen().contains("\nnone none none\n") && prompts(session)
        });
        for third in SHELLS {
            if !have("every_kind", third.program()) {
                continue;
            }
            session.press(&format!("{}\r", third.program()));
            session.wait("a prompt below that", |session| {
                session.count('P') == 1 && prompts(session)
            });
            assert_eq!(session.key('P', "sh").unwrap(), third.program());
            session.press("exit 4\r");
            session.wait("the nested prompt again", |session| {
                session.short().contains("D4(4)") && prompts(session)
            });
            assert_eq!(session.key('A', "pid").unwrap(), pid);
        }
        session.press("exit 3\r");
        session.wait("the outer prompt", |session| {
            session.short().ends_with("D3(3) A B")
        });
    }
}

/// What the outer shell and its other commands see is the user's own, whether he has it set or not.
pub fn own_variables(shell: Shell) {
    let mut session = Session::start(shell, "");
    session.home.write("sees", SEES);
    let sees = "sh ~/sees";
    let below = ["zsh", "fish"]
        .into_iter()
        .filter(|program| have("own_variables", program))
        .map(|program| format!("{program} -c '{sees}'"));
    let below: Vec<String> = below.collect();
    let home = session.home.path("");
    let home = home.to_str().unwrap().trim_end_matches('/').to_string();
    let set = |name: &str, value: &str| match shell {
        Shell::Fish => format!("set -gx {name} {value}"),
        Shell::Bash | Shell::Zsh => format!("export {name}={value}"),
    };
    for value in [None, Some(home.as_str())] {
        if let Some(value) = value {
            session.output(&set("ZDOTDIR", value));
            session.output(&set("XDG_DATA_DIRS", value));
        }
        let value = value.unwrap_or("none");
        let expected = format!("{value} {value} none\n");
        for line in below.iter().map(String::as_str).chain([sees]) {
            assert_eq!(session.output(line), expected, "{line}");
        }
        if have("own_variables", "fish") {
            let line = "fish -c 'string match \"*paneglass*\" -- $fish_function_path $fish_complete_path; set | string match -i \"*paneglass_[nx]*\" | string match -v \"*NONCE*\"'";
            assert_eq!(session.output(line), "", "{line}");
        }
    }
    // Without the files a shell below is a plain one, with all the user's files.
    session.output("mv ~/pg ~/gone");
    for inner in SHELLS {
        if !have("own_variables", inner.program()) {
            continue;
        }
        session.press(&format!("{}\r", inner.program()));
        session.wait_for_prompt();
        session.more("echo o''k\r");
        session.wait("ok", |session| session.seen().contains("ok\n"));
        session.more("exit 5\r");
        session.wait("the outer prompt", |session| {
            session.short().ends_with("D5(5) A B")
        });
        assert_eq!((session.count('C'), session.count('A')), (1, 1));
    }
}

/// The user's rc file sources the script as well, and he does it again by hand: one hello, one pair of markers.
pub fn loaded_twice(shell: Shell) {
    let file = match shell {
        Shell::Bash => "bash/integration.bash",
        Shell::Zsh => "zsh/integration.zsh",
        Shell::Fish => "fish/integration.fish",
    };
    let mut session = Session::launch(shell, Home::with_rc(shell, &format!(". ~/pg/{file}")), &[]);
    session.wait("a prompt", |session| session.short().ends_with("A B"));
    assert_eq!(session.count('P'), 1, "{}", session.short());
    for _ in 0..3 {
        session.run(&format!(". ~/pg/{file}"), "C D0(0) A B");
        session.run("false | true", "C D0(1,0) A B");
        for letter in ['A', 'B', 'C', 'D'] {
            assert_eq!(session.count(letter), 1, "{letter}: {}", session.text());
        }
    }
    // Below, in a shell that reads it in its rc file and is nested too.
    session.press(&format!("{}\r", shell.program()));
    session.wait("a nested prompt", |session| {
        session.short().ends_with("A' B'")
    });
    session.press("false | true\r");
    session.wait("its end", |session| {
        session.short().ends_with("D0(1,0)' A' B'")
    });
    for letter in ['A', 'B', 'C', 'D'] {
        assert_eq!(session.count(letter), 1, "{letter}: {}", session.text());
    }
}

/// What every process below inherits is small: all that a shell exports of ours, with names.
pub fn exported_size(shell: Shell) {
    /// shell.md: 12 KB cost 1.1 ms at the start of every bash.
    const MOST: usize = 2048;
    let mut session = Session::start(shell, "");
    session.output("env -0 >~/env");
    let env = std::fs::read(session.home.path("env")).unwrap();
    let ours = |entry: &&[u8]| {
        [&b"__PANEGLASS_"[..], b"PROMPT_COMMAND=", b"BASH_FUNC_"]
            .iter()
            .any(|name| entry.starts_with(name))
    };
    let size: usize = env
        .split(|byte| *byte == 0)
        .filter(ours)
        .map(<[u8]>::len)
        .sum();
    assert!((1..MOST).contains(&size), "{size} bytes");
}

/// The plain forms: a shell that is started without the integration's files, but with the nonce in its environment.
pub fn plain(shell: Shell) {
    let home = Home::with_rc(shell, "");
    let argv = [shell.program().to_string()];
    let env = [(files::NONCE.to_string(), NONCE.to_string())];
    let mut session = Session::spawn(&argv, &env, home);
    session.wait("a prompt", |session| session.seen().ends_with("$ "));
    session.press("false\r");
    session.wait("a prompt", |session| session.seen().ends_with("\n$ "));
    assert_eq!(session.short(), "");
}
