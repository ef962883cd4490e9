//! What a terminal printed, cut at our markers, and told in short.

use super::harness::NONCE;
use std::collections::BTreeMap;

/// One marker of ours: `ESC ] 133 ; letter [; status] ; key=value ... BEL`.
#[derive(Clone, Debug)]
pub struct Mark {
    pub letter: char,
    pub status: Option<String>,
    pub keys: BTreeMap<String, String>,
}

#[derive(Clone, Debug)]
pub enum Item {
    Text(Vec<u8>),
    Mark(Mark),
}

/// Cuts what a terminal printed at the markers with our nonce. Others stay in the text.
pub fn items(bytes: &[u8]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut text = Vec::new();
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        if let Some((mark, tail)) = mark(rest) {
            if !text.is_empty() {
                items.push(Item::Text(std::mem::take(&mut text)));
            }
            items.push(Item::Mark(mark));
            rest = tail;
        } else {
            text.push(first);
            rest = after;
        }
    }
    if !text.is_empty() {
        items.push(Item::Text(text));
    }
    items
}

fn mark(bytes: &[u8]) -> Option<(Mark, &[u8])> {
    let body = bytes.strip_prefix(b"\x1b]133;")?;
    let end = body.iter().position(|&byte| byte == 7)?;
    let body_text = std::str::from_utf8(&body[..end]).ok()?;
    let mut fields = body_text.split(';');
    let letter = fields.next()?.chars().next()?;
    let mut mark = Mark {
        letter,
        status: None,
        keys: BTreeMap::new(),
    };
    for (index, field) in fields.enumerate() {
        match field.split_once('=') {
            Some((key, value)) => drop(mark.keys.insert(key.into(), decode(value))),
            None if index == 0 => mark.status = Some(field.into()),
            None => return None,
        }
    }
    (mark.keys.get("n").map(String::as_str) == Some(NONCE)).then_some((mark, &body[end + 1..]))
}

/// A value: literal, or `~` and the hex of its bytes.
fn decode(value: &str) -> String {
    let Some(hex) = value.strip_prefix('~') else {
        return value.into();
    };
    let bytes = (0..hex.len() / 2).map(|at| {
        u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("two hex digits in a value")
    });
    String::from_utf8(bytes.collect()).expect("paths of the tests are UTF-8")
}

/// The items in short, what tests compare. `h` hello, `A`, `B`, `P` for a continuation prompt, `C`; `D3(1,0,3)` an
/// end with its status and stages; between C and D the output in quotes, as Rust writes it, with `\r\n` as `\n`.
/// Markers of the second of `pids` have one apostrophe, of the third two. A redrawn prompt counts once.
pub fn short(items: &[Item], pids: &[String]) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut output = false;
    for item in items {
        match item {
            Item::Text(text) => {
                let text = plain(text);
                if output && !text.is_empty() {
                    words.push(format!("{text:?}"));
                }
            }
            Item::Mark(mark) if mark.keys.get("k").is_some_and(|kind| kind == "e") => {
                output = false
            }
            Item::Mark(mark) => {
                output = mark.letter == 'C';
                words.push(mark.short(pids));
                while let [.., a, b, c, d] = &words[..] {
                    if (a, b) != (c, d) || !a.starts_with(['A', 'P']) || !b.starts_with('B') {
                        break;
                    }
                    words.truncate(words.len() - 2);
                }
            }
        }
    }
    words.join(" ")
}

impl Mark {
    fn short(&self, pids: &[String]) -> String {
        let key = |name| self.keys.get(name).map(String::as_str).unwrap_or_default();
        let mut word = match (self.letter, key("k")) {
            ('P', "h") => "h".into(),
            (letter, _) => format!("{letter}{}", self.status.as_deref().unwrap_or_default()),
        };
        if let Some(stages) = self.keys.get("p") {
            word += &format!("({stages})");
        }
        let shell = pids.iter().position(|pid| pid == key("pid"));
        word + &"'".repeat(shell.unwrap_or_default())
    }
}

/// Text as a person sees it on a terminal of 80 columns that moves within a line and erases to its end, and takes
/// all other control sequences for nothing.
pub fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = vec![Vec::new()];
    let mut column = 0;
    let mut rest = text.chars();
    while let Some(char) = rest.next() {
        let line = lines.last_mut().expect("there is always one");
        match char {
            '\x1b' => match rest.next() {
                Some('[') => {
                    let rest_text = rest.as_str();
                    let end = rest.find(|char| ('@'..='~').contains(char));
                    let count = rest_text
                        .chars()
                        .take_while(char::is_ascii_digit)
                        .collect::<String>();
                    let count = count.parse().unwrap_or(1);
                    match end {
                        Some('K' | 'J') => line.truncate(column),
                        Some('C') => column += count,
                        Some('D') => column = column.saturating_sub(count),
                        _ => {}
                    }
                }
                // Ended by BEL, or by ST, as fish 4 does.
                Some(']') => {
                    if let Some('\x1b') = rest.find(|char| matches!(char, '\x07' | '\x1b')) {
                        rest.next();
                    }
                }
                Some('P' | '_' | '^') => {
                    while rest.next().is_some_and(|char| char != '\x1b') {}
                    rest.next();
                }
                Some('(') => drop(rest.next()),
                _ => {}
            },
            '\n' => {
                lines.push(Vec::new());
                column = 0;
            }
            '\r' => column = 0,
            '\x08' => column = column.saturating_sub(1),
            char if char < ' ' => {}
            char => {
                if column == 80 {
                    lines.push(Vec::new());
                    column = 0;
                }
                let line = lines.last_mut().expect("there is always one");
                line.resize(line.len().max(column + 1), ' ');
                line[column] = char;
                column += 1;
            }
        }
    }
    let last = lines.len() - 1;
    let lines = lines.into_iter().map(String::from_iter).enumerate();
    // Zsh fills a line with blanks before its prompt.
    let lines = lines.map(|(at, line)| {
        if at == last {
            line
        } else {
            line.trim_end().into()
        }
    });
    lines.collect::<Vec<String>>().join("\n")
}
