//! The terminal as a whole. What tmux would show is asked of tmux in tests/term.rs; here is what only we promise.

mod log;
/// Shared with the tests of session and with the black-box tests.
#[path = "../../tests/util/mix.rs"]
pub(crate) mod mix;
mod prompt;
mod properties;

use super::{Event, MarkId, MarkerKind, Options, Output, Terminal, width::Rules};

/// A terminal that is told things, and its whole output.
pub struct Told {
    pub terminal: Terminal,
    pub out: Output,
}

pub fn options(cols: u16, rows: u16) -> Options {
    Options {
        cols,
        rows,
        rules: Rules::default(),
        nonce: Some("x".into()),
        hold_back: 0,
    }
}

impl Told {
    pub fn new(options: Options) -> Told {
        Told {
            terminal: Terminal::new(options),
            out: Output::default(),
        }
    }

    pub fn feed(&mut self, bytes: impl AsRef<[u8]>) -> &mut Told {
        self.terminal.feed(bytes.as_ref(), &mut self.out);
        self
    }

    /// The whole cooked log now.
    pub fn log(&self) -> String {
        let mut text = String::from_utf8(self.out.text.clone()).unwrap();
        text.push_str(&self.terminal.live_text());
        text
    }

    /// Where the markers stand.
    pub fn marks(&self) -> Vec<MarkId> {
        let mark = |event: &Event| match event {
            Event::Marker { mark, .. } => Some(*mark),
            _ => None,
        };
        self.out.events.iter().filter_map(mark).collect()
    }

    pub fn markers(&self) -> Vec<&MarkerKind> {
        let markers = self.out.events.iter().filter_map(|event| match event {
            Event::Marker { marker, .. } => Some(&marker.kind),
            _ => None,
        });
        markers.collect()
    }
}

/// A marker with the nonce.
pub fn marker(text: &str) -> String {
    format!("\x1b]133;{text};n=x;pid=1\x07")
}

/// The log that bytes make on a screen.
#[track_caller]
pub fn check(cols: u16, rows: u16, bytes: impl AsRef<[u8]>, expected: &str) {
    let mut told = Told::new(options(cols, rows));
    told.feed(bytes.as_ref());
    assert_eq!(told.log(), expected, "before the end");
    told.terminal.finish(&mut told.out);
    assert_eq!(
        String::from_utf8_lossy(&told.out.text),
        expected,
        "after it"
    );
    assert_eq!(told.terminal.live_text(), "");
}
