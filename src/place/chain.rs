//! Where the process in front is, by what stands between it and the session's own program.
//!
//! Must not know sessions or markers. Reads /proc by way of `proc`, below whatever root that was given.

use super::carrier::{self, Far};
use crate::proc::{Pid, Proc, Tree};
use crate::sys::passwd;

/// Programs that ask, or change the user, before the shell that they start is there.
const SWITCHERS: [&str; 6] = ["sudo", "su", "doas", "runuser", "pkexec", "login"];

/// Deeper chains are none: processes that were replaced during the look may seem to be each other's parents.
const DEEPEST: usize = 64;

/// Where a chain of processes leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chain {
    /// No further than this host, as this user: `None` is the session's own.
    Here { user: Option<String> },
    /// A sandbox of this host, with what made it, and the user in it.
    Sandbox { by: String, user: Option<String> },
    /// Beyond what can be seen from here; the processes that can be, up to the one that leads away.
    Beyond { far: Far, seen: Vec<Pid> },
}

/// One process, outermost first.
#[derive(Clone, Debug)]
struct Link {
    pid: Pid,
    argv: Vec<String>,
    uid: Option<u32>,
    namespaces: Option<Vec<std::path::PathBuf>>,
}

/// From the process in front up to `own`, which must be outside of any sandbox: the session's launcher. `None` when the processes cannot be seen.
pub fn chain(proc: &Proc, front: Pid, own: Pid) -> Option<Chain> {
    let tree = proc.tree();
    let links: Vec<Link> = line_of(&tree, front, own)?
        .into_iter()
        .map(|pid| Link {
            pid,
            argv: proc
                .cmdline(pid)
                .iter()
                .map(|word| String::from_utf8_lossy(word).into_owned())
                .collect(),
            uid: proc.status(pid).map(|status| status.uid),
            namespaces: proc.namespaces(pid),
        })
        .collect();
    Some(judge(&links))
}

/// The processes from `own` to `front`. A front that does not descend from it (a daemon's child on a terminal of its
/// own) is not understood.
fn line_of(tree: &Tree, front: Pid, own: Pid) -> Option<Vec<Pid>> {
    let mut line = vec![front];
    let mut pid = front;
    while pid != own {
        pid = tree.get(pid)?.ppid;
        line.push(pid);
        if line.len() > DEEPEST {
            return None;
        }
    }
    line.reverse();
    Some(line)
}

fn judge(links: &[Link]) -> Chain {
    let far = |link: &Link| carrier::far(&link.argv);
    // What lies behind the first one that leads away cannot be seen, whatever else is in the chain (ssh's own proxy).
    for (at, link) in links.iter().enumerate() {
        match far(link) {
            None | Some(Far::Sandbox(_)) => {}
            Some(far) => {
                let seen = links[..at].iter().map(|link| link.pid).collect();
                return Chain::Beyond { far, seen };
            }
        }
    }
    let (Some(first), Some(last)) = (links.first(), links.last()) else {
        return Chain::Here { user: None };
    };
    let settled = |link: &&Link| {
        let name = link
            .argv
            .first()
            .map_or("", |word| word.rsplit('/').next().unwrap_or(word));
        !SWITCHERS.contains(&name)
    };
    let uid = links.iter().rev().find(settled).and_then(|link| link.uid);
    let user = uid
        .filter(|uid| *uid != passwd::uid())
        .map(|uid| passwd::name_of(uid).unwrap_or_else(|| uid.to_string()));
    let by = links.iter().rev().find_map(|link| match far(link) {
        Some(Far::Sandbox(name)) => Some(name),
        _ => None,
    });
    let apart = match (&first.namespaces, &last.namespaces) {
        (Some(outer), Some(inner)) => outer != inner,
        // They are hidden: a program that makes some has made them.
        _ => by.is_some() && links.len() > 1,
    };
    match by {
        // `unshare bash` becomes the shell: only its namespaces tell.
        by if apart => Chain::Sandbox {
            by: by.unwrap_or("unshare").to_string(),
            user,
        },
        _ => Chain::Here { user },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(line: &str, uid: u32, space: &str) -> Link {
        Link {
            pid: Pid(line.len() as i32),
            argv: line.split(' ').map(String::from).collect(),
            uid: Some(uid),
            namespaces: Some(vec![space.into()]),
        }
    }

    fn own() -> u32 {
        passwd::uid()
    }

    #[test]
    fn users_sandboxes_and_hosts() {
        let me = own();
        let here = |user: Option<&str>| Chain::Here {
            user: user.map(String::from),
        };
        assert_eq!(
            judge(&[link("bash", me, "a"), link("vi x", me, "a")]),
            here(None)
        );
        let other = me + 3_000_000;
        let name = other.to_string();
        let switched = [
            link("bash", me, "a"),
            link("sudo -i", 0, "a"),
            link("-bash", other, "a"),
        ];
        assert_eq!(judge(&switched), here(Some(&name)));
        // Still asking for the password.
        assert_eq!(judge(&switched[..2]), here(None));
        let boxed = [
            link("bash", me, "a"),
            link("bwrap --bind / / bash", me, "a"),
            link("bash", me, "b"),
        ];
        let sandbox = |by: &str| Chain::Sandbox {
            by: by.into(),
            user: None,
        };
        assert_eq!(judge(&boxed), sandbox("bwrap"));
        assert_eq!(
            judge(&[link("bash", me, "a"), link("bash", me, "b")]),
            sandbox("unshare")
        );
        let ssh = [
            link("bash", me, "a"),
            link("ssh ann@db1", me, "a"),
            link("ssh -W db1:22 gate", me, "a"),
        ];
        assert_eq!(
            judge(&ssh),
            Chain::Beyond {
                far: Far::Login {
                    user: Some("ann".into()),
                    host: "db1".into()
                },
                seen: vec![ssh[0].pid]
            }
        );
        assert_eq!(judge(&[]), here(None));
    }

    #[test]
    fn ourselves() {
        let own = Pid(std::process::id() as i32);
        let proc = Proc::new("/proc");
        assert_eq!(chain(&proc, own, own), Some(Chain::Here { user: None }));
        assert_eq!(chain(&proc, own, Pid(i32::MAX)), None);
        assert_eq!(chain(&Proc::new("/nowhere"), own, Pid(1)), None);
    }
}
