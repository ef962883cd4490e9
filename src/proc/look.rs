//! One look at a terminal: its foreground job, what of it waits, and what lies behind a relay.

use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::sys::termios::{self, Mode};

use super::blocked::{By, Looker, Sight, Watch};
use super::files::{Device, OpenFiles};
use super::people;
use super::{Foreground, Pid, Proc, Process, Tree, Tty, Verdict, View};

#[cfg(test)]
mod tests;

/// Terminals within terminals that are followed: sudo in script in a session is two.
const MAX_RELAYS: u8 = 3;

/// A terminal whose mode changed while its processes were looked at is looked at again, so often.
const MAX_LOOKS: u8 = 4;

/// A terminal as it is now.
#[derive(Clone, Debug)]
pub(super) struct Terminal {
    path: PathBuf,
    tty: Tty,
    instance: Option<u64>,
    mode: Option<Mode>,
    unread: usize,
}

impl Terminal {
    /// None when the path is no device.
    fn open(path: &Path) -> Option<Self> {
        let file = std::fs::metadata(path)
            .ok()
            .filter(|file| file.file_type().is_char_device())?;
        let terminal = termios::open(path).ok();
        Some(Self {
            path: path.to_owned(),
            tty: Tty::from_rdev(file.rdev()),
            instance: Some(file.dev()),
            mode: terminal
                .as_ref()
                .and_then(|terminal| termios::mode(terminal).ok()),
            unread: terminal
                .as_ref()
                .and_then(|terminal| termios::unread(terminal).ok())
                .unwrap_or(0),
        })
    }

    fn device(&self) -> Device<'_> {
        Device {
            path: &self.path,
            tty: self.tty,
            instance: self.instance,
        }
    }

    fn canonical(&self) -> bool {
        self.mode.is_none_or(|mode| mode.canonical)
    }

    fn hides_a_line(&self) -> bool {
        self.mode.is_some_and(Mode::hides_a_line)
    }
}

/// What is found on one terminal.
struct Finding {
    verdict: Verdict,
    hedged: bool,
    by: Option<By>,
    alone: bool,
    process: Option<Process>,
    running: bool,
    relays: u8,
    secret: bool,
    unread: usize,
}

impl Finding {
    fn plain(verdict: Verdict, process: Option<&Process>) -> Self {
        Self {
            verdict,
            hedged: false,
            by: None,
            alone: false,
            running: process.is_some_and(Process::is_running),
            process: process.cloned(),
            relays: 0,
            secret: false,
            unread: 0,
        }
    }
}

pub(super) fn look(proc: &Proc, pane_pid: Pid, path: &Path) -> View {
    let mut looks = MAX_LOOKS;
    loop {
        let tree = proc.tree();
        let terminal = Terminal::open(path);
        let view = judge(proc, &tree, pane_pid, terminal.as_ref());
        looks -= 1;
        // A shell that has just taken its terminal back would look like a program that reads whole lines.
        let mode = |terminal: Option<Terminal>| terminal.and_then(|terminal| terminal.mode);
        if looks == 0 || mode(Terminal::open(path)) == mode(terminal) {
            return view;
        }
    }
}

/// As [`look`], of a tree and a terminal that were looked at already.
fn judge(proc: &Proc, tree: &Tree, pane_pid: Pid, terminal: Option<&Terminal>) -> View {
    let pane = tree.get(pane_pid).filter(|pane| !pane.is_dead());
    let mut foreground = None;
    let finding = match (pane, terminal) {
        (None, _) => Finding::plain(Verdict::Gone, None),
        (Some(_), None) => Finding::plain(Verdict::Unknown, None),
        (Some(pane), Some(terminal)) => match session_on(tree, pane, terminal) {
            None => Finding::plain(Verdict::Unknown, None),
            Some(owner) => {
                foreground = front(proc, tree, pane, owner);
                Scene {
                    proc,
                    tree,
                    terminal,
                    session: owner.session,
                    depth: 0,
                }
                .judge()
            }
        },
    };
    View {
        verdict: finding.verdict,
        hedged: finding.hedged,
        waits_by: finding.by.map(Into::into),
        alone: finding.alone,
        foreground,
        cpu_ticks: finding
            .process
            .as_ref()
            .map_or(0, |process| process.cpu_ticks),
        process: finding.process.map(|process| proc.named(&process)),
        relays: finding.relays,
        secret: finding.secret,
        canonical: terminal.is_none_or(Terminal::canonical),
        echo: terminal
            .and_then(|terminal| terminal.mode)
            .is_none_or(|mode| mode.echo),
        unread: finding
            .unread
            .max(terminal.map_or(0, |terminal| terminal.unread)),
        running: finding.running,
    }
}

/// A process of the session that the terminal belongs to: the pane's own, unless its number comes from another PID
/// namespace and means another process here.
fn session_on<'a>(tree: &'a Tree, pane: &'a Process, terminal: &Terminal) -> Option<&'a Process> {
    if pane.tty == Some(terminal.tty) {
        Some(pane)
    } else {
        tree.on(terminal.tty).next()
    }
}

fn front(proc: &Proc, tree: &Tree, pane: &Process, owner: &Process) -> Option<Foreground> {
    let pgrp = owner.tpgid?;
    let alive = || tree.group(pgrp).filter(|member| !member.is_dead());
    let leader = alive()
        .find(|member| member.pid == pgrp)
        .or_else(|| alive().min_by_key(|member| member.start_time));
    Some(proc.name_foreground(pane, pgrp, leader))
}

/// A terminal and the session that it controls.
struct Scene<'a> {
    proc: &'a Proc,
    tree: &'a Tree,
    terminal: &'a Terminal,
    session: Pid,
    depth: u8,
}

impl Scene<'_> {
    fn judge(&self) -> Finding {
        let members: Vec<&Process> = self
            .tree
            .on(self.terminal.tty)
            .filter(|member| member.session == self.session)
            .collect();
        let Some(pgrp) = members.iter().find_map(|member| member.tpgid) else {
            return self.unseen();
        };
        let mut group: Vec<&Process> = members
            .iter()
            .copied()
            .filter(|member| member.pgrp == pgrp && !member.is_dead())
            .collect();
        group.sort_by_key(|member| (member.pid != pgrp, member.start_time, member.pid));
        let Some(leader) = group.first().copied() else {
            return self.unseen();
        };
        group.retain(|member| !member.is_stopped());
        if group.is_empty() {
            return Finding::plain(Verdict::Stopped, Some(leader));
        }
        let mut sights: Vec<(&Process, Sight)> = group
            .iter()
            .map(|member| (*member, self.sight(member)))
            .collect();
        if !sights
            .iter()
            .any(|(_, sight)| matches!(sight.watch, Watch::Terminal(_)))
        {
            sights.extend(self.left_the_group(&group, pgrp));
        }
        self.weigh(leader, &sights)
    }

    fn sight(&self, process: &Process) -> Sight {
        let device = self.terminal.device();
        Looker {
            proc: self.proc,
            process,
            device: &device,
            canonical: self.terminal.canonical(),
        }
        .look()
    }

    /// Descendants of the foreground group outside it that hold the terminal. One in another session can read it at
    /// any time. One in another group of this session cannot, and would be stopped for trying: it counts only when
    /// a read that it began in the foreground is still going on.
    fn left_the_group(&self, group: &[&Process], pgrp: Pid) -> Vec<(&Process, Sight)> {
        let outside = self
            .tree
            .descendants(group.iter().map(|member| member.pid))
            .into_iter();
        outside
            .filter(|process| process.pgrp != pgrp && !process.is_dead() && !process.is_stopped())
            .map(|process| (process, self.sight(process)))
            .filter(|(process, sight)| match sight.watch {
                Watch::Terminal(By::Read) => true,
                Watch::Terminal(By::Poll) => process.session != self.session,
                // sudo's monitor and the like hold the terminal, and poll something else.
                _ => false,
            })
            .collect()
    }

    /// Of what watches the terminal, or may, the likeliest decides; a relay is asked only where nothing else
    /// watches.
    fn weigh(&self, leader: &Process, sights: &[(&Process, Sight)]) -> Finding {
        let mut relayed: Option<Finding> = None;
        let mut watchers: Vec<&(&Process, Sight)> = sights
            .iter()
            .filter(|(_, sight)| sight.watch > Watch::Elsewhere)
            .collect();
        // Stable: of equals the leader first, then the oldest.
        watchers.sort_by_key(|(_, sight)| std::cmp::Reverse(sight.watch));
        for (process, sight) in watchers {
            match self.behind(process, sight) {
                Some(inner)
                    if relayed
                        .as_ref()
                        .is_none_or(|other| rank(inner.verdict) > rank(other.verdict)) =>
                {
                    relayed = Some(inner);
                }
                Some(_) => {}
                None => {
                    let own = self.own(process, sight);
                    if own.verdict != Verdict::Working || relayed.is_none() {
                        return own;
                    }
                }
            }
        }
        if let Some(relayed) = relayed {
            return relayed;
        }
        // A nested tmux or screen hands its terminal to a server and does not watch it itself.
        let remote = sights
            .iter()
            .find(|(process, _)| !self.terminal.canonical() && self.is_remote(process));
        match remote {
            Some((process, _)) => Finding::plain(Verdict::Remote, Some(process)),
            None => self.working(leader, sights),
        }
    }

    fn working(&self, leader: &Process, sights: &[(&Process, Sight)]) -> Finding {
        let running = sights
            .iter()
            .any(|(process, sight)| process.pid == leader.pid && sight.running);
        Finding {
            running,
            ..Finding::plain(Verdict::Working, Some(leader))
        }
    }

    /// The verdict on one process that watches the terminal, or may.
    fn own(&self, process: &Process, sight: &Sight) -> Finding {
        let finding = |verdict, hedged, by| Finding {
            verdict,
            hedged,
            by,
            alone: sight.alone && verdict == Verdict::Waiting,
            running: sight.running,
            secret: verdict == Verdict::Waiting && self.terminal.hides_a_line(),
            unread: self.terminal.unread,
            ..Finding::plain(verdict, Some(process))
        };
        match sight.watch {
            Watch::Terminal(by) | Watch::Likely(by) if self.is_remote(process) => {
                let asks_itself = self.terminal.canonical() && by == By::Read;
                // One with threads has one in a read at all times, also while it takes leave of the place.
                let hedged = matches!(sight.watch, Watch::Likely(_)) || process.threads > 1;
                if asks_itself {
                    finding(
                        Verdict::Waiting,
                        hedged && !self.terminal.hides_a_line(),
                        Some(by),
                    )
                } else {
                    finding(Verdict::Remote, false, None)
                }
            }
            Watch::Terminal(by) => finding(Verdict::Waiting, false, Some(by)),
            // Who hides a line asks for one: the only use of that mode.
            Watch::Likely(by) | Watch::Unlikely(by) if self.terminal.hides_a_line() => {
                finding(Verdict::Waiting, false, Some(by))
            }
            Watch::Hidden if self.terminal.hides_a_line() => finding(Verdict::Waiting, false, None),
            Watch::Likely(by) => finding(Verdict::Waiting, true, Some(by)),
            Watch::Hidden => finding(Verdict::Unknown, false, None),
            Watch::Unlikely(_) => finding(Verdict::Working, true, None),
            Watch::Elsewhere => finding(Verdict::Working, false, None),
        }
    }

    /// No process of the foreground group can be seen (hidepid, another PID namespace, or it ended just now).
    fn unseen(&self) -> Finding {
        if !self.terminal.hides_a_line() {
            return Finding::plain(Verdict::Unknown, None);
        }
        Finding {
            secret: true,
            unread: self.terminal.unread,
            ..Finding::plain(Verdict::Waiting, None)
        }
    }

    fn is_remote(&self, process: &Process) -> bool {
        people::is_remote(&self.proc.cmdline(process.pid), &process.comm)
    }

    /// What is found on the terminals that this process relays to. None when it relays to none, or nothing lives
    /// there.
    fn behind(&self, relay: &Process, sight: &Sight) -> Option<Finding> {
        match sight.watch {
            // A relay waits for both terminals: one thread cannot do so in a read.
            Watch::Terminal(By::Read) | Watch::Likely(By::Read) if relay.threads <= 1 => {
                return None;
            }
            Watch::Terminal(_) => {}
            // Raw is how a relay leaves the outer terminal. What only may watch a cooked one, such as a test driver
            // in poll, is taken to have the inner one for itself.
            _ if self.terminal.canonical() => return None,
            _ => {}
        }
        let inner = self
            .inner_sessions(relay, sight)
            .into_iter()
            .map(|(index, session)| self.inner(index, session));
        inner
            .max_by_key(|inner| rank(inner.verdict))
            .filter(|inner| rank(inner.verdict) > rank(Verdict::Stopped))
    }

    fn inner(&self, index: u32, session: Pid) -> Finding {
        if self.depth >= MAX_RELAYS {
            return Finding {
                relays: self.depth,
                ..Finding::plain(Verdict::Unknown, None)
            };
        }
        let terminal = self.open_inner(index, session);
        let scene = Scene {
            terminal: &terminal,
            session,
            depth: self.depth + 1,
            ..*self
        };
        let finding = scene.judge();
        Finding {
            relays: finding.relays.max(self.depth + 1),
            ..finding
        }
    }

    /// Opens a terminal by the name that it has where its own processes live: in a container with a /dev/pts of its
    /// own, our terminal of that number is another one.
    fn open_inner(&self, index: u32, session: Pid) -> Terminal {
        let tty = Tty::pts(index);
        let path = PathBuf::from(format!("/dev/pts/{index}"));
        let member = self.tree.on(tty).find(|member| member.session == session);
        let theirs = member.and_then(|member| {
            self.proc
                .allowed(member.pid, &format!("root/dev/pts/{index}"))
                .ok()
        });
        let opened = theirs
            .as_deref()
            .and_then(Terminal::open)
            .or_else(|| Terminal::open(&path));
        match opened {
            Some(terminal) => Terminal { path, ..terminal },
            None => Terminal {
                path,
                tty,
                instance: None,
                mode: None,
                unread: 0,
            },
        }
    }

    /// Numbers of the terminals whose master side the process holds and waits for, with the session on each: one
    /// that descends from the relay, else the only one there is.
    ///
    /// Where its descriptors cannot be seen (sudo), its descendants' other terminals say the same.
    fn inner_sessions(&self, relay: &Process, sight: &Sight) -> Vec<(u32, Pid)> {
        let device = self.terminal.device();
        let files = OpenFiles {
            proc: self.proc,
            thread: relay.pid,
            tty: relay.tty,
            device: &device,
        };
        let family = self.tree.descendants([relay.pid]);
        let mut found: Vec<(u32, Pid)> = Vec::new();
        if let Some(held) = files.held() {
            let seen = sight.watched.as_deref();
            let mut masters = held.masters;
            masters.retain(|fd| seen.is_none_or(|watched| watched.contains(fd)));
            let inner = masters.iter().filter_map(|fd| files.slave_index(*fd));
            found.extend(inner.filter_map(|index| Some((index, self.session_on(index, &family)?))));
        } else {
            let others = family
                .iter()
                .filter_map(|child| Some((child.tty?, child.session)));
            let inner = others.filter(|(tty, _)| *tty != self.terminal.tty);
            found.extend(inner.filter_map(|(tty, session)| Some((tty.pts_index()?, session))));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A terminal of a container may have the same number: the relay's own family goes before all others.
    fn session_on(&self, index: u32, family: &[&Process]) -> Option<Pid> {
        let tty = Tty::pts(index);
        if let Some(own) = family.iter().find(|process| process.tty == Some(tty)) {
            return Some(own.session);
        }
        let mut sessions = self.tree.on(tty).map(|process| process.session);
        let first = sessions.next()?;
        sessions.all(|session| session == first).then_some(first)
    }
}

/// Of several terminals behind one relay, that which asks for something counts, then that which can be told most
/// about.
fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Waiting => 5,
        Verdict::Working => 4,
        Verdict::Remote => 3,
        Verdict::Unknown => 2,
        Verdict::Stopped => 1,
        Verdict::Gone => 0,
    }
}
