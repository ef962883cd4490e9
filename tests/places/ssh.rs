//! `paneglass ssh` to every login shell, and what it leaves alone.

use std::fs;
use std::time::Duration;

use serde_json::json;

use super::far::{self, Far, hostname};
use crate::util::client::Client;
use crate::util::dir::Dir;
use crate::util::skip::have;

#[test]
fn shells_with_an_integration_are_integrated() {
    let test = "shells_with_an_integration_are_integrated";
    let shells = ["bash", "zsh", "fish"];
    if !far::can(test) || !shells.iter().all(|shell| have(test, shell)) {
        return;
    }
    let far = Far::started(&shells);
    let mut client = Client::in_session();
    for (at, shell) in shells.iter().enumerate() {
        let place = far.place(at);
        let there = Some(place.as_str());
        let reply = client.enter(&format!("paneglass ssh {}", far.words(at)));
        assert!(
            reply.text.contains(&format!("[now on {place}]")),
            "{}",
            reply.text
        );
        assert!(!reply.text.contains("plain shell"), "{}", reply.text);
        assert_eq!(client.ends("id -un", 0, there).body(), far.account(at).name);
        client.ends("false", 1, there);
        client.ends("sh -c 'exit 7'", 7, there);
        assert_eq!(
            client.ends("echo $SHELL", 0, there).body(),
            fs::canonicalize(format!("/bin/{shell}"))
                .unwrap()
                .display()
                .to_string()
        );
        let reply = client.ends("true | false | true", 0, there);
        assert_eq!(
            reply.facts["pipestatus"],
            json!([0, 1, 0]),
            "{}",
            reply.text
        );
        let seen = client.tool(
            "read",
            json!({"session": "t1", "region": reply.facts["region"]}),
        );
        assert!(!seen.is_error, "{}", seen.text);
        if *shell != "zsh" {
            assert_eq!(far.left(at), [""; 0], "{shell} has loaded its files");
        }
        let reply = client.run("exit");
        assert!(reply.text.contains("now back on"), "{}", reply.text);
        assert_eq!(far.left_at_last(at), [""; 0], "{shell}");
        client.ends("true", 0, None);
        let regions = client.text("regions", json!({"session": "t1", "last": 9}));
        let tagged = format!("on {place} · false");
        assert!(regions.contains(&tagged), "{tagged}: {regions}");
        let outer = regions
            .lines()
            .find(|line| line.contains("paneglass ssh"))
            .unwrap();
        assert!(!outer.contains(" · on "), "{outer}");
    }
}

#[test]
fn other_shells_are_plain_and_say_so() {
    let test = "other_shells_are_plain_and_say_so";
    let mut shells = vec!["dash"];
    shells.extend(["tcsh", "csh"].iter().filter(|shell| have(test, shell)));
    if !far::can(test) {
        return;
    }
    let far = Far::started(&shells);
    let mut client = Client::in_session();
    for (at, shell) in shells.iter().enumerate() {
        let reply = client.enter(&format!("paneglass ssh {}", far.words(at)));
        let says: Vec<&str> = reply
            .text
            .lines()
            .filter(|line| line.starts_with("paneglass:"))
            .collect();
        let real = fs::canonicalize(format!("/bin/{shell}")).unwrap();
        let real = real.file_name().unwrap().to_string_lossy();
        let names = [*shell, &real]
            .map(|name| format!("paneglass: a plain shell: there is no integration for {name}"));
        assert!(
            says.len() == 1 && names.contains(&says[0].to_string()),
            "{}",
            reply.text
        );
        let place = format!("{}@127.0.0.1", far.account(at).name);
        assert!(
            reply.text.contains(&format!("[now on {place}]")),
            "{}",
            reply.text
        );
        let reply = client.enter("id -un");
        assert_eq!(reply.body(), far.account(at).name);
        assert_eq!(reply.facts["place"], place.as_str());
        assert_eq!(far.left(at), [""; 0], "{shell}");
        client.leave();
    }
}

#[test]
fn every_sh_on_the_far_side_will_do() {
    let test = "every_sh_on_the_far_side_will_do";
    if !far::can(test) {
        return;
    }
    let far = Far::started(&["bash"]);
    let mut client = Client::in_session();
    for sh in ["dash", "bash", "busybox"]
        .iter()
        .filter(|sh| have(test, sh))
    {
        let bin = far.account(0).home.join(format!("bin-{sh}"));
        fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(format!("/bin/{sh}"), bin.join("sh")).unwrap();
        // bash reads it for the command that ssh hands it.
        fs::write(
            far.account(0).home.join(".bashrc"),
            format!("PATH={}:$PATH\n", bin.display()),
        )
        .unwrap();
        client.enter(&format!("paneglass ssh {}", far.words(0)));
        let place = far.place(0);
        // The process that waits for the shell is that sh.
        let reply = client.ends("readlink /proc/$PPID/exe", 0, Some(&place));
        assert!(reply.body().ends_with(sh), "{}", reply.text);
        client.leave();
        assert_eq!(far.left_at_last(0), [""; 0], "{sh}");
    }
}

#[test]
fn a_second_hop_and_what_is_carried() {
    let test = "a_second_hop_and_what_is_carried";
    if !far::can(test) || !have(test, "zsh") {
        return;
    }
    let far = Far::started(&["bash", "zsh"]);
    far.allow_hop(0);
    let mut client = Client::legacy_with(&[
        ("PANEGLASS_SSH_ENV", "PROJECT, NOTE:UNSET"),
        ("PROJECT", "it's \"x\" $HOME !"),
        ("NOTE", "é\t\\n%s\n\n"),
    ]);
    client.open(json!({"name": "t1"}));
    client.enter(&format!("paneglass ssh {}", far.words(0)));
    let (first, second) = (far.place(0), far.place(1));
    client.ends("echo one; false", 1, Some(&first));
    let hop = format!(
        "{} ssh -F {}/config {}@127.0.0.1",
        far.path("paneglass").display(),
        far.account(0).home.display(),
        far.account(1).name
    );
    let reply = client.enter(&hop);
    assert!(
        reply.text.contains(&format!("[now on {second}]")),
        "{}",
        reply.text
    );
    let reply = client.ends(
        "print -r -- $PROJECT ${UNSET-none} $PANEGLASS_SSH_ENV; print -rn -- $NOTE | od -An -tx1",
        0,
        Some(&second),
    );
    assert_eq!(
        reply.body(),
        "it's \"x\" $HOME ! none PROJECT, NOTE:UNSET\n c3 a9 09 5c 6e 25 73 0a 0a"
    );
    client.ends("(exit 9)", 9, Some(&second));
    let reply = client.run("exit");
    assert!(
        reply.text.contains(&format!("[now on {first}]")),
        "{}",
        reply.text
    );
    client.ends("false", 1, Some(&first));
    client.leave();
    assert_eq!((far.left_at_last(0), far.left_at_last(1)), (vec![], vec![]));
}

/// What an ssh of the test's own was started with: one word to a line, after the answer to `ssh -G`.
fn fake_ssh(dir: &Dir) -> String {
    let bin = dir.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = -G ] && {{ cat {0}/config 2>/dev/null; exit 0; }}\nprintf '%s\\n' \"$@\" > {0}/argv\n",
        dir.path().display()
    );
    fs::write(bin.join("ssh"), script).unwrap();
    fs::set_permissions(
        bin.join("ssh"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

#[test]
fn options_stand_where_ssh_takes_them() {
    let dir = Dir::new();
    let path = fake_ssh(&dir);
    let nonce = ("__PANEGLASS_NONCE", "0123456789abcdef");
    let print = |words: &str| {
        let args: Vec<&str> = ["ssh", "--print"]
            .into_iter()
            .chain(words.split(' '))
            .collect();
        let ran = dir.run_with(&args, &[("PATH", &path), nonce]);
        ran.good().to_string()
    };
    for words in [
        "host",
        "ann@host",
        "-p 22 host",
        "-p22 host",
        "-vvl ann host",
        "-vlann host",
        "host -p 22",
        "host -l ann -v",
        "-o User=ann -i key -J a,b -L 1:x:2 -D 3 -R 4:y:5 -b 127.0.0.1 -c c -e none -E log -F f -I i -m m -S s -w 0:0 -B b -P t host",
        "-4AaCKkXxYyv host",
        "-t host",
        "-- host",
        "ssh://ann@host:22",
    ] {
        let printed = print(words);
        let line = printed.lines().next().unwrap();
        assert!(
            line.starts_with(&format!(
                "ssh -o RemoteCommand=none -t {words} 'exec sh -c "
            )),
            "{words}: {line}"
        );
        assert!(
            printed.contains("\n# The script in it:\n") && printed.contains("pg_enter"),
            "{words}"
        );
    }
    for words in [
        "host ls",
        "host -- ls",
        "host -p 22 ls -l",
        "-N host",
        "-vN host",
        "host -N",
        "-f host",
        "-n host",
        "-T host",
        "-W x:1 host",
        "-O exit host",
        "-Q cipher",
        "-V",
        "-G host",
        "-s host sftp",
    ] {
        assert_eq!(print(words), format!("ssh {words}\n"), "{words}");
    }
    fs::write(dir.path().join("config"), "user ann\nremotecommand top\n").unwrap();
    assert_eq!(
        print("host"),
        "ssh host\n",
        "a configured command is the user's"
    );
    for config in [
        "requesttty no",
        "sessiontype none",
        "stdinnull yes",
        "forkafterauthentication yes",
    ] {
        fs::write(dir.path().join("config"), config).unwrap();
        assert_eq!(print("host"), "ssh host\n", "{config}");
    }
    // Without a terminal ssh runs as it is, also within a session.
    fs::remove_file(dir.path().join("config")).unwrap();
    dir.run_with(&["ssh", "-v", "host"], &[("PATH", &path), nonce])
        .good();
    assert_eq!(
        fs::read_to_string(dir.path().join("argv")).unwrap(),
        "-v\nhost\n"
    );
}

#[test]
fn what_is_printed_is_what_runs() {
    let test = "what_is_printed_is_what_runs";
    if !have(test, "tmux") {
        return;
    }
    let dir = Dir::new();
    let path = fake_ssh(&dir);
    let mut client = Client::legacy_with(&[("PATH", &path)]);
    client.open(json!({"name": "t1"}));
    client.ends(
        &format!("PATH={path}:$PATH; paneglass ssh -p 22 host"),
        0,
        None,
    );
    let ran = fs::read_to_string(dir.path().join("argv")).unwrap();
    client.run("eval \"words=($(paneglass ssh --print -p 22 host | head -n 1))\"");
    let file = dir.path().join("printed");
    client.run(&format!(
        "printf '%s\\n' \"${{words[@]:1}}\" > {}",
        file.display()
    ));
    assert_eq!(fs::read_to_string(file).unwrap(), ran);
    assert!(
        ran.starts_with("-o\nRemoteCommand=none\n-t\n-p\n22\nhost\nexec sh -c '"),
        "{ran}"
    );
}

#[test]
fn commands_and_tunnels_pass_through() {
    let test = "commands_and_tunnels_pass_through";
    if !far::can(test) {
        return;
    }
    let far = Far::started(&["bash"]);
    let mut client = Client::in_session();
    let words = far.words(0);
    let reply = client.ends(&format!("paneglass ssh {words} 'id -un; exit 5'"), 5, None);
    assert_eq!(reply.body(), far.account(0).name);
    let reply = client.ends(&format!("paneglass ssh -T {words} </dev/null"), 0, None);
    assert!(!reply.text.contains("plain shell"), "{}", reply.text);
    let reply = client.ends(
        &format!("echo 'echo from $USER; exit 4' | paneglass ssh {words} 2>/dev/null"),
        4,
        None,
    );
    assert_eq!(reply.body(), format!("from {}", far.account(0).name));
    client.run_with(
        &format!("paneglass ssh -N {words}"),
        json!({"timeout_s": 1}),
    );
    let reply = client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
    assert!(!reply.is_error, "{}", reply.text);
    client.ends("true", 0, None);
}

#[test]
fn a_link_with_delay() {
    let test = "a_link_with_delay";
    if !far::can(test) {
        return;
    }
    let far = Far::started(&["bash"]);
    let port = far::slow_link(far.port(), Duration::from_millis(40));
    let config = far.config("slow", "key", port);
    let mut client = Client::in_session();
    client.enter(&format!(
        "paneglass ssh -F {config} {}@127.0.0.1",
        far.account(0).name
    ));
    let place = format!("{}@{}", far.account(0).name, hostname());
    for status in 0..5 {
        let reply = client.ends(
            &format!("echo out{status}; (exit {status})"),
            status,
            Some(&place),
        );
        assert_eq!(reply.body(), format!("out{status}"));
    }
    let reply = client.ends("seq 1 20000; false", 1, Some(&place));
    assert_eq!(reply.facts["total_lines"], 20_000);
    client.leave();
}
