//! Containers by podman whose root is this machine's own, under a layer that takes the writes: no image is needed.

use std::process::{Command, Output};

use super::skip::have;

/// What podman is given before `run`, and after it. The second is for a machine whose limits or cgroups podman's usual
/// runtime does not accept.
const WAYS: [(&str, &str); 2] = [
    ("", ""),
    (
        " --runtime runc",
        " --ulimit nofile=1024:1024 --ulimit nproc=1000:1000",
    ),
];

/// The way in which podman runs containers here.
pub struct Podman {
    /// The options that each of its commands needs, with a space in front.
    pub options: &'static str,
    /// Those of `run`, likewise.
    run: &'static str,
}

impl Podman {
    /// Prints `SKIP` with podman's own words where no way works.
    pub fn here(test: &str) -> Option<Podman> {
        if !have(test, "podman") {
            return None;
        }
        let mut told = String::new();
        for (options, run) in WAYS {
            let podman = Podman { options, run };
            let ran = shell(&podman.line("podman run --rm --network none IMAGE true"));
            if ran.status.success() {
                return Some(podman);
            }
            told = String::from_utf8_lossy(&ran.stderr).trim().to_string();
        }
        println!("SKIP {test}: podman runs no container here: {told}");
        None
    }

    /// A line with `podman run` and IMAGE in it, as it works here.
    pub fn line(&self, line: &str) -> String {
        let Podman { options, run } = self;
        line.replacen(
            "podman run",
            &format!("podman{options} run{run} --security-opt label=disable"),
            1,
        )
        .replacen(" IMAGE", " --rootfs /:O", 1)
        // Not with a copy of this machine's /tmp in it, as an image's would be.
        .replacen("--tmpfs /tmp", "--tmpfs /tmp:notmpcopyup", 1)
    }

    /// Starts a container that stays until it is dropped.
    pub fn start(&self) -> Container<'_> {
        let ran = shell(&self.line("podman run --rm -d --network none IMAGE sleep 600"));
        assert!(ran.status.success(), "{ran:?}");
        let id = String::from_utf8_lossy(&ran.stdout).trim().to_string();
        Container { podman: self, id }
    }
}

/// A running container.
pub struct Container<'a> {
    podman: &'a Podman,
    pub id: String,
}

impl Drop for Container<'_> {
    fn drop(&mut self) {
        let Podman { options, .. } = self.podman;
        shell(&format!("podman{options} rm -f -t 0 {}", self.id));
    }
}

fn shell(line: &str) -> Output {
    Command::new("sh")
        .args(["-c", line])
        .output()
        .expect("sh starts")
}
