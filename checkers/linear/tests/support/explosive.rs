//! A history whose search explodes.

use linear::{
    model::OpOf,
    models::{
        FifoQueue,
        queue::{QueueInput, QueueOutput},
    },
    op::Op,
};

/// `clients` enqueue different elements all at once; at the end one element leaves that is not at the head of any order
/// with another one at its heels: every order of the enqueues must be tried, and each leads to a state of its own. Two
/// equal elements keep special checkers away.
pub fn history(clients: u32) -> Vec<OpOf<FifoQueue<u32>>> {
    let end = u64::from(clients) + 1;
    let enqueue = |client: u32| {
        Op::ok(client, u64::from(client), end, QueueInput::Enqueue(client / 2), QueueOutput::Done)
    };
    let mut ops: Vec<OpOf<FifoQueue<u32>>> = (0..clients).map(enqueue).collect();
    for client in 0..clients {
        let call = end + 1 + u64::from(client) * 2;
        // The last element is one that never came.
        let value = if client + 1 == clients { u32::MAX } else { client / 2 };
        ops.push(Op::ok(client, call, call + 1, QueueInput::Dequeue, QueueOutput::Value(value)));
    }
    ops
}
