//! Marks: anchors that stay with the text they were put at, through scrolling and re-flow, and into the log.

use std::collections::BTreeMap;

use super::cooked::Position;

/// Names a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MarkId(pub(super) u64);

/// A mark whose row may still change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub id: MarkId,
    /// `Row::id`.
    pub row: u64,
    pub col: usize,
}

/// All marks of a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub(super) next: u64,
    pub(super) live: Vec<Anchor>,
    pub(super) settled: BTreeMap<MarkId, Position>,
    /// Those of the settled whose line has not ended.
    pub(super) open: Vec<MarkId>,
}

impl Marks {
    pub fn add(&mut self, row: u64, col: usize) -> MarkId {
        let id = MarkId(self.next);
        self.next += 1;
        self.live.push(Anchor { id, row, col });
        id
    }

    pub fn release(&mut self, id: MarkId) {
        self.live.retain(|anchor| anchor.id != id);
        self.settled.remove(&id);
    }

    /// Releases every mark that is not wanted.
    pub fn retain(&mut self, wanted: impl Fn(MarkId) -> bool) {
        self.live.retain(|anchor| wanted(anchor.id));
        self.settled.retain(|id, _| wanted(*id));
    }

    pub fn anchor(&self, id: MarkId) -> Option<Anchor> {
        self.live.iter().find(|anchor| anchor.id == id).copied()
    }

    pub fn settled(&self, id: MarkId) -> Option<Position> {
        self.settled.get(&id).copied()
    }

    /// Puts a live mark somewhere else.
    pub fn put(&mut self, id: MarkId, row: u64, col: usize) {
        if let Some(anchor) = self.live.iter_mut().find(|anchor| anchor.id == id) {
            (anchor.row, anchor.col) = (row, col);
        }
    }

    /// Moves the marks of a row that stand at column `from` or behind to the left by as much.
    pub fn shift(&mut self, row: u64, from: usize) {
        for anchor in self.live.iter_mut().filter(|anchor| anchor.row == row) {
            anchor.col = anchor.col.checked_sub(from).unwrap_or(anchor.col);
        }
    }

    /// Moves the marks of a row that is gone to the start of another.
    pub fn move_row(&mut self, from: u64, to: u64) {
        for anchor in self.live.iter_mut().filter(|anchor| anchor.row == from) {
            (anchor.row, anchor.col) = (to, 0);
        }
    }

    /// Settles the marks of a row that becomes final.
    pub fn settle(&mut self, row: u64, position: impl Fn(usize) -> Position) {
        let Marks {
            live,
            settled,
            open,
            ..
        } = self;
        live.retain(|anchor| {
            if anchor.row == row {
                settled.insert(anchor.id, position(anchor.col));
                open.push(anchor.id);
            }
            anchor.row != row
        });
    }

    /// The end of line `line`, which has `bytes` bytes: no mark stands behind it, in blanks that were trimmed.
    #[inline]
    pub fn end_line(&mut self, line: u64, bytes: usize) {
        if self.open.is_empty() {
            return;
        }
        let Marks { settled, open, .. } = self;
        open.retain(|id| match settled.get_mut(id) {
            Some(position) if position.line == line => {
                position.byte = position.byte.min(bytes);
                false
            }
            Some(position) => position.line > line,
            None => false,
        });
    }
}
