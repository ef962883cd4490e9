//! A stream of server-sent events, as an answer that begins before its end is known. Must not know what the events
//! say.

use std::io::{self, Write};

/// Keeps a connection alive that clients or proxies would give up over silence.
const COMMENT: &[u8] = b":\n\n";

/// An answer in progress.
pub struct Events {
    writer: Box<dyn Write + Send>,
}

impl Events {
    /// Sends the head. `headers` are added to those that every stream has.
    pub fn begin(
        mut writer: Box<dyn Write + Send>,
        headers: &[(&'static str, String)],
    ) -> io::Result<Events> {
        let mut head = String::from(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nX-Accel-Buffering: no\r\n",
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        writer.write_all(head.as_bytes())?;
        writer.flush()?;
        Ok(Events { writer })
    }

    /// Sends one message, which is one line.
    pub fn message(&mut self, line: &str) -> io::Result<()> {
        self.writer.write_all(b"event: message\ndata: ")?;
        self.writer.write_all(line.as_bytes())?;
        self.writer.write_all(b"\n\n")?;
        self.writer.flush()
    }

    /// Sends what a client skips.
    pub fn comment(&mut self) -> io::Result<()> {
        self.writer.write_all(COMMENT)?;
        self.writer.flush()
    }
}
