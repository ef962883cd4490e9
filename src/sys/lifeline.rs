//! A child that must not outlive us, however we end.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The child of `command` is killed when the thread that spawns it ends: spawn it from one that lives as long as the
/// child is wanted (PR_SET_PDEATHSIG, prctl(2)).
pub fn tie_to_this_thread(command: &mut Command) {
    let parent = std::process::id();
    let tie = move || {
        // SAFETY: prctl with integers, and getppid, are async-signal-safe.
        let (tied, now) = unsafe {
            let tied = libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            (tied, libc::getppid())
        };
        if tied != 0 {
            return Err(io::Error::last_os_error());
        }
        // We may have ended before it was set.
        match u32::try_from(now) == Ok(parent) {
            true => Ok(()),
            false => Err(io::ErrorKind::BrokenPipe.into()),
        }
    };
    // SAFETY: the closure only makes system calls that are async-signal-safe, and allocates nothing.
    unsafe { command.pre_exec(tie) };
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::Stdio;

    use super::*;

    #[test]
    fn it_ends_with_its_thread() {
        let mut child = std::thread::spawn(|| {
            let mut command = Command::new("cat");
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            tie_to_this_thread(&mut command);
            command.spawn().unwrap()
        })
        .join()
        .unwrap();
        // Its input is still open: nothing but the signal ends it.
        let mut output = Vec::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_end(&mut output)
            .unwrap();
        let status = child.wait().unwrap();
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&status),
            Some(libc::SIGKILL)
        );
    }
}
