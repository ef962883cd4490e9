//! Where a prompt and what is typed at it stand when the shell draws them again.

use super::super::Position;
use super::{Told, marker, options};

#[test]
fn a_line_that_is_drawn_again_over_what_stood_before_its_prompt() {
    // "lx" is typed ahead and echoed by the kernel; bash draws its prompt behind it, corrects the x, and begins at
    // column 0 as if nothing were before the prompt.
    let mut told = Told::new(options(20, 5));
    told.feed("lx").feed(marker("D;0"));
    told.feed(marker("A")).feed("$ ").feed(marker("B"));
    told.feed("lx");
    let marks = told.marks();
    assert_eq!(told.terminal.text_from(marks[2]), "lx");
    told.feed("\r$ ls\x1b[K");
    assert_eq!(told.terminal.text_from(marks[2]), "ls");
    // A carriage return alone draws nothing: so ends a line that is entered.
    let mut entered = Told::new(options(20, 5));
    entered.feed("lx").feed(marker("D;0")).feed(marker("A"));
    entered.feed("$ ").feed(marker("B")).feed("ls\r\n");
    let typed = *entered.marks().last().unwrap();
    assert_eq!(entered.terminal.text_from(typed), "ls");
    assert_eq!(
        told.terminal.locate(marks[0]),
        Some(Position { line: 0, byte: 0 })
    );
    told.feed(" -l\r$ ls -a");
    assert_eq!(told.terminal.text_from(marks[2]), "ls -a");
}
