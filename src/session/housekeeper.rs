//! The housekeeper: one thread that does chores when they are due and sleeps until the next. With nothing due it is
//! not woken at all.
//!
//! Must not know what a chore does.

use std::thread::{JoinHandle, ThreadId};
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, at, never, select, unbounded};

/// What a chore is known by.
pub type Name = &'static str;

/// Does what is due and says when it wants to be called again; `None`: only when somebody rings for it.
pub type Chore = Box<dyn FnMut() -> Option<Instant> + Send>;

enum Order {
    Add(Name, Chore),
    Ring(Name),
    Stop,
}

/// The thread's handle: dropping it ends the thread.
#[derive(Debug)]
pub struct Housekeeper {
    orders: Sender<Order>,
    thread: Option<JoinHandle<()>>,
    id: ThreadId,
}

/// Calls for chores; any thread may hold one.
#[derive(Clone, Debug)]
pub struct Bell(Sender<Order>);

impl Bell {
    /// Has the chore called soon.
    pub fn ring(&self, name: Name) {
        // A housekeeper that has ended has no chores.
        let _ = self.0.send(Order::Ring(name));
    }
}

impl Housekeeper {
    pub fn start() -> std::io::Result<Housekeeper> {
        let (orders, receiver) = unbounded();
        let thread = std::thread::Builder::new()
            .name("housekeeper".into())
            .spawn(move || run(&receiver))?;
        Ok(Housekeeper {
            orders,
            id: thread.thread().id(),
            thread: Some(thread),
        })
    }

    /// Takes a chore on, and does it for the first time at once.
    pub fn add(&self, name: Name, chore: Chore) {
        let _ = self.orders.send(Order::Add(name, chore));
    }

    pub fn bell(&self) -> Bell {
        Bell(self.orders.clone())
    }
}

impl Drop for Housekeeper {
    fn drop(&mut self) {
        let _ = self.orders.send(Order::Stop);
        // A chore may hold the last handle of what owns this: the thread cannot wait for itself.
        if std::thread::current().id() != self.id {
            if let Some(thread) = self.thread.take() {
                let _ = thread.join();
            }
        }
    }
}

fn run(orders: &Receiver<Order>) {
    let mut chores: Vec<(Name, Option<Instant>, Chore)> = Vec::new();
    loop {
        let next = chores.iter().filter_map(|(_, due, _)| *due).min();
        let due = next.map_or_else(never, at);
        select! {
            recv(orders) -> order => match order {
                Ok(Order::Add(name, chore)) => chores.push((name, Some(Instant::now()), chore)),
                Ok(Order::Ring(rung)) => {
                    for (_, due, _) in chores.iter_mut().filter(|(name, ..)| *name == rung) {
                        *due = Some(Instant::now());
                    }
                }
                Ok(Order::Stop) | Err(_) => return,
            },
            recv(due) -> _ => {
                let now = Instant::now();
                for (_, due, chore) in &mut chores {
                    if due.is_some_and(|due| due <= now) {
                        *due = chore();
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const DEADLINE: Duration = Duration::from_secs(30);

    #[test]
    fn chores_are_done_when_due_and_when_rung_for() {
        let housekeeper = Housekeeper::start().unwrap();
        let (sender, done) = unbounded();
        let again = sender.clone();
        // It wants to be called twice more, then only when rung for.
        let mut left = 3;
        let chore = move || {
            left -= 1;
            again.send("counted").unwrap();
            (left > 0).then(Instant::now)
        };
        housekeeper.add("count", Box::new(chore));
        for _ in 0..3 {
            assert_eq!(done.recv_timeout(DEADLINE), Ok("counted"));
        }
        housekeeper.add(
            "other",
            Box::new(move || sender.send("other").ok().and(None)),
        );
        assert_eq!(done.recv_timeout(DEADLINE), Ok("other"));
        let bell = housekeeper.bell();
        bell.ring("nobody");
        bell.ring("count");
        assert_eq!(done.recv_timeout(DEADLINE), Ok("counted"));
        drop(housekeeper);
        // The thread is gone, and its chores with it.
        assert!(done.recv_timeout(DEADLINE).is_err());
        bell.ring("count");
    }
}
