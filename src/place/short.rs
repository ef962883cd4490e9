//! Shell scripts written shorter, for a command line: without comments and indentation, and with short names in place
//! of `__paneglass_` ones.
//!
//! Must not know what the scripts do. It relies on their style: no text goes over several lines, and a list of names is
//! written `__paneglass_{a,b}` (bash) or `__paneglass_(a|b)` (zsh).

use std::collections::HashMap;

/// What the names begin with, and what they begin with when they are short.
const LONG: &str = "__paneglass_";
const SHORT: &str = "__pg";

/// Without comments, blank lines and indentation.
pub fn lines(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    for line in text.lines().map(str::trim_start) {
        if !line.is_empty() && !line.starts_with('#') {
            short.push_str(line);
            short.push('\n');
        }
    }
    short
}

/// The same names get the same short ones, all of one length: a pattern such as `*__paneglass_prompt*` still
/// matches what it did.
#[derive(Debug, Default)]
pub struct Names {
    known: HashMap<String, String>,
}

impl Names {
    pub fn shorten(&mut self, text: &str) -> String {
        let mut short = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(LONG) {
            short.push_str(&rest[..at]);
            rest = &rest[at + LONG.len()..];
            let list = match rest.chars().next() {
                Some('{') => Some(('}', ',')),
                Some('(') => Some((')', '|')),
                _ => None,
            };
            if let Some(((end, between), close)) =
                list.and_then(|list| Some((list, rest.find(list.0)?)))
            {
                let names: Vec<String> = rest[1..close]
                    .split(between)
                    .map(|name| self.name(name))
                    .collect();
                let list = match end {
                    ')' => format!("({})", names.join("|")),
                    _ => names.join(" "),
                };
                short.push_str(&list);
                rest = &rest[close + 1..];
                continue;
            }
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            short.push_str(&self.name(&rest[..end]));
            rest = &rest[end..];
        }
        short.push_str(rest);
        short
    }

    fn name(&mut self, name: &str) -> String {
        if name.is_empty() {
            return SHORT.into();
        }
        let next = self.known.len();
        let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
        self.known
            .entry(name.to_string())
            .or_insert_with(|| format!("{SHORT}{}{}", letter(next / 26), letter(next)))
            .clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_the_same_everywhere() {
        let mut names = Names::default();
        assert_eq!(
            names.shorten(
                "__paneglass_run; ${__paneglass_p:__paneglass_q} *__paneglass_run* __paneglass_*"
            ),
            "__pgaa; ${__pgab:__pgac} *__pgaa* __pg*"
        );
        assert_eq!(
            names.shorten("__paneglass_{run,q,new} x ${a:#__paneglass_(p|run)}\n"),
            "__pgaa __pgac __pgad x ${a:#(__pgab|__pgaa)}\n"
        );
    }

    #[test]
    fn lines_without_what_no_shell_needs() {
        assert_eq!(
            lines("# a\n\n  if x; then # b\n\ty\n  fi\n"),
            "if x; then # b\ny\nfi\n"
        );
    }
}
