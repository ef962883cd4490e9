//! Panes: made, typed into, asked about, resized, killed. Always addressed by id once they exist.

use std::fmt;

use super::command::{Error, Tmux};
use super::format::{literal, shell_line, word};
use super::server;

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

/// A pane to be made: the only one of a new tmux session, or beside another.
pub struct NewPane<'a> {
    /// tmux session name: letters, digits, `_` and `-` only.
    pub name: &'a str,
    /// What the TAG option is set to: tells this pane from an earlier one of the same name.
    pub tag: &'a str,
    pub cols: u16,
    pub rows: u16,
    /// Keep the size when a person attaches with another one.
    pub fixed_size: bool,
    /// The program and its arguments; at least two words, so that tmux runs it without a shell.
    pub argv: &'a [String],
    /// The command that reads the pane's output, as words; it gets the path of the pane's terminal as one more.
    pub tap: &'a [String],
    /// To the right of this pane, in its window. Neither the name nor the size counts then, and what is in front
    /// stays so.
    pub beside: Option<&'a PaneId>,
}

/// What tmux knows of a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    pub pane: PaneId,
    pub window: String,
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
    pub tag: String,
    /// People at this pane's session: clients that are not control clients.
    pub attached: u32,
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
const FORMAT: &str = "#{pane_id} #{window_id} #{pane_pid} #{pane_tty} #{pane_width} #{pane_height} #{pane_dead} \
                      s#{pane_dead_status} s#{pane_dead_signal} #{pane_in_mode} #{pane_pipe} #{session_attached} #{@paneglass}";

impl Info {
    fn parse(line: &str) -> Option<Info> {
        let mut fields = line.splitn(13, ' ');
        let mut next = || fields.next();
        let pane = PaneId(next()?.to_string());
        let window = next()?.to_string();
        let pid = next()?.parse().ok()?;
        let tty = next()?.to_string();
        let cols = next()?.parse().ok()?;
        let rows = next()?.parse().ok()?;
        let dead = next()? == "1";
        let dead_status = next()?.strip_prefix('s')?.parse().ok();
        let dead_signal = next()?.strip_prefix('s').and_then(signal_number);
        let in_mode = next()?.parse::<u32>().is_ok_and(|depth| depth > 0);
        let piped = next()? == "1";
        let attached = next()?.parse().unwrap_or(0);
        let tag = next().unwrap_or_default().to_string();
        Some(Info {
            pane,
            window,
            pid,
            tty,
            cols,
            rows,
            dead,
            dead_status,
            dead_signal,
            in_mode,
            piped,
            tag,
            attached,
        })
    }
}

/// tmux prints a number up to 3.3a and a name ("TERM") in some later builds; an empty field is none.
fn signal_number(text: &str) -> Option<i32> {
    text.parse().ok()
}

/// What a command that made a pane has answered.
fn made(verb: &str, out: &str) -> Result<Info, Error> {
    Info::parse(out.trim_end()).ok_or_else(|| Error::Refused {
        verb: verb.into(),
        message: format!("unexpected answer {:?}", out.trim_end()),
    })
}

/// pipe-pane's argument: a shell line in which tmux expands formats.
fn tap_line(tap: &[String]) -> String {
    format!("exec {} #{{pane_tty}}", literal(&shell_line(tap)))
}

impl Tmux {
    /// Makes a session of one pane that is logged from its first byte: all in one invocation, since the program
    /// could print and even end between two.
    pub fn create(&self, new: &NewPane<'_>) -> Result<Info, Error> {
        if let Some(pane) = new.beside {
            return self.split(new, pane);
        }
        let target = format!("={}:", new.name);
        let (cols, rows) = (new.cols.to_string(), new.rows.to_string());
        let tap = tap_line(new.tap);
        let mut words: Vec<String> = server::settings();
        let mut push = |list: &[&str]| words.extend(list.iter().map(|text| word(text)));
        push(&[
            "new-session",
            "-d",
            "-s",
            new.name,
            "-x",
            &cols,
            "-y",
            &rows,
            "-c",
            "/",
            "--",
        ]);
        push(&new.argv.iter().map(String::as_str).collect::<Vec<_>>());
        words.push(";".into());
        let mut chain = |list: &[&str]| {
            words.extend(list.iter().map(|text| word(text)));
            words.push(";".into());
        };
        chain(&["pipe-pane", "-O", "-t", &target, &tap]);
        chain(&["set-option", "-p", "-t", &target, TAG, new.tag]);
        // 3.2a ignores -x and -y of a detached new-session. Resizing pins the window's size until it is unset again.
        chain(&["resize-window", "-t", &target, "-x", &cols, "-y", &rows]);
        if !new.fixed_size {
            chain(&["set-option", "-w", "-u", "-t", &target, "window-size"]);
        }
        chain(&["display-message", "-p", "-t", &target, FORMAT]);
        made("new-session", &self.run_starting(&words)?)
    }

    /// Without -d the commands that follow mean the new pane, whose id nobody can know yet; the pane that was in
    /// front comes back at the end of the same invocation, before tmux reads another key.
    fn split(&self, new: &NewPane<'_>, pane: &PaneId) -> Result<Info, Error> {
        let mut words: Vec<String> = Vec::new();
        let mut push = |list: &[&str]| words.extend(list.iter().map(|text| word(text)));
        push(&["split-window", "-h", "-t", &pane.0, "-c", "/", "--"]);
        push(&new.argv.iter().map(String::as_str).collect::<Vec<_>>());
        let tap = tap_line(new.tap);
        for list in [
            ["pipe-pane", "-O", &tap].as_slice(),
            &["set-option", "-p", TAG, new.tag],
            &["display-message", "-p", FORMAT],
            &["last-pane", "-t", &pane.0],
        ] {
            words.push(";".into());
            words.extend(list.iter().map(|text| word(text)));
        }
        made("split-window", &self.run(&words)?)
    }

    /// The name of the tmux session that shows a pane.
    pub fn session_of(&self, pane: &PaneId) -> Result<String, Error> {
        let out = self.run(&["display-message", "-p", "-t", &pane.0, "#{session_name}"])?;
        Ok(out.trim_end_matches('\n').to_string())
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
        let info =
            Info::parse("%3 @2 4711 /dev/pts/5 120 40 1 s7 s 0 1 2 tag with spaces").unwrap();
        assert_eq!(
            (info.pid, info.dead_status, info.dead_signal),
            (4711, Some(7), None)
        );
        assert_eq!(
            (info.cols, info.rows, info.attached, info.piped),
            (120, 40, 2, true)
        );
        assert_eq!(info.tag, "tag with spaces");
        assert_eq!(
            Info::parse("%3 @2 4711 /dev/pts/5 120 40 1 s s9 0 0 0 ")
                .unwrap()
                .dead_signal,
            Some(9)
        );
        assert_eq!(Info::parse(""), None);
    }
}
