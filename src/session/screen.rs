//! What a person sees of a session now, and how many watch.

use std::path::Path;
use std::time::{Duration, Instant};

use super::{Error, Meta, Session, Sessions};
use crate::sys::winsize;
pub use crate::tmux::Info;
use crate::tmux::format::{shell_line, shell_word};
pub use crate::tmux::pane::Capture;
use crate::tmux::{PaneId, Tmux};

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

    /// Gives the session a size, when there is one, and keeps it or lets an attached window decide. Returns the size
    /// that it came to, which the log has when this returns.
    pub fn resize(
        &self,
        session: &Session,
        size: Option<(u16, u16)>,
        fixed: bool,
    ) -> Result<(u16, u16), Error> {
        let panes = self.tmux.panes()?;
        let own = |info: &&Info| info.pane == session.pane && info.tag == session.meta.nonce;
        let Some(info) = panes.iter().find(own) else {
            return Err(Error::Refused(format!(
                "session {:?} has no pane any more",
                session.name
            )));
        };
        let alone = panes
            .iter()
            .filter(|other| other.window == info.window)
            .count()
            == 1;
        self.tmux.resize(info, alone, size, fixed)?;
        let now = self.pane(session)?;
        if let Some(info) = &now {
            told_the_program(info);
        }
        Ok(now.map_or((info.cols, info.rows), |info| (info.cols, info.rows)))
    }

    /// The words that attach a person to the session.
    pub fn attach_argv(&self, meta: &Meta) -> Vec<String> {
        attach_argv(&self.tmux, meta)
    }

    /// The same as one line to paste.
    pub fn attach(&self, meta: &Meta) -> String {
        let line = shell_line(&self.attach_argv(meta));
        match self.settings.attach_prefix.as_slice() {
            [] => line,
            // What comes before runs the line in another shell (ssh -t HOST), so it is one word here.
            prefix => format!("{} {}", shell_line(prefix), shell_word(&line)),
        }
    }
}

/// The words that attach a person to a session.
pub fn attach_argv(tmux: &Tmux, meta: &Meta) -> Vec<String> {
    let mut argv = tmux.attach_argv(meta.window());
    if meta.window.is_some() {
        argv.extend([";", "select-pane", "-t", &meta.pane].map(String::from));
    }
    argv
}

/// tmux tells the program of its new size a quarter of a second later, so that a window that is being drawn larger
/// does not tell it of each step.
const TOLD: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(10);

/// Waits until the terminal has the size that tmux gave the pane: nothing tells of it but the terminal itself.
fn told_the_program(info: &Info) {
    let deadline = Instant::now() + TOLD;
    let same =
        || winsize::of(Path::new(&info.tty)).is_ok_and(|size| size == (info.cols, info.rows));
    while !same() && Instant::now() < deadline {
        std::thread::sleep(LOOK);
    }
}
