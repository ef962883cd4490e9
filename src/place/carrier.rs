//! Programs that carry a terminal somewhere else, by their command lines: ssh, containers, sandboxes, multiplexers.
//!
//! Must not know processes: it reads words.

use super::ssh::SshLine;

/// Where a program's terminal leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Far {
    /// A login on another host. The user is `None` when ssh's configuration decides.
    Login { user: Option<String>, host: String },
    /// A container, a pod, a machine: the program and its name for it.
    Inside(String),
    /// A sandbox of this host, whose processes can be seen from here.
    Sandbox(&'static str),
    /// A program that may show any of several terminals: nobody can say which.
    Several(String),
}

/// Options of a container program that take a value as the next word, for the subcommands that open terminals.
const WITH_VALUE: [&str; 34] = [
    "-e",
    "--env",
    "-u",
    "--user",
    "-w",
    "--workdir",
    "--env-file",
    "--detach-keys",
    "--name",
    "-v",
    "--volume",
    "-p",
    "--publish",
    "--network",
    "--net",
    "-h",
    "--hostname",
    "--entrypoint",
    "-l",
    "--label",
    "--mount",
    "-m",
    "--memory",
    "--cpus",
    "--device",
    "-c",
    "--container",
    "-n",
    "--namespace",
    "--context",
    "--kubeconfig",
    "--image",
    "--pod-running-timeout",
    "--platform",
];

/// Where this command line leads; `None` when it stays here, or opens no terminal there.
pub fn far<S: AsRef<str>>(argv: &[S]) -> Option<Far> {
    let words: Vec<&str> = argv.iter().map(AsRef::as_ref).collect();
    let (&program, rest) = words.split_first()?;
    let name = program.rsplit('/').next()?.trim_start_matches('-');
    match name {
        "ssh" | "slogin" => login(rest),
        "docker" | "podman" | "nerdctl" | "kubectl" | "oc" => container(name, rest),
        "machinectl" | "lxc" | "incus" => machine(name, rest),
        "lxc-attach" | "lxc-console" | "openshell" | "virsh" => {
            Some(Far::Inside(last_word(name, rest)))
        }
        "paneglass" if rest.first() == Some(&"reach") => {
            Some(Far::Inside(format!("device {}", rest.get(1)?)))
        }
        "bwrap" => Some(Far::Sandbox("bwrap")),
        "unshare" => Some(Far::Sandbox("unshare")),
        "mosh" | "mosh-client" | "et" | "telnet" | "rlogin" | "rsh" => {
            Some(Far::Inside(last_word(name, rest)))
        }
        "screen" | "dtach" | "abduco" | "zellij" => Some(Far::Several(name.to_string())),
        // A client of tmux calls itself "tmux: client".
        _ if name == "tmux" || program.starts_with("tmux:") => Some(Far::Several("tmux".into())),
        _ => None,
    }
}

fn login(arguments: &[&str]) -> Option<Far> {
    let line = SshLine::parse(arguments);
    // With -t a command has a terminal, and may well be a shell.
    let opens = line.opens_shell() || line.terminal && !line.no_shell;
    let host = line.host.filter(|_| opens)?;
    Some(Far::Login {
        user: line.user,
        host,
    })
}

/// `exec -it NAME`, `run -it [--name NAME] IMAGE`, `attach NAME`.
fn container(program: &str, arguments: &[&str]) -> Option<Far> {
    let mut words = arguments.iter().copied();
    let mut action = None;
    let mut named = None;
    let mut terminal = false;
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        } else if word.starts_with('-') {
            let (option, value) = word
                .split_once('=')
                .map_or((word, None), |(o, v)| (o, Some(v)));
            // "-it", "-ti", "--tty", "-t=true".
            terminal |= option == "--tty"
                || !option.starts_with("--") && option.contains('t') && value != Some("false");
            let value = match value {
                None if WITH_VALUE.contains(&option) => words.next(),
                value => value,
            };
            if option == "--name" {
                named = value;
            }
        } else if action.is_none() {
            if matches!(word, "container" | "compose") {
                continue;
            }
            if !matches!(word, "exec" | "run" | "attach" | "start" | "debug") {
                return None;
            }
            action = Some(word);
        } else {
            named = named.or(Some(word));
            break;
        }
    }
    let opens = terminal || action == Some("attach");
    let named = named.filter(|_| opens && action.is_some())?;
    Some(Far::Inside(format!("{program} {named}")))
}

/// `machinectl shell [USER@]NAME`, `lxc exec NAME -- PROGRAM`.
fn machine(program: &str, arguments: &[&str]) -> Option<Far> {
    let mut words = arguments.iter().filter(|word| !word.starts_with('-'));
    let action = words.find(|word| matches!(**word, "shell" | "login" | "exec" | "console"));
    action?;
    let named = words.next().copied().unwrap_or(".host");
    Some(Far::Inside(format!("{program} {named}")))
}

fn last_word(program: &str, arguments: &[&str]) -> String {
    match arguments.iter().rev().find(|word| !word.starts_with('-')) {
        Some(word) => format!("{program} {word}"),
        None => program.to_string(),
    }
}

/// Programs that make the next line run as somebody else, or somewhere else.
const LEAVING: [&str; 31] = [
    "ssh",
    "slogin",
    "mosh",
    "telnet",
    "rlogin",
    "rsh",
    "su",
    "sudo",
    "doas",
    "runuser",
    "login",
    "pkexec",
    "newgrp",
    "chroot",
    "unshare",
    "nsenter",
    "bwrap",
    "setpriv",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "oc",
    "machinectl",
    "lxc",
    "incus",
    "openshell",
    "reach",
    "tmux",
    "screen",
    "exec",
];

/// A line that may lead away from where it was typed. A line that says nothing of the kind may do so too; nobody can
/// tell.
pub fn may_leave(line: &str) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'))
        .any(|word| LEAVING.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, want: Option<Far>) {
        assert_eq!(far(&line.split(' ').collect::<Vec<_>>()), want, "{line}");
    }

    fn inside(text: &str) -> Option<Far> {
        Some(Far::Inside(text.into()))
    }

    #[test]
    fn containers_by_name() {
        check("podman exec -it box bash", inside("podman box"));
        check(
            "/usr/bin/docker exec -u root -it -w /x box sh -c x",
            inside("docker box"),
        );
        check(
            "docker run --rm -ti --name ci -v /a:/b debian bash",
            inside("docker ci"),
        );
        check("docker run --rm -t debian", inside("docker debian"));
        check("podman attach box", inside("podman box"));
        check("docker container exec -it box sh", inside("docker box"));
        check(
            "kubectl -n prod exec -it pod-1 -c app -- bash",
            inside("kubectl pod-1"),
        );
        check("kubectl exec pod-1 --stdin --tty -- bash", None);
        check("docker exec box ls", None);
        check("docker build -t x .", None);
        check("docker ps", None);
        check("machinectl shell ann@db", inside("machinectl ann@db"));
        check("lxc exec c1 -- bash", inside("lxc c1"));
        check("lxc list", None);
    }

    #[test]
    fn logins_and_the_rest() {
        let at = |user: Option<&str>, host: &str| {
            Some(Far::Login {
                user: user.map(String::from),
                host: host.into(),
            })
        };
        check("ssh -p 22 ann@db1", at(Some("ann"), "db1"));
        check("ssh db1", at(None, "db1"));
        check("ssh -t db1 sudo -i", at(None, "db1"));
        check("ssh db1 ls", None);
        check("ssh -N db1", None);
        check("bwrap --bind / / bash", Some(Far::Sandbox("bwrap")));
        check("tmux: client", Some(Far::Several("tmux".into())));
        check("-bash", None);
        check("python3 ssh", None);
        check("mosh db1", inside("mosh db1"));
        check(
            "/x/bin/paneglass reach k3x9ab sh -c x",
            inside("device k3x9ab"),
        );
        check("paneglass reach", None);
        check("paneglass list", None);
        assert_eq!(far::<&str>(&[]), None);
    }

    #[test]
    fn lines_that_may_leave() {
        for line in [
            "ssh db1",
            "cd x && sudo -i",
            "su - bob",
            "$ exec bash",
            "\tpodman exec -it b sh",
        ] {
            assert!(may_leave(line), "{line}");
        }
        for line in ["ls", "make issue", "echo suspend", "vi sudoers", "./sshd-x"] {
            assert!(!may_leave(line), "{line}");
        }
    }
}
