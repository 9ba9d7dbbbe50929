//! Streams: ordered, without loss while they live, as TCP gives them. A lost packet shows as delay, for
//! everything behind it too; retransmission backs off as Linux does (200 ms, doubling, at most 120 s).

use std::{
    collections::VecDeque,
    rc::Rc,
    task::{Context, Poll},
};

use super::{Fate, Net};
use crate::kernel::{Core, node::NodeId, waker::Waiter};

const RETRANSMIT_NS_MIN: u64 = 200_000_000;
const RETRANSMIT_NS_MAX: u64 = 120_000_000_000;

/// A packet of a stream: the next message of its queue, or the end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Packet {
    Message,
    Fin,
}

/// Waits for retransmission.
struct Unsent {
    sent: u64,
    label: Option<String>,
    packet: Packet,
}

/// One direction of a connection.
pub(super) struct Stream {
    from: NodeId,
    to: NodeId,
    generation: u32,
    /// When each packet arrives, in the order of sending, which is that of arrival.
    in_flight: VecDeque<(u64, Packet)>,
    /// Messages taken from the writer.
    accepted: u64,
    /// Messages given to the reader.
    received: u64,
    last_arrival: u64,
    unsent: VecDeque<Unsent>,
    backoff: u64,
    reader: Waiter,
    reader_gone: bool,
    writer_gone: bool,
}

impl Stream {
    pub(super) fn arrival(&mut self) {
        self.reader.wake();
    }

    /// Whether the end has arrived; messages before it may still be there to be received.
    pub(super) fn has_ended(&self, now: u64) -> bool {
        matches!(self.in_flight.back(), Some((arrival, Packet::Fin)) if *arrival <= now)
    }

    /// Takes the next packet off; the end stays where it is.
    pub(super) fn poll_packet(&mut self, now: u64, context: &Context<'_>) -> Poll<Packet> {
        match self.in_flight.front() {
            Some((arrival, packet)) if *arrival <= now => {
                let packet = *packet;
                if packet == Packet::Message {
                    self.received += 1;
                    assert!(self.received <= self.accepted, "nothing is received that was not sent");
                    self.in_flight.pop_front();
                }
                self.keeps_all();
                Poll::Ready(packet)
            }
            _ => {
                self.reader.wait(context.waker());
                Poll::Pending
            }
        }
    }
}

impl Stream {
    /// Lets a packet arrive, behind those before it.
    fn fly(&mut self, arrival: u64, packet: Packet) {
        assert!(arrival >= self.last_arrival, "no packet of a stream overtakes another");
        self.last_arrival = arrival;
        self.in_flight.push_back((arrival, packet));
    }

    /// No message is lost and none comes twice, while there is a reader.
    fn keeps_all(&self) {
        let is_message = |packet: &Packet| *packet == Packet::Message;
        let under_way = || {
            let flying = self.in_flight.iter().filter(|(_, packet)| is_message(packet)).count();
            flying + self.unsent.iter().filter(|unsent| is_message(&unsent.packet)).count()
        };
        debug_assert!(
            self.reader_gone || self.accepted - self.received == under_way() as u64,
            "what was sent is received, or under way"
        );
    }
}

impl Net {
    pub(super) fn open_stream(&mut self, from: NodeId, to: NodeId) -> u32 {
        let slot = self.free_streams.pop().unwrap_or(self.streams.len() as u32);
        let generation = self.streams.get(slot as usize).map_or(0, |old| old.generation.wrapping_add(1));
        let stream = Stream {
            from,
            to,
            generation,
            in_flight: VecDeque::new(),
            accepted: 0,
            received: 0,
            last_arrival: 0,
            unsent: VecDeque::new(),
            backoff: RETRANSMIT_NS_MIN,
            reader: Waiter::default(),
            reader_gone: false,
            writer_gone: false,
        };
        match self.streams.get_mut(slot as usize) {
            Some(old) => {
                assert!(
                    old.reader_gone && old.writer_gone,
                    "a stream's slot is free once both its ends are gone"
                );
                *old = stream;
            }
            None => self.streams.push(stream),
        }
        slot
    }

    pub(super) fn leave_writer(&mut self, slot: u32) {
        self.leave(slot, |stream| stream.writer_gone = true);
    }

    pub(super) fn leave_reader(&mut self, slot: u32) {
        self.leave(slot, |stream| {
            stream.reader_gone = true;
            stream.reader = Waiter::default();
        });
    }

    /// Takes one end away; the slot is free again when both ends are gone and nothing is under way.
    fn leave(&mut self, slot: u32, change: impl FnOnce(&mut Stream)) {
        let Some(stream) = self.streams.get_mut(slot as usize) else { return };
        assert!(!stream.reader_gone || !stream.writer_gone, "each end of a stream leaves once");
        change(stream);
        if stream.reader_gone {
            stream.in_flight.clear();
            stream.unsent.clear();
            if stream.writer_gone {
                stream.generation = stream.generation.wrapping_add(1);
                self.free_streams.push(slot);
            }
        }
    }
}

/// Sends a packet; false when nobody is there to receive it.
pub(super) fn transmit(core: &Rc<Core>, slot: u32, packet: Packet, label: Option<String>) -> bool {
    let now = core.now();
    let mut guard = core.net.borrow_mut();
    let net = &mut *guard;
    let Some(stream) = net.streams.get_mut(slot as usize).filter(|stream| !stream.reader_gone) else {
        return false;
    };
    core.note(now ^ (u64::from(slot) << 40));
    assert!(!stream.writer_gone, "who has left sends nothing");
    stream.accepted += u64::from(packet == Packet::Message);
    if !stream.unsent.is_empty() {
        stream.unsent.push_back(Unsent { sent: now, label, packet });
        return true;
    }
    match net.links[stream.from.index()][stream.to.index()].send(now) {
        Fate::Arrives(delay) => {
            let arrival = stream.last_arrival.max(now + delay);
            stream.fly(arrival, packet);
            stream.keeps_all();
            core.timers.borrow_mut().arrival(arrival, slot);
            let (from, to) = (stream.from, stream.to);
            net.label_arrow(from, to, now, Some(arrival), label);
        }
        Fate::Lost => {
            stream.backoff = RETRANSMIT_NS_MIN;
            let (from, to, generation) = (stream.from, stream.to, stream.generation);
            stream.unsent.push_back(Unsent { sent: now, label: label.clone(), packet });
            net.label_arrow(from, to, now, None, label);
            drop(guard);
            retransmit_later(core, slot, generation, RETRANSMIT_NS_MIN);
        }
    }
    true
}

fn retransmit_later(core: &Rc<Core>, slot: u32, generation: u32, after: u64) {
    let weak = Rc::downgrade(core);
    let call = move || {
        if let Some(core) = weak.upgrade() {
            retransmit(&core, slot, generation);
        }
    };
    core.call_at(core.now() + after, call);
}

fn retransmit(core: &Rc<Core>, slot: u32, generation: u32) {
    let now = core.now();
    let mut guard = core.net.borrow_mut();
    let net = &mut *guard;
    let current = net.streams.get_mut(slot as usize).filter(|s| s.generation == generation && !s.reader_gone);
    let Some(stream) = current else { return };
    assert!(!stream.unsent.is_empty(), "only what was lost is sent again");
    assert!(
        (RETRANSMIT_NS_MIN..=RETRANSMIT_NS_MAX).contains(&stream.backoff),
        "the pause between tries has bounds"
    );
    match net.links[stream.from.index()][stream.to.index()].send(now) {
        Fate::Arrives(delay) => {
            let arrival = stream.last_arrival.max(now + delay);
            let (from, to) = (stream.from, stream.to);
            let unsent = std::mem::take(&mut stream.unsent);
            for late in unsent {
                assert!(late.sent <= now, "nothing arrives before it was sent");
                net.streams[slot as usize].fly(arrival, late.packet);
                core.timers.borrow_mut().arrival(arrival, slot);
                net.label_arrow(from, to, late.sent, Some(arrival), late.label);
            }
            net.streams[slot as usize].keeps_all();
        }
        Fate::Lost => {
            stream.backoff = (2 * stream.backoff).min(RETRANSMIT_NS_MAX);
            let backoff = stream.backoff;
            drop(guard);
            retransmit_later(core, slot, generation, backoff);
        }
    }
}
