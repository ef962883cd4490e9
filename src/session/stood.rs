//! Text that somebody has typed and not submitted where no marker tells of it: at plain shells, at questions, beyond
//! ssh.
//!
//! The rule. When something is told to stand at a line, waiting, that line is remembered: up to there it is the
//! program's. What has grown on it since, to the right or behind a cursor that was moved back, was typed: who reads
//! its terminal prints nothing before it has been answered, and an answer moves the cursor to another line. A line
//! that does not begin as it did was drawn anew, and is remembered anew.
//!
//! - Work in front takes no line at all. So a progress line, a spinner, and a question that is printed in two parts
//!   are no concern here: nobody is told that a program waits while it sleeps between the parts.
//! - A shell's prompt that is drawn again elsewhere (Ctrl-L, a resize, a background job's notice) is known by its text
//!   and by the process that reads there.
//! - A question that came while nobody looked is remembered as it stood when output paused, unless a look in that
//!   pause saw the job work. The kernel's word on that pause is lost then, so what follows is taken for the
//!   program's own when it ends as questions do.
//! - Where neither the kernel nor the text can tell (the far side of ssh prints a dot every few seconds; a program
//!   with a clock of its own prints beside its question) it counts as typed: a refusal says why, and `force` goes on,
//!   while a line that is joined to another's cannot be taken back.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::front::{Front, certain};
use super::state::State;
use crate::proc::{Verdict, View};

/// After so much silence a person may have read what stands there, and typed.
const PAUSE: Duration = Duration::from_millis(400);

/// The log may lag so long behind what the kernel says of the job: before, a line may be half of what is there.
const LAG: Duration = Duration::from_millis(100);

/// The same where the kernel says nothing certain.
const UNCERTAIN: Duration = Duration::from_secs(1);

/// A line up to the cursor, as its program left it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stood {
    here: Here,
    /// It was told that this one waits here; `None`: output paused here, and nobody looked.
    reader: Option<Reader>,
    /// The line is a prompt that is known.
    prompt: bool,
}

/// Who waits, and whether for whole lines.
type Reader = (Option<(i32, u64)>, bool);

fn reader(view: &View) -> Reader {
    let process = view.process.as_ref();
    let process = process.map(|process| (process.pid.0, process.start_time));
    (process, view.canonical)
}

/// The lines that are remembered.
#[derive(Debug, Default)]
pub struct Standing {
    pub(super) told: Option<Stood>,
    paused: Option<Stood>,
    /// The log's length when the job was last seen at work.
    worked: Option<u64>,
}

/// The cursor's line, as one look has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Here {
    /// Its number in the log; `None`: it is not the line that is there now.
    line: Option<u64>,
    pub text: String,
    /// What stands behind the cursor.
    after: String,
}

/// What of a line is the program's, and what was typed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Grown {
    pub line: String,
    pub typed: String,
    /// The line is a prompt that is known.
    pub prompt: bool,
}

impl Stood {
    /// `is_prompt`: what is there now is a known prompt as it stands.
    fn grown(&self, here: &Here, view: &View, is_prompt: bool) -> Option<Grown> {
        let mut typed = here.text.strip_prefix(&self.here.text)?.trim();
        let same = self.here.line == here.line;
        let behind = typed.is_empty();
        if behind && here.after != self.here.after {
            typed = here.after.trim();
        }
        let counts = match self.reader {
            Some(_) if same => self.prompt || !is_prompt,
            // A shell's own prompt and the question of its `read` are not the same.
            Some(earlier) => self.prompt && (behind || !is_prompt) && earlier == reader(view),
            None => same && !is_prompt && !ends_as_question(&here.text),
        };
        (counts && !typed.is_empty()).then(|| Grown {
            line: self.here.text.clone(),
            typed: typed.to_string(),
            prompt: self.prompt,
        })
    }

    /// The line there now began as this one.
    fn begins(&self, here: &Here) -> bool {
        (self.here.line == here.line || self.prompt)
            && here.text.starts_with(self.here.text.as_str())
    }
}

impl Standing {
    fn grown(&self, here: &Here, view: &View, is_prompt: bool) -> Option<Grown> {
        let grown = |stood: &Option<Stood>| {
            stood
                .as_ref()
                .and_then(|stood| stood.grown(here, view, is_prompt))
        };
        grown(&self.told).or_else(|| grown(&self.paused))
    }

    fn paused(&mut self, here: Here, offset: u64) {
        let mut known = self.told.iter().chain(&self.paused);
        if known.any(|stood| stood.begins(&here))
            || self.worked == Some(offset)
            || here.text.trim().is_empty()
        {
            return;
        }
        self.paused = Some(Stood {
            here,
            reader: None,
            prompt: false,
        });
    }

    fn works(&mut self, offset: u64) {
        self.worked = Some(offset);
        self.paused = None;
    }
}

/// A question's end, as programs print it for an answer beside it.
fn ends_as_question(line: &str) -> bool {
    line.ends_with(' ') && line.trim_end().ends_with(['?', ':', ']', ')', '>'])
}

impl State {
    /// The cursor's line as it is now.
    pub(super) fn here(&mut self) -> Here {
        let after = if self.term.fullscreen() {
            String::new()
        } else {
            let mark = self.term.mark();
            let text = self.term.text_from(mark);
            self.term.release(mark);
            text.lines().next().unwrap_or_default().to_string()
        };
        Here {
            line: Some(self.term.cursor().position.line),
            text: self.term.cursor_line(),
            after,
        }
    }

    /// What was typed on the line and not submitted, by the rule above.
    pub(super) fn grown(&self, here: &Here, view: &View, is_prompt: bool) -> Option<Grown> {
        // What is typed where nothing is echoed shows nowhere.
        (!view.secret)
            .then(|| self.standing.grown(here, view, is_prompt))
            .flatten()
    }

    /// Output comes after a pause.
    pub(super) fn pause_ends(&mut self) {
        if self.last_output.elapsed() >= PAUSE && !self.term.fullscreen() {
            let (here, offset) = (self.here(), self.offset());
            self.standing.paused(here, offset);
        }
    }

    /// A look has seen the job at work.
    pub(super) fn job_works(&mut self) {
        let offset = self.offset();
        self.standing.works(offset);
    }

    /// Something waits at this line, as far as a look can tell that nobody waited for.
    pub(super) fn seen_to_stand(&mut self, front: &Front) {
        let enough = match front {
            Front::Prompt { .. } => LAG,
            Front::Waiting { view, .. } if certain(view) => LAG,
            _ => UNCERTAIN,
        };
        if self.last_output.elapsed() >= enough {
            self.stands(front);
        }
    }

    /// Somebody is told that something waits at this line: from now on, what grows on it was typed.
    pub fn stands(&mut self, front: &Front) {
        let (Front::Prompt { line, typed, view }
        | Front::Waiting { line, typed, view }
        | Front::Unclear { line, typed, view }) = front
        else {
            return;
        };
        let here = self.here();
        if typed.is_empty() && here.text == *line && view.verdict != Verdict::Working {
            let prompt = matches!(front, Front::Prompt { .. });
            self.standing.told = Some(Stood {
                here,
                reader: Some(reader(view)),
                prompt,
            });
            self.standing.paused = None;
        }
    }

    /// What stands there is the program's own after all.
    pub fn stands_whole(&mut self) {
        self.standing.told = None;
        self.standing.paused = None;
    }

    /// An agent has submitted a line there, or is done with it: what comes next on it is an answer.
    pub fn stands_anew(&mut self) {
        self.standing.paused = None;
        // The prompt may come again.
        self.standing.told.take_if(|told| !told.prompt);
        if let Some(told) = &mut self.standing.told {
            told.here.line = None;
        }
    }
}

#[cfg(test)]
mod tests;
