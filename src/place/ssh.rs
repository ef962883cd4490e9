//! The command line of ssh, read as ssh itself reads it (ssh.c, main): which options take an argument, where the host
//! stands, whether a command follows, and whether a login shell with a terminal comes of it.
//!
//! Must not know who asks: `paneglass ssh` asks about its own arguments, and the place about those of a process.

/// Options that take an argument, in the same word or the next one.
const WITH_ARGUMENT: &str = "BbcDEeFIiJLlmOoPpQRSWw";

/// Options after which there is no login shell at a terminal: no session, no input, in the background, no terminal, a
/// subsystem, or a question to ssh itself.
const NO_SHELL: &str = "GNOQTVWfns";

/// What an ssh command line says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SshLine {
    /// As `-l`, `user@host` or `ssh://user@host` name it; the first of them counts, as for ssh. `None`: ssh's
    /// configuration decides.
    pub user: Option<String>,
    /// As it was given: it may be an alias of the configuration. `None`: no host, so ssh prints its usage.
    pub host: Option<String>,
    /// A command follows the host.
    pub command: bool,
    /// An option keeps a login shell or its terminal away.
    pub no_shell: bool,
    /// `-t` was given: a command gets a terminal too.
    pub terminal: bool,
}

impl SshLine {
    /// Reads what follows the word `ssh`. Options may stand after the host too, until the command starts.
    pub fn parse<S: AsRef<str>>(arguments: &[S]) -> SshLine {
        let mut line = SshLine::default();
        let mut words = arguments.iter().map(AsRef::as_ref);
        let mut options = true;
        while let Some(word) = words.next() {
            if options && word == "--" {
                options = false;
            } else if let Some(flags) = word
                .strip_prefix('-')
                .filter(|flags| options && !flags.is_empty())
            {
                line.options(flags, &mut words);
            } else if line.host.is_none() {
                line.destination(word);
                // After `--` and the host ssh looks for options once more.
                options = true;
            } else {
                line.command = true;
                break;
            }
        }
        line
    }

    fn options<'a>(&mut self, flags: &str, words: &mut impl Iterator<Item = &'a str>) {
        for (at, flag) in flags.char_indices() {
            self.no_shell |= NO_SHELL.contains(flag);
            self.terminal |= flag == 't';
            if WITH_ARGUMENT.contains(flag) {
                let attached = &flags[at + flag.len_utf8()..];
                let argument = if attached.is_empty() {
                    words.next().unwrap_or_default()
                } else {
                    attached
                };
                match flag {
                    'l' => self.set_user(argument),
                    'o' => self.setting(argument),
                    _ => {}
                }
                return;
            }
        }
    }

    /// `-o Name=value` or `-o "Name value"`.
    fn setting(&mut self, text: &str) {
        let (name, value) = text
            .trim()
            .split_once(|c: char| c == '=' || c.is_whitespace())
            .unwrap_or((text, ""));
        let value = value.trim_matches(|c: char| c == '=' || c == '"' || c.is_whitespace());
        if name.eq_ignore_ascii_case("user") {
            self.set_user(value);
        }
    }

    fn set_user(&mut self, user: &str) {
        if self.user.is_none() && !user.is_empty() {
            self.user = Some(user.to_string());
        }
    }

    fn destination(&mut self, word: &str) {
        let (text, url) = match word.strip_prefix("ssh://") {
            Some(rest) => (rest.split('/').next().unwrap_or(rest), true),
            None => (word, false),
        };
        // The last @: a user's name may hold one.
        let (user, host) = match text.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, text),
        };
        if let Some(user) = user {
            // ssh:// allows "user;parameters@".
            self.set_user(user.split(';').next().unwrap_or(user));
        }
        let host = if let Some(rest) = host.strip_prefix('[').filter(|_| url) {
            rest.split(']').next().unwrap_or(rest)
        } else if url {
            host.split(':').next().unwrap_or(host)
        } else {
            host
        };
        self.host = Some(host.to_string());
    }

    /// A login shell at a terminal comes of it, as far as the command line says.
    pub fn opens_shell(&self) -> bool {
        self.host.is_some() && !self.command && !self.no_shell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> SshLine {
        SshLine::parse(&text.split_whitespace().collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(text: &str, user: &str, host: &str, shell: bool) {
        let line = parse(text);
        assert_eq!(
            (
                line.user.as_deref().unwrap_or(""),
                line.host.as_deref().unwrap_or(""),
                line.opens_shell()
            ),
            (user, host, shell),
            "{text}: {line:?}"
        );
    }

    #[test]
    fn options_with_and_without_arguments_in_every_place() {
        check("host", "", "host", true);
        check("-l ann host", "ann", "host", true);
        check("-lann host", "ann", "host", true);
        check("-vlann host", "ann", "host", true);
        check("-vvp 22 -l ann host", "ann", "host", true);
        check("host -l ann", "ann", "host", true);
        check("host -p 2222 -v", "", "host", true);
        check("-p2222 -i key -o User=ann host", "ann", "host", true);
        check("-oUser=ann host", "ann", "host", true);
        check("-J jump,ann@other host", "", "host", true);
        check("-- host", "", "host", true);
        check("-- host -l ann", "ann", "host", true);
        for option in WITH_ARGUMENT.chars().filter(|c| !"lOQW".contains(*c)) {
            check(&format!("-{option} x host"), "", "host", true);
            check(&format!("-4{option}x host"), "", "host", true);
            check(&format!("host -{option} x"), "", "host", true);
        }
    }

    #[test]
    fn destinations() {
        check("ann@host", "ann", "host", true);
        check("ann@corp@host", "ann@corp", "host", true);
        check("-l bob ann@host", "bob", "host", true);
        check("ssh://ann@host:2222", "ann", "host", true);
        check("ssh://ann@[::1]:22/", "ann", "::1", true);
        check("::1", "", "::1", true);
        check("", "", "", false);
    }

    #[test]
    fn what_gets_no_shell() {
        check("host ls -l", "", "host", false);
        check("host -- ls", "", "host", false);
        for option in ["-N", "-T", "-vN", "-n", "-f", "-G", "-V", "-s"] {
            check(&format!("{option} host"), "", "host", false);
            check(&format!("host {option}"), "", "host", false);
        }
        check("-W other:22 host", "", "host", false);
        check("-O exit host", "", "host", false);
        assert!(parse("-t host top").terminal);
        // An argument is no option.
        check("-i -N host", "", "host", true);
    }
}
