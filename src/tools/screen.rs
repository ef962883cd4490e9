//! A full-screen program's screen as a reply: whole, only the rows that changed, or those round the cursor.

use crate::reply::Reply;
use crate::reply::header::Status;
use crate::session::Session;
use crate::session::screen::Screen;

use super::report;
use super::{Context, Failure};

/// Which rows a reply shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Full,
    /// All of them, also where many are equal.
    Verbatim,
    /// Only what changed since this agent last saw the screen.
    Changes,
    /// The cursor's row and its neighbours.
    Cursor,
}

impl Part {
    pub const NAMES: [&'static str; 3] = ["full", "changes", "cursor"];

    pub fn named(name: &str) -> Part {
        match name {
            "changes" => Part::Changes,
            "cursor" => Part::Cursor,
            _ => Part::Full,
        }
    }
}

/// Rows shown above and below the cursor's.
const NEIGHBOURS: usize = 3;

/// So many equal rows in a row are told as one: an editor's `~`, the blank rows of a short file.
const ALIKE: usize = 4;

/// The screen as tmux shows it, with the cursor.
pub fn reply(context: &Context<'_>, session: &Session, part: Part) -> Result<Reply, Failure> {
    let Screen { rows, cursor } = context.sessions.screen(session)?;
    let (column, row) = cursor;
    let (cols, height, fullscreen, before) = {
        let mut state = session.state();
        let (cols, height) = state.term.size();
        let fullscreen = state.term.fullscreen();
        let agent = state.agents.entry(context.agent.to_string()).or_default();
        let before = agent.screen.replace(rows.clone());
        (cols, height, fullscreen, before)
    };
    let before = before.filter(|before| before.len() == rows.len());
    let (body, shown) = match (part, before) {
        (Part::Cursor, _) => (round_cursor(&rows, row.into()), " · rows round the cursor"),
        (Part::Changes, Some(before)) => {
            let changed = changed(&before, &rows);
            let shown = if changed.is_empty() {
                " · no row changed"
            } else {
                " · changed rows"
            };
            (changed, shown)
        }
        (Part::Verbatim, _) => (rows.join("\n"), ""),
        // What was never seen has changed.
        (Part::Changes | Part::Full, _) => (whole(&rows), ""),
    };
    let kind = if fullscreen {
        " · full-screen program"
    } else {
        ""
    };
    let mut reply = Reply::new(format!(
        "[{} · screen {cols}x{height} · cursor row {} column {}{kind}{shown}]",
        session.name,
        row + 1,
        column + 1
    ))
    .body(body);
    report::facts(&mut reply, session, &Status::Settled);
    reply.fact(
        "screen",
        serde_json::json!({ "cols": cols, "rows": height, "cursor": { "row": row + 1, "column": column + 1 }, "fullscreen": fullscreen }),
    );
    Ok(reply)
}

/// Every row; long runs of equal ones are told as one.
fn whole(rows: &[String]) -> String {
    let last = rows.iter().rposition(|row| !row.is_empty());
    let rows = &rows[..last.map_or(0, |last| last + 1)];
    let mut lines = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let alike = rows[at..]
            .iter()
            .take_while(|row| **row == rows[at])
            .count();
        if alike < ALIKE {
            lines.push(rows[at].clone());
            at += 1;
            continue;
        }
        let (first, last) = (at + 1, at + alike);
        lines.push(match rows[at].as_str() {
            "" => format!("[... rows {first}-{last} are empty ...]"),
            row => format!("{row}\n[... rows {}-{last} are the same ...]", first + 1),
        });
        at += alike;
    }
    lines.join("\n")
}

fn numbered(row: usize, text: &str) -> String {
    format!("{}: {text}", row + 1)
}

fn changed(before: &[String], now: &[String]) -> String {
    let rows = now
        .iter()
        .zip(before)
        .enumerate()
        .filter(|(_, (now, before))| now != before);
    rows.map(|(row, (now, _))| numbered(row, now))
        .collect::<Vec<_>>()
        .join("\n")
}

fn round_cursor(rows: &[String], cursor: usize) -> String {
    let first = cursor.saturating_sub(NEIGHBOURS);
    let near = rows
        .iter()
        .enumerate()
        .skip(first)
        .take(cursor + NEIGHBOURS + 1 - first);
    near.map(|(row, text)| numbered(row, text))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<String> {
        text.split('|').map(String::from).collect()
    }

    #[test]
    fn equal_rows_are_told_as_one() {
        assert_eq!(whole(&rows("a|||b||")), "a\n\n\nb");
        assert_eq!(
            whole(&rows("a|||||b|~|~|~|~|~|end")),
            "a\n[... rows 2-5 are empty ...]\nb\n~\n[... rows 8-11 are the same ...]\nend"
        );
        assert_eq!(whole(&rows("")), "");
    }

    #[test]
    fn only_what_changed() {
        assert_eq!(changed(&rows("a|b|c"), &rows("a|x|")), "2: x\n3: ");
        assert_eq!(changed(&rows("a"), &rows("a")), "");
    }

    #[test]
    fn rows_round_the_cursor() {
        let ten = rows("a|b|c|d|e|f|g|h|i|j");
        assert_eq!(round_cursor(&ten, 0), "1: a\n2: b\n3: c\n4: d");
        assert_eq!(
            round_cursor(&ten, 5),
            "3: c\n4: d\n5: e\n6: f\n7: g\n8: h\n9: i"
        );
        assert_eq!(round_cursor(&ten, 9), "7: g\n8: h\n9: i\n10: j");
    }
}
