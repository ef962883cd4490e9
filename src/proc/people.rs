//! Command lines in words for people, and the programs that are known by name. Opens nothing.

/// Characters of a command line that are shown: two lines of an ordinary terminal.
const COMMAND_CHARS: usize = 160;

/// Characters of a short name that are shown.
const NAME_CHARS: usize = 40;

/// Programs whose script or module says more than their own name does; a version may follow (`python3.11`).
const INTERPRETERS: [&str; 17] = [
    "python", "pypy", "node", "deno", "bun", "ruby", "perl", "php", "lua", "tclsh", "expect",
    "bash", "sh", "dash", "zsh", "fish", "ksh",
];

/// One executable of many commands.
const MULTI_CALL: [&str; 4] = ["busybox", "toybox", "coreutils", "paneglass"];

/// Programs that hand typed keys to a place that cannot be seen from here.
const REMOTE: [&str; 31] = [
    "ssh",
    "slogin",
    "mosh",
    "mosh-client",
    "et",
    "telnet",
    "rlogin",
    "rsh",
    "docker",
    "podman",
    "nerdctl",
    "crictl",
    "ctr",
    "kubectl",
    "oc",
    "lxc",
    "lxc-attach",
    "lxc-console",
    "incus",
    "machinectl",
    "virsh",
    "adb",
    "screen",
    "tmux",
    "dtach",
    "abduco",
    "zellij",
    "picocom",
    "minicom",
    "cu",
    "tio",
];

/// Splits /proc/PID/cmdline: arguments end in NUL. A program may have overwritten the area with anything.
pub(super) fn arguments(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut arguments: Vec<Vec<u8>> = bytes.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    // What ends in NUL splits into one piece too many; a title is padded with more of them.
    while arguments.last().is_some_and(Vec::is_empty) && (arguments.len() > 1 || bytes.is_empty()) {
        arguments.pop();
    }
    arguments
}

/// A short name: `make`, `python3 app.py`, `python3 -m http.server`, `busybox vi`.
pub(super) fn name(arguments: &[Vec<u8>], comm: &str) -> String {
    let Some(program) = program(arguments) else {
        return clipped(comm.chars(), NAME_CHARS);
    };
    let rest = &arguments[1..];
    let what = if MULTI_CALL.contains(&program.as_str()) {
        rest.first().map(|applet| lossy(applet))
    } else if is_interpreter(&program) {
        script(rest)
    } else {
        None
    };
    match what {
        Some(what) if !what.is_empty() => clipped(format!("{program} {what}").chars(), NAME_CHARS),
        _ => clipped(program.chars(), NAME_CHARS),
    }
}

/// The command line, with quotes where a shell needs them.
pub(super) fn command(arguments: &[Vec<u8>], comm: &str) -> String {
    if arguments.iter().all(Vec::is_empty) {
        return clipped(comm.chars(), COMMAND_CHARS);
    }
    let quoted: Vec<String> = arguments
        .iter()
        .map(|argument| quoted(&lossy(argument)))
        .collect();
    clipped(quoted.join(" ").chars(), COMMAND_CHARS)
}

/// Whether keys typed at this program go where nothing can be seen from here.
pub(super) fn is_remote(arguments: &[Vec<u8>], comm: &str) -> bool {
    // A tmux client calls itself `tmux: client`; a kernel name ends after 15 bytes, so both are asked.
    let comm = comm.split(':').next().unwrap_or(comm);
    let own = program(arguments);
    let own = own
        .as_deref()
        .map(|own| own.split([':', ' ']).next().unwrap_or(own));
    // Our own way to a device: the rest of this program stays here.
    let reaches = own == Some("paneglass") && arguments.get(1).is_some_and(|word| word == b"reach");
    reaches
        || REMOTE
            .iter()
            .any(|remote| *remote == comm || Some(*remote) == own)
}

/// The file name of the program, without the hyphen that marks a login shell.
fn program(arguments: &[Vec<u8>]) -> Option<String> {
    let first = lossy(arguments.first()?);
    let first = first.strip_prefix('-').unwrap_or(&first);
    // A title such as `nginx: master process /usr/sbin/nginx` is not a path.
    let path = first.split(' ').next().unwrap_or(first);
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = if path.len() == first.len() {
        name
    } else {
        &first[path.len() - name.len()..]
    };
    (!name.is_empty()).then(|| name.to_owned())
}

fn is_interpreter(program: &str) -> bool {
    INTERPRETERS
        .contains(&program.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.'))
}

/// What an interpreter was told to run: a file's name, or a module. None for text given in place of a file.
fn script(arguments: &[Vec<u8>]) -> Option<String> {
    let mut arguments = arguments.iter().map(|argument| lossy(argument));
    let first = arguments
        .find(|argument| argument == "-m" || !argument.starts_with('-') || runs_text(argument))?;
    match first.as_str() {
        "-m" => Some(format!("-m {}", arguments.next()?)),
        text if runs_text(text) => None,
        path => path.rsplit('/').next().map(str::to_owned),
    }
}

/// Options after which the program itself follows (`-c`, `-e`, `-ic`), or standard input is it (`-`, `-s`).
fn runs_text(option: &str) -> bool {
    match option.strip_prefix('-') {
        Some("" | "s" | "-eval" | "-print") => true,
        Some(letters) => !letters.starts_with('-') && letters.ends_with(['c', 'e']),
        None => false,
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn quoted(argument: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "%+,-./:=@_".contains(letter);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

/// At most `most` characters; control characters become blanks.
fn clipped(text: impl Iterator<Item = char>, most: usize) -> String {
    let mut text = text.map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut shown: String = text.by_ref().take(most).collect();
    if text.next().is_some() {
        shown.pop();
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[&str]) -> Vec<Vec<u8>> {
        line.iter().map(|word| word.as_bytes().to_vec()).collect()
    }

    #[test]
    fn arguments_end_in_nul() {
        assert_eq!(arguments(b"ls\0-l\0\0x\0"), words(&["ls", "-l", "", "x"]));
        assert_eq!(
            arguments(b"title without end"),
            words(&["title without end"])
        );
        assert_eq!(
            arguments(b"sshd: me [priv]\0\0\0\0"),
            words(&["sshd: me [priv]"])
        );
        assert_eq!(arguments(b""), words(&[]));
        assert_eq!(arguments(b"\0"), words(&[""]));
    }

    #[test]
    fn short_names() {
        for (line, expected) in [
            (&["make", "-j4", "all"][..], "make"),
            (
                &["/usr/bin/python3", "./src/app.py", "--port", "1"],
                "python3 app.py",
            ),
            (&["python3.11", "-u", "app.py"], "python3.11 app.py"),
            (&["python3", "-m", "http.server"], "python3 -m http.server"),
            (&["python3", "-c", "input()"], "python3"),
            (&["python3"], "python3"),
            (&["node", "--inspect", "server.js"], "node server.js"),
            (&["-bash"], "bash"),
            (&["bash", "-lc", "make all"], "bash"),
            (&["sh", "./configure"], "sh configure"),
            (&["perl", "-ne", "print"], "perl"),
            (&["busybox", "vi", "x"], "busybox vi"),
            (&["tmux: client"], "tmux: client"),
            (
                &["nginx: master process /usr/sbin/nginx"],
                "nginx: master process /usr/sbin/nginx",
            ),
            (&["/opt/with blank/tool"], "with blank/tool"),
            (&["evil\u{1b}[2J\n"], "evil [2J "),
        ] {
            assert_eq!(name(&words(line), "comm"), expected, "{line:?}");
        }
        assert_eq!(name(&[], "kworker/0:1"), "kworker/0:1");
        assert_eq!(name(&words(&[""]), "odd"), "odd");
        assert_eq!(name(&words(&["/"]), "odd"), "odd");
        assert_eq!(name(&words(&["-"]), "odd"), "odd");
    }

    #[test]
    fn command_lines() {
        assert_eq!(
            command(&words(&["git", "commit", "-m", "it's"]), ""),
            r"git commit -m 'it'\''s'"
        );
        assert_eq!(command(&words(&["x", "", "a b"]), ""), "x '' 'a b'");
        assert_eq!(command(&words(&[""]), "odd\n"), "odd ");
        let long = command(&words(&["echo", &"é".repeat(500)]), "");
        assert_eq!(
            (long.chars().count(), long.ends_with('…')),
            (COMMAND_CHARS, true)
        );
        assert_eq!(command(&[vec![0xff, b'a']], ""), "'\u{fffd}a'");
    }

    #[test]
    fn programs_that_lead_elsewhere() {
        let remote = |line: &[&str], comm: &str| is_remote(&words(line), comm);
        assert!(remote(&["/usr/bin/ssh", "build"], "ssh"));
        assert!(remote(&["tmux", "attach"], "tmux: client"));
        assert!(remote(&["docker", "run", "-it", "debian"], "docker"));
        assert!(remote(&["renamed"], "mosh-client"));
        assert!(remote(
            &["/usr/bin/paneglass", "reach", "k3x9ab"],
            "paneglass"
        ));
        assert!(!remote(&["paneglass", "cook", "reach"], "paneglass"));
        assert!(!remote(&["sshd: me"], "sshd"));
        assert!(!remote(&["python3", "ssh"], "python3"));
        assert!(!remote(&[], ""));
    }
}
