//! How connections come about: a handshake of two packets, and those who accept.

use std::{
    any::Any,
    collections::VecDeque,
    future::poll_fn,
    marker::PhantomData,
    rc::Rc,
    task::{Context, Poll},
};

use super::{
    Fate, Payload, Port,
    connection::{Connection, End, Fifo},
};
use crate::kernel::{
    Core,
    node::{Node, NodeId},
    waker::Waiter,
};

/// Linux sends a SYN again after one second, then doubles.
const SYN_RETRY_NS: u64 = 1_000_000_000;

/// Nobody listens there: nothing was sent, so whatever was meant has had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("connection refused")]
pub struct ConnectError;

/// Accepts connections on one port. Dropped, the port refuses.
pub struct Listener<S, R> {
    core: Rc<Core>,
    address: (NodeId, Port),
    speaks: PhantomData<(S, R)>,
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
        let fate = self.core.net.borrow_mut().link(from, to).send(self.core.now());
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
