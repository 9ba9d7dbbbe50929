//! Streams: ordered, without loss while they live, as TCP gives them. A lost packet shows as delay, for
//! everything behind it too; retransmission backs off as Linux does (200 ms, doubling, at most 120 s).

use std::{
    any::Any,
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::poll_fn,
    marker::PhantomData,
    rc::Rc,
    task::{Context, Poll},
};

use super::{Fate, Net, Payload, Port};
use crate::sim::{
    executor::Core,
    node::{Node, NodeId},
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

/// What travels one way, in order. When each arrives is told by the stream, which does not know their type.
type Fifo<T> = Rc<RefCell<VecDeque<T>>>;

/// A packet of a stream: the next message of its queue, or the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Packet {
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
    in_flight: VecDeque<(u64, Packet)>,
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

/// A connection that waits to be accepted: client, stream from it, stream to it, and the queues of both.
struct Knock {
    client: NodeId,
    incoming: u32,
    outgoing: u32,
    queues: Box<dyn Any>,
}

/// Pending connections of a listener.
#[derive(Default)]
pub(super) struct Backlog {
    pending: VecDeque<Knock>,
    acceptor: Waiter,
}

/// One end of a connection, whatever travels on it. Dropped, it closes.
struct End {
    core: Rc<Core>,
    peer: NodeId,
    incoming: u32,
    outgoing: u32,
    closed: Cell<bool>,
}

/// One end of a connection that sends `S` and receives `R`. It closes when both halves are dropped.
pub struct Connection<S, R> {
    /// What it sends with.
    pub writer: Writer<S>,
    /// What it receives with.
    pub reader: Reader<R>,
}

/// The half of an end that sends.
pub struct Writer<S> {
    end: Rc<End>,
    sent: Fifo<S>,
}

/// The half of an end that receives.
pub struct Reader<R> {
    end: Rc<End>,
    received: Fifo<R>,
}

/// Accepts connections on one port. Dropped, the port refuses.
pub struct Listener<S, R> {
    core: Rc<Core>,
    address: (NodeId, Port),
    speaks: PhantomData<(S, R)>,
}

impl Node {
    /// Listens on `port`; a second call takes the port over.
    pub fn listen<S: Payload, R: Payload>(&self, port: Port) -> Listener<S, R> {
        let address = (self.id(), port);
        self.core.net.borrow_mut().listeners.insert(address, Backlog::default());
        Listener { core: self.core.clone(), address, speaks: PhantomData }
    }

    /// Connects to `port` of `to`. Waits without end while packets are lost: give it a time limit.
    pub async fn connect<S: Payload, R: Payload>(
        &self,
        to: NodeId,
        port: Port,
    ) -> Result<Connection<S, R>, ConnectError> {
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

    fn establish<S: Payload, R: Payload>(
        &self,
        to: NodeId,
        port: Port,
    ) -> Result<Connection<S, R>, ConnectError> {
        let mut net = self.core.net.borrow_mut();
        if !net.listeners.contains_key(&(to, port)) {
            return Err(ConnectError);
        }
        let outgoing = net.open_stream(self.id(), to);
        let incoming = net.open_stream(to, self.id());
        let (sent, received) = (Fifo::<S>::default(), Fifo::<R>::default());
        let queues = Box::new((sent.clone(), received.clone()));
        let backlog = net.listeners.get_mut(&(to, port)).ok_or(ConnectError)?;
        backlog.pending.push_back(Knock {
            client: self.id(),
            incoming: outgoing,
            outgoing: incoming,
            queues,
        });
        backlog.acceptor.wake();
        drop(net);
        Ok(Connection::new(End::new(&self.core, to, incoming, outgoing), sent, received))
    }
}

impl<S: Payload, R: Payload> Listener<S, R> {
    /// The next connection. One whose client speaks otherwise is closed, as a server does that does not understand.
    pub async fn accept(&self) -> Connection<S, R> {
        loop {
            let knock = poll_fn(|context| self.poll_knock(context)).await;
            let end = End::new(&self.core, knock.client, knock.incoming, knock.outgoing);
            if let Ok(queues) = knock.queues.downcast::<(Fifo<R>, Fifo<S>)>() {
                let (received, sent) = *queues;
                return Connection::new(end, sent, received);
            }
        }
    }
}

impl<S, R> Listener<S, R> {
    fn poll_knock(&self, context: &mut Context<'_>) -> Poll<Knock> {
        let mut net = self.core.net.borrow_mut();
        let Some(backlog) = net.listeners.get_mut(&self.address) else { return Poll::Pending };
        match backlog.pending.pop_front() {
            Some(knock) => Poll::Ready(knock),
            None => {
                backlog.acceptor.wait(context.waker());
                Poll::Pending
            }
        }
    }
}

impl<S, R> Drop for Listener<S, R> {
    fn drop(&mut self) {
        let backlog = self.core.net.borrow_mut().listeners.remove(&self.address);
        for knock in backlog.into_iter().flat_map(|backlog| backlog.pending) {
            drop(End::new(&self.core, knock.client, knock.incoming, knock.outgoing));
        }
    }
}

impl<S, R> Connection<S, R> {
    fn new(end: End, sent: Fifo<S>, received: Fifo<R>) -> Connection<S, R> {
        let end = Rc::new(end);
        Connection { writer: Writer { end: end.clone(), sent }, reader: Reader { end, received } }
    }
}

impl<S: Payload> Writer<S> {
    /// The node at the other end.
    pub fn peer(&self) -> NodeId {
        self.end.peer
    }

    /// Sends a message. Never waits; what cannot pass is sent again until the connection ends.
    pub fn send(&self, message: S) {
        let core = &self.end.core;
        let label = core.net.borrow().arrows.is_some().then(|| format!("{message:?}"));
        if transmit(core, self.end.outgoing, Packet::Message, label) {
            self.sent.borrow_mut().push_back(message);
        }
    }

    /// Closes it towards the peer, who still gets what was sent before.
    pub fn close(&self) {
        self.end.close();
    }
}

impl<R: Payload> Reader<R> {
    /// The next message. Only one task may wait at a time.
    pub async fn recv(&self) -> Result<R, Closed> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// See [`Reader::recv`]; wakes the last caller.
    pub fn poll_recv(&self, context: &mut Context<'_>) -> Poll<Result<R, Closed>> {
        self.end.poll_packet(context).map(|packet| match packet {
            Packet::Message => self.received.borrow_mut().pop_front().ok_or(Closed),
            Packet::Fin => Err(Closed),
        })
    }
}

impl End {
    fn new(core: &Rc<Core>, peer: NodeId, incoming: u32, outgoing: u32) -> End {
        End { core: core.clone(), peer, incoming, outgoing, closed: Cell::new(false) }
    }

    fn close(&self) {
        if !self.closed.replace(true) {
            transmit(&self.core, self.outgoing, Packet::Fin, None);
        }
    }

    /// Takes the next packet off; the end stays where it is.
    fn poll_packet(&self, context: &mut Context<'_>) -> Poll<Packet> {
        let mut net = self.core.net.borrow_mut();
        let Some(stream) = net.streams.get_mut(self.incoming as usize) else { return Poll::Pending };
        match stream.in_flight.front() {
            Some((arrival, packet)) if *arrival <= self.core.now() => {
                let packet = *packet;
                if packet == Packet::Message {
                    stream.in_flight.pop_front();
                }
                Poll::Ready(packet)
            }
            _ => {
                stream.reader.wait(context.waker());
                Poll::Pending
            }
        }
    }
}

impl Drop for End {
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

/// Sends a packet; false when nobody is there to receive it.
fn transmit(core: &Rc<Core>, slot: u32, packet: Packet, label: Option<String>) -> bool {
    let now = core.now();
    let mut guard = core.net.borrow_mut();
    let net = &mut *guard;
    let Some(stream) = net.streams.get_mut(slot as usize).filter(|stream| !stream.reader_gone) else {
        return false;
    };
    core.note(now ^ (u64::from(slot) << 40));
    if !stream.unsent.is_empty() {
        stream.unsent.push_back(Unsent { sent: now, label, packet });
        return true;
    }
    match net.links[stream.from.index()][stream.to.index()].send() {
        Fate::Arrives(delay) => {
            let arrival = stream.last_arrival.max(now + delay);
            stream.last_arrival = arrival;
            stream.in_flight.push_back((arrival, packet));
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
    match net.links[stream.from.index()][stream.to.index()].send() {
        Fate::Arrives(delay) => {
            let arrival = stream.last_arrival.max(now + delay);
            stream.last_arrival = arrival;
            let (from, to) = (stream.from, stream.to);
            let unsent = std::mem::take(&mut stream.unsent);
            for late in unsent {
                net.streams[slot as usize].in_flight.push_back((arrival, late.packet));
                core.timers.borrow_mut().arrival(arrival, slot);
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
