//! A verdict by whatever is fastest: a special checker where one is exact, a search for the rest.

use crate::{
    engine::{self, Answer, Refutation, Witness},
    limits::Limits,
    model::{Model, OpOf},
};

/// Judges a history. Parts that a special checker can judge are judged first, so that a cheap refutation is not hidden
/// by an expensive search.
///
/// ```
/// use checkers::{judge::judge, limits::Limits, models::lock::*, op::Op, verdict::Verdict};
///
/// let acquire = |owner| LockInput { owner, action: LockAction::Acquire };
/// let granted = LockOutput::Done { token: None };
/// // Two owners were granted the lock, and neither released it.
/// let ops = [Op::ok(0, 0, 1, acquire(0), granted), Op::ok(1, 2, 3, acquire(1), granted)];
/// assert_eq!(judge(&Lock::OWNED, &ops, &Limits::default()).verdict(), Verdict::Invalid);
/// ```
pub fn judge<M: Model>(model: &M, ops: &[OpOf<M>], limits: &Limits) -> Answer {
    let parts = model.partition(ops);
    let mut left = Vec::new();
    for part in parts {
        match shortcut(model, ops, &part) {
            Some(Answer::Invalid(refutation)) => return Answer::Invalid(locate(refutation, part)),
            Some(Answer::Valid(_)) => {}
            Some(Answer::Unknown(_)) | None => left.push(part),
        }
    }
    if left.is_empty() {
        return Answer::Valid(Witness::default());
    }
    engine::check_parts(model, ops, &left, limits)
}

fn shortcut<M: Model>(model: &M, ops: &[OpOf<M>], part: &[u32]) -> Option<Answer> {
    if part.len() == ops.len() && part.is_sorted() {
        return model.shortcut(ops);
    }
    let own: Vec<OpOf<M>> = part.iter().map(|&op| ops[op as usize].clone()).collect();
    model.shortcut(&own)
}

/// Positions in the part become positions in the history.
fn locate(refutation: Refutation, part: Vec<u32>) -> Refutation {
    Refutation {
        op: part[refutation.op as usize],
        with: refutation.with.iter().map(|&op| part[op as usize]).collect(),
        part,
        ..refutation
    }
}
