//! An NFQUEUE: packets that the kernel keeps until it is told that they may go. Names and numbers are those of
//! <linux/netfilter/nfnetlink_queue.h>.

use std::{net::Ipv4Addr, os::fd::BorrowedFd};

use super::{
    NetError, headers,
    held::Way,
    message::{Attributes, Message, NLM_F_ACK, NLM_F_REQUEST, NLMSG_ERROR, find},
    round_trip,
    socket::Socket,
};

const NFNL_SUBSYS_QUEUE: u16 = 3;

const NFQNL_MSG_PACKET: u16 = 0;
const NFQNL_MSG_VERDICT: u16 = 1;
const NFQNL_MSG_CONFIG: u16 = 2;
const NFQA_PACKET_HDR: u16 = 1;
const NFQA_VERDICT_HDR: u16 = 2;
const NFQA_PAYLOAD: u16 = 10;
const NFQA_CFG_CMD: u16 = 1;
const NFQA_CFG_PARAMS: u16 = 2;
const NFQA_CFG_QUEUE_MAXLEN: u16 = 3;
const NFQA_CFG_MASK: u16 = 4;
const NFQA_CFG_FLAGS: u16 = 5;
const NFQNL_CFG_CMD_BIND: u8 = 1;
const NFQNL_COPY_PACKET: u8 = 2;
/// Packets that are yet to be cut into segments come whole.
const NFQA_CFG_F_GSO: u32 = 4;
const NF_ACCEPT: u32 = 1;
const NF_INET_LOCAL_IN: u8 = 1;

/// So much of each packet is looked at: the longest IPv4 header, and the ports behind it.
const LOOKED_AT: u32 = 64;
/// Packets that wait at most. What comes beyond is dropped, as by a link whose buffer is full.
const LENGTH: u32 = 1 << 17;
/// Verdicts that are sent at once.
const AT_ONCE: usize = 64;

/// A queue of this network namespace. Dropped, the kernel drops what still waits.
pub struct Queue {
    number: u16,
    socket: Socket,
    /// Packets that the kernel no longer had when they were let go.
    flushed: u64,
}

/// A packet that waits for its verdict.
pub struct Packet {
    /// Given in order.
    pub id: u32,
    /// Whose it is.
    pub way: Way,
    /// Whether it is of a measured round trip.
    pub is_of_measure: bool,
}

impl Queue {
    /// Makes the queue of this number, in the namespace of the calling thread.
    pub fn open(number: u16) -> Result<Queue, NetError> {
        let mut socket = Socket::open()?;
        let params = [&LOOKED_AT.to_be_bytes()[..], &[NFQNL_COPY_PACKET]].concat();
        let wanted = Attributes::default()
            .bytes(NFQA_CFG_CMD, &[NFQNL_CFG_CMD_BIND, 0, 0, 0])
            .bytes(NFQA_CFG_PARAMS, &params)
            .number(NFQA_CFG_QUEUE_MAXLEN, LENGTH)
            .number(NFQA_CFG_MASK, NFQA_CFG_F_GSO)
            .number(NFQA_CFG_FLAGS, NFQA_CFG_F_GSO);
        let config = Message::new(queue(NFQNL_MSG_CONFIG), NLM_F_REQUEST | NLM_F_ACK, 0, number, wanted);
        socket.commit("make a queue for packets", vec![config])?;
        Ok(Queue { number, socket, flushed: 0 })
    }

    /// What tells that a packet is there.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.fd()
    }

    /// The packets that are there now, in order.
    pub fn receive(&mut self) -> Result<Vec<Packet>, NetError> {
        let mut packets = Vec::new();
        while let Some(answers) = self.socket.receive_now()? {
            for answer in answers {
                if answer.kind == queue(NFQNL_MSG_PACKET) {
                    packets.push(packet(&answer.attributes()?)?);
                } else if answer.kind == NLMSG_ERROR {
                    self.understand(answer.errno()?)?;
                }
            }
        }
        Ok(packets)
    }

    /// Lets packets go on their way, in this order.
    pub fn accept(&mut self, ids: &[u32]) -> Result<(), NetError> {
        for ids in ids.chunks(AT_ONCE) {
            self.socket.send(ids.iter().map(|id| self.verdict(*id)).collect())?;
        }
        Ok(())
    }

    /// Packets that the kernel dropped while they waited.
    pub fn flushed(&self) -> u64 {
        self.flushed
    }

    fn verdict(&self, id: u32) -> Message {
        let verdict = [NF_ACCEPT.to_be_bytes(), id.to_be_bytes()].concat();
        let attributes = Attributes::default().bytes(NFQA_VERDICT_HDR, &verdict);
        Message::new(queue(NFQNL_MSG_VERDICT), NLM_F_REQUEST, 0, self.number, attributes)
    }

    /// Only verdicts that cannot be followed are answered. The kernel drops what waits in all queues of a namespace
    /// whenever a chain of it goes, and then no longer knows the packet.
    fn understand(&mut self, errno: i32) -> Result<(), NetError> {
        match errno {
            nix::libc::ENOENT => self.flushed += 1,
            0 => {}
            _ => {
                let error = std::io::Error::from_raw_os_error(errno);
                return Err(NetError::Refused { what: "let a packet go", error });
            }
        }
        Ok(())
    }
}

/// Reads a packet and as much of its headers as is needed.
fn packet(attributes: &[(u16, &[u8])]) -> Result<Packet, NetError> {
    let header = find(attributes, NFQA_PACKET_HDR)?;
    let (id, hook) = (u32_at(header, 0)?, *header.get(6).ok_or(NetError::Malformed)?);
    let is_inbound = hook == NF_INET_LOCAL_IN;
    let ip = find(attributes, NFQA_PAYLOAD)?;
    let peer =
        Ipv4Addr::from(u32_at(ip, if is_inbound { headers::SOURCE } else { headers::DESTINATION } as usize)?);
    Ok(Packet { id, way: Way { peer, is_inbound }, is_of_measure: is_of_measure(ip) })
}

/// Whether it is TCP from or to the port that round trips are measured with.
fn is_of_measure(ip: &[u8]) -> bool {
    let tcp = usize::from(ip[0] & 0xf) * 4;
    let is_port = |at: usize| ip.get(at..at + 2).is_some_and(|port| port == round_trip::PORT.to_be_bytes());
    ip.get(headers::PROTOCOL as usize) == Some(&headers::TCP)
        && headers::PORTS.into_iter().any(|at| is_port(tcp + at as usize))
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, NetError> {
    let bytes = bytes.get(at..at + 4).ok_or(NetError::Malformed)?;
    Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

fn queue(kind: u16) -> u16 {
    (NFNL_SUBSYS_QUEUE << 8) | kind
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From 10.0.0.1 to 10.0.0.2, TCP with these ports.
    fn ip(from: u16, to: u16) -> Vec<u8> {
        let mut bytes = vec![0; 24];
        (bytes[0], bytes[9]) = (0x45, 6);
        bytes[12..16].copy_from_slice(&[10, 0, 0, 1]);
        bytes[16..20].copy_from_slice(&[10, 0, 0, 2]);
        bytes[20..22].copy_from_slice(&from.to_be_bytes());
        bytes[22..24].copy_from_slice(&to.to_be_bytes());
        bytes
    }

    fn read(hook: u8, ip: &[u8]) -> Result<Packet, NetError> {
        packet(&[(NFQA_PACKET_HDR, &[0, 0, 0, 7, 8, 0, hook]), (NFQA_PAYLOAD, ip)])
    }

    #[test]
    fn the_peer_is_at_the_other_end() {
        let inbound = read(NF_INET_LOCAL_IN, &ip(7000, 7001)).unwrap();
        assert_eq!(
            (inbound.id, inbound.way.peer, inbound.way.is_inbound),
            (7, Ipv4Addr::new(10, 0, 0, 1), true)
        );
        let outbound = read(3, &ip(7000, 7001)).unwrap();
        assert_eq!((outbound.way.peer, outbound.way.is_inbound), (Ipv4Addr::new(10, 0, 0, 2), false));
    }

    #[test]
    fn a_measure_is_known_by_its_port() {
        assert!(read(3, &ip(7000, round_trip::PORT)).unwrap().is_of_measure);
        assert!(read(1, &ip(round_trip::PORT, 7000)).unwrap().is_of_measure);
        assert!(!read(3, &ip(7000, 7001)).unwrap().is_of_measure);
        let mut udp = ip(7000, round_trip::PORT);
        udp[9] = 17;
        assert!(!read(3, &udp).unwrap().is_of_measure);
        assert!(read(3, &[0x45; 8]).is_err(), "too short to have addresses");
    }
}
