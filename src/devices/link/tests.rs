//! A link to a device that the test plays, over a pair of sockets.

use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use super::*;
use crate::devices::frame::{Action, Bytes, Source, WINDOW};
use crate::devices::job::Kind;

/// So short that a test can wait for it, so long that a slow machine keeps it.
const TIMING: Timing = Timing {
    beat: Duration::from_millis(200),
    dead: Duration::from_millis(600),
};

struct Device {
    stream: BufReader<UnixStream>,
}

impl Device {
    fn say(&mut self, frame: &Up) {
        let line = serde_json::to_string(frame).unwrap();
        writeln!(self.stream.get_mut(), "{line}").unwrap();
    }

    /// The next frame but heartbeats, which are answered.
    fn hear(&mut self) -> Down {
        loop {
            let mut line = String::new();
            assert!(self.stream.read_line(&mut line).unwrap() > 0, "it ended");
            match serde_json::from_str(&line).unwrap() {
                Down::Ping { number } => self.say(&Up::Pong { number }),
                frame => return frame,
            }
        }
    }

    /// Everything to the end of the connection.
    fn rest(&mut self) {
        let mut line = String::new();
        while self.stream.read_line(&mut line).unwrap_or(0) > 0 {}
    }
}

fn linked(test: impl FnOnce(&Arc<Link>, Device)) -> Arc<Link> {
    let (near, far) = UnixStream::pair().unwrap();
    let end = near.try_clone().unwrap();
    let link = Arc::new(Link::new(Opening {
        client_id: "abcdef".into(),
        group: "g".into(),
        info: Info::default(),
        connected: 0,
        outlet: Outlet::new(Box::new(near.try_clone().unwrap())),
        hang_up: Box::new(move || drop(end.shutdown(Shutdown::Both))),
    }));
    let mut frames = Frames::new(Box::new(near), Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| link.run(&mut frames, TIMING, || 7));
        let device = Device {
            stream: BufReader::new(far),
        };
        test(&link, device);
    });
    link
}

fn job(kind: Kind) -> Arc<Job> {
    Arc::new(Job::new(kind, "s".into(), "g", "abcdef", "true", 0))
}

#[test]
fn a_job_from_its_start_to_its_end() {
    let job = job(Kind::Session);
    linked(|link, mut device| {
        link.start(&job, Spec::default()).unwrap();
        let Down::Start { id, .. } = device.hear() else {
            panic!("it is not started");
        };
        assert_eq!(link.number(&job), Some(id));
        let data = Bytes(vec![b'x'; 32 << 10]);
        for _ in 0..8 {
            device.say(&Up::Output {
                id,
                from: Source::Terminal,
                data: data.clone(),
            });
        }
        let mut credit = 0;
        while credit < WINDOW {
            match device.hear() {
                Down::Credit { id: other, bytes } if other == id => credit += bytes,
                other => panic!("{other:?}"),
            }
        }
        let asked = std::thread::scope(|scope| {
            let asked = scope.spawn(|| {
                link.ask(|number| Down::Control {
                    id,
                    number,
                    action: Action::Eof,
                })
            });
            let Down::Control { number, .. } = device.hear() else {
                panic!("it is not asked");
            };
            let error = Some("raw".into());
            device.say(&Up::Ack { number, error });
            asked.join().unwrap()
        });
        assert!(matches!(asked, Err(Error::Refused(reason)) if reason == "raw"));
        let end = End {
            exit_code: 3,
            ..End::default()
        };
        device.say(&Up::End { id, end });
    });
    let ended = job.ended().unwrap();
    assert_eq!((ended.end.exit_code, ended.at), (3, 7));
    assert_eq!(job.range(), (0, 256 << 10));
}

#[test]
fn a_silent_device_is_dead_and_its_jobs_end_unknown() {
    let job = job(Kind::Command);
    let link = linked(|link, mut device| {
        link.start(&job, Spec::default()).unwrap();
        // It says nothing, but its connection stays open.
        device.rest();
    });
    let end = job.ended().unwrap().end;
    assert_eq!((end.exit_code, end.canceled), (-1, false));
    assert_eq!(end.error.as_deref(), Some(DISCONNECTED));
    assert!(matches!(
        link.start(&job, Spec::default()),
        Err(Error::Offline(_))
    ));
    assert!(matches!(
        link.ask(|number| Down::Ping { number }),
        Err(Error::Offline(_))
    ));
}

#[test]
fn a_device_that_answers_stays() {
    let link = linked(|link, mut device| {
        let begun = Instant::now();
        while begun.elapsed() < TIMING.dead * 2 {
            let mut line = String::new();
            assert!(device.stream.read_line(&mut line).unwrap() > 0);
            let Down::Ping { number } = serde_json::from_str(&line).unwrap() else {
                panic!("{line}");
            };
            device.say(&Up::Pong { number });
        }
        link.close(Some("revoked"));
        assert!(matches!(device.hear(), Down::Refused { .. }));
    });
    assert!(link.round_trip().unwrap() < TIMING.dead);
}

#[test]
fn a_device_that_sends_more_than_it_may_is_cut_off() {
    let job = job(Kind::Reach);
    linked(|link, mut device| {
        link.start(&job, Spec::default()).unwrap();
        let Down::Start { id, .. } = device.hear() else {
            panic!("it is not started");
        };
        let frame = Up::Output {
            id,
            from: Source::Terminal,
            data: Bytes(vec![b'x'; 32 << 10]),
        };
        let line = serde_json::to_string(&frame).unwrap() + "\n";
        for _ in 0..9 {
            // It may be cut off before the last one.
            let _ = device.stream.get_mut().write_all(line.as_bytes());
        }
        device.rest();
    });
    assert_eq!(job.pass().0.len() as u64, WINDOW);
    assert_eq!(job.ended().unwrap().end.exit_code, -1);
}
