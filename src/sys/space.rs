//! The file system that a path is on: how much room it has, and whether another machine keeps it.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// statfs(2)'s numbers for NFS, SMB and CIFS.
const NETWORK: [u32; 3] = [0x6969, 0xfe53_4d42, 0xff53_4d42];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Bytes that this user may still write.
    pub free: u64,
    pub network: bool,
}

/// Of the file system of `path`, which must be there.
pub fn of(path: &Path) -> io::Result<Space> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: an all-zero statfs is a valid value that the call overwrites.
    let mut told: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path is NUL-terminated and lives through the call; the other pointer is to a live local.
    if unsafe { libc::statfs(path.as_ptr(), &mut told) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Space {
        free: told.f_bavail.saturating_mul(told.f_bsize as u64),
        // Its type has as many bits as the platform likes; the numbers have 32.
        network: NETWORK.contains(&(told.f_type as u32)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_no_network_and_nothing_is_no_file_system() {
        assert!(!of(Path::new("/proc")).unwrap().network);
        assert_eq!(of(Path::new("/proc")).unwrap().free, 0);
        assert!(of(Path::new("/nowhere/at/all")).is_err());
        assert!(of(Path::new("a\0b")).is_err());
    }
}
