//! What comes from outside and is no proper request: the next client is served at once, the sessions stay, and the
//! server's memory stays small.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::util::client::DEADLINE;
use crate::util::mix::Random;
use crate::util::server::{Server, Wire, answer, call, post, request};
use crate::util::skip::have;

/// Far over what a server at work needs, far under what any of these would cost if it were kept.
const MEGABYTES: u64 = 120;

/// A server with a session in it.
fn server(test: &str, limit: Option<u32>) -> Option<Server> {
    if !have(test, "tmux") {
        return None;
    }
    let server = Server::with(&["--tcp", "0"], limit);
    let opened = server.post(&[], &call("session_create", json!({"name": "kept"})));
    assert_eq!(opened.json()["result"]["isError"], false, "{opened:?}");
    Some(server)
}

/// The next client is served, in the session that was there before.
fn goes_on(server: &Server) {
    is_served(server);
    assert!(!server.stderr().contains("panicked"), "{}", server.stderr());
}

fn is_served(server: &Server) {
    let begun = Instant::now();
    server.answers();
    // Sooner than what fills the server is given up by itself, after 10 s.
    assert!(
        begun.elapsed() < Duration::from_secs(9),
        "{:?}",
        begun.elapsed()
    );
    let ran = server.post(
        &[],
        &call("run", json!({"session": "kept", "input": "(exit 7)"})),
    );
    assert!(ran.body.contains("exit 7"), "{ran:?}");
    let megabytes = server.megabytes();
    assert!(megabytes < MEGABYTES, "{megabytes} MB");
}

/// Sends bytes to both doors; each answers with this status, and the next client is served.
fn refused(server: &Server, bytes: &[u8], status: u16) {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
    let mut streams: [Box<dyn Wire>; 2] = [Box::new(server.unix()), Box::new(server.tcp_stream())];
    for stream in &mut streams {
        // The answer may come before all was sent, and with it the end.
        let _ = stream.write_all(bytes);
        let answered = answer(&mut **stream);
        assert_eq!(answered.status, status, "{shown}");
        assert_eq!(answered.field("connection"), Some("close"), "{shown}");
        assert!(answered.json()["error"].is_string(), "{shown}");
        let mut rest = Vec::new();
        let end = stream.read_to_end(&mut rest);
        assert!(end.is_err() || rest.is_empty(), "{shown}");
    }
    server.answers();
}

#[test]
fn malformed_requests() {
    let Some(server) = server("malformed_requests", None) else {
        return;
    };
    let token = server.token();
    let with = |fields: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n{fields}\r\n"
        )
    };
    for length in ["-1", "+2", "0x2", "two", "", "1 1", "2, 2"] {
        refused(
            &server,
            with(&format!("Content-Length: {length}\r\n")).as_bytes(),
            400,
        );
    }
    for length in [
        "4194305",
        "104857600",
        "9223372036854775807",
        "18446744073709551615",
        "99999999999999999999999999",
    ] {
        refused(
            &server,
            with(&format!("Content-Length: {length}\r\n")).as_bytes(),
            413,
        );
    }
    for (fields, status) in [
        ("Content-Length: 2\r\nContent-Length: 2\r\n", 400),
        ("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", 400),
        ("Transfer-Encoding: gzip\r\n", 501),
        ("Host: localhost\r\n", 400),
        (
            "Origin: http://localhost\r\nOrigin: http://localhost\r\n",
            400,
        ),
        ("Mcp-Session-Id: 1\r\nmcp-session-id: 1\r\n", 400),
        ("A : b\r\n", 400),
        (" folded\r\n", 400),
        ("A: \u{0}\r\n", 400),
        ("A: \u{e9}\r\n", 400),
        ("no colon\r\n", 400),
        ("Expect: miracles\r\n", 417),
    ] {
        refused(&server, with(fields).as_bytes(), status);
    }
    refused(
        &server,
        with(&format!("A: {}\r\n", "x".repeat(17_000))).as_bytes(),
        431,
    );
    for line in ["GET / HTTP/2.0", "GET / HTTP/9.9"] {
        refused(
            &server,
            format!("{line}\r\nHost: localhost\r\n\r\n").as_bytes(),
            505,
        );
    }
    for line in [
        "get / HTTP/1.1",
        "GET /",
        "GET  / HTTP/1.1",
        "GET http://x/ HTTP/1.1",
        "\u{16}\u{3}\u{1}\u{2}",
        "*",
    ] {
        refused(
            &server,
            format!("{line}\r\nHost: localhost\r\n\r\n").as_bytes(),
            400,
        );
    }
    let chunked = |body: &str| with("Transfer-Encoding: chunked\r\n") + body;
    refused(&server, chunked("zz\r\n").as_bytes(), 400);
    refused(&server, chunked("ffffffffffffffff\r\n").as_bytes(), 413);
    goes_on(&server);
}

/// A head of its own for the inner server is nothing that a client can write.
#[test]
fn the_inner_header_is_of_no_use() {
    let Some(server) = server("the_inner_header_is_of_no_use", None) else {
        return;
    };
    let text = "GET /health HTTP/1.1\r\nHost: x\r\nX-Paneglass-Exchange: 0.0\r\n\r\n";
    assert_eq!(server.raw(text.as_bytes()).status, 200);
    let mut inner = server.socket().into_os_string();
    inner.push(".inner");
    let mut stream = std::os::unix::net::UnixStream::connect(inner).expect("it listens");
    stream.write_all(text.as_bytes()).expect("it reads");
    assert_eq!(answer(&mut stream).status, 500);
    goes_on(&server);
}

#[test]
fn clients_that_leave_in_the_middle() {
    let Some(server) = server("clients_that_leave_in_the_middle", None) else {
        return;
    };
    let token = server.token();
    let seed = 6;
    println!("seed {seed}");
    let mut mix = Random::new(seed);
    let auth = format!("Bearer {token}");
    let run = call("run", json!({"session": "kept", "input": "true"}));
    let whole = post(&[("Authorization", &auth)], &run.to_string());
    for round in 0..200 {
        let sent = &whole[..mix.below(whole.len() + 1)];
        let local = round % 2 == 0;
        if local {
            let mut stream = server.unix();
            stream.write_all(sent).expect("it reads");
            if mix.below(2) == 0 {
                stream.shutdown(Shutdown::Write).expect("our own side");
            }
        } else {
            let mut stream = server.tcp_stream();
            stream.write_all(sent).expect("it reads");
        }
        if round % 50 == 0 {
            server.answers();
        }
    }
    // Reset while the answer is written: nobody reads it, and what came is thrown away.
    for _ in 0..50 {
        let mut stream = server.tcp_stream();
        let list = request("tools/list", json!({})).to_string();
        let list = post(&[("Authorization", &auth)], &list);
        stream.write_all(&list.repeat(3)).expect("it reads");
        let mut first = [0];
        stream.read_exact(&mut first).expect("an answer begins");
    }
    goes_on(&server);
}

#[test]
fn a_burst_on_a_fresh_server() {
    let Some(server) = server("a_burst_on_a_fresh_server", None) else {
        return;
    };
    let mut streams: Vec<_> = (0..200).map(|_| server.unix()).collect();
    for stream in &mut streams {
        stream
            .write_all(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            .expect("it reads");
    }
    for stream in &mut streams {
        assert_eq!(answer(stream).status, 200);
    }
    goes_on(&server);
}

#[test]
fn five_hundred_idle_connections() {
    let Some(server) = server("five_hundred_idle_connections", None) else {
        return;
    };
    let quiet: Vec<_> = (0..250)
        .map(|_| (server.unix(), server.tcp_stream()))
        .collect();
    goes_on(&server);
    // And as many that were answered once.
    let mut kept = Vec::new();
    for _ in 0..250 {
        let mut stream = server.unix();
        stream
            .write_all(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            .expect("it reads");
        assert_eq!(answer(&mut stream).status, 200);
        kept.push(stream);
    }
    goes_on(&server);
    drop((quiet, kept));
    goes_on(&server);
}

/// Heads that come slowly, and half requests: refused in time, and in nobody's way until then.
#[test]
fn slow_and_half_requests() {
    let Some(server) = server("slow_and_half_requests", None) else {
        return;
    };
    let begun = Instant::now();
    let mut slow: Vec<_> = (0..100).map(|_| server.unix()).collect();
    for stream in &mut slow {
        stream
            .write_all(b"GET /health HTTP/1.1\r\nHo")
            .expect("it reads");
    }
    let mut half: Vec<_> = (0..100).map(|_| server.unix()).collect();
    for stream in &mut half {
        let whole = post(&[], &request("ping", json!({})).to_string());
        stream
            .write_all(&whole[..whole.len() - 5])
            .expect("it reads");
    }
    goes_on(&server);
    for stream in &mut slow {
        assert_eq!(answer(stream).status, 408);
    }
    assert!(begun.elapsed() >= Duration::from_secs(9));
    goes_on(&server);
}

#[test]
fn large_bodies() {
    let Some(server) = server("large_bodies", None) else {
        return;
    };
    let size = 100 << 20;
    let piece = vec![b'x'; 1 << 20];
    let bearer = format!("Bearer {}", server.token());
    for head in [
        format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: {bearer}\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n\r\n"
        ),
        format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n"),
    ] {
        let mut streams: [Box<dyn Wire>; 2] =
            [Box::new(server.unix()), Box::new(server.tcp_stream())];
        for stream in &mut streams {
            stream.write_all(head.as_bytes()).expect("it reads");
            for _ in 0..100 {
                if stream.write_all(&piece).is_err() {
                    break;
                }
            }
            let status = answer(&mut **stream).status;
            assert!([413, 401].contains(&status), "{status}");
        }
    }
    // The same on a line transport: it is answered, and the line after it too.
    let mut stream = server.unix();
    stream.write_all(b"{\"id\":1,\"x\":\"").expect("it reads");
    for _ in 0..100 {
        stream.write_all(&piece).expect("it reads");
    }
    stream
        .write_all(b"\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n")
        .expect("it reads");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(stream));
    let mut next = || lines.next().expect("a line").expect("a line");
    assert!(next().contains("-32600"));
    assert_eq!(next(), r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    goes_on(&server);
}

/// At the descriptor limit a connection that does nothing makes room; what is served goes on.
#[test]
fn no_descriptor_left() {
    let Some(server) = server("no_descriptor_left", Some(64)) else {
        return;
    };
    // The first call has raised the limit to the hard one, which is as low.
    let mut quiet: Vec<_> = (0..150).map(|_| server.unix()).collect();
    for stream in &mut quiet {
        let _ = stream.write_all(b"GET /hea");
    }
    is_served(&server);
    drop(quiet);
    is_served(&server);
    // tiny_http's accepting thread does not survive it; another takes its place. Ours do.
    let stderr = server.stderr();
    let ours = |line: &&str| line.contains("panicked at src/");
    assert_eq!(stderr.lines().find(ours), None, "{stderr}");
}

/// More clients that wait than there can be connections: those over the limit are told, and the others are answered.
#[test]
fn too_many_that_wait() {
    // A fifth of the descriptors are connections.
    let Some(server) = server("too_many_that_wait", Some(300)) else {
        return;
    };
    let sleep = json!({"session": "kept", "input": "sleep 600", "timeout_s": 0});
    server.post(&[], &call("run", sleep));
    let wait = json!({"session": "kept", "timeout_s": 600});
    let wait = post(&[], &call("wait", wait).to_string());
    let mut waiting = Vec::new();
    // All at once, and then those that were let in are those that were not answered.
    for _ in 0..70 {
        let mut stream = server.unix();
        stream.write_all(&wait).expect("it reads");
        waiting.push((stream, false));
    }
    let mut refused = 0;
    let deadline = Instant::now() + DEADLINE;
    while refused < 10 {
        assert!(Instant::now() < deadline, "{refused} are refused");
        waiting.retain_mut(|(stream, begun)| {
            if *begun {
                return true;
            }
            let soon = Some(Duration::from_millis(1));
            stream.set_read_timeout(soon).expect("a time");
            let mut text = [0; 12];
            let told = stream.read_exact(&mut text).is_ok();
            // After some seconds those that wait get the beginning of their answer, which keeps them alive.
            *begun = told && &text == b"HTTP/1.1 200";
            let over = told && !*begun;
            if over {
                assert_eq!(&text, b"HTTP/1.1 503");
            }
            refused += usize::from(over);
            !over
        });
    }
    // The two that came before may not have left yet.
    assert!(refused <= 12, "{refused}");
    assert_eq!(refused + waiting.len(), 70);
    drop(waiting);
    // They have left, so there is room again, once that is noticed.
    let deadline = Instant::now() + DEADLINE;
    loop {
        let mut stream = server.unix();
        let sent = stream.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
        let mut text = [0; 12];
        if sent.is_ok() && stream.read_exact(&mut text).is_ok() && &text == b"HTTP/1.1 200" {
            break;
        }
        assert!(Instant::now() < deadline, "there is no room again");
    }
    let stop = json!({"session": "kept", "keys": ["ctrl+c"]});
    server.post(&[], &call("send", stop));
    goes_on(&server);
}
