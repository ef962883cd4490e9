//! Regions: what one command, or one line given to a program, printed. Made from the shells' markers and from what
//! is typed.
//!
//! Must not know files or threads: it is fed events in log order and answers questions, so a replay of the log
//! gives the same.

use serde::{Deserialize, Serialize};

use crate::term::{MarkId, Position, Terminal};
use markers::{At, Shell};
pub use written::{Record, Typed};

mod markers;
mod saved;
mod written;

/// A region's number: 1, 2, ... in log order.
pub type RegionId = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A shell's command, by its markers.
    Command,
    /// A line given to a program (or to a shell without markers).
    Input,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Running,
    Done,
    /// It ended, but how is not known: its shell was replaced, was left, or dropped our hook.
    Lost,
}

/// Where a region begins or ends in the cooked log. A live place moves with its row until the row is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Live(MarkId),
    At(Position),
}

#[derive(Clone, Debug)]
pub struct Region {
    pub id: RegionId,
    pub kind: Kind,
    /// The command line, or the prompt and the line given at it.
    pub label: String,
    /// The agent that typed it; `None`: a person, or nobody that we know.
    pub who: Option<String>,
    /// Where it ran; `None`: on this host, as the server's own user.
    pub place: Option<String>,
    /// Milliseconds since the epoch.
    pub started: u64,
    pub ended: Option<u64>,
    /// Of an input region whose line is echoed: the offset in raw.log at which the line was given. Its output begins
    /// after the echo.
    pub given: Option<u64>,
    /// Of an input region: how much of times.log had been taken in when it began and when it ended.
    pub dated: Option<(u64, u64)>,
    /// Offsets in raw.log: the first byte of output, and the first byte after it.
    pub start_offset: u64,
    pub end_offset: Option<u64>,
    pub start: Place,
    pub end: Option<Place>,
    pub status: Status,
    pub exit: Option<i32>,
    /// Every stage's status of a pipeline, first to last; empty when unknown or of one stage.
    pub pipestatus: Vec<i32>,
    /// An input region that ended where its program's next prompt begins.
    pub at_prompt: bool,
}

impl Region {
    pub fn running(&self) -> bool {
        self.status == Status::Running
    }
}

/// A moment in the log: what the tracker is told with every event.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub offset: u64,
    pub ms: u64,
    /// Bytes of times.log that had been taken in: what stands at one offset has an order, too.
    pub dated: u64,
}

/// A prompt that a shell with markers waits at.
#[derive(Clone, Copy, Debug)]
pub struct AtPrompt {
    /// Where the line that is being typed begins.
    pub typed: MarkId,
    /// The shell wants the rest of an unfinished command.
    pub continuation: bool,
    /// The raw offset of the last line break before this prompt began. A prompt that is only drawn again, for a
    /// window of another size, has none after a line that was typed.
    pub newline: u64,
    /// The raw offset of the marker that ended this prompt's last drawing.
    pub drawn: u64,
    /// The shell draws its line again when something else has printed.
    pub redraws: bool,
}

/// How a region ends.
#[derive(Clone, Debug, Default)]
pub struct End {
    pub status: Option<Status>,
    pub exit: Option<i32>,
    pub pipestatus: Vec<i32>,
    /// At the start of the cursor's line, where a program's prompt stands.
    pub at_prompt: bool,
}

/// The regions of one session, and what its shells are doing.
#[derive(Debug, Default)]
pub struct Regions {
    list: Vec<Region>,
    shells: Vec<Shell>,
    /// Ids from here on may still have live places.
    unsettled: Vec<RegionId>,
    /// The line given to a program whose answer is not over yet.
    input: Option<RegionId>,
    echoing: bool,
    /// Whose line the next command is.
    pub expected: Option<String>,
    /// How many more commands of theirs follow it.
    pub expected_more: usize,
    /// The next prompt is the one at which such a command was typed.
    expected_follows: bool,
    /// The line itself, when it was typed by us: what the shell shows of it may be garbled (a prompt that began in
    /// the middle of a row).
    pub expected_line: Option<String>,
    /// What an earlier server was about to type as it ended: it may still be on its way.
    pub(super) former: Option<Typed>,
    /// Where the next line runs, as whoever types it sees it; a shell's own word goes before it.
    pub expected_place: Option<String>,
    /// `user@host` of the server's own: what ran there needs no place.
    home: String,
    /// The raw offset of the last line break, kept by whoever feeds the log.
    pub newline: u64,
    /// A shell with markers has been seen.
    pub integrated: bool,
    /// The last command end that belonged to no command (a syntax error): its offset and status.
    pub idle_status: Option<(u64, i32)>,
    /// Regions that opened or closed since the caller last took them.
    changed: Vec<RegionId>,
}

impl Regions {
    /// `home`: `user@host` of the server's own.
    pub fn new(home: String) -> Regions {
        Regions {
            home,
            ..Regions::default()
        }
    }

    pub fn all(&self) -> &[Region] {
        &self.list
    }

    pub fn get(&self, id: RegionId) -> Option<&Region> {
        self.list.get((id as usize).checked_sub(1)?)
    }

    pub fn last_id(&self) -> RegionId {
        self.list.len() as RegionId
    }

    pub fn take_changed(&mut self) -> Vec<RegionId> {
        let mut changed = std::mem::take(&mut self.changed);
        // One that opened and closed since is written once.
        changed.sort_unstable();
        changed.dedup();
        changed
    }

    /// The innermost command that runs.
    pub fn running(&self) -> Option<&Region> {
        self.shells
            .iter()
            .rev()
            .find_map(|shell| match shell.state {
                At::Running(id) => self.get(id),
                _ => None,
            })
    }

    /// All commands that run, outermost first.
    pub fn open_commands(&self) -> Vec<RegionId> {
        let running = |shell: &Shell| match shell.state {
            At::Running(id) => Some(id),
            _ => None,
        };
        self.shells.iter().filter_map(running).collect()
    }

    /// The line given to a program whose answer is not over yet.
    pub fn open_input(&self) -> Option<&Region> {
        self.get(self.input?)
    }

    /// The prompt of the innermost shell, when it waits at one.
    pub fn prompt(&self) -> Option<AtPrompt> {
        let shell = self.shells.last()?;
        match &shell.state {
            At::Prompt {
                segments,
                open: None,
                continuation,
                newline,
                drawn,
            } => Some(AtPrompt {
                typed: segments.last()?.from,
                continuation: *continuation,
                newline: *newline,
                drawn: *drawn,
                redraws: shell.redraws,
            }),
            _ => None,
        }
    }

    /// The innermost shell has ended a command and has not drawn its prompt yet.
    pub fn between(&self) -> bool {
        self.shells.last().is_some_and(|shell| match &shell.state {
            At::Between => true,
            At::Prompt { open, .. } => open.is_some(),
            At::Running(_) => false,
        })
    }

    /// The process id of the innermost shell, while it runs a command.
    pub fn running_shell(&self) -> Option<u32> {
        let shell = self.shells.last()?;
        matches!(shell.state, At::Running(_)).then_some(shell.pid)
    }

    /// The folder that the innermost shell's prompt named.
    pub fn folder(&self) -> Option<&str> {
        self.shells.last()?.cwd.as_deref()
    }

    fn open(&mut self, kind: Kind, label: String, mark: MarkId, at: Moment) -> RegionId {
        let id = self.last_id() + 1;
        let expected = self.expected_place.take();
        let place = match kind {
            Kind::Command => self.marked_place().or(expected),
            Kind::Input => expected,
        };
        let who = match self.former_line(kind, &label) {
            Some(former) => Some(former.who),
            None => self.next_typist(kind),
        };
        self.list.push(Region {
            id,
            kind,
            label,
            who,
            place,
            started: at.ms,
            ended: None,
            given: None,
            dated: None,
            start_offset: at.offset,
            end_offset: None,
            start: Place::Live(mark),
            end: None,
            status: Status::Running,
            exit: None,
            pipestatus: Vec::new(),
            at_prompt: false,
        });
        self.unsettled.push(id);
        self.changed.push(id);
        id
    }

    /// A line was given to a program: its answer begins at `mark`.
    pub fn input(
        &mut self,
        term: &mut Terminal,
        label: String,
        who: Option<String>,
        mark: MarkId,
        at: Moment,
    ) -> RegionId {
        if let Some(id) = self.open_input().map(|region| region.id) {
            let end = term.mark();
            self.close(term, id, end, at, End::default());
        }
        self.expected = who;
        let id = self.open(Kind::Input, label, mark, at);
        if let Some(region) = self.list.last_mut() {
            region.given = Some(at.offset);
            region.dated = Some((at.dated, at.dated));
        }
        self.input = Some(id);
        self.echoing = true;
        id
    }

    /// The line given to a program has not been echoed to its end yet: its answer has not begun.
    pub fn echoing(&self) -> bool {
        self.echoing && self.input.is_some()
    }

    /// The cursor has left the line that was typed: some editors move it down without a line break.
    pub fn below_echo(&self, term: &Terminal) -> bool {
        let line = match self.open_input().map(|region| region.start) {
            Some(Place::Live(mark)) => term.locate(mark).map(|at| at.line),
            Some(Place::At(at)) => Some(at.line),
            None => None,
        };
        line.is_some_and(|line| term.cursor().position.line > line)
    }

    /// The line break after a line given to a program has come: here its answer begins.
    pub fn echoed(&mut self, term: &mut Terminal, at: Moment) {
        self.echoing = false;
        let Some(region) = self.input.and_then(|id| self.list.get_mut(id as usize - 1)) else {
            return;
        };
        if let Place::Live(mark) = std::mem::replace(&mut region.start, Place::Live(term.mark())) {
            term.release(mark);
        }
        region.start_offset = at.offset;
        self.changed.push(region.id);
    }

    /// The line given last is not echoed: its answer begins at once.
    pub fn never_echoed(&mut self) {
        self.echoing = false;
        if let Some(region) = self.input.and_then(|id| self.list.get_mut(id as usize - 1)) {
            region.given = None;
        }
    }

    /// Takes back an input region that was opened for a line which was not typed after all.
    pub fn withdraw(&mut self, term: &mut Terminal, id: RegionId) {
        if self.input == Some(id) && self.last_id() == id {
            self.input = None;
            self.echoing = false;
            self.changed.retain(|changed| *changed != id);
            self.unsettled.retain(|unsettled| *unsettled != id);
            if let Some(Region {
                start: Place::Live(mark),
                ..
            }) = self.list.pop()
            {
                term.release(mark);
            }
        }
    }

    /// Ends a region at `mark`. One that has ended stays as it is.
    pub fn close(&mut self, term: &mut Terminal, id: RegionId, mark: MarkId, at: Moment, end: End) {
        // An input region lies inside its program's command: it cannot outlast it.
        if self
            .get(id)
            .is_some_and(|region| region.kind == Kind::Command)
        {
            if let Some(inner) = self
                .open_input()
                .map(|region| region.id)
                .filter(|&inner| inner > id)
            {
                let inner_mark = term.mark();
                self.close(term, inner, inner_mark, at, End::default());
            }
        }
        let Some(region) = self
            .list
            .get_mut((id as usize).wrapping_sub(1))
            .filter(|region| region.running())
        else {
            return term.release(mark);
        };
        if self.input == Some(id) {
            self.input = None;
        }
        region.end = Some(Place::Live(mark));
        region.end_offset = Some(at.offset);
        region.dated = region.dated.map(|(began, _)| (began, at.dated));
        region.ended = Some(at.ms);
        region.status = end.status.unwrap_or(Status::Done);
        region.exit = end.exit;
        region.pipestatus = end.pipestatus;
        region.at_prompt = end.at_prompt;
        self.changed.push(id);
    }

    /// Part of the log is missing: what ran may have ended in it, and nobody can say which shell is where.
    pub fn gap(&mut self, term: &mut Terminal, at: Moment) {
        self.leave(term, 0, at);
    }

    /// The session is over: nothing runs any more.
    pub fn over(&mut self, term: &mut Terminal, at: Moment) {
        self.leave(term, 0, at);
        if let Some(id) = self.open_input().map(|region| region.id) {
            let mark = term.mark();
            self.close(
                term,
                id,
                mark,
                at,
                End {
                    status: Some(Status::Lost),
                    ..End::default()
                },
            );
        }
    }

    /// Replaces live places that can no longer move by their positions, and lets the marks go.
    pub fn settle(&mut self, term: &mut Terminal) {
        let last = term.final_lines();
        // Each turn of the follower asks this of every region on the screen: it must not look for them there.
        self.unsettled.retain(|&id| {
            let Some(region) = self.list.get_mut((id as usize).wrapping_sub(1)) else {
                return false;
            };
            let mut live = region.running();
            for place in std::iter::once(&mut region.start).chain(region.end.as_mut()) {
                if let Place::Live(mark) = *place {
                    match term.settled(mark) {
                        Some(position) if position.line < last => {
                            term.release(mark);
                            *place = Place::At(position);
                        }
                        _ => live = true,
                    }
                }
            }
            live
        });
    }

    /// Where a region's output begins and ends now; a running one ends where the log does.
    pub fn bounds(&self, term: &Terminal, region: &Region) -> (Position, Option<Position>) {
        let resolve = |place: Place| match place {
            Place::At(position) => position,
            Place::Live(mark) => term.locate(mark).unwrap_or(Position {
                line: u64::MAX,
                byte: 0,
            }),
        };
        (resolve(region.start), region.end.map(resolve))
    }
}
