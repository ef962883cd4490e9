//! Picking up the sessions of an earlier server: panes that are still there, and everything printed while none ran.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;

use super::create::{fresh_state, session};
use super::meta::{Ending, FORMAT};
use super::names::known_name;
use super::regions::{Kind, Moment, Record, RegionId, Typed};
use super::state::State;
use super::{Error, Meta, Session, Sessions, ends};
use crate::store;
use crate::store::layout::SessionDir;
use crate::store::records::{self, Records};
use crate::tmux::Info;

/// Reads every session's folder and takes it up, live or ended. A folder that is not a session's is left alone.
pub(super) fn pick_up(sessions: &Sessions) -> Result<(), Error> {
    let names = names(sessions)?;
    if names.is_empty() {
        // Nothing to ask tmux about: a first start stays quick.
        return Ok(());
    }
    let panes = sessions.tmux.panes()?;
    for name in names {
        let Some(meta) = sessions.meta_of(&name)? else {
            continue;
        };
        if meta.format > FORMAT {
            return Err(Error::Refused(format!(
                "the state directory {} was written by a newer paneglass (format {}, this one knows {FORMAT}); use that one, or another PANEGLASS_HOME",
                sessions.layout.root.display(),
                meta.format
            )));
        }
        let ours = meta.is_of(&sessions.settings.tmux_socket);
        let pane = panes
            .iter()
            .find(|info| info.tag == meta.nonce && !meta.nonce.is_empty());
        // One session that cannot be read must not keep the others from their agents.
        if let Err(error) = take_up(sessions, meta, pane, ours) {
            sessions.unreadable().push((name, error.to_string()));
        }
    }
    if !panes.is_empty() {
        sessions.tmux.tell_of_panes(&sessions.news())?;
        sessions.take_over_panes(&panes);
    }
    Ok(())
}

fn names(sessions: &Sessions) -> Result<Vec<String>, Error> {
    let path = sessions.layout.sessions();
    let entries = std::fs::read_dir(&path).map_err(store::Error::at("read", &path))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    // NAME.N are archived logs, not sessions.
    names.retain(|name| known_name(name));
    names.sort();
    Ok(names)
}

fn take_up(
    sessions: &Sessions,
    mut meta: Meta,
    pane: Option<&Info>,
    ours: bool,
) -> Result<(), Error> {
    let dir = sessions.layout.session(&meta.name);
    if meta.end.is_none() && pane.is_none() && ours {
        meta.end = Some(ends::unseen(&dir));
        // When it cannot be written down, the next server finds it as this one did.
        let _ = meta.write(&dir.meta());
    }
    if meta.end.is_some() {
        // Its log is read when somebody asks for it: there may be hundreds.
        sessions.closed().insert(meta.name.clone(), meta);
        return Ok(());
    }
    let session = open(meta, dir)?;
    sessions
        .list()
        .insert(session.name.clone(), session.clone());
    if let Some(info) = pane {
        if !info.piped && !info.dead {
            // Its tap was killed: what was printed since then is lost, and the new tap's start in times.log shows
            // where.
            sessions
                .tmux
                .pipe(&session.pane, &sessions.settings.tap_words(&session.dir))?;
        }
        if info.dead {
            // It ended while no server ran; whoever asks first must hear so.
            ends::settle(&session, &sessions.tmux, &sessions.proc);
        }
        sessions.follow(&session);
    }
    Ok(())
}

/// A session of an earlier server, its log read.
pub(super) fn open(meta: Meta, dir: SessionDir) -> Result<Arc<Session>, Error> {
    let mut state = read_up(&meta, &dir, meta.end)?;
    state.ending = meta.end;
    state.load_agents(&dir);
    state.write_tail();
    Ok(Arc::new(session(meta, dir, state)))
}

/// A line of regions.jsonl.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Region(Record),
    Typed(Typed),
}

/// The state that a session's logs make: from its checkpoint when that fits, else from the start.
pub(super) fn read_up(
    meta: &Meta,
    dir: &SessionDir,
    ending: Option<Ending>,
) -> Result<State, Error> {
    let mut state = match State::from_checkpoint(meta, dir) {
        Some(state) => state,
        None => fresh_state(meta, dir)?,
    };
    replay(&mut state, dir, ending)?;
    Ok(state)
}

/// Feeds what the log holds beyond the state, with the regions that were written down since.
fn replay(state: &mut State, dir: &SessionDir, ending: Option<Ending>) -> Result<(), Error> {
    let recalled = state.regions.last_id();
    let records = Records::open(&dir.regions())?;
    let (entries, _) = records::read(&dir.regions(), state.checkpoint.recorded)?;
    let mut last: HashMap<RegionId, Record> = HashMap::new();
    let mut typed: Vec<Typed> = state.typed_last.take().into_iter().collect();
    for entry in entries {
        match entry {
            Entry::Region(record) => drop(last.insert(record.id, record)),
            Entry::Typed(line) => typed.push(line),
        }
    }
    // Commands are told by their markers; lines given to programs only by the records.
    let mut known: Vec<Record> = last
        .values()
        .filter(|record| record.kind == Kind::Input)
        .cloned()
        .collect();
    known.sort_by_key(|record| record.id);
    state.known = known.into();
    // What began or ended right where the checkpoint stands.
    state.feed(&[], true);
    while state.follow(true)? {}
    state.known.clear();
    state.regions.recall(&last, &typed, recalled);
    state.record_to(records);
    record_changes(state, &mut last);
    state.typed_last = typed.last().cloned();
    state.regions.await_former(typed.last());
    if state.checkpoint.due_at_end(state.offset()) {
        state.write_checkpoint();
    }
    if let Some(ending) = ending {
        let at = Moment {
            ms: ending.at,
            ..state.moment()
        };
        state.regions.over(&mut state.term, at);
        state.regions.recall(&last, &typed, recalled);
        record_changes(state, &mut last);
    }
    Ok(())
}

/// Writes down what changed while no server ran.
fn record_changes(state: &mut State, last: &mut HashMap<RegionId, Record>) {
    let mut changed = Vec::new();
    for id in state.regions.take_changed() {
        if let Some(record) = state.regions.get(id).map(|region| region.record()) {
            if last.get(&id) != Some(&record) {
                last.insert(id, record.clone());
                changed.push(record);
            }
        }
    }
    state.write_records(&changed);
}
