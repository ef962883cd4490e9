//! What runs on the far side: the script that starts the user's shell with the integration there, or puts the
//! integration's files into a home; and the words that carry it through any login shell.
//!
//! Must not know ssh or containers: it makes words, and the caller says which program they are given to.

use std::fmt;

use super::files::{self, Shell};
use super::pack;
use super::short::{self, Names};

/// dropbear closes the connection at a command of 9,000 bytes.
pub const COMMAND_MOST: usize = 8_900;

/// bsd-csh takes words of up to 4 KiB.
const WORD_MOST: usize = 4_000;

/// In the order in which they are unpacked, and the last left out first.
const ALL: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// The files that a shell loads at its start. Others are for shells that are started from it later on, when these are
/// gone.
const LOADED: [&str; 5] = [
    files::BASH_RC,
    files::BASH,
    files::ZSH_ENV,
    files::ZSH,
    files::FISH,
];

/// The function that everything before it is for; enter.sh has it.
const ENTER: &str = "pg_enter";

/// Ends a file within the script.
const END_OF_FILE: &str = "@@";

/// The variable with the names of those that are taken along.
pub const CARRIED: &str = "PANEGLASS_SSH_ENV";

/// By which way the far side is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    Ssh,
    Into,
}

/// A script, and the words `sh -c ...` that make and run it.
#[derive(Clone, Debug)]
pub struct Bootstrap {
    /// As it runs there.
    pub script: String,
    words: Vec<String>,
}

/// Why there is no bootstrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The integration holds something else than printable ASCII: a mistake in this package.
    Unpackable,
    /// So many bytes.
    TooLong(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unpackable => f.write_str("the integration cannot be written on a command line"),
            Error::TooLong(bytes) => write!(
                f,
                "the command would have {bytes} bytes, over the {COMMAND_MOST} that every ssh server takes; carry less with {CARRIED}"
            ),
        }
    }
}

impl std::error::Error for Error {}

/// Starts the user's login shell, integrated under `nonce`, with `carried` in its environment. The names of
/// `carried` must be names of shell variables.
///
/// Where only so much fits into a command (ssh), the integration of fish, and then that of zsh, is left out before
/// anything else is given up; such a shell says that it is plain.
pub fn enter(via: Via, nonce: &str, carried: &[(String, String)]) -> Result<Bootstrap, Error> {
    let entry = |shells: &[Shell]| Entry::new(via, nonce, carried, shells);
    if via == Via::Into {
        let script = entry(&ALL).script();
        let words = ["sh", "-c", &script].map(String::from).to_vec();
        return Ok(Bootstrap { script, words });
    }
    let mut with = ALL.len();
    loop {
        let made = entry(&ALL[..with]).packed()?;
        if with == 1 || made.line().is_ok() {
            return Ok(made);
        }
        with -= 1;
    }
}

/// The parts of the script that enters a place.
struct Entry {
    /// Defines everything but the integrations of zsh and fish.
    first: String,
    /// Those that have room, in the order of the shells.
    more: Vec<String>,
}

impl Entry {
    fn new(via: Via, nonce: &str, carried: &[(String, String)], shells: &[Shell]) -> Entry {
        let (name, mut names) = match via {
            Via::Ssh => ("ssh", Some(Names::default())),
            // What is inherited from an integrated shell here has the long names.
            Via::Into => ("into", None),
        };
        let mut first = format!(
            "pg_via={name}\n__PANEGLASS_NONCE={}\nexport __PANEGLASS_NONCE\n",
            quoted(nonce)
        );
        for (name, value) in carried {
            first.push_str(&assignment(name, value));
        }
        first.push_str(&short::lines(include_str!(
            "../../shell/bootstrap/enter.sh"
        )));
        let mut text = |path: &str, text: &str| {
            if !LOADED.contains(&path) {
                return None;
            }
            let mut text = short::lines(text);
            if path == files::BASH_RC {
                text = passing_rc(&text);
            }
            Some(match &mut names {
                Some(names) => names.shorten(&text),
                None => text,
            })
        };
        let mut parts = shells.iter().map(|shell| writer(*shell, &mut text));
        first.extend(parts.next());
        Entry {
            first,
            more: parts.collect(),
        }
    }

    fn script(&self) -> String {
        format!("{}{}{ENTER}\n", self.first, self.more.concat())
    }

    /// Unpacks on the far side as much as the login shell there needs.
    fn packed(&self) -> Result<Bootstrap, Error> {
        // What the login shell does not need is not unpacked: it takes some tenths of a second.
        let [zsh, fish] = [1, 2].map(|more| if self.more.len() < more { 1 } else { more + 1 });
        let unwrap = format!(
            r#"a=$1;shift;p() {{ echo "paneglass: a plain shell: $1">&2;exec "${{SHELL:-/bin/sh}}" -l;}};case $SHELL in */bash)g=1;;*/zsh)g={zsh};;*/fish)g={fish};;*)p "there is no integration for ${{SHELL##*/}}";esac;s=$(printf %s "$@"|LC_ALL=C awk -v g=$g "$a");case $s in *pg_via*)eval "$s;{ENTER}";;*)p "no awk here";esac"#
        );
        let mut sections = vec![self.first.as_str()];
        sections.extend(self.more.iter().map(String::as_str));
        let packed = pack::pack(&sections).ok_or(Error::Unpackable)?;
        let mut words = ["sh", "-c", &unwrap, "sh", &pack::unpacker()]
            .map(String::from)
            .to_vec();
        // Packed text is ASCII, so any byte is a border.
        words.extend(
            packed
                .as_bytes()
                .chunks(WORD_MOST)
                .map(|part| String::from_utf8_lossy(part).into_owned()),
        );
        Ok(Bootstrap {
            script: self.script(),
            words,
        })
    }
}

/// The script that writes the integration's files into the user's home, in place of other versions. It is given to
/// `sh` on its standard input, so it may be of any length.
pub fn install() -> String {
    let writers = ALL.map(|shell| writer(shell, &mut |_, text: &str| Some(text.to_string())));
    installer(&format!(
        "pg_version={}\n{}",
        files::VERSION,
        writers.concat()
    ))
}

/// The script that takes the integration's files out of the user's home.
pub fn remove() -> String {
    installer("pg_version=\n")
}

/// In braces: half of it never runs.
fn installer(before: &str) -> String {
    let script = include_str!("../../shell/bootstrap/install.sh");
    format!("{{\n{before}{script}}}\n")
}

impl Bootstrap {
    /// The words, for a program that starts another by its arguments.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// One line for a login shell: POSIX, csh, tcsh and fish read it alike.
    pub fn line(&self) -> Result<String, Error> {
        let words: Vec<String> = self.words[2..]
            .iter()
            .map(|word| format!("'{word}'"))
            .collect();
        let line = format!("exec sh -c {}", words.join(" "));
        if line.len() > COMMAND_MOST {
            return Err(Error::TooLong(line.len()));
        }
        Ok(line)
    }
}

/// The function `pg_SHELL DIR`: writes that shell's files, each as `text` makes it of its own text; `None` leaves it
/// out.
fn writer(shell: Shell, text: &mut impl FnMut(&str, &str) -> Option<String>) -> String {
    let (name, first) = match shell {
        Shell::Bash => ("bash", ""),
        // A bash that is started in a zsh finds its way in, as long as the files are there.
        Shell::Zsh => ("zsh", "pg_bash \"$1\"&&"),
        Shell::Fish => ("fish", ""),
    };
    let files: Vec<(&str, String)> = files::FILES
        .iter()
        .filter(|(path, _)| path.split('/').next() == Some(name))
        .filter_map(|(path, own)| Some((*path, text(path, own)?)))
        .collect();
    let mut folders: Vec<&str> = files
        .iter()
        .filter_map(|(path, _)| Some(path.rsplit_once('/')?.0))
        .collect();
    folders.dedup();
    let mut function = format!("pg_{name}() {{\n{first}mkdir -p");
    for folder in folders {
        function.push_str(&format!(" \"$1/{folder}\""));
    }
    for (path, _) in &files {
        function.push_str(&format!("&&cat >\"$1/{path}\" <<'{END_OF_FILE}'"));
    }
    function.push('\n');
    for (_, own) in &files {
        function.push_str(own);
        function.push_str(END_OF_FILE);
        function.push('\n');
    }
    function.push_str("}\n");
    function
}

/// The rc file of a bash whose files go once they are read.
fn passing_rc(rc: &str) -> String {
    format!(
        "__paneglass_whole=1\n{rc}\\builtin unset -v __paneglass_whole\n\
         ((BASH_VERSINFO[0]*100+BASH_VERSINFO[1]>=404))||echo \"paneglass: a plain shell: bash is older than 4.4\" >&2\n\
         \\command rm -rf -- \"${{BASH_SOURCE[0]%/bash/rc}}\"\n"
    )
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Sets and exports a variable, whatever bytes its value has: others than printable ones go through printf.
fn assignment(name: &str, value: &str) -> String {
    if value
        .bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\n'))
    {
        return format!("{name}={}\nexport {name}\n", quoted(value));
    }
    let mut escaped = String::new();
    for byte in value.bytes() {
        match byte {
            b'%' => escaped.push_str("%%"),
            b' '..=b'~' if byte != b'\\' && byte != b'\'' => escaped.push(char::from(byte)),
            _ => escaped.push_str(&format!("\\{byte:03o}")),
        }
    }
    // A substitution loses the line breaks at its end.
    format!("{name}=$(printf '{escaped}x')\n{name}=${{{name}%x}}\nexport {name}\n")
}

/// The variables of these names, which must be names to a shell, as far as they are set; and PANEGLASS_SSH_ENV itself,
/// which named them.
pub fn carried(names: &[String], get: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let mut carried: Vec<(String, String)> = Vec::new();
    for name in names.iter().map(String::as_str).chain([CARRIED]) {
        if let Some(value) = get(name).filter(|_| carried.iter().all(|(other, _)| other != name)) {
            carried.push((name.to_string(), value));
        }
    }
    carried
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_fits_every_server_and_shell() {
        let value = |name: &str| (name.to_string(), format!("the value of {name}"));
        let carried = [value("PROJECT"), value(CARRIED)];
        for via in [Via::Ssh, Via::Into] {
            let bootstrap = enter(via, &"0".repeat(32), &carried).unwrap();
            // Nothing was left out.
            assert!(bootstrap.script.contains("pg_fish()"), "{via:?}");
            if via == Via::Into {
                continue;
            }
            let line = bootstrap.line().unwrap();
            assert!(!line.contains(['!', '\n', '\t']), "{line}");
            assert!(!line.contains("\\'") && !line.contains("\\\\"), "{line}");
            for word in &bootstrap.words {
                assert!(word.len() < 4_096 && !word.contains('\''));
            }
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_none() {
        let mut seed = 7u64;
        let noise: String = (0..9_000)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                char::from(b'a' + (seed >> 33) as u8 % 26)
            })
            .collect();
        let bootstrap = enter(Via::Into, "n", &[("X".into(), noise)]).unwrap();
        assert!(matches!(bootstrap.line(), Err(Error::TooLong(10_000..))));
    }

    #[test]
    fn what_has_no_room_is_not_asked_for() {
        let mut seed = 7u64;
        let mut noise = |length: usize| -> String {
            let mut next = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                char::from(b'a' + (seed >> 33) as u8 % 26)
            };
            (0..length).map(|_| next()).collect()
        };
        let made = enter(Via::Ssh, "n", &[("X".into(), noise(2_200))]).unwrap();
        assert!(made.line().is_ok());
        assert!(made.script.contains("pg_bash()") && !made.script.contains("pg_fish()"));
        assert!(made.words[2].contains("*/fish)g=1;;"), "{}", made.words[2]);
    }

    #[test]
    fn what_is_carried() {
        let get = |name: &str| (name != "UNSET").then(|| format!("<{name}>"));
        let named = ["A", "B", "UNSET", "A", "_d"].map(String::from);
        let names: Vec<String> = carried(&named, get)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["A", "B", "_d", CARRIED]);
    }

    #[test]
    fn values_of_any_bytes() {
        for value in [
            "",
            "it's",
            "a b\nc\n",
            "é\t\\n%s'\u{1b}\n\n",
            "$(x) `y` \"z\"",
        ] {
            let script = format!("{}printf '<%s>' \"$V\"", assignment("V", value));
            let out = std::process::Command::new("/bin/sh")
                .args(["-c", &script])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&out.stdout), format!("<{value}>"));
        }
    }
}
