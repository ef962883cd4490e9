//! What the environment says: values that cannot be used stop the start, and tools are offered by the others.

use std::fs;

use crate::util::dir::Dir;
use crate::util::server::Server;

#[test]
fn bad_settings_stop_every_command_with_one_line() {
    let dir = Dir::new();
    let temp = dir.path().join("temp");
    fs::create_dir(&temp).expect("the test's own directory");
    let temp = temp.to_str().expect("a short path");
    let commands: &[&[&str]] = &[
        &[],
        &["list"],
        &["attach", "build"],
        &["call", "session_list"],
        &["version", "--verbose"],
        &["demo"],
    ];
    for (name, value) in [
        ("PANEGLASS_HOME", "some/where"),
        ("PANEGLASS_SOCKET", "/tmp/socket"),
        ("PANEGLASS_LOG_LIMIT", "4G"),
        ("PANEGLASS_LOG_LIMIT", "0"),
        ("PANEGLASS_READ_ONLY", "yes"),
        ("PANEGLASS_TOOLSETS", "terminal,magic"),
        ("PANEGLASS_WAIT_MAX_MS", "30s"),
        ("PANEGLASS_SSH_ENV", "a-b"),
        ("PANEGLASS_ATTACH_PREFIX", "ssh\nhost"),
    ] {
        for args in commands {
            let ran = dir.run_with(args, &[(name, value), ("TMPDIR", temp)]);
            let line = ran.bad(1);
            assert!(
                line.contains(name) && line.contains(&value.escape_debug().to_string()),
                "{ran:?}"
            );
        }
        // demo once made its folder before it read the settings, and left it.
        let left = fs::read_dir(temp).expect("the test's own").count();
        assert_eq!(left, 0, "{name}={value} leaves something");
        let doctor = dir.run_with(&["doctor"], &[(name, value)]);
        assert_eq!(doctor.code, Some(1), "{doctor:?}");
        assert!(doctor.out.contains(name), "{doctor:?}");
    }
    // These two read no other setting.
    for args in [["ssh", "--print", "host"], ["into", "--print", "sh"]] {
        let ran = dir.run_with(&args, &[("PANEGLASS_SSH_ENV", "PROJECT a-b")]);
        assert!(ran.bad(1).contains("\"a-b\" is none"), "{ran:?}");
    }
}

#[test]
fn read_only_offers_only_tools_that_read() {
    let dir = Dir::new();
    let ran = dir.run_with(
        &["call", "run", "session=a", "input=true"],
        &[("PANEGLASS_READ_ONLY", "1")],
    );
    let offered = ran.bad(2).split_once("there are ").map(|(_, rest)| rest);
    let offered = offered.expect("the tools there are");
    for (tool, reads) in [
        ("search", true),
        ("session_list", true),
        ("send", false),
        ("session_close", false),
        ("read_program", true),
        ("capture_pane", true),
        ("start_program", false),
        ("stop_program", false),
    ] {
        assert_eq!(offered.contains(tool), reads, "{tool}: {offered}");
    }
}

#[test]
fn devices_are_not_for_a_server_of_one_client() {
    let dir = Dir::new();
    let alone = ("PANEGLASS_TOOLSETS", "devices");
    for ran in [
        dir.run(&["--toolsets", "devices"]),
        dir.run_with(&[], &[alone]),
        dir.run_with(&["call", "list_clients"], &[alone]),
    ] {
        let line = ran.bad(1);
        assert!(line.contains("name only devices"), "{line}");
        assert!(line.contains("`paneglass serve --devices`"), "{line}");
    }
    let told = "the tools for devices are left out: `paneglass serve --devices` alone has them";
    let beside = dir.run(&["--toolsets", "terminal,devices"]);
    assert_eq!(beside.code, Some(0), "{beside:?}");
    assert_eq!(beside.err, format!("paneglass: {told}\n"));
    let both = [("PANEGLASS_TOOLSETS", "programs,devices")];
    let ran = dir.run_with(&["call", "list_clients"], &both);
    let line = ran.bad(2);
    assert!(
        line.contains("start_program") && line.contains(told),
        "{line}"
    );
    // A server of many has them by the same variable.
    let server = Server::in_dir(dir, &[], None, &[alone]);
    let listed = server.dir.run(&["call", "nosuch"]);
    assert!(listed.bad(2).contains("list_clients"), "{listed:?}");
}

#[test]
fn a_state_directory_that_cannot_be_made_names_the_remedy() {
    let dir = Dir::new();
    let ran = dir.run_with(&["token"], &[("PANEGLASS_HOME", "/proc/no/state")]);
    let line = ran.bad(1);
    assert!(
        line.contains("/proc/no") && line.contains("set PANEGLASS_HOME"),
        "{line}"
    );
}
