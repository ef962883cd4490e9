//! `paneglass cook`: the terminal engine as a filter. A recording in (script's typescript, a CI log, raw.log), plain
//! lines out; or the screen at its end.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use super::flags::{Flag, Syntax, Takes};
use crate::term::{Event, Options, Output, Terminal, width};

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass cook",
    about: "Turns a recording of a terminal into plain lines, as the terminal showed them.",
    words: "[FILE]",
    flags: &[
        Flag::new(
            "cols",
            Takes::Value("N"),
            "columns of the terminal that was recorded (default 80)",
        ),
        Flag::new("rows", Takes::Value("N"), "its rows (default 24)"),
        Flag::new(
            "resize",
            Takes::Value("AT:CxR"),
            "from byte AT of the recording on it had C columns and\nR rows; may be given again",
        ),
        Flag::new(
            "screen",
            Takes::Nothing,
            "print the screen as it is at the end, not the lines",
        ),
        Flag::new(
            "tmux",
            Takes::Value("VERSION"),
            "measure characters as this tmux does (default 3.3a)",
        ),
    ],
    notes: "\
Reads standard input without FILE or when it is -. Lines come out as they leave
the screen, so memory does not grow with the recording.",
    examples: &[
        "script -qc 'make -j4' recording; paneglass cook recording",
        "paneglass cook --cols 120 ~/.local/state/paneglass/sessions/t1/raw.log",
    ],
};

/// Read at a time. Large enough that system calls cost nothing, small enough to stay in the cache.
const CHUNK: usize = 128 << 10;

/// How many screens of rows are kept revisable for changes of size: a wider screen takes rows back from the
/// history.
const HELD_SCREENS: u16 = 8;
/// The least number of rows that are, as of a screen of 25: lines are not shorter where the screen has few rows.
const HELD_LEAST: u16 = 200;

/// What the command line asks for.
struct Arguments {
    file: Option<PathBuf>,
    cols: u16,
    rows: u16,
    screen: bool,
    rules: width::Rules,
    /// Changes of size, in the order of their offsets.
    resizes: Vec<Resize>,
}

/// The terminal had another size from a byte of the recording on.
#[derive(Clone, Copy)]
struct Resize {
    offset: u64,
    cols: u16,
    rows: u16,
}

/// Runs the command.
pub fn run(parser: lexopt::Parser) -> ExitCode {
    let arguments = match parse(parser) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => return super::print(&SYNTAX.help()),
        Err(error) => return super::wrong("paneglass cook", error),
    };
    match cook(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has had enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let file = arguments
                .file
                .unwrap_or_else(|| PathBuf::from("standard input"));
            eprintln!("paneglass cook: {}: {error}", file.display());
            ExitCode::FAILURE
        }
    }
}

/// None when help is asked for.
fn parse(mut parser: lexopt::Parser) -> Result<Option<Arguments>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut arguments = Arguments {
        file: None,
        cols: 80,
        rows: 24,
        screen: false,
        rules: width::Rules::default(),
        resizes: Vec::new(),
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("cols") => arguments.cols = size(parser.value()?)?,
            Long("rows") => arguments.rows = size(parser.value()?)?,
            Long("screen") => arguments.screen = true,
            Long("tmux") => arguments.rules = version(parser.value()?)?,
            Long("resize") => arguments.resizes.push(resize(parser.value()?)?),
            Value(file) if arguments.file.is_none() => arguments.file = Some(file.into()),
            other => return Err(other.unexpected()),
        }
    }
    arguments.resizes.sort_by_key(|resize| resize.offset);
    // As everywhere, `-` is standard input.
    arguments.file = arguments.file.filter(|file| file.as_os_str() != "-");
    Ok(Some(arguments))
}

fn size(value: OsString) -> Result<u16, lexopt::Error> {
    use lexopt::prelude::*;
    value.parse_with(|text| match text.parse() {
        Ok(0) | Err(_) => Err("not a size from 1 to 65535"),
        Ok(size) => Ok(size),
    })
}

/// As `tmux -V` prints it, with or without its first word.
fn version(value: OsString) -> Result<width::Rules, lexopt::Error> {
    use lexopt::prelude::*;
    value.parse_with(|text| {
        let number = text.trim_start_matches("tmux ").trim_start_matches("next-");
        if number.starts_with(|c: char| c.is_ascii_digit()) {
            Ok(width::Rules::for_version(text))
        } else {
            Err("not a version of tmux, such as 3.3a")
        }
    })
}

/// `OFFSET:COLSxROWS`.
fn resize(value: OsString) -> Result<Resize, lexopt::Error> {
    use lexopt::prelude::*;
    let read = |text: &str| {
        let (offset, size) = text.split_once(':')?;
        let (cols, rows) = size.split_once('x')?;
        let resize = Resize {
            offset: offset.parse().ok()?,
            cols: cols.parse().ok()?,
            rows: rows.parse().ok()?,
        };
        (resize.cols > 0 && resize.rows > 0).then_some(resize)
    };
    value.parse_with(|text| read(text).ok_or("not AT:COLSxROWS, such as 4096:120x40"))
}

fn cook(arguments: &Arguments) -> io::Result<()> {
    let mut input: Box<dyn Read> = match &arguments.file {
        Some(file) => Box::new(File::open(file)?),
        None => Box::new(io::stdin().lock()),
    };
    // Only a screen that changes its size needs rows that have left it.
    let tallest = arguments
        .resizes
        .iter()
        .map(|resize| resize.rows)
        .chain([arguments.rows])
        .max()
        .unwrap_or(0);
    let hold_back = if arguments.resizes.is_empty() {
        0
    } else {
        tallest.saturating_mul(HELD_SCREENS).max(HELD_LEAST)
    };
    let mut terminal = Terminal::new(Options {
        cols: arguments.cols,
        rows: arguments.rows,
        rules: arguments.rules,
        nonce: None,
        hold_back,
    });
    let mut stdout = io::stdout().lock();
    let mut out = Output::default();
    let mut buffer = vec![0; CHUNK];
    let mut resizes = arguments.resizes.iter().peekable();
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut bytes = &buffer[..count];
        let end = terminal.offset() + count as u64;
        while let Some(resize) = resizes.next_if(|resize| resize.offset < end) {
            let (before, after) =
                bytes.split_at(resize.offset.saturating_sub(terminal.offset()) as usize);
            terminal.feed(before, &mut out);
            terminal.resize(resize.cols, resize.rows, &mut out);
            bytes = after;
        }
        terminal.feed(bytes, &mut out);
        take(&mut terminal, &mut out, arguments.screen, &mut stdout)?;
    }
    for resize in resizes {
        terminal.resize(resize.cols, resize.rows, &mut out);
    }
    if arguments.screen {
        let screen = terminal.screen().join("\n");
        writeln!(stdout, "{}", screen.trim_end_matches('\n'))?;
    } else {
        terminal.finish(&mut out);
        take(&mut terminal, &mut out, false, &mut stdout)?;
    }
    stdout.flush()
}

/// Hands on what is final and lets go of marks that nobody asks for.
fn take(
    terminal: &mut Terminal,
    out: &mut Output,
    discard: bool,
    to: &mut impl Write,
) -> io::Result<()> {
    for event in out.events.drain(..) {
        if let Event::Marker { mark, .. } = event {
            terminal.release(mark);
        }
    }
    if !discard {
        to.write_all(&out.text)?;
    }
    out.text.clear();
    Ok(())
}
