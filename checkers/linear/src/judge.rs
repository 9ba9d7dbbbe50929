//! A verdict by whatever is fastest: a special checker where one is exact, a search for the rest.

use std::cell::LazyCell;

use crate::{
    engine::{self, Answer, Refutation, Witness},
    limits::{Guard, Limits},
    model::{Model, OpOf},
};

/// Judges a history. Parts that a special checker can judge are judged first, so that a cheap refutation is not hidden
/// by an expensive search; small ones by a small search before, which costs less than a special checker's tables.
///
/// ```
/// use history::verdict::Verdict;
/// use linear::{judge::judge, limits::Limits, models::lock::*, op::Op};
///
/// let acquire = |owner| LockInput { owner, action: LockAction::Acquire };
/// let granted = LockOutput::Done { token: None };
/// // Two owners were granted the lock, and neither released it.
/// let ops = [Op::ok(0, 0, 1, acquire(0), granted), Op::ok(1, 2, 3, acquire(1), granted)];
/// assert_eq!(judge(&Lock::OWNED, &ops, &Limits::default()).verdict(), Verdict::Invalid);
/// ```
pub fn judge<M: Model>(model: &M, ops: &[OpOf<M>], limits: &Limits) -> Answer {
    if ops.is_empty() {
        return Answer::Valid(Witness::default());
    }
    // A history that one sweep judges needs none.
    let guard = LazyCell::new(|| Guard::new(limits));
    let mut left = Vec::new();
    for part in model.partition(ops) {
        let is_tried = !model.sweeps() && guard.go_on();
        match is_tried.then(|| engine::judge_small(model, ops, &part)).flatten() {
            Some(Ok(())) => continue,
            Some(Err(refutation)) => return Answer::Invalid(refutation),
            None => {}
        }
        match model.shortcut_of(ops, &part) {
            Some(Answer::Invalid(refutation)) => {
                return Answer::Invalid(locate(refutation, part));
            }
            Some(Answer::Valid(_)) => {}
            Some(Answer::Unknown(_)) | None => left.push(part),
        }
    }
    if left.is_empty() {
        return Answer::Valid(Witness::default());
    }
    engine::check_parts(model, ops, &left, &guard, limits.jobs)
}

/// The refutation of a small part, which a small search found, in a special checker's words if there are any.
pub(crate) fn reasoned<M: Model>(model: &M, ops: &[OpOf<M>], refutation: &Refutation) -> Option<Refutation> {
    if refutation.reason.is_some() || refutation.nodes == 0 {
        return None;
    }
    match model.shortcut_of(ops, &refutation.part)? {
        Answer::Invalid(reasoned) => Some(*locate(reasoned, refutation.part.clone())),
        Answer::Valid(_) | Answer::Unknown(_) => None,
    }
}

/// Positions in the part become positions in the history.
fn locate(mut refutation: Box<Refutation>, part: Vec<u32>) -> Box<Refutation> {
    refutation.op = part[refutation.op as usize];
    refutation.with.iter_mut().for_each(|op| *op = part[*op as usize]);
    refutation.part = part;
    refutation
}
