//! Picking up the sessions of an earlier server: panes that are still there, and everything printed while none ran.

use std::collections::HashMap;
use std::sync::Arc;

use super::create::{fresh_state, session, valid_name};
use super::meta::{Ending, FORMAT, How};
use super::regions::{Kind, Moment, Record, RegionId};
use super::state::State;
use super::{Error, Meta, Sessions, ends, now_ms};
use crate::store::layout::SessionDir;
use crate::store::{self, records};
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
    Ok(())
}

fn names(sessions: &Sessions) -> Result<Vec<String>, Error> {
    let path = sessions.layout.sessions();
    let entries = std::fs::read_dir(&path).map_err(store::Error::at("read", &path))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    // NAME.N are archived logs, not sessions.
    names.retain(|name| valid_name(name));
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
    let ending = match (meta.end, pane) {
        // The pane went while no server ran: nobody can say how its program ended.
        (None, None) if ours => Some(Ending {
            how: How::Gone,
            status: None,
            signal: None,
            at: now_ms(),
        }),
        (end, _) => end,
    };
    let newly = ending.filter(|_| meta.end.is_none());
    meta.end = ending;
    let mut state = fresh_state(&meta, &dir)?;
    replay(&mut state, &dir, ending)?;
    state.ending = ending;
    state.load_agents(&dir);
    state.write_tail();
    let session = Arc::new(session(meta, dir, state));
    sessions
        .list()
        .insert(session.name.clone(), session.clone());
    if let Some(ending) = newly {
        session.state().ending = None;
        session.end(ending);
    }
    if let Some(info) = pane.filter(|_| session.state().ending.is_none()) {
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

/// Feeds the whole log again, with the regions that were written down.
pub(super) fn replay(
    state: &mut State,
    dir: &SessionDir,
    ending: Option<Ending>,
) -> Result<(), Error> {
    let written: Vec<Record> = records::read(&dir.regions())?;
    let mut last: HashMap<RegionId, Record> = HashMap::new();
    for record in written {
        last.insert(record.id, record);
    }
    // Commands are told by their markers; lines given to programs only by the records.
    let mut known: Vec<Record> = last
        .values()
        .filter(|record| record.kind == Kind::Input)
        .cloned()
        .collect();
    known.sort_by_key(|record| record.id);
    state.known = known.into();
    while state.follow(true)? {}
    state.known.clear();
    if let Some(ending) = ending {
        let at = Moment {
            offset: state.offset(),
            ms: ending.at,
        };
        state.regions.over(&mut state.term, at);
    }
    state.regions.recall(&last, &records::read(&dir.regions())?);
    state.record_to(records::Records::open(&dir.regions())?);
    // What changed while no server ran is written down now.
    let changed: Vec<Record> = state
        .regions
        .all()
        .iter()
        .map(|region| region.record())
        .filter(|record| last.get(&record.id) != Some(record))
        .collect();
    state.write_records(&changed);
    Ok(())
}
