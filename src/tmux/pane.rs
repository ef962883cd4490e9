//! Panes: made, typed into, asked about, resized, killed. Always addressed by id once they exist.

use std::fmt;

use super::command::{Error, Tmux};
use super::format::{literal, shell_line, word};
use super::server::{self, News};

/// tmux's own id of a pane ("%7"), unique for the life of its server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PaneId(pub String);

impl fmt::Display for PaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The pane option that says which of our sessions a pane is.
const TAG: &str = "@paneglass";

/// How tmux begins to say that a session's name is taken (cmd-new-session.c, 3.2a to 3.7).
const NAME_TAKEN: &str = "duplicate session";

/// Where a new pane stands.
#[derive(Clone, Debug)]
pub enum Stand<'a> {
    /// As the only one of a new tmux session of this name: letters, digits, `_` and `-` only.
    Alone { name: &'a str, cols: u16, rows: u16 },
    /// Next to another, in its window.
    Beside {
        pane: &'a PaneId,
        /// Below it, not to its right.
        below: bool,
        /// Rows or columns, or a share as "50%"; half when absent.
        size: Option<&'a str>,
    },
}

/// A pane to be made.
pub struct NewPane<'a> {
    pub stand: Stand<'a>,
    /// What the TAG option is set to: tells this pane from an earlier one of the same name.
    pub tag: &'a str,
    /// Keep the size when a person attaches with another one.
    pub fixed_size: bool,
    /// The program and its arguments; at least two words, so that tmux runs it without a shell.
    pub argv: &'a [String],
    /// Where panes that people make next to it are told.
    pub news: &'a News,
    /// The command that reads the pane's output, as words; it gets the path of the pane's terminal as one more.
    pub tap: &'a [String],
}

/// What tmux knows of a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    pub pane: PaneId,
    pub window: String,
    /// tmux's id of the session ("$2").
    pub session: String,
    /// Its place in the window, from 0.
    pub index: u32,
    /// Keys of a person at this window go to it.
    pub active: bool,
    pub pid: i32,
    pub tty: String,
    pub cols: u16,
    pub rows: u16,
    /// The program has ended and the pane is kept to show its last screen.
    pub dead: bool,
    pub dead_status: Option<i32>,
    pub dead_signal: Option<i32>,
    /// A person is in copy mode or another mode: keys would not reach the program.
    pub in_mode: bool,
    /// Output goes to our tap.
    pub piped: bool,
    /// The program has the alternate screen.
    pub alternate: bool,
    /// Column and row, from 0.
    pub cursor: (u16, u16),
    pub tag: String,
}

/// Rows of a pane, and what else there is to know of its screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Without trailing blanks.
    pub rows: Vec<String>,
    /// Columns and rows.
    pub size: (u64, u64),
    /// Column and row, from 0.
    pub cursor: (u64, u64),
    /// Rows above the screen.
    pub history: u64,
    /// The program has ended.
    pub dead: bool,
    /// A full-screen program has the screen.
    pub alternate: bool,
}

/// Fields of `Info` in order, printable delimiter between. tag last: it alone may hold anything.
const FORMAT: &str = "#{pane_id} #{window_id} #{session_id} #{pane_index} #{pane_active} #{pane_pid} #{pane_tty} \
                      #{pane_width} #{pane_height} #{pane_dead} s#{pane_dead_status} s#{pane_dead_signal} #{pane_in_mode} \
                      #{pane_pipe} #{alternate_on} #{cursor_x} #{cursor_y} #{@paneglass}";

impl Info {
    fn parse(line: &str) -> Option<Info> {
        let mut fields = line.splitn(18, ' ');
        let mut next = || fields.next();
        let pane = PaneId(next()?.to_string());
        let window = next()?.to_string();
        let session = next()?.to_string();
        let index = next()?.parse().unwrap_or(0);
        let active = next()? == "1";
        let pid = next()?.parse().ok()?;
        let tty = next()?.to_string();
        let cols = next()?.parse().ok()?;
        let rows = next()?.parse().ok()?;
        let dead = next()? == "1";
        let dead_status = next()?.strip_prefix('s')?.parse().ok();
        let dead_signal = next()?.strip_prefix('s').and_then(signal_number);
        let in_mode = next()?.parse::<u32>().is_ok_and(|depth| depth > 0);
        let piped = next()? == "1";
        let alternate = next()? == "1";
        let cursor = (next()?.parse().ok()?, next()?.parse().ok()?);
        let tag = next().unwrap_or_default().to_string();
        Some(Info {
            pane,
            window,
            session,
            index,
            active,
            pid,
            tty,
            cols,
            rows,
            dead,
            dead_status,
            dead_signal,
            in_mode,
            piped,
            alternate,
            cursor,
            tag,
        })
    }
}

/// tmux prints a number up to 3.3a and a name ("TERM") in some later builds; an empty field is none.
fn signal_number(text: &str) -> Option<i32> {
    text.parse().ok()
}

/// pipe-pane's argument: a shell line in which tmux expands formats.
fn tap_line(tap: &[String]) -> String {
    format!("exec {} #{{pane_tty}}", literal(&shell_line(tap)))
}

impl Tmux {
    /// Makes a pane that is logged from its first byte: all in one invocation, since the program could print and even
    /// end between two.
    pub fn create(&self, new: &NewPane<'_>) -> Result<Info, Error> {
        let argv: Vec<&str> = new.argv.iter().map(String::as_str).collect();
        let tap = tap_line(new.tap);
        let mut words: Vec<String> = server::settings();
        words.extend(new.news.words());
        let mut chain = |list: &[&str]| {
            words.extend(list.iter().map(|text| word(text)));
            words.push(";".into());
        };
        match &new.stand {
            Stand::Alone { name, cols, rows } => {
                let target = format!("={name}:");
                let (cols, rows) = (cols.to_string(), rows.to_string());
                let head = ["new-session", "-d", "-s", name, "-x", &cols, "-y", &rows];
                chain(&[&head[..], &["-c", "/", "--"], &argv].concat());
                chain(&["pipe-pane", "-O", "-t", &target, &tap]);
                chain(&["set-option", "-p", "-t", &target, TAG, new.tag]);
                // 3.2a ignores -x and -y of a detached new-session. Resizing pins the window's size until it is unset
                // again.
                chain(&["resize-window", "-t", &target, "-x", &cols, "-y", &rows]);
                if !new.fixed_size {
                    chain(&["set-option", "-w", "-u", "-t", &target, "window-size"]);
                }
                chain(&["display-message", "-p", "-t", &target, FORMAT]);
            }
            Stand::Beside { pane, below, size } => {
                let mut head = vec!["split-window", "-t", &pane.0];
                head.push(if *below { "-v" } else { "-h" });
                head.extend(size.iter().flat_map(|size| ["-l", size]));
                head.extend(["-c", "/", "--"]);
                chain(&[&head[..], &argv].concat());
                // Until the chain is over the new pane is the active one, and the only way to name it.
                chain(&["pipe-pane", "-O", &tap]);
                chain(&["set-option", "-p", TAG, new.tag]);
                chain(&["display-message", "-p", FORMAT]);
                // A person's keys go on to where they went before.
                chain(&["last-pane", "-t", &pane.0]);
            }
        }
        let verb = match new.stand {
            Stand::Alone { .. } => "new-session",
            Stand::Beside { .. } => "split-window",
        };
        let waits = self.start_apart()?;
        let out = self.run_starting(&words).map_err(|error| match error {
            Error::Refused { message, .. } => match new.stand {
                Stand::Alone { name, .. } if message.starts_with(NAME_TAKEN) => {
                    Error::NameTaken { name: name.into() }
                }
                // What begins the invocation says nothing to a reader.
                _ => Error::Refused {
                    verb: verb.into(),
                    message,
                },
            },
            other => other,
        })?;
        if waits {
            self.run(&["set-option", "-g", "exit-empty", "on"])?;
        }
        Info::parse(out.trim_end()).ok_or_else(|| Error::Refused {
            verb: verb.into(),
            message: format!("unexpected answer {:?}", out.trim_end()),
        })
    }

    /// Begins to log a pane that somebody made, and returns what it shows, as bytes that draw it anew: in one
    /// invocation, so that nothing is in neither or in both.
    pub fn take_over(
        &self,
        pane: &PaneId,
        tag: &str,
        tap: &[String],
    ) -> Result<(Info, Vec<u8>), Error> {
        let id = pane.0.as_str();
        let tap = word(&tap_line(tap));
        let words = [
            &["pipe-pane", "-O", "-t", id, &tap, ";"][..],
            &["set-option", "-p", "-t", id, TAG, tag, ";"],
            // A person who ends the shell in a pane of theirs wants the pane gone.
            &["set-option", "-p", "-t", id, "remain-on-exit", "off", ";"],
            &["display-message", "-p", "-t", id, FORMAT, ";"],
            &["capture-pane", "-p", "-e", "-J", "-t", id],
        ]
        .concat();
        let out = self.run(&words)?;
        let (first, shown) = out.split_once('\n').unwrap_or((&out, ""));
        let info = Info::parse(first).ok_or_else(|| Error::Refused {
            verb: "pipe-pane".into(),
            message: format!("unexpected answer {first:?}"),
        })?;
        let mut bytes = Vec::new();
        if info.alternate {
            bytes.extend_from_slice(b"\x1b[?1049h");
        }
        bytes.extend_from_slice(b"\x1b[H");
        bytes.extend_from_slice(
            shown
                .trim_end_matches('\n')
                .replace('\n', "\x1b[0m\r\n")
                .as_bytes(),
        );
        let (column, row) = (info.cursor.0 + 1, info.cursor.1 + 1);
        bytes.extend_from_slice(format!("\x1b[0m\x1b[{row};{column}H").as_bytes());
        Ok((info, bytes))
    }

    /// Makes a pane so large, or its window when it is the only one. `fixed`: the size stays when people attach with
    /// another.
    pub fn resize(
        &self,
        info: &Info,
        alone: bool,
        size: Option<(u16, u16)>,
        fixed: bool,
    ) -> Result<(), Error> {
        let (pane, window) = (info.pane.0.as_str(), info.window.as_str());
        let mut words: Vec<&str> = Vec::new();
        let text = size.map(|(cols, rows)| (cols.to_string(), rows.to_string()));
        if let Some((cols, rows)) = &text {
            let (verb, target) = if alone {
                ("resize-window", window)
            } else {
                ("resize-pane", pane)
            };
            words.extend([verb, "-t", target, "-x", cols, "-y", rows, ";"]);
        }
        match fixed {
            // Per window: set for all of them, this crashes 3.3a to 3.6b at the next new one.
            true => words.extend(["set-option", "-w", "-t", window, "window-size", "manual"]),
            false => words.extend(["set-option", "-w", "-u", "-t", window, "window-size"]),
        }
        self.run(&words).map(drop)
    }

    /// Gives a pane a new tap: the earlier one has gone.
    pub fn pipe(&self, pane: &PaneId, tap: &[String]) -> Result<(), Error> {
        self.run(&["pipe-pane", "-O", "-t", &pane.0, &word(&tap_line(tap))])
            .map(drop)
    }

    /// Every pane of our tmux server; none when no server runs.
    pub fn panes(&self) -> Result<Vec<Info>, Error> {
        match self.run(&["list-panes", "-a", "-F", FORMAT]) {
            Ok(out) => Ok(out.lines().filter_map(Info::parse).collect()),
            Err(Error::NoServer) => Ok(Vec::new()),
            // So it says when its last session has gone and it is about to end.
            Err(Error::Refused { message, .. }) if message == "no current target" => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// One pane; `None` when it (or the whole server) is gone.
    pub fn pane(&self, pane: &PaneId) -> Result<Option<Info>, Error> {
        let words = ["display-message", "-p", "-t", &pane.0, FORMAT];
        match self.run_fast(&[&words]).unwrap_or_else(|| self.run(&words)) {
            // display-message with a pane that is gone prints an empty expansion with success on some versions.
            Ok(out) => Ok(Info::parse(out.trim_end()).filter(|info| info.pane == *pane)),
            Err(Error::NoServer) | Err(Error::Refused { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The visible rows, trailing blanks trimmed, and the cursor (column, row).
    pub fn screen(&self, pane: &PaneId) -> Result<(Vec<String>, (u16, u16)), Error> {
        let out = self.run(&[
            "display-message",
            "-p",
            "-t",
            &pane.0,
            "#{cursor_x} #{cursor_y}",
            ";",
            "capture-pane",
            "-p",
            "-t",
            &pane.0,
        ])?;
        let mut lines = out.split('\n');
        let cursor = lines.next().and_then(|line| line.split_once(' '));
        let cursor = cursor
            .map(|(x, y)| (x.parse().unwrap_or(0), y.parse().unwrap_or(0)))
            .unwrap_or((0, 0));
        let mut rows: Vec<String> = lines.map(|line| line.trim_end().to_string()).collect();
        rows.pop();
        Ok((rows, cursor))
    }

    /// Rows of a pane from `start` on, at most `most`: 0 is the first that is shown, -1 the last of the history.
    /// `None` when the pane is gone.
    pub fn capture(&self, pane: &PaneId, start: i64, most: u64) -> Result<Option<Capture>, Error> {
        let facts = "#{pane_id} #{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{history_size} #{pane_dead} #{alternate_on}";
        let end = start.saturating_add(i64::try_from(most).unwrap_or(i64::MAX)) - 1;
        let (start, end) = (start.to_string(), end.to_string());
        let ask = ["display-message", "-p", "-t", &pane.0, facts, ";"];
        let rows = [
            "capture-pane",
            "-p",
            "-t",
            &pane.0,
            "-S",
            &start,
            "-E",
            &end,
        ];
        let out = match self.run(&[ask.as_slice(), &rows].concat()) {
            Ok(out) => out,
            Err(Error::NoServer) | Err(Error::Refused { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let (facts, rows) = out.split_once('\n').unwrap_or((&out, ""));
        let mut fields = facts.split(' ');
        if fields.next() != Some(&pane.0) {
            return Ok(None);
        }
        let mut number = || {
            fields
                .next()
                .and_then(|text| text.parse().ok())
                .unwrap_or(0)
        };
        let size = (number(), number());
        let cursor = (number(), number());
        let (history, dead, alternate) = (number(), number() > 0, number() > 0);
        let rows: Vec<String> = rows
            .lines()
            .map(|line| line.trim_end().to_string())
            .collect();
        Ok(Some(Capture {
            rows,
            size,
            cursor,
            history,
            dead,
            alternate,
        }))
    }

    /// Ends the pane and what runs in it. A pane that is gone already is no error.
    pub fn kill(&self, pane: &PaneId) -> Result<(), Error> {
        match self.run(&["kill-pane", "-t", &pane.0]) {
            Err(Error::NoServer) => Ok(()),
            Err(Error::Refused { message, .. }) if message.contains("can't find") => Ok(()),
            other => other.map(drop),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_from_a_line() {
        let line = "%3 @2 $1 0 1 4711 /dev/pts/5 120 40 1 s7 s 0 1 0 5 6 tag with spaces";
        let info = Info::parse(line).unwrap();
        assert_eq!(
            (info.pid, info.dead_status, info.dead_signal),
            (4711, Some(7), None)
        );
        assert_eq!(
            (info.cols, info.rows, info.session.as_str(), info.piped),
            (120, 40, "$1", true)
        );
        assert_eq!(info.tag, "tag with spaces");
        assert_eq!(
            Info::parse("%3 @2 $1 0 0 4711 /dev/pts/5 120 40 1 s s9 0 0 0 0 0 ")
                .unwrap()
                .dead_signal,
            Some(9)
        );
        assert_eq!(Info::parse(""), None);
    }
}
