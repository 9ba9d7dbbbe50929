//! A semaphore whose permits have owners, in one sweep.

use rustc_hash::FxHashMap;

use crate::{
    engine::Answer,
    model::OpOf,
    models::semaphore::{Semaphore, SemaphoreAction, SemaphoreOutput},
};

use super::sweep::{Edge, edges, refuted, valid};

/// Judges a history in O(n log n), or leaves it to the search where operations of one owner overlap (an owner that goes
/// on after an indeterminate operation) or something was refused.
///
/// It is linearizable exactly if no owner gives back more than it has, and the permits fit if each acquire acts at its
/// return and each release at its invocation. An owner's last, indeterminate acquire need not have happened.
pub fn judge(semaphore: &Semaphore, ops: &[OpOf<Semaphore>]) -> Option<Answer> {
    let mut owners: FxHashMap<u32, Owner> = FxHashMap::default();
    let mut taken = 0u64;
    let mut answer = None;
    for (_, edge, position) in edges(ops) {
        let op = &ops[position as usize];
        if op.output() == Some(&SemaphoreOutput::Refused) {
            return None;
        }
        let owner = owners.entry(op.input.owner).or_default();
        if edge == Edge::Call && std::mem::replace(&mut owner.is_busy, true) {
            return None;
        }
        owner.is_busy &= edge == Edge::Call;
        match (edge, op.input.action) {
            (Edge::Return, SemaphoreAction::Acquire(count)) => {
                owner.held = owner.held.saturating_add(count);
                taken = taken.saturating_add(count);
                if taken > semaphore.permits {
                    answer
                        .get_or_insert_with(|| refuted(position, [], "more permits were out than there are"));
                }
            }
            (Edge::Call, SemaphoreAction::Release(count)) if count <= owner.held => {
                owner.held -= count;
                taken -= count;
            }
            (Edge::Call, SemaphoreAction::Release(_)) if !op.is_info() => {
                answer.get_or_insert_with(|| refuted(position, [], "its owner gave back more than it had"));
            }
            _ => {}
        }
    }
    Some(answer.unwrap_or_else(valid))
}

#[derive(Default)]
struct Owner {
    held: u64,
    is_busy: bool,
}
