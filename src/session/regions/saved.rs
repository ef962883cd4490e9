//! The regions of a session as bytes and back, for its checkpoint. What is remembered only while a server lives (whose
//! line comes next) is not in it: after a restart it comes from what was written down.

use super::markers::{At, Segment, Shell};
use super::{Kind, Place, Region, Regions, Status};
use crate::term::codec::{Stored, stored};
use crate::term::{MarkId, Position};

impl Stored for Kind {
    fn save(&self, to: &mut Vec<u8>) {
        (*self == Kind::Input).save(to);
    }

    fn load(from: &mut &[u8]) -> Option<Kind> {
        let input = bool::load(from)?;
        Some(if input { Kind::Input } else { Kind::Command })
    }
}

impl Stored for Status {
    fn save(&self, to: &mut Vec<u8>) {
        (*self as u8).save(to);
    }

    fn load(from: &mut &[u8]) -> Option<Status> {
        let status = u8::load(from)?;
        [Status::Running, Status::Done, Status::Lost]
            .into_iter()
            .find(|known| *known as u8 == status)
    }
}

impl Stored for Place {
    fn save(&self, to: &mut Vec<u8>) {
        let (live, at) = match *self {
            Place::Live(mark) => (Some(mark), None),
            Place::At(position) => (None, Some(position)),
        };
        (live, at).save(to);
    }

    fn load(from: &mut &[u8]) -> Option<Place> {
        match <(Option<MarkId>, Option<Position>)>::load(from)? {
            (Some(mark), None) => Some(Place::Live(mark)),
            (None, Some(position)) => Some(Place::At(position)),
            _ => None,
        }
    }
}

stored!(Region {
    id,
    kind,
    label,
    who,
    place,
    started,
    ended,
    given,
    dated,
    start_offset,
    end_offset,
    start,
    end,
    status,
    exit,
    pipestatus,
    at_prompt,
});
stored!(Segment { from, to });
stored!(Shell {
    pid,
    host,
    user,
    cwd,
    state,
    redraws,
    output_end,
});

impl Stored for At {
    fn save(&self, to: &mut Vec<u8>) {
        match self {
            At::Between => 0u8.save(to),
            At::Prompt {
                segments,
                open,
                continuation,
                newline,
                drawn,
            } => {
                1u8.save(to);
                segments.save(to);
                (*open, *continuation).save(to);
                (*newline, *drawn).save(to);
            }
            At::Running(id) => {
                2u8.save(to);
                id.save(to);
            }
        }
    }

    fn load(from: &mut &[u8]) -> Option<At> {
        match u8::load(from)? {
            0 => Some(At::Between),
            1 => {
                let segments = Stored::load(from)?;
                let (open, continuation) = Stored::load(from)?;
                let (newline, drawn) = Stored::load(from)?;
                Some(At::Prompt {
                    segments,
                    open,
                    continuation,
                    newline,
                    drawn,
                })
            }
            2 => Stored::load(from).map(At::Running),
            _ => None,
        }
    }
}

impl Stored for Regions {
    fn save(&self, to: &mut Vec<u8>) {
        self.list.save(to);
        self.shells.save(to);
        self.unsettled.save(to);
        (self.input, self.echoing).save(to);
        self.newline.save(to);
        (self.integrated, self.idle_status).save(to);
    }

    fn load(from: &mut &[u8]) -> Option<Regions> {
        let (list, shells) = Stored::load(from)?;
        let unsettled = Stored::load(from)?;
        let (input, echoing) = Stored::load(from)?;
        let newline = Stored::load(from)?;
        let (integrated, idle_status) = Stored::load(from)?;
        let regions = Regions {
            list,
            shells,
            unsettled,
            input,
            echoing,
            newline,
            integrated,
            idle_status,
            ..Regions::new(crate::session::place::home())
        };
        regions.is_sound().then_some(regions)
    }
}

impl Regions {
    /// Can a session be in this state?
    fn is_sound(&self) -> bool {
        let numbered = self
            .list
            .iter()
            .zip(1..)
            .all(|(region, id)| region.id == id);
        let known = |id: &u32| self.get(*id).is_some();
        let running = self.shells.iter().all(|shell| match &shell.state {
            At::Running(id) => known(id),
            _ => true,
        });
        numbered && running && self.unsettled.iter().chain(&self.input).all(known)
    }

    /// The marks that places, prompts and typed lines stand at.
    pub fn marks(&self) -> Vec<MarkId> {
        let mut marks = Vec::new();
        let unsettled = self.unsettled.iter().filter_map(|id| self.get(*id));
        for place in unsettled.flat_map(|region| std::iter::once(region.start).chain(region.end)) {
            if let Place::Live(mark) = place {
                marks.push(mark);
            }
        }
        for shell in &self.shells {
            marks.extend(shell.output_end);
            if let At::Prompt { segments, open, .. } = &shell.state {
                marks.extend(open);
                marks.extend(segments.iter().map(|segment| segment.from));
                marks.extend(segments.iter().filter_map(|segment| segment.to));
            }
        }
        marks
    }
}
