//! The user database, the host's name, and who we are.

#[cfg(not(target_feature = "crt-static"))]
use std::ffi::CStr;
use std::ffi::OsString;
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

/// A static C library would load the system's name service modules, and crashes where those do not fit it.
#[cfg(target_feature = "crt-static")]
fn entry(uid: u32) -> Option<User> {
    find(&std::fs::read("/etc/passwd").ok()?, uid)
}

/// The entry of a user in a text of passwd(5).
#[cfg(any(test, target_feature = "crt-static"))]
fn find(passwd: &[u8], uid: u32) -> Option<User> {
    passwd.split(|&byte| byte == b'\n').find_map(|line| {
        let fields: Vec<&[u8]> = line.split(|&byte| byte == b':').collect();
        let &[name, _, number, _, _, home, shell] = fields.as_slice() else {
            return None;
        };
        let number: u32 = std::str::from_utf8(number).ok()?.parse().ok()?;
        (number == uid).then(|| User {
            name: String::from_utf8_lossy(name).into_owned(),
            home: OsString::from_vec(home.to_vec()).into(),
            shell: OsString::from_vec(shell.to_vec()).into(),
        })
    })
}

#[cfg(not(target_feature = "crt-static"))]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_passwd_text() {
        let text = b"root:x:0:0:root:/root:/bin/bash\n# a comment\nbroken:x:7\nann:x:1000:1000:Ann,,,:/people/ann:/usr/bin/fish\n";
        let ann = find(text, 1000).unwrap();
        assert_eq!(
            (ann.name.as_str(), ann.home.to_str(), ann.shell.to_str()),
            ("ann", Some("/people/ann"), Some("/usr/bin/fish"))
        );
        assert_eq!(find(text, 0).unwrap().name, "root");
        assert_eq!(find(text, 7), None);
        assert_eq!(find(b"", 0), None);
    }
}
