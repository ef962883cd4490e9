//! A terminal's state as bytes and back, so that a long log need not be read again. Loading is total: what is torn,
//! of another format, or no state that a terminal could be in is `None`.

use std::collections::{BTreeMap, VecDeque};

use super::codec::{Stored, checksum, stored};
use super::cooked::{Cooked, Position};
use super::fullscreen::Homes;
use super::grid::{Grid, Log};
use super::marks::{Anchor, MarkId, Marks};
use super::parser::{Parser, State};
use super::row::{CLUSTER, Cell, Note, PAD, Row};
use super::screen::{At, Charsets, Covered, Modes, SavedCursor, Screen};
use super::utf8::Decoder;
use super::width::Rules;
use super::zones::{Zone, Zones};

/// What a checkpoint begins with. The number changes with anything that changes what the same bytes make: the
/// layout below, a rule of the screen, the width table.
const FORMAT: &[u8] = b"paneglass terminal 1\n";

stored!(At { row, col });
stored!(Position { line, byte });
stored!(Note {
    program,
    started,
    ended,
    open,
    said
});
stored!(Row {
    cells,
    clusters,
    id,
    linked,
    hidden,
    skip,
    marked,
    unicode,
    wide,
    epoch,
    notes
});
stored!(Cooked {
    lines,
    open,
    linked,
    bytes,
    blanks,
    columns,
    notes
});
stored!(Anchor { id, row, col });
stored!(Modes {
    wrap,
    insert,
    origin,
    bracketed_paste
});
stored!(SavedCursor {
    at,
    charsets,
    origin
});
stored!(Homes {
    epoch,
    waiting,
    first,
    repaints,
    before,
    offset,
    found
});
stored!(Covered { grid, cursor });
stored!(Zones {
    zone,
    watching,
    shadows,
    carriage_return,
    prompt,
    prompt_line,
    typed,
    resized,
    program,
    homes,
});

impl Stored for MarkId {
    fn save(&self, to: &mut Vec<u8>) {
        self.0.save(to);
    }

    fn load(from: &mut &[u8]) -> Option<MarkId> {
        Stored::load(from).map(MarkId)
    }
}

impl Stored for Charsets {
    fn save(&self, to: &mut Vec<u8>) {
        (self.g[0], (self.g[1], self.shifted)).save(to);
    }

    fn load(from: &mut &[u8]) -> Option<Charsets> {
        let (g0, (g1, shifted)) = Stored::load(from)?;
        Some(Charsets {
            g: [g0, g1],
            shifted,
        })
    }
}

impl Stored for Zone {
    fn save(&self, to: &mut Vec<u8>) {
        (*self as u8).save(to);
    }

    fn load(from: &mut &[u8]) -> Option<Zone> {
        let zone = u8::load(from)?;
        [Zone::Unknown, Zone::Prompt, Zone::Output]
            .into_iter()
            .find(|known| *known as u8 == zone)
    }
}

impl Stored for Marks {
    fn save(&self, to: &mut Vec<u8>) {
        self.next.save(to);
        self.live.save(to);
        self.settled
            .iter()
            .map(|(id, position)| (*id, *position))
            .collect::<Vec<_>>()
            .save(to);
        self.open.save(to);
    }

    fn load(from: &mut &[u8]) -> Option<Marks> {
        let (next, live) = Stored::load(from)?;
        let settled = BTreeMap::from_iter(Vec::load(from)?);
        Some(Marks {
            next,
            live,
            settled,
            open: Stored::load(from)?,
        })
    }
}

impl Stored for Grid {
    fn save(&self, to: &mut Vec<u8>) {
        self.lines.len().save(to);
        self.lines.iter().for_each(|row| row.save(to));
        (self.held, self.cols).save(to);
        (self.rows, (self.history, self.scrolled)).save(to);
    }

    fn load(from: &mut &[u8]) -> Option<Grid> {
        let lines = VecDeque::from(Vec::load(from)?);
        let (held, cols) = Stored::load(from)?;
        let (rows, (history, scrolled)) = Stored::load(from)?;
        Some(Grid {
            lines,
            held,
            cols,
            rows,
            history,
            scrolled,
        })
    }
}

impl Stored for Parser {
    fn save(&self, to: &mut Vec<u8>) {
        State::ALL
            .iter()
            .position(|state| *state == self.state)
            .save(to);
        let (bits, missing, low, high) = self.utf8.save();
        ((bits, missing), (low, high)).save(to);
        (self.params.clone(), self.intermediates.clone()).save(to);
        (self.overflow, self.string.clone()).save(to);
        (self.offset, self.start).save(to);
    }

    fn load(from: &mut &[u8]) -> Option<Parser> {
        let state = *State::ALL.get(Option::<usize>::load(from)??)?;
        let ((bits, missing), (low, high)) = Stored::load(from)?;
        let utf8 = Decoder::load((bits, missing, low, high))?;
        let (params, intermediates) = Stored::load(from)?;
        let (overflow, string) = Stored::load(from)?;
        let (offset, start) = Stored::load(from)?;
        let parser = Parser {
            state,
            utf8,
            params,
            intermediates,
            overflow,
            string,
            offset,
            start,
        };
        parser.is_sound().then_some(parser)
    }
}

/// The state of a parser and a screen, and the nonce.
pub fn save(parser: &Parser, screen: &Screen, nonce: &Option<String>) -> Vec<u8> {
    let mut to = FORMAT.to_vec();
    parser.save(&mut to);
    nonce.save(&mut to);
    screen.grid.save(&mut to);
    screen.covered.save(&mut to);
    let log = &screen.log;
    log.cooked.save(&mut to);
    log.marks.save(&mut to);
    (log.next_row, (log.hide, log.rows)).save(&mut to);
    (screen.cursor, screen.modes).save(&mut to);
    (screen.charsets, screen.saved).save(&mut to);
    (screen.covered_cursor, screen.tabs.clone()).save(&mut to);
    (screen.top, screen.bottom).save(&mut to);
    (screen.last, screen.joiner).save(&mut to);
    (screen.zones.clone(), screen.clock).save(&mut to);
    let sum = checksum(&to);
    to.extend_from_slice(&sum.to_le_bytes());
    to
}

/// What `save` stored.
pub fn load(
    bytes: &[u8],
    hold_back: usize,
    rules: Rules,
) -> Option<(Parser, Screen, Option<String>)> {
    let (bytes, sum) = bytes.split_last_chunk::<8>()?;
    (checksum(bytes) == u64::from_le_bytes(*sum)).then_some(())?;
    let from = &mut bytes.strip_prefix(FORMAT)?;
    let parser = Parser::load(from)?;
    let nonce = Stored::load(from)?;
    let grid = Grid::load(from)?;
    let covered = Option::<Covered>::load(from)?;
    let (cooked, marks) = Stored::load(from)?;
    let (next_row, (hide, rows)) = Stored::load(from)?;
    let (cursor, modes) = Stored::load(from)?;
    let (charsets, saved) = Stored::load(from)?;
    let (covered_cursor, tabs) = Stored::load(from)?;
    let (top, bottom) = Stored::load(from)?;
    let (last, joiner) = Stored::load(from)?;
    let (zones, clock) = Stored::load(from)?;
    let log = Log {
        cooked,
        marks,
        text: Vec::new(),
        next_row,
        hold_back,
        hide,
        rows,
    };
    let screen = Screen {
        grid,
        covered,
        log,
        cursor,
        modes,
        charsets,
        saved,
        covered_cursor,
        top,
        bottom,
        tabs,
        last,
        joiner,
        zones,
        rules,
        clock,
    };
    (from.is_empty() && is_sound(&screen)).then_some((parser, screen, nonce))
}

/// Can a terminal be in this state?
fn is_sound(screen: &Screen) -> bool {
    let Screen {
        grid,
        covered,
        cursor,
        top,
        bottom,
        tabs,
        ..
    } = screen;
    let inside = |at: &At, grid: &Grid| at.row < grid.rows && at.col <= grid.cols;
    let under = covered.as_ref().is_none_or(|covered| {
        covered.grid.history
            && grid_is_sound(&covered.grid)
            && inside(&covered.cursor, &covered.grid)
    });
    let before = screen.zones.homes.before.as_ref();
    grid_is_sound(grid)
        && grid.history == covered.is_none()
        && under
        && inside(cursor, grid)
        && top <= bottom
        && *bottom < grid.rows
        && tabs.len() == grid.cols
        && before.is_none_or(|rows| rows.iter().all(row_is_sound))
}

fn grid_is_sound(grid: &Grid) -> bool {
    let size = 1..=usize::from(u16::MAX);
    size.contains(&grid.cols)
        && size.contains(&grid.rows)
        && grid.held.checked_add(grid.rows) == Some(grid.lines.len())
        && grid.lines.iter().all(row_is_sound)
}

fn row_is_sound(row: &Row) -> bool {
    let sound = |cell: Cell| match cell {
        PAD => true,
        _ if cell & CLUSTER != 0 => ((cell & !CLUSTER) as usize) < row.clusters.len(),
        _ => char::from_u32(cell).is_some(),
    };
    let ascii = |cell: &Cell| *cell < 0x80;
    row.cells.first() != Some(&PAD)
        && row.cells.len() <= usize::from(u16::MAX)
        && row.cells.iter().all(|cell| sound(*cell))
        && (row.unicode || row.cells.iter().all(ascii))
        && (row.wide || !row.cells.contains(&PAD))
}
