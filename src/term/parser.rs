//! The escape-sequence state machine: bytes in, calls of [`Perform`] out. Total: any bytes make a state, never an
//! error, and feeding A then B equals feeding AB. Must not know what a sequence does, nor what a screen is.

use super::perform::{Perform, Span};
use super::scan::{ascii_run, whole_char};
use super::utf8::{Decoder, Step};

/// Most bytes of parameters (tmux keeps 63 and drops a sequence with more).
const PARAMS_MAX: usize = 63;
/// Most intermediate and private bytes (tmux keeps 3).
const INTERMEDIATES_MAX: usize = 3;
/// Most bytes of an OSC that are kept. The ones that matter are short; a longer one is not acted upon.
const OSC_MAX: usize = 4 << 10;
/// A string that is longer than this never ends: back to ground.
const STRING_MAX: u64 = 16 << 20;
/// What a DCS that carries a sequence through tmux begins with.
const PASSTHROUGH: &[u8] = b"tmux;";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ground,
    Escape,
    EscapeIntermediate,
    CsiEntry,
    CsiParam,
    CsiIntermediate,
    CsiIgnore,
    Osc,
    /// After an ESC that ended an OSC: a `\` still belongs to it.
    OscEscape,
    /// APC, PM, SOS and `ESC k`: ended by ESC, CAN or SUB.
    Skip,
    DcsEntry,
    DcsParam,
    DcsIntermediate,
    DcsIgnore,
    DcsBody,
    DcsEscape,
}

impl State {
    pub(super) const ALL: [State; 16] = [
        State::Ground,
        State::Escape,
        State::EscapeIntermediate,
        State::CsiEntry,
        State::CsiParam,
        State::CsiIntermediate,
        State::CsiIgnore,
        State::Osc,
        State::OscEscape,
        State::Skip,
        State::DcsEntry,
        State::DcsParam,
        State::DcsIntermediate,
        State::DcsIgnore,
        State::DcsBody,
        State::DcsEscape,
    ];

    fn is_string(self) -> bool {
        matches!(
            self,
            State::Osc
                | State::Skip
                | State::DcsEntry
                | State::DcsParam
                | State::DcsIntermediate
                | State::DcsIgnore
                | State::DcsBody
                | State::DcsEscape
        )
    }
}

/// The state between two bytes.
#[derive(Clone, Debug)]
pub struct Parser {
    pub(super) state: State,
    pub(super) utf8: Decoder,
    pub(super) params: Vec<u8>,
    pub(super) intermediates: Vec<u8>,
    /// The sequence had too many parameters or intermediates: it is read to its end and dropped.
    pub(super) overflow: bool,
    /// What is kept of an OSC or a DCS.
    pub(super) string: Vec<u8>,
    /// Bytes taken so far.
    pub(super) offset: u64,
    /// Offset of the ESC that began the current sequence.
    pub(super) start: u64,
}

impl Default for Parser {
    fn default() -> Self {
        Parser {
            state: State::Ground,
            utf8: Decoder::default(),
            params: Vec::with_capacity(PARAMS_MAX),
            intermediates: Vec::with_capacity(INTERMEDIATES_MAX),
            overflow: false,
            string: Vec::new(),
            offset: 0,
            start: 0,
        }
    }
}

impl Parser {
    /// Bytes taken so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// True inside a string (OSC, DCS, APC, ...), which may be one that never ends.
    pub fn in_string(&self) -> bool {
        self.state.is_string()
    }

    /// True when the next byte decides where an OSC has ended.
    pub fn ends_string(&self) -> bool {
        self.state == State::OscEscape
    }

    /// Gives up the string that the input is in, if any: the next byte is read as text.
    pub fn abandon_string(&mut self, to: &mut impl Perform) {
        if self.in_string() {
            self.leave_string(to);
        }
    }

    fn leave_string(&mut self, to: &mut impl Perform) {
        self.string = Vec::new();
        self.state = State::Ground;
        to.abandoned(self.offset);
    }

    /// Could a parser be in this state? (Of one that was stored.)
    pub(super) fn is_sound(&self) -> bool {
        self.params.len() <= PARAMS_MAX
            && self.intermediates.len() <= INTERMEDIATES_MAX
            && self.string.len() <= OSC_MAX + 1
            && self.start <= self.offset
            && (self.state == State::Ground || self.utf8.is_idle())
            && (self.state != State::OscEscape || self.offset > 0)
            && (!self.state.is_string() || self.offset - self.start <= STRING_MAX)
    }

    /// Reads bytes, calling `to` for what they mean.
    pub fn feed(&mut self, bytes: &[u8], to: &mut impl Perform) {
        let base = self.offset;
        let mut at = 0;
        while at < bytes.len() {
            at += match self.state {
                State::Ground => self.ground(&bytes[at..], to),
                State::Osc | State::Skip | State::DcsBody | State::DcsIgnore => {
                    self.string_run(&bytes[at..], to)
                }
                _ => {
                    let taken = self.step(bytes[at], to);
                    usize::from(taken)
                }
            };
            self.offset = base + at as u64;
            if self.state.is_string() && self.offset - self.start > STRING_MAX {
                self.leave_string(to);
            }
        }
    }

    /// End of input: what has begun and is not complete is shown as far as it can be.
    pub fn finish(&mut self, to: &mut impl Perform) {
        if !self.utf8.is_idle() {
            self.utf8.reset();
            to.print(char::REPLACEMENT_CHARACTER);
        }
        if self.state == State::OscEscape {
            self.state = State::Escape;
            self.end_osc(self.offset - 1, to);
        }
    }

    /// Text and controls. Returns how many bytes were taken.
    fn ground(&mut self, bytes: &[u8], to: &mut impl Perform) -> usize {
        let mut at = if self.utf8.is_idle() {
            0
        } else {
            self.cut_char(bytes, to)
        };
        while at < bytes.len() {
            let byte = bytes[at];
            match byte {
                0x20..=0x7E => {
                    let run = ascii_run(&bytes[at..]);
                    to.print_ascii(&bytes[at..at + run]);
                    at += run;
                }
                0x1B => {
                    self.start = self.offset + at as u64;
                    let taken = self.whole_csi(&bytes[at..], to);
                    if taken == 0 {
                        self.enter(State::Escape);
                        return at + 1;
                    }
                    at += taken;
                }
                0x7F => at += 1,
                0x00..=0x1F => {
                    to.control(byte);
                    at += 1;
                }
                0x80.. => {
                    at += match whole_char(&bytes[at..]) {
                        Some((c, len)) => {
                            to.print(c);
                            len
                        }
                        None => self.cut_char(&bytes[at..], to),
                    };
                }
            }
        }
        at
    }

    /// A character that is malformed, or that goes over the end of the input. Returns how many bytes were taken.
    fn cut_char(&mut self, bytes: &[u8], to: &mut impl Perform) -> usize {
        for (at, &byte) in bytes.iter().enumerate() {
            match self.utf8.push(byte) {
                Step::More => {}
                Step::Char(c) => {
                    to.print(c);
                    return at + 1;
                }
                Step::Malformed => {
                    to.print(char::REPLACEMENT_CHARACTER);
                    return at + 1;
                }
                Step::Broken => {
                    to.print(char::REPLACEMENT_CHARACTER);
                    return at;
                }
            }
        }
        bytes.len()
    }

    /// The common control sequence, whole in the input and without private bytes, without going through the states.
    /// Returns its length, 0 when `bytes` begins otherwise.
    fn whole_csi(&self, bytes: &[u8], to: &mut impl Perform) -> usize {
        if bytes.get(1) != Some(&b'[') {
            return 0;
        }
        let rest = &bytes[2..];
        let Some(len) = rest
            .iter()
            .take(PARAMS_MAX + 1)
            .position(|byte| !(0x30..=0x3B).contains(byte))
        else {
            return 0;
        };
        if !(0x40..=0x7E).contains(&rest[len]) {
            return 0;
        }
        to.csi(&rest[..len], &[], rest[len], self.start + len as u64 + 3);
        len + 3
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.params.clear();
        self.intermediates.clear();
        self.overflow = false;
        self.string.clear();
    }

    /// One byte of an escape or control sequence, or of a string's head. False: look at the byte again.
    fn step(&mut self, byte: u8, to: &mut impl Perform) -> bool {
        use State::*;
        match (self.state, byte) {
            (OscEscape, b'\\') => {
                self.state = Ground;
                self.end_osc(self.offset + 1, to);
            }
            (OscEscape, _) => {
                // What follows is a sequence of its own: it began at the ESC, one byte back.
                self.end_osc(self.offset - 1, to);
                self.start = self.offset - 1;
                self.enter(Escape);
                return false;
            }
            (DcsEscape, b'\\') => {
                self.state = Ground;
                self.end_dcs(to);
            }
            (DcsEscape, _) => {
                self.keep(&[byte]);
                self.state = DcsBody;
            }
            (_, 0x18 | 0x1A) => {
                self.state = Ground;
                to.control(byte);
            }
            (_, 0x1B) => {
                self.start = self.offset;
                self.enter(Escape);
            }
            (DcsEntry | DcsParam | DcsIntermediate, 0x00..=0x1F | 0x7F..) => {}
            (DcsEntry | DcsParam | DcsIntermediate, _) => self.dcs_head(byte),
            (_, 0x00..=0x1F) => to.control(byte),
            // A character is no part of an escape: tmux would swallow it.
            (Escape | EscapeIntermediate, 0x80..) => {
                self.state = Ground;
                return false;
            }
            (_, 0x7F..) => {}
            (Escape, 0x20..=0x2F) => {
                self.intermediate(byte);
                self.state = EscapeIntermediate;
            }
            (Escape, b'[') => self.state = CsiEntry,
            (Escape, b']' | b'P' | b'_' | b'k') => {
                to.string();
                self.state = match byte {
                    b']' => Osc,
                    b'P' => DcsEntry,
                    _ => Skip,
                };
            }
            (Escape, b'X' | b'^') => self.state = Skip,
            (EscapeIntermediate, 0x20..=0x2F) => self.intermediate(byte),
            (Escape | EscapeIntermediate, _) => {
                self.state = Ground;
                if !self.overflow {
                    to.escape(&self.intermediates, byte);
                }
            }
            (CsiEntry | CsiParam | CsiIntermediate, 0x20..=0x2F) => {
                self.intermediate(byte);
                self.state = CsiIntermediate;
            }
            (CsiEntry, 0x3C..=0x3F) => {
                self.intermediate(byte);
                self.state = CsiParam;
            }
            (CsiEntry | CsiParam, 0x30..=0x3B) => {
                self.param(byte);
                self.state = CsiParam;
            }
            (CsiParam | CsiIntermediate, 0x30..=0x3F) => self.state = CsiIgnore,
            (CsiEntry | CsiParam | CsiIntermediate, _) => {
                self.state = Ground;
                if !self.overflow {
                    to.csi(&self.params, &self.intermediates, byte, self.offset + 1);
                }
            }
            (CsiIgnore, 0x40..) => self.state = Ground,
            (CsiIgnore, _) => {}
            // These states take whole runs and never come here.
            (Ground | Osc | Skip | DcsIgnore | DcsBody, _) => {}
        }
        true
    }

    fn dcs_head(&mut self, byte: u8) {
        use State::*;
        self.state = match (self.state, byte) {
            (_, 0x20..=0x2F) => {
                self.intermediate(byte);
                DcsIntermediate
            }
            (DcsEntry, 0x3C..=0x3F) => {
                self.intermediate(byte);
                DcsParam
            }
            (DcsEntry | DcsParam, 0x30..=0x39 | 0x3B) => {
                self.param(byte);
                DcsParam
            }
            (_, 0x40..) => {
                self.keep(&[byte]);
                DcsBody
            }
            _ => DcsIgnore,
        };
    }

    fn intermediate(&mut self, byte: u8) {
        if self.intermediates.len() == INTERMEDIATES_MAX {
            self.overflow = true;
        } else {
            self.intermediates.push(byte);
        }
    }

    fn param(&mut self, byte: u8) {
        if self.params.len() == PARAMS_MAX {
            self.overflow = true;
        } else {
            self.params.push(byte);
        }
    }

    /// Keeps bytes of a string; one byte over the limit marks it as too long.
    fn keep(&mut self, bytes: &[u8]) {
        let room = OSC_MAX + 1 - self.string.len();
        self.string
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The body of a string up to its end or the end of the input. Returns how many bytes were taken.
    fn string_run(&mut self, bytes: &[u8], to: &mut impl Perform) -> usize {
        // Never past the limit, so that a string is given up at the same byte however the input is split.
        let left = (STRING_MAX + 1).saturating_sub(self.offset - self.start) as usize;
        let bytes = &bytes[..bytes.len().min(left.max(1))];
        let state = self.state;
        let ends = |byte: &u8| match byte {
            0x1B => true,
            0x18 | 0x1A => state != State::DcsBody,
            0x07 => state == State::Osc,
            _ => false,
        };
        let len = bytes.iter().position(ends).unwrap_or(bytes.len());
        match state {
            State::Osc if self.string.len() <= OSC_MAX => {
                // Controls are no part of an OSC.
                for part in bytes[..len].split(|byte| *byte < 0x20) {
                    self.keep(part);
                }
            }
            State::DcsBody if self.string.len() <= OSC_MAX => self.keep(&bytes[..len]),
            _ => {}
        }
        let Some(&end) = bytes.get(len) else {
            return len;
        };
        let after = self.offset + len as u64 + 1;
        match (state, end) {
            (State::Osc, 0x1B) => self.state = State::OscEscape,
            (State::DcsBody, _) => self.state = State::DcsEscape,
            (_, 0x1B) => {
                self.start = after - 1;
                self.enter(State::Escape);
            }
            _ => {
                self.state = State::Ground;
                if state == State::Osc {
                    self.end_osc(after, to);
                }
                if end != 0x07 {
                    to.control(end);
                }
            }
        }
        len + 1
    }

    fn end_osc(&mut self, end: u64, to: &mut impl Perform) {
        if self.string.len() <= OSC_MAX {
            to.osc(
                &self.string,
                Span {
                    start: self.start,
                    end,
                },
            );
        }
        self.string.clear();
    }

    /// A DCS is swallowed, but one that carries an OSC through tmux is looked into.
    fn end_dcs(&mut self, to: &mut impl Perform) {
        let span = Span {
            start: self.start,
            end: self.offset + 1,
        };
        if self.string.len() <= OSC_MAX {
            // The doubled ESC is already single: the first of the two was DcsEscape's.
            if let Some(inner) = self
                .string
                .strip_prefix(PASSTHROUGH)
                .and_then(|s| s.strip_prefix(b"\x1b]"))
            {
                let end = inner
                    .iter()
                    .position(|byte| matches!(byte, 0x07 | 0x1B))
                    .unwrap_or(inner.len());
                to.osc(&inner[..end], span);
            }
        }
        self.string.clear();
    }
}
