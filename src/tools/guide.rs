//! guide: how to work here, by topic.

use crate::guide::{self, TOPICS};
use crate::mcp::{Tool, schema};
use crate::reply::Reply;

use super::args::Args;
use super::{Context, Failure};

pub fn tool() -> Tool {
    use schema::string;
    Tool {
        name: "guide",
        title: "How to work in sessions",
        description: "A short text on how to work in these terminals, by topic. patterns: one-shot shell habits (pipes, redirects, sleep, \
nohup, echo $?) and what to do here. programs: gdb, python and other prompts, questions, passwords. output: time limits, long output, views, log \
files. fullscreen: vim, less, keys. sharing: beside a person or another agent. Without a topic it lists them. Read the one that fits before \
something you have not done here yet.",
        input_schema: schema::object([string("topic", "Which text.").one_of(&[
            "patterns",
            "programs",
            "output",
            "fullscreen",
            "sharing",
        ])]),
        output_schema: None,
        annotations: super::reads(),
        always_load: true,
    }
}

pub fn call(mut args: Args, _: &Context<'_>) -> Result<Reply, Failure> {
    let wanted = args.string("topic")?;
    args.done()?;
    let Some(wanted) = wanted else {
        return Ok(Reply::new("Topics of the guide:").body(guide::topics()));
    };
    match TOPICS.iter().find(|topic| topic.name == wanted) {
        Some(topic) => Ok(Reply::new(topic.text.trim_end())),
        None => {
            let known: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
            Err(Failure::from(format!(
                "guide: `topic` must be one of {}, not {wanted:?}",
                known.join(", ")
            )))
        }
    }
}
