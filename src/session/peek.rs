//! Looking at sessions from outside the server that holds them: read-only, without its lock.

use super::names::known_name;
use super::{Error, Meta};
use crate::store::layout::Layout;
use crate::store::{self, present};
use crate::tmux::{Info, Tmux};

/// A session as its folder and tmux tell of it.
pub struct Peek {
    pub meta: Meta,
    /// Its pane, while it is there.
    pub pane: Option<Info>,
    /// How many people are attached to it.
    pub people: usize,
}

/// Every session in a state directory, by name. A state directory that does not exist has none.
pub fn peek(layout: &Layout, tmux: &Tmux) -> Result<Vec<Peek>, Error> {
    let path = layout.sessions();
    let Some(entries) =
        present(std::fs::read_dir(&path)).map_err(store::Error::at("read", &path))?
    else {
        return Ok(Vec::new());
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.retain(|name| known_name(name));
    names.sort();
    let panes = tmux.panes()?;
    let people = tmux.people()?;
    let mut peeks = Vec::new();
    for name in names {
        let Some(meta) = Meta::read(&layout.session(&name).meta())? else {
            continue;
        };
        let pane = panes.iter().find(|info| info.tag == meta.nonce).cloned();
        let here = |info: &Info| {
            people
                .iter()
                .filter(|person| person.session == info.session)
                .count()
        };
        let people = pane.as_ref().map_or(0, here);
        peeks.push(Peek { meta, pane, people });
    }
    Ok(peeks)
}
