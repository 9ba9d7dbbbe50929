//! Datagrams: may be lost, doubled, overtaken. What consensus peers talk over here: their own
//! protocol copes with all of that, so a stream's bookkeeping would show nothing more.

use std::{any::Any, collections::VecDeque, future::poll_fn, rc::Rc, task::Poll};

use super::{Fate, Payload, Port};
use crate::kernel::{
    Core,
    node::{Node, NodeId},
    waker::Waiter,
};

/// What a socket holds at most; more is dropped, as a kernel does.
const QUEUE_MAX: usize = 4096;

#[derive(Default)]
pub(super) struct Queue {
    messages: VecDeque<(NodeId, Box<dyn Any>)>,
    reader: Waiter,
}

/// Receives the datagrams sent to one port of a node.
pub struct Inbox {
    core: Rc<Core>,
    address: (NodeId, Port),
}

impl Node {
    /// Opens a port for datagrams. A second call takes the port over.
    pub fn inbox(&self, port: Port) -> Inbox {
        let address = (self.id(), port);
        self.core.net.borrow_mut().inboxes.insert(address, Queue::default());
        Inbox { core: self.core.clone(), address }
    }

    /// Sends a datagram and forgets it.
    pub fn send_to<T: Payload + Clone>(&self, to: NodeId, port: Port, message: T) {
        let now = self.core.now();
        let mut arrivals = [None; 2];
        {
            let mut net = self.core.net.borrow_mut();
            let link = net.link(self.id(), to);
            if let Fate::Arrives(delay) = link.send(now) {
                arrivals[0] = Some(now + delay + link.held_back());
                arrivals[1] = link.duplicates().then(|| now + delay + link.held_back() + 1);
            }
            net.draw_arrow(self.id(), to, now, arrivals[0], &message);
        }
        let from = self.id();
        self.core.note(now ^ u64::from(from.0) << 40 ^ u64::from(to.0) << 52);
        for arrival in arrivals.into_iter().flatten() {
            assert!(arrival >= now, "nothing arrives before it was sent");
            let (core, message) = (Rc::downgrade(&self.core), message.clone());
            let deliver = move || {
                let Some(core) = core.upgrade() else { return };
                let mut net = core.net.borrow_mut();
                let Some(queue) = net.inboxes.get_mut(&(to, port)) else { return };
                if queue.messages.len() < QUEUE_MAX {
                    assert!(core.now() >= arrival, "nothing is delivered before it arrives");
                    queue.messages.push_back((from, Box::new(message)));
                    queue.reader.wake();
                }
            };
            self.core.call_at(arrival, deliver);
        }
    }
}

impl Inbox {
    /// The next datagram and its sender.
    pub async fn recv<T: Payload>(&self) -> (NodeId, T) {
        poll_fn(|context| {
            let mut net = self.core.net.borrow_mut();
            let Some(queue) = net.inboxes.get_mut(&self.address) else { return Poll::Pending };
            while let Some((from, message)) = queue.messages.pop_front() {
                if let Ok(message) = message.downcast::<T>() {
                    return Poll::Ready((from, *message));
                }
            }
            queue.reader.wait(context.waker());
            Poll::Pending
        })
        .await
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.core.net.borrow_mut().inboxes.remove(&self.address);
    }
}
