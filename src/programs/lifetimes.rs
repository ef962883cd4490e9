//! The housekeeper: one thread that ends programs whose lifetime is over, and kills what does not heed that. It waits
//! for the next deadline and for orders; without programs there is no thread.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{By, Known, locked};
use crate::session::group::{self, Family};

/// How long a program whose lifetime is over has to end in order.
const GRACE: Duration = Duration::from_secs(2);

/// A program that its launcher has not started yet is looked for this often, BETWEEN apart.
const LOOKS: u32 = 250;

/// SIGKILL is repeated so often, and so long apart: a process that forks faster than it is found is met again.
const KILLS: u32 = 50;
const BETWEEN: Duration = Duration::from_millis(20);

/// What is to be done, and when.
#[derive(Debug)]
struct Due {
    at: Instant,
    /// The program.
    id: String,
    task: Task,
}

#[derive(Debug)]
enum Task {
    /// With how often it was looked for in vain.
    Expire(u32),
    /// With the processes there were, and how often it was done.
    Kill(Family, u32),
}

/// The thread's handle: dropping it ends the thread.
#[derive(Debug)]
pub(super) struct Lifetimes {
    known: Arc<Known>,
    thread: Mutex<Option<(Sender<Due>, JoinHandle<()>)>>,
}

impl Lifetimes {
    pub fn new(known: Arc<Known>) -> Lifetimes {
        Lifetimes {
            known,
            thread: Mutex::default(),
        }
    }

    /// Ends the program when it still runs after so long.
    pub fn end_in(&self, id: &str, left: Duration) {
        self.order(id, left, Task::Expire(0));
    }

    /// Kills, after so long, what is left of a program that was told to end.
    pub fn kill_in(&self, id: &str, left: Duration, family: Family) {
        self.order(id, left, Task::Kill(family, 0));
    }

    fn order(&self, id: &str, left: Duration, task: Task) {
        let due = Due {
            at: Instant::now() + left,
            id: id.to_string(),
            task,
        };
        let mut thread = locked(&self.thread);
        if thread.is_none() {
            let (sender, orders) = channel();
            let known = self.known.clone();
            let started = std::thread::Builder::new()
                .name("lifetimes".into())
                .spawn(move || run(&known, &orders));
            // Without a thread more the machine is at its end; the next program tries again.
            *thread = started.ok().map(|handle| (sender, handle));
        }
        if let Some((sender, _)) = thread.as_ref() {
            // The thread ends only with this handle.
            let _ = sender.send(due);
        }
    }
}

impl Drop for Lifetimes {
    fn drop(&mut self) {
        if let Some((sender, thread)) = locked(&self.thread).take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}

fn run(known: &Known, orders: &Receiver<Due>) {
    let mut dues: Vec<Due> = Vec::new();
    loop {
        let next = dues.iter().map(|due| due.at).min();
        let order = match next {
            None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => orders.recv_timeout(at.saturating_duration_since(Instant::now())),
        };
        match order {
            Ok(due) => dues.push(due),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let now = Instant::now();
        let (ripe, later) = dues.into_iter().partition(|due| due.at <= now);
        dues = later;
        for due in Vec::from_iter::<Vec<Due>>(ripe) {
            dues.extend(carry_out(known, due));
        }
    }
}

/// Does what is due; what is to follow.
fn carry_out(known: &Known, due: Due) -> Option<Due> {
    let proc = &known.sessions.proc;
    // Released since.
    let program = known.find(&due.id).ok()?;
    let (wait, task) = match due.task {
        Task::Expire(times) => {
            if program.session.state().ending.is_some() {
                return None;
            }
            // Without the mark it would be told as its own end, but end it must.
            let _ = program.mark(By::Lifetime);
            let family = Family::of(&program.session, proc);
            family.signal(group::number("TERM")?);
            match family.is_over() && times < LOOKS {
                true => (BETWEEN, Task::Expire(times + 1)),
                false => (GRACE, Task::Kill(family, 0)),
            }
        }
        Task::Kill(mut family, times) => {
            family.look_again(proc);
            let over = program.session.state().ending.is_some() && family.is_over();
            if over || times >= KILLS {
                return None;
            }
            family.signal(group::number("KILL")?);
            (BETWEEN, Task::Kill(family, times + 1))
        }
    };
    Some(Due {
        at: Instant::now() + wait,
        task,
        ..due
    })
}
