//! The user database, the host's name, and who we are.

use std::ffi::{CStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// A user's entry, as far as we need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub name: String,
    pub home: PathBuf,
    pub shell: PathBuf,
}

pub fn uid() -> u32 {
    // SAFETY: cannot fail and touches no memory.
    unsafe { libc::geteuid() }
}

/// The entry of our own user; `None` for a user without one (a container run as a bare number).
pub fn me() -> Option<User> {
    entry(uid())
}

/// The name of a user; `None` for one without an entry.
pub fn name_of(uid: u32) -> Option<String> {
    entry(uid).map(|user| user.name)
}

fn entry(uid: u32) -> Option<User> {
    // 16 KiB is far over _SC_GETPW_R_SIZE_MAX's usual 1 KiB; a larger entry counts as none.
    let mut buffer = vec![0; 16 * 1024];
    // SAFETY: an all-zero passwd is a valid value (null pointers and zeros) that getpwuid_r overwrites.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = std::ptr::null_mut();
    // SAFETY: every pointer is to a live local; the buffer's length is its own.
    let result = unsafe {
        libc::getpwuid_r(
            uid,
            &mut entry,
            buffer.as_mut_ptr(),
            buffer.len(),
            &mut found,
        )
    };
    if result != 0 || found.is_null() {
        return None;
    }
    let text = |pointer: *const libc::c_char| {
        // SAFETY: getpwuid_r succeeded, so the pointer is to a NUL-terminated string inside `buffer`, which
        // outlives the copy.
        OsString::from_vec(unsafe { CStr::from_ptr(pointer) }.to_bytes().to_vec())
    };
    Some(User {
        name: text(entry.pw_name).to_string_lossy().into_owned(),
        home: text(entry.pw_dir).into(),
        shell: text(entry.pw_shell).into(),
    })
}

/// The host's name as uname(2) gives it.
pub fn hostname() -> String {
    // SAFETY: an all-zero utsname is a valid value that uname overwrites.
    let mut names: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live local.
    unsafe { libc::uname(&mut names) };
    let bytes: Vec<u8> = names
        .nodename
        .iter()
        .take_while(|&&c| c != 0)
        .map(|&c| c as u8)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
