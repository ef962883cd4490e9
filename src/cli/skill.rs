//! `paneglass skill`: writes the guide as a skill, or as a plugin with the skill in it.

use std::path::Path;
use std::process::ExitCode;

use super::flags::{Flag, Parsed, Syntax, Takes};
use crate::guide::{self, File};

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass skill",
    about: "\
Writes a skill that teaches an agent how to work in sessions, made from the
texts that the guide tool gives: DIR/terminal-sessions. Files that are there are
replaced.",
    words: "DIR",
    flags: &[Flag::new(
        "plugin",
        Takes::Nothing,
        "write a Claude Code plugin into DIR: the skill, and an entry\nthat starts the server",
    )],
    notes: "",
    examples: &[
        "paneglass skill ~/.claude/skills",
        "paneglass skill .claude/skills",
        "paneglass skill paneglass-plugin --plugin",
    ],
};

pub fn run(args: &Parsed) -> ExitCode {
    const NAME: &str = SYNTAX.command;
    let [folder] = args.words.as_slice() else {
        return super::wrong(NAME, "name one directory to write to");
    };
    let folder = Path::new(folder);
    let files = if args.has("plugin") {
        guide::plugin()
    } else {
        guide::skill()
    };
    match files.iter().map(|file| write(folder, file)).collect() {
        Ok(written) => super::print(&String::from_iter::<Vec<String>>(written)),
        Err(error) => super::finish(NAME, Err(error)),
    }
}

/// Writes one file and its folders, and returns its path as a line.
fn write(folder: &Path, file: &File) -> Result<String, String> {
    let path = folder.join(&file.path);
    let fail = |error| format!("cannot write {}: {error}", path.display());
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(fail)?;
    }
    std::fs::write(&path, &file.text).map_err(fail)?;
    Ok(format!("{}\n", path.display()))
}
