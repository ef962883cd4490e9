//! What a person sees of a session now, and how many watch.

use super::{Error, Session, Sessions};
pub use crate::tmux::Info;
use crate::tmux::PaneId;
use crate::tmux::format::{shell_line, shell_word};
pub use crate::tmux::pane::Capture;

/// The rows that tmux shows.
#[derive(Clone, Debug)]
pub struct Screen {
    pub rows: Vec<String>,
    /// Column and row, from 0.
    pub cursor: (u16, u16),
}

impl Sessions {
    pub fn screen(&self, session: &Session) -> Result<Screen, Error> {
        let (rows, cursor) = self.tmux.screen(&session.pane)?;
        Ok(Screen { rows, cursor })
    }

    /// Rows of any pane: see [`crate::tmux::Tmux::capture`].
    pub fn capture(&self, pane: &PaneId, start: i64, most: u64) -> Result<Option<Capture>, Error> {
        Ok(self.tmux.capture(pane, start, most)?)
    }

    /// The session's pane, while it is there: tmux may have been restarted and given its id to another.
    pub fn pane(&self, session: &Session) -> Result<Option<Info>, Error> {
        Ok(self
            .tmux
            .pane(&session.pane)?
            .filter(|info| info.tag == session.meta.nonce))
    }

    /// The words that attach a person to the session, as one line to paste.
    pub fn attach(&self, session: &Session) -> String {
        let line = shell_line(&self.tmux.attach_argv(session.meta.tmux_session()));
        match self.settings.attach_prefix.as_slice() {
            [] => line,
            // What comes before runs the line in another shell (ssh -t HOST), so it is one word here.
            prefix => format!("{} {}", shell_line(prefix), shell_word(&line)),
        }
    }
}
