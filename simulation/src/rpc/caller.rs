//! The client's end of a connection.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    fmt::Debug,
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use workloads::error::{OpError, OpResult};

use super::{Ask, Say, within};
use crate::{
    kernel::waker::Waiter,
    net::{Connection, Port},
    node::{Node, NodeId},
};

/// The client's end. After an indeterminate outcome it is finished: later calls fail unsent.
pub struct Caller<Q, R> {
    node: Node,
    connection: Connection<Ask<Q>, Say<R>>,
    limit: Duration,
    next: Cell<u64>,
    waiting: RefCell<Vec<Waiting<R>>>,
    /// Left behind by the last call, for the next.
    spare: Cell<Waiter>,
    finished: Cell<Option<&'static str>>,
}

struct Waiting<R> {
    id: u64,
    reader: Waiter,
    replies: VecDeque<R>,
}

impl<Q: Debug + 'static, R: Debug + 'static> Caller<Q, R> {
    /// Connects; `limit` bounds that and each later call.
    pub async fn open(node: &Node, to: NodeId, port: Port, limit: Duration) -> OpResult<Caller<Q, R>> {
        match within(node, limit, node.connect(to, port)).await {
            None => Err(OpError::Definite("connecting timed out".into())),
            Some(Err(error)) => Err(OpError::Definite(error.to_string())),
            Some(Ok(connection)) => Ok(Caller {
                node: node.clone(),
                connection,
                limit,
                next: Cell::new(1),
                waiting: RefCell::default(),
                spare: Cell::default(),
                finished: Cell::new(None),
            }),
        }
    }

    /// One request, at most once. It is sent at once, so that the future holds no request and is small.
    pub fn call(&self, request: Q) -> impl Future<Output = OpResult<R>> {
        let pending = self.subscribe(request);
        let limit = u64::try_from(self.limit.as_nanos()).unwrap_or(u64::MAX);
        let mut limit = self.node.sleep_until(self.node.now().saturating_add(limit));
        async move {
            let pending = pending?;
            poll_fn(|context| match pending.poll_next(context) {
                Poll::Ready(answer) => Poll::Ready(answer),
                Poll::Pending => Pin::new(&mut limit).poll(context).map(|()| {
                    self.finish("timed out");
                    Err(OpError::Indeterminate("timed out".into()))
                }),
            })
            .await
        }
    }

    /// One request that may take `wait`. Running out cancels it, which leaves the connection usable.
    pub async fn call_within(&self, request: Q, wait: Duration) -> OpResult<R> {
        let pending = self.subscribe(request)?;
        match within(&self.node, wait, pending.next()).await {
            Some(result) => result,
            None => Err(OpError::Indeterminate("timed out waiting".into())),
        }
    }

    /// A request with any number of answers. Dropped, it is cancelled at the server too.
    pub fn subscribe(&self, request: Q) -> OpResult<Pending<'_, Q, R>> {
        if let Some(reason) = self.finished.get() {
            return Err(OpError::Definite(format!("the connection is finished: {reason}")));
        }
        // A real client looks whether its peer is there still before it sends.
        if self.connection.reader.has_ended() {
            return Err(OpError::Definite("the connection is closed: not sent".into()));
        }
        let id = self.listen();
        self.connection.writer.send(Ask::Call(id, request));
        Ok(Pending { caller: self, id, answered: Cell::new(false), kept: Cell::new(false) })
    }

    /// A request whose first answer must come within the limit and is followed by others: its number, for
    /// [`Caller::next_of`] and [`Caller::cancel`].
    pub async fn open_stream(&self, request: Q) -> OpResult<(u64, R)> {
        let pending = self.subscribe(request)?;
        match within(&self.node, self.limit, pending.next()).await {
            Some(first) => {
                let first = first?;
                pending.kept.set(true);
                Ok((pending.id, first))
            }
            None => {
                self.finish("timed out");
                Err(OpError::Indeterminate("timed out".into()))
            }
        }
    }

    /// Whether calls still go out.
    pub fn is_finished(&self) -> bool {
        self.finished.get().is_some() || self.connection.reader.has_ended()
    }

    /// Closes the connection towards the server.
    pub fn hang_up(&self) {
        self.connection.writer.close();
    }

    /// Calls under way end as indeterminate, later ones fail unsent.
    pub fn finish(&self, reason: &'static str) {
        finish(&self.finished, &mut self.waiting.borrow_mut(), reason);
    }

    fn listen(&self) -> u64 {
        let id = self.next.replace(self.next.get() + 1);
        debug_assert!(
            self.waiting.borrow().iter().all(|waiting| waiting.id != id),
            "requests have numbers of their own"
        );
        self.waiting.borrow_mut().push(Waiting { id, reader: self.spare.take(), replies: VecDeque::new() });
        id
    }

    fn poll_reply(&self, id: u64, context: &mut Context<'_>) -> Poll<OpResult<R>> {
        let mut waiting = self.waiting.borrow_mut();
        let own = waiting.iter().position(|waiting| waiting.id == id);
        if let Some(reply) = own.and_then(|own| waiting[own].replies.pop_front()) {
            return Poll::Ready(Ok(reply));
        }
        while self.finished.get().is_none() {
            match self.connection.reader.poll_recv(context) {
                Poll::Ready(Ok(Say(of, reply))) => {
                    assert!(of < self.next.get(), "only a request that was made is answered");
                    if of == id {
                        return Poll::Ready(Ok(reply));
                    }
                    deliver(&mut waiting, of, reply);
                }
                Poll::Ready(Err(_)) => {
                    finish(&self.finished, &mut waiting, "connection closed by the server")
                }
                Poll::Pending => {
                    own.into_iter().for_each(|own| waiting[own].reader.wait(context.waker()));
                    return Poll::Pending;
                }
            }
        }
        Poll::Ready(Err(OpError::Indeterminate(self.finished.get().unwrap_or_default().into())))
    }
}

/// Whoever reads the connection reads for all.
fn deliver<R>(waiting: &mut [Waiting<R>], id: u64, reply: R) {
    if let Some(other) = waiting.iter_mut().find(|waiting| waiting.id == id) {
        other.replies.push_back(reply);
        other.reader.wake();
    }
}

fn finish<R>(finished: &Cell<Option<&'static str>>, waiting: &mut [Waiting<R>], reason: &'static str) {
    finished.set(finished.get().or(Some(reason)));
    waiting.iter_mut().for_each(|waiting| waiting.reader.wake());
}

impl<Q: Debug + 'static, R: Debug + 'static> Caller<Q, R> {
    fn unlisten(&self, id: u64) {
        let mut waiting = self.waiting.borrow_mut();
        if let Some(at) = waiting.iter().position(|waiting| waiting.id == id) {
            let mut gone = waiting.swap_remove(at).reader;
            gone.rest();
            self.spare.set(gone);
        }
        // The one that leaves may have been the reader: another takes over.
        waiting.last_mut().into_iter().for_each(|other| other.reader.wake());
    }
}

/// A request under way.
pub struct Pending<'a, Q: Debug + 'static, R: Debug + 'static> {
    caller: &'a Caller<Q, R>,
    id: u64,
    answered: Cell<bool>,
    kept: Cell<bool>,
}

impl<Q: Debug + 'static, R: Debug + 'static> Pending<'_, Q, R> {
    /// The next answer; dropping the call loses nothing.
    pub async fn next(&self) -> OpResult<R> {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&self, context: &mut Context<'_>) -> Poll<OpResult<R>> {
        let answer = self.caller.poll_reply(self.id, context);
        self.answered.set(self.answered.get() || answer.is_ready());
        answer
    }
}

impl<Q: Debug + 'static, R: Debug + 'static> Drop for Pending<'_, Q, R> {
    fn drop(&mut self) {
        match (self.kept.get(), self.answered.get()) {
            (true, _) => {}
            (false, true) => self.caller.unlisten(self.id),
            (false, false) => self.caller.cancel(self.id),
        }
    }
}

impl<Q: Debug + 'static, R: Debug + 'static> Caller<Q, R> {
    /// The next answer to a subscription.
    pub async fn next_of(&self, id: u64) -> OpResult<R> {
        poll_fn(|context| self.poll_reply(id, context)).await
    }

    /// Ends a subscription.
    pub fn cancel(&self, id: u64) {
        self.unlisten(id);
        if self.finished.get().is_none() {
            self.connection.writer.send(Ask::Cancel(id));
        }
    }
}
