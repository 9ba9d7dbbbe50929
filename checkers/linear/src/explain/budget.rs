//! What an explanation may cost. It is held in every step: what is laid out, what is searched, what is copied.

use crate::{
    engine,
    limits::{Guard, Limit, Limits},
    model::{Model, OpOf},
};

/// Nodes of one search; one that is undecided then counts for nothing.
const ATTEMPT_NODES: u64 = 1 << 14;
/// Nodes, operations laid out, and blocks of state copied, of everything together.
const WORK_MAX: u64 = 1 << 24;
/// Bytes of states that count as one.
pub(super) const BLOCK_BYTES: u64 = 64;
/// What it takes to lay out one operation for a search: copies of it, its events, its class.
const LAID_OUT_BYTES: usize = 512;

/// What is left, and what was reached of it.
pub(super) struct Budget {
    limits: Limits,
    work: u64,
    whole: Guard,
    /// The first limit that was reached, that of the work if none, and what was being done.
    pub stopped: Option<(Option<Limit>, &'static str)>,
    /// For people, what is being done.
    pub during: &'static str,
}

impl Budget {
    /// From now on.
    pub fn new(limits: &Limits) -> Budget {
        // Everything is freed and used again while the explanation goes on.
        let limits = Limits { abandon: false, ..limits.clone() };
        Budget { whole: Guard::new(&limits), limits, work: 0, stopped: None, during: "" }
    }

    /// Whether anything more may be tried.
    pub fn go_on(&mut self) -> bool {
        if self.stopped.is_none() {
            if !self.whole.go_on() {
                self.stop(self.whole.hit().unwrap_or(Limit::Stopped));
            } else if self.work > WORK_MAX {
                self.stopped = Some((None, self.during));
            }
        }
        self.stopped.is_none()
    }

    fn stop(&mut self, limit: Limit) {
        self.stopped.get_or_insert((Some(limit), self.during));
    }

    /// Counts work that was done: nodes, operations laid out, blocks copied.
    pub fn spend(&mut self, work: u64) {
        self.work = self.work.saturating_add(work);
    }

    /// What was counted so far.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Whether so many operations may be laid out now. Too many of them end the explanation.
    pub fn lay_out(&mut self, operations: usize) -> bool {
        self.spend(operations as u64);
        if self.memory_bytes() / LAID_OUT_BYTES < operations {
            self.stop(Limit::Memory);
        }
        self.go_on()
    }

    /// Bytes that one step may take.
    pub fn memory_bytes(&self) -> usize {
        self.limits.memory_bytes.unwrap_or(usize::MAX)
    }

    /// A guard for one step: it ends with the explanation's time, and has all of its memory, since steps follow one
    /// another.
    pub fn guard(&self) -> Guard {
        self.whole.again()
    }

    /// Judges one part by a search. `None` if it was undecided.
    pub fn attempt<M: Model>(&mut self, model: &M, ops: &[OpOf<M>]) -> Option<Result<Vec<u32>, u32>> {
        if !self.lay_out(ops.len()) {
            return None;
        }
        self.attempt_with(model, ops, &self.guard())
    }

    /// As [`Budget::attempt`], of what was laid out already, with a guard of this budget's.
    pub fn attempt_with<M: Model>(
        &mut self,
        model: &M,
        ops: &[OpOf<M>],
        guard: &Guard,
    ) -> Option<Result<Vec<u32>, u32>> {
        let (found, nodes) = engine::attempt(model, ops, ATTEMPT_NODES, guard);
        self.spend(nodes);
        if let Some(limit) = guard.hit() {
            self.stop(limit);
        }
        found
    }
}
