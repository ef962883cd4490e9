//! `paneglass serve`: one server for many clients, on the Unix socket and, where it is asked for, on TCP.

use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::api::Told;
use super::socket::Socket;
use super::token;
use crate::config::Config;
use crate::devices::Hub;
use crate::devices::device::address::Address;
use crate::http::{Serving, Setup, Upgrades, Vetting};
use crate::mcp::Service;
use crate::mcp::dispatch::Server;
use crate::store::layout::Layout;
use crate::sys::poll::{Interest, poll};
use crate::sys::stop::StopSignals;
use crate::sys::{limits, passwd};
use crate::tools::device::{Devices, Ways};

/// From the signal that asks to stop until the process ends, whatever is not done yet.
const CLOSING: Duration = Duration::from_millis(1800);

/// Where TCP listens unless it is told.
const LOOPBACK: [&str; 2] = ["127.0.0.1", "::1"];

/// TCP, where it is asked for.
#[derive(Clone, Debug)]
pub struct Tcp {
    /// 0: one that is free.
    pub port: u16,
    /// A name or an address of this machine; the loopback when none is named.
    pub host: Option<String>,
}

/// Devices, where they are asked for.
#[derive(Clone, Debug)]
pub struct ForDevices {
    /// What they are told to join.
    pub url: Option<String>,
}

/// Serves until a signal asks to stop; `say` is told, a line at a time, where. Sessions live on in tmux.
pub fn serve(
    config: &Config,
    tcp: Option<&Tcp>,
    devices: Option<&ForDevices>,
    say: impl Fn(&str),
) -> Result<(), String> {
    let text = |error: std::io::Error| format!("cannot start: {error}");
    let signals = StopSignals::catch().map_err(text)?;
    let (socket, unix) = Socket::bind(&config.socket_path)?;
    let mut tools = super::tools(config, Some(socket.path.clone()));
    // Takes the lock of the state directory and picks its sessions up, before anybody is told that we are here.
    let sessions = tools.sessions().map_err(|error| error.to_string())?;
    // They have raised it.
    let (descriptors, _) = limits::descriptors().map_err(text)?;
    let (listeners, vetting) = match tcp {
        None => (Vec::new(), None),
        Some(tcp) => {
            let listeners = listen(tcp)?;
            let vetting = Vetting {
                token: token::token(config)?,
                hosts: hosts(tcp),
            };
            (listeners, Some(vetting))
        }
    };
    let mut lines = vec![format!("serving {}", socket.path.display())];
    for listener in &listeners {
        let address = listener.local_addr().map_err(text)?;
        lines.push(format!("serving http://{address}/mcp"));
    }
    let mut upgrades: Option<Arc<dyn Upgrades>> = None;
    if let Some(devices) = devices {
        let hub = Hub::open(Layout::new(config.home.clone()).devices());
        let hub = Arc::new(hub.map_err(|error| error.to_string())?);
        // What a device that comes by ssh runs here.
        sessions.own_folder().map_err(|error| error.to_string())?;
        upgrades = Some(Arc::clone(&hub) as Arc<dyn Upgrades>);
        let ways = ways(devices, tcp, &listeners);
        tools = tools.with_devices(Devices { hub, ways });
    }
    let tools = Arc::new(tools);
    let server = Arc::new(Server::new(Arc::clone(&tools) as Arc<dyn Service>));
    let mut serving = Serving::start(Setup {
        unix,
        tcp: listeners,
        vetting,
        inner: socket.inner(),
        server: Arc::clone(&server),
        api: Arc::new(Told::new(tools).map_err(text)?),
        upgrades,
        uid: passwd::uid(),
        descriptors,
    })
    .map_err(text)?;
    lines.iter().for_each(|line| say(line));
    poll(&[(signals.as_fd(), Interest::Read)], None).map_err(text)?;
    let deadline = Instant::now() + CLOSING;
    serving.stop();
    server.finish(deadline);
    serving.finish(deadline);
    drop(socket);
    Ok(())
}

fn listen(tcp: &Tcp) -> Result<Vec<TcpListener>, String> {
    if let Some(host) = &tcp.host {
        let host = host.trim_matches(['[', ']']);
        let fail = |error| format!("cannot listen on {host} port {}: {error}", tcp.port);
        let addresses: Vec<SocketAddr> =
            (host, tcp.port).to_socket_addrs().map_err(fail)?.collect();
        return TcpListener::bind(addresses.as_slice())
            .map(|listener| vec![listener])
            .map_err(fail);
    }
    let [v4, v6] = LOOPBACK.map(|address| move |port: u16| TcpListener::bind((address, port)));
    let fail = |error| format!("cannot listen on port {}: {error}", tcp.port);
    let first = v4(tcp.port).map_err(fail)?;
    // Some clients try ::1 alone for localhost; a machine without IPv6 has none.
    let port = first.local_addr().map_err(fail)?.port();
    Ok([Some(first), v6(port).ok()].into_iter().flatten().collect())
}

/// How machines get here that are to join.
fn ways(devices: &ForDevices, tcp: Option<&Tcp>, listeners: &[TcpListener]) -> Ways {
    let user = passwd::me().map(|user| format!("{}@", user.name));
    let port = listeners.first().and_then(|first| first.local_addr().ok());
    let host = match tcp.and_then(|tcp| tcp.host.as_deref()) {
        None => LOOPBACK[0].to_owned(),
        // No address of any machine: all addresses of this one.
        Some("0.0.0.0" | "::" | "[::]") => passwd::hostname(),
        Some(host) if host.contains(':') && !host.starts_with('[') => format!("[{host}]"),
        Some(host) => host.to_owned(),
    };
    let listening = port.map(|address| format!("http://{host}:{}", address.port()));
    let near = devices.url.clone().or(listening).map(|url| {
        // Whoever has the server listen on a network trusts that network.
        match Address::parse(&url, false).is_err() && Address::parse(&url, true).is_ok() {
            true => format!("{url} --insecure"),
            false => url,
        }
    });
    Ways {
        near,
        far: format!("ssh://{}{}", user.unwrap_or_default(), passwd::hostname()),
    }
}

/// The names that clients may call this machine by, besides the loopback's.
fn hosts(tcp: &Tcp) -> Vec<String> {
    let named = tcp
        .host
        .iter()
        .filter(|host| host.parse::<IpAddr>().is_err());
    let all = named
        .cloned()
        .chain(tcp.host.as_ref().map(|_| passwd::hostname()));
    all.map(|name| name.to_ascii_lowercase()).collect()
}

/// Where a server of many clients serves the state directory of this configuration now; none when none does.
pub fn running(config: &Config) -> Option<PathBuf> {
    use crate::store::lock::Lock;
    let holder = Lock::holder(&Layout::new(config.home.clone()).lock())
        .ok()
        .flatten()?;
    let socket = holder.socket?;
    (holder.host == passwd::hostname() && socket.exists()).then_some(socket)
}
