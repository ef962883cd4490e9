//! Heads that are taken, and heads that are refused.

use super::*;

fn parse(text: &str) -> Result<Head, u16> {
    Head::parse(text.as_bytes()).map_err(|refusal| refusal.status)
}

fn with(fields: &str) -> Result<Head, u16> {
    parse(&format!("POST /mcp HTTP/1.1\r\nHost: x\r\n{fields}\r\n"))
}

#[test]
fn a_usual_head() {
    let head =
        parse("GET /api/x?y=1 HTTP/1.1\r\nHOST:  a:1 \r\nAccept: b\r\naccept: c\r\n\r\n").unwrap();
    assert_eq!(
        (head.method.as_str(), head.path(), head.minor),
        ("GET", "/api/x", 1)
    );
    assert_eq!(head.get("host").as_deref(), Some("a:1"));
    assert_eq!(head.get("accept").as_deref(), Some("b, c"));
    assert_eq!(head.get("cookie"), None);
    assert_eq!(head.length(), Ok(Length::Bytes(0)));
    assert!(head.keeps_alive());
    assert!(!with("Connection: Foo, Close\r\n").unwrap().keeps_alive());
    assert!(!parse("GET / HTTP/1.0\r\n\r\n").unwrap().keeps_alive());
}

#[test]
fn what_is_refused() {
    for text in [
        "\r\n\r\n",
        "GET /\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1 x\r\nHost: x\r\n\r\n",
        "get / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET x HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / FTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: \u{e9}\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: \0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n",
    ] {
        assert_eq!(parse(text), Err(400), "{text:?}");
    }
    assert_eq!(parse("GET / HTTP/2.0\r\nHost: x\r\n\r\n"), Err(505));
    assert_eq!(with("Content-Length: 1\r\nContent-Length: 1\r\n"), Err(400));
}

#[test]
fn lengths() {
    let length = |fields: &str| {
        with(fields)
            .unwrap()
            .length()
            .map_err(|refusal| refusal.status)
    };
    assert_eq!(length("Content-Length: 12\r\n"), Ok(Length::Bytes(12)));
    assert_eq!(
        length("Transfer-Encoding: Chunked\r\n"),
        Ok(Length::Chunked)
    );
    assert_eq!(
        length("Content-Length: 99999999999999999999999\r\n"),
        Ok(Length::Bytes(u64::MAX))
    );
    for bad in ["-1", "+1", "0x10", "1, 1", "", "1 1", "1e3"] {
        assert_eq!(
            length(&format!("Content-Length: {bad}\r\n")),
            Err(400),
            "{bad}"
        );
    }
    assert_eq!(
        length("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
        Err(400)
    );
    assert_eq!(length("Transfer-Encoding: gzip, chunked\r\n"), Err(501));
}

/// Junk of every kind is a refusal or a head, never a panic.
#[test]
fn junk_is_a_state() {
    let mut state = 7u64;
    let whole = b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n";
    for _ in 0..20_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let mut bytes = whole.to_vec();
        for shift in [8, 24, 40] {
            let at = (state >> shift) as usize % bytes.len();
            bytes[at] = (state >> (shift + 4)) as u8;
        }
        if let Ok(head) = Head::parse(&bytes) {
            let _ = head.length();
        }
    }
}
