//! The table by itself: each entry where it belongs, and nowhere else.

use super::*;

/// A command that has ended after this time.
fn ran(line: &str, ms: u64) -> Situation {
    Situation {
        tool: "run".into(),
        line: parse(line),
        status: "done".into(),
        duration_ms: ms,
        attach: "tmux attach".into(),
        ..Situation::default()
    }
}

fn names(situation: &Situation) -> Vec<&'static str> {
    let given = advise(situation, &BTreeSet::new());
    given.into_iter().map(|(name, _)| name).collect()
}

#[test]
fn each_line_its_advice() {
    let check = |line: &str, ms, want: &[&str]| assert_eq!(names(&ran(line, ms)), want, "{line}");
    for line in [
        "make | tail -20",
        "cargo test 2>&1 | grep error",
        "cd x && ninja -C b |& head -50",
    ] {
        check(line, 10, &["pipe"]);
    }
    check("./slow.sh | tail", 9_000, &["pipe"]);
    for line in [
        "make > log 2>&1",
        "npm test 2>&1 | tee log",
        "go test ./... &> out",
    ] {
        check(line, 10, &["redirect"]);
    }
    check(
        "make > log 2>&1; tail log; echo rc=$?",
        10,
        &["echo-status", "redirect"],
    );
    for line in [
        "make; echo $?",
        "true; echo \"exit: $?\"",
        "a | b; echo ${PIPESTATUS[@]}",
        "x; printf '%d' $?",
    ] {
        check(line, 10, &["echo-status"]);
    }
    for line in [
        "server &",
        "nohup server",
        "sleep 30 &",
        "(setsid server &)",
    ] {
        check(line, 10, &["background"]);
    }
    for line in [
        "sleep 30",
        "sleep 5; tail log",
        "while true; do date; sleep 10; done",
        "watch date",
        "sleep 2m",
    ] {
        check(line, 10, &["poll"]);
    }
    for line in [
        "yes | ./install.sh",
        "echo y | apt install x",
        "printf 'y\\nn\\n' | ./setup",
        "./setup <<< yes",
    ] {
        check(line, 10, &["canned-answers"]);
    }
    for line in [
        "gdb -batch -ex bt ./prog core",
        "gdb ./prog --batch -x cmds",
    ] {
        check(line, 10, &["batch-debugger"]);
    }
}

#[test]
fn lines_that_are_right_as_they_are() {
    for line in [
        "make",
        "make -j8 all",
        "make --version | head -1",
        "git log --oneline | head -5",
        "ps aux | grep nginx",
        "ls | wc -l",
        "sort a | uniq -c > b",
        "echo y",
        "echo $HOME",
        "cat > notes.txt <<E\nmake | tail\nE",
        "grep -r 'sleep 30 &' src",
        "bc <<< 1+1",
        "yes | head -3",
        "sleep 0.2",
        "make > /dev/null",
        "gdb ./prog",
        "python3 tool.py > out.json",
        "echo 'a; echo $?' > t.sh",
        "find . -name '*.rs' | head",
        "git commit -m 'no more | tail &'",
        "cargo run | jq .",
        "a && b || c",
        "sqlite3 x.db 'select 1' | head",
        "echo done | tee flag",
        "printf '%s\\n' a b | sort",
    ] {
        let situation = ran(line, 500);
        assert_eq!(names(&situation), [] as [&str; 0], "{line}");
    }
    // What the reply is to show was chosen.
    let chosen = Situation {
        chosen: true,
        ..ran("make | tail > log", 9_000)
    };
    assert_eq!(names(&chosen), [] as [&str; 0]);
}

#[test]
fn each_situation_its_advice() {
    let base = || ran("", 10);
    let check =
        |situation: Situation, want: &[&str]| assert_eq!(names(&situation), want, "{situation:?}");
    let waiting = Situation {
        status: "waiting".into(),
        front: Some("sh setup".into()),
        ..base()
    };
    check(waiting.clone(), &["question"]);
    check(
        Situation {
            tool: "expect".into(),
            ..waiting.clone()
        },
        &[],
    );
    check(
        Situation {
            secret: true,
            ..waiting.clone()
        },
        &["password"],
    );
    check(
        Situation {
            line: parse("gdb ./a | tee log"),
            ..waiting.clone()
        },
        &["question", "piped-program"],
    );
    let running = Situation {
        status: "running".into(),
        working: true,
        front: Some("sleep".into()),
        ..base()
    };
    check(running.clone(), &[]);
    check(
        Situation {
            interrupted: true,
            ..running.clone()
        },
        &["ctrl-c"],
    );
    check(
        Situation {
            line: parse("python3 > out"),
            ..running.clone()
        },
        &["piped-program"],
    );
    let stuck = Stuck {
        name: "cat".into(),
        pid: 7,
        what: "waits for data from a pipe",
        seconds: 6,
    };
    check(
        Situation {
            stuck: Some(stuck),
            ..running
        },
        &["stuck"],
    );
    check(
        Situation {
            fullscreen: true,
            ..base()
        },
        &["fullscreen"],
    );
    check(
        Situation {
            fullscreen: true,
            partial: true,
            ..base()
        },
        &[],
    );
    check(
        Situation {
            plain_shell: true,
            status: "prompt".into(),
            ..base()
        },
        &["plain-shell"],
    );
    check(
        Situation {
            left: true,
            ..base()
        },
        &["left"],
    );
    check(
        Situation {
            ended: true,
            left: true,
            ..base()
        },
        &["ended"],
    );
    check(
        Situation {
            place: Some("root@db1".into()),
            left: true,
            ..base()
        },
        &["place"],
    );
    check(
        Situation {
            company: Some("a person ran #3 (ls)".into()),
            ..base()
        },
        &["company"],
    );
    let twice = ("gdb".to_string(), "t2".to_string(), "(gdb)".to_string());
    check(
        Situation {
            elsewhere: Some(twice),
            ..base()
        },
        &["relaunch"],
    );
    let word = Some("gdb".to_string());
    let front = Some("gdb ./prog".to_string());
    check(
        Situation {
            word: word.clone(),
            front,
            ..base()
        },
        &["here-already"],
    );
    check(
        Situation {
            word,
            front: Some("python3".into()),
            ..base()
        },
        &[],
    );
}

#[test]
fn once_each_and_two_at_most() {
    let situation = ran("nohup make | tail; sleep 30; echo $?; yes | ./install", 10);
    let mut given = BTreeSet::new();
    let mut all = Vec::new();
    for _ in 0..5 {
        let advice = advise(&situation, &given);
        assert!(advice.len() <= 2);
        for (name, text) in advice {
            assert!(given.insert(name.to_string()), "{name} twice");
            assert!(
                (20..220).contains(&text.chars().count()) && !text.contains('\n'),
                "{text}"
            );
            all.push(name);
        }
    }
    assert_eq!(all, ["canned-answers", "echo-status", "background", "poll"]);
    let distinct: BTreeSet<&str> = table::TABLE.iter().map(|advice| advice.name).collect();
    assert_eq!(distinct.len(), table::TABLE.len());
}
