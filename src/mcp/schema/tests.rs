//! The rules that every tool's schemas keep, and that what is built here keeps them. Other layers check their own
//! tables with [`faults`].

use super::*;
use crate::mcp::service::Tool;

/// What is wrong with a tool as clients see it; empty when nothing is.
pub fn faults(tool: &Tool) -> Vec<String> {
    let mut found = Vec::new();
    let plain = tool
        .name
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if !plain || tool.name.is_empty() || tool.name.len() > 30 {
        found.push("the name is not [a-z_]{1,30}".to_owned());
    }
    if tool.title.is_empty() {
        found.push("there is no title".to_owned());
    }
    if tool.description.is_empty() || tool.description.chars().count() >= 2048 {
        found.push("the description is empty or not under 2,048 characters".to_owned());
    }
    for (place, schema) in [
        ("input", Some(&tool.input_schema)),
        ("output", tool.output_schema.as_ref()),
    ] {
        let Some(schema) = schema else { continue };
        if schema["type"] != "object" || schema["additionalProperties"] != false {
            found.push(format!("{place}: not an object that is closed"));
        }
        walk(schema, place, &mut found);
    }
    found
        .iter_mut()
        .for_each(|fault| fault.insert_str(0, &format!("{}: ", tool.name)));
    found
}

const TYPES: [&str; 6] = ["object", "array", "string", "integer", "number", "boolean"];
const KEYWORDS: [&str; 10] = [
    "type",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "default",
    "minimum",
    "maximum",
    "enum",
];

fn walk(schema: &Value, place: &str, found: &mut Vec<String>) {
    let Some(object) = schema.as_object() else {
        found.push(format!("{place}: not a schema object"));
        return;
    };
    let kind = object.get("type").and_then(Value::as_str).unwrap_or("none");
    if !TYPES.contains(&kind) {
        found.push(format!("{place}: not a single type"));
    }
    for keyword in object
        .keys()
        .filter(|keyword| !KEYWORDS.contains(&keyword.as_str()))
    {
        found.push(format!("{place}: {keyword}"));
    }
    if (kind == "array") != object.contains_key("items") {
        found.push(format!(
            "{place}: items belong to arrays, and every array has them"
        ));
    }
    if let Some(items) = object.get("items") {
        walk(items, &format!("{place}[]"), found);
    }
    if let Some(more @ Value::Object(_)) = object.get("additionalProperties") {
        walk(more, &format!("{place}.*"), found);
    }
    let properties = object.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let place = format!("{place}.{name}");
        if property["description"].as_str().is_none_or(str::is_empty) {
            found.push(format!("{place}: no description"));
        }
        walk(property, &place, found);
    }
    for name in object
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let known = name
            .as_str()
            .zip(properties)
            .is_some_and(|(name, properties)| properties.contains_key(name));
        if !known {
            found.push(format!("{place}: {name} is required and not there"));
        }
    }
}

fn tool(name: &'static str, input_schema: Value) -> Tool {
    Tool {
        name,
        title: "Title",
        description: "Description.",
        input_schema,
        output_schema: None,
        annotations: Default::default(),
        always_load: false,
    }
}

fn full() -> Value {
    object([
        string("session", "Which.").required(),
        string("view", "How.")
            .one_of(&["cooked", "raw"])
            .default("cooked"),
        integer("limit", "How many.").min(1).max(1500).default(30),
        number("wps", "How fast."),
        boolean("force", "Whether."),
        strings("keys", "Which keys."),
        integers("codes", "Which codes."),
        string_map("env", "Variables."),
        record(
            "typing",
            "How to type.",
            [
                number("wps", "Words per second."),
                integer("seed", "The seed."),
            ],
        ),
        objects(
            "respond",
            "Rules.",
            [
                string("pattern", "What to wait for.").required(),
                string("line", "The answer."),
            ],
        ),
    ])
}

#[test]
fn what_is_built_keeps_the_rules() {
    assert_eq!(faults(&tool("run", full())), [""; 0]);
    assert_eq!(faults(&tool("session_list", object([]))), [""; 0]);
}

#[test]
fn a_schema_reads_as_it_was_written() {
    let schema = full();
    assert_eq!(schema["required"], json!(["session"]));
    let names: Vec<_> = schema["properties"]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    assert_eq!(
        names,
        [
            "session", "view", "limit", "wps", "force", "keys", "codes", "env", "typing", "respond"
        ]
    );
    assert_eq!(
        schema["properties"]["limit"],
        json!({"type": "integer", "description": "How many.", "default": 30, "minimum": 1, "maximum": 1500})
    );
    assert_eq!(
        schema["properties"]["env"]["additionalProperties"],
        json!({"type": "string"})
    );
    assert_eq!(
        schema["properties"]["respond"]["items"],
        json!({"type": "object", "properties": {
            "pattern": {"type": "string", "description": "What to wait for."},
            "line": {"type": "string", "description": "The answer."},
        }, "required": ["pattern"], "additionalProperties": false})
    );
    assert_eq!(
        object([]),
        json!({"type": "object", "properties": {}, "additionalProperties": false})
    );
}

#[test]
fn each_rule_is_checked() {
    let closed = |properties: Value| json!({"type": "object", "properties": properties, "additionalProperties": false});
    for schema in [
        json!({"type": "object", "properties": {}}),
        json!({"type": "array", "items": {"type": "string"}}),
        json!({"type": "object", "properties": {}, "additionalProperties": false, "anyOf": []}),
        json!({"type": "object", "properties": {}, "additionalProperties": false, "required": ["a"]}),
        closed(json!({"a": true})),
        closed(json!({"a": {"description": "untyped"}})),
        closed(json!({"a": {"type": "string"}})),
        closed(json!({"a": {"type": ["string", "null"], "description": "union"}})),
        closed(json!({"a": {"type": "null", "description": "null"}})),
        closed(json!({"a": {"type": "array", "description": "no items"}})),
        closed(json!({"a": {"type": "string", "description": "format", "format": "uri"}})),
        closed(json!({"a": {"type": "string", "description": "ref", "$ref": "#/x"}})),
        closed(
            json!({"a": {"type": "array", "description": "deep", "items": {"type": "object", "properties": {"b": {}}}}}),
        ),
    ] {
        assert!(!faults(&tool("run", schema.clone())).is_empty(), "{schema}");
    }
    assert!(!faults(&tool("Run", full())).is_empty());
    assert!(!faults(&tool("run-it", full())).is_empty());
    assert!(!faults(&tool("", full())).is_empty());
}
