//! The environment that a session's program starts with: ours, without what belongs to our own terminal or to the
//! server, and with a UTF-8 locale, since tmux and the log are UTF-8 whatever the client was started with.

use std::path::Path;

use crate::place::bootstrap::CARRIED;

/// Variables that describe the terminal or the tmux that the *server* was started in, or the server itself.
const DROPPED: [&str; 15] = [
    "TERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "COLORTERM",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "COLUMNS",
    "LINES",
    "PWD",
    "OLDPWD",
    "_",
    "SHLVL",
    "PS1",
    "PROMPT_COMMAND",
];

/// Prefixes of the same: our settings, another session's markers; but what the user carries to other hosts is his.
const DROPPED_PREFIXES: [&str; 3] = ["PANEGLASS_", "__PANEGLASS_", "KITTY_"];

/// What a login shell's files may take off the PATH again; the integration puts it back.
const FOLDER: &str = "__PANEGLASS_BIN";

/// Puts a folder last on the PATH: what the user has installed himself goes before it.
pub fn add_folder(env: &mut Vec<(String, String)>, folder: &Path) {
    let folder = folder.to_string_lossy();
    match env.iter_mut().find(|(name, _)| name == "PATH") {
        Some((_, path)) if path.is_empty() => *path = folder.to_string(),
        Some((_, path)) => *path = format!("{path}:{folder}"),
        // The program's own default would be lost.
        None => {}
    }
    env.push((FOLDER.into(), folder.into_owned()));
}

const UTF8_LOCALE: &str = "C.UTF-8";

/// `from` is our own environment; `extra` what the caller adds, which wins over everything.
pub fn for_program(
    from: impl Iterator<Item = (String, String)>,
    extra: &[(String, String)],
) -> Vec<(String, String)> {
    let dropped = |name: &str| {
        DROPPED.contains(&name)
            || name != CARRIED
                && DROPPED_PREFIXES
                    .iter()
                    .any(|prefix| name.starts_with(prefix))
    };
    let mut env: Vec<(String, String)> = from.filter(|(name, _)| !dropped(name)).collect();
    for (name, value) in extra {
        env.retain(|(other, _)| other != name);
        env.push((name.clone(), value.clone()));
    }
    utf8(&mut env);
    env
}

/// Makes the character type UTF-8 where it is not: a shell in the C locale would take `é` apart. Messages, sorting
/// and everything else stay as the user has them.
fn utf8(env: &mut Vec<(String, String)>) {
    let get = |name: &str| {
        env.iter()
            .find(|(other, value)| other == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    };
    let deciding = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| Some((name, get(name)?)));
    let is_utf8 = |value: &str| {
        let value = value.to_ascii_lowercase();
        value.contains("utf-8") || value.contains("utf8")
    };
    match deciding {
        Some((_, value)) if is_utf8(value) => {}
        // LC_ALL overrides LC_CTYPE, so it must carry the character type itself.
        Some(("LC_ALL", "C" | "POSIX")) => set(env, "LC_ALL", UTF8_LOCALE),
        Some(("LC_ALL", _)) => {}
        Some((_, "C" | "POSIX")) | None => set(env, "LC_CTYPE", UTF8_LOCALE),
        // A deliberate other charset (a legacy system's ISO-8859-1) is the user's to keep.
        Some(_) => {}
    }
}

fn set(env: &mut Vec<(String, String)>, name: &str, value: &str) {
    env.retain(|(other, _)| other != name);
    env.push((name.into(), value.into()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(from: &[(&str, &str)], extra: &[(&str, &str)], want: &[(&str, &str)]) {
        let own = |list: &[(&str, &str)]| {
            list.iter()
                .map(|(a, b)| (a.to_string(), b.to_string()))
                .collect::<Vec<_>>()
        };
        assert_eq!(for_program(own(from).into_iter(), &own(extra)), own(want));
    }

    #[test]
    fn locale_becomes_utf8() {
        check(&[], &[], &[("LC_CTYPE", "C.UTF-8")]);
        check(&[("LANG", "de_DE.UTF-8")], &[], &[("LANG", "de_DE.UTF-8")]);
        check(
            &[("LANG", "C")],
            &[],
            &[("LANG", "C"), ("LC_CTYPE", "C.UTF-8")],
        );
        check(
            &[("LC_ALL", "C"), ("LANG", "x.utf8")],
            &[],
            &[("LANG", "x.utf8"), ("LC_ALL", "C.UTF-8")],
        );
        check(
            &[("LC_ALL", ""), ("LANG", "C.utf8")],
            &[],
            &[("LC_ALL", ""), ("LANG", "C.utf8")],
        );
        check(
            &[("LC_CTYPE", "ja_JP.eucJP")],
            &[],
            &[("LC_CTYPE", "ja_JP.eucJP")],
        );
    }

    #[test]
    fn the_servers_own_terminal_stays_out() {
        let utf8 = ("LANG", "C.UTF-8");
        check(
            &[
                ("TERM", "xterm"),
                ("PANEGLASS_HOME", "/x"),
                ("PATH", "/bin"),
                utf8,
            ],
            &[("PATH", "/a"), ("TERM", "dumb")],
            &[utf8, ("PATH", "/a"), ("TERM", "dumb")],
        );
    }
}
