//! The ends of a stream, and what travels between them.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    future::poll_fn,
    rc::Rc,
    task::{Context, Poll},
};

use super::{
    Payload,
    stream::{Packet, transmit},
};
use crate::kernel::{Core, node::NodeId};

/// The peer closed the connection or died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("connection closed by the peer")]
pub struct Closed;

/// What travels one way, in order. When each arrives is told by the stream, which does not know their type.
pub(super) type Fifo<T> = Rc<RefCell<VecDeque<T>>>;

/// One end of a connection, whatever travels on it. Dropped, it closes.
pub(super) struct End {
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

impl<S, R> Connection<S, R> {
    pub(super) fn new(end: End, sent: Fifo<S>, received: Fifo<R>) -> Connection<S, R> {
        assert!(end.incoming != end.outgoing, "a connection has a stream each way");
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
    /// Whether the peer's end has arrived; messages before it may still be there to be received.
    pub fn has_ended(&self) -> bool {
        let (net, core) = (self.end.core.net.borrow(), &self.end.core);
        net.streams.get(self.end.incoming as usize).is_some_and(|stream| stream.has_ended(core.now()))
    }

    /// The next message. Only one task may wait at a time.
    pub async fn recv(&self) -> Result<R, Closed> {
        poll_fn(|context| self.poll_recv(context)).await
    }

    /// See [`Reader::recv`]; wakes the last caller.
    pub fn poll_recv(&self, context: &mut Context<'_>) -> Poll<Result<R, Closed>> {
        self.end.poll_packet(context).map(|packet| match packet {
            Packet::Message => {
                let message = self.received.borrow_mut().pop_front();
                assert!(message.is_some(), "a packet that arrives brings its message");
                message.ok_or(Closed)
            }
            Packet::Fin => Err(Closed),
        })
    }
}

impl End {
    pub(super) fn new(core: &Rc<Core>, peer: NodeId, incoming: u32, outgoing: u32) -> End {
        End { core: core.clone(), peer, incoming, outgoing, closed: Cell::new(false) }
    }

    fn close(&self) {
        if !self.closed.replace(true) {
            transmit(&self.core, self.outgoing, Packet::Fin, None);
        }
    }

    fn poll_packet(&self, context: &Context<'_>) -> Poll<Packet> {
        let mut net = self.core.net.borrow_mut();
        let Some(stream) = net.streams.get_mut(self.incoming as usize) else { return Poll::Pending };
        stream.poll_packet(self.core.now(), context)
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.close();
        let mut net = self.core.net.borrow_mut();
        net.leave_writer(self.outgoing);
        net.leave_reader(self.incoming);
    }
}
