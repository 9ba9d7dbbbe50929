//! A lock without owners, which is one bit.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

use crate::{
    engine::Answer,
    model::OpOf,
    models::lock::{Lock, LockAction, LockOutput},
};

use super::sweep::{Edge, edges, refuted, valid};

/// Judges a history of an anonymous lock in O(n log n), or leaves it to the search if the lock refused anything.
///
/// Acquires and releases must take turns. Nothing acts before some return makes it necessary; if it is then not the
/// returning operation's turn, the pending one with the earliest deadline goes before it, or an indeterminate one if
/// there is no other.
pub fn judge(ops: &[OpOf<Lock>]) -> Option<Answer> {
    if ops.iter().any(|op| op.output() == Some(&LockOutput::Refused)) {
        return None;
    }
    let mut turns = Turns { pending: [BinaryHeap::new(), BinaryHeap::new()], optional: [0, 0], next: 0 };
    let mut done = vec![false; ops.len()];
    let mut last = VecDeque::with_capacity(2);
    for (_, edge, position) in edges(ops) {
        let op = &ops[position as usize];
        let colour = usize::from(op.input.action == LockAction::Release);
        match edge {
            Edge::Call if op.is_info() => turns.optional[colour] += 1,
            Edge::Call => turns.pending[colour].push(Reverse((op.deadline(), position))),
            Edge::Return if done[position as usize] => {}
            Edge::Return => {
                let partner = colour != turns.next;
                if (partner && !turns.take(&mut done)) || !turns.take(&mut done) {
                    return Some(refuted(
                        position,
                        last,
                        "an acquire and a release must take turns, and the other kind is missing",
                    ));
                }
                last.truncate(1);
                last.push_front(position);
            }
        }
    }
    Some(valid())
}

struct Turns {
    /// By kind, acquire and release, the earliest deadline first.
    pending: [BinaryHeap<Reverse<(u64, u32)>>; 2],
    optional: [usize; 2],
    /// Whose turn it is.
    next: usize,
}

impl Turns {
    /// Lets one of the kind whose turn it is act.
    fn take(&mut self, done: &mut [bool]) -> bool {
        match self.pending[self.next].pop() {
            Some(Reverse((_, position))) => done[position as usize] = true,
            None if self.optional[self.next] > 0 => self.optional[self.next] -= 1,
            None => return false,
        }
        self.next = 1 - self.next;
        true
    }
}
