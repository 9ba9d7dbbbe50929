//! Requests and replies over a stream, several at once: what store clients and servers are made of.

mod caller;
mod server;

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

pub use caller::{Caller, Pending};
pub use server::{Request, Responder, serve, serve_each};

use super::node::Node;

/// Client to server.
#[derive(Debug)]
enum Ask<Q> {
    Call(u64, Q),
    /// The caller no longer wants the answer.
    Cancel(u64),
}

/// Server to client.
#[derive(Debug)]
struct Say<R>(u64, R);

/// Runs `future` for at most `limit`; a result that is ready at the limit wins.
pub async fn within<T>(node: &Node, limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let nanos = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
    let mut sleep = node.sleep_until(node.now().saturating_add(nanos));
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Pin::new(&mut sleep).poll(context).map(|()| None),
    })
    .await
}
