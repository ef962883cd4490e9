//! `paneglass skill`: writes the guide as a skill, or as a plugin with the skill in it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::guide::{self, File};

const HELP: &str = "\
Writes a skill that teaches an agent how to work in sessions, made from the
texts that the guide tool gives. Files that are there are replaced.

Usage:
  paneglass skill DIR            write DIR/terminal-sessions
  paneglass skill DIR --plugin   write a Claude Code plugin into DIR: the skill,
                                 and an entry that starts the server

Options:
      --plugin    as a plugin
  -h, --help      this text

Examples:
  paneglass skill ~/.claude/skills
  paneglass skill .claude/skills
  paneglass skill paneglass-plugin --plugin
";

const NAME: &str = "paneglass skill";

pub fn run(mut args: lexopt::Parser) -> ExitCode {
    let (mut folders, mut plugin) = (Vec::new(), false);
    loop {
        match args.next() {
            Ok(None) => break,
            Ok(Some(lexopt::Arg::Long("plugin"))) => plugin = true,
            Ok(Some(lexopt::Arg::Short('h') | lexopt::Arg::Long("help"))) => {
                return super::print(HELP);
            }
            Ok(Some(lexopt::Arg::Value(folder))) => folders.push(PathBuf::from(folder)),
            Ok(Some(other)) => return super::wrong(NAME, other.unexpected()),
            Err(error) => return super::wrong(NAME, error),
        }
    }
    let [folder] = folders.as_slice() else {
        return super::wrong(NAME, "name one directory to write to");
    };
    let files = if plugin {
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
