//! JSON Schemas for tools, written as a table reads: an object of named, described, typed properties. Only what
//! every client understands can be built: no unions, references, formats or combinators. Must not know any tool.

use serde_json::{Map, Value, json};

/// One property of an object.
#[derive(Debug, Clone)]
pub struct Property {
    name: &'static str,
    schema: Map<String, Value>,
    required: bool,
}

/// The schema of an object with exactly these properties; what a tool's `input_schema` and `output_schema` are.
pub fn object<const N: usize>(properties: [Property; N]) -> Value {
    Value::Object(object_map(properties))
}

pub fn string(name: &'static str, description: &str) -> Property {
    Property::new(name, description, typed("string"))
}

pub fn integer(name: &'static str, description: &str) -> Property {
    Property::new(name, description, typed("integer"))
}

pub fn number(name: &'static str, description: &str) -> Property {
    Property::new(name, description, typed("number"))
}

pub fn boolean(name: &'static str, description: &str) -> Property {
    Property::new(name, description, typed("boolean"))
}

/// An array of strings.
pub fn strings(name: &'static str, description: &str) -> Property {
    array(name, description, typed("string"))
}

/// An array of integers.
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "for the records of further toolsets")
)]
pub fn integers(name: &'static str, description: &str) -> Property {
    array(name, description, typed("integer"))
}

/// An array of objects with exactly these properties.
pub fn objects<const N: usize>(
    name: &'static str,
    description: &str,
    properties: [Property; N],
) -> Property {
    array(name, description, object_map(properties))
}

/// An object with exactly these properties.
pub fn record<const N: usize>(
    name: &'static str,
    description: &str,
    properties: [Property; N],
) -> Property {
    Property::new(name, description, object_map(properties))
}

/// An object whose keys are free and whose values are strings.
pub fn string_map(name: &'static str, description: &str) -> Property {
    let mut schema = typed("object");
    schema.insert("additionalProperties".into(), json!({ "type": "string" }));
    Property::new(name, description, schema)
}

impl Property {
    fn new(name: &'static str, description: &str, mut schema: Map<String, Value>) -> Self {
        schema.insert("description".into(), description.into());
        Self {
            name,
            schema,
            required: false,
        }
    }

    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// What an absent value stands for.
    pub fn default(self, value: impl Into<Value>) -> Self {
        self.with("default", value)
    }

    /// The least number.
    pub fn min(self, value: impl Into<Value>) -> Self {
        self.with("minimum", value)
    }

    /// The greatest number.
    pub fn max(self, value: impl Into<Value>) -> Self {
        self.with("maximum", value)
    }

    /// The only values.
    pub fn one_of(self, values: &[&str]) -> Self {
        self.with("enum", values)
    }

    fn with(mut self, keyword: &str, value: impl Into<Value>) -> Self {
        self.schema.insert(keyword.into(), value.into());
        self
    }
}

fn typed(name: &str) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), name.into())])
}

fn array(name: &'static str, description: &str, items: Map<String, Value>) -> Property {
    let mut schema = typed("array");
    schema.insert("items".into(), items.into());
    Property::new(name, description, schema)
}

fn object_map<const N: usize>(properties: [Property; N]) -> Map<String, Value> {
    let required: Vec<_> = properties
        .iter()
        .filter(|property| property.required)
        .map(|property| property.name)
        .collect();
    let properties: Map<_, Value> = properties
        .into_iter()
        .map(|property| (property.name.to_owned(), property.schema.into()))
        .collect();
    let mut object = typed("object");
    object.insert("properties".into(), properties.into());
    if !required.is_empty() {
        object.insert("required".into(), required.into());
    }
    object.insert("additionalProperties".into(), false.into());
    object
}

#[cfg(test)]
pub mod tests;
