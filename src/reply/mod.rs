//! From facts to text: what a model reads. Pure: no I/O, no clock.
#![forbid(unsafe_code)]

pub mod clip;
pub mod header;
pub mod words;

use serde_json::{Map, Value};

/// A reply as it grows: the header, the output, notes. The facts travel beside it.
#[derive(Debug, Default)]
pub struct Reply {
    header: String,
    body: String,
    notes: Vec<String>,
    pub facts: Map<String, Value>,
    /// What a tool that answers with a record declares in its output schema.
    pub record: Option<Value>,
}

impl Reply {
    pub fn new(header: impl Into<String>) -> Reply {
        Reply {
            header: header.into(),
            ..Reply::default()
        }
    }

    pub fn body(mut self, text: impl Into<String>) -> Reply {
        self.body = text.into();
        self
    }

    /// A reply that is a record: its JSON stands in the text too, for clients that show only that.
    pub fn of_record(header: impl Into<String>, record: Value) -> Reply {
        let mut reply = Reply::new(header).body(record.to_string());
        reply.record = Some(record);
        reply
    }

    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Sets a fact; an absent value sets none.
    pub fn fact(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        if !value.is_null() {
            self.facts.insert(name.to_string(), value);
        }
    }

    /// Header, output, notes, each from a line of its own.
    pub fn text(&self) -> String {
        let mut text = self.header.clone();
        if !self.body.is_empty() {
            text.push('\n');
            text.push_str(self.body.trim_end_matches('\n'));
        }
        for note in &self.notes {
            text.push_str("\n[");
            text.push_str(note);
            text.push(']');
        }
        text
    }
}
