//! A first-in-first-out queue.

mod follow;
mod life;
mod lives;
mod orders;
mod slots;

use crate::{
    answer::Answer,
    model::OpOf,
    models::{
        Value,
        queue::{FifoQueue, QueueInput, QueueOutput},
    },
    special::sweep::{refuted, valid},
};

use life::Life;
use orders::Found;
use slots::{Choice, Uses};

/// Judges a history in O(n log n), or leaves it to the search.
///
/// A queue whose elements are all different is judged exactly ([`lives`]). Equal elements come and leave in an order that
/// may be unknown: bounds that hold in any order refute ([`slots`]), and an order that works proves. One of the two is
/// certain where equal elements are not enqueued or dequeued one within the time of the other. Where neither is found at
/// once, orders are searched as far as a fixed number of states goes ([`orders`]).
pub fn judge<V: Value>(ops: &[OpOf<FifoQueue<V>>]) -> Option<Answer> {
    let (mut empties, mut unclear) = (Vec::new(), Vec::new());
    for (position, op) in (0..).zip(ops) {
        match (&op.input, op.output()) {
            (QueueInput::Dequeue, Some(QueueOutput::Empty)) => empties.push(position),
            (QueueInput::Dequeue, None) => unclear.push(position),
            (QueueInput::Dequeue, Some(QueueOutput::Value(_)))
            | (QueueInput::Enqueue(_), None | Some(QueueOutput::Done)) => {}
            _ => return None,
        }
    }
    let uses = match Uses::of_all(ops) {
        Ok(uses) => uses,
        Err(answer) => return Some(answer),
    };
    let bounds: Vec<Life> =
        uses.iter().enumerate().flat_map(|(value, uses)| uses.bounds(ops, value, unclear.len())).collect();
    if let Some(wrong) = lives::wrong(ops, &bounds, &empties) {
        return Some(wrong.refute(ops, &uses, unclear.len()));
    }
    if unclear.is_empty() && uses.iter().all(|uses| uses.has_one_order(ops)) {
        return Some(valid());
    }
    unclear.sort_by_key(|&op| ops[op as usize].call);
    let works = |lives: Vec<Life>| {
        lives.iter().all(Life::is_possible) && lives::wrong(ops, &lives, &empties).is_none()
    };
    let by_choice = || Choice::ALL.iter().map(|choice| choice.lives(ops, &uses, &unclear));
    if by_choice().chain(follow::lives(ops, &uses)).any(works) {
        return Some(valid());
    }
    match orders::find(ops, &uses, &unclear, &empties) {
        Found::Order(lives) => works(lives).then(valid),
        Found::Nothing { op } => Some(refuted(op, [], "no order of the equal elements lets it leave then")),
        Found::Nobody => None,
    }
}
