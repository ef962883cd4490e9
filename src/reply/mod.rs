//! From facts to text: what a model reads. Pure: no I/O, no clock.
#![forbid(unsafe_code)]

pub mod advice;
pub mod clip;
pub mod header;
pub mod summary;
pub mod words;

use serde_json::{Map, Value};

/// A reply as it grows: the header, the output, notes. The facts travel beside it.
#[derive(Debug, Default)]
pub struct Reply {
    header: String,
    body: String,
    notes: Vec<String>,
    pub facts: Map<String, Value>,
    /// A tool that declares an output schema answers with this, in structured form and as text.
    pub record: Option<Map<String, Value>>,
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

    /// A reply whose text is a header line and the record as compact JSON. Properties that are null are left out: a
    /// schema that every client reads cannot allow them.
    pub fn of_record(header: impl Into<String>, record: Value) -> Reply {
        let mut record = match record {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        record.retain(|_, value| !value.is_null());
        let text = Value::Object(record.clone()).to_string();
        Reply {
            record: Some(record),
            ..Reply::new(header).body(text)
        }
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
