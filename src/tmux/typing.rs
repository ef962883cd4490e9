//! Keys and text for a pane: in one invocation, and only if the pane is still as the caller saw it.

use std::sync::atomic::{AtomicU64, Ordering};

use super::command::{Error, Tmux};
use super::format::{shell_line, word};
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
    /// tmux looks at the very moment of typing, so that nothing is typed into a line that somebody has begun since the
    /// caller looked.
    pub only_if: Option<Undisturbed>,
}

/// The pane as the caller saw it, and nobody at its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undisturbed {
    /// Column and row of the cursor, from 0.
    pub cursor: (u16, u16),
    /// When somebody attached was last heard of; `None`: nobody may be attached.
    pub activity: Option<u64>,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    Done,
    /// Nothing was typed.
    Disturbed {
        /// How many clients are attached to the pane's session.
        attached: u32,
        /// When one was last heard of, epoch seconds: a key, the mouse, or that it attached.
        activity: u64,
    },
}

/// What tmux prints when it was not so.
const DISTURBED: &str = "disturbed";

impl Typed {
    fn parse(printed: &str) -> Typed {
        let mut words = printed.split_whitespace();
        if words.next() != Some(DISTURBED) {
            return Typed::Done;
        }
        let mut number = || words.next().and_then(|word| word.parse().ok());
        Typed::Disturbed {
            attached: number().unwrap_or(1) as u32,
            activity: number().unwrap_or(u64::MAX),
        }
    }
}

impl Undisturbed {
    /// As a format of tmux, which is "1" when it holds.
    fn format(self) -> String {
        let (column, row) = self.cursor;
        let cursor = format!("#{{&&:#{{==:#{{cursor_x}},{column}}},#{{==:#{{cursor_y}},{row}}}}}");
        let nobody = match self.activity {
            None => "#{==:#{session_attached},0}".to_string(),
            Some(activity) => format!("#{{==:#{{session_activity}},{activity}}}"),
        };
        format!("#{{&&:{cursor},{nobody}}}")
    }
}

impl Tmux {
    /// Types it all, or nothing. A copy mode that a person left
    /// the pane in is ended first: keys typed there would be lost.
    pub fn type_in(&self, typing: &Typing<'_>) -> Result<Typed, Error> {
        let id = typing.pane.0.as_str();
        let leave = format!("send-keys -t {id} -X cancel");
        let leave = ["if-shell", "-F", "-t", id, "#{pane_in_mode}", &leave];
        let buffer = format!("paneglass-{}", id.trim_start_matches('%'));
        let text = match typing.bracketed {
            true => without(typing.text, b"\x1b[201~"),
            false => typing.text.to_vec(),
        };
        let note = Note::new(id);
        let commands = typing.commands(&buffer, !text.is_empty(), &note);
        let commands: Vec<Vec<&str>> = commands
            .iter()
            .map(|words| words.iter().map(String::as_str).collect())
            .collect();

        let mut all: Vec<&[&str]> = vec![&leave];
        let set = std::str::from_utf8(&text).map(|text| ["set-buffer", "-b", &buffer, "--", text]);
        if let Ok(set) = &set {
            if !text.is_empty() {
                all.push(set);
            }
            all.extend(commands.iter().map(Vec::as_slice));
            match self.run_fast(&all) {
                Some(Err(Error::Unanswered { .. })) if self.took(&note)? => return Ok(Typed::Done),
                // All or nothing: with nothing typed the other way is free.
                Some(Err(Error::Unanswered { .. })) | None => {}
                Some(printed) => return Ok(Typed::parse(&printed?)),
            }
        }

        // From its input tmux takes any text, and no one sees it in a list of processes.
        let load = ["load-buffer", "-b", &buffer, "-"];
        let mut all: Vec<&[&str]> = vec![&leave];
        if !text.is_empty() {
            all.push(&load);
        }
        all.extend(commands.iter().map(Vec::as_slice));
        let words: Vec<String> = all
            .iter()
            .flat_map(|words| {
                let words = words.iter().map(|text| word(text));
                words.chain([";".to_string()])
            })
            .collect();
        Ok(Typed::parse(&self.run_with(&words, &text)?))
    }
}

/// What is written down in tmux with each typing, so that one whose answer was lost is neither lost nor done twice. In
/// the hidden environment: no program sees it, and no client is drawn anew for it, as for an option.
struct Note {
    name: String,
    value: String,
}

impl Note {
    fn new(pane: &str) -> Note {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        Note {
            name: format!("PANEGLASS_TYPED_{}", pane.trim_start_matches('%')),
            value: format!("{}-{number}", std::process::id()),
        }
    }
}

impl Tmux {
    fn took(&self, note: &Note) -> Result<bool, Error> {
        match self.run(&["show-environment", "-gh", &note.name]) {
            Ok(line) => Ok(line.trim_end().ends_with(&format!("={}", note.value))),
            Err(Error::Refused { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Typing<'_> {
    /// The commands that paste `buffer` and press the keys, as words; a single one that looks first where it has to.
    fn commands(&self, buffer: &str, paste: bool, note: &Note) -> Vec<Vec<String>> {
        let id = self.pane.0.as_str();
        let words =
            |list: &[&str]| -> Vec<String> { list.iter().map(|text| text.to_string()).collect() };
        let mut commands = Vec::new();
        if paste {
            let mut command = words(&["paste-buffer", "-d", "-b", buffer, "-t", id]);
            if self.bracketed {
                command.push("-p".into());
            }
            commands.push(command);
        }
        commands.extend(self.keys.iter().map(|key| match key {
            Key::Named(name) => words(&["send-keys", "-t", id, name]),
            Key::Text(text) => words(&["send-keys", "-t", id, "-l", "--", text]),
        }));
        commands.push(words(&["set-environment", "-gh", &note.name, &note.value]));
        let Some(undisturbed) = self.only_if else {
            return commands;
        };
        let so = undisturbed.format();
        // A command string has a shell's quotes.
        let typed: Vec<String> = commands.iter().map(|words| shell_line(words)).collect();
        let mut not = format!(
            "display-message -p -t {id} '{DISTURBED} #{{session_attached}} #{{session_activity}}'"
        );
        if paste {
            not.push_str(&format!(" ; delete-buffer -b {buffer}"));
        }
        vec![words(&[
            "if-shell",
            "-F",
            "-t",
            id,
            &so,
            &typed.join(" ; "),
            &not,
        ])]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tmux_says_of_a_disturbance() {
        assert_eq!(Typed::parse(""), Typed::Done);
        let disturbed = Typed::Disturbed {
            attached: 2,
            activity: 17,
        };
        assert_eq!(Typed::parse("disturbed 2 17\n"), disturbed);
    }

    #[test]
    fn the_end_of_a_paste_cannot_be_forged() {
        assert_eq!(without(b"a\x1b[2\x1b[201~01~b", b"\x1b[201~"), b"ab");
    }
}
