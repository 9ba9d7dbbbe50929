//! Cuts, tried between two addresses of the loopback interface of a fresh network namespace.
#![cfg(target_os = "linux")]

mod common;

use std::{
    fs,
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket},
    os::fd::AsRawFd,
    thread,
    time::Duration,
};

use nemesis::{
    kind::partition::Direction,
    net::{self, NetError},
};
use nix::{
    libc,
    sched::{CloneFlags, unshare},
};

const NODE: Ipv4Addr = Ipv4Addr::LOCALHOST;
const PEER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 3);

/// Runs `test` on a thread of its own in a network namespace of its own with its loopback interface up.
fn in_own_network(test: fn()) {
    if !common::is_root() {
        return;
    }
    let namespace = || fs::read_link("/proc/thread-self/ns/net").unwrap();
    let outside = namespace();
    let inside = thread::spawn(move || {
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
        assert_ne!(namespace(), outside, "still in the host's network");
        loopback_up();
        test();
    });
    inside.join().unwrap();
}

fn loopback_up() {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    // SAFETY: an all-zero `ifreq` is valid, and the kernel reads and writes nothing else.
    let done = unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[..2].copy_from_slice(&[b'l' as libc::c_char, b'o' as libc::c_char]);
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
        libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &request)
    };
    assert_eq!(done, 0);
}

/// A socket on `address` that does not wait long.
fn udp(address: Ipv4Addr) -> UdpSocket {
    let socket = UdpSocket::bind((address, 7000)).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    socket
}

fn passes(from: &UdpSocket, to: &UdpSocket) -> bool {
    let sent = from.send_to(b"x", to.local_addr().unwrap());
    sent.is_ok() && to.recv(&mut [0; 8]).is_ok()
}

#[test]
fn a_cut_drops_counts_and_heals() {
    in_own_network(|| {
        let (node, peer, other) = (udp(NODE), udp(PEER), udp(OTHER));
        assert!(passes(&peer, &node) && passes(&node, &peer));

        net::cut(1, &[PEER], Direction::Both).unwrap();
        assert!(net::verify_healed(1).is_err());
        assert_eq!(net::packets(&net::counters(1).unwrap()), 0);
        assert!(!passes(&peer, &node) && !passes(&node, &peer));
        assert!(passes(&other, &node) && passes(&node, &other), "the others are untouched");

        // On one interface each packet leaves and arrives, so that the rule on its way out meets it alone.
        let dropped = net::heal(1).unwrap()[&PEER];
        assert_eq!(dropped.packets_out, 1);
        assert_eq!(dropped.bytes_out, 29);
        assert_eq!(dropped.packets_in, 1);
        net::verify_healed(1).unwrap();
        assert!(passes(&peer, &node) && passes(&node, &peer));
        assert!(net::heal(1).unwrap().is_empty(), "healing again is no error");
    });
}

#[test]
fn one_way_cuts_leave_the_other_way() {
    in_own_network(|| {
        let (node, peer) = (udp(NODE), udp(PEER));
        net::cut(1, &[PEER], Direction::In).unwrap();
        assert!(!passes(&peer, &node) && passes(&node, &peer));
        net::heal(1).unwrap();
        net::cut(1, &[PEER], Direction::Out).unwrap();
        assert!(passes(&peer, &node) && !passes(&node, &peer));
        net::heal(1).unwrap();
    });
}

#[test]
fn faults_are_independent() {
    in_own_network(|| {
        let (node, peer, other) = (udp(NODE), udp(PEER), udp(OTHER));
        net::cut(1, &[PEER, OTHER], Direction::In).unwrap();
        net::cut(2, &[PEER], Direction::In).unwrap();
        assert!(matches!(net::cut(2, &[OTHER], Direction::In), Err(NetError::Exists(2))));
        net::heal(1).unwrap();
        assert!(passes(&other, &node) && !passes(&peer, &node));
        net::heal(2).unwrap();
        assert!(passes(&peer, &node));
    });
}

#[test]
fn many_peers_fit() {
    in_own_network(|| {
        let peers: Vec<_> = (1..=250).map(|n| Ipv4Addr::new(10, 0, 0, n)).collect();
        net::cut(7, &peers, Direction::Both).unwrap();
        assert_eq!(net::heal(7).unwrap().len(), 250);
    });
}

#[test]
fn established_connections_are_cut_and_go_on() {
    in_own_network(|| {
        let listener = TcpListener::bind((PEER, 7001)).unwrap();
        let mut node = TcpStream::connect((PEER, 7001)).unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        peer.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let mut byte = [0];

        net::cut(1, &[PEER], Direction::Both).unwrap();
        node.write_all(b"a").unwrap();
        assert!(peer.read(&mut byte).is_err(), "it came through");
        assert!(net::packets(&net::heal(1).unwrap()) > 0);
        peer.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        assert_eq!(peer.read(&mut byte).unwrap(), 1);
    });
}
