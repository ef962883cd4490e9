//! Stopping a program: its whole process group ends, in order or by SIGKILL, and what has left the group is named.

use std::time::{Duration, Instant};

use super::output::Files;
use super::{By, Error, Facts, Program, Programs, locked};
use crate::session::group::{self, Family, Named};
use crate::session::watch::{Cancel, Woken};

/// How often /proc is asked whether the group still lives, once the program itself has ended: nothing tells.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A process ends this soon after SIGKILL, unless the kernel holds it.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a stopped program ended.
#[derive(Debug)]
pub struct Stopped {
    pub facts: Facts,
    /// SIGKILL was needed for some of it.
    pub killed: bool,
    /// Processes that it started, that have left its group and that go on.
    pub left: Vec<Named>,
}

impl Program {
    fn has_ended(&self) -> bool {
        self.session.state().ending.is_some()
    }
}

impl Programs {
    /// Ends a program and its process group: by `signal`, and after `grace` by SIGKILL. Then its pane and its output
    /// go. One that has ended is just released.
    pub fn stop(
        &self,
        id: &str,
        signal: i32,
        grace: Duration,
        cancel: &Cancel,
    ) -> Result<Stopped, Error> {
        let program = self.known.find(id)?;
        let _one = locked(&program.stopping);
        // Another call may have stopped it meanwhile.
        self.known.find(id)?;
        // Before the log goes.
        let files = Files::open(&program.session.dir)?;
        let (killed, left) = match program.has_ended() {
            true => (false, Vec::new()),
            false => self.end(&program, signal, grace, cancel)?,
        };
        // Whether all of its output was kept is of no more use to anybody.
        let facts = program.facts(&files, false)?;
        self.known.release(id, &program.session)?;
        Ok(Stopped {
            facts,
            killed,
            left,
        })
    }

    fn end(
        &self,
        program: &Program,
        signal: i32,
        grace: Duration,
        cancel: &Cancel,
    ) -> Result<(bool, Vec<Named>), Error> {
        program.mark(By::Stop)?;
        let proc = &self.known.sessions.proc;
        let watch = program.session.watch();
        let mut family = Family::of(&program.session, proc);
        family.signal(signal);
        // The launcher may not have started it yet.
        let mut signalled = !family.is_over();
        let kill = group::number("KILL").unwrap_or(9);
        let kill_at = Instant::now() + grace;
        let mut killed = false;
        loop {
            let ended = program.has_ended();
            if ended || !signalled {
                family.look_again(proc);
            }
            if !signalled && !family.is_over() {
                family.signal(signal);
                signalled = true;
            }
            if ended && family.is_over() {
                break;
            }
            let now = Instant::now();
            if now >= kill_at {
                family.look_again(proc);
                family.signal(kill);
                killed |= !family.is_over();
            }
            if now >= kill_at + PATIENCE {
                let name = |named: Named| format!("{} (pid {})", named.command, named.pid);
                return Err(Error::Undead {
                    id: program.id.clone(),
                    left: family.members(proc).into_iter().map(name).collect(),
                });
            }
            let look = now + LOOK_EVERY;
            let wake = match ended || !signalled || now >= kill_at {
                true => look,
                false => kill_at,
            };
            if watch.wait(wake, cancel) == Woken::Cancelled {
                // The caller has gone; what was begun is brought to its end all the same.
                let left = kill_at.saturating_duration_since(Instant::now());
                self.lifetimes.kill_in(&program.id, left, family);
                return Err(crate::session::Error::Refused(format!(
                    "the call was cancelled while program {} was ending; it ends, and its output is kept until it is stopped again",
                    program.id
                ))
                .into());
            }
        }
        family.look_again(proc);
        Ok((killed, family.left(proc)))
    }
}
