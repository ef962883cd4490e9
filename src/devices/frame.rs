//! What a device and the server say to each other: one JSON object a line. Data is base64, since output is bytes.
//! Unknown fields are passed over, so that either side may be of a later version.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::secret::Secret;
use crate::http::base64;

/// What is spoken; another number is refused.
pub const VERSION: u32 = 1;

/// The longest line of either side, in bytes.
pub const LINE: usize = 256 << 10;

/// The longest piece of data in a frame, in bytes: with base64 and the rest well below [`LINE`].
pub const PIECE: usize = 32 << 10;

/// What a device may send of one job's output beyond what the server has taken, in bytes. It is all that either side
/// holds of it in buffers of its own.
pub const WINDOW: u64 = 256 << 10;

/// Where a device asks to be let in.
pub const LINK_PATH: &str = "/link";

/// Before the id of a device that somebody wants to reach.
pub const REACH_PATH: &str = "/reach/";

/// Where the user of the server's machine asks about devices.
pub const DEVICES_PATH: &str = "/devices";

/// From the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum Up {
    /// The first frame.
    Hello(Hello),
    /// A job printed something.
    Output {
        id: u64,
        from: Source,
        data: Bytes,
    },
    /// A job is over; nothing more comes of it.
    End {
        id: u64,
        end: End,
    },
    /// What came of a request with this number; without an error it was done.
    Ack {
        number: u64,
        error: Option<String>,
    },
    Pong {
        number: u64,
    },
}

/// To the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum Down {
    /// It is let in. A device that came by an invitation gets its credential.
    Welcome {
        client_id: String,
        credential: Option<Secret>,
    },
    /// It is not, or no longer: it need not come again.
    Refused {
        reason: String,
    },
    Start {
        id: u64,
        spec: Spec,
    },
    /// So many more bytes of a job's output can be sent.
    Credit {
        id: u64,
        bytes: u64,
    },
    Input {
        id: u64,
        number: u64,
        data: Bytes,
    },
    Control {
        id: u64,
        number: u64,
        action: Action,
    },
    Resize {
        id: u64,
        cols: u16,
        rows: u16,
    },
    Ping {
        number: u64,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    pub version: u32,
    pub key: Key,
    pub info: Info,
}

/// What a device shows to be let in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    Invitation(Secret),
    Credential(Secret),
}

/// What a device says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Info {
    pub hostname: String,
    pub platform: String,
    pub arch: String,
    pub shell: String,
    pub default_cwd: String,
    pub client_version: String,
    /// The actions that its sessions know.
    pub session_controls: Vec<String>,
}

/// What is to run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// For the device's shell; none: that shell itself, as at a login.
    pub command: Option<String>,
    /// These words exactly, without a shell, where there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    pub cwd: Option<String>,
    pub env: BTreeMap<String, String>,
    /// Milliseconds; 0: for as long as it takes.
    pub timeout_ms: u64,
    /// A terminal of so many columns and rows; none: pipes.
    pub terminal: Option<(u16, u16)>,
    /// Bytes of output that are wanted; what is more is read and dropped.
    pub keep: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Stdout,
    Stderr,
    Terminal,
}

/// What can be done to a job beside typing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// SIGINT to the terminal's foreground process group.
    Interrupt,
    /// The terminal's end-of-input byte.
    Eof,
    /// End it, whatever it does.
    Stop,
}

/// How a job ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// -1 where there is none: it failed, was interrupted, or its end is not known.
    pub exit_code: i32,
    #[serde(default)]
    pub timed_out: bool,
    #[serde(default)]
    pub canceled: bool,
    /// More was printed than was wanted.
    #[serde(default)]
    pub truncated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl End {
    /// One without an exit code.
    pub fn failed(error: impl Into<String>) -> End {
        End {
            exit_code: -1,
            error: Some(error.into()),
            ..End::default()
        }
    }
}

/// Bytes, as base64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64::encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = base64::decode(&text);
        bytes
            .map(Bytes)
            .ok_or_else(|| serde::de::Error::custom("not base64"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_there_and_back() {
        let secret = Secret::shown("ab");
        let ups = [
            Up::Hello(Hello {
                version: VERSION,
                key: Key::Invitation(secret.clone()),
                info: Info::default(),
            }),
            Up::Output {
                id: u64::MAX,
                from: Source::Terminal,
                data: Bytes(vec![0, 255, 10]),
            },
            Up::End {
                id: 1,
                end: End::failed("no"),
            },
            Up::Ack {
                number: 2,
                error: None,
            },
        ];
        for up in ups {
            let line = serde_json::to_string(&up).unwrap();
            assert!(!line.contains('\n'));
            assert_eq!(serde_json::from_str::<Up>(&line).unwrap(), up, "{line}");
        }
        let down = Down::Start {
            id: 7,
            spec: Spec {
                terminal: Some((80, 24)),
                ..Spec::default()
            },
        };
        let line = serde_json::to_string(&down).unwrap();
        assert_eq!(serde_json::from_str::<Down>(&line).unwrap(), down);
    }

    #[test]
    fn junk_is_an_error_and_later_fields_are_none() {
        for junk in [
            "",
            "{}",
            "[]",
            r#"{"t":"output","id":-1}"#,
            r#"{"t":"output","id":1,"from":"stdout","data":"?"}"#,
            r#"{"t":"new"}"#,
        ] {
            assert!(serde_json::from_str::<Up>(junk).is_err(), "{junk}");
        }
        let later = r#"{"t":"pong","number":1,"later":[1]}"#;
        assert_eq!(
            serde_json::from_str::<Up>(later).unwrap(),
            Up::Pong { number: 1 }
        );
    }
}
