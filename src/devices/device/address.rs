//! Where a server is, as it is written on the command line, and which ways to it are safe. Does no I/O.

use std::fmt;
use std::net::IpAddr;

use super::Error;

/// Where a server listens unless it is told.
pub const PORT: u16 = 8766;

/// The way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// In the clear: to this machine, or over a network that the user trusts.
    Http { host: String, port: u16 },
    /// By `ssh HOST paneglass link`.
    Ssh { host: String, port: Option<u16> },
    /// By the standard input and output of a command.
    Via(Vec<String>),
}

impl Address {
    /// Reads `http://HOST[:PORT]` or `ssh://[USER@]HOST[:PORT]`. Plain HTTP to another machine only where that is
    /// accepted as `insecure`.
    pub fn parse(text: &str, insecure: bool) -> Result<Address, Error> {
        let bad = || {
            Error::Address(format!(
                "{text:?} is no server's address: it is http://HOST[:PORT] or ssh://[USER@]HOST[:PORT]"
            ))
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(bad)?;
        let rest = rest.trim_end_matches('/');
        let (host, port) = split(rest).ok_or_else(bad)?;
        // One that begins so would be an option of ssh's.
        if host.is_empty() || host.starts_with('-') || !host.bytes().all(is_plain) {
            return Err(bad());
        }
        match scheme {
            "ssh" => Ok(Address::Ssh {
                host: host.into(),
                port,
            }),
            "http" if host.contains('@') => Err(bad()),
            "http" if insecure || is_loopback(host) => Ok(Address::Http {
                host: host.into(),
                port: port.unwrap_or(PORT),
            }),
            "http" => Err(Error::Address(format!(
                "{text} would be spoken in the clear: join ssh://[USER@]{host} instead (encrypted, and the server need not listen on the network); on a network that you trust, --insecure allows it"
            ))),
            "https" => Err(Error::Address(format!(
                "https is spoken by a command: --via openssl s_client -quiet -verify_return_error -connect {host}:{}, or use ssh://[USER@]{host}",
                port.unwrap_or(443)
            ))),
            _ => Err(bad()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Http { host, port } => write!(f, "http://{host}:{port}"),
            Address::Ssh {
                host,
                port: Some(port),
            } => write!(f, "ssh://{host}:{port}"),
            Address::Ssh { host, port: None } => write!(f, "ssh://{host}"),
            Address::Via(words) => write!(f, "--via {}", words.join(" ")),
        }
    }
}

/// Host and port; an IPv6 address is in brackets.
fn split(text: &str) -> Option<(&str, Option<u16>)> {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            Some((host, Some(port.parse().ok()?)))
        }
        Some(_) if !text.ends_with(']') => None,
        _ => Some((text, None)),
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._@:[]%".contains(&byte)
}

/// Whether a host is this machine, whatever a name server says.
fn is_loopback(host: &str) -> bool {
    let bare = host.trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        let read = Address::parse(text, false);
        read.map(|address| address.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn ways_to_a_server() {
        for (text, address) in [
            ("http://localhost", "http://localhost:8766"),
            ("http://127.0.0.1:80/", "http://127.0.0.1:80"),
            ("http://[::1]:7", "http://[::1]:7"),
            ("ssh://me@host", "ssh://me@host"),
            ("ssh://host:22", "ssh://host:22"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(address));
        }
        for bad in [
            "",
            "localhost",
            "http://",
            "ssh://-oProxyCommand=x",
            "ssh://a b",
            "http://u@localhost",
            "http://localhost:99999",
            "http://::1",
            "ftp://host",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn in_the_clear_only_to_this_machine() {
        for far in [
            "http://10.0.0.1:8766",
            "http://host",
            "http://[fe80::1]",
            "http://localhost.example",
        ] {
            let error = read(far).unwrap_err();
            assert!(
                error.contains("ssh://") && error.contains("--insecure"),
                "{error}"
            );
            assert!(Address::parse(far, true).is_ok());
        }
        assert!(
            read("https://host")
                .unwrap_err()
                .contains("openssl s_client")
        );
    }
}
