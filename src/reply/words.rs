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
