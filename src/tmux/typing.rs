//! Keys and text for a pane: in one invocation, and only if the pane is still as the caller saw it.

use super::command::{Error, Tmux};
use super::format::{shell_word, word};
use super::pane::PaneId;

/// One key press.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A key by tmux's name: "Enter", "C-c", "Up". Only names of tmux's own table; it types unknown ones as text.
    Named(String),
    /// Characters as they are.
    Text(String),
}

/// `text` without any occurrence of `needle`, also one that appears when another is taken out.
fn without(text: &[u8], needle: &[u8]) -> Vec<u8> {
    let mut kept: Vec<u8> = Vec::with_capacity(text.len());
    for &byte in text {
        kept.push(byte);
        if kept.ends_with(needle) {
            kept.truncate(kept.len() - needle.len());
        }
    }
    kept
}

/// What is to be typed.
pub struct Typing<'a> {
    pub pane: &'a PaneId,
    /// Pasted, newlines as Enter.
    pub text: &'a [u8],
    /// As a bracketed paste. Only where the program asked for that.
    pub bracketed: bool,
    /// Pressed after the text.
    pub keys: &'a [Key],
    /// Column and row, from 0, where the cursor must be: tmux looks at the very moment of typing, so that nothing
    /// is typed into a line that somebody has begun since the caller looked.
    pub cursor: Option<(u16, u16)>,
}

/// What tmux prints when the cursor was elsewhere.
const MOVED: &str = "cursor-moved";

impl Tmux {
    /// Types it all, or nothing: false when the cursor was not where it should be. A copy mode that a person left
    /// the pane in is ended first: keys typed there would be lost.
    pub fn type_in(&self, typing: &Typing<'_>) -> Result<bool, Error> {
        let id = typing.pane.0.as_str();
        let leave = format!("send-keys -t {id} -X cancel");
        let mut words: Vec<String> = ["if-shell", "-F", "-t", id, "#{pane_in_mode}", &leave, ";"]
            .map(String::from)
            .to_vec();
        let buffer = format!("paneglass-{}", id.trim_start_matches('%'));
        let mut input = typing.text.to_vec();
        let mut commands: Vec<Vec<String>> = Vec::new();
        if !input.is_empty() {
            words.extend(["load-buffer", "-b", &buffer, "-", ";"].map(String::from));
            let mut paste = ["paste-buffer", "-d", "-b", &buffer, "-t", id]
                .map(String::from)
                .to_vec();
            if typing.bracketed {
                input = without(&input, b"\x1b[201~");
                paste.push("-p".into());
            }
            commands.push(paste);
        }
        commands.extend(typing.keys.iter().map(|key| {
            match key {
                Key::Named(name) => ["send-keys", "-t", id, name].map(String::from).to_vec(),
                Key::Text(text) => ["send-keys", "-t", id, "-l", "--", text]
                    .map(String::from)
                    .to_vec(),
            }
        }));
        match typing.cursor {
            None => {
                for command in &commands {
                    words.extend(command.iter().map(|text| word(text)));
                    words.push(";".into());
                }
            }
            Some((column, row)) => {
                let at =
                    format!("#{{&&:#{{==:#{{cursor_x}},{column}}},#{{==:#{{cursor_y}},{row}}}}}");
                // A command string has a shell's quotes.
                let line = |command: &Vec<String>| {
                    command
                        .iter()
                        .map(|text| shell_word(text))
                        .collect::<Vec<_>>()
                        .join(" ")
                };
                let typed: Vec<String> = commands.iter().map(line).collect();
                let mut moved = format!("display-message -p {MOVED}");
                if !input.is_empty() {
                    moved.push_str(&format!(" ; delete-buffer -b {buffer}"));
                }
                words.extend(
                    ["if-shell", "-F", "-t", id, &at, &typed.join(" ; "), &moved].map(String::from),
                );
            }
        }
        Ok(self.run_with(&words, &input)?.trim() != MOVED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_paste_cannot_be_forged() {
        assert_eq!(without(b"a\x1b[2\x1b[201~01~b", b"\x1b[201~"), b"ab");
    }
}
