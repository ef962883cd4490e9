//! Regions as regions.jsonl holds them, and what is taken from there after a restart.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Kind, Region, RegionId, Regions, Status};

/// A region as regions.jsonl holds it: one line when it opens, one when it closes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub id: RegionId,
    pub kind: Kind,
    pub label: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dated: Option<(u64, u64)>,
    pub start: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    pub started: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<u64>,
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pipestatus: Vec<i32>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_prompt: bool,
}

/// A line as it was about to be typed at a shell's prompt, in regions.jsonl.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Typed {
    pub typed: String,
    pub who: String,
    /// The raw offset before it was typed.
    pub at: u64,
}

impl Record {
    /// The offset in raw.log at which an input region was opened.
    pub fn opened(&self) -> u64 {
        self.given.unwrap_or(self.start)
    }

    /// With so much of times.log taken in, an input region of this record may begin; `ends` says whether it may end.
    pub fn begins(&self, dated: u64) -> bool {
        self.dated.is_none_or(|(began, _)| began <= dated)
    }

    pub fn ends(&self, dated: u64) -> bool {
        self.dated.is_none_or(|(_, ended)| ended <= dated)
    }
}

impl Region {
    pub fn record(&self) -> Record {
        Record {
            id: self.id,
            kind: self.kind,
            label: self.label.clone(),
            who: self.who.clone(),
            place: self.place.clone(),
            given: self.given,
            dated: self.dated,
            start: self.start_offset,
            end: self.end_offset,
            started: self.started,
            ended: self.ended,
            status: self.status,
            exit: self.exit,
            pipestatus: self.pipestatus.clone(),
            at_prompt: self.at_prompt,
        }
    }
}

impl Regions {
    /// What an earlier server was about to type as it ended, last of all. tmux may still be at it: when that comes, it
    /// is known whose it is.
    pub fn await_former(&mut self, typed: Option<&Typed>) {
        let came = |line: &&Typed| {
            let mut commands = self.list.iter().rev();
            commands.any(|region| region.kind == Kind::Command && region.start_offset >= line.at)
        };
        self.former = typed.filter(|line| !came(line)).cloned();
    }

    /// Puts back what an earlier server wrote of regions that the log has told of again: who, when, and the line as
    /// it was typed. Regions up to `recalled` that are not in `written` have all that already.
    pub fn recall(
        &mut self,
        written: &HashMap<RegionId, Record>,
        typed: &[Typed],
        recalled: RegionId,
    ) {
        let mut before = 0;
        for region in &mut self.list {
            let since = std::mem::replace(&mut before, region.start_offset);
            let Some(record) = written.get(&region.id) else {
                // The server died between typing the line and writing down what it became.
                let line = typed
                    .iter()
                    .rev()
                    .find(|line| line.at <= region.start_offset);
                let new = region.kind == Kind::Command && region.id > recalled;
                if let Some(line) = line.filter(|line| new && line.at >= since) {
                    region.who = Some(line.who.clone());
                    region.label.clone_from(&line.typed);
                }
                continue;
            };
            if record.start == region.start_offset && record.kind == region.kind {
                region.label.clone_from(&record.label);
                region.who.clone_from(&record.who);
                region.place.clone_from(&record.place);
                region.started = record.started;
                region.ended = region.ended.and(record.ended.or(region.ended));
            }
        }
    }
}
