//! The connections of the gate: how many there may be, and which goes when there is no room. Must not know what is
//! said on them.

use std::collections::BTreeMap;
use std::net::Shutdown;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::stream::Stream;

/// Connections at once; each costs a thread. More are refused, once those that do nothing have made room.
pub const CONNECTIONS: usize = 256;

/// Connections that have been answered and are kept for a next request. The oldest goes for another.
pub const IDLE: usize = 64;

/// What a connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It has not said enough to be served: a new connection, or half a request.
    Asking,
    /// It has been answered.
    Idle,
    /// It is being served.
    Busy,
}

#[derive(Debug)]
pub struct Table {
    connections: usize,
    idle: usize,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    last: u64,
    /// By the order in which they began to do what they do.
    by_age: BTreeMap<u64, (Doing, Arc<Stream>)>,
    stopped: bool,
}

/// A connection's place; given up when dropped.
#[derive(Debug)]
pub struct Place<'a> {
    table: &'a Table,
    serial: u64,
}

impl Table {
    /// Room for this many connections.
    pub fn new(connections: usize, idle: usize) -> Table {
        Table {
            connections,
            idle,
            open: Mutex::default(),
        }
    }

    /// A place for a new connection; one that does nothing goes when there is none. None when all are being served.
    pub fn enter(&self, stream: &Arc<Stream>) -> Option<Place<'_>> {
        let mut open = self.lock();
        if open.stopped || open.by_age.len() >= self.connections && !open.make_room() {
            return None;
        }
        let serial = open.add(Doing::Asking, Arc::clone(stream));
        Some(Place {
            table: self,
            serial,
        })
    }

    /// Ends a connection that does nothing. False when there is none.
    pub fn make_room(&self) -> bool {
        self.lock().make_room()
    }

    /// Takes no more, and ends those that are not being served.
    pub fn stop(&self) {
        let mut open = self.lock();
        open.stopped = true;
        open.by_age.retain(|_, (doing, stream)| {
            let busy = *doing == Doing::Busy;
            if !busy {
                stream.end(Shutdown::Both);
            }
            busy
        });
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn add(&mut self, doing: Doing, stream: Arc<Stream>) -> u64 {
        self.last += 1;
        self.by_age.insert(self.last, (doing, stream));
        self.last
    }

    /// Idle ones first, then those that ask, each by age; none that has said what is not answered yet.
    fn make_room(&mut self) -> bool {
        [Doing::Idle, Doing::Asking]
            .into_iter()
            .any(|doing| self.end_oldest(doing))
    }

    fn end_oldest(&mut self, wanted: Doing) -> bool {
        let quiet = |(_, (doing, stream)): &(&u64, &(Doing, Arc<Stream>))| {
            *doing == wanted && stream.owes()
        };
        let Some(serial) = self.by_age.iter().find(quiet).map(|(serial, _)| *serial) else {
            return false;
        };
        // Its thread meets the end and goes; the place is free now.
        if let Some((_, stream)) = self.by_age.remove(&serial) {
            stream.end(Shutdown::Both);
        }
        true
    }
}

impl Place<'_> {
    /// The connection does something else now. False when its place was given away: it has been ended.
    pub fn set(&mut self, doing: Doing) -> bool {
        let mut open = self.table.lock();
        let Some((_, stream)) = open.by_age.remove(&self.serial) else {
            return false;
        };
        if open.stopped && doing != Doing::Busy {
            stream.end(Shutdown::Both);
            return false;
        }
        self.serial = open.add(doing, stream);
        let idle = open
            .by_age
            .values()
            .filter(|(doing, _)| *doing == Doing::Idle);
        if doing == Doing::Idle && idle.count() > self.table.idle {
            open.end_oldest(Doing::Idle);
        }
        true
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.table.lock().by_age.remove(&self.serial);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;

    fn pair() -> (UnixStream, Arc<Stream>) {
        let (near, far) = UnixStream::pair().unwrap();
        let far = Stream::from(far);
        far.set_wants_more(true);
        (near, Arc::new(far))
    }

    /// Whether the other side has ended the connection.
    fn ended(near: &mut UnixStream) -> bool {
        near.set_nonblocking(true).unwrap();
        matches!(near.read(&mut [0]), Ok(0))
    }

    #[test]
    fn what_does_nothing_makes_room() {
        let table = Table::new(3, 3);
        let mut pairs: Vec<_> = (0..5).map(|_| pair()).collect();
        let mut places: Vec<_> = pairs[..3]
            .iter()
            .map(|(_, far)| table.enter(far).unwrap())
            .collect();
        // The first has sent something, the second is served, the third is idle: it goes.
        pairs[0].0.write_all(b"x").unwrap();
        assert!(places[1].set(Doing::Busy) && places[2].set(Doing::Idle));
        let fourth = table.enter(&pairs[3].1).unwrap();
        assert!(ended(&mut pairs[2].0) && !places[2].set(Doing::Busy));
        assert!(!ended(&mut pairs[0].0) && !ended(&mut pairs[1].0));
        // Then the fourth, which has said nothing; then there is no room.
        let mut fifth = table.enter(&pairs[4].1).unwrap();
        assert!(ended(&mut pairs[3].0) && fifth.set(Doing::Busy));
        assert!(table.enter(&pairs[3].1).is_none());
        drop((places, fourth));
        assert!(table.enter(&pairs[3].1).is_some());
    }

    #[test]
    fn what_was_read_and_not_answered_stays() {
        let table = Table::new(2, 1);
        let mut pairs: Vec<_> = (0..3).map(|_| pair()).collect();
        let mut places: Vec<_> = pairs[..2]
            .iter()
            .map(|(_, far)| table.enter(far).unwrap())
            .collect();
        // One that asks and one that was answered, which has sent its next request along with the last.
        assert!(places[1].set(Doing::Idle));
        for (_, far) in &pairs {
            far.set_wants_more(false);
        }
        assert!(table.enter(&pairs[2].1).is_none());
        assert!(places[0].set(Doing::Idle));
        assert!(!pairs.iter_mut().any(|(near, _)| ended(near)));
        pairs[1].1.set_wants_more(true);
        assert!(table.enter(&pairs[2].1).is_some());
        let gone: Vec<bool> = pairs.iter_mut().map(|(near, _)| ended(near)).collect();
        assert_eq!(gone, [false, true, false]);
    }

    #[test]
    fn the_oldest_of_too_many_idle_ones_goes() {
        let table = Table::new(9, 2);
        let mut pairs: Vec<_> = (0..3).map(|_| pair()).collect();
        let mut places: Vec<_> = pairs
            .iter()
            .map(|(_, far)| table.enter(far).unwrap())
            .collect();
        for at in [1, 0, 2] {
            assert!(places[at].set(Doing::Idle));
        }
        let gone: Vec<bool> = pairs.iter_mut().map(|(near, _)| ended(near)).collect();
        assert_eq!(gone, [false, true, false]);
        assert!(places[0].set(Doing::Busy));
        table.stop();
        assert!(!ended(&mut pairs[0].0) && ended(&mut pairs[2].0));
        assert!(!places[0].set(Doing::Idle) && ended(&mut pairs[0].0));
    }
}
