//! Typing as a person does: pauses between keys, and mistakes that are put right. The same seed gives the same keys.

use std::time::Duration;

use super::args::{Args, BadArgument};

/// Keys of a word and the blank after it: what "words per second" counts.
const KEYS_PER_WORD: f64 = 6.0;

/// A fast person types two words a second.
const WPS_DEFAULT: f64 = 2.0;
const WPS_LEAST: f64 = 0.2;
const WPS_MOST: f64 = 100.0;

/// With more mistakes than this the text is hardly readable while it is typed.
const MISTAKES_MOST: f64 = 0.5;

/// Characters typed one by one in a call: each costs a tmux call and a pause.
pub const TYPED_MOST: usize = 5_000;

/// How to type.
#[derive(Clone, Copy, Debug)]
pub struct Human {
    /// Words per second.
    pub wps: f64,
    /// The chance of a mistake at each letter.
    pub mistakes: f64,
    pub seed: u64,
}

/// One press.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Key {
    Char(char),
    Backspace,
}

/// A press, and the pause after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    pub key: Key,
    pub pause: Duration,
}

impl Human {
    pub fn take(args: &mut Args) -> Result<Option<Human>, BadArgument> {
        let Some(mut typing) = args.object("typing", "run: typing")? else {
            return Ok(None);
        };
        let wps = typing.float("wps", WPS_LEAST, WPS_MOST)?;
        let mistakes = typing.float("mistakes", 0.0, MISTAKES_MOST)?;
        let seed = typing.number("seed", 0, u64::MAX >> 12)?;
        typing.done()?;
        Ok(Some(Human {
            wps: wps.unwrap_or(WPS_DEFAULT),
            mistakes: mistakes.unwrap_or(0.0),
            seed: seed.unwrap_or(1),
        }))
    }

    /// The presses that type `text`.
    pub fn strokes(&self, text: &str) -> Vec<Stroke> {
        let mut chance = Chance(self.seed);
        let usual = 1.0 / (self.wps * KEYS_PER_WORD);
        let mut strokes = Vec::new();
        for c in text.chars() {
            if c.is_ascii_lowercase() && chance.next() < self.mistakes {
                strokes.push(Stroke {
                    key: Key::Char(neighbour(c, chance.next())),
                    pause: seconds(usual * (1.5 + chance.next())),
                });
                strokes.push(Stroke {
                    key: Key::Backspace,
                    pause: seconds(usual * (0.5 + chance.next())),
                });
            }
            let slower = if c == ' ' { 1.5 } else { 1.0 };
            strokes.push(Stroke {
                key: Key::Char(c),
                pause: seconds(usual * slower * (0.5 + chance.next())),
            });
        }
        strokes
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// A key beside this one.
fn neighbour(c: char, chance: f64) -> char {
    const ROWS: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
    let row = ROWS.iter().find(|row| row.contains(c)).unwrap_or(&ROWS[1]);
    let at = row.find(c).unwrap_or(0);
    let next = if at == 0 || chance < 0.5 && at + 1 < row.len() {
        at + 1
    } else {
        at - 1
    };
    row.chars().nth(next).unwrap_or('e')
}

/// Numbers from 0 to 1, by splitmix64 (Steele, Lea and Flood 2014).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // 53 bits are what a float holds.
        (mixed >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(strokes: &[Stroke]) -> String {
        let mut text = String::new();
        for stroke in strokes {
            match stroke.key {
                Key::Char(c) => text.push(c),
                Key::Backspace => drop(text.pop()),
            }
        }
        text
    }

    #[test]
    fn mistakes_are_put_right() {
        let human = Human {
            wps: 3.0,
            mistakes: 0.3,
            seed: 7,
        };
        let text = "the quick brown fox, 漢字 and a tab\tq p";
        let strokes = human.strokes(text);
        assert_eq!(typed(&strokes), text);
        assert!(strokes.iter().any(|stroke| stroke.key == Key::Backspace));
        assert_eq!(strokes, human.strokes(text));
        let other = Human { seed: 8, ..human };
        assert_ne!(strokes, other.strokes(text));
    }

    #[test]
    fn words_per_second_hold_on_average() {
        let human = Human {
            wps: 4.0,
            mistakes: 0.0,
            seed: 1,
        };
        let text = "abcde ".repeat(400);
        let total: Duration = human.strokes(&text).iter().map(|stroke| stroke.pause).sum();
        let wps = 400.0 / total.as_secs_f64();
        assert!((3.0..5.0).contains(&wps), "{wps}");
    }
}
