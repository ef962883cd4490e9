//! Return codes of libc calls as `io::Result`. Knows no particular call.

use std::io;

/// Turns the -1 of a failed call into the error in `errno`.
pub fn check(code: libc::c_int) -> io::Result<libc::c_int> {
    if code == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(code)
    }
}

/// As [`check`], calling again while a signal interrupts the call (EINTR).
pub fn retry(mut call: impl FnMut() -> libc::c_int) -> io::Result<libc::c_int> {
    loop {
        match check(call()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail_with(code: libc::c_int) -> libc::c_int {
        // SAFETY: errno's location is valid for the calling thread's whole life.
        unsafe { *libc::__errno_location() = code };
        -1
    }

    #[test]
    fn codes_become_results() {
        assert_eq!(check(7).unwrap(), 7);
        assert_eq!(
            check(fail_with(libc::EPERM)).unwrap_err().raw_os_error(),
            Some(libc::EPERM)
        );
    }

    #[test]
    fn an_interrupted_call_is_made_again() {
        let mut calls = 0;
        let result = retry(|| {
            calls += 1;
            if calls < 3 { fail_with(libc::EINTR) } else { 5 }
        });
        assert_eq!((result.unwrap(), calls), (5, 3));
    }
}
