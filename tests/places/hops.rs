//! The place is never wrong, and unknown is said as unknown.

use serde_json::json;

use super::far::{self, Far, home, hostname};
use crate::util::client::Client;
use crate::util::mix::Random;
use crate::util::skip::have;

const HOPS: usize = 100;

/// A way to be somewhere else: the line, where that is, and a line that it answers with its user's name.
struct Way {
    line: String,
    place: String,
    user: String,
}

fn ways(far: &Far) -> Vec<Way> {
    let host = hostname();
    let way = |line: String, place: String, user: &str| Way {
        line,
        place,
        user: user.to_string(),
    };
    let names: Vec<&str> = (0..2).map(|at| far.account(at).name.as_str()).collect();
    vec![
        way(
            format!("paneglass ssh {}", far.words(0)),
            far.place(0),
            names[0],
        ),
        way(
            format!("ssh {}", far.words(0)),
            format!("{}@127.0.0.1", names[0]),
            names[0],
        ),
        way(
            format!(
                "ssh -l {} -F {} 127.0.0.1",
                names[1],
                far.path("config").display()
            ),
            format!("{}@127.0.0.1", names[1]),
            names[1],
        ),
        way(
            format!("su - {}", names[0]),
            format!("{}@{host}", names[0]),
            names[0],
        ),
        way(
            format!("su - {}", names[1]),
            format!("{}@{host}", names[1]),
            names[1],
        ),
        way(
            "bwrap --bind / / --dev /dev --proc /proc --unshare-pid dash".into(),
            "bwrap".into(),
            "root",
        ),
        way(
            "paneglass into bwrap --bind / / --dev /dev --proc /proc --unshare-pid --".into(),
            "bwrap".into(),
            "root",
        ),
        way("unshare -m dash".into(), "unshare".into(), "root"),
    ]
}

#[test]
fn a_hundred_mixed_hops() {
    let test = "a_hundred_mixed_hops";
    if !far::can(test) || !have(test, "bwrap") || !have(test, "unshare") {
        return;
    }
    let far = Far::started(&["bash", "dash"]);
    let ways = ways(&far);
    let mut random = Random::new(7);
    let mut client = Client::in_session();
    let mut hops = 0;
    while hops < HOPS {
        let way = &ways[random.below(ways.len())];
        let reply = client.enter(&way.line);
        let told = format!("[now on {}]", way.place);
        assert!(
            reply.text.contains(&told),
            "hop {hops}, {}: {}",
            way.line,
            reply.text
        );
        let reply = client.run_with("id -un", json!({"settle_ms": 60_000}));
        assert_eq!(
            reply.body(),
            way.user,
            "hop {hops}, {}: {}",
            way.line,
            reply.text
        );
        assert_eq!(
            reply.facts["place"],
            way.place.as_str(),
            "hop {hops}, {}: {}",
            way.line,
            reply.text
        );
        let listed = client.text("session_list", json!({}));
        assert!(
            listed.contains(&format!(" on {} · ", way.place)),
            "hop {hops}: {listed}"
        );
        client.leave();
        let reply = client.ends("id -un", 0, None);
        assert_eq!(reply.body(), "root");
        hops += 2;
    }
    // They are told again after a restart, from what was written down.
    let before = client.text("regions", json!({"session": "t1", "last": 200}));
    let mut client = client.killed_and_restarted(|| ());
    let after = client.text("regions", json!({"session": "t1", "last": 200}));
    let places = |text: &str| -> Vec<String> {
        text.lines()
            .filter_map(|line| line.split(" · on ").nth(1))
            .map(String::from)
            .collect()
    };
    assert!(places(&before).len() >= HOPS, "{before}");
    assert_eq!(places(&before), places(&after));
}

#[test]
fn unknown_is_said_as_unknown() {
    let test = "unknown_is_said_as_unknown";
    if !far::can(test) {
        return;
    }
    let far = Far::started(&["dash", "bash"]);
    far.allow_hop(0);
    let mut client = Client::in_session();
    let first = format!("{}@127.0.0.1", far.account(0).name);
    client.enter(&format!("ssh {}", far.words(0)));
    let second = far.account(1).name.clone();
    // From a plain shell on another host nobody can see where an ssh leads, nor when it is left.
    let reply = client.enter(&format!("ssh -F config {second}@127.0.0.1"));
    let unknown = format!("an unknown place, last known {first}");
    assert!(
        reply.text.contains(&format!("[now on {unknown}]")),
        "{}",
        reply.text
    );
    let reply = client.enter("id -un");
    assert_eq!(
        (reply.body(), reply.facts["place"].as_str()),
        (second, Some(unknown.as_str()))
    );
    client.enter("exit");
    let reply = client.enter("id -un");
    assert_eq!(
        (reply.body(), reply.facts["place"].as_str()),
        (far.account(0).name.clone(), Some(unknown.as_str()))
    );
    client.leave();

    // In an integrated shell there, a line that leads away is seen, and its end too.
    let place = far.place(1);
    client.enter(&format!("paneglass ssh {}", far.words(1)));
    client.ends("true", 0, Some(&place));
    let reply = client.enter("sh -c 'exec sh'");
    let unknown = format!("an unknown place, last known {place}");
    assert!(
        reply.text.contains(&format!("[now on {unknown}]")),
        "{}",
        reply.text
    );
    let reply = client.run("exit");
    assert!(
        reply.text.contains(&format!("[now on {place}]")),
        "{}",
        reply.text
    );
    client.leave();
    assert_eq!(home(), format!("root@{}", hostname()));
}
