//! Whether one process sleeps until its terminal has input. Knows nothing of groups, relays or verdicts.

use std::io;
use std::os::unix::fs::FileExt;

use super::call::{self, Call, Channel};
use super::files::{Device, Held, INPUT_EVENTS, OpenFiles};
use super::people;
use super::stat::number;
use super::{Pid, Proc, Process, WaitsBy};

/// Threads of one process that are looked at: a Java virtual machine has hundreds, the one that reads comes early.
const MAX_THREADS: usize = 512;

/// Bytes of a set of descriptors that are read: 2,048 entries of a poll. Larger sets are those of servers, which
/// are then judged by their wait channel.
const MAX_SET_BYTES: usize = 16_384;

/// `struct pollfd`: an int, then two shorts, of which the first is what is asked for (poll(2)).
const POLL_ENTRY_BYTES: usize = 8;

/// Whether something waits for the terminal. Of several, the greatest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Watch {
    /// It runs, or sleeps for something else.
    Elsewhere,
    /// It sleeps where a wait for the terminal would, and rather for something else.
    Unlikely(By),
    /// What it sleeps in cannot be seen.
    Hidden,
    /// It sleeps where a wait for the terminal would, and likely for that.
    Likely(By),
    /// It waits for the terminal.
    Terminal(By),
}

/// [`WaitsBy`], ordered: a read says more than a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    Poll,
    Read,
}

impl From<By> for WaitsBy {
    fn from(by: By) -> Self {
        match by {
            By::Poll => Self::Poll,
            By::Read => Self::Read,
        }
    }
}

/// One process, looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sight {
    pub watch: Watch,
    /// Descriptors that its threads wait for input from. None when not all could be seen.
    pub watched: Option<Vec<u32>>,
    /// A thread was on a processor.
    pub running: bool,
    /// Its only thread sleeps until the terminal has input, and for nothing else: no other descriptor, no time.
    pub alone: bool,
}

/// Looks at the threads of one process.
pub(super) struct Looker<'a> {
    pub proc: &'a Proc,
    pub process: &'a Process,
    pub device: &'a Device<'a>,
    /// ICANON of the terminal, true when unknown.
    pub canonical: bool,
}

impl Looker<'_> {
    pub fn look(&self) -> Sight {
        let running = self.process.is_running();
        let mut sight = Sight {
            watch: Watch::Elsewhere,
            watched: Some(Vec::new()),
            running,
            alone: false,
        };
        let mut held = None;
        for thread in self.threads() {
            let watch = match self.strong(thread) {
                Strong::Sees(watch, fds, alone) => {
                    sight.alone = alone && self.process.threads <= 1;
                    if let Some(watched) = &mut sight.watched {
                        watched.extend(fds);
                    }
                    watch
                }
                Strong::Runs => {
                    sight.running = true;
                    continue;
                }
                Strong::Hidden => {
                    let state = self.state(thread);
                    sight.running |= state == b'R';
                    sight.watched = None;
                    self.weak(thread, state, &mut held)
                }
            };
            sight.watch = sight.watch.max(watch);
        }
        sight
    }

    fn threads(&self) -> Vec<Pid> {
        let pid = self.process.pid;
        if self.process.threads <= 1 {
            return vec![pid];
        }
        let Ok(entries) = self.proc.folder(pid, "task") else {
            return vec![pid];
        };
        let threads = entries
            .flatten()
            .filter_map(|entry| number(entry.file_name().as_encoded_bytes()).map(Pid));
        threads.take(MAX_THREADS).collect()
    }

    fn file(&self, thread: Pid, name: &str) -> io::Result<Vec<u8>> {
        self.proc
            .bytes(self.process.pid, &format!("task/{thread}/{name}"))
    }

    fn files(&self, thread: Pid) -> OpenFiles<'_> {
        OpenFiles {
            proc: self.proc,
            thread,
            tty: self.process.tty,
            device: self.device,
        }
    }

    fn state(&self, thread: Pid) -> u8 {
        if thread == self.process.pid {
            return self.process.state;
        }
        self.file(thread, "stat")
            .ok()
            .and_then(|line| Process::parse(&line))
            .map_or(b'S', |thread| thread.state)
    }

    fn channel(&self, thread: Pid) -> Channel {
        self.file(thread, "wchan")
            .map_or(Channel::Hidden, |name| Channel::parse(&name))
    }

    /// From the system call.
    fn strong(&self, thread: Pid) -> Strong {
        let Some(numbers) = call::NATIVE else {
            return Strong::Hidden;
        };
        let line = match self.file(thread, "syscall") {
            Ok(line) => line,
            Err(_) => return Strong::Hidden,
        };
        let Some(call) = Call::parse(&line, numbers) else {
            return Strong::Hidden;
        };
        let sleeps_elsewhere = Strong::Sees(Watch::Elsewhere, Vec::new(), false);
        let (by, watched) = match call {
            Call::Running => return Strong::Runs,
            Call::Other => return sleeps_elsewhere,
            Call::Ring => return Strong::Sees(Watch::Hidden, Vec::new(), false),
            Call::Read { fd } => (By::Read, Some(vec![fd])),
            Call::Poll { entries, count } => (By::Poll, self.poll_watched(thread, entries, count)),
            Call::Select { set, count } => (By::Poll, self.select_watched(thread, set, count)),
            Call::Epoll { fd } => (By::Poll, self.files(thread).epoll_watched(fd)),
            Call::Resumed { entries, count } => match self.channel(thread) {
                Channel::Poll => (By::Poll, self.poll_watched(thread, entries, count)),
                Channel::Hidden => return Strong::Hidden,
                _ => return sleeps_elsewhere,
            },
        };
        let Some(watched) = watched else {
            return Strong::Hidden;
        };
        let files = self.files(thread);
        let only = |fd: &u32| files.has_terminal(&[*fd]) == Some(true);
        match files.has_terminal(&watched) {
            Some(true) => {
                let alone = call::unlimited(&line, numbers) && watched.iter().all(only);
                Strong::Sees(Watch::Terminal(by), watched, alone)
            }
            Some(false) => Strong::Sees(Watch::Elsewhere, watched, false),
            None => Strong::Hidden,
        }
    }

    fn poll_watched(&self, thread: Pid, entries: u64, count: u64) -> Option<Vec<u32>> {
        let bytes = usize::try_from(count).ok()?.checked_mul(POLL_ENTRY_BYTES)?;
        let memory = self.memory(thread, entries, bytes)?;
        let wanted = memory.chunks_exact(POLL_ENTRY_BYTES).filter_map(|entry| {
            let fd = i32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]);
            let events = u16::from_ne_bytes([entry[4], entry[5]]);
            // A negative descriptor is an entry that is switched off.
            u32::try_from(fd)
                .ok()
                .filter(|_| u32::from(events) & INPUT_EVENTS != 0)
        });
        Some(wanted.collect())
    }

    fn select_watched(&self, thread: Pid, set: u64, count: u64) -> Option<Vec<u32>> {
        if set == 0 {
            return Some(Vec::new());
        }
        // Sets are made of longs; in little-endian byte order bit N is bit N % 8 of byte N / 8.
        let memory = self.memory(thread, set, usize::try_from(count).ok()?.div_ceil(8))?;
        let bits = (0..u32::try_from(count).ok()?).zip(
            memory
                .iter()
                .flat_map(|byte| (0..8).map(move |bit| byte >> bit)),
        );
        Some(
            bits.filter(|(_, bit)| bit & 1 != 0)
                .map(|(fd, _)| fd)
                .collect(),
        )
    }

    /// The process's memory. None when it is not ours to see, or not there any more.
    fn memory(&self, thread: Pid, address: u64, bytes: usize) -> Option<Vec<u8>> {
        if bytes > MAX_SET_BYTES {
            return None;
        }
        let mut memory = vec![0; bytes];
        let file = std::fs::File::open(self.proc.allowed(thread, "mem").ok()?).ok()?;
        file.read_exact_at(&mut memory, address).ok()?;
        Some(memory)
    }

    /// From the wait channel, the open files and the terminal's mode.
    fn weak(&self, thread: Pid, state: u8, held: &mut Option<Option<Held>>) -> Watch {
        let channel = self.channel(thread);
        match channel {
            // On a processor, or ended since.
            Channel::Hidden if state == b'R' || !self.still_there(thread) => {
                return Watch::Elsewhere;
            }
            Channel::Hidden | Channel::Ring => return Watch::Hidden,
            Channel::Other => return Watch::Elsewhere,
            Channel::Read | Channel::Poll | Channel::Epoll => {}
        }
        let held = held.get_or_insert_with(|| self.files(thread).held());
        let Some(held) = held else {
            return Watch::Hidden;
        };
        if !held.terminal {
            return Watch::Elsewhere;
        }
        let raw = !self.canonical;
        let (by, certain, likely) = match channel {
            Channel::Read => (By::Read, !held.alike, raw || self.is_remote()),
            Channel::Poll => (
                By::Poll,
                raw && held.only_terminal(),
                raw || held.only_terminal(),
            ),
            _ => {
                let files = self.files(thread);
                let watches = |fd: &u32| {
                    files
                        .epoll_watched(*fd)
                        .and_then(|watched| files.has_terminal(&watched))
                };
                let watching = held
                    .epolls
                    .iter()
                    .filter(|fd| watches(fd) == Some(true))
                    .count();
                if watching == 0 {
                    return Watch::Elsewhere;
                }
                (By::Poll, raw || watching == held.epolls.len(), true)
            }
        };
        if certain {
            Watch::Terminal(by)
        } else if likely {
            Watch::Likely(by)
        } else {
            Watch::Unlikely(by)
        }
    }

    fn is_remote(&self) -> bool {
        people::is_remote(&self.proc.cmdline(self.process.pid), &self.process.comm)
    }

    fn still_there(&self, thread: Pid) -> bool {
        self.file(thread, "stat").is_ok()
    }
}

/// What the system call of a thread tells.
enum Strong {
    /// What it is, the descriptors that it waits for, and whether for the terminal and nothing else.
    Sees(Watch, Vec<u32>, bool),
    Runs,
    /// It could not be read: the wait channel has to do.
    Hidden,
}
