//! save_to, as run, wait and expect share it.

use std::sync::Arc;

use crate::reply::Reply;
use crate::reply::words;
use crate::session::save::{Prepared, Save, Saved, Wanted};
use crate::session::{RegionId, Session};

use super::outcome::Target;
use super::{Context, Failure};

/// A file that output is copied to, if the caller named one.
pub enum Saving {
    None,
    /// Nothing has been replaced yet.
    Ready(Prepared),
    Begun(Save),
}

impl Saving {
    /// Checks that the file can be written, before anything is typed.
    pub fn prepare(
        context: &Context<'_>,
        session: &Session,
        path: Option<&str>,
    ) -> Result<Saving, Failure> {
        Ok(match path {
            None => Saving::None,
            Some(path) => Saving::Ready(context.sessions.prepare_save(session, path)?),
        })
    }

    /// A line was typed: what it prints is copied from now on.
    pub fn begin(
        &mut self,
        context: &Context<'_>,
        session: &Arc<Session>,
        target: Target,
    ) -> Result<(), Failure> {
        let wanted = match target {
            Target::Command { after, .. } => Wanted::After(after),
            Target::Region(id) => Wanted::Region(id),
        };
        match std::mem::replace(self, Saving::None) {
            Saving::None => {}
            Saving::Ready(prepared) => {
                *self = Saving::Begun(prepared.start(session, wanted, context.agent)?);
            }
            Saving::Begun(save) => {
                save.also(wanted);
                *self = Saving::Begun(save);
            }
        }
        Ok(())
    }

    /// What the line came to: one that was no command prints nothing.
    pub fn came(&self, region: Option<RegionId>) {
        if let (Saving::Begun(save), None) = (self, region) {
            save.none_came();
        }
    }

    /// Says what is in the file; of one that an earlier call asked for, that it was cut off.
    pub fn tell(self, context: &Context<'_>, session: &Session, reply: &mut Reply) {
        let Saving::Begun(save) = self else {
            return cut_off(context, session, reply);
        };
        let Saved {
            path,
            bytes,
            complete,
            replaced,
            error,
        } = save.seal();
        let path = path.display();
        let size = words::count(bytes, "byte");
        reply.note(match error {
            Some(error) => format!("save_to {path} could not be written on: {error}"),
            None if replaced => format!(
                "save_to {path} has been removed or replaced meanwhile: the {size} that were written are not there"
            ),
            None if complete => format!("saved to {path}: {size}"),
            None => format!(
                "saved to {path}: {size} so far; it is kept up to date while the command runs"
            ),
        });
        reply.fact("saved_to", path.to_string());
    }
}

/// A copy ends with the server that makes it.
fn cut_off(context: &Context<'_>, session: &Session, reply: &mut Reply) {
    let mut state = session.state();
    let agent = state.agents.get_mut(context.agent);
    let saving = agent.and_then(|agent| agent.saving.take_if(|it| it.1 != std::process::id()));
    drop(state);
    if let Some((path, _)) = saving {
        reply.note(format!(
            "the server has been started anew, and save_to {path} holds only what was printed before: save the lines with `read`, or run it again"
        ));
    }
}
