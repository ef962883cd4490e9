//! Who is at the other end of a Unix socket.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

use super::errno::check;

/// The effective user id that the peer had when it connected (SO_PEERCRED, unix(7)).
pub fn uid(stream: &UnixStream) -> io::Result<u32> {
    let mut peer = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the pointers are to live locals, and the length is that of the one it describes.
    check(unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &mut length,
        )
    })?;
    Ok(peer.uid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_other_end_is_us() {
        let (one, _other) = UnixStream::pair().unwrap();
        assert_eq!(uid(&one).unwrap(), crate::sys::passwd::uid());
    }
}
