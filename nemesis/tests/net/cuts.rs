//! Cuts.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    time::Duration,
};

use nemesis::{
    net::{self, NetError},
    verbs::Direction,
};

use crate::{NODE, OTHER, PEER, in_own_network, passes, udp};

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
