//! Frames over streams: lines of bounded length, read with a deadline, written whole. Must not know what they say.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::frame::LINE;
use crate::sys::poll::{Interest, poll};

/// What is read at once.
const PIECE: usize = 32 << 10;

/// Something to read frames from.
pub trait Source: Read + AsFd + Send {}
impl<T: Read + AsFd + Send> Source for T {}

/// The frames that come.
pub struct Frames {
    source: Box<dyn Source>,
    buffer: Vec<u8>,
    /// Bytes of the buffer that hold no line's end.
    searched: usize,
}

/// What waiting for a frame came to.
#[derive(Debug)]
pub enum Came<T> {
    Frame(T),
    /// The deadline.
    Nothing,
    /// What else was watched can be read.
    Other,
    /// The other side has gone, or says what is no frame; why, where that is known.
    End(Option<String>),
}

impl Frames {
    /// `ahead` is what was read of the source already.
    pub fn new(source: Box<dyn Source>, ahead: Vec<u8>) -> Frames {
        Frames {
            source,
            buffer: ahead,
            searched: 0,
        }
    }

    /// The next frame. Watches `other` too while none is there.
    pub fn next<T: DeserializeOwned>(
        &mut self,
        deadline: Instant,
        other: Option<BorrowedFd<'_>>,
    ) -> Came<T> {
        loop {
            if let Some(line) = self.line() {
                return match serde_json::from_slice(&line) {
                    Ok(frame) => Came::Frame(frame),
                    // What was said stays unsaid: it may hold a secret.
                    Err(_) => Came::End(Some("the other side says what is no frame".into())),
                };
            }
            if self.buffer.len() > LINE {
                return Came::End(Some("the other side sends a line without end".into()));
            }
            let watched = [Some(self.source.as_fd()), other]
                .into_iter()
                .flatten()
                .map(|fd| (fd, Interest::Read))
                .collect::<Vec<_>>();
            match poll(&watched, Some(deadline)) {
                Err(error) => return Came::End(Some(error.to_string())),
                // What comes goes before what else there is: keys are few, and must get through a flood of output.
                Ok(ready) if ready[0] => {}
                Ok(ready) if ready.get(1) == Some(&true) => return Came::Other,
                Ok(_) => return Came::Nothing,
            }
            let mut piece = [0; PIECE];
            match self.source.read(&mut piece) {
                Ok(0) => return Came::End(None),
                Ok(count) => self.buffer.extend_from_slice(&piece[..count]),
                Err(error) if is_momentary(&error) => {}
                Err(error) => return Came::End(Some(error.to_string())),
            }
        }
    }

    fn line(&mut self) -> Option<Vec<u8>> {
        let found = self.buffer[self.searched..]
            .iter()
            .position(|&byte| byte == b'\n');
        let Some(at) = found else {
            self.searched = self.buffer.len();
            return None;
        };
        let rest = self.buffer.split_off(self.searched + at + 1);
        self.searched = 0;
        Some(std::mem::replace(&mut self.buffer, rest))
    }
}

fn is_momentary(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}

/// Where frames go: each whole, whoever sends it.
pub struct Outlet(Mutex<Box<dyn Write + Send>>);

impl Outlet {
    pub fn new(sink: Box<dyn Write + Send>) -> Outlet {
        Outlet(Mutex::new(sink))
    }

    pub fn send(&self, frame: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(frame)?;
        line.push(b'\n');
        let mut sink = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sink.write_all(&line)?;
        sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use super::*;
    use crate::devices::frame::Up;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(30)
    }

    #[test]
    fn frames_come_however_they_are_split() {
        let (near, far) = UnixStream::pair().unwrap();
        let mut frames = Frames::new(Box::new(far), b"{\"t\":\"pong\",\"num".to_vec());
        assert!(matches!(
            frames.next::<Up>(Instant::now(), None),
            Came::Nothing
        ));
        (&near)
            .write_all(b"ber\":1}\n{\"t\":\"pong\",\"number\":2}\n")
            .unwrap();
        for wanted in [1, 2] {
            match frames.next(soon(), None) {
                Came::Frame(Up::Pong { number }) => assert_eq!(number, wanted),
                other => panic!("{other:?}"),
            }
        }
        drop(near);
        assert!(matches!(frames.next::<Up>(soon(), None), Came::End(None)));
    }

    #[test]
    fn junk_and_endless_lines_end_it() {
        for junk in [b"what\n".to_vec(), vec![b'x'; LINE + 1]] {
            let (near, far) = UnixStream::pair().unwrap();
            std::thread::scope(|scope| {
                scope.spawn(move || (&near).write_all(&junk));
                let mut frames = Frames::new(Box::new(far), Vec::new());
                let came = frames.next::<Up>(soon(), None);
                assert!(matches!(came, Came::End(Some(_))), "{came:?}");
            });
        }
    }
}
