//! `paneglass install` and the tool shell_integrate: for shells that are open already.

use std::fs;

use serde_json::{Value, json};

use super::far::{self, Far, home};
use crate::util::client::Client;
use crate::util::reply::Reply;
use crate::util::skip::have;

fn integrate(client: &mut Client, force: bool) -> Reply {
    client.tool(
        "shell_integrate",
        json!({"session": "t1", "force": force, "timeout_s": 60}),
    )
}

fn regions(client: &mut Client) -> usize {
    let reply = client.tool("regions", json!({"session": "t1", "last": 1000}));
    reply.facts["regions"].as_array().map_or(0, Vec::len)
}

#[test]
fn an_open_ssh_with_and_without_the_files() {
    let test = "an_open_ssh_with_and_without_the_files";
    let shells = ["bash", "zsh", "fish"];
    if !far::can(test) || !shells.iter().all(|shell| have(test, shell)) {
        return;
    }
    let far = Far::started(&shells);
    let mut client = Client::in_session();
    for (at, shell) in shells.iter().enumerate() {
        let words = far.words(at);
        let plain = format!("{}@127.0.0.1", far.account(at).name);
        let ssh = format!("ssh {words}");
        client.enter(&ssh);
        let reply = integrate(&mut client, false);
        assert!(
            reply.is_error && reply.text.contains(&format!("paneglass install {plain}")),
            "{}",
            reply.text
        );

        // Remembered: nothing is typed again, also by the next server.
        let before = regions(&mut client);
        let reply = integrate(&mut client, false);
        assert!(
            reply.is_error && reply.text.contains("within the last 12 hours"),
            "{}",
            reply.text
        );
        assert_eq!(regions(&mut client), before);
        client = client.killed_and_restarted(|| ());
        assert!(
            integrate(&mut client, false)
                .text
                .contains("within the last 12 hours")
        );
        client.leave();

        client.ends(&format!("paneglass install {words}"), 0, None);
        let there = far.account(at).home.join(".local/share/paneglass");
        let versions: Vec<_> = fs::read_dir(&there).unwrap().flatten().collect();
        assert_eq!(versions.len(), 1, "{versions:?}");
        let reply = client.enter(&ssh);
        assert!(
            reply.text.contains(&format!("[now on {plain}]")),
            "{}",
            reply.text
        );
        // After twelve hours it is tried again.
        let file = client.home().join("state/not-installed.json");
        let mut missing: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let when = missing[&plain].as_u64().unwrap() - 13 * 3_600_000;
        missing[&plain] = when.into();
        fs::write(&file, missing.to_string()).unwrap();
        let reply = integrate(&mut client, false);
        assert!(
            !reply.is_error && reply.text.contains(&format!("{shell} is integrated")),
            "{}",
            reply.text
        );
        let place = far.place(at);
        assert!(
            reply.text.contains(&format!("[now on {place}]")),
            "{}",
            reply.text
        );
        client.ends("false", 1, Some(&place));
        client.ends("sh -c 'exit 7'", 7, Some(&place));
        let reply = integrate(&mut client, false);
        assert!(
            !reply.is_error && reply.text.contains("already"),
            "{}",
            reply.text
        );
        client.leave();
        let missing: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert!(missing[&plain].is_null(), "{missing}");

        // `su` there: the shell is of another user, with the files of its own home.
        client.enter(&format!("su - {}", far.account(at).name));
        let reply = integrate(&mut client, false);
        assert!(
            !reply.is_error && reply.text.contains(&format!("{shell} is integrated")),
            "{}",
            reply.text
        );
        client.ends(
            "(exit 4)".replace("(exit 4)", "sh -c 'exit 4'").as_str(),
            4,
            Some(&place),
        );
        client.leave();

        client.ends(&format!("paneglass install --remove {words}"), 0, None);
        assert!(!there.exists());
    }
}

#[test]
fn sudo_and_su_beyond_an_ssh() {
    let test = "sudo_and_su_beyond_an_ssh";
    if !far::can(test) || !have(test, "sudo") {
        return;
    }
    let far = Far::started(&["bash"]);
    let user = far.account(0).name.clone();
    let mut client = Client::in_session();
    client.ends(&format!("paneglass install {}", far.words(0)), 0, None);
    let root = format!("ssh -F {} root@127.0.0.1", far.path("config").display());
    client.enter(&root);
    let reply = client.enter(&format!("su - {user}"));
    assert!(
        reply
            .text
            .contains("[now on an unknown place, last known root@127.0.0.1]"),
        "{}",
        reply.text
    );
    let reply = integrate(&mut client, false);
    assert!(
        reply.text.contains(&format!("[now on {}]", far.place(0))),
        "{}",
        reply.text
    );
    client.ends("false", 1, Some(&far.place(0)));
    client.run("exit");
    client.leave();
    client.enter(&root);
    let reply = client.enter("sudo -i");
    assert!(
        reply
            .text
            .contains("[now on an unknown place, last known root@127.0.0.1]"),
        "{}",
        reply.text
    );
    let reply = integrate(&mut client, false);
    assert!(
        reply.text.contains(&format!("[now back on {}]", home())),
        "{}",
        reply.text
    );
    client.ends("false", 1, None);
    client.run("exit");
    client.run("exit");
    client.ends("true", 0, None);
}

#[test]
fn what_has_no_integration_is_named_and_left_alone() {
    let test = "what_has_no_integration_is_named_and_left_alone";
    let mut shells = vec!["dash"];
    shells.extend(
        ["tcsh", "mksh"]
            .iter()
            .filter(|shell| std::path::Path::new("/bin").join(shell).exists()),
    );
    if !far::can(test) {
        return;
    }
    let far = Far::started(&shells);
    let mut client = Client::in_session();
    for (at, shell) in shells.iter().enumerate() {
        for line in [
            format!("ssh {}", far.words(at)),
            format!("su - {}", far.account(at).name),
        ] {
            client.enter(&line);
            let before = regions(&mut client);
            let reply = integrate(&mut client, false);
            assert!(
                !reply.is_error
                    && reply.text.contains(&format!(
                        "{shell} is at the prompt: there is no integration for it"
                    )),
                "{}",
                reply.text
            );
            // A process of this host is not even asked.
            assert_eq!(
                regions(&mut client) - before,
                usize::from(line.starts_with("ssh"))
            );
            client.leave();
        }
    }
}

#[test]
fn refused_where_no_shells_prompt_waits() {
    let test = "refused_where_no_shells_prompt_waits";
    if !have(test, "python3") || !have(test, "tmux") {
        return;
    }
    let mut client = Client::in_session();
    let reply = integrate(&mut client, false);
    assert!(
        !reply.is_error && reply.text.contains("integrated already"),
        "{}",
        reply.text
    );
    client.enter("python3 -q");
    let reply = integrate(&mut client, false);
    assert!(
        reply.is_error && reply.text.contains("a prompt of python"),
        "{}",
        reply.text
    );
    client.run("exit()");
    client.run_with("sleep 600", json!({"timeout_s": 0}));
    let reply = integrate(&mut client, true);
    assert!(
        reply.is_error && reply.text.contains("sleep is in front"),
        "{}",
        reply.text
    );
    client.tool("send", json!({"session": "t1", "keys": ["ctrl+c"]}));
    client.ends("true", 0, None);
}
