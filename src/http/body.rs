//! A request's body, read whole: to its limit, in its time, and all bodies together within a budget. Must not know
//! what is in it.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::Refusal;
use super::head::Length;
use super::stream::Input;

/// The longest body, in bytes; the longest text that a tool takes is a quarter of it.
pub const BODY_LIMIT: usize = 4 << 20;

/// What a body may take to come: over a slow line the limit takes less.
const BODY_TIME: Duration = Duration::from_secs(60);

/// All bodies that are being read or answered, together: sixteen of the longest.
const BUDGET: usize = 64 << 20;

/// A chunk's size line, with the extensions that nobody sends.
const CHUNK_LINE: usize = 256;

/// What all bodies take together.
#[derive(Debug, Default)]
pub struct Budget(AtomicUsize);

impl Budget {
    fn take(&self, count: usize) -> bool {
        let add = |used: usize| used.checked_add(count).filter(|&sum| sum <= BUDGET);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .is_ok()
    }
}

/// A body in memory; its share of the budget goes back when it is dropped.
#[derive(Debug)]
pub struct Body<'a> {
    pub bytes: Vec<u8>,
    budget: &'a Budget,
    taken: usize,
}

impl Drop for Body<'_> {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.taken, Ordering::Relaxed);
    }
}

impl<'a> Body<'a> {
    /// Reads a body. None when the client left in the middle of it.
    pub fn read(
        input: &mut Input,
        length: &Length,
        budget: &'a Budget,
    ) -> Result<Option<Body<'a>>, Refusal> {
        let mut reading = Reading {
            input,
            deadline: Instant::now() + BODY_TIME,
            body: Body {
                bytes: Vec::new(),
                budget,
                taken: 0,
            },
        };
        let whole = match *length {
            Length::Bytes(count) if count > BODY_LIMIT as u64 => return Err(too_large()),
            // It fits: the limit is far below.
            Length::Bytes(count) => reading.bytes(count as usize)?,
            Length::Chunked => reading.chunks()?,
        };
        Ok(whole.then_some(reading.body))
    }
}

struct Reading<'a, 'b> {
    input: &'b mut Input,
    deadline: Instant,
    body: Body<'a>,
}

impl Reading<'_, '_> {
    /// Takes so many bytes into the body. False when the client left.
    fn bytes(&mut self, count: usize) -> Result<bool, Refusal> {
        let mut left = count;
        while left > 0 {
            if self.input.ahead().is_empty() && !self.fill()? {
                return Ok(false);
            }
            let piece = self.input.take(left);
            if self.body.bytes.len() + piece.len() > BODY_LIMIT {
                return Err(too_large());
            }
            if !self.body.budget.take(piece.len()) {
                return Err(Refusal::new(503, "busy: too many large requests at once"));
            }
            self.body.taken += piece.len();
            left -= piece.len();
            self.body.bytes.extend_from_slice(&piece);
        }
        Ok(true)
    }

    /// The chunked coding (RFC 9112, section 7.1). False when the client left.
    fn chunks(&mut self) -> Result<bool, Refusal> {
        let bad = || Refusal::new(400, "the chunked body is malformed");
        loop {
            let Some(line) = self.line()? else {
                return Ok(false);
            };
            let digits = line.split(';').next().unwrap_or_default().trim_end();
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(bad());
            }
            match usize::from_str_radix(digits, 16) {
                Ok(0) => break,
                Ok(size) if size <= BODY_LIMIT => {
                    if !self.bytes(size)? {
                        return Ok(false);
                    }
                }
                Ok(_) | Err(_) => return Err(too_large()),
            }
            match self.line()? {
                None => return Ok(false),
                Some(line) if line.is_empty() => {}
                Some(_) => return Err(bad()),
            }
        }
        // Trailers say nothing to us.
        loop {
            match self.line()? {
                None => return Ok(false),
                Some(line) if line.is_empty() => return Ok(true),
                Some(_) => {}
            }
        }
    }

    /// A line without its end.
    fn line(&mut self) -> Result<Option<String>, Refusal> {
        let bad = || Refusal::new(400, "the chunked body is malformed");
        loop {
            let ahead = self.input.ahead();
            if let Some(at) = ahead.windows(2).position(|two| two == b"\r\n") {
                let mut line = self.input.take(at + 2);
                line.truncate(at);
                return String::from_utf8(line).map(Some).map_err(|_| bad());
            }
            if ahead.len() > CHUNK_LINE {
                return Err(bad());
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    fn fill(&mut self) -> Result<bool, Refusal> {
        match self.input.fill(Some(self.deadline)) {
            Ok(more) => Ok(more),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(Refusal::new(
                408,
                "the body of the request did not come in time",
            )),
            Err(_) => Ok(false),
        }
    }
}

fn too_large() -> Refusal {
    Refusal::new(413, format!("a body has at most {BODY_LIMIT} bytes"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;

    use super::*;

    /// What comes of `sent`: the body and what is left, or the status of the refusal; None when the client left.
    fn read(sent: &[u8], length: &Length) -> Result<Option<(String, String)>, u16> {
        let (mut near, far) = UnixStream::pair().unwrap();
        near.write_all(sent).unwrap();
        near.shutdown(Shutdown::Write).unwrap();
        let mut input = Input::new(Arc::new(far.into()));
        let budget = Budget::default();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let read = Body::read(&mut input, length, &budget)
            .map(|body| body.map(|body| (text(&body.bytes), text(input.ahead()))))
            .map_err(|refusal| refusal.status);
        assert_eq!(budget.0.load(Ordering::Relaxed), 0);
        read
    }

    #[test]
    fn of_a_known_length() {
        let whole = Some(("abc".into(), "de".into()));
        assert_eq!(read(b"abcde", &Length::Bytes(3)), Ok(whole));
        assert_eq!(read(b"ab", &Length::Bytes(3)), Ok(None));
        assert_eq!(read(b"", &Length::Bytes(u64::MAX)), Err(413));
    }

    #[test]
    fn in_chunks() {
        let chunked = |text: &str| read(text.as_bytes(), &Length::Chunked);
        let whole = |rest: &str| Ok(Some(("abcde".into(), rest.into())));
        assert_eq!(
            chunked("3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\nrest"),
            whole("rest")
        );
        assert_eq!(chunked("5\r\nabcde\r\n0\r\nTrailer: x\r\n\r\n"), whole(""));
        assert_eq!(chunked("3\r\nabc"), Ok(None));
        for bad in ["x\r\n", "-1\r\n", "3\r\nabcd\r\n", "\r\n", "+3\r\nabc\r\n"] {
            assert_eq!(chunked(bad), Err(400), "{bad:?}");
        }
        assert_eq!(chunked("ffffffffffffffffffff\r\n"), Err(413));
        assert_eq!(chunked("400001\r\n"), Err(413));
    }

    #[test]
    fn the_budget_is_shared() {
        let budget = Budget::default();
        assert!(budget.take(BUDGET - 1) && budget.take(1) && !budget.take(1));
        assert!(!budget.take(usize::MAX));
    }
}
