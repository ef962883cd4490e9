//! Who may ask, on TCP: the token, and the Host and Origin that a page in the user's browser cannot have. Pure. Must
//! not know what is asked for.

use std::net::IpAddr;
use std::sync::Arc;

use super::Refusal;
use super::head::Head;

/// The path that needs no token: it says that a server is here, and nothing else.
pub const OPEN_PATH: &str = "/health";

/// What requests on TCP must show.
#[derive(Debug)]
pub struct Vetting {
    pub token: String,
    /// Names of this machine besides those of the loopback, in lower case.
    pub hosts: Vec<String>,
}

impl Vetting {
    /// Checks a request that came to this address. `scope` is what its bearer opens, where that is only a part of what
    /// is served; it is returned where it counts.
    pub fn check(
        &self,
        head: &Head,
        address: Option<IpAddr>,
        scope: Option<Arc<str>>,
    ) -> Result<Option<Arc<str>>, Refusal> {
        let host = head.get("host").unwrap_or_default();
        if !self.is_ours(host_of(&host), address) {
            return Err(Refusal::new(403, "the Host is not this server's"));
        }
        if let Some(origin) = head.get("origin") {
            let host = ["http://", "https://"]
                .iter()
                .find_map(|scheme| origin.strip_prefix(scheme));
            if !host.is_some_and(|host| self.is_ours(host_of(host), address)) {
                return Err(Refusal::new(
                    403,
                    "requests of foreign pages are not served",
                ));
            }
        }
        if head.method == "GET" && head.path() == OPEN_PATH {
            return Ok(None);
        }
        if scope.is_some() {
            return Ok(scope);
        }
        if same(bearer(head).as_bytes(), self.token.as_bytes()) {
            return Ok(None);
        }
        Err(Refusal::new(
            401,
            "a bearer token is needed: `paneglass token` prints it",
        ))
    }

    fn is_ours(&self, host: &str, address: Option<IpAddr>) -> bool {
        let host = host.to_ascii_lowercase();
        if let Ok(ip) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
            return ip.is_loopback() || address == Some(ip);
        }
        host == "localhost" || self.hosts.contains(&host)
    }
}

/// The bearer token that a request shows; empty for none.
pub fn bearer(head: &Head) -> String {
    let shown = head.get("authorization").unwrap_or_default();
    match shown.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim().to_owned(),
        _ => String::new(),
    }
}

/// A host without its port.
fn host_of(text: &str) -> &str {
    let port = text.rsplit_once(':').filter(|(host, port)| {
        port.bytes().all(|byte| byte.is_ascii_digit())
            && (!host.contains(':') || host.ends_with(']'))
    });
    port.map_or(text, |(host, _)| host)
}

/// Compares in a time that does not tell where the two differ.
pub fn same(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
    std::hint::black_box(differences) == 0 && one.len() == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: &str, path: &str, fields: &str) -> u16 {
        let text = format!("{method} {path} HTTP/1.1\r\n{fields}\r\n");
        let vetting = Vetting {
            token: "secret".into(),
            hosts: vec!["box".into()],
        };
        let head = Head::parse(text.as_bytes()).unwrap();
        let checked = vetting.check(&head, Some([10, 0, 0, 7].into()), None);
        checked.map_or_else(|refusal| refusal.status, |_| 200)
    }

    #[test]
    fn tokens() {
        let with = |value: &str| check("POST", "/mcp", &format!("Host: localhost\r\n{value}"));
        assert_eq!(with("Authorization: Bearer secret\r\n"), 200);
        assert_eq!(with("authorization: bearer  secret\r\n"), 200);
        for bad in [
            "secret",
            "Bearer secre",
            "Bearer secrets",
            "Bearer ",
            "Basic secret",
        ] {
            assert_eq!(with(&format!("Authorization: {bad}\r\n")), 401, "{bad}");
        }
        assert_eq!(with(""), 401);
        assert_eq!(check("GET", "/health", "Host: localhost\r\n"), 200);
        assert_eq!(check("POST", "/health", "Host: localhost\r\n"), 401);
        assert_eq!(check("GET", "/healthy", "Host: localhost\r\n"), 401);
    }

    #[test]
    fn hosts_and_origins() {
        let host = |host: &str| check("GET", "/health", &format!("Host: {host}\r\n"));
        for good in [
            "localhost:1",
            "LOCALHOST",
            "127.0.0.1:80",
            "[::1]:80",
            "[::1]",
            "10.0.0.7",
            "Box:9",
        ] {
            assert_eq!(host(good), 200, "{good}");
        }
        for bad in [
            "evil.example",
            "10.0.0.8",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "",
            "::ffff",
        ] {
            assert_eq!(host(bad), 403, "{bad}");
        }
        let origin = |origin: &str| {
            check(
                "GET",
                "/health",
                &format!("Host: box\r\nOrigin: {origin}\r\n"),
            )
        };
        for good in [
            "http://localhost:6274",
            "https://127.0.0.1",
            "http://[::1]:5",
        ] {
            assert_eq!(origin(good), 200, "{good}");
        }
        for bad in [
            "http://evil.example",
            "null",
            "http://localhost@evil.example",
            "localhost",
            "http://localhost:x",
        ] {
            assert_eq!(origin(bad), 403, "{bad}");
        }
    }
}
