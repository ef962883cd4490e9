//! The follower: one thread that takes in every session's new output and wakes whoever waits for it.

use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, unbounded};

use super::Session;
use crate::sys::fd::Bell;
use crate::sys::inotify::{Inotify, Watch};
use crate::sys::pidfd::PidFd;
use crate::sys::poll::{Interest, poll};

/// How often logs are looked at where inotify has failed (the user's instances are used up): no one waits longer
/// than 20 ms for output.
const LOOK_EVERY: Duration = Duration::from_millis(20);

enum Order {
    Follow(Arc<Session>),
    Forget(Arc<Session>),
    Stop,
}

/// A process of a session that has ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// The pane's own.
    Pane(Arc<Session>),
    /// The one that writes the log.
    Tap(Arc<Session>),
}

/// The thread's handle: dropping it ends the thread.
#[derive(Debug)]
pub struct Follower {
    orders: Sender<Order>,
    bell: Arc<Bell>,
    thread: Option<JoinHandle<()>>,
}

impl Follower {
    /// `ended` is told of every end.
    /// The same for a write to `panes`, of which `made` is told.
    pub fn start(ended: Sender<Ended>, panes: &Path, made: Sender<()>) -> io::Result<Follower> {
        let (orders, receiver) = unbounded();
        let bell = Arc::new(Bell::new()?);
        let inotify = Inotify::new().ok();
        let mut follow = Follow {
            panes: inotify
                .as_ref()
                .and_then(|inotify| inotify.watch(panes).ok())
                .map(|watch| (watch, made)),
            inotify,
            sessions: HashMap::new(),
            unwatched: Vec::new(),
            busy: Vec::new(),
            pids: Vec::new(),
            taps: Vec::new(),
            ended,
        };
        let rung = bell.clone();
        let thread = std::thread::Builder::new()
            .name("follow".into())
            .spawn(move || follow.run(&receiver, &rung))?;
        Ok(Follower {
            orders,
            bell,
            thread: Some(thread),
        })
    }

    /// Follows the session's log and its process from now on. What is there already is taken in at once.
    pub fn follow(&self, session: &Arc<Session>) {
        self.order(Order::Follow(session.clone()));
    }

    pub fn forget(&self, session: &Arc<Session>) {
        self.order(Order::Forget(session.clone()));
    }

    fn order(&self, order: Order) {
        // The thread ends only with this handle.
        let _ = self.orders.send(order);
        self.bell.ring();
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.order(Order::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Follow {
    inotify: Option<Inotify>,
    sessions: HashMap<Watch, (Watch, Arc<Session>)>,
    /// Sessions that inotify could not watch.
    unwatched: Vec<Arc<Session>>,
    /// Sessions that had more than one turn takes in.
    busy: Vec<Arc<Session>>,
    pids: Vec<(PidFd, Ended)>,
    /// The taps that are watched, by session.
    taps: Vec<(Arc<Session>, u32)>,
    /// The file that tmux writes to when a pane was made, and who is told.
    panes: Option<(Watch, Sender<()>)>,
    ended: Sender<Ended>,
}

impl Follow {
    fn run(&mut self, orders: &Receiver<Order>, bell: &Bell) {
        loop {
            let deadline = match (self.busy.is_empty(), self.unwatched.is_empty()) {
                (false, _) => Some(Instant::now()),
                (true, false) => Some(Instant::now() + LOOK_EVERY),
                (true, true) => None,
            };
            let mut fds = vec![(bell.as_fd(), Interest::Read)];
            fds.extend(self.pids.iter().map(|(fd, _)| (fd.as_fd(), Interest::Read)));
            fds.extend(
                self.inotify
                    .as_ref()
                    .map(|inotify| (inotify.as_fd(), Interest::Read)),
            );
            let Ok(ready) = poll(&fds, deadline) else {
                return;
            };
            let ends: Vec<usize> = (0..self.pids.len()).filter(|at| ready[at + 1]).collect();
            for at in ends.into_iter().rev() {
                let (_, ended) = self.pids.swap_remove(at);
                let _ = self.ended.send(ended);
            }
            self.take_in();
            if ready[0] {
                bell.clear();
                while let Ok(order) = orders.try_recv() {
                    match order {
                        Order::Follow(session) => self.add(session),
                        Order::Forget(session) => self.remove(&session),
                        Order::Stop => return,
                    }
                }
            }
        }
    }

    fn take_in(&mut self) {
        let mut due: Vec<Arc<Session>> = std::mem::take(&mut self.busy);
        due.extend(self.unwatched.iter().cloned());
        if let Some(inotify) = &self.inotify {
            match inotify.changed() {
                // Events were lost: any log may have grown.
                Ok((_, true)) => {
                    due.extend(self.sessions.values().map(|(_, session)| session.clone()))
                }
                Ok((watches, false)) => {
                    if let Some((watch, made)) = &self.panes {
                        if watches.contains(watch) {
                            let _ = made.send(());
                        }
                    }
                    due.extend(
                        watches
                            .iter()
                            .filter_map(|watch| Some(self.sessions.get(watch)?.1.clone())),
                    );
                }
                Err(_) => {
                    self.inotify = None;
                    self.unwatched
                        .extend(self.sessions.drain().map(|(_, (_, session))| session));
                }
            }
        }
        for (at, session) in due.iter().enumerate() {
            if due[..at]
                .iter()
                .any(|earlier| Arc::ptr_eq(earlier, session))
            {
                continue;
            }
            if take_turn(session) {
                self.busy.push(session.clone());
            }
            self.watch_tap(session);
        }
    }

    /// Watches the process that writes the session's log, once it has told its id.
    fn watch_tap(&mut self, session: &Arc<Session>) {
        let state = session.state();
        let Some(tap) = state.tap.filter(|_| !state.complete) else {
            return;
        };
        drop(state);
        let known = self
            .taps
            .iter()
            .position(|(other, _)| Arc::ptr_eq(other, session));
        match known {
            Some(at) if self.taps[at].1 == tap => return,
            Some(at) => self.taps[at].1 = tap,
            None => self.taps.push((session.clone(), tap)),
        }
        match PidFd::open(tap as i32) {
            Ok(fd) => self.pids.push((fd, Ended::Tap(session.clone()))),
            Err(_) => drop(self.ended.send(Ended::Tap(session.clone()))),
        }
    }

    fn add(&mut self, session: Arc<Session>) {
        let watched = [session.dir.raw(), session.dir.times()].map(|path| {
            self.inotify
                .as_ref()
                .and_then(|inotify| inotify.watch(&path).ok())
        });
        match watched {
            [Some(raw), Some(times)] => {
                self.sessions.insert(raw, (times, session.clone()));
                self.sessions.insert(times, (raw, session.clone()));
            }
            _ => self.unwatched.push(session.clone()),
        }
        match PidFd::open(session.meta.pid) {
            Ok(fd) => self.pids.push((fd, Ended::Pane(session.clone()))),
            // It has ended already.
            Err(_) => drop(self.ended.send(Ended::Pane(session.clone()))),
        }
        if take_turn(&session) {
            self.busy.push(session.clone());
        }
        self.watch_tap(&session);
    }

    fn remove(&mut self, session: &Arc<Session>) {
        self.unwatched.retain(|other| !Arc::ptr_eq(other, session));
        self.busy.retain(|other| !Arc::ptr_eq(other, session));
        self.pids
            .retain(|(_, Ended::Pane(other) | Ended::Tap(other))| !Arc::ptr_eq(other, session));
        self.taps.retain(|(other, _)| !Arc::ptr_eq(other, session));
        let inotify = &self.inotify;
        self.sessions.retain(|watch, (_, other)| {
            let gone = Arc::ptr_eq(other, session);
            if let Some(inotify) = inotify.as_ref().filter(|_| gone) {
                inotify.unwatch(*watch);
            }
            !gone
        });
    }
}

/// Chunks of a log that are taken in before other sessions have their turn: a flood in one must not keep the others
/// waiting.
const TURN: usize = 4;

/// Takes in some of what there is; true when there is more.
fn take_turn(session: &Session) -> bool {
    (0..TURN).all(|_| take_chunk(session))
}

/// Takes in all there is.
pub(super) fn drain(session: &Session) {
    while take_chunk(session) {}
}

/// The lock is let go between chunks, so that a flood does not keep others from looking.
fn take_chunk(session: &Session) -> bool {
    let mut state = session.state();
    let more = state.follow(false).unwrap_or_else(|error| {
        state.trouble.get_or_insert_with(|| error.to_string());
        false
    });
    let mend = state.due_for_mending();
    drop(state);
    if mend {
        session.mend();
    }
    more
}
