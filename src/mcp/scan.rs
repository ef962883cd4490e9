//! One look at a line that may not be JSON: how deep it nests, and which id it bears. Takes the line in pieces,
//! so that a line too long to keep can still be answered. Must not know the JSON grammar: junk is a state.

use super::message::Id;

/// Ids longer than this are not recovered from a line that does not parse.
const RECOVERED_ID_BYTES: usize = 1024;

/// What is being collected at the top level of the line's object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Nothing that matters.
    Other,
    /// A key, or what may be one.
    Key,
    /// Between the key `"id"` and its colon, or between the colon and the value.
    BeforeId,
    /// An id that is a string.
    IdText,
    /// An id that is a number; complete at the first byte that cannot belong to it.
    IdNumber,
}

/// The scanner's state after the bytes fed so far. Feeding A then B equals feeding AB.
#[derive(Debug)]
pub struct Scan {
    depth: u32,
    deepest: u32,
    in_string: bool,
    escaped: bool,
    /// True where the next string at depth 1 is a key.
    at_key: bool,
    part: Part,
    collected: Vec<u8>,
    id: Option<Id>,
}

impl Default for Scan {
    fn default() -> Self {
        Self {
            depth: 0,
            deepest: 0,
            in_string: false,
            escaped: false,
            at_key: false,
            part: Part::Other,
            collected: Vec::new(),
            id: None,
        }
    }
}

impl Scan {
    /// The state after a whole line.
    pub fn line(line: &[u8]) -> Self {
        let mut scan = Self::default();
        scan.feed(line);
        scan
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string {
                self.string_byte(byte);
            } else {
                self.plain_byte(byte);
            }
        }
    }

    /// The deepest nesting of arrays and objects, counted outside strings; 1 for `{}`.
    pub fn deepest(&self) -> u32 {
        self.deepest
    }

    /// The first complete and valid id at the top level of an object.
    pub fn id(self) -> Option<Id> {
        self.id
    }

    fn string_byte(&mut self, byte: u8) {
        self.collect(byte);
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            self.in_string = false;
            match self.part {
                Part::Key if self.collected == b"\"id\"" => self.part = Part::BeforeId,
                Part::Key => self.part = Part::Other,
                Part::IdText => self.complete(),
                _ => {}
            }
        }
    }

    fn plain_byte(&mut self, byte: u8) {
        if self.part == Part::IdNumber {
            if matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E') {
                self.collect(byte);
                return;
            }
            self.complete();
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if self.part == Part::BeforeId {
                    self.start(Part::IdText, byte);
                } else if self.depth == 1 && self.at_key {
                    self.at_key = false;
                    self.start(Part::Key, byte);
                }
            }
            b'-' | b'0'..=b'9' if self.part == Part::BeforeId => self.start(Part::IdNumber, byte),
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                self.deepest = self.deepest.max(self.depth);
                self.at_key = byte == b'{' && self.depth == 1;
                self.part = Part::Other;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.part = Part::Other;
            }
            b',' => {
                self.at_key = self.depth == 1;
                self.part = Part::Other;
            }
            _ => {}
        }
    }

    fn start(&mut self, part: Part, first: u8) {
        self.part = part;
        self.collected.clear();
        self.collected.push(first);
    }

    fn collect(&mut self, byte: u8) {
        if matches!(self.part, Part::Key | Part::IdText | Part::IdNumber) {
            if self.collected.len() < RECOVERED_ID_BYTES {
                self.collected.push(byte);
            } else {
                self.part = Part::Other;
            }
        }
    }

    fn complete(&mut self) {
        self.part = Part::Other;
        if self.id.is_none() {
            self.id = std::str::from_utf8(&self.collected)
                .ok()
                .and_then(Id::from_json);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(line: &[u8]) -> Option<String> {
        let whole = Scan::line(line);
        let mut pieces = Scan::default();
        for byte in line {
            pieces.feed(std::slice::from_ref(byte));
        }
        assert_eq!(whole.deepest, pieces.deepest);
        assert_eq!(whole.id, pieces.id);
        whole.id().map(|id| id.to_json())
    }

    #[test]
    fn id_of_a_broken_line() {
        for (line, expected) in [
            (&br#"{"id":7,"method":"#[..], Some("7")),
            (
                br#"{"jsonrpc":"2.0","params":{"id":1,"a":[{"id":2}]},"id":"x\"y","#,
                Some(r#""x\"y""#),
            ),
            (br#"{"a":"\ud800","id": -12 }"#, Some("-12")),
            (
                b"{\"a\":\"\xff\",\"id\":99999999999999999999999999}",
                Some("99999999999999999999999999"),
            ),
            (br#"{"id":12"#, None),
            (br#"{"id":"cut"#, None),
            (br#"{"id":null,"#, None),
            (br#"{"id":{"id":3},"#, None),
            (br#"{"id":"\ud800","#, None),
            (br#"{"id":1e5,"#, None),
            (br#"{"a":"id",5,"#, None),
            (br#"{"a":"id","id":6,"#, Some("6")),
            (br#"[{"id":3},"#, None),
            (br#"}}]{"id":4}"#, Some("4")),
            (b"", None),
        ] {
            assert_eq!(
                id(line).as_deref(),
                expected,
                "{}",
                String::from_utf8_lossy(line)
            );
        }
    }

    #[test]
    fn a_long_id_is_not_recovered() {
        let line = format!(r#"{{"id":"{}","#, "x".repeat(RECOVERED_ID_BYTES));
        assert_eq!(id(line.as_bytes()), None);
    }

    #[test]
    fn depth_counts_outside_strings() {
        assert_eq!(Scan::line(br#"{"a":[1,{"b":"[[[["}]}"#).deepest(), 3);
        assert_eq!(Scan::line(b"1").deepest(), 0);
        assert_eq!(Scan::line(&b"[".repeat(100_000)).deepest(), 100_000);
    }
}
