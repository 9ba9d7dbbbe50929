//! How long a packet takes to others and back, by the handshake of a TCP connection.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

/// Nobody listens there, so that the peer's kernel refuses at once: that is a round trip, and no server is troubled.
/// (TCPMUX, which no system has.)
pub const PORT: u16 = 1;

/// Each peer's, all at once; none of those that do not answer in time.
pub fn measure(peers: &[Ipv4Addr], within: Duration) -> BTreeMap<Ipv4Addr, Duration> {
    thread::scope(|scope| {
        let tries: Vec<_> =
            peers.iter().map(|peer| (*peer, scope.spawn(move || round_trip(*peer, within)))).collect();
        tries.into_iter().filter_map(|(peer, tried)| Some((peer, tried.join().ok()??))).collect()
    })
}

fn round_trip(peer: Ipv4Addr, within: Duration) -> Option<Duration> {
    let start = Instant::now();
    match TcpStream::connect_timeout(&SocketAddr::from((peer, PORT)), within) {
        Ok(_) => Some(start.elapsed()),
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => Some(start.elapsed()),
        Err(_) => None,
    }
}
