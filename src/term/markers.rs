//! The OSC 133 markers that the shell integration prints. Reads one marker's text; must not know regions or the
//! screen. The grammar: `133;L[;status];key=value...`, values literal or `~` and hex.

/// What a marker says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkerKind {
    /// A shell has started.
    Hello { shell: String, version: String },
    /// A prompt begins.
    PromptStart,
    /// A continuation prompt begins.
    Continuation,
    /// What a command printed ends here, before the shell's own mark for a missing line break.
    OutputEnd,
    /// A prompt ends: what follows is typed.
    PromptEnd,
    /// A command was sent: what follows is its output.
    OutputStart,
    /// Which shell is at the prompt, as a line that was typed there has found out. It has no process id.
    Which {
        shell: String,
        /// It can read the file that the line named.
        reads: bool,
    },
    /// A command has ended.
    Done {
        status: Option<i32>,
        /// The status of each stage of the pipeline; empty when not known.
        pipestatus: Vec<i32>,
    },
}

/// One marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    pub kind: MarkerKind,
    pub nonce: Option<String>,
    /// The shell that printed it.
    pub pid: Option<u32>,
    pub host: Option<String>,
    pub user: Option<String>,
    pub cwd: Option<String>,
}

impl Marker {
    /// Reads the text of an OSC; `None` when it is no marker that is known.
    pub fn parse(osc: &[u8]) -> Option<Marker> {
        let mut fields = osc.strip_prefix(b"133;")?.split(|byte| *byte == b';');
        let letter = fields.next()?;
        let mut marker = Marker {
            kind: MarkerKind::PromptStart,
            nonce: None,
            pid: None,
            host: None,
            user: None,
            cwd: None,
        };
        let (mut k, mut shell, mut version) = (None, None, None);
        let mut status = None;
        let mut pipestatus = Vec::new();
        for (index, field) in fields.enumerate() {
            let Some(equals) = field.iter().position(|byte| *byte == b'=') else {
                if index == 0 {
                    status = number(field);
                }
                continue;
            };
            let value = value(&field[equals + 1..]);
            match &field[..equals] {
                b"n" => marker.nonce = value,
                b"pid" => marker.pid = value.and_then(|text| text.parse().ok()),
                b"host" => marker.host = value,
                b"user" => marker.user = value,
                b"cwd" => marker.cwd = value,
                b"k" => k = value,
                b"sh" => shell = value,
                b"v" => version = value,
                b"p" => {
                    // One stage that cannot be read makes the whole list unknown.
                    let stages = field[equals + 1..].split(|byte| *byte == b',').map(number);
                    pipestatus = stages.collect::<Option<_>>().unwrap_or_default();
                }
                _ => {}
            }
        }
        marker.kind = match (letter, k.as_deref()) {
            (b"A", _) => MarkerKind::PromptStart,
            (b"B", _) => MarkerKind::PromptEnd,
            (b"C", _) => MarkerKind::OutputStart,
            (b"D", _) => MarkerKind::Done { status, pipestatus },
            (b"P", Some("s")) => MarkerKind::Continuation,
            (b"P", Some("e")) => MarkerKind::OutputEnd,
            (b"P", Some("w")) => MarkerKind::Which {
                shell: shell.unwrap_or_default(),
                reads: version.as_deref() == Some("r"),
            },
            (b"P", Some("h")) => MarkerKind::Hello {
                shell: shell.unwrap_or_default(),
                version: version.unwrap_or_default(),
            },
            _ => return None,
        };
        Some(marker)
    }
}

fn number(text: &[u8]) -> Option<i32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A literal value, or `~` and the hex digits of its bytes.
fn value(text: &[u8]) -> Option<String> {
    let Some(hex) = text.strip_prefix(b"~") else {
        return Some(String::from_utf8_lossy(text).into_owned());
    };
    if hex.len() % 2 != 0 {
        return None;
    }
    let digit = |byte: u8| (byte as char).to_digit(16);
    let bytes: Option<Vec<u8>> = hex
        .chunks(2)
        .map(|pair| Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8))
        .collect();
    Some(String::from_utf8_lossy(&bytes?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_junk() {
        let kind = |text: &str| Marker::parse(text.as_bytes()).map(|marker| marker.kind);
        assert_eq!(kind("133;A;n=x;pid=7"), Some(MarkerKind::PromptStart));
        assert_eq!(kind("133;P;k=s;n=x"), Some(MarkerKind::Continuation));
        assert_eq!(kind("133;P;k=e"), Some(MarkerKind::OutputEnd));
        assert_eq!(
            kind("133;P;k=h;sh=bash;v=5.2"),
            Some(MarkerKind::Hello {
                shell: "bash".into(),
                version: "5.2".into()
            })
        );
        let done = |status, pipestatus: &[i32]| {
            Some(MarkerKind::Done {
                status,
                pipestatus: pipestatus.into(),
            })
        };
        assert_eq!(kind("133;D;3;p=1,0,3;n=x"), done(Some(3), &[1, 0, 3]));
        assert_eq!(kind("133;D"), done(None, &[]));
        assert_eq!(kind("133;D;x;p=1,y"), done(None, &[]));
        for junk in ["133", "133;", "133;Z", "133;P", "134;A", "", "133;AA"] {
            assert_eq!(kind(junk), None, "{junk}");
        }
    }

    #[test]
    fn values_are_literal_or_hex() {
        let marker =
            Marker::parse(b"133;A;n=ab;pid=12;host=build-1;user=ann;cwd=~2f746d702fc3a9;x=~zz")
                .unwrap();
        assert_eq!(marker.nonce.as_deref(), Some("ab"));
        assert_eq!(marker.pid, Some(12));
        assert_eq!(marker.host.as_deref(), Some("build-1"));
        assert_eq!(marker.cwd.as_deref(), Some("/tmp/é"));
        assert_eq!(Marker::parse(b"133;A;cwd=~2").unwrap().cwd, None);
        assert_eq!(Marker::parse(b"133;A;pid=-1").unwrap().pid, None);
    }
}
