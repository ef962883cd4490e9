//! Typing: one call at a time, and never into another's line.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::keys::Key;
use super::watch::{Cancel, Woken};
use super::{Error, Session, Sessions, now_ms};
use crate::sys::termios;
use crate::tmux::typing::{self, Typed, Typing, Undisturbed};

/// How long a call waits for another's typing to end before it is refused.
const PATIENCE: Duration = Duration::from_secs(2);

/// The right to type into a session; it ends when dropped.
#[derive(Debug)]
pub struct Typist {
    session: Arc<Session>,
}

impl Session {
    /// Waits up to 2 s for whoever types now, then refuses and names them.
    pub fn typist(
        self: &Arc<Session>,
        agent: &str,
        tool: &'static str,
        cancel: &Cancel,
    ) -> Result<Typist, Error> {
        let watch = self.watch();
        let deadline = Instant::now() + PATIENCE;
        loop {
            {
                let mut state = self.state();
                if state.typist.is_none() {
                    state.typist = Some((agent.to_string(), tool));
                    return Ok(Typist {
                        session: self.clone(),
                    });
                }
            }
            match watch.wait(deadline, cancel) {
                Woken::Changed => {}
                Woken::Cancelled => {
                    return Err(Error::Refused(
                        "cancelled while another call was typing; nothing was typed".into(),
                    ));
                }
                Woken::Deadline => {
                    let (holder, tool) = self
                        .state()
                        .typist
                        .clone()
                        .unwrap_or_else(|| ("another call".into(), "run"));
                    return Err(Error::Refused(format!(
                        "{holder} is typing into {} (its {tool} call is not over); nothing was typed. Wait with `wait`, or use a session of your own",
                        self.name
                    )));
                }
            }
        }
    }
}

impl Session {
    /// Something of whoever types now has reached the pane.
    fn has_typed(&self) {
        let mut state = self.state();
        let state = &mut *state;
        let agent = state
            .typist
            .as_ref()
            .and_then(|(agent, _)| state.agents.get_mut(agent));
        if let Some(agent) = agent {
            agent.typed_ms = now_ms();
        }
    }
}

impl Drop for Typist {
    fn drop(&mut self) {
        let mut state = self.session.state();
        state.typist = None;
        state.watchers.notify();
    }
}

/// What is to be typed into a session.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a> {
    pub text: &'a str,
    /// As one paste, where the program asked for that.
    pub bracketed: bool,
    pub keys: &'a [Key],
}

/// How long the log may lag behind what tmux shows, before tmux's own screen is asked.
const LAG: Duration = Duration::from_secs(1);

impl Sessions {
    /// Types, whatever is there.
    pub fn press(&self, session: &Session, keys: Keys<'_>) -> Result<(), Error> {
        self.type_at(session, keys, None).map(drop)
    }

    /// Types only if the cursor is where the log has it, which tmux itself decides at that moment: what a person
    /// has typed since is not in the log yet. False: it was not, so look again.
    pub fn press_here(&self, session: &Session, keys: Keys<'_>) -> Result<bool, Error> {
        let cursor = session.state().term.cursor();
        self.type_at(session, keys, Some((cursor.col, cursor.row)))
    }

    /// The same where the log's cursor is not tmux's (a resize that both took differently): it must be the same
    /// line by its text.
    pub fn press_on_this_line(&self, session: &Session, keys: Keys<'_>) -> Result<bool, Error> {
        let screen = self.screen(session)?;
        let (column, row) = screen.cursor;
        let shown = screen
            .rows
            .get(usize::from(row))
            .cloned()
            .unwrap_or_default();
        let line = session.state().term.cursor_line();
        if shown.trim_end().is_empty() || !line.trim_end().ends_with(shown.trim_end()) {
            return Ok(false);
        }
        self.type_at(session, keys, Some((column, row)))
    }

    /// Waits until the log has caught up, for so long that `press_on_this_line` may decide. False when nothing more
    /// came.
    pub fn catch_up(&self, watch: &super::watch::Watch, since: Instant, cancel: &Cancel) -> bool {
        watch.wait(since + LAG, cancel) == Woken::Changed
    }

    fn type_at(
        &self,
        session: &Session,
        keys: Keys<'_>,
        cursor: Option<(u16, u16)>,
    ) -> Result<bool, Error> {
        let mut only_if = cursor.map(|cursor| Undisturbed {
            cursor,
            activity: None,
        });
        // Keys of somebody else that the program has not read show nowhere yet.
        if cursor.is_some() && unread(session) > 0 {
            return Ok(false);
        }
        let list: Vec<typing::Key> = keys
            .keys
            .iter()
            .map(|key| match key {
                Key::Named(name) => typing::Key::Named(name.clone()),
                Key::Text(text) => typing::Key::Text(text.clone()),
            })
            .collect();
        loop {
            let typing = Typing {
                pane: &session.pane,
                text: keys.text.as_bytes(),
                bracketed: keys.bracketed,
                keys: &list,
                only_if,
            };
            let (attached, activity) = match self.tmux.type_in(&typing)? {
                Typed::Done => {
                    session.has_typed();
                    return Ok(true);
                }
                Typed::Disturbed { attached, activity } => (attached, activity),
            };
            let Some(only_if) = &mut only_if else {
                return Ok(false);
            };
            // Somebody is attached: it is tried once more, for as long as they keep still.
            if attached == 0 || only_if.activity.is_some() || !is_still(activity) {
                return Ok(false);
            }
            only_if.activity = Some(activity);
        }
    }
}

/// A key that a person pressed shows only once the program has read and echoed it, and tmux has drawn that: until then
/// the cursor says nothing of it. So nothing is typed until they have kept still for a second, by when it shows, and
/// only if tmux has heard of nobody since. tmux counts in whole seconds, so two must have begun.
const STILL: u64 = 2;

fn is_still(activity: u64) -> bool {
    (now_ms() / 1_000).saturating_sub(activity) >= STILL
}

/// Bytes typed that the program has not read; 0 when that cannot be told.
fn unread(session: &Session) -> usize {
    let tty = termios::open(std::path::Path::new(&session.meta.tty));
    tty.and_then(|tty| termios::unread(&tty)).unwrap_or(0)
}
