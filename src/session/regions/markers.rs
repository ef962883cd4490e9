//! From a shell's markers to regions: a stack of shells, innermost last, each at its prompt, between, or running a
//! command.

use super::{End, Kind, Moment, RegionId, Regions, Status, Typed};
use crate::term::{MarkId, Marker, MarkerKind, Terminal};

/// A shell whose markers we have seen, innermost last.
#[derive(Debug)]
pub(super) struct Shell {
    pub(super) pid: u32,
    pub(super) host: Option<String>,
    pub(super) user: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) state: At,
    /// It draws its line again after whatever printed below the prompt, and edits several lines at once: zsh and
    /// fish, not bash.
    pub(super) redraws: bool,
    /// Where the running command's output ended, when the shell has said so before it filled up the line.
    pub(super) output_end: Option<MarkId>,
}

#[derive(Debug)]
pub(super) enum At {
    /// It has said hello and prints no prompt yet, or is between a command's end and its prompt.
    Between,
    /// At its prompt. Each segment is a stretch of typed text: from a B to the start of the next continuation
    /// prompt.
    Prompt {
        segments: Vec<Segment>,
        open: Option<MarkId>,
        continuation: bool,
        newline: u64,
        drawn: u64,
    },
    Running(RegionId),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) from: MarkId,
    pub(super) to: Option<MarkId>,
}

/// The innermost shell with markers.
#[derive(Clone, Debug)]
pub struct Innermost {
    pub pid: u32,
    /// `user@host`, as its prompt has told.
    pub place: Option<String>,
}

impl Shell {
    fn place(&self) -> Option<String> {
        Some(format!("{}@{}", self.user.as_ref()?, self.host.as_ref()?))
    }
}

impl Regions {
    /// Who typed the line that becomes a region now.
    pub(super) fn next_typist(&mut self, kind: Kind) -> Option<String> {
        if kind == Kind::Command && self.expected_more > 0 {
            self.expected_more -= 1;
            self.expected_follows = true;
            return self.expected.clone();
        }
        self.expected_more = 0;
        self.expected.take()
    }

    /// The line that an earlier server has typed, when this is it. Any other command in its place tells that it was
    /// never typed.
    pub(super) fn former_line(&mut self, kind: Kind, label: &str) -> Option<Typed> {
        match kind {
            Kind::Command => self.former.take().filter(|line| line.typed == label),
            Kind::Input => None,
        }
    }

    pub fn innermost(&self) -> Option<Innermost> {
        self.shells.last().map(|shell| Innermost {
            pid: shell.pid,
            place: shell.place(),
        })
    }

    /// The place of the innermost shell, unless that is home.
    pub(super) fn marked_place(&self) -> Option<String> {
        let place = self.shells.last()?.place()?;
        (place != self.home).then_some(place)
    }

    /// Takes a marker that stood at `mark` in the log.
    pub fn marker(&mut self, term: &mut Terminal, marker: Marker, mark: MarkId, at: Moment) {
        let Some(pid) = marker.pid else {
            term.release(mark);
            return;
        };
        self.integrated = true;
        match marker.kind {
            MarkerKind::Hello { ref shell, .. } => {
                let redraws = shell != "bash";
                self.hello(term, pid, &marker, at);
                if let Some(shell) = self.shells.last_mut() {
                    shell.redraws = redraws;
                }
                term.release(mark);
            }
            MarkerKind::PromptStart => self.prompt_start(term, pid, &marker, mark, at),
            MarkerKind::Continuation => self.continuation(term, pid, mark),
            MarkerKind::PromptEnd => self.prompt_end(term, pid, mark, at),
            MarkerKind::OutputStart => self.output_start(term, pid, mark, at),
            MarkerKind::Done { status, pipestatus } => {
                self.done(term, pid, status, pipestatus, mark, at)
            }
            MarkerKind::OutputEnd => self.output_end(term, pid, mark),
            // It is an answer, and has been taken as one.
            MarkerKind::Which { .. } => term.release(mark),
        }
    }

    /// zsh says where output ended before it puts its own mark and blanks after an unfinished line.
    fn output_end(&mut self, term: &mut Terminal, pid: u32, mark: MarkId) {
        let earlier = match self
            .position(pid, None)
            .map(|index| &mut self.shells[index])
        {
            Some(shell) if matches!(shell.state, At::Running(_)) => shell.output_end.replace(mark),
            _ => Some(mark),
        };
        earlier.into_iter().for_each(|mark| term.release(mark));
    }

    fn position(&self, pid: u32, host: Option<&String>) -> Option<usize> {
        // Only A names the host; a shell on another machine may have the same process id.
        self.shells.iter().rposition(|shell| {
            shell.pid == pid
                && (host.is_none() || shell.host.is_none() || shell.host.as_ref() == host)
        })
    }

    /// A shell starts. One with the same process id was replaced by it (exec): what it ran has ended, how is
    /// unknown.
    fn hello(&mut self, term: &mut Terminal, pid: u32, marker: &Marker, at: Moment) {
        if let Some(index) = self.position(pid, marker.host.as_ref()) {
            self.leave(term, index, at);
        }
        self.shells.push(Shell {
            pid,
            host: marker.host.clone(),
            user: marker.user.clone(),
            cwd: marker.cwd.clone(),
            state: At::Between,
            redraws: false,
            output_end: None,
        });
    }

    /// Forgets the shells from `index` on; what they ran is lost.
    pub(super) fn leave(&mut self, term: &mut Terminal, index: usize, at: Moment) {
        for shell in self.shells.split_off(index) {
            match shell.state {
                At::Running(id) => {
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
                state => release(term, state),
            }
        }
    }

    fn prompt_start(
        &mut self,
        term: &mut Terminal,
        pid: u32,
        marker: &Marker,
        mark: MarkId,
        at: Moment,
    ) {
        let index = match self.position(pid, marker.host.as_ref()) {
            Some(index) => {
                self.leave(term, index + 1, at);
                index
            }
            None => {
                self.shells.push(Shell {
                    pid,
                    host: None,
                    user: None,
                    cwd: None,
                    state: At::Between,
                    redraws: false,
                    output_end: None,
                });
                self.shells.len() - 1
            }
        };
        let shell = &mut self.shells[index];
        for (own, named) in [
            (&mut shell.host, &marker.host),
            (&mut shell.user, &marker.user),
            (&mut shell.cwd, &marker.cwd),
        ] {
            if named.is_some() {
                own.clone_from(named);
            }
        }
        let new = At::Prompt {
            segments: Vec::new(),
            open: Some(mark),
            continuation: false,
            newline: self.newline,
            drawn: at.offset,
        };
        let old = std::mem::replace(&mut shell.state, new);
        // A line was submitted and has become no command (or it has ended): the next one is whoever's types it.
        if !matches!(old, At::Prompt { newline, .. } if newline == self.newline) {
            if !std::mem::take(&mut self.expected_follows) {
                self.expected = None;
                self.expected_more = 0;
            }
            self.expected_line = None;
            self.expected_place = None;
        }
        match old {
            // No D came for it: the user's own hook has replaced ours.
            At::Running(id) => {
                let end = term.mark();
                self.close(
                    term,
                    id,
                    end,
                    at,
                    End {
                        status: Some(Status::Lost),
                        ..End::default()
                    },
                );
            }
            state => release(term, state),
        }
    }

    fn continuation(&mut self, term: &mut Terminal, pid: u32, mark: MarkId) {
        let index = self.position(pid, None);
        let now = self.newline;
        match index.map(|index| &mut self.shells[index].state) {
            // Without a line break since the last prompt it is that one, drawn again.
            Some(At::Prompt {
                segments,
                open,
                continuation,
                newline,
                ..
            }) if *newline != now => {
                *newline = now;
                *continuation = true;
                if let Some(last) = segments.last_mut().filter(|last| last.to.is_none()) {
                    last.to = Some(mark);
                    if let Some(unused) = open.replace(term.mark()) {
                        term.release(unused);
                    }
                } else {
                    term.release(mark);
                }
            }
            _ => term.release(mark),
        }
    }

    fn prompt_end(&mut self, term: &mut Terminal, pid: u32, mark: MarkId, at: Moment) {
        let index = self.position(pid, None);
        match index.map(|index| &mut self.shells[index].state) {
            Some(At::Prompt {
                segments,
                open,
                drawn,
                ..
            }) => {
                *drawn = at.offset;
                match open.take() {
                    Some(start) => {
                        term.release(start);
                        segments.push(Segment {
                            from: mark,
                            to: None,
                        });
                    }
                    // A redraw without an A or S: the last before C wins.
                    None => match segments.last_mut() {
                        Some(last) => term.release(std::mem::replace(&mut last.from, mark)),
                        None => segments.push(Segment {
                            from: mark,
                            to: None,
                        }),
                    },
                }
            }
            _ => term.release(mark),
        }
    }

    fn output_start(&mut self, term: &mut Terminal, pid: u32, mark: MarkId, at: Moment) {
        let Some(index) = self.position(pid, None) else {
            // A shell whose prompt we have not seen: markers were cut off. Its command is one all the same.
            self.shells.push(Shell {
                pid,
                host: None,
                user: None,
                cwd: None,
                state: At::Between,
                redraws: false,
                output_end: None,
            });
            let id = self.open(Kind::Command, String::new(), mark, at);
            if let Some(shell) = self.shells.last_mut() {
                shell.state = At::Running(id);
            }
            return;
        };
        self.leave(term, index + 1, at);
        match std::mem::replace(&mut self.shells[index].state, At::Between) {
            // C C D is one block: several lines of one paste.
            At::Running(id) => {
                term.release(mark);
                self.shells[index].state = At::Running(id);
            }
            state => {
                let mut label = label(term, &state, mark);
                let former = self.former.as_ref().is_some_and(|it| it.typed == label);
                if let (false, true) = (former, one_segment(&state)) {
                    label = self.expected_line.take().unwrap_or(label);
                }
                release(term, state);
                let id = self.open(Kind::Command, label, mark, at);
                self.shells[index].state = At::Running(id);
            }
        }
    }

    fn done(
        &mut self,
        term: &mut Terminal,
        pid: u32,
        status: Option<i32>,
        pipestatus: Vec<i32>,
        mark: MarkId,
        at: Moment,
    ) {
        let Some(index) = self.position(pid, None) else {
            return term.release(mark);
        };
        match self.shells[index].state {
            At::Running(id) => {
                self.leave(term, index + 1, at);
                self.shells[index].state = At::Between;
                let mark = match self.shells[index].output_end.take() {
                    Some(end) => {
                        term.release(mark);
                        end
                    }
                    None => mark,
                };
                let pipestatus = if pipestatus.len() > 1 {
                    pipestatus
                } else {
                    Vec::new()
                };
                self.close(
                    term,
                    id,
                    mark,
                    at,
                    End {
                        exit: status,
                        pipestatus,
                        ..End::default()
                    },
                );
            }
            // An empty line, Ctrl-C at the prompt, a syntax error.
            _ => {
                self.idle_status = status.map(|status| (at.offset, status));
                term.release(mark);
            }
        }
    }
}

/// The typed text of a prompt, read from the grid: what the shell showed, not what was sent.
fn label(term: &Terminal, state: &At, end: MarkId) -> String {
    let At::Prompt { segments, .. } = state else {
        return String::new();
    };
    let texts = segments.iter().map(|segment| {
        let text = term.text_between(segment.from, segment.to.unwrap_or(end));
        text.trim_end().to_string()
    });
    texts.collect::<Vec<_>>().join("\n").trim().to_string()
}

fn one_segment(state: &At) -> bool {
    matches!(state, At::Prompt { segments, .. } if segments.len() == 1)
}

fn release(term: &mut Terminal, state: At) {
    if let At::Prompt { segments, open, .. } = state {
        for segment in segments {
            term.release(segment.from);
            segment.to.into_iter().for_each(|to| term.release(to));
        }
        open.into_iter().for_each(|open| term.release(open));
    }
}
