//! The smallest sub-history that is still wrong.
//!
//! First it is looked at as to as few topics as possible ([`super::view`]). Then, leaving an operation out is only fair
//! if that makes the history no more wrong than it is: without a write, its reads would be wrong for no reason of theirs.
//! So an operation that is left out becomes one that *may* have happened, in its own interval ([`super::relaxed`]), and
//! one that only observes is dropped. What cannot be left out so is the *core*. To it belong the operations that would
//! make it right if any one of the core were left out: they show how things should have been.

use rustc_hash::FxHashSet;

use crate::{
    engine::Refutation,
    model::{Model, OpOf},
    op::Op,
};

use super::{budget::Budget, fewest::fewest, relaxed::Relaxed, view::narrowest};

/// More operations than this nobody looks at one by one.
pub(super) const SMALL: usize = 20;

/// A sub-history that is wrong.
pub(super) struct Smallest<M: Model> {
    /// The operations, in order of invocation, perhaps as to some topics only.
    pub ops: Vec<OpOf<M>>,
    /// Their positions in the history.
    pub positions: Vec<u32>,
}

/// A sub-history of `part` that is wrong, the smallest that was found within the budget.
pub(super) fn shrink<M: Model>(
    model: &M,
    ops: &[OpOf<M>],
    part: &[u32],
    refutation: &Refutation,
    budget: &mut Budget,
) -> Smallest<M> {
    let mut evidence: Vec<u32> = refutation.with.clone();
    evidence.push(refutation.op);
    if refutation.suffices && evidence.len() <= SMALL {
        return chosen(evidence, |op| ops[op as usize].clone());
    }
    let is_claimed = refutation.suffices || (refutation.reason.is_some() && !refutation.with.is_empty());
    let mut may_be_enough = is_claimed;
    if refutation.reason.is_some() && evidence.len() <= SMALL {
        budget.during = "it tried whether what was found first is enough";
        // Where a special checker says which operations are enough, it may be that no search within the limits can tell.
        let judged = (Shrinker { model, ops, part, budget }).judge(&evidence);
        may_be_enough = judged.map_or(is_claimed, |judged| judged.is_err());
        if may_be_enough {
            return chosen(evidence, |op| ops[op as usize].clone());
        }
    }
    let Some(view) = narrowest(model, ops, part, &evidence, budget) else {
        return chosen(evidence, |op| ops[op as usize].clone());
    };
    let own: Vec<u32> = (0..view.ops.len() as u32).collect();
    let likely: Vec<u32> = evidence
        .iter()
        .filter_map(|op| view.positions.iter().position(|it| it == op))
        .map(|at| at as u32)
        .collect();
    budget.during = "it left out one operation after the other";
    let smallest = Shrinker { model, ops: &view.ops, part: &own, budget }.smallest(&likely);
    if may_be_enough && evidence.len() <= smallest.len() {
        return chosen(evidence, |op| ops[op as usize].clone());
    }
    let smallest = chosen(smallest, |at| view.ops[at as usize].clone());
    let positions = smallest.positions.iter().map(|&at| view.positions[at as usize]).collect();
    Smallest { positions, ..smallest }
}

/// In order of invocation, each once.
pub(super) fn chosen<M: Model>(mut positions: Vec<u32>, op: impl Fn(u32) -> OpOf<M>) -> Smallest<M> {
    positions.sort_unstable();
    positions.dedup();
    positions.sort_by_cached_key(|&at| op(at).call);
    Smallest { ops: positions.iter().map(|&at| op(at)).collect(), positions }
}

struct Shrinker<'a, 'l, M: Model> {
    model: &'a M,
    ops: &'a [OpOf<M>],
    part: &'a [u32],
    budget: &'l mut Budget,
}

impl<'a, M: Model> Shrinker<'a, '_, M> {
    /// The core, and what would make it right.
    fn smallest(&mut self, likely: &[u32]) -> Vec<u32> {
        let items = self.by_likelihood(likely);
        let core = fewest(&items, SMALL, |core| matches!(self.judge(core), Some(Err(_))));
        let mut smallest = core.clone();
        for left_out in 0..core.len().min(SMALL) {
            let rest: Vec<u32> = core.iter().copied().filter(|&op| op != core[left_out]).collect();
            let needed = self.judge(&rest).and_then(Result::ok).unwrap_or_default();
            if smallest.len() + needed.len() <= SMALL {
                smallest.extend(needed);
            }
        }
        smallest
    }

    /// Determinate operations: those that are likely to matter; those that return before the last of them does, the
    /// latest first; then all others, the earliest first.
    fn by_likelihood(&self, likely: &[u32]) -> Vec<u32> {
        let op = |at: u32| &self.ops[at as usize];
        let end = likely.iter().map(|&at| op(at)).filter(|op| !op.is_info()).map(Op::deadline).max();
        let end = end.unwrap_or(u64::MAX);
        let determinate = || self.part.iter().copied().filter(|&at| !op(at).is_info());
        let mut before: Vec<u32> = determinate().filter(|&at| op(at).deadline() <= end).collect();
        before.sort_by_key(|&at| std::cmp::Reverse(op(at).deadline()));
        let mut after: Vec<u32> = determinate().filter(|&at| op(at).deadline() > end).collect();
        after.sort_by_key(|&at| op(at).call);
        let mut seen = FxHashSet::default();
        let likely = likely.iter().rev().copied().filter(|&at| !op(at).is_info());
        likely.chain(before).chain(after).filter(|&at| seen.insert(at)).collect()
    }

    /// Judges the part with nothing but the core certain; of what is right, the other operations that it takes. `None`
    /// if that was undecided.
    fn judge(&mut self, core: &[u32]) -> Option<Result<Vec<u32>, u32>> {
        if !self.budget.lay_out(self.part.len()) {
            return None;
        }
        let core = FxHashSet::from_iter(core.iter().copied());
        let end = core.iter().map(|&at| self.ops[at as usize].deadline()).max().unwrap_or(0);
        let (mut own, mut positions) = (Vec::new(), Vec::new());
        // What begins after the core is over does not matter to it.
        for &at in self.part.iter().filter(|&&at| self.ops[at as usize].call <= end) {
            let op = &self.ops[at as usize];
            let is_certain = op.is_info() || core.contains(&at);
            if is_certain || !self.model.observes(&op.input, op.output()) {
                own.push(Relaxed::<M>::op(op, is_certain));
                positions.push(at);
            }
        }
        let guard = self.budget.guard();
        let relaxed = Relaxed::new(self.model, &guard);
        let found = self.budget.attempt_with(&relaxed, &own, &guard);
        self.budget.spend(relaxed.work());
        let back = |at: u32| positions[at as usize];
        match found? {
            Err(_) if relaxed.is_incomplete() => None,
            Err(at) => Some(Err(back(at))),
            Ok(order) => {
                let needed = relaxed.needed(&own, &order, self.budget.memory_bytes() / 2);
                Some(Ok(needed.into_iter().map(back).collect()))
            }
        }
    }
}

#[cfg(test)]
#[path = "shrink_tests.rs"]
mod tests;
