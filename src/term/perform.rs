//! What the parser calls.

/// Where in the input something stood, in bytes since the start of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u64,
    /// The offset just after the last byte.
    pub end: u64,
}

/// What the parser found, in order.
pub trait Perform {
    /// A run of printable ASCII (0x20 to 0x7E), not empty.
    fn print_ascii(&mut self, run: &[u8]);
    /// A character beyond ASCII; U+FFFD for what is malformed.
    fn print(&mut self, c: char);
    /// A C0 control other than ESC.
    fn control(&mut self, byte: u8);
    /// `ESC`, intermediate bytes, final byte.
    fn escape(&mut self, intermediates: &[u8], byte: u8);
    /// `CSI`; `intermediates` has the private marker first; `params` is digits, `;` and `:`. `end` is the offset just
    /// after it.
    fn csi(&mut self, params: &[u8], intermediates: &[u8], byte: u8, end: u64);
    /// A string begins that the terminal itself reads (OSC, DCS, APC, `ESC k`).
    fn string(&mut self);
    /// A whole OSC of at most 4 KiB.
    fn osc(&mut self, string: &[u8], span: Span);
    /// A string was given up as one that never ends; the input goes on at `offset`.
    fn abandoned(&mut self, offset: u64);
}
