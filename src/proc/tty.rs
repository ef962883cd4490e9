//! Device numbers of terminals, in the two encodings that the kernel shows. Opens nothing.

/// A terminal device.
///
/// The number names a terminal within one devpts mount: a container with a /dev/pts of its own counts from 0 again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tty {
    pub major: u32,
    pub minor: u32,
}

/// First of the eight major numbers of pseudo-terminals (admin-guide/devices.txt: 136-143, Unix98 slaves).
const PTS_MAJOR: u32 = 136;
/// How many there are. devpts itself uses the first alone, with a minor of 20 bits.
const PTS_MAJORS: u32 = 8;
/// Minor numbers per major in the old scheme.
const MINORS: u32 = 256;

impl Tty {
    /// From field 7 of /proc/PID/stat: the minor's low 8 bits are bits 0-7, the major is 8-19, and the rest of the
    /// minor is 20-31 (`new_encode_dev`, printed as a signed number). 0 is "no terminal".
    pub fn from_stat(number: i32) -> Option<Self> {
        let bits = number as u32;
        let tty = Self {
            major: (bits >> 8) & 0xfff,
            minor: (bits & 0xff) | ((bits >> 12) & 0xf_ff00),
        };
        (bits != 0).then_some(tty)
    }

    /// From `st_rdev` as the C library has it: 12 bits of the major at bit 8 and the rest at 44, 8 bits of the
    /// minor at bit 0 and the rest at 20.
    pub fn from_rdev(rdev: u64) -> Self {
        let major = ((rdev >> 8) & 0xfff) | ((rdev >> 32) & 0xffff_f000);
        let minor = (rdev & 0xff) | ((rdev >> 12) & 0xffff_ff00);
        // Both are masked to 32 bits.
        Self {
            major: major as u32,
            minor: minor as u32,
        }
    }

    /// The pseudo-terminal `/dev/pts/INDEX`.
    pub fn pts(index: u32) -> Self {
        Self {
            major: PTS_MAJOR,
            minor: index,
        }
    }

    /// The number N of `/dev/pts/N`, when it is a pseudo-terminal.
    pub fn pts_index(self) -> Option<u32> {
        let beyond = self
            .major
            .checked_sub(PTS_MAJOR)
            .filter(|beyond| *beyond < PTS_MAJORS)?;
        (beyond * MINORS).checked_add(self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minor_is_split_over_two_ranges() {
        assert_eq!(Tty::from_stat(0), None);
        assert_eq!(Tty::from_stat(34816).and_then(Tty::pts_index), Some(0));
        assert_eq!(
            Tty::from_stat(34816 + 255).and_then(Tty::pts_index),
            Some(255)
        );
        // 256 does not fit into the low eight bits.
        assert_eq!(Tty::from_stat((136 << 8) | (1 << 20)), Some(Tty::pts(256)));
        assert_eq!(
            Tty::from_stat((136 << 8) | 0x2a | (3 << 20)),
            Some(Tty::pts(0x32a))
        );
        // The highest bit makes the printed number negative.
        assert_eq!(
            Tty::from_stat(i32::MIN | (136 << 8)),
            Some(Tty::pts(0x8_0000))
        );
        assert_eq!(Tty::from_stat(4 << 8 | 1), Some(Tty { major: 4, minor: 1 }));
    }

    #[test]
    fn both_encodings_agree() {
        assert_eq!(Tty::from_rdev(0x8801), Tty::pts(1));
        assert_eq!(
            Tty::from_rdev((136 << 8) | 0x2a | (3 << 20)),
            Tty::pts(0x32a)
        );
        assert_eq!(
            Tty::from_rdev((0x12 << 44) | (0x345 << 8)),
            Tty {
                major: 0x12345,
                minor: 0
            }
        );
    }

    #[test]
    fn only_pseudo_terminals_have_an_index() {
        assert_eq!(Tty { major: 4, minor: 1 }.pts_index(), None);
        assert_eq!(
            Tty {
                major: 137,
                minor: 2
            }
            .pts_index(),
            Some(258)
        );
        assert_eq!(
            Tty {
                major: 144,
                minor: 0
            }
            .pts_index(),
            None
        );
        assert_eq!(
            Tty {
                major: 143,
                minor: u32::MAX
            }
            .pts_index(),
            None
        );
    }
}
