//! What comes in by an upgraded connection: devices that link, and what the user of this machine asks, above all to
//! reach a device from a terminal. Must not know HTTP, nor what an agent reads.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::frame::{
    Action, Bytes, DEVICES_PATH, Down, End, Hello, LINK_PATH, PIECE, REACH_PATH, Spec, Up, VERSION,
};
use super::hub::{Joined, Known, now_ms};
use super::job::Job;
use super::link::{Link, Opening};
use super::wire::{Came, Frames, Outlet};
use super::{Error, Hub};
use crate::http::{Upgraded, Upgrades};
use crate::sys::fd::Bell;

/// How long one may take to say who it is, or what it wants.
const HELLO_TIME: Duration = Duration::from_secs(10);

/// What is said to one who is not let in, whatever was wrong.
const REFUSED: &str = "it is not accepted: it may be wrong, used, expired or revoked";

/// Longer than any reach: there is no deadline.
const EVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// What the user of this machine asks.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Ask {
    List,
    Revoke { client_id: String },
}

/// The answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "told", rename_all = "snake_case")]
pub enum Told {
    Devices { devices: Vec<Known> },
    Done,
    Failed { error: String },
}

/// From the terminal that reaches a device.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum Typed {
    /// The first: the terminal's size and kind, and what is to run there; nothing: the user's shell.
    Open {
        cols: u16,
        rows: u16,
        term: String,
        argv: Vec<String>,
    },
    Keys {
        data: Bytes,
    },
    Size {
        cols: u16,
        rows: u16,
    },
}

/// To the terminal that reaches a device.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum Shown {
    Output { data: Bytes },
    End { end: End },
}

type Served<'a> = Option<Box<dyn FnOnce() + Send + 'a>>;

impl Upgrades for Hub {
    fn scope(&self, bearer: &str) -> Option<Arc<str>> {
        match bearer.is_empty() {
            true => None,
            false => self.group(bearer).ok().map(Arc::from),
        }
    }

    fn knows(&self, path: &str) -> bool {
        path == LINK_PATH || path == DEVICES_PATH || path.starts_with(REACH_PATH)
    }

    fn is_open(&self, path: &str) -> bool {
        path == LINK_PATH
    }

    fn admit(&self, path: &str, mut connection: Upgraded) -> Served<'_> {
        let ahead = std::mem::take(&mut connection.ahead);
        let frames = Frames::new(Box::new(connection.half()), ahead);
        let outlet = Outlet::new(Box::new(connection.half()));
        match path.strip_prefix(REACH_PATH) {
            Some(client) => {
                connection.be_patient().ok()?;
                self.admit_reach(client, frames, outlet)
            }
            None if path == LINK_PATH => self.admit_device(frames, outlet, connection),
            None => {
                self.answer(frames, &outlet);
                None
            }
        }
    }

    fn stop(&self) {
        self.end();
    }
}

impl Hub {
    fn admit_device(&self, mut frames: Frames, outlet: Outlet, connection: Upgraded) -> Served<'_> {
        let refuse = |reason: &str| {
            let reason = reason.into();
            // One that does not listen is refused as well.
            let _ = outlet.send(&Down::Refused { reason });
        };
        let hello: Hello = match frames.next(Instant::now() + HELLO_TIME, None) {
            Came::Frame(Up::Hello(hello)) => hello,
            _ => return None,
        };
        if hello.version != VERSION {
            refuse("this server speaks another version: bring both to the same one");
            return None;
        }
        let joined = match self.join(&hello.key, &hello.info) {
            Ok(Some(joined)) => joined,
            Ok(None) => {
                refuse(REFUSED);
                return None;
            }
            // The server's own trouble: it may come again.
            Err(_) => return None,
        };
        let Joined {
            group,
            client_id,
            credential,
        } = joined;
        let welcome = Down::Welcome {
            client_id: client_id.clone(),
            credential,
        };
        outlet.send(&welcome).ok()?;
        let link = Arc::new(Link::new(Opening {
            client_id,
            group,
            info: hello.info,
            connected: now_ms(),
            outlet,
            hang_up: Box::new(connection.ender()),
        }));
        Some(Box::new(move || {
            if self.come(&link) {
                link.run(&mut frames, self.timing, now_ms);
                self.go(&link);
            }
        }))
    }

    fn answer(&self, mut frames: Frames, outlet: &Outlet) {
        let failed = |error: Error| Told::Failed {
            error: error.to_string(),
        };
        let told = match frames.next(Instant::now() + HELLO_TIME, None) {
            Came::Frame(Ask::List) => Told::Devices {
                devices: self.known(),
            },
            Came::Frame(Ask::Revoke { client_id }) => self
                .revoke_device(&client_id)
                .map_or_else(failed, |()| Told::Done),
            _ => return,
        };
        // Whoever asked may have gone.
        let _ = outlet.send(&told);
    }

    fn admit_reach(&self, client: &str, mut frames: Frames, outlet: Outlet) -> Served<'_> {
        let Came::Frame(Typed::Open {
            cols,
            rows,
            term,
            argv,
        }) = frames.next(Instant::now() + HELLO_TIME, None)
        else {
            return None;
        };
        let spec = Spec {
            argv,
            env: [("TERM".to_owned(), term)].into(),
            terminal: Some((cols, rows)),
            ..Spec::default()
        };
        let begun = self
            .reach(client, spec)
            .and_then(|begun| Ok((begun, Bell::new()?)));
        let ((link, job), bell) = match begun {
            Ok(begun) => begun,
            Err(error) => {
                let end = End::failed(error.to_string());
                // Whoever asked may have gone.
                let _ = outlet.send(&Shown::End { end });
                return None;
            }
        };
        let bell = Arc::new(bell);
        Some(Box::new(move || {
            pass(&link, &job, &bell, &mut frames, &outlet)
        }))
    }
}

/// Carries keys and output until the job or the terminal has gone.
fn pass(link: &Link, job: &Arc<Job>, bell: &Arc<Bell>, frames: &mut Frames, outlet: &Outlet) {
    use std::os::fd::AsFd;
    let ring = Arc::clone(bell);
    let _interest = job.changes.listen(move || ring.ring());
    let Some(id) = link.number(job) else {
        return finish(job, outlet);
    };
    let deadline = Instant::now() + EVER;
    let mut last = 0;
    loop {
        bell.clear();
        let ended = job.ended().is_some();
        let (data, credit) = job.pass();
        for piece in data.chunks(PIECE) {
            let data = Bytes(piece.to_vec());
            if outlet.send(&Shown::Output { data }).is_err() {
                return stop(link, id);
            }
        }
        if let Some(bytes) = credit {
            link.tell(&Down::Credit { id, bytes });
        }
        if ended {
            return finish(job, outlet);
        }
        // Nobody waits for these to be acknowledged; the number tells them apart.
        last += 1;
        let number = u64::MAX - last;
        match frames.next(deadline, Some(bell.as_fd())) {
            Came::Frame(Typed::Keys { data }) => link.tell(&Down::Input { id, number, data }),
            Came::Frame(Typed::Size { cols, rows }) => {
                link.tell(&Down::Resize { id, cols, rows });
            }
            Came::Other | Came::Nothing => {}
            Came::Frame(Typed::Open { .. }) | Came::End(_) => return stop(link, id),
        }
    }
}

fn stop(link: &Link, id: u64) {
    link.tell(&Down::Control {
        id,
        number: 0,
        action: Action::Stop,
    });
}

fn finish(job: &Job, outlet: &Outlet) {
    if let Some(ended) = job.ended() {
        // Whoever looked may have gone.
        let _ = outlet.send(&Shown::End { end: ended.end });
    }
}
