//! Other terminals in Rust, built in a folder outside of the tree with what cargo can reach. Without them the
//! benchmark goes on.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const MANIFEST: &str = r#"
[package]
name = "peers"
version = "0.0.0"
edition = "2024"

[dependencies]
alacritty_terminal = "0.25"
vte = "0.15"

[profile.release]
lto = "fat"
codegen-units = 1

[workspace]
"#;

/// Reads a file, feeds it to the terminal that is named, and prints how many nanoseconds that took, without the
/// reading.
const PROGRAM: &str = r#"
use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::{Processor, StdSyncHandler};

struct Size;

impl Dimensions for Size {
    fn total_lines(&self) -> usize {
        24
    }
    fn screen_lines(&self) -> usize {
        24
    }
    fn columns(&self) -> usize {
        80
    }
}

struct Nothing;

impl vte::Perform for Nothing {}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let bytes = std::fs::read(&args[2]).unwrap();
    let start = std::time::Instant::now();
    if args[1] == "vte" {
        let mut parser = vte::Parser::new();
        parser.advance(&mut Nothing, &bytes);
    } else {
        let mut term = Term::new(Config::default(), &Size, VoidListener);
        let mut processor = Processor::<StdSyncHandler>::new();
        processor.advance(&mut term, &bytes);
        std::hint::black_box(&term);
    }
    println!("{}", start.elapsed().as_nanos());
}
"#;

/// The program that runs them.
pub struct Peers(PathBuf);

impl Peers {
    /// Builds them, or finds them built; `None` when that cannot be done.
    pub fn build() -> Option<Peers> {
        let dir = std::env::temp_dir().join("paneglass-bench-peers");
        std::fs::create_dir_all(dir.join("src")).ok()?;
        std::fs::write(dir.join("Cargo.toml"), MANIFEST).ok()?;
        std::fs::write(dir.join("src/main.rs"), PROGRAM).ok()?;
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let target = dir.join("target");
        cargo
            .args(["build", "--release", "--quiet"])
            .current_dir(&dir)
            .env("CARGO_TARGET_DIR", &target);
        let built = cargo.stdin(Stdio::null()).status().ok()?.success();
        built.then(|| Peers(target.join("release/peers")))
    }

    /// How long one of them takes for a file that is in memory.
    pub fn time(&self, which: &str, file: &Path) -> io::Result<Duration> {
        let output = Command::new(&self.0).arg(which).arg(file).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let nanoseconds = text
            .trim()
            .parse()
            .map_err(|_| io::Error::other(format!("{which}: {text:?}")))?;
        Ok(Duration::from_nanos(nanoseconds))
    }
}
