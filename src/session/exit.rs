//! Exit statuses as shells report them.

use crate::sys::signal;

/// The signal that a status over 128 stands for: a shell reports a program that signal N ended as 128 + N.
pub fn signal_of(status: i32) -> Option<String> {
    signal_name(signal::from_status(status)?)
}

/// "SIGTERM" for 15.
pub fn signal_name(number: i32) -> Option<String> {
    signal::name(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_128_plus_a_signal_is_one() {
        assert_eq!(signal_of(137).as_deref(), Some("SIGKILL"));
        for status in [0, 1, 128, 255, -1] {
            assert_eq!(signal_of(status), None, "{status}");
        }
    }
}
