//! The three kinds of output that the terminal is measured with, from a fixed seed: logs without a sequence,
//! coloured build output, progress bars with characters of every width. Lines end in CR LF, as in a pane's log.

use std::fmt::Write as _;

/// Appends a piece of the input; the number counts the pieces.
pub type Input = fn(&mut Random, u64, &mut String);

/// A small generator (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new() -> Random {
        Random(0x2026_0101)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn range(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.range(0, from.len() as u64) as usize]
    }
}

// Writing to a String cannot fail.
macro_rules! put {
    ($out:expr, $($format:tt)*) => { let _ = write!($out, $($format)*); };
}

/// Log lines of 60 to 240 columns.
pub fn plain(random: &mut Random, turn: u64, out: &mut String) {
    const LEVELS: [&str; 4] = ["INFO ", "DEBUG", "WARN ", "ERROR"];
    const MODULES: [&str; 8] = [
        "net::http::server",
        "db.pool",
        "worker-7",
        "auth",
        "scheduler",
        "kernel: eth0",
        "gc",
        "cache.lru",
    ];
    const WORDS: &str = "request accepted connection closed timeout retry backoff shard replica commit rollback flush \
                         index segment merged user session token expired renewed payload bytes latency quota exceeded";
    let words: Vec<&str> = WORDS.split(' ').collect();
    let (seconds, millis) = (turn / 10, random.range(0, 1000));
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let (level, module, id) = (
        random.pick(&LEVELS),
        random.pick(&MODULES),
        random.next() as u32,
    );
    put!(
        out,
        "2026-03-01T{hour:02}:{minute:02}:{second:02}.{millis:03}Z {level} [{module}] id={id:08x} n={turn}"
    );
    for _ in 0..random.range(4, 22) {
        put!(out, " {}", random.pick(&words));
    }
    out.push_str("\r\n");
}

/// What cargo, pytest, npm and diff print.
pub fn colour(random: &mut Random, turn: u64, out: &mut String) {
    const E: &str = "\x1b[";
    const CRATES: [&str; 15] = [
        "serde",
        "regex",
        "libc",
        "tokio",
        "hyper",
        "rand",
        "syn",
        "quote",
        "proc-macro2",
        "memchr",
        "bytes",
        "futures",
        "clap",
        "anyhow",
        "thiserror",
    ];
    const TESTS: [&str; 8] = [
        "test_parse",
        "test_wrap",
        "test_cjk",
        "test_reflow",
        "test_osc",
        "test_progress",
        "test_resize",
        "test_scroll",
    ];
    let name = random.pick(&CRATES);
    let version = format!(
        "{}.{}.{}",
        random.range(0, 3),
        random.range(0, 30),
        random.range(0, 20)
    );
    match random.range(0, 100) {
        0..35 => {
            put!(
                out,
                "{E}0m{E}0m{E}1m{E}32m   Compiling{E}0m {name} v{version} (/src/{name})\r\n"
            );
        }
        35..50 => {
            let (file, test, gap) = (
                random.pick(&TESTS),
                random.pick(&TESTS),
                random.range(1, 30) as usize,
            );
            put!(
                out,
                "tests/unit/{file}.py::{test}[case-{turn}] {E}32mPASSED{E}0m{E}32m{:gap$}",
                ""
            );
            put!(out, "[{:3}%]{E}0m\r\n", turn % 100);
        }
        50..60 => {
            let (line, column) = (turn % 900, turn % 80);
            put!(
                out,
                "{E}0m{E}1m{E}33mwarning{E}0m{E}0m{E}1m: unused variable: `{name}_{turn}`{E}0m\r\n"
            );
            put!(
                out,
                "{E}0m   {E}0m{E}0m{E}1m{E}38;5;12m--> {E}0m{E}0msrc/{name}/mod.rs:{line}:{column}{E}0m\r\n"
            );
            put!(out, "{E}0m    {E}0m{E}0m{E}1m{E}38;5;12m|{E}0m\r\n");
            put!(
                out,
                "{E}0m{E}1m{E}38;5;12m{line:4}{E}0m{E}0m {E}0m{E}0m{E}1m{E}38;5;12m|{E}0m{E}0m     let "
            );
            put!(
                out,
                "{name}_{turn} = foo();{E}0m\r\n{E}0m    {E}0m{E}0m{E}1m{E}38;5;12m|{E}0m{E}0m         {E}0m"
            );
            put!(
                out,
                "{E}0m{E}1m{E}33m^^^^^^^{E}0m{E}0m {E}0m{E}0m{E}1m{E}33mhelp: prefix with `_`{E}0m\r\n\r\n"
            );
        }
        60..75 => {
            let (r, g, b) = (
                random.range(0, 256),
                random.range(0, 256),
                random.range(0, 256),
            );
            put!(
                out,
                "{E}38;2;{r};{g};{b}m{name}{E}39m {E}2m{version}{E}22m {E}4m{name}.js{E}24m "
            );
            put!(out, "{E}90m{turn}ms{E}39m\r\n");
        }
        75..82 => {
            put!(
                out,
                "  {E}32m✓{E}39m {E}90m{name} › {} — {turn} ms{E}39m\r\n",
                random.pick(&TESTS)
            );
        }
        82..88 => {
            put!(
                out,
                "\x1b]8;;https://example.org/{name}/{version}\x1b\\{E}36m{name}{E}39m\x1b]8;;\x1b\\ "
            );
            put!(out, "{E}1m→{E}22m {version}\r\n");
        }
        88..94 => {
            put!(
                out,
                "{E}34m├──{E}0m {E}1;34m{name}{E}0m\r\n{E}34m│   └──{E}0m lib.rs{E}K\r\n"
            );
        }
        94..99 => {
            put!(
                out,
                "{E}31m- old_{name} = {turn}{E}m{E}K\r\n{E}32m+ new_{name} = {}{E}m{E}K\r\n",
                turn + 1
            );
        }
        _ => {
            put!(out, "\x1b]0;cargo build {turn}\x07");
        }
    }
}

/// tqdm, indicatif, docker, pip and git.
pub fn progress(random: &mut Random, _turn: u64, out: &mut String) {
    const E: &str = "\x1b[";
    const EIGHTHS: [&str; 9] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
    const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
    const LABELS: [&str; 12] = [
        "下载模型",
        "インストール中",
        "설치 중",
        "résumé.tar",
        "e\u{301}te\u{301}.bin",
        "🚀 deploy",
        "👩\u{200D}💻 build",
        "❤\u{FE0F} sync",
        "🇯🇵 mirror",
        "👍🏽 verify",
        "layer 3f2a",
        "wheel torch",
    ];
    let (label, total, id) = (random.pick(&LABELS), random.range(40, 400), random.next());
    let rate = |random: &mut Random| random.range(0, 9000) as f64 / 100.0;
    match random.range(0, 5) {
        0 => {
            for i in 0..=total {
                let eighths = (i * 24 * 8 / total) as usize;
                let bar = format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8]);
                put!(
                    out,
                    "\r{label}: {:3}%|{bar:24}| {i}/{total} ",
                    100 * i / total
                );
                let (past, left) = (i % 60, (total - i) % 60);
                put!(out, "[00:{past:02}<00:{left:02}, {:5.2}it/s]", rate(random));
            }
            out.push_str("\r\n");
        }
        1 => {
            for i in 0..=total {
                let done = (30 * i / total) as usize;
                let (spin, minute, second) = (SPINNER[(i % 10) as usize], i / 60, i % 60);
                put!(
                    out,
                    "\r{E}2K{E}32m{spin}{E}0m [{minute:02}:{second:02}] [{E}36m{}",
                    "#".repeat(done)
                );
                put!(
                    out,
                    "{E}34m{}{E}0m] {i}MiB/{total}MiB {label}",
                    ">".repeat(usize::from(done < 30))
                );
            }
            put!(out, "\r{E}2Kdone {label} {id:012x}\r\n");
        }
        2 => {
            for _ in 0..4 {
                put!(out, "{}: waiting\r\n", random.pick(&LABELS));
            }
            for i in (0..=total).step_by(2) {
                let (up, done) = (4 - i % 4, (i * 30 / total) as usize);
                put!(
                    out,
                    "{E}{up}A{E}2K\r{:08x} {label}: Downloading [{}>",
                    id as u32,
                    "=".repeat(done)
                );
                put!(out, "{:1$}] {i}kB/{total}kB{E}{up}B\r", "", 30 - done);
            }
        }
        3 => {
            put!(out, "{E}?25l");
            for i in 0..=total {
                let done = (40 * i / total) as usize;
                put!(
                    out,
                    "\r{E}2K   {E}38;2;114;156;31m{}{E}0m{E}38;5;237m",
                    "━".repeat(done)
                );
                put!(
                    out,
                    "{}{E}0m {E}32m{i}/{total} MB{E}0m ",
                    "━".repeat(40 - done)
                );
                put!(
                    out,
                    "{E}31m{:.1} MB/s{E}0m eta {E}36m0:00:{:02}{E}0m",
                    rate(random),
                    (total - i) % 60
                );
            }
            put!(out, "\r{E}2K{E}?25h{label} ok {id:012x}\r\n");
        }
        _ => {
            for i in 0..=100 {
                put!(
                    out,
                    "\rReceiving objects: {i:3}% ({}/{total}), {:.2} MiB | ",
                    i * total / 100,
                    rate(random)
                );
                put!(out, "{:.2} MiB/s", rate(random));
            }
            put!(out, ", done.{E}K\r\n");
        }
    }
}
