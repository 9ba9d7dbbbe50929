//! The smallest sub-history that is still wrong.
//!
//! Leaving an operation out is only fair if that makes the history no more wrong than it is: without a write, its reads
//! would be wrong for no reason of theirs. So an operation that is left out becomes one that *may* have happened, in its own
//! interval ([`super::relaxed`]), and one that only observes is dropped. What cannot be left out so, found by delta debugging (A. Zeller and
//! R. Hildebrandt, 2002), is the *core*. To it belong the operations that would make it right if any one of the core were
//! left out: they show how things should have been.

use crate::{
    engine::{Refutation, attempt},
    model::{Model, OpOf},
    op::Op,
};

use super::relaxed::Relaxed;

/// Nodes of one attempt; one that is undecided then counts as right.
const ATTEMPT_NODES: u64 = 1 << 14;
/// Nodes, and operations laid out, of all attempts.
const WORK_MAX: u64 = 1 << 20;

/// Positions of a sub-history of `part` that is wrong, in order of invocation.
pub(super) fn shrink<M: Model>(
    model: &M,
    ops: &[OpOf<M>],
    part: &[u32],
    refutation: &Refutation,
) -> Vec<u32> {
    let mut shrinker = Shrinker { model, ops, part, work: 0 };
    let evidence: Vec<u32> = refutation.with.iter().chain([&refutation.op]).copied().collect();
    let mut smallest = match shrinker.must_believe(refutation, &evidence) {
        true => evidence,
        false => shrinker.smallest(evidence, refutation.op),
    };
    smallest.sort_unstable_by_key(|&op| (ops[op as usize].call, op));
    smallest.dedup();
    smallest
}

struct Shrinker<'a, M: Model> {
    model: &'a M,
    ops: &'a [OpOf<M>],
    part: &'a [u32],
    work: u64,
}

impl<M: Model> Shrinker<'_, M> {
    /// Whether a special checker says that its evidence is enough, and no search within the limit can tell.
    fn must_believe(&mut self, refutation: &Refutation, evidence: &[u32]) -> bool {
        let is_claimed = refutation.reason.is_some() && !refutation.with.is_empty();
        is_claimed && self.judge(evidence).is_none()
    }

    /// The core, and what would make it right.
    fn smallest(&mut self, evidence: Vec<u32>, op: u32) -> Vec<u32> {
        let start = self.start(evidence, op);
        let core = self.reduce(start);
        let mut smallest = core.clone();
        for left_out in 0..core.len() {
            let rest: Vec<u32> = core.iter().copied().filter(|&op| op != core[left_out]).collect();
            smallest.extend(self.judge(&rest).and_then(Result::ok).into_iter().flatten());
        }
        smallest
    }

    /// The fewest operations that are likely, and then certain, to be enough.
    fn start(&mut self, mut evidence: Vec<u32>, op: u32) -> Vec<u32> {
        let deadline = self.ops[op as usize].deadline();
        let determinate = || self.part.iter().copied().filter(|&op| !self.ops[op as usize].is_info());
        evidence.retain(|&op| !self.ops[op as usize].is_info());
        let returned = determinate().filter(|&op| self.ops[op as usize].deadline() <= deadline).collect();
        let called = determinate().filter(|&op| self.ops[op as usize].call <= deadline).collect();
        let all = determinate().collect();
        let starts: [Vec<u32>; 3] = [evidence, returned, called];
        starts.into_iter().find(|core| self.is_wrong(core)).unwrap_or(all)
    }

    /// Delta debugging: without ever larger shares of the core.
    fn reduce(&mut self, mut core: Vec<u32>) -> Vec<u32> {
        let mut shares = 2;
        while core.len() > 1 {
            let length = core.len().div_ceil(shares);
            let without = |share: usize| -> Vec<u32> {
                let (start, end) = (share * length, ((share + 1) * length).min(core.len()));
                core[..start.min(core.len())].iter().chain(&core[end..]).copied().collect()
            };
            let smaller = (0..core.len().div_ceil(length)).map(without).collect::<Vec<_>>();
            if let Some(smaller) = smaller.into_iter().find(|smaller| self.is_wrong(smaller)) {
                core = smaller;
                shares = (shares - 1).max(2);
            } else if length == 1 {
                break;
            } else {
                shares = (shares * 2).min(core.len());
            }
        }
        core
    }

    fn is_wrong(&mut self, core: &[u32]) -> bool {
        matches!(self.judge(core), Some(Err(_)))
    }

    /// Judges the part with nothing but the core certain; of what is right, the other operations that it takes.
    fn judge(&mut self, core: &[u32]) -> Option<Result<Vec<u32>, u32>> {
        if self.work >= WORK_MAX {
            return None;
        }
        let core = rustc_hash::FxHashSet::from_iter(core.iter().copied());
        let mut own = Vec::new();
        let mut positions = Vec::new();
        for &position in self.part {
            let Op { process, call, input, returned } = self.ops[position as usize].clone();
            let is_certain = returned.is_none() || core.contains(&position);
            if is_certain || !self.model.observes(&input, returned.as_ref().map(|returned| &returned.output))
            {
                own.push(Op { process, call, input: (input, is_certain), returned });
                positions.push(position);
            }
        }
        let relaxed = Relaxed(self.model);
        let (found, nodes) = attempt(&relaxed, &own, ATTEMPT_NODES);
        self.work += nodes + own.len() as u64;
        let back = |op: u32| positions[op as usize];
        found.map(|found| {
            found.map(|order| relaxed.needed(&own, &order).into_iter().map(back).collect()).map_err(back)
        })
    }
}
