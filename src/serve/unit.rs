//! `serve --print-unit`: a unit for the user's systemd.

use crate::sys::passwd;

/// The unit that starts this program with these words.
pub fn text(words: &[String]) -> String {
    let binary = super::binary();
    let command: Vec<String> = [binary.to_string_lossy().into_owned()]
        .iter()
        .chain(words)
        .map(|word| quoted(word))
        .collect();
    let user = passwd::me().map_or_else(|| "$USER".into(), |user| user.name);
    format!(
        "\
# To enable it:
#   mkdir -p ~/.config/systemd/user
#   paneglass serve --print-unit > ~/.config/systemd/user/paneglass.service
#   systemctl --user daemon-reload
#   systemctl --user enable --now paneglass
# To have it run while nobody is logged in:
#   loginctl enable-linger {user}
# Register it with your MCP clients as: paneglass connect

[Unit]
Description=paneglass: terminals for AI agents

[Service]
ExecStart={}
Restart=on-failure
RestartSec=1
# Where several hosts share the home, each needs a state directory of its own;
# every shell that uses paneglass there then needs the same PANEGLASS_HOME.
#Environment=PANEGLASS_HOME=%h/.local/state/paneglass/%l
# tmux, and with it the sessions, runs in a scope of its own; this keeps them
# where that cannot be made.
KillMode=process

[Install]
WantedBy=default.target
",
        command.join(" ")
    )
}

/// A word as systemd reads it (systemd.service(5), systemd.syntax(7)): specifiers and variables are not meant.
fn quoted(word: &str) -> String {
    let word = word.replace('%', "%%").replace('$', "$$");
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:%$@+,=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word;
    }
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words() {
        assert_eq!(quoted("/usr/bin/paneglass"), "/usr/bin/paneglass");
        assert_eq!(quoted("/a b/50%"), "\"/a b/50%%\"");
        assert_eq!(quoted("$x\"y\\"), "\"$$x\\\"y\\\\\"");
        assert_eq!(quoted(""), "\"\"");
    }
}
