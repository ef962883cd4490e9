#!/usr/bin/env python3
"""Writes src/term/width_table.rs: the class of every code point, from the newest Unicode data.

usage: pip install unicodedata2; python3 tests/data/width_table.py | rustfmt --edition 2024 > src/term/width_table.rs
"""
import unicodedata2 as unicode

ZERO, ONE, TWO, UNASSIGNED = range(4)
# Prepended_Concatenation_Mark (PropList.txt): format characters that are seen.
PREPENDED = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
# Surrogates are no characters; the two private planes are.
BLOCK = 256


def kind(code):
    category = unicode.category(chr(code))
    if category == "Cn":
        return UNASSIGNED
    # Circled numbers on black squares and the hexagrams: wide in every terminal's fonts.
    if 0x3248 <= code <= 0x324F or 0x4DC0 <= code <= 0x4DFF:
        return TWO
    # Hangul vowels and final consonants join the syllable that has begun.
    if 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FF:
        return ZERO
    if category in ("Mn", "Me", "Cf", "Zl", "Zp") and code != 0xAD and code not in PREPENDED:
        return ZERO
    return TWO if unicode.east_asian_width(chr(code)) in "WF" else ONE


def main():
    blocks, index = [], []
    for start in range(0, 0x110000, BLOCK):
        kinds = [kind(code) for code in range(start, start + BLOCK)]
        block = [sum(kinds[at + i] << 2 * i for i in range(4)) for at in range(0, BLOCK, 4)]
        if block not in blocks:
            blocks.append(block)
        index.append(blocks.index(block))
    print("//! The class of every code point. Made by tests/data/width_table.py; do not edit.")
    print()
    print(f'/// The version of Unicode.\npub const UNICODE: &str = "{unicode.unidata_version}";')
    print()
    print("/// For each 256 code points, which block of `CLASSES` is theirs.")
    print("#[rustfmt::skip]")
    print(f"pub static BLOCKS: [u8; {len(index)}] = [")
    for at in range(0, len(index), 32):
        print("    " + ", ".join(map(str, index[at:at + 32])) + ",")
    print("];")
    print()
    print("/// Two bits for each code point, the lowest first: 0 zero, 1 one, 2 two columns, 3 unassigned.")
    print("#[rustfmt::skip]")
    print(f"pub static CLASSES: [[u8; {BLOCK // 4}]; {len(blocks)}] = [")
    for block in blocks:
        print("    [" + ", ".join(map(str, block)) + "],")
    print("];")


main()
