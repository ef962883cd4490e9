//! Seeded random mixes of everything that a terminal is sent. Shared with the unit tests of src/term.

/// A small generator (xorshift64*), so that a seed names a case for ever.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        // Any odd number does: the state must not be 0.
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// From 0 to `end`, exclusive.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 32) as usize % end.max(1)
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// What a mix is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ASCII and every sequence.
    Sequences,
    /// Wide characters, combining marks and emoji, and the sequences that cut no wide character in half.
    Characters,
    /// ASCII and sequences that nobody sends: every final byte, intermediates and parameters of any form.
    Odd,
    /// Anything at all, as bytes.
    Junk,
}

/// One piece of a mix for a screen of `cols` by `rows`.
fn piece(random: &mut Random, kind: Kind, cols: usize, rows: usize, out: &mut Vec<u8>) {
    let roll = random.below(20);
    match kind {
        Kind::Junk if roll < 6 => {
            for _ in 0..random.below(6) {
                out.push(random.next() as u8);
            }
        }
        Kind::Junk if roll < 9 => {
            out.extend_from_slice("漢é🙂👩\u{200D}💻a\u{301}\u{FFFD}".as_bytes())
        }
        Kind::Characters if roll < 8 => characters(random, out),
        Kind::Odd if roll < 9 => odd(random, out),
        Kind::Characters if roll == 10 => {
            let pieces = [
                "\x1b[2J\x1b[H",
                "\x1b[H\x1b[J",
                "\x1b[K",
                "\x1b[L",
                "\x1b[M",
                "\x1b[S",
                "\x1b[31m",
                "\x1b]0;é漢\x07",
            ];
            out.extend_from_slice(random.pick(&pieces).as_bytes());
        }
        _ => match roll {
            0..=6 => text(random, cols, out),
            7 | 8 => out.extend_from_slice(b"\r\n"),
            9 => {
                let controls = ["\n", "\r", "\x0b", "\x0c", "\x07", "\0", "\x7f", "\x05"];
                out.extend_from_slice(random.pick(&controls).as_bytes());
            }
            _ if kind == Kind::Characters => text(random, cols, out),
            10 => {
                let pieces = ["\t", "\t\t", "\x08", "\x08\x08\x08", "\x08 \x08"];
                out.extend_from_slice(random.pick(&pieces).as_bytes());
            }
            11 => strings(random, out),
            12 | 13 => modes(random, rows, out),
            _ => sequence(random, cols, rows, out),
        },
    }
}

fn text(random: &mut Random, cols: usize, out: &mut Vec<u8>) {
    let count = match random.below(8) {
        0 => cols,
        1 => random.below(cols * 3),
        _ => 1 + random.below(6),
    };
    let first = b"aAk0 "[random.below(5)];
    for i in 0..count {
        out.push(if first == b' ' {
            b' '
        } else {
            first + (i % 10) as u8
        });
    }
}

fn characters(random: &mut Random, out: &mut Vec<u8>) {
    let pieces = [
        "漢",
        "漢字かな",
        "é",
        "e\u{301}",
        "한글",
        "🙂",
        "👩\u{200D}💻",
        "❤\u{FE0F}",
        "1\u{FE0F}\u{20E3}",
        "🇯🇵",
        "👍🏽",
        "\u{200B}",
        "\u{AD}",
        "│─┼",
        "█▏",
        "a\u{308}\u{323}",
        "ｱ",
        "Ａ",
        "\u{1112}\u{1161}\u{11AB}",
        "\u{E0B0}",
        "\u{378}",
        "x",
    ];
    for _ in 0..1 + random.below(5) {
        out.extend_from_slice(random.pick(&pieces).as_bytes());
    }
}

fn strings(random: &mut Random, out: &mut Vec<u8>) {
    let pieces = [
        "\x1b]0;title\x07",
        "\x1b]2;t\x1b\\",
        "\x1b]8;;http://x/\x1b\\",
        "\x1b]8;;\x07",
        "\x1b]52;c;QQ==\x07",
        "\x1b]0;cut\x18",
        "\x1b]0;cut\x1b[2C",
        "\x1bP$qm\x1b\\",
        "\x1bPtmux;\x1b\x1b]52;c;Q\x07\x1b\\",
        "\x1bP1;2\x1b[3D",
        "\x1bPq#0;2\x1b[C\x18\x1b\\",
        "\x1b_Gi=1;AAAA\x1b\\",
        "\x1b^pm\x07\x1b\\",
        "\x1bXsos\x1a",
        "\x1bkname\x1b\\",
        "\x1b]133;A\x07",
        "\x1b]7;file:///\x07",
        "\x1bP:1\x1b\\",
        "\x1b]112\x07",
    ];
    out.extend_from_slice(random.pick(&pieces).as_bytes());
}

fn modes(random: &mut Random, rows: usize, out: &mut Vec<u8>) {
    if random.one_in(4) {
        let top = 1 + random.below(rows);
        let bottom = 1 + random.below(rows + 1);
        out.extend_from_slice(format!("\x1b[{top};{bottom}r").as_bytes());
        return;
    }
    let pieces = [
        "\x1b[r",
        "\x1b[?7l",
        "\x1b[?7h",
        "\x1b[?7h",
        "\x1b[?7h",
        "\x1b[4h",
        "\x1b[4l",
        "\x1b[4l",
        "\x1b[?6h",
        "\x1b[?6l",
        "\x1b[?6l",
        "\x1b[?1049h",
        "\x1b[?1049l",
        "\x1b[?1049l",
        "\x1b[?1047h",
        "\x1b[?47l",
        "\x1b[?1047l",
        "\x1bc",
        "\x1b7",
        "\x1b8",
        "\x1b[s",
        "\x1b[u",
        "\x1b#8",
        "\x1b[?3h",
        "\x1bH",
        "\x1b[g",
        "\x1b[3g",
        "\x1b[?25l",
        "\x1b[?2026h",
        "\x1b[?2004h",
        "\x1b[20h",
        "\x1b=",
        "\x1b(0",
        "\x1b(B",
        "\x1b(B",
        "\x1b)0",
        "\x0e",
        "\x0f",
        "\x0f",
        "\x1b[!p",
        "\x1b[?1048h",
        "\x1b[?69h",
        "\x1b[?4h",
        "\x1b[?7;6h",
        "\x1b[?6;7l",
        "\x1b[?1000;1006h",
        "\x1b[4;20l",
        "\x1b[ q",
        "\x1b[>4;1m",
        "\x1b[?u",
        "\x1b%G",
        "\x1b F",
    ];
    out.extend_from_slice(random.pick(&pieces).as_bytes());
}

fn sequence(random: &mut Random, cols: usize, rows: usize, out: &mut Vec<u8>) {
    let number = |random: &mut Random, most: usize| match random.below(8) {
        0 => String::new(),
        1 => String::from("0"),
        2 => String::from("999"),
        3 => most.to_string(),
        _ => (1 + random.below(most)).to_string(),
    };
    let finals = "@@AABCCDDEFGGHHHJJKKKLLMMPPSTXXZ`bbdfabejmst]{|}u'~IW";
    let last = finals.as_bytes()[random.below(finals.len())];
    let first = match last {
        // Not 3: the log keeps what `CSI 3 J` makes tmux forget.
        b'J' | b'K' => random.pick(&["", "0", "1", "2", "4", "1", ""]).to_owned(),
        b't' => String::from("18"),
        b'A' | b'B' | b'L' | b'M' | b'S' | b'T' | b'd' | b'E' | b'F' => number(random, rows),
        b'H' | b'f' => format!("{};{}", number(random, rows), number(random, cols)),
        _ => number(random, cols),
    };
    let control = if random.one_in(24) {
        random.pick(&["\x08", "\r", "\n", "\0", "\x7f", "\x18", "\x1a", "\x1b"])
    } else {
        ""
    };
    let extra = if random.one_in(24) {
        random.pick(&[";", ";5", ":2", "?", " ", "$", "<", ";;;;", "!", "\u{e9}"])
    } else {
        ""
    };
    let private = if random.one_in(40) {
        random.pick(&["?", ">", "=", "<"])
    } else {
        ""
    };
    out.extend_from_slice(format!("\x1b[{private}{first}{extra}{control}").as_bytes());
    out.push(last);
    if random.one_in(12) {
        out.extend_from_slice(
            random
                .pick(&[
                    "\x1bD",
                    "\x1bE",
                    "\x1bM",
                    "\x1bM",
                    "\x1b\\",
                    "\x1b!x",
                    "\x1b\x1b[C",
                    "\x1b\r[C",
                    "\x1bZ",
                ])
                .as_bytes(),
        );
    }
}

/// A byte from `first` to `last`.
fn any(random: &mut Random, first: u8, last: u8) -> u8 {
    first + random.below(usize::from(last - first) + 1) as u8
}

fn odd(random: &mut Random, out: &mut Vec<u8>) {
    let begun = out.len();
    out.push(0x1b);
    match random.below(8) {
        0 => out.push(any(random, b'0', b'~')),
        1 => {
            for _ in 0..1 + random.below(3) {
                out.push(any(random, b' ', b'/'));
            }
            out.push(any(random, b'0', b'~'));
        }
        2 => odd_string(random, out),
        _ => odd_csi(random, out),
    }
    // A string takes what follows: most end soon.
    let opens = |byte: &u8| matches!(byte, b'P' | b']' | b'_' | b'^' | b'X' | b'k');
    if out.get(begun + 1).is_some_and(opens) && !random.one_in(6) {
        out.extend_from_slice(
            random
                .pick(&["\x1b\\", "\x1b\\", "\x07\x1b\\", "\x18\x1b\\"])
                .as_bytes(),
        );
    }
}

fn odd_string(random: &mut Random, out: &mut Vec<u8>) {
    out.push(b"P]]]_^Xk"[random.below(8)]);
    let heads = [
        "", "0;", "1;", "2;", "4;1;", "7;", "8;;", "9;", "10;", "12;", "52;;", "104", "112",
        "133;", "1337;", "x", ";", "00;", "tmux;", "1$r", "q", ">|", ":",
    ];
    out.extend_from_slice(random.pick(&heads).as_bytes());
    for _ in 0..random.below(12) {
        out.push(match random.below(12) {
            0 => any(random, 0, 0x1a),
            _ => any(random, b' ', b'~'),
        });
    }
}

fn odd_csi(random: &mut Random, out: &mut Vec<u8>) {
    let begun = out.len();
    out.push(b'[');
    if random.one_in(4) {
        out.push(any(random, b'<', b'?'));
    }
    for at in 0..random.below(5) {
        if at > 0 {
            out.push(if random.one_in(6) { b':' } else { b';' });
        }
        let numbers = [
            "",
            "0",
            "1",
            "2",
            "3",
            "4",
            "6",
            "7",
            "20",
            "47",
            "69",
            "1047",
            "1048",
            "1049",
            "002",
            "65535",
            "65536",
            "2147483647",
            "2147483648",
            "99999999999999999999",
        ];
        out.extend_from_slice(random.pick(&numbers).as_bytes());
    }
    if random.one_in(4) {
        out.push(any(random, b' ', b'/'));
    }
    if random.one_in(12) {
        out.push(any(random, b'0', b'?'));
    }
    if random.one_in(12) {
        out.push(any(random, 0, 0x1f));
    }
    let last = any(random, b'@', b'~');
    // The log keeps what `CSI 3 J` makes tmux forget.
    let forgets = last == b'J' && out[begun..].contains(&b'3');
    out.push(if forgets { b'K' } else { last });
}

/// A whole mix of about `pieces` pieces.
pub fn mix(random: &mut Random, kind: Kind, cols: usize, rows: usize, pieces: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for _ in 0..1 + random.below(pieces) {
        piece(random, kind, cols, rows, &mut out);
    }
    out
}
