//! The device's side: joins a server, keeps the link up, and runs what it is asked to. Must not know MCP, tmux or
//! /proc.

pub mod address;
mod credentials;
mod dial;
mod error;
pub mod guard;
mod handle;
mod job;
mod way;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::frame::{Down, Hello, Info, Key, LINK_PATH, Up, VERSION};
use super::secret::Secret;
use super::wire::{Came, Frames, Outlet};
use crate::sys::poll::{Interest, poll};
use crate::sys::stop::StopSignals;
use crate::sys::{passwd, random};
use address::Address;
use credentials::{Credential, Credentials};
use guard::Guard;
use handle::Handle;

pub use dial::upgrade;
pub use error::Error;

/// The server's heartbeats come every ten seconds; three of them missed, and a little for the way.
const SILENCE: Duration = Duration::from_secs(33);

/// How long the server may take to let us in.
const WELCOME: Duration = Duration::from_secs(30);

/// The first pause before the link is tried again; it doubles from then on.
const PAUSE: Duration = Duration::from_millis(500);

/// The longest.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Jobs at once: each has two threads and a window of output.
const JOBS: usize = 64;

/// What a device is started with.
pub struct Settings {
    pub address: Address,
    /// To join by; none: by the credential of before.
    pub invitation: Option<Secret>,
    /// Where the credential is kept.
    pub credentials: PathBuf,
    /// This program, for the guard.
    pub binary: PathBuf,
}

/// How a link came to its end.
enum Ended {
    /// This process is to end.
    Stopped,
    Refused(String),
    /// It may come back. Whether it was up, and what is wrong.
    Lost(bool, String),
}

/// Joins and stays joined, until a signal asks to stop (Ok) or the server refuses. `say` is told what happens, a line at
/// a time.
pub fn run(settings: Settings, say: &dyn Fn(&str)) -> Result<(), Error> {
    let credentials = Credentials::new(settings.credentials);
    let name = settings.address.to_string();
    let mut key = match settings.invitation {
        Some(invitation) => Key::Invitation(invitation),
        None => {
            let kept = credentials.get(&name)?;
            Key::Credential(
                kept.ok_or_else(|| Error::Stranger(name.clone()))?
                    .credential,
            )
        }
    };
    let signals = StopSignals::catch().map_err(Error::Start)?;
    let guard = Guard::start(&settings.binary).map_err(Error::Start)?;
    let mut device = Device {
        address: settings.address,
        info: info(),
        credentials,
        signals,
        guard: Arc::new(guard),
    };
    let mut failures = 0;
    loop {
        let ended = device.link(&mut key, say);
        // By now it may have its credential.
        let invited = matches!(key, Key::Invitation(_));
        match ended {
            Ended::Stopped => return Ok(()),
            Ended::Refused(reason) => {
                if !invited {
                    device.credentials.forget(&name)?;
                }
                return Err(Error::Refused(reason));
            }
            Ended::Lost(false, why) if invited => return Err(Error::Connect(why)),
            Ended::Lost(was_up, why) => {
                failures = if was_up { 0 } else { failures + 1 };
                say(&format!("offline: {why}; trying again"));
            }
        }
        if device.pause(failures).map_err(Error::Start)? {
            return Ok(());
        }
    }
}

struct Device {
    address: Address,
    info: Info,
    credentials: Credentials,
    signals: StopSignals,
    guard: Arc<Guard>,
}

impl Device {
    /// One link, from its beginning to its end.
    fn link(&mut self, key: &mut Key, say: &dyn Fn(&str)) -> Ended {
        let mut connection = match dial::dial(&self.address, LINK_PATH, self.signals_fd()) {
            Ok(connection) => connection,
            Err(_) if self.is_stopped() => return Ended::Stopped,
            Err(error) => return Ended::Lost(false, error.to_string()),
        };
        let outlet = Outlet::new(connection.output);
        let mut frames = Frames::new(connection.input, std::mem::take(&mut connection.ahead));
        let hello = Up::Hello(Hello {
            version: VERSION,
            key: key.clone(),
            info: self.info.clone(),
        });
        if let Err(error) = outlet.send(&hello) {
            return Ended::Lost(false, error.to_string());
        }
        let (carrier, address) = (connection.carrier, &self.address);
        let gone = |why: Option<String>| {
            let why = carrier.why(address).or(why);
            why.unwrap_or_else(|| "the server closed the link".into())
        };
        let welcome = frames.next(Instant::now() + WELCOME, Some(self.signals_fd()));
        let (client_id, credential) = match welcome {
            Came::Frame(Down::Welcome {
                client_id,
                credential,
            }) => (client_id, credential),
            Came::Frame(Down::Refused { reason }) => return Ended::Refused(reason),
            Came::Frame(_) => return Ended::Lost(false, "the server does not welcome us".into()),
            Came::Nothing => return Ended::Lost(false, "the server does not answer".into()),
            Came::Other => return Ended::Stopped,
            Came::End(why) => return Ended::Lost(false, gone(why)),
        };
        if let Some(credential) = credential {
            let kept = Credential {
                client_id: client_id.clone(),
                credential: credential.clone(),
            };
            if let Err(error) = self.credentials.keep(&self.address.to_string(), kept) {
                say(&format!(
                    "{error}: this device is joined until it is restarted"
                ));
            }
            *key = Key::Credential(credential);
        }
        carrier.is_up();
        say(&format!("joined as {client_id}"));
        let (up, queue) = channel::<Up>();
        let writer = thread::Builder::new().name("link-write".into()).spawn({
            let hang_up = Arc::clone(&connection.hang_up);
            move || {
                // What jobs send is bounded by their credit, and the rest answers what was asked.
                while let Ok(frame) = queue.recv() {
                    if outlet.send(&frame).is_err() {
                        break;
                    }
                }
                hang_up();
            }
        });
        let writer = match writer {
            Ok(writer) => writer,
            Err(error) => return Ended::Lost(true, format!("cannot start a thread: {error}")),
        };
        let mut jobs = Jobs {
            running: HashMap::new(),
            up,
            guard: Arc::clone(&self.guard),
        };
        let ended = loop {
            match frames.next(Instant::now() + SILENCE, Some(self.signals_fd())) {
                Came::Frame(Down::Refused { reason }) => break Ended::Refused(reason),
                Came::Frame(frame) => jobs.take(frame),
                Came::Nothing => break Ended::Lost(true, "the server is silent".into()),
                Came::Other => break Ended::Stopped,
                Came::End(why) => break Ended::Lost(true, gone(why)),
            }
        };
        // Nothing is left running that nobody can reach any more.
        jobs.end();
        (connection.hang_up)();
        // It ends with the queue; what it panicked of is of no more interest.
        let _ = writer.join();
        ended
    }

    fn signals_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        use std::os::fd::AsFd;
        self.signals.as_fd()
    }

    fn is_stopped(&self) -> bool {
        let watched = [(self.signals_fd(), Interest::Read)];
        poll(&watched, Some(Instant::now())).is_ok_and(|ready| ready == [true])
    }

    /// Waits before the next try. True when this process is to end.
    fn pause(&self, failures: u32) -> std::io::Result<bool> {
        let mut dice = [0];
        random::fill(&mut dice)?;
        let deadline = Instant::now() + backoff(failures, dice[0]);
        let watched = [(self.signals_fd(), Interest::Read)];
        Ok(poll(&watched, Some(deadline))? == [true])
    }
}

/// The pause after so many failures in a row: doubled with each, and of random length from its half on, so that the
/// devices of a server that was started anew do not all come at once.
fn backoff(failures: u32, dice: u8) -> Duration {
    let longest = PAUSE
        .saturating_mul(2u32.saturating_pow(failures))
        .min(LONGEST_PAUSE);
    longest / 2 + longest * u32::from(dice) / 512
}

/// What this machine says of itself.
fn info() -> Info {
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    Info {
        hostname: passwd::hostname(),
        platform: std::env::consts::OS.into(),
        arch: std::env::consts::ARCH.into(),
        shell: job::shell().to_string_lossy().into_owned(),
        default_cwd: folder.to_string_lossy().into_owned(),
        client_version: env!("CARGO_PKG_VERSION").into(),
        session_controls: ["input", "interrupt", "eof", "stop"]
            .map(String::from)
            .to_vec(),
    }
}

/// What runs for one link.
struct Jobs {
    running: HashMap<u64, (Arc<Handle>, JoinHandle<()>)>,
    up: Sender<Up>,
    guard: Arc<Guard>,
}

impl Jobs {
    fn take(&mut self, frame: Down) {
        let answer = match frame {
            Down::Start { id, spec } => {
                self.running.retain(|_, (_, thread)| !thread.is_finished());
                match self.start(id, spec) {
                    Ok(()) => None,
                    Err(error) => Some(Up::End {
                        id,
                        end: super::frame::End::failed(error),
                    }),
                }
            }
            Down::Credit { id, bytes } => {
                if let Some((handle, _)) = self.running.get(&id) {
                    handle.credit(bytes);
                }
                None
            }
            Down::Input { id, number, data } => {
                let error = match self.running.get(&id) {
                    Some((handle, _)) => handle.type_in(&data.0).err(),
                    None => Some("it has ended".into()),
                };
                Some(Up::Ack { number, error })
            }
            Down::Control { id, number, action } => match self.running.get(&id) {
                Some((handle, _)) if handle.act(number, action) => None,
                _ => Some(Up::Ack {
                    number,
                    error: Some("it has ended".into()),
                }),
            },
            Down::Resize { id, cols, rows } => {
                if let Some((handle, _)) = self.running.get(&id) {
                    handle.resize(cols, rows);
                }
                None
            }
            Down::Ping { number } => Some(Up::Pong { number }),
            Down::Welcome { .. } | Down::Refused { .. } => None,
        };
        if let Some(frame) = answer {
            // The writer has ended: so does the link.
            let _ = self.up.send(frame);
        }
    }

    fn start(&mut self, id: u64, spec: super::frame::Spec) -> Result<(), String> {
        if self.running.len() >= JOBS {
            return Err(format!("the device runs {JOBS} commands already"));
        }
        let handle = Handle::new(spec.terminal.is_some()).map_err(|error| error.to_string())?;
        let handle = Arc::new(handle);
        let job = job::Job {
            id,
            spec,
            handle: Arc::clone(&handle),
            up: self.up.clone(),
            guard: Arc::clone(&self.guard),
        };
        let thread = thread::Builder::new()
            .name("job".into())
            .spawn(move || job.run())
            .map_err(|error| format!("the device cannot start a thread: {error}"))?;
        self.running.insert(id, (handle, thread));
        Ok(())
    }

    /// Ends all of them; each takes a bounded time.
    fn end(self) {
        for (handle, _) in self.running.values() {
            handle.leave();
        }
        for (_, thread) in self.running.into_values() {
            // What it panicked of is of no more interest.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit_and_differ() {
        assert_eq!(backoff(0, 0), PAUSE / 2);
        assert!(backoff(0, 255) < PAUSE && backoff(0, 255) > backoff(0, 0));
        assert_eq!(backoff(2, 0), PAUSE * 2);
        assert_eq!(backoff(60, 0), LONGEST_PAUSE / 2);
        assert!(backoff(u32::MAX, 255) <= LONGEST_PAUSE);
    }
}
