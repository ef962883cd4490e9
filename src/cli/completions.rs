//! `paneglass completions`: completions of the command line for a shell, made from the tables that also make the help.
//! Must not know what any command does.

use std::fmt::Write;
use std::process::ExitCode;

use super::flags::{Flag, HELP, Parsed, Syntax, Takes};
use super::{COMMANDS, Command, STDIO};

pub const SYNTAX: Syntax = Syntax {
    command: "paneglass completions",
    about: "Prints the completions of this command line for a shell.",
    words: "bash|zsh|fish",
    flags: &[],
    notes: "Packages have them in place already.",
    examples: &[
        "source <(paneglass completions bash)",
        "paneglass completions zsh > ~/.zfunc/_paneglass",
        "paneglass completions fish > ~/.config/fish/completions/paneglass.fish",
    ],
};

pub fn run(args: &Parsed) -> ExitCode {
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    super::print(&match words.as_slice() {
        ["bash"] => bash(),
        ["zsh"] => zsh(),
        ["fish"] => fish(),
        _ => return super::wrong(SYNTAX.command, "name a shell: bash, zsh or fish"),
    })
}

/// What may stand at a place of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nothing that could be told beforehand.
    Other,
    Session,
    File,
    /// A program and what it takes.
    Program,
}

/// By the name that the help has for it, such as `[FILE]`.
fn kind(name: &str) -> Kind {
    match bare(name) {
        "NAME" => Kind::Session,
        "FILE" | "DIR" | "PATH" => Kind::File,
        "COMMAND" => Kind::Program,
        _ => Kind::Other,
    }
}

fn bare(name: &str) -> &str {
    name.trim_matches(['[', ']', '.'])
}

/// The words that a command takes: those that stand for themselves, and what else may be there.
fn words(syntax: &Syntax) -> (Vec<&'static str>, Kind) {
    let all = || {
        let words = syntax.words.split([' ', '|']);
        words.filter(|word| !bare(word).is_empty())
    };
    let is_literal = |word: &&str| {
        bare(word)
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b == b'-')
    };
    // The first that is no literal decides: what follows it is rarely what is typed next.
    let kind = all()
        .find(|word| !is_literal(word))
        .map_or(Kind::Other, kind);
    (all().filter(is_literal).map(bare).collect(), kind)
}

/// What the value of an option is; none for an option without one.
fn value(flag: &Flag) -> Option<Kind> {
    match flag.takes {
        Takes::Nothing => None,
        // A NAME is one that the caller makes up.
        Takes::Value(name) => match name.split(' ').next().map_or(Kind::Other, kind) {
            Kind::Session => Some(Kind::Other),
            kind => Some(kind),
        },
        Takes::Number(_) => Some(Kind::Other),
    }
}

fn commands() -> impl Iterator<Item = (&'static Command, &'static Syntax)> {
    COMMANDS
        .iter()
        .filter_map(|command| Some((command, command.syntax()?)))
}

fn flags(syntax: &Syntax) -> impl Iterator<Item = &Flag> {
    syntax.flags.iter().chain([&HELP])
}

fn long_flags(syntax: &Syntax) -> String {
    let names: Vec<String> = flags(syntax)
        .map(|flag| format!("--{}", flag.long))
        .collect();
    names.join(" ")
}

/// The help of an option on one line.
fn about(flag: &Flag) -> String {
    flag.help.replace('\n', " ")
}

fn bash() -> String {
    let mut text = String::from(
        "\
# shellcheck shell=bash
# Completions of paneglass for bash, as `paneglass completions bash` prints them.

_paneglass_sessions() {
    paneglass list 2>/dev/null | {
        read -r _
        while read -r name _; do printf '%s\\n' \"$name\"; done
    }
}

_paneglass() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local flags='' words='' kind=''
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        command='' before=''
    fi
    case \"$command $before\" in
",
    );
    let mut table = String::new();
    for (command, syntax) in commands() {
        for flag in syntax.flags {
            if let (Takes::Value(_), Some(kind)) = (flag.takes, value(flag)) {
                let mark = bash_kind(kind);
                let _ = writeln!(
                    text,
                    "    '{} --{}') kind='{mark}' ;;",
                    command.name, flag.long
                );
            }
        }
        let (literal, kind) = words(syntax);
        let _ = writeln!(
            table,
            "        {})\n            flags='{}' words='{}' kind='{}'\n            ;;",
            command.name,
            long_flags(syntax),
            literal.join(" "),
            bash_kind(kind),
        );
    }
    let names: Vec<&str> = commands().map(|(command, _)| command.name).collect();
    let _ = write!(
        text,
        "    *)
        case $command in
        '') flags='{}' words='{}' ;;
{table}        esac
        ;;
    esac
    case $kind in
    session) words+=\" $(_paneglass_sessions)\" ;;
    file)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")
        ;;
    program) mapfile -t COMPREPLY < <(compgen -c -- \"$current\") ;;
    esac
    [[ $current == -* ]] && words=$flags
    mapfile -t -O \"${{#COMPREPLY[@]}}\" COMPREPLY < <(compgen -W \"$words\" -- \"$current\")
}}

complete -F _paneglass paneglass
",
        long_flags(&STDIO),
        names.join(" "),
    );
    text
}

fn bash_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Other => "",
        Kind::Session => "session",
        Kind::File => "file",
        Kind::Program => "program",
    }
}

fn zsh() -> String {
    let mut text = String::from(
        "\
#compdef paneglass
# Completions of paneglass for zsh, as `paneglass completions zsh` prints them.

_paneglass_sessions() {
    local -a lines
    lines=(\"${(@f)$(paneglass list 2>/dev/null)}\")
    compadd - ${${(@)lines[2,-1]}%% *}
}

_paneglass() {
    local context state line
    local -a commands
    local -A opt_args
    _arguments -C \\
",
    );
    for flag in flags(&STDIO) {
        let _ = writeln!(text, "        {} \\", zsh_flag(flag));
    }
    text.push_str(
        "        '1: :->command' '*:: :->argument'
    case $state in
    command)
        commands=(
",
    );
    for (command, _) in commands() {
        let summary = command.summary.replace('\'', "'\\''");
        let _ = writeln!(text, "            '{}:{summary}'", command.name);
    }
    text.push_str(
        "        )
        _describe command commands
        ;;
    argument)
        case $words[1] in
",
    );
    for (command, syntax) in commands() {
        let _ = write!(text, "        {})\n            _arguments", command.name);
        for flag in flags(syntax) {
            let _ = write!(text, " \\\n                {}", zsh_flag(flag));
        }
        let (literal, kind) = words(syntax);
        let action = match kind {
            Kind::Other if literal.is_empty() => "",
            Kind::Other => &format!("({})", literal.join(" ")),
            kind => zsh_kind(kind),
        };
        if !literal.is_empty() && kind != Kind::Other {
            let _ = write!(text, " \\\n                '1: :({})'", literal.join(" "));
        }
        if !action.is_empty() {
            let _ = write!(text, " \\\n                '*: :{action}'");
        }
        text.push_str("\n            ;;\n");
    }
    text.push_str("        esac\n        ;;\n    esac\n}\n\n_paneglass \"$@\"\n");
    text
}

fn zsh_kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Other => "",
        Kind::Session => "_paneglass_sessions",
        Kind::File => "_files",
        Kind::Program => "_command_names",
    }
}

/// One specification for _arguments.
fn zsh_flag(flag: &Flag) -> String {
    let mut about = about(flag);
    for (from, to) in [("'", "'\\''"), ("[", "\\["), ("]", "\\]"), (":", "\\:")] {
        about = about.replace(from, to);
    }
    let value = match (flag.takes, value(flag)) {
        (Takes::Number(_), _) => ":: :".to_owned(),
        (_, Some(kind)) => format!(": :{}", zsh_kind(kind)),
        (_, None) => String::new(),
    };
    match flag.short {
        Some(short) => format!(
            "'(-{short} --{long})'{{-{short},--{long}}}'[{about}]{value}'",
            long = flag.long
        ),
        None => format!("'--{}[{about}]{value}'", flag.long),
    }
}

fn fish() -> String {
    let mut text = String::from(
        "\
# Completions of paneglass for fish, as `paneglass completions fish` prints them.

function __paneglass_sessions
    paneglass list 2>/dev/null | tail -n +2 | string replace -r ' .*' ''
end

function __paneglass_command
    set -l typed (commandline -opc)
    test (count $typed) -gt 1; and test $typed[2] = $argv[1]
end

function __paneglass_no_command
    test (count (commandline -opc)) -eq 1
end

complete -c paneglass -f
",
    );
    let mut list = |condition: &str, syntax: &Syntax| {
        let condition = format!("complete -c paneglass -n '{condition}'");
        for flag in flags(syntax) {
            let short = flag
                .short
                .map_or(String::new(), |short| format!(" -s {short}"));
            let takes = match (flag.takes, value(flag)) {
                (Takes::Value(_), Some(Kind::File)) => " -r -F",
                (Takes::Value(_), Some(Kind::Program)) => " -x -a '(__fish_complete_command)'",
                (Takes::Value(_), _) => " -x",
                _ => "",
            };
            let about = quoted(&about(flag));
            let _ = writeln!(
                text,
                "{condition} -l {}{short}{takes} -d {about}",
                flag.long
            );
        }
        let (literal, kind) = words(syntax);
        if !literal.is_empty() {
            let _ = writeln!(text, "{condition} -a '{}'", literal.join(" "));
        }
        let _ = match kind {
            Kind::Other => Ok(()),
            Kind::Session => writeln!(text, "{condition} -a '(__paneglass_sessions)'"),
            Kind::File => writeln!(text, "{condition} -F"),
            Kind::Program => writeln!(text, "{condition} -a '(__fish_complete_command)'"),
        };
    };
    list("__paneglass_no_command", &STDIO);
    for (command, syntax) in commands() {
        list(&format!("__paneglass_command {}", command.name), syntax);
    }
    for (command, _) in commands() {
        let about = quoted(command.summary);
        let _ = writeln!(
            text,
            "complete -c paneglass -n __paneglass_no_command -a {} -d {about}",
            command.name
        );
    }
    text
}

/// For fish, whose single quotes know these two escapes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_by_their_names() {
        let of = |words: &'static str| super::words(&Syntax { words, ..SYNTAX });
        assert_eq!(
            of("bash|zsh|fish"),
            (vec!["bash", "zsh", "fish"], Kind::Other)
        );
        assert_eq!(
            of("[list | revoke ID ...]"),
            (vec!["list", "revoke"], Kind::Other)
        );
        assert_eq!(of("NAME"), (vec![], Kind::Session));
        assert_eq!(of("[FILE]"), (vec![], Kind::File));
        assert_eq!(of("TOOL [NAME=VALUE ...]"), (vec![], Kind::Other));
        assert_eq!(of("COMMAND [ARGUMENT]..."), (vec![], Kind::Program));
    }

    #[test]
    fn every_command_and_option_is_completed() {
        for text in [bash(), zsh(), fish()] {
            for (command, syntax) in commands() {
                assert!(text.contains(command.name), "{}", command.name);
                for flag in syntax.flags {
                    assert!(text.contains(flag.long), "{} --{}", command.name, flag.long);
                }
            }
            // Only tmux starts these.
            assert!(!text.contains("launch"), "{text}");
        }
    }
}
