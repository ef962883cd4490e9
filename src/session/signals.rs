//! Signals to the job in front, and never to the session's own program.

use std::time::{Duration, Instant};

use super::watch::{Cancel, Watch, Woken};
use super::{Error, Session, Sessions};
use crate::proc::Pid;
use crate::sys::signal;

/// The signals that a caller may name: those that end a program.
pub const NAMES: [&str; 5] = ["TERM", "KILL", "INT", "HUP", "QUIT"];

/// How often /proc is asked whether a signalled group still lives: nothing tells when the last of it has gone.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A job that was sent a signal.
#[derive(Clone, Debug)]
pub struct Signalled {
    /// Its name, for people.
    pub name: String,
    pub pgrp: Pid,
}

impl Sessions {
    /// Sends to the terminal's foreground process group. Refused for the session's own program, and for a client of
    /// another machine (ssh), which would end the connection and not what runs there, unless `force`.
    pub fn signal(&self, session: &Session, name: &str, force: bool) -> Result<Signalled, Error> {
        let refused = |text: String| Err(Error::Refused(text));
        let at_prompt = session.state().regions.prompt().is_some();
        let view = self.look(session);
        let Some(job) = view.foreground.as_ref() else {
            return refused(format!(
                "what runs in front of {} cannot be told; no signal was sent",
                session.name
            ));
        };
        let leader = job
            .leader
            .as_ref()
            .map_or("a program".to_string(), |leader| leader.name.clone());
        if job.own || at_prompt {
            return refused(format!(
                "nothing but the session's own program is in front of {}, and that is never sent a signal; nothing was sent. `session_close` ends the session",
                session.name
            ));
        }
        let remote = job.leader.as_ref().is_some_and(|leader| leader.is_remote());
        if remote && !force {
            return refused(format!(
                "{leader} is in front of {}: a signal would end the connection, not what runs on the other side; nothing was sent. Press keys=[\"ctrl+c\"], or say force=true",
                session.name
            ));
        }
        let number = signal::number(name)
            .filter(|_| NAMES.contains(&name))
            .ok_or_else(|| Error::Refused(format!("there is no signal {name:?}")))?;
        signal::kill_group(job.pgrp.0, number)
            .map_err(|error| Error::Io(format!("cannot send SIG{name} to {leader}"), error))?;
        Ok(Signalled {
            name: leader,
            pgrp: job.pgrp,
        })
    }

    /// Waits until no process of the group lives. False when the deadline came first.
    pub fn group_ends(&self, pgrp: Pid, watch: &Watch, deadline: Instant, cancel: &Cancel) -> bool {
        loop {
            let alive = self.proc.tree().group(pgrp).any(|member| !member.is_dead());
            let now = Instant::now();
            if !alive {
                return true;
            }
            if now >= deadline
                || watch.wait(deadline.min(now + LOOK_EVERY), cancel) == Woken::Cancelled
            {
                return false;
            }
        }
    }
}
