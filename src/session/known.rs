//! Input regions of an earlier server, found again while the log is read: nothing in the log tells of them, so they
//! begin and end where they were written down to.

use super::regions::{End, Moment, Record};
use super::state::State;

impl State {
    /// Feeds log bytes, stopping where an earlier server's input regions began or ended.
    pub(super) fn feed(&mut self, bytes: &[u8], replay: bool) {
        let mut rest = bytes;
        while let Some(next) = self.known_stop() {
            let until = usize::try_from(next.saturating_sub(self.offset())).unwrap_or(usize::MAX);
            if until > rest.len() {
                break;
            }
            let (part, after) = rest.split_at(until);
            self.feed_echo(part, replay);
            rest = after;
            // At the end of the bytes records of times.log may come first.
            if !self.pass_known(!rest.is_empty()) && rest.is_empty() {
                break;
            }
        }
        self.feed_echo(rest, replay);
    }

    /// The next offset at which one begins or ends.
    fn known_stop(&self) -> Option<u64> {
        let open = self.regions.open_input().map(|region| region.id);
        let last = self.regions.last_id();
        let stops = self.known.iter().filter_map(|record| {
            if Some(record.id) == open {
                record.end
            } else {
                (record.id > last).then(|| record.opened())
            }
        });
        stops.filter(|&offset| offset >= self.offset()).min()
    }

    /// Begins and ends those whose place has come; all that are written down for this offset when `all`, else those
    /// that came before the next record of times.log. True when there was one.
    pub(super) fn pass_known(&mut self, all: bool) -> bool {
        let mut any = false;
        while !self.known.is_empty() && (self.end_known(all) || self.begin_known(all)) {
            any = true;
        }
        if !any && all {
            // Its number is not the next one here: the log is not the one that it was written for.
            let (last, offset) = (self.regions.last_id(), self.offset());
            self.known
                .retain(|record| record.id <= last || record.opened() != offset);
        }
        any
    }

    fn end_known(&mut self, all: bool) -> bool {
        let (offset, dated) = (self.offset(), self.log.dated);
        let Some(id) = self.regions.open_input().map(|region| region.id) else {
            return false;
        };
        let here = |record: &Record| {
            record.id == id && record.end == Some(offset) && (all || record.ends(dated))
        };
        let found = self.known.iter().position(here);
        let Some(record) = found.and_then(|at| self.known.remove(at)) else {
            return false;
        };
        let mark = if record.at_prompt {
            self.term.mark_line()
        } else {
            self.term.mark()
        };
        let at = Moment {
            ms: record.ended.unwrap_or(record.started),
            ..self.moment()
        };
        let end = End {
            status: Some(record.status),
            at_prompt: record.at_prompt,
            ..End::default()
        };
        self.regions.close(&mut self.term, id, mark, at, end);
        true
    }

    fn begin_known(&mut self, all: bool) -> bool {
        let (offset, dated) = (self.offset(), self.log.dated);
        let next = self.regions.last_id() + 1;
        let here = |record: &&Record| {
            record.id == next && record.opened() == offset && (all || record.begins(dated))
        };
        let Some(record) = self.known.iter().find(here).cloned() else {
            return false;
        };
        let mark = self.term.mark();
        let at = Moment {
            ms: record.started,
            ..self.moment()
        };
        self.regions
            .input(&mut self.term, record.label, record.who, mark, at);
        if record.given.is_none() {
            self.regions.never_echoed();
        }
        true
    }
}
