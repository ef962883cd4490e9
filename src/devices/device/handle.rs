//! What a running job is told from outside: credit, keys, actions, and that its link has gone. Must not know what the
//! job does with it.

use std::collections::VecDeque;
use std::io;
use std::process::ExitStatus;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::devices::frame::{Action, WINDOW};
use crate::sys::fd::Bell;

/// Keys that wait for a program to read them, in bytes; more is refused.
const TYPED: usize = 1 << 20;

/// The way to a job. Whatever is put there rings its bell.
pub struct Handle {
    pub bell: Bell,
    inbox: Mutex<Inbox>,
    has_terminal: bool,
}

/// What was told and not taken up yet.
#[derive(Debug)]
pub struct Inbox {
    /// Bytes of output that may be sent.
    pub credit: u64,
    pub typed: VecDeque<u8>,
    /// With the number to answer under.
    pub actions: Vec<(u64, Action)>,
    pub size: Option<(u16, u16)>,
    /// The program has ended.
    pub exit: Option<io::Result<ExitStatus>>,
    /// The link has gone: nobody looks any more.
    pub left: bool,
    /// The job takes nothing up any more.
    pub over: bool,
}

impl Handle {
    pub fn new(has_terminal: bool) -> io::Result<Handle> {
        Ok(Handle {
            bell: Bell::new()?,
            inbox: Mutex::new(Inbox {
                credit: WINDOW,
                typed: VecDeque::new(),
                actions: Vec::new(),
                size: None,
                exit: None,
                left: false,
                over: false,
            }),
            has_terminal,
        })
    }

    pub fn credit(&self, bytes: u64) {
        let mut inbox = self.inbox();
        inbox.credit = inbox.credit.saturating_add(bytes);
        drop(inbox);
        self.bell.ring();
    }

    /// Types; an error says why not.
    pub fn type_in(&self, data: &[u8]) -> Result<(), String> {
        let mut inbox = self.inbox();
        if inbox.over || inbox.exit.is_some() {
            return Err("it has ended".into());
        }
        if !self.has_terminal {
            return Err("it has no terminal to type into".into());
        }
        if inbox.typed.len() + data.len() > TYPED {
            return Err("the program does not read what was typed before".into());
        }
        inbox.typed.extend(data);
        drop(inbox);
        self.bell.ring();
        Ok(())
    }

    /// Asks for an action, which the job answers. False when it is over.
    pub fn act(&self, number: u64, action: Action) -> bool {
        let mut inbox = self.inbox();
        if inbox.over {
            return false;
        }
        inbox.actions.push((number, action));
        drop(inbox);
        self.bell.ring();
        true
    }

    pub fn resize(&self, cols: u16, rows: u16) {
        self.inbox().size = Some((cols, rows));
        self.bell.ring();
    }

    pub fn exited(&self, status: io::Result<ExitStatus>) {
        self.inbox().exit = Some(status);
        self.bell.ring();
    }

    pub fn leave(&self) {
        self.inbox().left = true;
        self.bell.ring();
    }

    pub fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
