//! Numbers, durations and sizes as people read them; text made safe to show.

/// "0.4 s", "12 s", "2 min 5 s", "3 h 20 min".
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0 => format!("0.{:02} s", ms / 10),
        1..10 => format!("{seconds}.{} s", ms % 1000 / 100),
        10..120 => format!("{seconds} s"),
        120..7200 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A moment in seconds since the epoch as RFC 3339 has it, in UTC: "2026-07-28T12:00:00Z".
pub fn rfc3339(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years from March on, so that the leap day is the last; 400 of them have 146,097 days.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let of_years = of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096;
    let year = of_years / 365;
    let day_of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest % 3_600 / 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// "99,920".
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 line", "2,000 lines".
pub fn count(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", number(n), if n == 1 { "" } else { "s" })
}

/// Text of a pane in one short line for a header: control characters gone, cut to `most` characters.
pub fn one_line(text: &str, most: usize) -> String {
    let clean: String = text
        .trim()
        .chars()
        .map(|c| if c == '\n' { '⏎' } else { c })
        .filter(|c| !c.is_control())
        .collect();
    if clean.chars().count() <= most {
        return clean;
    }
    let head: String = clean.chars().take(most.saturating_sub(1)).collect();
    head + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As date(1) prints them.
    #[test]
    fn moments() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_827_696, "2000-02-29T12:34:56Z"),
            (1_785_240_000, "2026-07-28T12:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(seconds), text);
        }
    }

    #[test]
    fn readable() {
        let durations = [
            (0, "0.00 s"),
            (1_850, "1.8 s"),
            (12_000, "12 s"),
            (125_000, "2 min 5 s"),
            (12_000_000, "3 h 20 min"),
        ];
        for (ms, text) in durations {
            assert_eq!(duration(ms), text);
        }
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (99_920, "99,920"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(number(n), text);
        }
        assert_eq!(count(1, "line"), "1 line");
        assert_eq!(one_line(" a\x1b[31m\nb ", 99), "a[31m⏎b");
        assert_eq!(one_line("abcdef", 4), "abc…");
    }
}
