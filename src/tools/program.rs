//! What the tools of the programs toolset share: how an end is told, and their errors.

use serde_json::{Value, json};

use crate::mcp::schema::{self, Property};
use crate::programs::{Error, Facts, Outcome};

use super::Failure;
use super::args::{Args, BadArgument};

/// Ids are short; anything longer is no id of ours.
const ID_MOST: usize = 64;

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::from(error.to_string())
    }
}

pub fn id(args: &mut Args) -> Result<String, BadArgument> {
    let id = args.required("programId")?;
    match id.chars().count() {
        0..=ID_MOST => Ok(id),
        count => Err(format!(
            "`programId` has at most {ID_MOST} characters, not {count}"
        )),
    }
}

pub fn id_property() -> Property {
    schema::string(
        "programId",
        "The id that start_program returned; at most 64 characters.",
    )
    .required()
}

/// `outcome`, `exitStatus` and `signal`, as every record about an end declares them.
pub fn end_properties() -> [Property; 3] {
    [
        schema::string(
            "outcome",
            "running: it still runs. completed: it ended on its own. not_started: the program was not found (exitStatus 127), or it is not \
executable or startDirectory cannot be entered (126); text says which. expired: its lifetime ended it. stopped: stop_program ended it. gone: \
its pane was removed from outside, and its status is not known.",
        )
        .one_of(&Outcome::NAMES)
        .required(),
        schema::integer("exitStatus", "Left out while it runs, and when a signal ended it."),
        schema::string(
            "signal",
            "The signal that ended it, such as SIGTERM; also what an exit status over 128 stands for.",
        ),
    ]
}

/// The same as values, to be merged into a record.
pub fn end_values(facts: &Facts) -> Value {
    json!({
        "outcome": facts.outcome.name(),
        "exitStatus": facts.exit_status,
        "signal": facts.signal,
    })
}

/// How it ended, for a header line.
pub fn end_text(facts: &Facts) -> String {
    let name = facts.outcome.name();
    match (facts.exit_status, &facts.signal) {
        (Some(status), _) => format!("{name} · exit {status}"),
        (None, Some(signal)) => format!("{name} · killed by {signal}"),
        (None, None) => name.to_string(),
    }
}

/// One record from two: the second one's properties after the first one's.
pub fn joined(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(mut first), Value::Object(second)) => {
            first.extend(second);
            Value::Object(first)
        }
        (first, _) => first,
    }
}
