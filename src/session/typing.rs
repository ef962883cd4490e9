//! Typing: one call at a time, and never into another's line.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::keys::Key;
use super::watch::{Cancel, Woken};
use super::{Error, Session, Sessions};
use crate::tmux::pane;

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

impl Drop for Typist {
    fn drop(&mut self) {
        let mut state = self.session.state();
        state.typist = None;
        state.watchers.notify();
    }
}

impl Sessions {
    /// Types `text` (bracketed when the program asked for that and the text is one paste) and presses `keys`.
    pub fn press(
        &self,
        session: &Session,
        text: &str,
        bracketed: bool,
        keys: &[Key],
    ) -> Result<(), Error> {
        let keys: Vec<pane::Key> = keys
            .iter()
            .map(|key| match key {
                Key::Named(name) => pane::Key::Named(name.clone()),
                Key::Text(text) => pane::Key::Text(text.clone()),
            })
            .collect();
        Ok(self
            .tmux
            .type_keys(&session.pane, text.as_bytes(), bracketed, &keys)?)
    }
}
