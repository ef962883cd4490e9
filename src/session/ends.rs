//! How a session ends: its process is gone, and tmux knows with which status.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;

use super::follow::Ended;
use super::meta::{Ending, How};
use super::{Session, now_ms};
use crate::proc::{Pid, Proc};
use crate::store::end::End;
use crate::store::layout::SessionDir;
use crate::sys::signal;
use crate::tmux::{self, Info, Tmux};

/// How long tmux may take to notice an end, and the tap to write the last output. Both take milliseconds; under
/// heavy load, some hundred.
const PATIENCE: Duration = Duration::from_secs(5);

/// Between two looks at tmux. Nothing tells when tmux has reaped a child, so it is asked.
const PAUSE: Duration = Duration::from_millis(5);

/// The thread that looks into ends: it may ask tmux several times, which the follower must not wait for. `repair`
/// gives a session's pane a new tap; `told` is called when an end is known.
pub fn start(
    tmux: Tmux,
    proc: Proc,
    ended: Receiver<Ended>,
    repair: impl Fn(&Session) + Send + 'static,
    told: impl Fn() + Send + 'static,
) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name("ends".into())
        .spawn(move || {
            // Ends when the follower, which holds the sender, has ended.
            while let Ok(ended) = ended.recv() {
                match ended {
                    Ended::Pane(session) => {
                        settle(&session, &tmux, &proc);
                        told();
                    }
                    Ended::Tap(session) => tap_ended(&session, &tmux, &repair),
                }
            }
        })
}

/// A tap ends with its pane. When the pane lives on, the tap was killed, and tmux has stopped logging: a new one
/// takes its place.
fn tap_ended(session: &Session, tmux: &Tmux, repair: &impl Fn(&Session)) {
    super::follow::drain(session);
    {
        let state = session.state();
        if state.ending.is_some() || state.closing || state.complete {
            return;
        }
    }
    // tmux itself would notice only when it next writes: what is printed until then would be lost as well.
    if let Ok(Some(info)) = tmux.pane(&session.pane) {
        if !info.dead {
            repair(session);
        }
    }
}

/// Finds out how the session's program ended, waits for its last output, and says so to all who wait.
pub(super) fn settle(session: &Session, tmux: &Tmux, proc: &Proc) {
    let told = told(&session.dir);
    let (how, status, signal) = match exit(session, tmux, told.is_some()) {
        Some(info) => {
            drain(session, tmux, proc);
            let (status, signal) = told.map_or((info.dead_status, info.dead_signal), End::parts);
            (How::Exited, status, signal)
        }
        None => {
            let deadline = Instant::now() + PATIENCE;
            // The tap writes its last word when the pane's pipe closes.
            while !session.state().complete && tap_lives(session, proc) && Instant::now() < deadline
            {
                std::thread::sleep(PAUSE);
                super::follow::drain(session);
            }
            let (status, signal) = told.map_or((None, None), End::parts);
            let how = match (session.state().closing, told) {
                (true, _) => How::Closed,
                (false, Some(_)) => How::Exited,
                (false, None) => How::Gone,
            };
            (how, status, signal)
        }
    };
    super::follow::drain(session);
    session.end(Ending {
        how,
        status,
        signal,
        at: now_ms(),
    });
}

/// What the launcher wrote down. It says nothing when the pane was taken from a running program.
fn told(dir: &SessionDir) -> Option<End> {
    // Unreadable is as good as not told: tmux may know.
    End::read(&dir.end()).ok().flatten()
}

/// How a session ended whose pane went while no server ran.
pub(super) fn unseen(dir: &SessionDir) -> Ending {
    let told = told(dir);
    let (status, signal) = told.map_or((None, None), End::parts);
    Ending {
        how: told.map_or(How::Gone, |_| How::Exited),
        status,
        signal,
        at: now_ms(),
    }
}

impl Session {
    /// Writes down the end, closes what still runs, and wakes everyone.
    pub(super) fn end(&self, ending: Ending) {
        let mut state = self.state();
        if state
            .ending
            .is_some_and(|earlier| earlier.how != How::Exited)
        {
            return;
        }
        // Before what runs is closed: the next server does that itself, after what may still come.
        if state.ending.is_none() && state.checkpoint.due_at_end(state.offset()) {
            state.write_checkpoint();
        }
        state.ending = Some(ending);
        let at = state.moment();
        let inner = &mut *state;
        inner.regions.over(&mut inner.term, at);
        inner.write_changes(false);
        state.write_tail();
        let meta = super::Meta {
            end: Some(ending),
            ..self.meta.clone()
        };
        if let Err(error) = meta.write(&self.dir.meta()) {
            state.trouble.get_or_insert_with(|| error.to_string());
        }
        state.watchers.notify();
    }
}

/// The dead pane with its status, unless that is known already; `None` when the pane (or all of tmux) is gone.
fn exit(session: &Session, tmux: &Tmux, known: bool) -> Option<Info> {
    let deadline = Instant::now() + PATIENCE;
    let mut nudged = false;
    loop {
        let info = match tmux.pane(&session.pane) {
            Ok(Some(info)) => info,
            Ok(None) => return None,
            // tmux hangs: the pane is there as far as anyone knows, its status is not to be had.
            Err(tmux::Error::Hung { .. }) => return None,
            Err(_) => return None,
        };
        let told = known || info.dead_status.is_some() || info.dead_signal.is_some();
        if info.dead && told || Instant::now() >= deadline {
            return Some(info);
        }
        if info.dead && !nudged {
            // 3.3a to 3.5a, as distributions build them, lose the status in a third of exits until the next SIGCHLD.
            nudged = true;
            if let Ok(Some((server, _))) = tmux.server() {
                if let Some(child) = signal::number("CHLD") {
                    let _ = signal::kill(server, child);
                }
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// Waits until the log holds all that the pane printed. A dead pane keeps its pipe open, so nothing says so
/// outright: but a pane that tmux calls dead has been read to its end, one more answer from tmux means that its
/// loop has written to the pipe what fits, and a tap that sleeps has taken all of it.
pub(super) fn drain(session: &Session, tmux: &Tmux, proc: &Proc) {
    let deadline = Instant::now() + PATIENCE;
    let mut quiet = 0;
    let mut length = None;
    while quiet < 2 && Instant::now() < deadline && !session.state().complete {
        let _ = tmux.pane(&session.pane);
        super::follow::drain(session);
        let now = std::fs::metadata(session.dir.raw())
            .map(|meta| meta.len())
            .ok();
        let idle = tap_idle(session, proc);
        quiet = if idle && now == length { quiet + 1 } else { 0 };
        length = now;
        if quiet < 2 {
            std::thread::sleep(PAUSE);
        }
    }
}

fn tap_state(session: &Session, proc: &Proc) -> Option<u8> {
    let pid = session.state().tap?;
    proc.process(Pid(pid as i32)).map(|process| process.state)
}

fn tap_lives(session: &Session, proc: &Proc) -> bool {
    // No tap known yet: it has not started, and will.
    session.state().tap.is_none() || tap_state(session, proc).is_some()
}

/// Asleep in its read, or gone.
fn tap_idle(session: &Session, proc: &Proc) -> bool {
    if session.state().tap.is_none() {
        return false;
    }
    matches!(tap_state(session, proc), None | Some(b'S' | b'Z' | b'X'))
}
