//! poll(2) over borrowed descriptors.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

/// What a descriptor is watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    Read,
    Write,
}

/// Waits until one of `fds` is ready, or `deadline` has come (`None`: for ever). Returns one bool per descriptor:
/// true when it is ready, at its end, or broken (the next read or write tells which). An interrupting signal is not
/// an event: the wait goes on.
pub fn poll(
    fds: &[(BorrowedFd<'_>, Interest)],
    deadline: Option<Instant>,
) -> io::Result<Vec<bool>> {
    let mut list: Vec<libc::pollfd> = fds
        .iter()
        .map(|(fd, interest)| libc::pollfd {
            fd: fd.as_raw_fd(),
            events: match interest {
                Interest::Read => libc::POLLIN,
                Interest::Write => libc::POLLOUT,
            },
            revents: 0,
        })
        .collect();
    loop {
        let timeout = match deadline {
            None => -1,
            // Rounded up, so that a wait never returns just before its deadline and spins.
            Some(at) => {
                let left =
                    at.saturating_duration_since(Instant::now()) + Duration::from_micros(999);
                i32::try_from(left.as_millis()).unwrap_or(i32::MAX)
            }
        };
        // SAFETY: the pointer and length are those of a live vector of pollfd.
        let ready = unsafe { libc::poll(list.as_mut_ptr(), list.len() as libc::nfds_t, timeout) };
        if ready >= 0 {
            return Ok(list.iter().map(|entry| entry.revents != 0).collect());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
