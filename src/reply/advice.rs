//! Short notes that help a model at the moment it needs them: one table, each a pure function of what is known of a
//! call. Text of a pane is never part of one but as a name that was cleaned.

use std::collections::BTreeSet;

mod line;
mod table;

pub use line::{Pipeline, Stage, parse};

/// True when the stage starts this program to be talked to: one that is worth keeping at its prompt.
pub fn starts(stage: &Stage, program: &str) -> bool {
    stage.program() == program && table::DEBUGGERS.contains(&program) && table::interactive(stage)
}

/// Notes in one reply.
const MOST: usize = 2;

/// What is known of a call once it has been carried out.
#[derive(Clone, Debug, Default)]
pub struct Situation {
    pub tool: String,
    /// What was typed at a shell's prompt, understood as far as needed; empty otherwise.
    pub line: Vec<Pipeline>,
    /// The first word of a line typed at a program's own prompt.
    pub word: Option<String>,
    /// The caller has said itself what it wants to see: show, last_lines, until, save_to.
    pub chosen: bool,
    /// ctrl+c was pressed.
    pub interrupted: bool,
    /// `send` was asked for less than the whole screen.
    pub partial: bool,
    /// As in the facts.
    pub status: String,
    pub duration_ms: u64,
    /// What is in front: a program's name.
    pub front: Option<String>,
    /// It works, as far as the kernel tells.
    pub working: bool,
    /// It reads without echo.
    pub secret: bool,
    pub fullscreen: bool,
    /// A shell without markers is at its prompt.
    pub plain_shell: bool,
    /// The command that attaches a person.
    pub attach: String,
    /// A program of the kind just started that is at its prompt in another session of this agent: its name, the
    /// session, its prompt.
    pub elsewhere: Option<(String, String, String)>,
    /// What a silent job waits for: who, what for, seconds of silence.
    pub stuck: Option<Stuck>,
    /// The line ended a shell or a program that had been started in the session's own shell.
    pub left: bool,
    /// Where lines go now, when that was elsewhere before the call.
    pub place: Option<String>,
    /// Who ran what since this agent's last call.
    pub company: Option<String>,
    /// The session's own shell has ended.
    pub ended: bool,
}

/// A job that has printed nothing for a while, and in which nothing computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    pub name: String,
    pub pid: i32,
    pub what: &'static str,
    pub seconds: u64,
}

/// One kind of advice.
struct Advice {
    name: &'static str,
    when: fn(&Situation) -> bool,
    text: fn(&Situation) -> String,
}

/// What to say: at most two, none that this agent has been given in this session.
pub fn advise(situation: &Situation, given: &BTreeSet<String>) -> Vec<(&'static str, String)> {
    table::TABLE
        .iter()
        .filter(|advice| !given.contains(advice.name) && (advice.when)(situation))
        .take(MOST)
        .map(|advice| (advice.name, (advice.text)(situation)))
        .collect()
}

#[cfg(test)]
mod tests;
