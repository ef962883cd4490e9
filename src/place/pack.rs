//! Text made small for a command line: LZ77 and Huffman codes, written in characters that no shell treats specially
//! within single quotes. shell/bootstrap/unpack.awk reads it, so that the far side needs sh and awk, and nothing else.
//!
//! Must not know what the text is.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// What makes the text again: an awk program that reads the packed characters, on one line, since csh knows no
/// quoted line breaks.
pub fn unpacker() -> String {
    include_str!("../../shell/bootstrap/unpack.awk")
        .trim_end()
        .replace('\n', ";")
}

/// Printable ASCII without the quotes, `!` (csh) and the backslash (fish), which some shell takes for its own inside
/// single quotes.
const ALPHABET: usize = 91;

/// Bits in two characters: 91 * 91 is just over 2^13.
const CHUNK: u32 = 13;

/// Codes: 0 to 95 a character (blank to tilde, then the line break), then lengths, then the end.
const LENGTHS: usize = 96;
const END: usize = 116;
const DISTANCES: usize = 32;

/// A shorter match costs more than its characters.
const SHORTEST: usize = 3;
const LONGEST: usize = 512;

/// Earlier places that are looked at for a match: more gains nothing.
const CANDIDATES: usize = 256;

/// Each round knows the costs better; the fifth changes nothing any more.
const ROUNDS: usize = 4;

#[derive(Clone, Copy, Debug)]
enum Step {
    Literal(usize),
    Copy { length: usize, distance: usize },
}

/// `None` when the text holds something else than printable ASCII and line breaks.
pub fn pack(text: &str) -> Option<String> {
    let symbols: Vec<usize> = text.bytes().map(symbol).collect::<Option<_>>()?;
    let matches = matches(&symbols);
    let mut literal = vec![8; END + 1];
    let mut distance = vec![5; DISTANCES];
    let mut steps = Vec::new();
    for _ in 0..ROUNDS {
        steps = cheapest(&symbols, &matches, &literal, &distance);
        let (mut literals, mut distances) = (vec![0; END + 1], vec![0; DISTANCES]);
        literals[END] = 1;
        for step in &steps {
            match *step {
                Step::Literal(symbol) => literals[symbol] += 1,
                Step::Copy { length, distance } => {
                    literals[LENGTHS + bucket(length - 2).0] += 1;
                    distances[bucket(distance).0] += 1;
                }
            }
        }
        (literal, distance) = (code_lengths(&literals), code_lengths(&distances));
    }
    Some(write(&steps, &literal, &distance))
}

fn symbol(byte: u8) -> Option<usize> {
    match byte {
        b'\n' => Some(LENGTHS - 1),
        b' '..=b'~' => Some(usize::from(byte - b' ')),
        _ => None,
    }
}

/// A number from 1 on as a code, and the bits after it: how many, and their value.
fn bucket(value: usize) -> (usize, u32, usize) {
    let value = value - 1;
    if value < 4 {
        return (value, 0, 0);
    }
    let bits = value.ilog2() - 1;
    let code = 2 * bits as usize + (value >> bits);
    (code, bits, value & ((1 << bits) - 1))
}

/// For each place the matches that begin there: the longest length for which this is the nearest one.
fn matches(symbols: &[usize]) -> Vec<Vec<(usize, usize)>> {
    let mut seen: HashMap<&[usize], Vec<usize>> = HashMap::new();
    let mut all = vec![Vec::new(); symbols.len()];
    for here in 0..symbols.len().saturating_sub(SHORTEST - 1) {
        let earlier = seen.entry(&symbols[here..here + SHORTEST]).or_default();
        let mut best = SHORTEST - 1;
        for &there in earlier.iter().rev().take(CANDIDATES) {
            let distance = here - there;
            // The unpacker copies what is there already: a match does not reach into itself.
            let most = distance.min(symbols.len() - here).min(LONGEST);
            if most <= best || symbols[there + best] != symbols[here + best] {
                continue;
            }
            let same = symbols[there..there + most]
                .iter()
                .zip(&symbols[here..])
                .take_while(|(a, b)| a == b)
                .count();
            if same > best {
                best = same;
                all[here].push((same, distance));
            }
        }
        earlier.push(here);
    }
    all
}

/// The steps that take the fewest bits, by these code lengths.
fn cheapest(
    symbols: &[usize],
    matches: &[Vec<(usize, usize)>],
    literal: &[u32],
    distance: &[u32],
) -> Vec<Step> {
    let count = symbols.len();
    let mut cost = vec![0; count + 1];
    let mut choice = vec![Step::Literal(0); count];
    for here in (0..count).rev() {
        cost[here] = literal[symbols[here]] + cost[here + 1];
        choice[here] = Step::Literal(symbols[here]);
        let mut length = SHORTEST;
        for &(most, far) in &matches[here] {
            let (code, bits, _) = bucket(far);
            let reach = distance[code] + bits;
            for length in length..=most {
                let (code, bits, _) = bucket(length - 2);
                let total = literal[LENGTHS + code] + bits + reach + cost[here + length];
                if total < cost[here] {
                    cost[here] = total;
                    choice[here] = Step::Copy {
                        length,
                        distance: far,
                    };
                }
            }
            length = most + 1;
        }
    }
    let mut steps = Vec::new();
    let mut here = 0;
    while here < count {
        steps.push(choice[here]);
        here += match choice[here] {
            Step::Literal(_) => 1,
            Step::Copy { length, .. } => length,
        };
    }
    steps
}

/// Lengths of Huffman's codes for symbols that occur so often. What does not occur gets none, written as 0; for the
/// search it costs more than anything that does.
fn code_lengths(counts: &[usize]) -> Vec<u32> {
    let mut heap: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
    let mut parents = vec![0; counts.len()];
    for (symbol, &count) in counts.iter().enumerate() {
        if count > 0 {
            heap.push(Reverse((count, symbol)));
        }
    }
    if heap.len() == 1 {
        return counts.iter().map(|&count| u32::from(count > 0)).collect();
    }
    while let (Some(Reverse(a)), Some(Reverse(b))) = (heap.pop(), heap.pop()) {
        let node = parents.len();
        parents.push(0);
        (parents[a.1], parents[b.1]) = (node, node);
        if heap.is_empty() {
            break;
        }
        heap.push(Reverse((a.0 + b.0, node)));
    }
    let root = parents.len() - 1;
    let depth = |symbol: usize| {
        let (mut node, mut depth) = (symbol, 0);
        while node != root {
            node = parents[node];
            depth += 1;
        }
        depth
    };
    counts
        .iter()
        .enumerate()
        .map(|(symbol, &count)| if count > 0 { depth(symbol) } else { UNUSED })
        .collect()
}

/// Stands for no code in a table of lengths.
const UNUSED: u32 = 40;

/// The codes themselves: numbered within each length, in the symbols' order.
fn codes(lengths: &[u32]) -> Vec<u32> {
    let mut codes = vec![0u32; lengths.len()];
    let mut next: u32 = 0;
    for length in 1..UNUSED {
        for (symbol, _) in lengths
            .iter()
            .enumerate()
            .filter(|(_, own)| **own == length)
        {
            codes[symbol] = next;
            next += 1;
        }
        next = next.wrapping_mul(2);
    }
    codes
}

fn write(steps: &[Step], literal: &[u32], distance: &[u32]) -> String {
    let alphabet: Vec<char> = (b' '..=b'~')
        .map(char::from)
        .filter(|c| !r#"!"'\"#.contains(*c))
        .collect();
    debug_assert_eq!(alphabet.len(), ALPHABET);
    let mut packed: String = literal
        .iter()
        .chain(distance)
        .map(|&length| alphabet[if length == UNUSED { 0 } else { length as usize }])
        .collect();
    let mut bits: Vec<bool> = Vec::new();
    let mut put = |value: usize, count: u32| {
        bits.extend((0..count).rev().map(|at| value >> at & 1 == 1));
    };
    let (literals, distances) = (codes(literal), codes(distance));
    for step in steps {
        match *step {
            Step::Literal(symbol) => put(literals[symbol] as usize, literal[symbol]),
            Step::Copy {
                length,
                distance: far,
            } => {
                let (code, count, extra) = bucket(length - 2);
                put(literals[LENGTHS + code] as usize, literal[LENGTHS + code]);
                put(extra, count);
                let (code, count, extra) = bucket(far);
                put(distances[code] as usize, distance[code]);
                put(extra, count);
            }
        }
    }
    put(literals[END] as usize, literal[END]);
    for chunk in bits.chunks(CHUNK as usize) {
        let mut value = chunk
            .iter()
            .fold(0, |value, &bit| value * 2 + usize::from(bit));
        value <<= CHUNK as usize - chunk.len();
        packed.push(alphabet[value / ALPHABET]);
        packed.push(alphabet[value % ALPHABET]);
    }
    packed
}

#[cfg(test)]
mod tests;
