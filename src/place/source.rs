//! The lines that are typed at a plain shell's prompt: which shell is this, and: become integrated.
//!
//! Must not know how they are typed. Each begins with a blank, which keeps it out of most histories.

use std::path::Path;

use super::files::{self, NONCE, Shell};

/// Asks the shell at the prompt for its name. Every shell takes it: POSIX text within single quotes only, no `!`.
/// It also says whether the user at the prompt can read `file`.
pub fn which(nonce: &str, file: &Path) -> String {
    let script = concat!(
        r#"s=$({ readlink /proc/$PPID/exe||ps -o comm= -p $PPID;} 2>/dev/null);s=${s%% *};s=${s##*/};"#,
        r#"[ -r "$1" ]&&r=r;printf "\033]133;P;k=w;n=%s;sh=%s;v=%s\007" $0 ${s#-} $r"#
    );
    // Which quotes to use around others is not known yet.
    let file = file.to_string_lossy();
    let file = if file.chars().all(plain) { &file } else { "/" };
    format!(" sh -c '{script}' {nonce} {file}")
}

/// Makes a running `shell` integrated with the files in `dir`; `None`: those of the user's own home there.
pub fn source(shell: Shell, nonce: &str, dir: Option<&Path>) -> String {
    let name = match shell {
        Shell::Bash => files::BASH,
        Shell::Zsh => files::ZSH,
        Shell::Fish => files::FISH,
    };
    let path = match dir {
        Some(dir) => quoted(shell, &dir.join(name).to_string_lossy()),
        None => format!("~/{}/{name}", installed()),
    };
    match shell {
        Shell::Bash | Shell::Zsh => format!(" {NONCE}={nonce}; . {path}"),
        Shell::Fish => format!(" set -g {NONCE} {nonce}; source {path}"),
    }
}

/// Where `paneglass install` puts the files, below the home folder.
pub fn installed() -> String {
    format!(".local/share/paneglass/v{}", files::VERSION)
}

fn quoted(shell: Shell, text: &str) -> String {
    if text.chars().all(plain) {
        return text.to_string();
    }
    match shell {
        Shell::Fish => format!("'{}'", text.replace('\\', r"\\").replace('\'', r"\'")),
        _ => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

fn plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/._-".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_can_be_read() {
        assert_eq!(
            source(Shell::Bash, "n1", None),
            format!(
                " __PANEGLASS_NONCE=n1; . ~/.local/share/paneglass/v{}/bash/integration.bash",
                files::VERSION
            )
        );
        assert_eq!(
            source(Shell::Fish, "n1", Some(Path::new("/it's here"))),
            r" set -g __PANEGLASS_NONCE n1; source '/it\'s here/fish/integration.fish'"
        );
        let which = which("n1", Path::new("/x"));
        assert!(!which.contains('!') && which.matches('\'').count() == 2);
    }
}
