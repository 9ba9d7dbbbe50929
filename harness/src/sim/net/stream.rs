//! Streams: ordered, without loss while they live, as TCP gives them. A lost packet shows as delay, for
//! everything behind it too; retransmission backs off as Linux does (200 ms, doubling, at most 120 s).

use std::{
    any::Any,
    cell::Cell,
    collections::VecDeque,
    future::poll_fn,
    rc::Rc,
    task::{Context, Poll},
};

use super::{Fate, Net, Payload, Port};
use crate::sim::{
    executor::Core,
    node::{Node, NodeId},
    timer::Event,
    waker::Waiter,
};

const RETRANSMIT_NS_MIN: u64 = 200_000_000;
const RETRANSMIT_NS_MAX: u64 = 120_000_000_000;
/// Linux sends a SYN again after one second, then doubles.
const SYN_RETRY_NS: u64 = 1_000_000_000;

/// The peer closed the connection or died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("connection closed by the peer")]
pub struct Closed;

/// Nobody listens there: nothing was sent, so whatever was meant has had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("connection refused")]
pub struct ConnectError;

enum Item {
    Data(Box<dyn Any>),
    Fin,
}

/// Waits for retransmission.
struct Unsent {
    sent: u64,
    label: Option<String>,
    item: Item,
}

/// One direction of a connection.
pub(super) struct Stream {
    from: NodeId,
    to: NodeId,
    generation: u32,
    in_flight: VecDeque<(u64, Item)>,
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
}

/// Pending connections of a listener: client, stream from it, stream to it.
#[derive(Default)]
pub(super) struct Backlog {
    pending: VecDeque<(NodeId, u32, u32)>,
    acceptor: Waiter,
}

/// One end of a connection. Dropped, it closes.
pub struct Connection {
    core: Rc<Core>,
    peer: NodeId,
    incoming: u32,
    outgoing: u32,
    closed: Cell<bool>,
}

/// Accepts connections on one port. Dropped, the port refuses.
pub struct Listener {
    core: Rc<Core>,
    address: (NodeId, Port),
}

impl Node {
    /// Listens on `port`; a second call takes the port over.
    pub fn listen(&self, port: Port) -> Listener {
        let address = (self.id(), port);
        self.core.net.borrow_mut().listeners.insert(address, Backlog::default());
        Listener { core: self.core.clone(), address }
    }

    /// Connects to `port` of `to`. Waits without end while packets are lost: give it a time limit.
    pub async fn connect(&self, to: NodeId, port: Port) -> Result<Connection, ConnectError> {
        let mut retry = SYN_RETRY_NS;
        loop {
            let sent = self.core.now();
            if self.packet(self.id(), to).await {
                let listens = self.core.net.borrow().listeners.contains_key(&(to, port));
                if self.packet(to, self.id()).await {
                    return match listens {
                        true => self.establish(to, port),
                        false => Err(ConnectError),
                    };
                }
            }
            self.sleep_until(sent + retry).await;
            retry = (2 * retry).min(64 * SYN_RETRY_NS);
        }
    }

    /// One packet of a handshake; false when it was lost.
    async fn packet(&self, from: NodeId, to: NodeId) -> bool {
        let fate = self.core.net.borrow_mut().link(from, to).send();
        match fate {
            Fate::Arrives(delay) => {
                self.sleep_until(self.core.now() + delay).await;
                true
            }
            Fate::Lost => false,
        }
    }

    fn establish(&self, to: NodeId, port: Port) -> Result<Connection, ConnectError> {
        let mut net = self.core.net.borrow_mut();
        if !net.listeners.contains_key(&(to, port)) {
            return Err(ConnectError);
        }
        let outgoing = net.open_stream(self.id(), to);
        let incoming = net.open_stream(to, self.id());
        let backlog = net.listeners.get_mut(&(to, port)).ok_or(ConnectError)?;
        backlog.pending.push_back((self.id(), outgoing, incoming));
        backlog.acceptor.wake();
        drop(net);
        Ok(Connection { core: self.core.clone(), peer: to, incoming, outgoing, closed: Cell::new(false) })
    }
}

impl Listener {
    /// The next connection.
    pub async fn accept(&self) -> Connection {
        poll_fn(|context| {
            let mut net = self.core.net.borrow_mut();
            let Some(backlog) = net.listeners.get_mut(&self.address) else { return Poll::Pending };
            match backlog.pending.pop_front() {
                Some((peer, incoming, outgoing)) => Poll::Ready(Connection {
                    core: self.core.clone(),
                    peer,
                    incoming,
                    outgoing,
                    closed: Cell::new(false),
                }),
                None => {
                    backlog.acceptor.wait(context.waker());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let backlog = self.core.net.borrow_mut().listeners.remove(&self.address);
        let pending = backlog.into_iter().flat_map(|backlog| backlog.pending);
        for (peer, incoming, outgoing) in pending {
            drop(Connection { core: self.core.clone(), peer, incoming, outgoing, closed: Cell::new(false) });
        }
    }
}

impl Connection {
    /// The node at the other end.
    pub fn peer(&self) -> NodeId {
        self.peer
    }

    /// Sends a message. Never waits; what cannot pass is sent again until the connection ends.
    pub fn send<T: Payload>(&self, message: T) {
        let label = self.core.net.borrow().arrows.is_some().then(|| format!("{message:?}"));
        transmit(&self.core, self.outgoing, Item::Data(Box::new(message)), label);
    }

    /// Closes it towards the peer, who still gets what was sent before.
    pub fn close(&self) {
        if !self.closed.replace(true) {
            transmit(&self.core, self.outgoing, Item::Fin, None);
        }
    }

    /// Whether the peer's end has arrived; messages before it may still be there to be received.
    pub fn has_ended(&self) -> bool {
        let (net, now) = (self.core.net.borrow(), self.core.now());
        let last = net.streams.get(self.incoming as usize).and_then(|stream| stream.in_flight.back());
        matches!(last, Some((arrival, Item::Fin)) if *arrival <= now)
    }

    /// The next message. Only one task may wait at a time.
    pub async fn recv<T: Payload>(&self) -> Result<T, Closed> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// See [`Connection::recv`]; wakes the last caller.
    pub fn poll_recv<T: Payload>(&self, context: &mut Context<'_>) -> Poll<Result<T, Closed>> {
        let mut net = self.core.net.borrow_mut();
        let now = self.core.now();
        let Some(stream) = net.streams.get_mut(self.incoming as usize) else { return Poll::Pending };
        match stream.in_flight.front() {
            Some((arrival, Item::Data(_))) if *arrival <= now => {}
            Some((arrival, Item::Fin)) if *arrival <= now => return Poll::Ready(Err(Closed)),
            _ => {
                stream.reader.wait(context.waker());
                return Poll::Pending;
            }
        }
        match stream.in_flight.pop_front() {
            // A message of another type is a protocol error, which ends a real connection too.
            Some((_, Item::Data(data))) => Poll::Ready(data.downcast().map(|m| *m).map_err(|_| Closed)),
            _ => Poll::Ready(Err(Closed)),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
        let mut net = self.core.net.borrow_mut();
        net.leave(self.outgoing, |stream| stream.writer_gone = true);
        net.leave(self.incoming, |stream| {
            stream.reader_gone = true;
            stream.reader = Waiter::default();
        });
    }
}

impl Net {
    fn open_stream(&mut self, from: NodeId, to: NodeId) -> u32 {
        let slot = self.free_streams.pop().unwrap_or(self.streams.len() as u32);
        let generation = self.streams.get(slot as usize).map_or(0, |old| old.generation.wrapping_add(1));
        let stream = Stream {
            from,
            to,
            generation,
            in_flight: VecDeque::new(),
            last_arrival: 0,
            unsent: VecDeque::new(),
            backoff: RETRANSMIT_NS_MIN,
            reader: Waiter::default(),
            reader_gone: false,
            writer_gone: false,
        };
        match self.streams.get_mut(slot as usize) {
            Some(old) => *old = stream,
            None => self.streams.push(stream),
        }
        slot
    }

    /// Takes one end away; the slot is free again when both ends are gone and nothing is under way.
    fn leave(&mut self, slot: u32, change: impl FnOnce(&mut Stream)) {
        let Some(stream) = self.streams.get_mut(slot as usize) else { return };
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

fn transmit(core: &Rc<Core>, slot: u32, item: Item, label: Option<String>) {
    let now = core.now();
    let mut guard = core.net.borrow_mut();
    let net = &mut *guard;
    let Some(stream) = net.streams.get_mut(slot as usize).filter(|stream| !stream.reader_gone) else {
        return;
    };
    core.note(now ^ (u64::from(slot) << 40));
    if !stream.unsent.is_empty() {
        stream.unsent.push_back(Unsent { sent: now, label, item });
        return;
    }
    match net.links[stream.from.index()][stream.to.index()].send() {
        Fate::Arrives(delay) => {
            let arrival = stream.last_arrival.max(now + delay);
            stream.last_arrival = arrival;
            stream.in_flight.push_back((arrival, item));
            core.schedule(arrival, Event::Arrival(slot));
            let (from, to) = (stream.from, stream.to);
            net.label_arrow(from, to, now, Some(arrival), label);
        }
        Fate::Lost => {
            stream.backoff = RETRANSMIT_NS_MIN;
            let (from, to, generation) = (stream.from, stream.to, stream.generation);
            stream.unsent.push_back(Unsent { sent: now, label: label.clone(), item });
            net.label_arrow(from, to, now, None, label);
            drop(guard);
            retransmit_later(core, slot, generation, RETRANSMIT_NS_MIN);
        }
    }
}

fn retransmit_later(core: &Rc<Core>, slot: u32, generation: u32, after: u64) {
    let weak = Rc::downgrade(core);
    let call = move || {
        if let Some(core) = weak.upgrade() {
            retransmit(&core, slot, generation);
        }
    };
    core.schedule(core.now() + after, Event::Call(Box::new(call)));
}

fn retransmit(core: &Rc<Core>, slot: u32, generation: u32) {
    let now = core.now();
    let mut guard = core.net.borrow_mut();
    let net = &mut *guard;
    let current = net.streams.get_mut(slot as usize).filter(|s| s.generation == generation && !s.reader_gone);
    let Some(stream) = current else { return };
    match net.links[stream.from.index()][stream.to.index()].send() {
        Fate::Arrives(delay) => {
            let arrival = stream.last_arrival.max(now + delay);
            stream.last_arrival = arrival;
            let (from, to) = (stream.from, stream.to);
            let unsent = std::mem::take(&mut stream.unsent);
            for late in unsent {
                net.streams[slot as usize].in_flight.push_back((arrival, late.item));
                core.schedule(arrival, Event::Arrival(slot));
                net.label_arrow(from, to, late.sent, Some(arrival), late.label);
            }
        }
        Fate::Lost => {
            stream.backoff = (2 * stream.backoff).min(RETRANSMIT_NS_MAX);
            let backoff = stream.backoff;
            drop(guard);
            retransmit_later(core, slot, generation, backoff);
        }
    }
}
