//! Hosts on which something is in the way, and hosts that cannot be reached.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};

use serde_json::json;

use super::far::{self, Far};
use crate::util::client::Client;

#[test]
fn a_forced_command_and_a_read_only_home() {
    if !far::can("a_forced_command_and_a_read_only_home") {
        return;
    }
    let mut far = Far::with(&["bash", "bash"]);
    let forced = far.account(0).name.clone();
    far.setting(&format!(
        "Match User {forced}\nForceCommand exec /bin/dash -i"
    ));
    let home = far.account(1).home.clone();
    chown(&home, Some(0), Some(0)).unwrap();
    fs::set_permissions(&home, Permissions::from_mode(0o555)).unwrap();
    far.start();
    let mut client = Client::in_session();

    let reply = client.enter(&format!("paneglass ssh {}", far.words(0)));
    let place = format!("{forced}@127.0.0.1");
    assert!(
        reply.text.contains(&format!("[now on {place}]")),
        "{}",
        reply.text
    );
    assert_eq!(client.enter("id -un").body(), forced);
    client.leave();

    client.enter(&format!("paneglass ssh {}", far.words(1)));
    let place = far.place(1);
    client.ends("touch ~/x 2>/dev/null", 1, Some(&place));
    client.leave();
    assert_eq!((far.left_at_last(0), far.left_at_last(1)), (vec![], vec![]));
}

/// A file system of 64 KiB that is full.
fn full(path: &str) -> String {
    format!(
        "mount -t tmpfs -o size=64k,mode=1777 full {path}; head -c 1000000 /dev/zero > {path}/filler 2>/dev/null || true"
    )
}

#[test]
fn a_tmp_that_is_full_or_runs_nothing() {
    if !far::can("a_tmp_that_is_full_or_runs_nothing") {
        return;
    }
    for before in [
        full("/tmp"),
        "mount -t tmpfs -o noexec,mode=1777 noexec /tmp".into(),
    ] {
        let mut far = Far::with(&["bash", "zsh", "fish"]);
        far.start_after(&before);
        let mut client = Client::in_session();
        for at in 0..3 {
            client.enter(&format!("paneglass ssh {}", far.words(at)));
            let place = far.place(at);
            client.ends("false", 1, Some(&place));
            client.leave();
            assert_eq!(far.left_at_last(at), [""; 0], "{before}");
        }
    }
}

#[test]
fn no_place_for_files_at_all() {
    if !far::can("no_place_for_files_at_all") {
        return;
    }
    let mut far = Far::with(&["bash"]);
    let home = far.account(0).home.clone();
    let before = ["/tmp", "/dev/shm", "/var/tmp", home.to_str().unwrap()]
        .map(full)
        .join("\n");
    far.start_after(&before);
    let mut client = Client::in_session();
    let reply = client.enter(&format!("paneglass ssh {}", far.words(0)));
    assert!(
        reply
            .text
            .contains("paneglass: a plain shell: no directory for temporary files takes any"),
        "{}",
        reply.text
    );
    assert_eq!(client.enter("id -un").body(), far.account(0).name);
    client.leave();
}

#[test]
fn hosts_that_cannot_be_entered() {
    if !far::can("hosts_that_cannot_be_entered") {
        return;
    }
    let far = Far::started(&["bash"]);
    let name = far.account(0).name.clone();
    let mut client = Client::in_session();

    // Bound and not listened on: nobody else takes the port meanwhile.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let config = far.config("down", "key", port);
    let reply = client.ends(
        &format!("paneglass ssh -F {config} {name}@127.0.0.1"),
        255,
        None,
    );
    assert!(reply.text.contains("Connection refused"), "{}", reply.text);

    let config = far.config("wrong-key", "wrong", far.port());
    let line = format!(
        "paneglass ssh -F {config} -o PasswordAuthentication=no -o KbdInteractiveAuthentication=no {name}@127.0.0.1"
    );
    let reply = client.ends(&line, 255, None);
    assert!(reply.text.contains("Permission denied"), "{}", reply.text);

    let line = format!("paneglass ssh -F {config} -o PubkeyAuthentication=no {name}@127.0.0.1");
    let reply = client.run_with(&line, json!({"settle_ms": 60_000}));
    assert_eq!(reply.status(), "waiting", "{}", reply.text);
    assert!(
        reply.header().contains("waiting for a secret at"),
        "{}",
        reply.text
    );
    assert!(
        reply.text.contains("leave that to the user"),
        "{}",
        reply.text
    );
    client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
    client.ends("true", 0, None);
}
