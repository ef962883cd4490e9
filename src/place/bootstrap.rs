//! What runs on the far side: the script that starts the user's shell with the integration there, or puts the
//! integration's files into a home; and the words that carry it through any login shell.
//!
//! Must not know ssh or containers: it makes words, and the caller says which program they are given to.

use std::fmt;

use super::files;
use super::pack;

/// dropbear closes the connection at a command of 9,000 bytes.
pub const COMMAND_MOST: usize = 8_900;

/// bsd-csh takes words of up to 4 KiB.
const WORD_MOST: usize = 4_000;

/// Ends the script, so that half of one never runs.
const LAST: &str = "#ok";

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
pub fn enter(via: Via, nonce: &str, carried: &[(String, String)]) -> Result<Bootstrap, Error> {
    let mut script = format!(
        "pg_via={}\n__PANEGLASS_NONCE={}\nexport __PANEGLASS_NONCE\n",
        match via {
            Via::Ssh => "ssh",
            Via::Into => "into",
        },
        quoted(nonce)
    );
    for (name, value) in carried {
        script.push_str(&assignment(name, value));
    }
    script.push_str(&writer(true));
    script.push_str(&short(include_str!("../../shell/bootstrap/enter.sh")));
    Bootstrap::new(
        script,
        r#"echo "paneglass: a plain shell: there is no awk here" >&2;exec "${SHELL:-/bin/sh}" -l"#,
    )
}

/// Writes the integration's files into the user's home, in place of other versions.
pub fn install() -> Result<Bootstrap, Error> {
    let version = files::VERSION;
    installer(format!("pg_version={version}\n{}", writer(false)))
}

/// Takes the integration's files out of the user's home.
pub fn remove() -> Result<Bootstrap, Error> {
    installer("pg_version=\n".into())
}

fn installer(mut script: String) -> Result<Bootstrap, Error> {
    script.push_str(&short(include_str!("../../shell/bootstrap/install.sh")));
    Bootstrap::new(
        script,
        r#"echo "paneglass: there is no awk on that host" >&2;exit 1"#,
    )
}

impl Bootstrap {
    /// `instead` runs where the script cannot be unpacked.
    fn new(mut script: String, instead: &str) -> Result<Bootstrap, Error> {
        script.push_str(LAST);
        let unwrap = format!(
            r#"a=$1;shift;s=$(printf %s "$@"|LC_ALL=C awk "$a");case $s in *"{LAST}")eval "$s";;*){instead};;esac"#
        );
        let packed = pack::pack(&script).ok_or(Error::Unpackable)?;
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
        Ok(Bootstrap { script, words })
    }

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

/// The function `pg_write SHELL DIR`. `passing`: the files are about to go again.
fn writer(passing: bool) -> String {
    let file = |name: &str| {
        files::FILES
            .iter()
            .find(|(path, _)| *path == name)
            .map_or(String::new(), |(_, text)| short(text))
    };
    let rc = if passing {
        passing_rc(&file(files::BASH_RC))
    } else {
        file(files::BASH_RC)
    };
    let mut text = String::from("pg_write() {\ncase $1 in\n");
    let mut arm = |shell: &str, first: &str, list: &[(&str, &str)]| {
        text.push_str(&format!("{shell})\n{first}mkdir -p \"$2/{shell}\""));
        for (path, _) in list {
            text.push_str(&format!("&&cat >\"$2/{path}\" <<'{END_OF_FILE}'"));
        }
        text.push('\n');
        for (_, body) in list {
            text.push_str(body);
            text.push_str(END_OF_FILE);
            text.push('\n');
        }
        text.push_str(";;\n");
    };
    arm(
        "bash",
        "",
        &[(files::BASH_RC, &rc), (files::BASH, &file(files::BASH))],
    );
    // A bash that is started in a zsh finds its way in, as long as the files are there.
    arm(
        "zsh",
        "pg_write bash \"$2\"&&",
        &[
            (files::ZSH_ENV, &file(files::ZSH_ENV)),
            (files::ZSH, &file(files::ZSH)),
        ],
    );
    arm("fish", "", &[(files::FISH, &file(files::FISH))]);
    text.push_str("esac\n}\n");
    text
}

/// The rc file of a bash whose files go once they are read.
fn passing_rc(rc: &str) -> String {
    format!(
        "__paneglass_whole=1\n{rc}\\builtin unset -v __paneglass_whole\n\
         ((BASH_VERSINFO[0]*100+BASH_VERSINFO[1]>=404))||echo \"paneglass: a plain shell: bash is older than 4.4\" >&2\n\
         \\command rm -rf -- \"${{BASH_SOURCE[0]%/bash/rc}}\"\n"
    )
}

/// Without comments, blank lines and indentation: none of the scripts has text over several lines.
fn short(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    for line in text.lines().map(str::trim_start) {
        if !line.is_empty() && !line.starts_with('#') {
            short.push_str(line);
            short.push('\n');
        }
    }
    short
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

/// The variables that `list`, the value of PANEGLASS_SSH_ENV, names, as far as they are set; and the list itself.
pub fn carried(list: &str, get: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let is_name = |name: &&str| {
        !name.starts_with(|c: char| c.is_ascii_digit())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let names = list
        .split(|c: char| c == ',' || c == ':' || c.is_whitespace())
        .filter(|name| !name.is_empty())
        .filter(is_name);
    let mut carried: Vec<(String, String)> = Vec::new();
    for name in names.chain([CARRIED]) {
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
        for bootstrap in [
            enter(
                Via::Ssh,
                &"0".repeat(32),
                &[value("PROJECT"), value(CARRIED)],
            ),
            install(),
            remove(),
        ] {
            let bootstrap = bootstrap.unwrap();
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
    fn what_is_carried() {
        let get = |name: &str| (name != "UNSET").then(|| format!("<{name}>"));
        let names: Vec<String> = carried("A, B:UNSET $(x) 1C A _d", get)
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
