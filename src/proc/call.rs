//! The system call that a thread sleeps in, from /proc/TID/syscall and wchan. Opens nothing.

use super::stat::number;

/// What a thread sleeps in, as far as waiting for a terminal goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// On a processor or about to be: it sleeps in nothing.
    Running,
    /// read, pread64, readv, preadv, preadv2, or splice from this descriptor.
    Read { fd: u32 },
    /// poll or ppoll of `count` entries at this address.
    Poll { entries: u64, count: u64 },
    /// select or pselect6 whose set of descriptors to read is at this address, 0 for none.
    Select { set: u64, count: u64 },
    /// epoll_wait and its kind on this epoll descriptor.
    Epoll { fd: u32 },
    /// A call that a stop interrupted and that goes on. The number says no more which; when it is poll, these are
    /// its arguments.
    Resumed { entries: u64, count: u64 },
    /// io_uring_enter: what it waits for is in rings that cannot be seen.
    Ring,
    /// Any other call, or a page fault.
    Other,
}

/// Numbers of the calls that can wait for a terminal, on one architecture. None where the call does not exist.
pub(super) struct Numbers {
    read: &'static [u64],
    splice: u64,
    poll: &'static [u64],
    select: &'static [u64],
    epoll: &'static [u64],
    resumed: u64,
}

/// io_uring_enter has one number everywhere, as all calls since Linux 5.1 have.
const IO_URING_ENTER: u64 = 426;
/// epoll_pwait2, likewise.
const EPOLL_PWAIT2: u64 = 441;

/// poll, which aarch64 does not have: its number there means another call.
const POLL_X86_64: u64 = 7;

/// arch/x86/entry/syscalls/syscall_64.tbl: read, pread64, readv, preadv, preadv2; poll, ppoll; select, pselect6;
/// epoll_wait, epoll_pwait.
#[cfg(any(target_arch = "x86_64", test))]
pub(super) const X86_64: Numbers = Numbers {
    read: &[0, 17, 19, 295, 327],
    splice: 275,
    poll: &[POLL_X86_64, 271],
    select: &[23, 270],
    epoll: &[232, 281, EPOLL_PWAIT2],
    resumed: 219,
};

/// include/uapi/asm-generic/unistd.h: read, pread64, readv, preadv, preadv2; ppoll; pselect6; epoll_pwait.
#[cfg(any(target_arch = "aarch64", test))]
pub(super) const AARCH64: Numbers = Numbers {
    read: &[63, 67, 65, 69, 286],
    splice: 76,
    poll: &[73],
    select: &[72],
    epoll: &[22, EPOLL_PWAIT2],
    resumed: 128,
};

#[cfg(target_arch = "x86_64")]
pub(super) const NATIVE: Option<&Numbers> = Some(&X86_64);
#[cfg(target_arch = "aarch64")]
pub(super) const NATIVE: Option<&Numbers> = Some(&AARCH64);
/// Elsewhere only the wait channel tells.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) const NATIVE: Option<&Numbers> = None;

impl Call {
    /// Reads a line of /proc/TID/syscall (proc_pid_syscall(5)): the number, six arguments in hex, the stack pointer
    /// and the program counter; or -1 and the two pointers; or `running`.
    ///
    /// None for junk, and for a 32-bit program on a 64-bit kernel, whose numbers are another table's.
    pub(super) fn parse(line: &[u8], numbers: &Numbers) -> Option<Self> {
        let mut words = line
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty());
        let first = words.next()?;
        if first == b"running" {
            return Some(Self::Running);
        }
        let call: i64 = number(first)?;
        let values = words.map(hex).collect::<Option<Vec<u64>>>()?;
        let [args @ .., stack, _] = values.as_slice() else {
            return None;
        };
        // -1 is "asleep, but not in a call".
        let Ok(call) = u64::try_from(call) else {
            return Some(Self::Other);
        };
        let [a, b, _, _, _, _] = args else {
            return None;
        };
        let (a, b) = (*a, *b);
        if *stack <= u64::from(u32::MAX) && *stack != 0 {
            return None;
        }
        Some(if numbers.read.contains(&call) || call == numbers.splice {
            Self::Read { fd: descriptor(a) }
        } else if numbers.poll.contains(&call) {
            Self::Poll {
                entries: a,
                count: u64::from(descriptor(b)),
            }
        } else if numbers.select.contains(&call) {
            Self::Select {
                set: b,
                count: u64::from(descriptor(a)),
            }
        } else if numbers.epoll.contains(&call) {
            Self::Epoll { fd: descriptor(a) }
        } else if call == numbers.resumed {
            Self::Resumed {
                entries: a,
                count: u64::from(descriptor(b)),
            }
        } else if call == IO_URING_ENTER {
            Self::Ring
        } else {
            Self::Other
        })
    }
}

/// Whether a call that waits for descriptors does so without a time limit. The line as [`Call::parse`] takes it; true
/// for a read.
pub(super) fn unlimited(line: &[u8], numbers: &Numbers) -> bool {
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let call = words.next().and_then(number);
    let args: Vec<u64> = words.filter_map(hex).collect();
    let (Some(call), [_, _, third, fourth, fifth, ..]) = (call, args.as_slice()) else {
        return false;
    };
    let call: u64 = call;
    // poll and epoll_wait count milliseconds, below 0 for ever; the others point to a time, nowhere for ever.
    let counted = |register: u64| (descriptor(register) as i32) < 0;
    if numbers.read.contains(&call) {
        true
    } else if numbers.poll.contains(&call) {
        match call {
            POLL_X86_64 if numbers.poll.len() > 1 => counted(*third),
            _ => *third == 0,
        }
    } else if numbers.select.contains(&call) {
        *fifth == 0
    } else if call == EPOLL_PWAIT2 {
        *fourth == 0
    } else {
        numbers.epoll.contains(&call) && counted(*fourth)
    }
}

/// The kernel takes these as 32-bit integers, whatever else is in the register.
fn descriptor(register: u64) -> u32 {
    (register & u64::from(u32::MAX)) as u32
}

fn hex(word: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(word).ok()?.strip_prefix("0x")?;
    u64::from_str_radix(digits, 16).ok()
}

/// Where in the kernel a thread sleeps, as far as waiting for a terminal goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A read of a terminal; a blocking connect, send or receive and a read from inotify sleep here too.
    Read,
    /// poll or select.
    Poll,
    /// epoll.
    Epoll,
    /// io_uring.
    Ring,
    /// Somewhere else.
    Other,
    /// The kernel does not say: no permission, no symbol table, or not asleep.
    Hidden,
}

/// Prefixes of wait channels: compilers append `.constprop.0`, `.isra.0` and the like, and names moved over time.
const CHANNELS: [(&[u8], Channel); 11] = [
    (b"wait_woken", Channel::Read),
    (b"n_tty_read", Channel::Read),
    (b"poll_schedule_timeout", Channel::Poll),
    (b"do_sys_poll", Channel::Poll),
    (b"do_poll", Channel::Poll),
    (b"do_select", Channel::Poll),
    (b"core_sys_select", Channel::Poll),
    (b"do_epoll_wait", Channel::Epoll),
    (b"ep_poll", Channel::Epoll),
    (b"io_cqring_wait", Channel::Ring),
    (b"__io_cqring_wait", Channel::Ring),
];

impl Channel {
    /// Reads /proc/TID/wchan.
    pub(super) fn parse(name: &[u8]) -> Self {
        let name = name.trim_ascii();
        if name.is_empty() || name == b"0" {
            return Self::Hidden;
        }
        CHANNELS
            .iter()
            .find(|(prefix, _)| name.starts_with(prefix))
            .map_or(Self::Other, |(_, channel)| *channel)
    }
}

#[cfg(test)]
mod tests;
