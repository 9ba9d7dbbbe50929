//! Delays.

use std::{
    fs,
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket},
    process, thread,
    time::{Duration, Instant},
};

use nemesis::{
    net::{self, Shaper},
    verbs::{Delay, Direction},
};
use nix::{
    sys::{
        signal::{Signal, kill},
        wait::waitpid,
    },
    unistd::{ForkResult, fork},
};

use crate::{NODE, OTHER, PEER, in_own_network, udp};

const MS: Duration = Duration::from_millis(1);
/// What a packet that nobody holds takes at most, on a machine with much to do.
const FREE: Duration = Duration::from_millis(200);

fn delay(by_ms: u64, jitter_ms: u64) -> Delay {
    Delay { by_ms, jitter_ms }
}

/// How long one packet takes.
fn takes(from: &UdpSocket, to: &UdpSocket) -> Duration {
    to.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let sent = Instant::now();
    from.send_to(b"x", to.local_addr().unwrap()).unwrap();
    to.recv(&mut [0; 8]).unwrap();
    sent.elapsed()
}

/// What the kernel says of the queues of this thread's namespace.
fn queues() -> String {
    fs::read_to_string("/proc/thread-self/net/netfilter/nfnetlink_queue").unwrap()
}

#[test]
fn packets_are_held_one_way_counted_and_let_go() {
    in_own_network(|| {
        let (node, peer, other) = (udp(NODE), udp(PEER), udp(OTHER));
        assert!(takes(&node, &peer) < FREE);
        let mut shaper = Shaper::start(1, &[PEER], Direction::Out, delay(300, 0)).unwrap();
        let held = takes(&node, &peer);
        assert!((300 * MS..500 * MS).contains(&held), "{held:?}");
        assert!(takes(&peer, &node) < FREE, "the other way is free");
        assert!(takes(&node, &other) < FREE, "so are others");

        let shown = shaper.end().unwrap();
        let ways = shown.held[&PEER.to_string()];
        let out = ways.outbound.unwrap();
        assert_eq!((shown.packets, shown.lost, out.packets, ways.inbound), (1, 0, 1, None));
        assert!((300_000..500_000).contains(&out.greatest_us) && out.mean_us == out.greatest_us, "{out:?}");
        assert!(takes(&node, &peer) < FREE);
        assert_eq!(queues(), "");
        assert_eq!(shaper.end().unwrap(), shown, "ended again, it says the same");
    });
}

#[test]
fn round_trips_are_measured_before_meanwhile_and_after_and_count_for_nothing() {
    in_own_network(|| {
        let mut shaper = Shaper::start(1, &[PEER], Direction::Both, delay(300, 0)).unwrap();
        thread::sleep(900 * MS);
        let shown = shaper.end().unwrap();
        let round_trip = shown.round_trip[&PEER.to_string()];
        assert!(round_trip.before_us.unwrap() < 200_000, "{round_trip:?}");
        assert!((600_000..900_000).contains(&round_trip.during_us.unwrap()), "{round_trip:?}");
        assert!(round_trip.after_us.unwrap() < 200_000, "{round_trip:?}");
        assert_eq!((shown.packets, shown.lost), (0, 0), "what was measured is not what was hit");
    });
}

#[test]
fn the_end_does_not_wait_for_what_is_held() {
    in_own_network(|| {
        let (node, peer) = (udp(NODE), udp(PEER));
        peer.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut shaper = Shaper::start(1, &[PEER], Direction::Out, delay(60_000, 1000)).unwrap();
        for n in 0..100u8 {
            node.send_to(&[n], peer.local_addr().unwrap()).unwrap();
        }
        let shown = shaper.end().unwrap();
        assert_eq!((shown.packets, shown.lost), (100, 0));
        let mut byte = [0];
        let came: Vec<u8> = (0..100).map(|_| (peer.recv(&mut byte).unwrap(), byte[0]).1).collect();
        assert!(came.is_sorted(), "they go in order: {came:?}");
    });
}

#[test]
fn jitter_stays_within_its_bounds_and_keeps_the_order() {
    in_own_network(|| {
        let (node, peer) = (udp(NODE), udp(PEER));
        peer.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut shaper = Shaper::start(1, &[PEER], Direction::In, delay(100, 80)).unwrap();
        let sent = thread::spawn(move || {
            for n in 0..150u8 {
                peer.send_to(&[n], (NODE, 7000)).unwrap();
                thread::sleep(MS);
            }
        });
        node.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut byte = [0];
        let came: Vec<u8> = (0..150).map(|_| (node.recv(&mut byte).unwrap(), byte[0]).1).collect();
        sent.join().unwrap();
        assert!(came.is_sorted(), "{came:?}");
        let held = shaper.end().unwrap().held[&PEER.to_string()].inbound.unwrap();
        assert_eq!(held.packets, 150);
        assert!((100_000..380_000).contains(&held.greatest_us), "{held:?}");
        assert!((60_000..300_000).contains(&held.mean_us), "{held:?}");
    });
}

#[test]
fn delays_of_one_node_add_up_and_meet_cuts_at_their_end() {
    in_own_network(|| {
        let (node, peer) = (udp(NODE), udp(PEER));
        let mut first = Shaper::start(1, &[PEER], Direction::Out, delay(300, 0)).unwrap();
        let mut second = Shaper::start(2, &[PEER], Direction::Out, delay(200, 0)).unwrap();
        let held = takes(&node, &peer);
        assert!((500 * MS..700 * MS).contains(&held), "{held:?}");
        node.send_to(b"x", peer.local_addr().unwrap()).unwrap();
        net::cut(3, &[PEER], Direction::Out).unwrap();
        thread::sleep(700 * MS);
        assert_eq!(net::heal(3).unwrap()[&PEER].packets_out, 1, "held when the cut came, it is cut");
        assert_eq!((second.end().unwrap().packets, first.end().unwrap().packets), (2, 2));
        assert!(takes(&node, &peer) < FREE);
    });
}

#[test]
fn a_cut_that_meets_nothing_but_a_measure_has_met_nothing() {
    in_own_network(|| {
        net::cut(2, &[PEER], Direction::Both).unwrap();
        let mut shaper = Shaper::start(1, &[PEER], Direction::Out, delay(1, 0)).unwrap();
        thread::sleep(100 * MS);
        let round_trip = shaper.end().unwrap().round_trip[&PEER.to_string()];
        assert_eq!((round_trip.before_us, round_trip.during_us, round_trip.after_us), (None, None, None));
        assert_eq!(net::packets(&net::counters(2).unwrap()), 0);
        assert!(TcpStream::connect_timeout(&(PEER, 2).into(), 100 * MS).is_err());
        assert!(net::packets(&net::heal(2).unwrap()) > 0, "another port's is met");
    });
}

#[test]
fn what_waits_when_the_rules_of_another_fault_go_is_lost_and_told() {
    in_own_network(|| {
        let (node, peer) = (udp(NODE), udp(PEER));
        let mut shaper = Shaper::start(1, &[PEER], Direction::Out, delay(200, 0)).unwrap();
        // The measure's own packets are through by then.
        thread::sleep(500 * MS);
        net::cut(2, &[OTHER], Direction::Out).unwrap();
        node.send_to(b"x", peer.local_addr().unwrap()).unwrap();
        thread::sleep(20 * MS);
        net::heal(2).unwrap();
        thread::sleep(250 * MS);
        assert_eq!(shaper.end().unwrap().lost, 1);
    });
}

#[test]
fn connections_go_on_at_thousands_of_packets_a_second() {
    in_own_network(|| {
        let listener = TcpListener::bind((PEER, 7001)).unwrap();
        let mut node = TcpStream::connect((PEER, 7001)).unwrap();
        node.set_nodelay(true).unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        let mut shaper = Shaper::start(1, &[PEER], Direction::Both, delay(20, 10)).unwrap();
        let sent = thread::spawn(move || {
            for n in 0..10_000u32 {
                node.write_all(&n.to_be_bytes()).unwrap();
                if n % 10 == 0 {
                    thread::sleep(MS);
                }
            }
            node
        });
        let mut bytes = vec![0; 40_000];
        peer.read_exact(&mut bytes).unwrap();
        let came = bytes.chunks(4).map(|n| u32::from_be_bytes([n[0], n[1], n[2], n[3]]));
        assert!(came.eq(0..10_000));
        drop(sent.join().unwrap());
        let shown = shaper.end().unwrap();
        assert_eq!(shown.lost, 0);
        assert!(shown.packets > 100, "{}", shown.packets);
    });
}

#[test]
fn datagrams_pass_at_thousands_a_second_and_none_is_lost() {
    in_own_network(|| {
        let (node, peer) = (udp(NODE), udp(PEER));
        let mut shaper = Shaper::start(1, &[PEER], Direction::Out, delay(100, 50)).unwrap();
        let address = peer.local_addr().unwrap();
        peer.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let came = thread::spawn(move || {
            (0..10_000).map(|_| peer.recv(&mut [0; 8]).map(drop)).take_while(Result::is_ok).count()
        });
        for n in 0..10_000 {
            node.send_to(b"x", address).unwrap();
            if n % 10 == 0 {
                thread::sleep(MS);
            }
        }
        assert_eq!(came.join().unwrap(), 10_000);
        let shown = shaper.end().unwrap();
        let held = shown.held[&PEER.to_string()].outbound.unwrap();
        assert_eq!((held.packets, shown.lost), (10_000, 0));
    });
}

/// As with an agent that dies while its container lives on, which none does.
#[test]
fn nothing_is_held_once_the_process_at_the_queue_is_killed() {
    in_own_network(|| {
        let (node, peer) = (udp(NODE), udp(PEER));
        // SAFETY: the child makes a delay and waits to be killed; no lock that it takes is held by another thread here.
        let child = match unsafe { fork() }.unwrap() {
            ForkResult::Parent { child } => child,
            ForkResult::Child => {
                let shaper = Shaper::start(1, &[PEER], Direction::Out, delay(60_000, 0));
                if shaper.is_ok() {
                    thread::sleep(Duration::from_secs(20));
                }
                process::exit(1);
            }
        };
        let until = Instant::now() + Duration::from_secs(5);
        while queues().is_empty() && Instant::now() < until {
            thread::sleep(MS);
        }
        thread::sleep(500 * MS);
        assert!(peer.set_read_timeout(Some(100 * MS)).is_ok());
        node.send_to(b"x", peer.local_addr().unwrap()).unwrap();
        assert!(peer.recv(&mut [0; 8]).is_err(), "it is held");
        kill(child, Signal::SIGKILL).unwrap();
        waitpid(child, None).unwrap();
        assert_eq!(queues(), "");
        assert!(peer.recv(&mut [0; 8]).is_err(), "what was held is lost");
        assert!(takes(&node, &peer) < FREE, "all else passes");
    });
}

#[test]
fn many_peers_fit() {
    in_own_network(|| {
        let peers: Vec<_> = (1..=100).map(|n| Ipv4Addr::new(127, 0, 1, n)).collect();
        let mut shaper = Shaper::start(7, &peers, Direction::Both, delay(10, 0)).unwrap();
        let shown = shaper.end().unwrap();
        assert_eq!((shown.held.len(), shown.round_trip.len()), (100, 100));
    });
}
