//! Rules on packets, tried between addresses of the loopback interface of a fresh network namespace.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
mod cuts;
mod delays;

use std::{
    fs,
    net::{Ipv4Addr, UdpSocket},
    os::fd::AsRawFd,
    thread,
    time::Duration,
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
