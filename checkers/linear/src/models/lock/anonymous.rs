//! A lock without owners, which is one bit.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{
    answer::{Answer, Refutation},
    model::OpOf,
    models::lock::{Lock, LockAction, LockOutput},
    special::sweep::{Edge, edges, refuted, valid},
};

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
    let edges = edges(ops);
    for &(_, edge, position) in &edges {
        let op = &ops[position as usize];
        let colour = usize::from(op.input.action == LockAction::Release);
        match edge {
            Edge::Call if op.is_info() => turns.optional[colour] += 1,
            Edge::Call => turns.pending[colour].push(Reverse((op.deadline(), position))),
            Edge::Return if done[position as usize] => {}
            Edge::Return => {
                let partner = colour != turns.next;
                if (partner && !turns.take(&mut done)) || !turns.take(&mut done) {
                    return Some(refute(ops, &edges, position));
                }
            }
        }
    }
    Some(valid())
}

type Edges = [(u64, Edge, u32)];

fn refute(ops: &[OpOf<Lock>], edges: &Edges, last: u32) -> Answer {
    let Some(Shortage { since, certain, possible }) = Shortage::until(ops, edges, last) else {
        return refuted(last, [], "an acquire and a release must take turns, and the other kind is missing");
    };
    let (own, other) = match ops[last as usize].input.action {
        LockAction::Acquire => ("acquire", "release"),
        LockAction::Release => ("release", "acquire"),
    };
    let reason = format!(
        "{} {own}s act {} {}, and they must take turns with {other}s, of which only {} can",
        certain.len(),
        since.map_or("before".to_owned(), |since| format!("between {since} and")),
        ops[last as usize].deadline(),
        possible.len(),
    );
    let with = certain.into_iter().filter(|&op| op != last).chain(possible).collect();
    Answer::Invalid(Box::new(Refutation { op: last, with, reason: Some(reason), ..Refutation::default() }))
}

/// A time in which more operations of one kind certainly act than turns with the other kind permit: the plainest reason
/// why there is no way, if not the only one.
struct Shortage {
    /// From here; `None`: from the beginning, when the lock is free.
    since: Option<u64>,
    /// Those of the one kind that lie in it.
    certain: Vec<u32>,
    /// Those of the other kind that can act in it.
    possible: Vec<u32>,
}

impl Shortage {
    /// The shortest time that ends with the return of `last` and is short of the other kind.
    fn until(ops: &[OpOf<Lock>], edges: &Edges, last: u32) -> Option<Shortage> {
        let (action, end) = (ops[last as usize].input.action, ops[last as usize].deadline());
        let edges = &edges[..edges.partition_point(|&(at, ..)| at <= end)];
        let is_own = |position: u32| ops[position as usize].input.action == action;
        let is_over = |position: u32| ops[position as usize].deadline() <= end;
        let is_certain = |&(_, edge, position): &(u64, Edge, u32)| {
            edge == Edge::Call && is_own(position) && is_over(position)
        };
        // At the end those can act that are under way; further back also those that return on the way.
        let calls = edges.iter().filter(|&&(_, edge, _)| edge == Edge::Call);
        let mut possible = calls.filter(|&&(.., position)| !is_own(position) && !is_over(position)).count();
        let (mut certain, mut from) = (0, None);
        for (index, edge) in edges.iter().enumerate().rev() {
            possible += usize::from(edge.1 == Edge::Return && !is_own(edge.2));
            certain += usize::from(is_certain(edge));
            if certain >= possible + 2 {
                from = Some(index);
                break;
            }
        }
        let spare = usize::from(action == LockAction::Acquire);
        if from.is_none() && certain <= possible + spare {
            return None;
        }
        let since = from.map(|index| edges[index].0);
        let can_act = |position: &u32| {
            let op = &ops[*position as usize];
            !is_own(*position) && op.call <= end && op.deadline() >= since.unwrap_or(0)
        };
        let certain = edges[from.unwrap_or(0)..].iter().filter(|edge| is_certain(edge));
        Some(Shortage {
            since,
            certain: certain.map(|&(.., position)| position).collect(),
            possible: (0..ops.len() as u32).filter(can_act).collect(),
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{models::lock::LockInput, op::Op};

    /// SplitMix64's step: the same on every machine.
    fn draws(seed: u64) -> impl FnMut(u64) -> u64 {
        let mut state = seed;
        move |bound| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            (mixed ^ mixed >> 27) % bound
        }
    }

    #[test]
    fn a_shortage_is_found_in_most_histories_without_a_way_and_in_no_other() {
        let (mut found, mut refuted) = (0, 0);
        for seed in 0..20_000 {
            let mut below = draws(seed);
            let count = 1 + below(8) as u32;
            let ops: Vec<OpOf<Lock>> = (0..count)
                .map(|process| {
                    let action = if below(2) == 0 { LockAction::Acquire } else { LockAction::Release };
                    let (input, call) = (LockInput { owner: process, action }, below(20));
                    match below(8) {
                        0 => Op::info(process, call, input),
                        _ => Op::ok(process, call, call + below(8), input, LockOutput::Done { token: None }),
                    }
                })
                .collect();
            let returned = (0..count).filter(|&op| !ops[op as usize].is_info());
            let is_short = returned.into_iter().any(|op| Shortage::until(&ops, &edges(&ops), op).is_some());
            let is_invalid = matches!(judge(&ops), Some(Answer::Invalid(_)));
            assert!(is_invalid || !is_short, "{ops:?}");
            refuted += u32::from(is_invalid);
            found += u32::from(is_short);
        }
        assert!(refuted > 5_000 && found > refuted / 2, "{found} of {refuted}");
    }
}
