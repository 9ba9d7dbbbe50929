//! Whether other nodes can be reached from this one.

use std::{
    collections::BTreeMap,
    io::ErrorKind,
    net::{SocketAddr, SocketAddrV4, TcpStream},
    time::{Duration, Instant},
};

use super::protocol::Reply;

/// Limit of one try.
const PATIENCE: Duration = Duration::from_secs(2);
/// Pause between two tries.
const AGAIN: Duration = Duration::from_millis(20);
/// However long they took: a machine that stood still has lost time, not packets.
const LEAST_TRIES: u32 = 3;

/// Tries all at once, each until it answers as wanted or the time is over. Those that did not, with the reason.
pub fn missed(peers: &[SocketAddrV4], wanted: Reply, within: Duration) -> BTreeMap<String, String> {
    std::thread::scope(|scope| {
        let tries: Vec<_> =
            peers.iter().map(|peer| (peer, scope.spawn(move || attempt(*peer, wanted, within)))).collect();
        let ended = tries.into_iter().map(|(peer, tried)| {
            let tried = tried.join().unwrap_or_else(|_| Err("the try failed".into()));
            tried.err().map(|why| (peer.to_string(), why))
        });
        ended.flatten().collect()
    })
}

fn attempt(peer: SocketAddrV4, wanted: Reply, within: Duration) -> Result<(), String> {
    let until = Instant::now() + within;
    let mut tries = 0;
    loop {
        let why = match TcpStream::connect_timeout(&SocketAddr::V4(peer), PATIENCE) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused && wanted == Reply::Any => {
                return Ok(());
            }
            Err(error) => error,
        };
        tries += 1;
        if Instant::now() >= until && tries >= LEAST_TRIES {
            return Err(words(&why));
        }
        std::thread::sleep(AGAIN);
    }
}

fn words(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::TimedOut => "no answer".into(),
        ErrorKind::ConnectionRefused => "refused".into(),
        ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => "no route".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    fn address(listener: &TcpListener) -> SocketAddrV4 {
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, listener.local_addr().unwrap().port())
    }

    #[test]
    fn who_listens_is_reached_and_who_refuses_is_there_all_the_same() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let closed = address(&TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let peers = [address(&listener), closed];
        assert_eq!(
            missed(&peers, Reply::Accepted, Duration::ZERO),
            BTreeMap::from([(closed.to_string(), "refused".to_string())])
        );
        assert!(missed(&peers, Reply::Any, Duration::ZERO).is_empty());
    }

    #[test]
    fn who_listens_late_is_waited_for() {
        let late = address(&TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let opened = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            let listener = TcpListener::bind(late).unwrap();
            std::thread::sleep(Duration::from_secs(2));
            drop(listener);
        });
        assert!(missed(&[late], Reply::Accepted, Duration::from_secs(10)).is_empty());
        opened.join().unwrap();
    }
}
